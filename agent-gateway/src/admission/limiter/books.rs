//! What the limiter decides on: of each key its limits and calls in flight, over all lanes and in one,
//! and what teams have been served. Pure arithmetic on a clock that is handed in; knows neither where
//! this is kept nor who else changes it. Called by `limiter.rs`, which brings what a question is about
//! up to date first and keeps what has changed.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::attempts::{Attempts, OpenAttempt};
use crate::admission::scope::Scope;
use crate::admission::{Ask, Batch, Candidate, Charge, KeyOutlook, Reservation, Share, Verdict};
use crate::fairness::shares::{Shares, slack};
use crate::keys::KeyId;
use crate::limits::Signals;

/// When every place is taken, the settlement of a call wakes the waiters; this
/// only bounds how late a place of a lost attempt is noticed.
const PLACE_RECHECK_MS: f64 = 1_000.0;

/// Settlements of other processes wake nobody here.
const PLACE_ELSEWHERE_RECHECK_MS: f64 = 25.0;

/// Who has to let others go first looks again this soon.
const TURN_RECHECK_MS: f64 = 25.0;

/// Which limits: those of a key over all lanes, or in one.
pub(super) type ScopeName = (KeyId, Option<String>);

/// Whose shares: of all lanes of the provider, or of one where lanes share no limits.
pub(super) type SharesName = Option<String>;

/// One set of limits, as all processes keep it together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Counts {
    pub scope: Scope,
    /// By process.
    pub in_flight: BTreeMap<String, ProcessCalls>,
    /// The time of the last change, in milliseconds since 1970.
    pub changed_ms: f64,
}

/// The calls of one process in flight. Only that process changes them, until it is found dead.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct ProcessCalls {
    pub calls: u64,
    /// What was taken for them.
    pub taken: Charge,
    /// What they are charged with if the process dies.
    pub most: Charge,
    /// When the last of them counts as lost, in milliseconds since 1970; without calls, when the
    /// process is forgotten.
    pub lost_at_ms: f64,
    /// The process's last change of these limits.
    pub change: u64,
}

/// Something of which a draft is made.
pub(super) struct Drafted<N, T> {
    pub name: N,
    content: T,
    pub changed: bool,
}

impl<N, T> Drafted<N, T> {
    pub fn new(name: N, content: T) -> Self {
        let changed = false;
        Self {
            name,
            content,
            changed,
        }
    }

    pub fn content(&self) -> &T {
        &self.content
    }

    pub fn edit(&mut self) -> &mut T {
        self.changed = true;
        &mut self.content
    }

    pub fn into_content(self) -> T {
        self.content
    }
}

/// What one question is about, and what becomes of it.
pub(super) struct Books {
    /// The name of this process.
    process: String,
    pub scopes: Vec<Drafted<ScopeName, Counts>>,
    pub shares: Vec<Drafted<SharesName, Shares>>,
    /// Calls of this process in flight.
    pub attempts: Attempts,
}

/// The limits of a candidate, by their places in the books.
#[derive(Clone, Copy)]
struct Places {
    key_wide: usize,
    in_lane: usize,
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

impl Books {
    pub fn of(process: &str) -> Self {
        Self {
            process: process.to_owned(),
            scopes: Vec::new(),
            shares: Vec::new(),
            attempts: Attempts::default(),
        }
    }

    /// Grants as many asks of a batch as fit.
    pub fn reserve(&mut self, batch: &Batch<'_>, now: f64) -> Verdict {
        let candidates = batch.candidates.iter();
        let places: Vec<Option<Places>> = candidates
            .map(|candidate| self.places(&candidate.key, batch.lane))
            .collect();
        let spans = batch.lanes_share_limits();
        let teams = || batch.waiting.iter().map(|(team, _)| team.as_str());
        let shares = self.shares_of(&batch.shares_name());
        if let Some(shares) = shares {
            self.shares[shares].edit().waiting(teams(), now);
        }
        let (rate, weights) = (batch.rate(), batch.waiting.iter().map(|(_, w)| w).sum());
        let mut given = vec![0_u64; batch.candidates.len()];
        let mut granted = vec![None; batch.asks.len()];
        let mut wait_ms = f64::INFINITY;
        let mut stopped_by_lane = false;
        for (index, ask) in batch.asks.iter().enumerate() {
            // Its answer was lost: what was granted then is granted now, unless its key is none of
            // the candidates any more.
            if let Some(before) = self.attempts.get(&ask.attempt) {
                let mut candidates = batch.candidates.iter();
                if let Some(candidate) = candidates.find(|one| one.key == before.key) {
                    granted[index] = Some(batch.reservation(ask, candidate));
                    continue;
                }
                self.end(&ask.attempt, &Charge::default(), now);
            }
            let Share { team, weight, cost } = &ask.share;
            let slack = slack(*cost, *weight, rate, weights);
            let may_go = shares.is_none_or(|shares| {
                let shares = self.shares[shares].content();
                shares.may_go(team, slack, now)
            });
            if !may_go {
                wait_ms = wait_ms.min(TURN_RECHECK_MS);
                continue;
            }
            match self.choose(batch, &places, ask, &given, now) {
                Ok(chosen) => {
                    let candidate = &batch.candidates[chosen];
                    given[chosen] += 1;
                    if let Some(places) = places[chosen] {
                        self.take(places, candidate, batch, ask, now);
                    }
                    if let Some(shares) = shares {
                        let shares = self.shares[shares].edit();
                        shares.served(team, *cost as f64 / weight);
                    }
                    granted[index] = Some(batch.reservation(ask, candidate));
                }
                Err(denied) => {
                    wait_ms = wait_ms.min(denied.wait_ms);
                    // Who cannot use all keys does not hold up the others.
                    if ask.except.is_empty() {
                        stopped_by_lane = denied.by_lane;
                        // Who was just served lets another asker gather first.
                        if granted.iter().all(Option::is_none)
                            && let Some(Some(places)) = places.get(denied.index)
                        {
                            self.gather(*places, &batch.candidates[denied.index], batch, ask, now);
                        }
                        break;
                    }
                }
            }
        }
        if spans
            && stopped_by_lane
            && granted.iter().all(Option::is_none)
            && let Some(shares) = shares
        {
            self.shares[shares].edit().held_up(teams());
        }
        let wait_ms = if wait_ms.is_finite() { wait_ms } else { 0.0 };
        Verdict {
            granted,
            wait: Duration::from_secs_f64(wait_ms / 1_000.0),
        }
    }

