//! What the embedded limiter knows: of each key its limits and attempts, of each provider the shares
//! of teams. Pure arithmetic on a clock that is handed in; keeps nothing by itself. Called by
//! `embedded.rs`, beside `file.rs`, which tells it what other processes have taken.

use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::scope::Scope;
use super::super::{Ask, Batch, Candidate, Charge, KeyOutlook, Reservation, Share, Verdict};
use crate::fairness::shares::{Shares, slack};
use crate::keys::KeyId;
use crate::limits::Signals;

/// When every place is taken, the settlement of a call wakes the waiters; this
/// only bounds how late a place of a lost attempt is noticed.
const PLACE_RECHECK_MS: f64 = 1_000.0;

/// Settlements of other processes wake nobody here.
const PLACE_ELSEWHERE_RECHECK_MS: f64 = 50.0;

/// Who has to let others go first looks again this soon.
const TURN_RECHECK_MS: f64 = 25.0;

/// Where shares are kept: by provider, and by line where lines share no limits.
pub(super) type Domain = (String, Option<String>);

/// See the module.
#[derive(Default)]
pub(super) struct Books {
    pub keys: HashMap<KeyId, KeyState>,
    pub shares: HashMap<Domain, Shares>,
}

/// One key.
#[derive(Default)]
pub(super) struct KeyState {
    pub key_wide: Scope,
    pub lanes: HashMap<String, LaneState>,
    /// Attempts of this process in flight, over all lanes.
    attempts: HashMap<String, Attempt>,
    /// No attempt is lost before this time.
    none_lost_before_ms: f64,
    /// Calls of other processes in flight, over all lanes.
    pub elsewhere: u64,
    /// Other processes may use it within the same limits.
    pub is_shared: bool,
}

/// One key in one lane.
#[derive(Default)]
pub(super) struct LaneState {
    pub scope: Scope,
    /// Calls of this process.
    pub under_way: UnderWay,
    /// Calls of other processes in flight.
    pub elsewhere: u64,
}

/// The calls of one process in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnderWay {
    pub calls: u64,
    /// What was taken for them.
    pub taken: Charge,
    /// What they cost if the process dies.
    pub most: Charge,
}

struct Attempt {
    lost_at_ms: f64,
    lane: String,
    charge: Charge,
    most: Charge,
}

impl Books {
    /// See [`super::super::Limiter::reserve`].
    pub fn reserve(&mut self, batch: &Batch<'_>, now: f64) -> Verdict {
        let Self { keys, shares } = self;
        for candidate in batch.candidates {
            let state = keys.entry(candidate.key.clone()).or_default();
            state.reclaim(now);
            state.lanes.entry(batch.lane.to_owned()).or_default();
        }
        let spans = batch.lanes_share_limits();
        let shares = shares.entry(domain_of_batch(batch)).or_default();
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
        Verdict {
            granted,
            wait: Duration::from_secs_f64(wait_ms / 1_000.0),
        }
    }

    /// See [`super::super::Limiter::settle`].
    pub fn settle(
        &mut self,
        reservation: &Reservation,
        used: &Charge,
        cost: u64,
        signals: &Signals,
        now: f64,
    ) {
        let Self { keys, shares } = self;
        let Some(state) = keys.get_mut(&reservation.key) else {
            return;
        };
        state.reclaim(now);
        let share = &reservation.share;
        if state.end(&reservation.attempt, used, now)
            && let Some(shares) = shares.get_mut(&domain_of(reservation))
        {
            let more = cost as f64 - share.cost as f64;
            shares.served(&share.team, more / share.weight);
        }
        if let Some(lane) = state.lanes.get_mut(&reservation.lane) {
            let limits = &reservation.lane_limits;
            lane.scope.heed(limits, signals, reservation.burst, now);
        }
    }

    /// See [`super::super::Limiter::hold`].
    pub fn hold(&mut self, lane: &str, key: &KeyId, hold: Duration, now: f64) {
        let lanes = &mut self.keys.entry(key.clone()).or_default().lanes;
        let lane = lanes.entry(lane.to_owned()).or_default();
        lane.scope.hold(hold, now);
    }

    /// See [`super::super::Limiter::outlook`].
    pub fn outlook(&mut self, lane: &str, keys: &[Candidate], now: f64) -> Vec<KeyOutlook> {
        let look = |candidate: &Candidate| {
            let state = self.keys.entry(candidate.key.clone()).or_default();
            state.reclaim(now);
            let key_wide = state.key_wide.outlook(&candidate.limits, now);
            let in_flight = state.in_flight();
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
        keys.iter().map(look).collect()
    }
}

/// Where the shares of a batch are kept.
pub(super) fn domain_of_batch(batch: &Batch<'_>) -> Domain {
    domain(batch.pool, batch.lane, batch.lanes_share_limits())
}

/// Where the shares of a reservation are kept.
pub(super) fn domain_of(reservation: &Reservation) -> Domain {
    domain(&reservation.pool, &reservation.lane, reservation.shared)
}

fn domain(pool: &str, lane: &str, spans: bool) -> Domain {
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
    let mut best: Option<(usize, f64, u64)> = None;
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
        let in_flight = state.in_flight();
        match state.look(candidate, batch, &ask.charge, now) {
            Err(denied) => note(Denied { index, ..denied }),
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
    /// Calls of all processes.
    fn in_flight(&self) -> u64 {
        self.attempts.len() as u64 + self.elsewhere
    }

    /// The scarcest limit as a share, or what denies it.
    fn look(
        &self,
        candidate: &Candidate,
        batch: &Batch<'_>,
        charge: &Charge,
        now: f64,
    ) -> Result<f64, Denied> {
        let lane = self.lanes.get(batch.lane);
        let in_lane = lane.map_or(0, |lane| lane.under_way.calls + lane.elsewhere);
        let places = [
            (candidate.limits.concurrency, self.in_flight()),
            (candidate.lane_limits.concurrency, in_lane),
        ];
        let mut share = 1.0_f64;
        let mut waits = [0.0_f64; 2];
        for (scope, (places, in_flight)) in places.into_iter().enumerate() {
            let Some(places) = places else { continue };
            let free = places.saturating_sub(in_flight);
            if free == 0 {
                waits[scope] = if self.elsewhere == 0 {
                    PLACE_RECHECK_MS
                } else {
                    PLACE_ELSEWHERE_RECHECK_MS
                };
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
        lane.under_way.begin(&ask.charge, &ask.most);
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
            lane.under_way.end(&attempt.charge, &attempt.most);
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

impl UnderWay {
    fn begin(&mut self, taken: &Charge, most: &Charge) {
        self.calls += 1;
        self.taken = self.taken.plus(taken);
        self.most = self.most.plus(most);
    }

    fn end(&mut self, taken: &Charge, most: &Charge) {
        self.calls = self.calls.saturating_sub(1);
        self.taken = self.taken.minus(taken);
        self.most = self.most.minus(most);
    }
}
