//! Limits of one process, in memory. They start full after a restart: what the
//! last process used in the minute before is at most one burst above what the
//! provider has let through. Called through `admission/line.rs`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;

use super::scope::Scope;
use super::{
    AdmissionError, Ask, Batch, Candidate, Charge, KeyOutlook, Limiter, Reservation, Share, Verdict,
};
use crate::fairness::shares::{Shares, slack};
use crate::keys::KeyId;
use crate::providers::Signals;

/// When every place is taken, the settlement of a call wakes the waiters; this
/// only bounds how late a place of a lost attempt is noticed.
const PLACE_RECHECK_MS: f64 = 1_000.0;

/// What must be left of the scarcest limit for a call that nobody waits for.
const SHARE_LEFT_AHEAD: f64 = 0.5;

/// Who has to let others go first looks again this soon.
const TURN_RECHECK_MS: f64 = 25.0;

/// Limits in memory.
pub struct EmbeddedLimiter {
    started: Instant,
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    keys: HashMap<KeyId, KeyState>,
    /// By provider, and by line where lines share no limits.
    shares: HashMap<(String, Option<String>), Shares>,
}

#[derive(Default)]
struct KeyState {
    key_wide: Scope,
    lanes: HashMap<String, LaneState>,
    /// Attempts in flight, over all lanes.
    attempts: HashMap<String, Attempt>,
    /// No attempt is lost before this time.
    none_lost_before_ms: f64,
}

#[derive(Default)]
struct LaneState {
    scope: Scope,
    in_flight: u64,
}

struct Attempt {
    lost_at_ms: f64,
    lane: String,
    charge: Charge,
    most: Charge,
}

impl Default for EmbeddedLimiter {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            books: Mutex::default(),
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
    async fn reserve(&self, batch: &Batch<'_>) -> Result<Verdict, AdmissionError> {
        let now = self.now_ms();
        let mut books = self.books.lock();
        let Books { keys, shares } = &mut *books;
        for candidate in batch.candidates {
            let state = keys.entry(candidate.key.clone()).or_default();
            state.reclaim(now);
            state.lanes.entry(batch.lane.to_owned()).or_default();
        }
        let spans = batch.lanes_share_limits();
        let shares = shares
            .entry(domain(batch.pool, batch.lane, spans))
            .or_default();
        shares.waiting(batch.waiting.iter().map(|(team, _)| team.as_str()), now);
        let (rate, weights) = (batch.rate(), batch.waiting.iter().map(|(_, w)| w).sum());
        let mut given = vec![0_u64; batch.candidates.len()];
        let mut granted = vec![None; batch.asks.len()];
        let mut wait_ms = f64::INFINITY;
        let mut stopped_by_lane = false;
        for (index, ask) in batch.asks.iter().enumerate() {
            let granted_before = batch.candidates.iter().find(|candidate| {
                let state = keys.get(&candidate.key).filter(|_| ask.again);
                state.is_some_and(|state| state.attempts.contains_key(&ask.attempt))
            });
            if let Some(candidate) = granted_before {
                granted[index] = Some(batch.reservation(ask, candidate));
                continue;
            }
            let Share { team, weight, cost } = &ask.share;
            if !shares.may_go(team, slack(*cost, *weight, rate, weights), now) {
                wait_ms = wait_ms.min(TURN_RECHECK_MS);
                continue;
            }
            match choose(keys, batch, ask, &given, now) {
                Ok(chosen) => {
                    let candidate = &batch.candidates[chosen];
                    given[chosen] += 1;
                    if let Some(state) = keys.get_mut(&candidate.key) {
                        state.take(candidate, batch, ask, now);
                    }
                    shares.served(team, *cost as f64 / weight);
                    granted[index] = Some(batch.reservation(ask, candidate));
                }
                Err(_) if ask.ahead => {}
                Err(denied) => {
                    wait_ms = wait_ms.min(denied.wait_ms);
                    // Who cannot use all keys does not hold up the others.
                    if ask.except.is_empty() {
                        stopped_by_lane = denied.by_lane;
                        // Who was just served lets another asker gather first.
                        if granted.iter().all(Option::is_none)
                            && let Some(state) = keys.get_mut(&batch.candidates[denied.index].key)
                        {
                            state.gather(&batch.candidates[denied.index], batch, ask, now);
                        }
                        break;
                    }
                }
            }
        }
        if spans && stopped_by_lane && granted.iter().all(Option::is_none) {
            shares.held_up(batch.waiting.iter().map(|(team, _)| team.as_str()));
        }
        let wait_ms = if wait_ms.is_finite() { wait_ms } else { 0.0 };
        Ok(Verdict {
            granted,
            wait: Duration::from_secs_f64(wait_ms / 1_000.0),
        })
    }

