//! Watches whether the store answers and takes writes, which a replica does not: says so in the log
//! once per change, not once per call, and tells whoever asks (the health service). Redis may come
//! after the gateway and may go away for a while; both are ordinary here. Run by `gateway.rs` as
//! long as the gateway runs.

use std::time::{Duration, Instant};

use agon_redis_link::Link;
use agon_service_kit::clock::millis;
use agon_service_kit::secrets::keep_address;
use agon_service_kit::tasks::with_causes;
use redis::RedisError;
use tokio::sync::watch;

use crate::metrics;
use crate::redis_store::RedisStoreError;

/// Between two looks while Redis answers.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Between two looks while it does not: each look also tries to connect, so
/// this bounds how long the gateway stays away after Redis's return.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// An answer that takes longer is none.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// Looks at one Redis.
pub struct StoreWatch {
    connection: Link,
    shown: String,
    answers: watch::Sender<bool>,
}

impl StoreWatch {
    /// A watch over a connection, after a first look.
    ///
    /// # Errors
    /// Redis answers and refuses us, which no waiting mends.
    pub async fn begin(connection: Link, url: &str) -> Result<Self, RedisStoreError> {
        let shown = keep_address(url);
        let watch = Self {
            connection,
            shown: shown.clone(),
            answers: watch::Sender::new(false),
        };
        match watch.look().await {
            Ok(()) => watch.note(true),
            Err(LookError::Error(source)) if !agon_redis_link::may_pass(&source) => {
                return Err(RedisStoreError::Refused { shown, source });
            }
            Err(silence) => {
                tracing::warn!(
                    redis = %watch.shown, reason = %silence.reason(),
                    "redis does not answer yet: callers are told to come again until it does"
                );
            }
        }
        Ok(watch)
    }

    /// Whether Redis answers now, and every change of that.
    pub fn answers(&self) -> watch::Receiver<bool> {
        self.answers.subscribe()
    }

    /// Looks until dropped.
    pub async fn run(self) {
        let mut since = Instant::now();
        loop {
            let answered = *self.answers.borrow();
            // Again each time: the process may begin to measure after the first look.
            metrics::set_store_answers(answered);
            tokio::time::sleep(if answered { LOOK_EVERY } else { LOOK_AGAIN }).await;
            match (self.look().await, answered) {
                (Ok(()), true) | (Err(_), false) => continue,
                (Ok(()), false) => {
                    let away_ms = millis(since.elapsed());
                    tracing::info!(redis = %self.shown, away_ms, "redis answers");
                    self.note(true);
                }
                (Err(silence), true) => {
                    tracing::warn!(
                        redis = %self.shown, reason = %silence.reason(),
                        "redis does not answer any more: callers are told to come again until it does"
                    );
                    self.note(false);
                }
            }
            since = Instant::now();
        }
    }

    async fn look(&self) -> Result<(), LookError> {
        match tokio::time::timeout(ANSWERS_WITHIN, self.connection.check()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(LookError::Error(error)),
            Err(_) => Err(LookError::TooLong),
        }
    }

    fn note(&self, answers: bool) {
        metrics::set_store_answers(answers);
        self.answers.send_replace(answers);
    }
}

/// Why a look found nobody.
enum LookError {
    Error(RedisError),
    TooLong,
}

impl LookError {
    fn reason(&self) -> String {
        match self {
            LookError::Error(error) => with_causes(error),
            LookError::TooLong => "no answer in time".to_owned(),
        }
    }
}
