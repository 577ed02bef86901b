//! Where the coordinator keeps what it must not lose: a journal of batches in order, a snapshot that
//! replaces its beginning, and blobs. One owner at a time may append, under an epoch that the store
//! counts up; who was deposed is told so and changes nothing. It knows no queue and no experiment:
//! what is in a batch is the caller's business. Two back ends ([`FileJournal`], [`RedisJournal`])
//! keep one contract; `coordinator/tests/suite/journal.rs` runs it against both.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

mod files;
mod redis;

pub use agon_redis_link::Survey;
pub use files::FileJournal;
pub use redis::{Examination, RedisJournal, examine};

/// The results of a journal's calls.
pub type JournalResult<T> = Result<T, JournalError>;

/// Counts the owners of a journal. Greater than 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

/// Number of a batch in the journal, from 1. 0 stands before the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u64);

impl Place {
    /// The place behind this one.
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// What became of a try to own a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// It is ours under this epoch.
    Granted(Epoch),
    /// Somebody else owns it.
    Held {
        /// What the owner said of itself when it claimed the journal: where it can be reached.
        owner: String,
        /// How long it may stay silent from now on before the claim is open again.
        left: Duration,
    },
}

/// A state that replaces the beginning of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The last batch that is part of it.
    pub upto: Place,
    /// What the caller made of that and all batches before.
    pub bytes: Bytes,
}

/// A journal with one owner at a time.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Becomes the owner, unless somebody else is: an owner that has not been heard of for `ttl`
    /// (its own, of its last claim or renewal) is none any more. Each claim that is granted has a
    /// higher epoch than all before.
    async fn claim(&self, owner: &str, ttl: Duration) -> JournalResult<Claim>;

    /// Stays the owner for another `ttl`.
    ///
    /// # Errors
    /// [`JournalError::Deposed`], or the store cannot be reached.
    async fn renew(&self, epoch: Epoch, ttl: Duration) -> JournalResult<()>;

    /// Lets somebody else claim it at once. Nothing happens when the epoch has passed.
    async fn resign(&self, epoch: Epoch) -> JournalResult<()>;

    /// Appends a batch at a place, which must be the one behind the last. Once this returns, the
    /// batch is as safe as the store is. Safe to repeat with the same batch after an error that
    /// leaves open what happened.
    ///
    /// # Errors
    /// [`JournalError::Deposed`]; [`JournalError::OutOfPlace`] when the journal does not end in
    /// front of this place (it lost its tail, or holds another batch there); or the store failed.
    async fn append(&self, epoch: Epoch, place: Place, batch: Bytes) -> JournalResult<()>;

    /// Batches behind a place in order, as many as fit into `most_bytes`, but at least one if there
    /// is one. Anybody may read. Who asks for batches that a snapshot has replaced gets those that
    /// follow it: a first place that is not the next one says that the snapshot has to be read.
    async fn read(&self, after: Place, most_bytes: usize) -> JournalResult<Vec<(Place, Bytes)>>;

    /// The place of the last batch; that of the snapshot when there is none behind it.
    async fn end(&self) -> JournalResult<Place>;

    /// Puts a snapshot in place of the one before it, and drops the batches up to `trim_to`, which
    /// is not behind `snapshot.upto`. A journal that lost its tail ends at `snapshot.upto` after
    /// this. One that is older than the last changes nothing: it was delayed on its way.
    ///
    /// # Errors
    /// [`JournalError::Deposed`], or the store failed; the old snapshot stands then.
    async fn put_snapshot(
        &self,
        epoch: Epoch,
        snapshot: Snapshot,
        trim_to: Place,
    ) -> JournalResult<()>;

    /// The last snapshot.
    async fn snapshot(&self) -> JournalResult<Option<Snapshot>>;

    /// Keeps bytes under a name, in place of what was there.
    async fn put_blob(&self, name: &str, bytes: Bytes) -> JournalResult<()>;

    /// What is kept under a name.
    async fn blob(&self, name: &str) -> JournalResult<Option<Bytes>>;

    /// Keeps nothing under a name any more.
    async fn delete_blob(&self, name: &str) -> JournalResult<()>;

    /// All names that begin so and under which something is kept, in order.
    async fn blobs(&self, prefix: &str) -> JournalResult<Vec<String>>;
}

/// Why a journal did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another owner has taken over.
    #[error("another coordinator has taken over")]
    Deposed,
    /// The journal does not end where the caller believes.
    #[error("the journal ends at {}, not in front of {}", .end.0, .place.0)]
    OutOfPlace {
        /// Where the batch was to go.
        place: Place,
        /// The last batch that is there.
        end: Place,
    },
    /// What is stored was written by a version before the journal.
    #[error(
        "{place} holds the queue of an older agon, which this one does not read; let the older one \
         finish it and fetch its results, or {remedy}"
    )]
    Older {
        /// The folder or address.
        place: String,
        /// What to do instead ("give another folder with --data").
        remedy: &'static str,
    },
    /// The folder is used by another process.
    #[error("{path} is in use by another process")]
    InUse {
        /// The folder.
        path: String,
    },
    /// The folder or file cannot be used.
    #[error("cannot use {path}")]
    Folder {
        /// The folder or file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The database file refuses.
    #[error("cannot {operation} in the coordinator's file")]
    Database {
        /// What was tried.
        operation: &'static str,
        /// Why.
        #[source]
        source: rusqlite::Error,
    },
    /// The address of Redis makes no sense, or nobody answers there.
    #[error("cannot reach Redis at {address} from here")]
    Unreachable {
        /// The address without its password.
        address: String,
        /// Why.
        #[source]
        source: ::redis::RedisError,
    },
    /// Redis answers and refuses, which no waiting mends.
    #[error("Redis at {address} refuses this coordinator")]
    Refused {
        /// The address without its password.
        address: String,
        /// Why.
        #[source]
        source: ::redis::RedisError,
    },
    /// Redis does not answer, or refuses.
    #[error("cannot {operation} in redis")]
    Redis {
        /// What was tried.
        operation: &'static str,
        /// Why.
        #[source]
        source: ::redis::RedisError,
    },
    /// What is stored cannot be read; it was written by something else.
    #[error("what is stored as {what} cannot be read")]
    Corrupt {
        /// What.
        what: String,
    },
    /// The operating system gives no random numbers.
    #[error("cannot draw random numbers from the operating system")]
    Randomness(#[source] getrandom::Error),
    /// The journal was closed while it was asked.
    #[error("the coordinator's journal has stopped")]
    Stopped,
}
