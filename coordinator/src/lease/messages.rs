//! What the lease actor is told, what it hands out, and how much of both may wait. Sent through
//! `handle.rs` only; the coordinator's own events (queued, draining) do not come as messages.

use tokio::sync::{mpsc, oneshot};

use crate::store::Granted;

/// Messages that wait for the actor. Streams send one small message each time a place becomes
/// free; more of them wait in their streams.
pub(super) const MAILBOX: usize = 1_024;

/// Batches that wait for a stream to send them on. A stream that is this far behind gets nothing
/// more: its sessions go to others.
pub(super) const OUTBOX: usize = 16;

/// A worker's stream, for as long as it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u64);

/// Sessions for the worker of a stream. Whoever cannot deliver them gives them back.
#[derive(Debug, PartialEq, Eq)]
pub struct Grant(pub Vec<Granted>);

/// Messages of the actor.
pub(super) enum Message {
    /// From a stream whose worker has said who it is; answered with the stream's id.
    Enter {
        /// The worker.
        worker: String,
        /// Where its sessions go.
        outbox: mpsc::Sender<Grant>,
        /// The id to use from now on.
        reply: oneshot::Sender<StreamId>,
    },
    /// From a stream whose worker said how many places it has free.
    FreePlaces {
        /// The stream.
        stream: StreamId,
        /// Replaces the last number.
        places: usize,
        /// Leases that had reached the worker over this stream by then; `None` from a worker
        /// that does not count them.
        received: Option<u64>,
    },
    /// From a stream that has ended.
    Leave {
        /// The stream.
        stream: StreamId,
    },
    /// From tests and the command line.
    Status {
        /// Plain data.
        reply: oneshot::Sender<LeaseStatus>,
    },
}

/// What the actor knows, as plain data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeaseStatus {
    /// Workers connected, by name, with their free places.
    pub workers: Vec<(String, usize)>,
    /// Whether nothing is leased any more because the coordinator stops.
    pub draining: bool,
}