    /// Ends an attempt, once, and heeds what the provider's headers say.
    pub fn settle(
        &mut self,
        reservation: &Reservation,
        used: &Charge,
        cost: u64,
        signals: &Signals,
        now: f64,
    ) {
        let share = &reservation.share;
        if self.end(&reservation.attempt, used, now)
            && cost != share.cost
            && let Some(shares) = self.shares_of(&reservation.shares_name())
        {
            let more = cost as f64 - share.cost as f64;
            let shares = self.shares[shares].edit();
            shares.served(&share.team, more / share.weight);
        }
        if *signals != Signals::default()
            && let Some(places) = self.places(&reservation.key, &reservation.lane)
        {
            let limits = &reservation.lane_limits;
            let lane = self.scopes[places.in_lane].edit();
            lane.scope.heed(limits, signals, reservation.burst, now);
        }
    }

    /// Lets nobody use a key in a lane for this long.
    pub fn hold(&mut self, lane: &str, key: &KeyId, hold: Duration, now: f64) {
        if let Some(places) = self.places(key, lane) {
            let lane = self.scopes[places.in_lane].edit();
            lane.scope.hold(hold, now);
        }
    }

    /// How keys stand in a lane.
    pub fn outlook(&self, lane: &str, keys: &[Candidate], now: f64) -> Vec<KeyOutlook> {
        let look = |candidate: &Candidate| {
            let Some(places) = self.places(&candidate.key, lane) else {
                return KeyOutlook::default();
            };
            let key_wide = self.scopes[places.key_wide].content();
            let in_lane = self.scopes[places.in_lane].content();
            let days = [key_wide, in_lane].map(|counts| counts.scope.requests_of_day(now));
            KeyOutlook {
                held_for: Duration::from_secs_f64(in_lane.scope.held_ms(now) / 1_000.0),
                in_flight: key_wide.calls(),
                key_wide: key_wide.scope.outlook(&candidate.limits, now),
                in_lane: in_lane.scope.outlook(&candidate.lane_limits, now),
                requests_of_day: days,
            }
        };
        keys.iter().map(look).collect()
    }

    /// Charges calls with the most they may have used whose asker has died, or whose whole process
    /// has, as `is_lost` says.
    pub fn reclaim(&mut self, is_lost: impl Fn(&str, &ProcessCalls) -> bool, now: f64) {
        for lost in self.attempts.lost(now) {
            self.end(&lost.name, &lost.most, now);
        }
        for scope in &mut self.scopes {
            let others = scope.content.in_flight.iter();
            let lost =
                others.filter(|(name, calls)| **name != self.process && is_lost(name, calls));
            let lost: Vec<String> = lost.map(|(name, _)| name.clone()).collect();
            for name in lost {
                let counts = scope.edit();
                if let Some(calls) = counts.in_flight.remove(&name) {
                    counts.scope.correct(&calls.taken, &calls.most, now);
                }
            }
        }
    }

    fn places(&self, key: &KeyId, lane: &str) -> Option<Places> {
        let place = |lane: Option<&str>| {
            let mut scopes = self.scopes.iter();
            scopes.position(|scope| scope.name.0 == *key && scope.name.1.as_deref() == lane)
        };
        let (key_wide, in_lane) = (place(None)?, place(Some(lane))?);
        Some(Places { key_wide, in_lane })
    }

    fn shares_of(&self, name: &SharesName) -> Option<usize> {
        self.shares.iter().position(|shares| shares.name == *name)
    }

