//! The way to the owner: a cheap clone with one method per message. A command is answered once its
//! change is in the journal; streams hear through their own receiver.

use std::sync::Arc;

use agon_proto::v1::ExperimentSubmitted;
use agon_service_kit::status::{ErrorClass, to_status};
use tokio::sync::{mpsc, oneshot};
use tonic::Status as WireStatus;

use super::messages::{FinishedPage, Message, OUTBOX, Status, ToStream};
use super::removals::HeldName;
use crate::experiment::ExperimentDocument;
use crate::queue::{ExperimentEntry, Introduction, LeaseId, Outcome, Progress, Refusal, StreamId};
use crate::specs::Stored;

/// What came of a command: the queue's refusal, or nobody there who could answer.
pub type Answer<T> = Result<T, WireStatus>;

/// The way to the owner. Cheap to clone.
#[derive(Debug, Clone)]
pub struct OwnerHandle {
    mailbox: mpsc::Sender<Message>,
}

impl OwnerHandle {
    pub(super) fn new(mailbox: mpsc::Sender<Message>) -> Self {
        Self { mailbox }
    }

    /// A worker has connected over a new stream, which is sent everything through the receiver.
    pub async fn register(
        &self,
        introduction: Introduction,
        held: Vec<LeaseId>,
    ) -> Answer<(StreamId, Vec<LeaseId>, mpsc::Receiver<ToStream>)> {
        let (outbox, receiver) = mpsc::channel(OUTBOX);
        let (reply, answer) = oneshot::channel();
        self.tell(Message::Register {
            introduction,
            held,
            outbox,
            reply,
        })
        .await?;
        let (stream, lost) = answer.await.map_err(|_| gone())?;
        Ok((stream, lost, receiver))
    }

    /// Its worker is there.
    pub async fn heartbeat(
        &self,
        stream: StreamId,
        number: u64,
        progressed: Vec<LeaseId>,
    ) -> Answer<()> {
        self.tell(Message::Heartbeat {
            stream,
            number,
            progressed,
        })
        .await
    }

    /// Sessions have ended; what becomes of them is sent to the stream.
    pub async fn hand_in(&self, stream: StreamId, outcomes: Vec<(LeaseId, Outcome)>) -> Answer<()> {
        self.tell(Message::HandIn { stream, outcomes }).await
    }

    /// These are not played.
    pub async fn release(&self, stream: StreamId, leases: Vec<LeaseId>) -> Answer<()> {
        self.tell(Message::Release { stream, leases }).await
    }

    /// The archive does not say at present what these take along: they wait for a while.
    pub async fn postpone(&self, stream: StreamId, leases: Vec<LeaseId>) -> Answer<()> {
        self.tell(Message::Postpone { stream, leases }).await
    }

    /// Its worker takes nothing more.
    pub async fn drain_worker(&self, stream: StreamId) -> Answer<()> {
        self.tell(Message::DrainWorker { stream }).await
    }

    /// A stream has ended.
    pub async fn leave(&self, stream: StreamId) {
        // Without an owner nobody knows of the stream.
        let _ = self.tell(Message::Leave { stream }).await;
    }

    /// Hands an experiment in whose document is stored; with `pause` it pauses at once.
    pub async fn submit(
        &self,
        submitted: ExperimentSubmitted,
        document: Arc<ExperimentDocument>,
        stored: Stored,
        accept_new: bool,
        pause: Option<String>,
    ) -> Answer<Progress> {
        self.ask(|reply| Message::Submit {
            submitted,
            document,
            stored: Box::new(stored),
            accept_new,
            pause,
            reply,
        })
        .await
    }

    /// Cancels an experiment.
    pub async fn cancel(&self, name: String) -> Answer<()> {
        self.ask(|reply| Message::Cancel { name, reply }).await
    }

    /// Begins nothing more of an experiment.
    pub async fn pause(&self, name: String, why: String) -> Answer<()> {
        self.ask(|reply| Message::Pause { name, why, reply }).await
    }

    /// Tries sessions again that were set aside.
    pub async fn retry(&self, name: String, positions: Option<Vec<u32>>) -> Answer<u32> {
        self.ask(|reply| Message::Retry {
            name,
            positions,
            reply,
        })
        .await
    }

    /// Ends a pause; `only_for` a reason, no other.
    pub async fn resume(
        &self,
        name: String,
        budget: Option<u64>,
        only_for: Option<String>,
    ) -> Answer<()> {
        self.ask(|reply| Message::Resume {
            name,
            budget,
            only_for,
            reply,
        })
        .await
    }

    /// Keeps a name from being submitted as long as the answer is held.
    pub async fn hold_name(&self, name: String) -> Answer<HeldName> {
        self.ask(|reply| Message::HoldName { name, reply }).await
    }

    /// Removes an experiment; says its number.
    pub async fn delete(&self, name: String) -> Answer<u32> {
        self.ask(|reply| Message::Delete { name, reply }).await
    }

    /// Resolves once nobody writes a segment of an experiment that was removed.
    pub async fn await_writes(&self, experiment: u32) -> Answer<()> {
        let (reply, answer) = oneshot::channel();
        self.tell(Message::AwaitWrites { experiment, reply })
            .await?;
        answer.await.map_err(|_| gone())
    }

    /// How far an experiment is, and the version of that; nothing while it is as at this version.
    pub async fn progress(
        &self,
        name: String,
        unless: Option<u64>,
    ) -> Answer<Option<(u64, Progress)>> {
        self.ask(|reply| Message::Progress {
            name,
            unless,
            reply,
        })
        .await
    }

    /// All experiments, by name.
    pub async fn list(&self) -> Answer<Vec<ExperimentEntry>> {
        self.ask(|reply| Message::List { reply }).await
    }

    /// Finished sessions behind a position, at most so many, and the experiment's number.
    pub async fn finished(
        &self,
        name: String,
        after: Option<u32>,
        most: usize,
    ) -> Answer<FinishedPage> {
        self.ask(|reply| Message::Finished {
            name,
            after,
            most,
            reply,
        })
        .await
    }

    /// What the owner does at present.
    pub async fn status(&self) -> Answer<Status> {
        let (reply, answer) = oneshot::channel();
        self.tell(Message::Status { reply }).await?;
        answer.await.map_err(|_| gone())
    }

    /// Grants nothing from now on.
    pub async fn drain(&self) {
        // An owner that has gone grants nothing.
        let _ = self.tell(Message::Drain).await;
    }

    async fn ask<T>(
        &self,
        message: impl FnOnce(oneshot::Sender<Result<T, Refusal>>) -> Message,
    ) -> Answer<T> {
        let (reply, answer) = oneshot::channel();
        self.tell(message(reply)).await?;
        let answer = answer.await.map_err(|_| gone())?;
        answer.map_err(|refusal| crate::wire::refused(&refusal))
    }

    async fn tell(&self, message: Message) -> Answer<()> {
        self.mailbox.send(message).await.map_err(|_| gone())
    }
}

fn gone() -> WireStatus {
    to_status(
        ErrorClass::Unavailable,
        "this coordinator is not in charge any more",
    )
}
