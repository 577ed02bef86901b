//! Limits that all replicas share, in Redis: one script call takes every limit
//! of the best key at once or says how long to wait, on Redis's clock. Without
//! Redis nothing is granted, because nobody would know what is left. Called
//! through `admission/line.rs`.

use std::time::Duration;

use async_trait::async_trait;
use redis::aio::ConnectionManager;
use redis::{RedisError, Script};

use super::{AdmissionError, Ask, KeyOutlook, Limiter, Reservation, Verdict};
use crate::keys::KeyId;

/// A place that another replica gives back makes no sound here, so that the
/// one asker of each replica looks this often while every place is taken.
const PLACE_RECHECK: Duration = Duration::from_millis(25);

/// Limits in Redis.
pub struct RedisLimiter {
    connection: ConnectionManager,
    reserve: Script,
    settle: Script,
    hold: Script,
    outlook: Script,
}

impl RedisLimiter {
    /// Limits over a connection.
    pub fn new(connection: ConnectionManager) -> Self {
        Self {
            connection,
            reserve: Script::new(include_str!("../scripts/admission_reserve_v1.lua")),
            settle: Script::new(include_str!("../scripts/admission_settle_v1.lua")),
            hold: Script::new(include_str!("../scripts/admission_hold_v1.lua")),
            outlook: Script::new(include_str!("../scripts/admission_outlook_v1.lua")),
        }
    }
}

#[async_trait]
impl Limiter for RedisLimiter {
    async fn reserve(&self, ask: &Ask<'_>) -> Result<Verdict, AdmissionError> {
        let mut call = self.reserve.prepare_invoke();
        call.arg(ask.attempt)
            .arg(ask.tokens)
            .arg(millis(ask.lasts))
            .arg(millis(PLACE_RECHECK));
        for candidate in ask.candidates {
            let limits = candidate.limits;
            call.key(limits_key(ask.pool, &candidate.key))
                .key(attempts_key(ask.pool, &candidate.key))
                .arg(limits.requests_per_minute.unwrap_or(0))
                .arg(limits.tokens_per_minute.unwrap_or(0))
                .arg(limits.concurrency.unwrap_or(0));
        }
        let mut connection = self.connection.clone();
        let (granted, detail): (i64, u64) = call
            .invoke_async(&mut connection)
            .await
            .map_err(failed("reserve quota"))?;
        if granted == 0 {
            return Ok(Verdict::Wait(Duration::from_millis(detail)));
        }
        let chosen = usize::try_from(detail)
            .ok()
            .and_then(|place| place.checked_sub(1));
        let Some(candidate) = chosen.and_then(|index| ask.candidates.get(index)) else {
            return Err(failed("reserve quota")(RedisError::from((
                redis::ErrorKind::UnexpectedReturnType,
                "the reserve script chose a key that was not asked for",
            ))));
        };
        Ok(Verdict::Granted(Reservation {
            attempt: ask.attempt.to_owned(),
            pool: ask.pool.to_owned(),
            key: candidate.key.clone(),
            tokens: ask.tokens,
        }))
    }

    async fn settle(
        &self,
        reservation: &Reservation,
        used_tokens: u64,
    ) -> Result<(), AdmissionError> {
        let give_back = i128::from(reservation.tokens) - i128::from(used_tokens);
        let mut connection = self.connection.clone();
        let _settled: i64 = self
            .settle
            .key(limits_key(&reservation.pool, &reservation.key))
            .key(attempts_key(&reservation.pool, &reservation.key))
            .arg(&reservation.attempt)
            .arg(give_back.to_string())
            .invoke_async(&mut connection)
            .await
            .map_err(failed("settle quota"))?;
        Ok(())
    }

    async fn hold(&self, pool: &str, key: &KeyId, hold: Duration) -> Result<(), AdmissionError> {
        let mut connection = self.connection.clone();
        let _held_ms: u64 = self
            .hold
            .key(limits_key(pool, key))
            .arg(millis(hold))
            .invoke_async(&mut connection)
            .await
            .map_err(failed("hold a key"))?;
        Ok(())
    }

    async fn outlook(&self, pool: &str, keys: &[KeyId]) -> Result<Vec<KeyOutlook>, AdmissionError> {
        let mut outlooks = Vec::with_capacity(keys.len());
        for key in keys {
            let mut connection = self.connection.clone();
            let (held_ms, in_flight): (u64, u64) = self
                .outlook
                .key(limits_key(pool, key))
                .key(attempts_key(pool, key))
                .invoke_async(&mut connection)
                .await
                .map_err(failed("look at a key"))?;
            outlooks.push(KeyOutlook {
                held_for: Duration::from_millis(held_ms),
                in_flight,
            });
        }
        Ok(outlooks)
    }
}

/// The braces keep all keys of a pool on one node of a cluster.
fn limits_key(pool: &str, key: &KeyId) -> String {
    format!("agon:limits:{{{pool}}}:{}", key.as_str())
}

fn attempts_key(pool: &str, key: &KeyId) -> String {
    format!("agon:attempts:{{{pool}}}:{}", key.as_str())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn failed(operation: &'static str) -> impl Fn(RedisError) -> AdmissionError {
    move |source| AdmissionError::Redis { operation, source }
}
