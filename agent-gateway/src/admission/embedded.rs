//! Limits of one process, in memory. They start full after a restart: what the
//! last process used in the minute before is at most one second's quota above
//! what the provider has let through. Called through `admission/line.rs`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;

use super::bucket::{Bucket, Terms};
use super::{AdmissionError, Ask, Candidate, KeyOutlook, Limiter, Reservation, Verdict};
use crate::keys::KeyId;

/// When every place is taken, the settlement of a call wakes the waiters; this
/// only bounds how late a place of a lost attempt is noticed.
const PLACE_RECHECK_MS: f64 = 1_000.0;

/// Limits in memory.
pub struct EmbeddedLimiter {
    started: Instant,
    keys: Mutex<HashMap<KeyId, KeyState>>,
}

#[derive(Default)]
struct KeyState {
    requests: Bucket,
    tokens: Bucket,
    held_until_ms: f64,
    /// Attempts in flight and when they count as lost.
    attempts: HashMap<String, f64>,
    /// When lost attempts are taken out next, places being free or not counted.
    reclaim_at_ms: f64,
}

impl Default for EmbeddedLimiter {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            keys: Mutex::default(),
        }
    }
}

impl EmbeddedLimiter {
    fn now_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1_000.0
    }
}

#[async_trait]
impl Limiter for EmbeddedLimiter {
    async fn reserve(&self, ask: &Ask<'_>) -> Result<Verdict, AdmissionError> {
        let now = self.now_ms();
        let mut keys = self.keys.lock();
        let mut soonest = f64::INFINITY;
        let mut best: Option<(&Candidate, Headroom)> = None;
        for candidate in ask.candidates {
            if !keys.contains_key(&candidate.key) {
                keys.insert(candidate.key.clone(), KeyState::default());
            }
            let Some(state) = keys.get_mut(&candidate.key) else {
                continue;
            };
            match state.look(candidate, ask.tokens, now) {
                Err(wait_ms) => soonest = soonest.min(wait_ms),
                Ok(headroom) => {
                    if best.as_ref().is_none_or(|(_, other)| headroom.beats(other)) {
                        best = Some((candidate, headroom));
                    }
                }
            }
        }
        let Some((chosen, _)) = best else {
            let wait_ms = if soonest.is_finite() {
                soonest
            } else {
                PLACE_RECHECK_MS
            };
            return Ok(Verdict::Wait(Duration::from_secs_f64(wait_ms / 1_000.0)));
        };
        if let Some(state) = keys.get_mut(&chosen.key) {
            state.take(chosen, ask, now);
        }
        Ok(Verdict::Granted(Reservation {
            attempt: ask.attempt.to_owned(),
            pool: ask.pool.to_owned(),
            key: chosen.key.clone(),
            tokens: ask.tokens,
        }))
    }

    async fn settle(
        &self,
        reservation: &Reservation,
        used_tokens: u64,
    ) -> Result<(), AdmissionError> {
        let now = self.now_ms();
        if let Some(state) = self.keys.lock().get_mut(&reservation.key)
            && state
                .attempts
                .remove(&reservation.attempt)
                .is_some_and(|lost_at| lost_at > now)
        {
            state.tokens.correct(reservation.tokens, used_tokens);
        }
        Ok(())
    }

    async fn hold(&self, _pool: &str, key: &KeyId, hold: Duration) -> Result<(), AdmissionError> {
        let until = self.now_ms() + hold.as_secs_f64() * 1_000.0;
        let mut keys = self.keys.lock();
        let state = keys.entry(key.clone()).or_default();
        state.held_until_ms = state.held_until_ms.max(until);
        Ok(())
    }

