//! How a session talks to its seats: one method per message. An ask is not answered
//! through it but by a report to the session.

use agon_agents::Verdict;
use agon_engine::view::SeenEvent;
use agon_engine::{Ask, Foul};
use futures_channel::mpsc;
use futures_util::SinkExt as _;

use super::messages::SeatMessage;

/// Talks to one seat actor. A seat that is gone swallows what it is told: its
/// session ends with it.
pub struct SeatHandle {
    sender: mpsc::Sender<Box<SeatMessage>>,
}

impl SeatHandle {
    pub(super) fn new(sender: mpsc::Sender<Box<SeatMessage>>) -> Self {
        Self { sender }
    }

    /// Asks the seat; the answer comes as a report to the session. It hears first how its
    /// ask before ended.
    pub async fn act(
        &mut self,
        verdict: Option<Verdict>,
        events: Vec<SeenEvent>,
        ask: Ask,
        refused: Option<Foul>,
    ) {
        self.tell(SeatMessage::Act {
            verdict,
            events,
            ask,
            refused,
        })
        .await;
    }

    /// Tells the seat how the game ended; comes back as a report.
    pub async fn close(&mut self, verdict: Option<Verdict>, events: Vec<SeenEvent>) {
        self.tell(SeatMessage::Close { verdict, events }).await;
    }

    async fn tell(&mut self, message: SeatMessage) {
        // The receiver is dropped only when the seat has ended.
        let _ = self.sender.send(Box::new(message)).await;
    }
}
