//! How the process talks to its supervisor: it may ask, and orders nothing. Leases
//! come by stream and shutdown by the process's tasks. Reached by `Worker::handle`.

use tokio::sync::{mpsc, oneshot};

use super::messages::{SupervisorMessage, SupervisorStatus};

/// Talks to the supervisor.
#[derive(Clone)]
pub struct SupervisorHandle {
    sender: mpsc::Sender<SupervisorMessage>,
}

impl SupervisorHandle {
    pub(super) fn new(sender: mpsc::Sender<SupervisorMessage>) -> Self {
        Self { sender }
    }

    /// What the worker is doing; `None` when it has stopped.
    pub async fn status(&self) -> Option<SupervisorStatus> {
        let (reply, status) = oneshot::channel();
        self.sender
            .send(SupervisorMessage::Status(reply))
            .await
            .ok()?;
        status.await.ok()
    }
}