    async fn outlook(
        &self,
        _pool: &str,
        keys: &[KeyId],
    ) -> Result<Vec<KeyOutlook>, AdmissionError> {
        let now = self.now_ms();
        let states = self.keys.lock();
        let look = |key: &KeyId| {
            states
                .get(key)
                .map_or_else(KeyOutlook::default, |state| KeyOutlook {
                    held_for: Duration::from_secs_f64(
                        (state.held_until_ms - now).max(0.0) / 1_000.0,
                    ),
                    in_flight: state
                        .attempts
                        .values()
                        .filter(|lost_at| **lost_at > now)
                        .count() as u64,
                })
        };
        Ok(keys.iter().map(look).collect())
    }
}

/// How much room a key has: the scarcest of its limits as a share, then how
/// few calls it carries.
struct Headroom {
    share: f64,
    in_flight: usize,
}

impl Headroom {
    fn beats(&self, other: &Self) -> bool {
        self.share > other.share || (self.share == other.share && self.in_flight < other.in_flight)
    }
}

impl KeyState {
    /// The room there is, or the milliseconds until there may be some.
    fn look(&mut self, candidate: &Candidate, tokens: u64, now: f64) -> Result<Headroom, f64> {
        let limits = candidate.limits;
        let mut wait_ms = (self.held_until_ms - now).max(0.0);
        let mut share: f64 = 1.0;
        self.reclaim(limits.concurrency, now);
        if let Some(places) = limits.concurrency {
            let free = places.saturating_sub(self.attempts.len() as u64);
            if free == 0 {
                wait_ms = wait_ms.max(PLACE_RECHECK_MS);
            }
            share = share.min(free as f64 / places as f64);
        }
        let charges = [
            (limits.requests_per_minute, 1, &self.requests),
            (limits.tokens_per_minute, tokens, &self.tokens),
        ];
        for (limit, charge, bucket) in charges {
            if let Some(limit) = limit {
                let terms = Terms::of(limit, charge);
                wait_ms = wait_ms.max(bucket.wait_ms(&terms, now));
                share = share.min(bucket.level(&terms, now) / terms.size);
            }
        }
        if wait_ms > 0.0 {
            return Err(wait_ms);
        }
        Ok(Headroom {
            share,
            in_flight: self.attempts.len(),
        })
    }

    /// Takes lost attempts out: at once when they are in the way, else now and
    /// then, so that a key without a limit does not gather them for ever.
    fn reclaim(&mut self, places: Option<u64>, now: f64) {
        let taken = self.attempts.len() as u64;
        if places.is_some_and(|places| taken >= places) || now >= self.reclaim_at_ms {
            self.attempts.retain(|_, lost_at| *lost_at > now);
            self.reclaim_at_ms = now + PLACE_RECHECK_MS;
        }
    }

    fn take(&mut self, candidate: &Candidate, ask: &Ask<'_>, now: f64) {
        if let Some(limit) = candidate.limits.requests_per_minute {
            self.requests.take(&Terms::of(limit, 1), 1, now);
        }
        if let Some(limit) = candidate.limits.tokens_per_minute {
            self.tokens
                .take(&Terms::of(limit, ask.tokens), ask.tokens, now);
        }
        let lost_at = now + ask.lasts.as_secs_f64() * 1_000.0;
        self.attempts.insert(ask.attempt.to_owned(), lost_at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::KeyLimits;

    #[test]
    fn lost_attempts_are_reclaimed_from_a_key_without_limits() {
        let candidate = Candidate {
            key: KeyId::from("k"),
            limits: KeyLimits::default(),
        };
        let mut state = KeyState::default();
        for number in 0..3 {
            let lost_at = 1_000.0 + f64::from(number) * 10_000.0;
            state.attempts.insert(number.to_string(), lost_at);
        }
        let in_flight = |state: &mut KeyState, now| {
            let room = state.look(&candidate, 1, now);
            room.map(|headroom| headroom.in_flight)
        };
        assert_eq!(in_flight(&mut state, 0.0), Ok(3));
        assert_eq!(in_flight(&mut state, 2_000.0), Ok(2));
        assert_eq!(in_flight(&mut state, 60_000.0), Ok(0));
    }
}