    async fn settle(
        &self,
        reservation: &Reservation,
        used: &Charge,
        cost: u64,
        signals: &Signals,
    ) -> Result<(), AdmissionError> {
        let now = self.now_ms();
        let mut books = self.books.lock();
        let Books { keys, shares } = &mut *books;
        let Some(state) = keys.get_mut(&reservation.key) else {
            return Ok(());
        };
        state.reclaim(now);
        let Reservation {
            pool, lane, share, ..
        } = reservation;
        if state.end(&reservation.attempt, used, now)
            && let Some(shares) = shares.get_mut(&domain(pool, lane, reservation.shared))
        {
            let more = cost as f64 - share.cost as f64;
            shares.served(&share.team, more / share.weight);
        }
        if let Some(lane) = state.lanes.get_mut(&reservation.lane) {
            let limits = &reservation.lane_limits;
            lane.scope.heed(limits, signals, reservation.burst, now);
        }
        Ok(())
    }

    async fn hold(
        &self,
        _pool: &str,
        lane: &str,
        key: &KeyId,
        hold: Duration,
    ) -> Result<(), AdmissionError> {
        let now = self.now_ms();
        let mut books = self.books.lock();
        let lanes = &mut books.keys.entry(key.clone()).or_default().lanes;
        lanes
            .entry(lane.to_owned())
            .or_default()
            .scope
            .hold(hold, now);
        Ok(())
    }

    async fn outlook(
        &self,
        _pool: &str,
        lane: &str,
        keys: &[Candidate],
    ) -> Result<Vec<KeyOutlook>, AdmissionError> {
        let now = self.now_ms();
        let states = &mut self.books.lock().keys;
        let look = |candidate: &Candidate| {
            let state = states.entry(candidate.key.clone()).or_default();
            state.reclaim(now);
            let key_wide = state.key_wide.outlook(&candidate.limits, now);
            let in_flight = state.attempts.len() as u64;
            let days = state.key_wide.requests_of_day(now);
            let lane = state.lanes.entry(lane.to_owned()).or_default();
            KeyOutlook {
                held_for: Duration::from_secs_f64(lane.scope.held_ms(now) / 1_000.0),
                in_flight,
                key_wide,
                in_lane: lane.scope.outlook(&candidate.lane_limits, now),
                requests_of_day: [days, lane.scope.requests_of_day(now)],
            }
        };
        Ok(keys.iter().map(look).collect())
    }
}

/// Where shares are kept.
fn domain(pool: &str, lane: &str, spans: bool) -> (String, Option<String>) {
    (pool.to_owned(), (!spans).then(|| lane.to_owned()))
}

/// Why a candidate cannot take a charge now.
#[derive(Clone, Copy)]
struct Denied {
    /// Which candidate.
    index: usize,
    wait_ms: f64,
    /// Its limits over all lanes would have let it through sooner.
    by_lane: bool,
}

/// The candidate with most headroom for an ask, or how long to wait for one.
fn choose(
    keys: &mut HashMap<KeyId, KeyState>,
    batch: &Batch<'_>,
    ask: &Ask,
    given: &[u64],
    now: f64,
) -> Result<usize, Denied> {
    let mut soonest = Denied {
        index: 0,
        wait_ms: f64::INFINITY,
        by_lane: false,
    };
    let mut note = |denied: Denied| {
        if denied.wait_ms < soonest.wait_ms {
            soonest = denied;
        }
    };
    let mut best: Option<(usize, f64, usize)> = None;
    for (index, candidate) in batch.candidates.iter().enumerate() {
        if ask.except.contains(&candidate.key) {
            continue;
        }
        if candidate.room.is_some_and(|room| given[index] >= room) {
            note(Denied {
                index,
                wait_ms: PLACE_RECHECK_MS,
                by_lane: true,
            });
            continue;
        }
        let Some(state) = keys.get(&candidate.key) else {
            continue;
        };
        let in_flight = state.attempts.len();
        match state.look(candidate, batch, &ask.charge, now) {
            Err(denied) => note(Denied { index, ..denied }),
            Ok(share) if ask.ahead && share < SHARE_LEFT_AHEAD => {}
            Ok(share) => {
                let better = best.is_none_or(|(_, other, flying)| {
                    share > other || (share == other && in_flight < flying)
                });
                if better {
                    best = Some((index, share, in_flight));
                }
            }
        }
    }
    if soonest.wait_ms.is_infinite() {
        soonest.wait_ms = PLACE_RECHECK_MS;
    }
    best.map(|(index, ..)| index).ok_or(soonest)
}

