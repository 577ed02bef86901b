//! Admission: the limits of the keys. Owns the contract that both back ends
//! keep: all limits of a key are taken at once or none, an estimate is taken
//! before the call and settled after it, and nobody is refused, only told how
//! long to wait. Called through `admission/line.rs`, which lets callers wait.

pub mod bucket;
pub mod embedded;
pub mod line;
pub mod redis;

use std::time::Duration;

use async_trait::async_trait;

use crate::keys::KeyId;

pub use embedded::EmbeddedLimiter;
pub use redis::RedisLimiter;

/// What one key may carry. Absent: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyLimits {
    /// Requests per minute.
    pub requests_per_minute: Option<u64>,
    /// Input and output tokens per minute.
    pub tokens_per_minute: Option<u64>,
    /// Input tokens per minute, where they are counted apart.
    pub input_tokens_per_minute: Option<u64>,
    /// Output tokens per minute, where they are counted apart.
    pub output_tokens_per_minute: Option<u64>,
    /// Requests in any 24 hours.
    pub requests_per_day: Option<u64>,
    /// Calls in flight.
    pub concurrency: Option<u64>,
    /// Calls in flight as many as the server takes well, found out by trying.
    pub adaptive: bool,
}

impl KeyLimits {
    /// A limit of zero would let nothing through, ever.
    pub fn any_is_zero(&self) -> bool {
        [
            self.requests_per_minute,
            self.tokens_per_minute,
            self.input_tokens_per_minute,
            self.output_tokens_per_minute,
            self.requests_per_day,
            self.concurrency,
        ]
        .contains(&Some(0))
    }
}

/// A key that may be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Which key.
    pub key: KeyId,
    /// Its limits.
    pub limits: KeyLimits,
}

/// What one attempt to call a provider wants.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    /// Unique among all attempts of all replicas.
    pub attempt: &'a str,
    /// Name of the provider.
    pub pool: &'a str,
    /// Keys to choose from; at least one.
    pub candidates: &'a [Candidate],
    /// The most tokens that the call is expected to use.
    pub tokens: u64,
    /// When the attempt is not settled by then, its asker has died: its place
    /// is free again and it stays charged with all its tokens.
    pub lasts: Duration,
}

/// A granted attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The attempt of the [`Ask`].
    pub attempt: String,
    /// Name of the provider.
    pub pool: String,
    /// The key to use.
    pub key: KeyId,
    /// Tokens taken.
    pub tokens: u64,
}

/// The answer to an [`Ask`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The limits of this key have been taken.
    Granted(Reservation),
    /// Nothing has been taken; asking again before this time is useless,
    /// unless something is settled meanwhile.
    Wait(Duration),
}

/// How a key stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyOutlook {
    /// How long it is held.
    pub held_for: Duration,
    /// Calls in flight, of all replicas.
    pub in_flight: u64,
}

/// Keeps the limits.
#[async_trait]
pub trait Limiter: Send + Sync {
    /// Takes every limit of the candidate with most headroom, or of none.
    async fn reserve(&self, ask: &Ask<'_>) -> Result<Verdict, AdmissionError>;

    /// Ends an attempt: gives its place back and corrects the estimate to what
    /// was used, which may be more. Settling twice, or too late, does nothing.
    async fn settle(
        &self,
        reservation: &Reservation,
        used_tokens: u64,
    ) -> Result<(), AdmissionError>;

    /// Lets nobody use a key for this long; never shortens a hold.
    async fn hold(&self, pool: &str, key: &KeyId, hold: Duration) -> Result<(), AdmissionError>;

    /// How keys stand, in the order asked.
    async fn outlook(&self, pool: &str, keys: &[KeyId]) -> Result<Vec<KeyOutlook>, AdmissionError>;
}

/// What can go wrong with the limits.
#[derive(Debug, thiserror::Error)]
pub enum AdmissionError {
    /// Redis did not do what it was asked. No call is made without limits.
    #[error("cannot {operation} in redis")]
    Redis {
        /// What was tried.
        operation: &'static str,
        /// What the client says.
        #[source]
        source: ::redis::RedisError,
    },
}
