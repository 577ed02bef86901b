//! The way to the lease actor, for the streams of the session lease service and for whoever asks
//! for its status. Renewals and results do not come this way: they go to the store.

use tokio::sync::{mpsc, oneshot};

use super::messages::{Grant, LeaseStatus, Message, OUTBOX, StreamId};

/// A cheap clone; one method per message. When the actor has stopped, calls come to nothing.
#[derive(Clone)]
pub struct LeaseHandle {
    mailbox: mpsc::Sender<Message>,
}

impl LeaseHandle {
    pub(super) fn new(mailbox: mpsc::Sender<Message>) -> Self {
        Self { mailbox }
    }

    /// Enters a worker; its sessions come out of the receiver. `None` when the actor has stopped.
    pub async fn enter(&self, worker: String) -> Option<(StreamId, mpsc::Receiver<Grant>)> {
        let (outbox, grants) = mpsc::channel(OUTBOX);
        let (reply, answer) = oneshot::channel();
        self.send(Message::Enter {
            worker,
            outbox,
            reply,
        })
        .await;
        Some((answer.await.ok()?, grants))
    }

    /// The worker of a stream had so many places free when so many leases had reached it.
    pub async fn free_places(&self, stream: StreamId, places: usize, received: Option<u64>) {
        self.send(Message::FreePlaces {
            stream,
            places,
            received,
        })
        .await;
    }

    /// A stream has ended.
    pub async fn leave(&self, stream: StreamId) {
        self.send(Message::Leave { stream }).await;
    }

    /// What the actor knows; empty when it has stopped.
    pub async fn status(&self) -> LeaseStatus {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Status { reply }).await;
        answer.await.unwrap_or_default()
    }

    async fn send(&self, message: Message) {
        // The actor stops only with the process; then nobody needs the message.
        let _ = self.mailbox.send(message).await;
    }
}
