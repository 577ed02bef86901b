//! What can go wrong with a store, whichever it is: ledger, limits, money, content
//! cache, doors. Owns which errors pass by themselves, and their rows in the error
//! table. Returned by every back end.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::status::ErrorClass;

/// A store did not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The embedded ledger could not be opened.
    #[error(
        "cannot open the ledger {path}, which holds the answers of models (if it is damaged: restore a backup, or move it away, and its answers are requested and paid for again)"
    )]
    Open {
        /// Where it is.
        path: String,
        /// What SQLite says.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// The folder of an embedded file, or a lock beside it, could not be made.
    #[error("cannot use the place of the ledger file {path}")]
    Place {
        /// Where it should be.
        path: String,
        /// What the system says.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// Another process has the embedded file, and would call for the same
    /// addresses without knowing.
    #[error("the ledger file {path} is in use by another process")]
    InUse {
        /// Where it is.
        path: String,
    },
    /// An embedded file could not be read or written.
    #[error("cannot {operation} in the embedded store")]
    File {
        /// What was tried.
        operation: &'static str,
        /// What the system or SQLite says.
        #[source]
        source: Arc<dyn Error + Send + Sync>,
    },
    /// Redis did not do what it was asked.
    #[error("cannot {operation} in redis")]
    Redis {
        /// What was tried.
        operation: &'static str,
        /// What the client says.
        #[source]
        source: redis::RedisError,
    },
    /// What is stored cannot be read back.
    #[error("the stored {entry} is damaged")]
    Damaged {
        /// Which entry.
        entry: String,
        /// What is wrong with it.
        #[source]
        source: Arc<serde_json::Error>,
    },
    /// The gateway is stopping.
    #[error("the store is closed")]
    Closed,
}

/// A Redis that restarts or fails over needs no more; a stopping gateway has this much.
const REDIS_IS_BACK: Duration = Duration::from_secs(8);

/// A full disk should not hold up the end.
const DISK_IS_BACK: Duration = Duration::from_secs(2);

impl StoreError {
    /// How long a stopping gateway tries on after this.
    pub(crate) fn last_chance(&self) -> Duration {
        match self {
            Self::Redis { .. } => REDIS_IS_BACK,
            _ => DISK_IS_BACK,
        }
    }

    /// Turns the client's error into one of an operation.
    pub fn redis(operation: &'static str) -> impl Fn(redis::RedisError) -> Self {
        move |source| Self::Redis { operation, source }
    }

    /// The same for an embedded file.
    pub fn file<E: Into<Box<dyn Error + Send + Sync>>>(
        operation: &'static str,
    ) -> impl Fn(E) -> Self {
        move |source| Self::File {
            operation,
            source: Arc::from(source.into()),
        }
    }

    /// The same for an entry that cannot be read.
    pub fn damaged(entry: impl ToString) -> impl FnOnce(serde_json::Error) -> Self {
        move |source| Self::Damaged {
            entry: entry.to_string(),
            source: Arc::new(source),
        }
    }

    /// A script answered what no version of it does.
    pub fn unknown_answer(operation: &'static str) -> Self {
        let kind = redis::ErrorKind::UnexpectedReturnType;
        Self::redis(operation)((kind, "the script answered something unknown").into())
    }

    /// Whether the same call may work later: Redis may come back, a disk may be
    /// given space. A damaged entry will not mend itself.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Redis { .. } | Self::File { .. })
    }

    /// Whether the call may have worked all the same. Not when the server was
    /// never reached or said that it refuses.
    pub fn may_be_done(&self) -> bool {
        match self {
            Self::Redis { source, .. } => {
                !source.is_connection_refusal()
                    && !matches!(source.kind(), redis::ErrorKind::Server(_))
            }
            _ => false,
        }
    }

    /// The row of the error table.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Damaged { .. } => ErrorClass::Internal,
            // A file that cannot be read does not mend itself.
            Self::File { .. } => ErrorClass::GaveUp,
            _ => ErrorClass::Unavailable,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn call_that_never_arrived_or_was_refused_was_not_done() {
        let failed = StoreError::redis("claim an address");
        let io = |kind: io::ErrorKind| failed(io::Error::from(kind).into());
        assert!(!io(io::ErrorKind::ConnectionRefused).may_be_done());
        assert!(io(io::ErrorKind::TimedOut).may_be_done());
        assert!(io(io::ErrorKind::BrokenPipe).may_be_done());
        let loading = redis::ErrorKind::Server(redis::ServerErrorKind::BusyLoading);
        assert!(!failed((loading, "loading").into()).may_be_done());
    }
}
