//! The content cache: answers by what was asked, whoever of a team asked, with the
//! replicate index in the key, so that repeats stay independent. Owns the key,
//! which answers are fit to be kept, and the contract of both back ends. Refuses
//! to be asked when the caller did not ask for it. Called by
//! `deciding/caching.rs`; the ledger stays what counts.

pub mod embedded;
pub mod redis;
pub(crate) mod sharing;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use crate::catalogue::Origin;
use crate::decision::{Decision, Request};
use crate::store_error::StoreError;

pub use embedded::EmbeddedContentCache;
pub use redis::RedisContentCache;

/// How providers say that an answer is whole. Whatever else they say (cut off at
/// the longest length, filtered) may be a fault that a new call would not have.
const WHOLE: [&str; 5] = ["stop", "end_turn", "stop_sequence", "eos", "eos_token"];

/// Keeps answers for a time.
#[async_trait]
pub trait ContentCache: Send + Sync {
    /// What was kept under a key and is not too old.
    async fn find(&self, key: &ContentKey) -> Result<Option<Decision>, StoreError>;

    /// Keeps an answer for a time. The first one stands until that is over.
    async fn keep(
        &self,
        key: &ContentKey,
        decision: &Decision,
        lasts: Duration,
    ) -> Result<(), StoreError>;
}

/// Names a question in one replicate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContentKey(String);

impl ContentKey {
    /// The key of a request. The sampling seed is left out, because it is
    /// derived from the address; `origin` is who is asked in the end, because a
    /// name may be configured differently tomorrow.
    pub fn new(request: &Request, origin: &Origin, team: &str, replicate: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("agon agent-gateway content cache 3");
        let digest = request.digest_without_seed();
        let kind = &origin.provider_kind;
        for part in [
            digest.as_str(),
            kind,
            &origin.endpoint,
            &origin.provider_model,
            team,
        ] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        // Only where there are some: what is cached stays what it was.
        if !origin.additions.is_empty() {
            hasher.update(origin.additions.as_bytes());
        }
        hasher.update(&replicate.to_le_bytes());
        Self(hasher.finalize().to_hex().to_string())
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether an answer is fit to be given again. Empty, filtered and cut answers
/// are not, nor those of a fall-back: a fault must not be repeated by memory.
pub fn is_fit(request: &Request, decision: &Decision) -> bool {
    let finish = decision.finish_reason.as_str();
    let whole = WHOLE.iter().any(|whole| whole.eq_ignore_ascii_case(finish));
    whole && !decision.reply.trim().is_empty() && decision.model == request.model
}

fn encode(decision: &Decision) -> Result<String, StoreError> {
    serde_json::to_string(decision).map_err(StoreError::damaged("answer of the content cache"))
}

fn decode(text: &str) -> Result<Decision, StoreError> {
    serde_json::from_str(text).map_err(StoreError::damaged("answer of the content cache"))
}
