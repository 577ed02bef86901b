//! Limits that all replicas share, in Redis and on its clock. Without Redis nothing is granted,
//! because nobody would know what is left. One script compares and sets; nothing is decided there.
//! Called by `limiter.rs`.

use std::time::Instant;

use agon_redis_link::Link;
use agon_service_kit::clock::unix_ms;
use async_trait::async_trait;
use parking_lot::Mutex;

use super::books::ProcessCalls;
use super::store::{Changed, Document, LimitStore};
use crate::redis_script::RedisScript;
use crate::store_error::StoreError;

/// What nobody uses any more leaves by itself after so long, in milliseconds: its levels are full by
/// then, its day is over.
const STAYS_MS: u64 = 100_000_000;

/// See the module.
pub(super) struct RedisLimits {
    link: Link,
    process: String,
    exchange: RedisScript,
    /// What Redis's clock said, and when.
    clock: Mutex<Option<(f64, Instant)>>,
}

impl RedisLimits {
    pub fn new(link: Link, process: &str) -> Self {
        let text = include_str!("../../scripts/limits_exchange_v1.lua");
        Self {
            link,
            process: process.to_owned(),
            exchange: RedisScript::new("keep limits", text),
            clock: Mutex::default(),
        }
    }
}

#[async_trait]
impl LimitStore for RedisLimits {
    fn process(&self) -> &str {
        &self.process
    }

    fn now_ms(&self) -> f64 {
        match *self.clock.lock() {
            Some((said, at)) => said + at.elapsed().as_secs_f64() * 1_000.0,
            None => unix_ms() as f64,
        }
    }

    fn keeps_unlimited(&self) -> bool {
        true
    }

    fn is_lost(&self, _process: &str, calls: &ProcessCalls, now_ms: f64) -> bool {
        calls.lost_at_ms <= now_ms
    }

    async fn exchange(
        &self,
        provider: &str,
        documents: &[Document],
        version: &str,
    ) -> Result<Vec<Changed>, StoreError> {
        let said: (u64, Vec<(usize, String, String)>) = self
            .exchange
            .run(&self.link, |call| {
                for document in documents {
                    // The braces keep all limits of a provider on one node of a cluster.
                    call.key(format!("agon:limits:{{{provider}}}:{}", document.name));
                }
                call.arg(version).arg(STAYS_MS);
                for document in documents {
                    let text = document.text.as_deref().unwrap_or_default();
                    call.arg(&document.version).arg(text);
                }
            })
            .await?;
        let (time, changed) = said;
        *self.clock.lock() = Some((time as f64, Instant::now()));
        let changed = changed.into_iter().map(|(index, version, text)| Changed {
            index,
            version,
            text,
        });
        Ok(changed.collect())
    }
}
