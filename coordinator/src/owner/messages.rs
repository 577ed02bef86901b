//! What the owner is told and asked. Commands carry a reply that is sent once their change is in the
//! journal; workers' streams get theirs through their outbox, in the same order as everything else
//! that they are sent.

use agon_proto::v1::ExperimentSubmitted;
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::removals::HeldName;
use crate::queue::{
    ExperimentEntry, Introduction, LeaseId, Outcome, Progress, Refusal, Settled, StreamId,
};

/// Messages that wait for the owner. Each stream has a few under way, each command one.
pub(super) const MAILBOX: usize = 4096;

/// Messages that wait for one stream. Full, the stream is behind by thousands of sessions, and is
/// ended; its worker comes back.
pub(super) const OUTBOX: usize = 1024;

/// What a stream to a worker is told.
#[derive(Debug)]
pub enum ToStream {
    /// Sessions for the worker.
    Grant(Vec<Grant>),
    /// These are not to be played any more.
    Revoke(Vec<LeaseId>),
    /// What became of outcomes.
    Settled(Vec<(LeaseId, Settled)>),
    /// A heartbeat was heard.
    Heard(u64),
}

/// A session that is granted.
#[derive(Debug)]
pub struct Grant {
    /// What the queue says of it.
    pub granted: crate::queue::Granted,
    /// Where the record of the session before it in its series lies.
    pub before: Option<Whereabouts>,
}

/// Where the record of a finished session is.
#[derive(Debug, Clone)]
pub enum Whereabouts {
    /// With the owner, still.
    Here {
        /// The session.
        session_id: String,
        /// Its record, packed.
        record: Bytes,
        /// Its telemetry, packed.
        telemetry: Bytes,
    },
    /// In the archive.
    Archived {
        /// The segment.
        segment: u32,
        /// Its place there.
        entry: u32,
    },
}

/// Finished sessions of an experiment.
#[derive(Debug, Clone)]
pub struct FinishedPage {
    /// The experiment's number.
    pub experiment: u32,
    /// The grid that their positions are places of.
    pub grid: u64,
    pub sessions: Vec<Located>,
}

/// A finished session and where its record is.
#[derive(Debug, Clone)]
pub struct Located {
    /// Its place in the grid.
    pub position: u32,
    /// Where its record is.
    pub whereabouts: Whereabouts,
}

/// What the owner does at present.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Status {
    /// Workers and how many sessions each holds.
    pub workers: Vec<(String, usize)>,
    /// Records that are not in the archive yet.
    pub unwritten: usize,
}

/// A reply to a command.
pub type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

pub enum Message {
    /// A stream: a worker has connected.
    Register {
        introduction: Introduction,
        held: Vec<LeaseId>,
        outbox: mpsc::Sender<ToStream>,
        reply: oneshot::Sender<(StreamId, Vec<LeaseId>)>,
    },
    /// A stream: its worker is there.
    Heartbeat {
        stream: StreamId,
        number: u64,
        progressed: Vec<LeaseId>,
    },
    /// A stream: sessions have ended.
    HandIn {
        stream: StreamId,
        outcomes: Vec<(LeaseId, Outcome)>,
    },
    /// A stream: these are not played.
    Release {
        stream: StreamId,
        leases: Vec<LeaseId>,
    },
    /// A stream: the archive does not say at present what these take along.
    Postpone {
        stream: StreamId,
        leases: Vec<LeaseId>,
    },
    /// A stream: its worker takes nothing more.
    DrainWorker { stream: StreamId },
    /// A stream has ended.
    Leave { stream: StreamId },
    /// The command line's service, with a document that is stored already.
    Submit {
        submitted: ExperimentSubmitted,
        document: std::sync::Arc<crate::experiment::ExperimentDocument>,
        stored: Box<crate::specs::Stored>,
        accept_new: bool,
        pause: Option<String>,
        reply: Reply<Progress>,
    },
    /// The same.
    Cancel { name: String, reply: Reply<()> },
    /// The same.
    Pause {
        name: String,
        why: String,
        reply: Reply<()>,
    },
    /// The same; positions, or all that were set aside.
    Retry {
        name: String,
        positions: Option<Vec<u32>>,
        reply: Reply<u32>,
    },
    /// The same; if it is paused for this reason alone, where one is named.
    Resume {
        name: String,
        budget: Option<u64>,
        only_for: Option<String>,
        reply: Reply<()>,
    },
    /// A removal, before anything else: nothing is submitted under this name until it is over.
    HoldName {
        name: String,
        reply: Reply<HeldName>,
    },
    /// The same; it takes the records from the archive itself.
    Delete { name: String, reply: Reply<u32> },
    /// The same, once the experiment is no more: answered when nobody writes a segment of it.
    AwaitWrites {
        experiment: u32,
        reply: oneshot::Sender<()>,
    },
    /// Watchers: how far an experiment is, unless it is as it was at this version.
    Progress {
        name: String,
        unless: Option<u64>,
        reply: Reply<Option<(u64, Progress)>>,
    },
    /// The command line's service.
    List { reply: Reply<Vec<ExperimentEntry>> },
    /// The same: finished sessions behind a position.
    Finished {
        name: String,
        after: Option<u32>,
        most: usize,
        reply: Reply<FinishedPage>,
    },
    /// Tests and status pages.
    Status { reply: oneshot::Sender<Status> },
    /// No grants from now on.
    Drain,
}