impl KeyState {
    /// The scarcest limit as a share, or what denies it.
    fn look(
        &self,
        candidate: &Candidate,
        batch: &Batch<'_>,
        charge: &Charge,
        now: f64,
    ) -> Result<f64, Denied> {
        let lane = self.lanes.get(batch.lane);
        let flying = lane.map_or(0, |lane| lane.in_flight);
        let places = [
            (candidate.limits.concurrency, self.attempts.len() as u64),
            (candidate.lane_limits.concurrency, flying),
        ];
        let mut share = 1.0_f64;
        let mut waits = [0.0_f64; 2];
        for (scope, (places, in_flight)) in places.into_iter().enumerate() {
            let Some(places) = places else { continue };
            let free = places.saturating_sub(in_flight);
            if free == 0 {
                waits[scope] = PLACE_RECHECK_MS;
            }
            share = share.min(free as f64 / places as f64);
        }
        let own = self
            .key_wide
            .look(&candidate.limits, charge, batch.burst, now);
        let in_lane = lane.map_or(Ok(1.0), |lane| {
            lane.scope
                .look(&candidate.lane_limits, charge, batch.burst, now)
        });
        for (scope, look) in [own, in_lane].into_iter().enumerate() {
            match look {
                Ok(there) => share = share.min(there),
                Err(wait) => waits[scope] = waits[scope].max(wait),
            }
        }
        let gathered = |scope: &Scope| scope.is_gathered_by_other(batch.asker, now);
        let others = [
            gathered(&self.key_wide),
            lane.is_some_and(|lane| gathered(&lane.scope)),
        ];
        for (wait_ms, others) in waits.iter_mut().zip(others) {
            if others {
                *wait_ms = wait_ms.max(TURN_RECHECK_MS);
            }
        }
        let [key_wide, in_lane] = waits;
        if key_wide.max(in_lane) > 0.0 {
            return Err(Denied {
                index: 0,
                wait_ms: key_wide.max(in_lane),
                by_lane: in_lane > key_wide,
            });
        }
        Ok(share)
    }

    /// Lets the asker gather for a charge above the burst.
    fn gather(&mut self, candidate: &Candidate, batch: &Batch<'_>, ask: &Ask, now: f64) {
        let Batch { burst, asker, .. } = *batch;
        self.key_wide
            .gather(&candidate.limits, &ask.charge, burst, asker, now);
        if let Some(lane) = self.lanes.get_mut(batch.lane) {
            let limits = &candidate.lane_limits;
            lane.scope.gather(limits, &ask.charge, burst, asker, now);
        }
    }

    fn take(&mut self, candidate: &Candidate, batch: &Batch<'_>, ask: &Ask, now: f64) {
        self.key_wide
            .take(&candidate.limits, &ask.charge, batch.burst, now);
        let lane = self.lanes.entry(batch.lane.to_owned()).or_default();
        lane.scope
            .take(&candidate.lane_limits, &ask.charge, batch.burst, now);
        lane.in_flight += 1;
        lane.scope.has_gathered(batch.asker);
        self.key_wide.has_gathered(batch.asker);
        let attempt = Attempt {
            lost_at_ms: now + ask.lasts.as_secs_f64() * 1_000.0,
            lane: batch.lane.to_owned(),
            charge: ask.charge,
            most: ask.most,
        };
        if self.attempts.is_empty() {
            self.none_lost_before_ms = attempt.lost_at_ms;
        }
        self.none_lost_before_ms = self.none_lost_before_ms.min(attempt.lost_at_ms);
        self.attempts.insert(ask.attempt.clone(), attempt);
    }

    /// Takes an attempt out and corrects its charge; false when it was out already.
    fn end(&mut self, attempt: &str, used: &Charge, now: f64) -> bool {
        let Some(attempt) = self.attempts.remove(attempt) else {
            return false;
        };
        self.key_wide.correct(&attempt.charge, used, now);
        if let Some(lane) = self.lanes.get_mut(&attempt.lane) {
            lane.scope.correct(&attempt.charge, used, now);
            lane.in_flight = lane.in_flight.saturating_sub(1);
        }
        true
    }

    /// Ends attempts whose askers have died; they are charged with the most they
    /// may have used.
    fn reclaim(&mut self, now: f64) {
        if now < self.none_lost_before_ms {
            return;
        }
        let lost = self
            .attempts
            .iter()
            .filter(|(_, attempt)| attempt.lost_at_ms <= now);
        let lost: Vec<_> = lost
            .map(|(name, attempt)| (name.clone(), attempt.most))
            .collect();
        for (name, most) in lost {
            self.end(&name, &most, now);
        }
        let left = self.attempts.values().map(|attempt| attempt.lost_at_ms);
        self.none_lost_before_ms = left.fold(f64::INFINITY, f64::min);
    }
}
