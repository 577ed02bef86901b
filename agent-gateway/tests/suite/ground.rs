//! A place where a store can be opened again and again, for contracts that both back ends keep: files
//! with a clock that the test moves, or a Redis.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agon_service_kit::clock::Clock;
use async_trait::async_trait;

/// See the module; `S` is the kind of store.
#[async_trait]
pub trait Ground<S: ?Sized>: Sync {
    async fn open(&self) -> Arc<S>;

    /// Moves the clock on where it is ours; Redis has its own, which a test
    /// waits for.
    fn pass(&self, _time: Duration) {}
}

/// A folder that goes with the test, and a clock.
pub struct ScratchFiles {
    folder: tempfile::TempDir,
    now_ms: Arc<AtomicU64>,
}

impl ScratchFiles {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            now_ms: Arc::new(AtomicU64::new(1_000_000)),
        }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn clock(&self) -> Clock {
        let now_ms = Arc::clone(&self.now_ms);
        Arc::new(move || now_ms.load(Ordering::SeqCst))
    }

    pub fn move_clock(&self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap();
        self.now_ms.fetch_add(ms, Ordering::SeqCst);
    }
}

/// One test of each claim in files, given by an expression, and one in a Redis.
macro_rules! contract {
    ($files:expr; $($claim:ident),* $(,)?) => {
        mod embedded {
            use super::*;

            $(#[tokio::test]
            async fn $claim() {
                super::$claim(&$files).await;
            })*
        }
        mod redis {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(&crate::redis_server::RedisServer::start().await).await;
            })*
        }
    };
}
pub(crate) use contract;