    /// The candidate with most headroom for an ask, or how long to wait for one.
    fn choose(
        &self,
        batch: &Batch<'_>,
        places: &[Option<Places>],
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
            let Some(places) = places[index].filter(|_| !ask.except.contains(&candidate.key))
            else {
                continue;
            };
            if candidate.room.is_some_and(|room| given[index] >= room) {
                note(Denied {
                    index,
                    wait_ms: PLACE_RECHECK_MS,
                    by_lane: true,
                });
                continue;
            }
            let in_flight = self.scopes[places.key_wide].content().calls();
            match self.look(places, candidate, batch, &ask.charge, now) {
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

    /// The scarcest limit as a share, or what denies it.
    fn look(
        &self,
        places: Places,
        candidate: &Candidate,
        batch: &Batch<'_>,
        charge: &Charge,
        now: f64,
    ) -> Result<f64, Denied> {
        let mut share = 1.0_f64;
        let mut waits = [0.0_f64; 2];
        let both = [
            (places.key_wide, &candidate.limits),
            (places.in_lane, &candidate.lane_limits),
        ];
        for (wait_ms, (place, limits)) in waits.iter_mut().zip(both) {
            let counts = self.scopes[place].content();
            if let Some(places) = limits.concurrency {
                let free = places.saturating_sub(counts.calls());
                if free == 0 {
                    *wait_ms = match counts.calls() == counts.calls_of(&self.process) {
                        true => PLACE_RECHECK_MS,
                        false => PLACE_ELSEWHERE_RECHECK_MS,
                    };
                }
                share = share.min(free as f64 / places as f64);
            }
            match counts.scope.look(limits, charge, batch.burst, now) {
                Ok(there) => share = share.min(there),
                Err(wait) => *wait_ms = wait_ms.max(wait),
            }
            if counts.scope.is_gathered_by_other(batch.asker, now) {
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
    fn gather(
        &mut self,
        places: Places,
        candidate: &Candidate,
        batch: &Batch<'_>,
        ask: &Ask,
        now: f64,
    ) {
        for (place, limits) in [
            (places.key_wide, &candidate.limits),
            (places.in_lane, &candidate.lane_limits),
        ] {
            let scope = &mut self.scopes[place];
            let large = scope
                .content
                .scope
                .is_large(limits, &ask.charge, batch.burst);
            if large && !scope.content.scope.is_gathered_by_other(batch.asker, now) {
                scope.edit().scope.gather(batch.asker, now);
            }
        }
    }

    fn take(
        &mut self,
        places: Places,
        candidate: &Candidate,
        batch: &Batch<'_>,
        ask: &Ask,
        now: f64,
    ) {
        let lost_at_ms = now + ask.lasts.as_secs_f64() * 1_000.0;
        let both = [
            (places.key_wide, &candidate.limits),
            (places.in_lane, &candidate.lane_limits),
        ];
        let ceilings = both.map(|(place, limits)| {
            let counts = self.scopes[place].edit();
            let ceiling = counts.scope.most_of_call(limits);
            counts.scope.take(limits, &ask.charge, batch.burst, now);
            counts.scope.has_gathered(batch.asker);
            let own = counts.of_process(&self.process);
            own.lost_at_ms = match own.calls {
                0 => lost_at_ms,
                _ => own.lost_at_ms.max(lost_at_ms),
            };
            own.calls += 1;
            own.taken = own.taken.plus(&ask.charge.at_most(&ceiling));
            own.most = own.most.plus(&ask.most.at_most(&ceiling));
            ceiling
        });
        self.attempts.begin(OpenAttempt {
            name: ask.attempt.clone(),
            key: candidate.key.clone(),
            lane: batch.lane.to_owned(),
            charge: ask.charge,
            most: ask.most,
            ceilings,
            lost_at_ms,
        });
    }

    /// Takes an attempt out and corrects its charge; false when it was out already.
    fn end(&mut self, attempt: &str, used: &Charge, now: f64) -> bool {
        let Some(attempt) = self.attempts.get(attempt).cloned() else {
            return false;
        };
        let Some(places) = self.places(&attempt.key, &attempt.lane) else {
            return false;
        };
        let both = [places.key_wide, places.in_lane].into_iter();
        for (place, ceiling) in both.zip(&attempt.ceilings) {
            let taken = attempt.charge.at_most(ceiling);
            let counts = self.scopes[place].edit();
            counts.scope.correct(&taken, &used.at_most(ceiling), now);
            let own = counts.of_process(&self.process);
            own.calls = own.calls.saturating_sub(1);
            own.taken = own.taken.minus(&taken);
            own.most = own.most.minus(&attempt.most.at_most(ceiling));
        }
        self.attempts.end(&attempt.name);
        true
    }
}

impl Counts {
    /// Calls of all processes.
    fn calls(&self) -> u64 {
        self.in_flight.values().map(|calls| calls.calls).sum()
    }

    fn calls_of(&self, process: &str) -> u64 {
        self.in_flight.get(process).map_or(0, |calls| calls.calls)
    }

    /// The calls of a process.
    pub fn of_process(&mut self, process: &str) -> &mut ProcessCalls {
        if !self.in_flight.contains_key(process) {
            let none = ProcessCalls::default();
            self.in_flight.insert(process.to_owned(), none);
        }
        self.in_flight.entry(process.to_owned()).or_default()
    }
}
