//! The ledger: every recorded decision under its address, and who is asking
//! for which one right now. Owns the contract that both back ends keep; knows
//! no providers and no wire. Called by `deciding.rs` and `service.rs`.

pub mod embedded;
pub mod redis;

use std::time::Duration;

use async_trait::async_trait;

use crate::decision::{Decision, DecisionAddress, RequestDigest};
use crate::store_error::StoreError;

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
    /// all callers of all replicas. At most one holder at a time; it renews, and
    /// one that stops renewing loses the claim.
    async fn claim(
        &self,
        address: &DecisionAddress,
        digest: &RequestDigest,
        holder: &str,
    ) -> Result<Claim, StoreError>;

    /// Keeps a claim alive and says whether it still was the holder's. Called more
    /// often than [`Ledger::renew_every`], of which a claim lasts three.
    async fn renew(&self, address: &DecisionAddress, holder: &str) -> Result<bool, StoreError>;

    /// Records a decision, durably, and ends the claim. The first recording of
    /// an address stands: what is returned is what everybody must answer.
    async fn record(
        &self,
        address: &DecisionAddress,
        decision: Decision,
    ) -> Result<Decision, StoreError>;

    /// Gives a claim up without an answer; nothing when it is somebody else's.
    async fn release(&self, address: &DecisionAddress, holder: &str) -> Result<(), StoreError>;

    /// What is recorded at an address.
    async fn find(&self, address: &DecisionAddress) -> Result<Option<Decision>, StoreError>;

    /// Everything recorded for a session, in order of seat and index.
    async fn list(&self, session_id: &str) -> Result<Vec<(DecisionAddress, Decision)>, StoreError>;

    /// Lets sessions go: their decisions stay readable for the grace and are
    /// deleted afterwards. Once more for the same session may only shorten the
    /// time. Unknown ones are no error.
    async fn forget(&self, session_ids: &[String], grace: Duration) -> Result<(), StoreError>;

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
