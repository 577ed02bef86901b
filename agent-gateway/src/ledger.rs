//! The ledger: every recorded decision under its address, and who is asking
//! for which one right now. Owns the contract that both back ends keep; knows
//! no providers and no wire. Called by `deciding.rs` and `service.rs`.

pub mod embedded;
pub mod redis;

use std::time::Duration;

use async_trait::async_trait;

use crate::decision::{Decision, DecisionAddress, RequestDigest};

pub use embedded::EmbeddedLedger;
pub use redis::RedisLedger;

/// How long the decisions of a forgotten session stay readable. A worker that
/// lost its lease may still be playing a session that another has finished, and
/// would pay again for what it does not find; it is told at its next renewal,
/// within seconds, so this is far longer than any lease.
pub const FORGET_GRACE: Duration = Duration::from_secs(600);

/// Keeps decisions. The order is always: `claim`, ask the provider, `record`
/// (or `release` when there will be no answer), and only then answer.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Asks for the right to fill an address, for a holder that is unique among
    /// all flights of all replicas. At most one holder at a time; it renews, and
    /// one that stops renewing loses the claim.
    async fn claim(
        &self,
        address: &DecisionAddress,
        digest: &RequestDigest,
        holder: &str,
    ) -> Result<Claim, LedgerError>;

    /// Keeps a claim alive and says whether it still was the holder's. Called more
    /// often than [`Ledger::renew_every`], of which a claim lasts three.
    async fn renew(&self, address: &DecisionAddress, holder: &str) -> Result<bool, LedgerError>;

    /// Records a decision, durably, and ends the claim. The first recording of
    /// an address stands: what is returned is what everybody must answer.
    async fn record(
        &self,
        address: &DecisionAddress,
        decision: Decision,
    ) -> Result<Decision, LedgerError>;

    /// Gives a claim up without an answer; nothing when it is somebody else's.
    async fn release(&self, address: &DecisionAddress, holder: &str) -> Result<(), LedgerError>;

    /// What is recorded at an address.
    async fn find(&self, address: &DecisionAddress) -> Result<Option<Decision>, LedgerError>;

    /// Everything recorded for a session, in order of seat and index.
    async fn list(&self, session_id: &str)
    -> Result<Vec<(DecisionAddress, Decision)>, LedgerError>;

    /// Lets sessions go: their decisions stay readable for the grace and are
    /// deleted afterwards. Once more for the same session may only shorten the
    /// time. Unknown ones are no error.
    async fn forget(&self, session_ids: &[String], grace: Duration) -> Result<(), LedgerError>;

    /// How often a claim has to be renewed; absent when claims cannot be lost.
    fn renew_every(&self) -> Option<Duration>;

    /// Resolves with the reason when nothing can be recorded until a person has
    /// mended something (a full disk). Never where waiting is all it takes.
    async fn trouble(&self) -> String {
        std::future::pending().await
    }

    /// Returns once everything that was accepted is on disk, and stops.
    async fn close(&self);
}

/// What became of a [`Ledger::claim`].
#[derive(Debug, PartialEq)]
pub enum Claim {
    /// Already answered.
    Recorded(Decision),
    /// The caller may ask the provider.
    Granted,
    /// Another holder is asking; claim again in a moment.
    HeldElsewhere,
    /// The address belongs to another request: recorded, or in flight, with
    /// this digest.
    Conflict(RequestDigest),
}

/// What can go wrong with a ledger.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The embedded file could not be opened.
    #[error(
        "cannot open the ledger {path}, which holds the answers of models (if it is damaged: restore a backup, or move it away, and its answers are requested and paid for again)"
    )]
    Open {
        /// Where it is.
        path: String,
        /// What SQLite says.
        #[source]
        source: rusqlite::Error,
    },
    /// The folder of the embedded file, or the lock beside it, could not be made.
    #[error("cannot use the place of the ledger file {path}")]
    Place {
        /// Where it should be.
        path: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// Another process has the embedded file, and would call for the same
    /// addresses without knowing.
    #[error("the ledger file {path} is in use by another process")]
    InUse {
        /// Where it is.
        path: String,
    },
    /// The embedded file could not be read or written.
    #[error("cannot {operation} in the ledger file")]
    Embedded {
        /// What was tried.
        operation: &'static str,
        /// What SQLite says.
        #[source]
        source: std::sync::Arc<rusqlite::Error>,
    },
    /// Redis did not do what it was asked.
    #[error("cannot {operation} in the redis ledger")]
    Redis {
        /// What was tried.
        operation: &'static str,
        /// What the client says.
        #[source]
        source: ::redis::RedisError,
    },
    /// What is stored cannot be read back.
    #[error("the ledger entry {address} is damaged")]
    Damaged {
        /// Which entry.
        address: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The gateway is stopping.
    #[error("the ledger is closed")]
    Closed,
}

impl LedgerError {
    /// Whether the same call may work later: Redis may come back, a disk may be
    /// given space. A damaged entry will not mend itself.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            LedgerError::Redis { .. } | LedgerError::Embedded { .. }
        )
    }

    /// Whether the call may have worked all the same. Not when the server was
    /// never reached or said that it refuses.
    pub fn may_be_done(&self) -> bool {
        match self {
            LedgerError::Redis { source, .. } => {
                !source.is_connection_refusal()
                    && !matches!(source.kind(), ::redis::ErrorKind::Server(_))
            }
            _ => false,
        }
    }
}
