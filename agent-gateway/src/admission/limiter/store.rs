//! Where several processes keep their limits together: named documents that change only if nobody
//! else has changed them meanwhile. Knows nothing of what stands in them. Kept by `file.rs` and
//! `redis.rs`.

use async_trait::async_trait;

use super::books::ProcessCalls;
use crate::store_error::StoreError;

/// A document as somebody has read it, and what to make of it.
pub(super) struct Document {
    /// Unique within the provider.
    pub name: String,
    /// The version that was read: empty when there was none.
    pub version: String,
    /// What to replace it with; absent: it only has to be unchanged.
    pub text: Option<String>,
}

/// A document that somebody else has changed.
pub(super) struct Changed {
    /// Which of those that were sent.
    pub index: usize,
    /// Its version; empty when it is gone.
    pub version: String,
    /// What it says now.
    pub text: String,
}

/// See the module.
#[async_trait]
pub(super) trait LimitStore: Send + Sync {
    /// The name of this process, which no other has had.
    fn process(&self) -> &str;

    /// The time that all processes go by, in milliseconds since 1970.
    fn now_ms(&self) -> f64;

    /// What is counted of keys without limits is kept here too.
    fn keeps_unlimited(&self) -> bool;

    /// A process will never end the calls that it had in flight.
    fn is_lost(&self, process: &str, calls: &ProcessCalls, now_ms: f64) -> bool;

    /// Replaces the documents of a provider under this new version if all are as they were read.
    /// Answers those that are not; then nothing was replaced.
    async fn exchange(
        &self,
        provider: &str,
        documents: &[Document],
        version: &str,
    ) -> Result<Vec<Changed>, StoreError>;
}
