//! The loop of a session: carries out what its state decides. Knows no leases and
//! no streams: whoever started it, the supervisor or verification, does with its
//! end what is right.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use agon_agents::{Mind, MindError};
use agon_engine::extent::{self, Bounds};
use agon_engine::{Answer, Carried, OutsideReply, Seat, SessionSpec};
use agon_referee::{Referee, RefereeError};
use agon_service_kit::tasks::{Tasks, panic_message, with_causes};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::SessionEnd;
use super::state::{Effect, SessionState};
use crate::mind::Journal;
use crate::seat::{self, Reported, SeatHandle};
use crate::setup::{self, Library, Table};

/// A seat has one report under way at most and does nothing else until it is
/// taken, so a short mailbox only makes the seats of a very large table queue.
const MAILBOX: usize = 64;

/// What a session is played from.
pub struct SessionPlan {
    /// What is played.
    pub spec: SessionSpec,
    /// What its players took along from the session before, in a series.
    pub carried: Option<Carried>,
    /// The templates it is played with.
    pub library: Library,
    /// Makes the mind of a seat, writing into the journal.
    pub minds: Box<dyn Fn(Seat, Arc<Journal>) -> Arc<dyn Mind> + Send>,
    /// Says what answers lead to, if the game is played elsewhere.
    pub referee: Option<Box<dyn Referee>>,
    /// The most that it may produce.
    pub most: Bounds,
    /// Ends the session without a record.
    pub given_up: CancellationToken,
}

/// Plays a session to its end, on threads that nothing else waits for: a game of rule players alone
/// is played at once, which may take long.
pub async fn run(tasks: Tasks, plan: SessionPlan) -> SessionEnd {
    if plan.given_up.is_cancelled() {
        return SessionEnd::GivenUp;
    }
    let set_up = || setup::set_up(&plan.spec, plan.carried.as_ref(), &plan.library, &plan.most);
    match catch_unwind(AssertUnwindSafe(set_up)) {
        Ok(Ok(table)) => SessionActor::start(&tasks, plan, table).run().await,
        Ok(Err(error)) if error.is_of_versions() => SessionEnd::Unplayable(with_causes(&error)),
        Ok(Err(error)) => SessionEnd::Impossible(with_causes(&error)),
        Err(panic) => SessionEnd::Crashed(panic_message(&*panic)),
    }
}

struct SessionActor {
    spec: SessionSpec,
    carried: Option<Carried>,
    state: SessionState,
    seats: Vec<Option<SeatHandle>>,
    journal: Arc<Journal>,
    reports: mpsc::Receiver<Reported>,
    referee: Option<Box<dyn Referee>>,
    /// The most bytes that its record may have.
    most_bytes: u64,
    given_up: CancellationToken,
}

impl SessionActor {
    fn start(tasks: &Tasks, plan: SessionPlan, table: Table) -> Self {
        let (reported, reports) = mpsc::channel(MAILBOX);
        let journal = Arc::new(Journal::default());
        let mut outside = Vec::new();
        let mut seats = Vec::new();
        for (seat, agent) in table.agents.into_iter().enumerate() {
            seats.push(agent.map(|agent| {
                outside.push(seat);
                let mind = (plan.minds)(seat, Arc::clone(&journal));
                seat::start(tasks, seat, agent, mind, reported.clone())
            }));
        }
        let state = SessionState::new(table.play, outside);
        Self {
            spec: plan.spec,
            carried: plan.carried,
            state,
            seats,
            journal,
            reports,
            referee: plan.referee,
            most_bytes: plan.most.bytes,
            given_up: plan.given_up,
        }
    }

    async fn run(mut self) -> SessionEnd {
        let mut effects: VecDeque<Effect> = self.state.begin().into();
        loop {
            while let Some(effect) = effects.pop_front() {
                match effect {
                    Effect::Ask {
                        seat,
                        verdict,
                        events,
                        ask,
                        refused,
                    } => {
                        if let Some(handle) = &mut self.seats[seat] {
                            handle.act(verdict, events, ask, refused).await;
                        }
                    }
                    Effect::Rule { turn, answers } => match self.rule(turn, answers).await {
                        Ok(reply) => effects.extend(self.state.on_ruling(reply)),
                        Err(end) => return self.stop(end),
                    },
                    Effect::Close {
                        seat,
                        verdict,
                        events,
                    } => {
                        if let Some(handle) = &mut self.seats[seat] {
                            handle.close(verdict, events).await;
                        }
                    }
                    Effect::Finish => return self.finish(),
                    Effect::Fail(error) => return self.fail(error),
                    Effect::Overflow(much) => return self.stop(SessionEnd::TooLarge(much)),
                    Effect::Unruly(why) => return self.stop(SessionEnd::Impossible(why)),
                    Effect::Crash(reason) => return self.stop(SessionEnd::Crashed(reason)),
                }
            }
            let reported = tokio::select! {
                () = self.given_up.cancelled() => return SessionEnd::GivenUp,
                reported = self.reports.recv() => reported,
            };
            effects = match reported {
                Some(Reported { seat, report }) => {
                    // What the replies alone have the record has, too: no further one is paid for.
                    let text = self.journal.text_bytes();
                    if let Err(much) = extent::check("bytes", text, self.most_bytes) {
                        return self.stop(SessionEnd::TooLarge(much));
                    }
                    self.state.on_report(seat, report).into()
                }
                None => {
                    let reason = "every seat ended before the game".to_owned();
                    return SessionEnd::Crashed(reason);
                }
            };
        }
    }

    /// Asks the referee. Nothing else happens meanwhile: every answer is in.
    async fn rule(&mut self, turn: u32, answers: Vec<Answer>) -> Result<OutsideReply, SessionEnd> {
        let Some(referee) = &mut self.referee else {
            let why = "the game is played elsewhere, and nobody here can ask it".to_owned();
            return Err(SessionEnd::Unplayable(why));
        };
        let ruled = referee.rule(turn, answers);
        match self.given_up.run_until_cancelled(ruled).await {
            None => Err(SessionEnd::GivenUp),
            Some(Ok(reply)) => Ok(reply),
            Some(Err(RefereeError::Away(why))) => Err(SessionEnd::Parked(why)),
            Some(Err(RefereeError::Impossible(why))) => Err(SessionEnd::Impossible(why)),
        }
    }

    fn finish(self) -> SessionEnd {
        let made = self.journal.take();
        let record = self.state.into_record(self.spec, made.decisions);
        let record = record.with_carried(self.carried);
        SessionEnd::Finished {
            record: Box::new(record),
            usage: made.usage,
            each: made.each,
        }
    }

    /// Ends it while seats may still be waiting for answers.
    fn stop(self, end: SessionEnd) -> SessionEnd {
        self.given_up.cancel();
        end
    }

    fn fail(self, error: MindError) -> SessionEnd {
        // The other seats' calls are of no use any more; what is under way at
        // the gateway is recorded there all the same.
        self.given_up.cancel();
        match error {
            MindError::GivenUp => SessionEnd::GivenUp,
            MindError::NoAnswer(reason) => SessionEnd::Parked(reason),
            MindError::BudgetSpent(reason) => SessionEnd::BudgetSpent(reason),
            MindError::Impossible(reason) => SessionEnd::Impossible(reason),
        }
    }
}
