//! The loop of a seat: tells its agent what became of its answers and what happened, lets
//! it think, reports.
//! Whether an answer is legal is left to the session, and panics to `seat.rs`,
//! which starts it.

use std::sync::Arc;

use agon_agents::{Agent, Mind, MindError, Note, Verdict};
use agon_engine::view::SeenEvent;
use agon_engine::{Ask, Foul, Seat};
use futures_channel::mpsc::Receiver;
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

use super::messages::{Reported, SeatMessage, SeatReport};

pub(super) struct SeatActor {
    seat: Seat,
    agent: Box<dyn Agent>,
    mind: Arc<dyn Mind>,
    session: mpsc::Sender<Reported>,
    inbox: Receiver<Box<SeatMessage>>,
}

impl SeatActor {
    pub(super) fn new(
        seat: Seat,
        agent: Box<dyn Agent>,
        mind: Arc<dyn Mind>,
        session: mpsc::Sender<Reported>,
        inbox: Receiver<Box<SeatMessage>>,
    ) -> Self {
        Self {
            seat,
            agent,
            mind,
            session,
            inbox,
        }
    }

    /// Works until the game is over or the session drops the handle. A session
    /// that gives up cancels the mind's calls, which ends the work in hand.
    pub(super) async fn run(mut self) {
        while let Some(message) = self.inbox.next().await {
            match *message {
                SeatMessage::Act {
                    verdict,
                    events,
                    ask,
                    refused,
                } => {
                    let settled = self.settle(verdict.as_ref());
                    self.on_act(settled, &events, &ask, refused.as_ref()).await;
                }
                SeatMessage::Close { verdict, events } => {
                    let settled = self.settle(verdict.as_ref());
                    return self.on_close(settled, &events).await;
                }
            }
        }
    }

    /// Says how the last ask ended, before anything else; what the agent concludes from it.
    fn settle(&mut self, verdict: Option<&Verdict>) -> Vec<Note> {
        let Some(verdict) = verdict else {
            return Vec::new();
        };
        self.agent.settle(verdict);
        self.agent.take_notes()
    }

    async fn on_act(
        &mut self,
        settled: Vec<Note>,
        events: &[SeenEvent],
        ask: &Ask,
        refused: Option<&Foul>,
    ) {
        let answered = self.answer(events, ask, refused).await;
        let report = match answered {
            Ok(offer) => SeatReport::Answered {
                settled,
                offer,
                notes: self.agent.take_notes(),
            },
            Err(error) => SeatReport::Failed(error),
        };
        self.report(report).await;
    }

    async fn answer(
        &mut self,
        events: &[SeenEvent],
        ask: &Ask,
        refused: Option<&Foul>,
    ) -> Result<Result<agon_engine::Action, Foul>, MindError> {
        if !events.is_empty() {
            self.agent.observe(events, &*self.mind).await?;
        }
        self.agent.act(ask, refused, &*self.mind).await
    }

    async fn on_close(&mut self, settled: Vec<Note>, events: &[SeenEvent]) {
        let seen = self.agent.observe(events, &*self.mind).await;
        let report = match seen {
            Ok(()) => SeatReport::Closed {
                settled,
                notes: self.agent.take_notes(),
            },
            Err(error) => SeatReport::Failed(error),
        };
        self.report(report).await;
    }

    async fn report(&mut self, report: SeatReport) {
        let seat = self.seat;
        // The receiver is dropped only when the session has ended.
        let _ = self.session.send(Reported { seat, report }).await;
    }
}
