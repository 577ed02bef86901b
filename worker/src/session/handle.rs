//! How seats, and whoever wants to look, talk to a session. Nobody stops a session
//! through it: that is the token in its plan.

use agon_engine::Seat;
use tokio::sync::{mpsc, oneshot};

use super::messages::{SessionMessage, SessionStatus};
use crate::seat::SeatReport;

/// Talks to one session actor. A session that is gone swallows what it is told.
#[derive(Clone)]
pub struct SessionHandle {
    sender: mpsc::Sender<SessionMessage>,
}

impl SessionHandle {
    pub(super) fn new(sender: mpsc::Sender<SessionMessage>) -> Self {
        Self { sender }
    }

    /// A seat's report on its work.
    pub async fn report(&self, seat: Seat, report: SeatReport) {
        self.tell(SessionMessage::Report { seat, report }).await;
    }

    /// Where the session stands; `None` when it has ended.
    pub async fn status(&self) -> Option<SessionStatus> {
        let (reply, status) = oneshot::channel();
        self.tell(SessionMessage::Status(reply)).await;
        status.await.ok()
    }

    async fn tell(&self, message: SessionMessage) {
        // The receiver is dropped only when the session has ended.
        let _ = self.sender.send(message).await;
    }
}
