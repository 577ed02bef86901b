//! The limits of one key, over all lanes or in one: buckets per minute, the log of
//! the day, a hold, and what the provider's headers have shown. Pure arithmetic on
//! a clock that is handed in. Called by `limiter/books.rs`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::bucket::{Bucket, Terms};
use super::day::DayLog;
use super::{Charge, KeyLimits, LimitOutlook, QUANTITIES};
use crate::limits::{Room, Signals};

const MINUTE_MS: f64 = 60_000.0;

/// Renewed by each look of the asker, which comes sooner than this; when it has
/// died the others go on after it.
const GATHER_MS: f64 = 300.0;

/// What is left of one set of limits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Scope {
    buckets: [Bucket; QUANTITIES],
    /// What the provider's headers said the limits are.
    shown: [Option<u64>; QUANTITIES],
    used: [MinuteUse; QUANTITIES],
    day: DayLog,
    held_until_ms: f64,
    gathers: Option<Gathers>,
}

/// An asker that gathers for a charge above the burst. Until it has it nobody else
/// takes, or small charges would starve it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Gathers {
    asker: String,
    until_ms: f64,
}

/// The room for one charge: the scarcest limit as a share, or how long to wait.
pub(super) type Look = Result<f64, f64>;

impl Scope {
    /// Whether a charge fits now.
    pub fn look(&self, limits: &KeyLimits, charge: &Charge, burst: Duration, now: f64) -> Look {
        let mut wait_ms = (self.held_until_ms - now).max(0.0);
        let mut share: f64 = 1.0;
        for (quantity, limit) in self.in_force(limits).into_iter().enumerate() {
            let Some(limit) = limit else { continue };
            let terms = Terms::of(limit, charge.amounts()[quantity], burst);
            let bucket = &self.buckets[quantity];
            wait_ms = wait_ms.max(bucket.wait_ms(&terms, now));
            share = share.min(bucket.level(&terms, now) / terms.size);
        }
        if let Some(limit) = limits.requests_per_day {
            wait_ms = wait_ms.max(self.day.wait_ms(limit, now));
        }
        if wait_ms > 0.0 {
            Err(wait_ms)
        } else {
            Ok(share)
        }
    }

    /// Lets its past and its holds lie so much later; negative: earlier. Hours of the day stay.
    pub fn shift(&mut self, by_ms: f64) {
        for bucket in &mut self.buckets {
            bucket.shift(by_ms);
        }
        self.held_until_ms += by_ms;
        if let Some(gathers) = &mut self.gathers {
            gathers.until_ms += by_ms;
        }
    }

    /// Somebody else gathers here.
    pub fn is_gathered_by_other(&self, asker: &str, now: f64) -> bool {
        let gathers = self
            .gathers
            .as_ref()
            .filter(|gathers| gathers.until_ms > now);
        gathers.is_some_and(|gathers| gathers.asker != asker)
    }

    /// A charge is above the burst of one of the limits.
    pub fn is_large(&self, limits: &KeyLimits, charge: &Charge, burst: Duration) -> bool {
        let amounts = charge.amounts();
        let mut limits = self.in_force(limits).into_iter().enumerate();
        limits.any(|(quantity, limit)| {
            let at_once = limit.map(|limit| limit as f64 * burst.as_secs_f64() / 60.0);
            at_once.is_some_and(|at_once| amounts[quantity] as f64 > at_once)
        })
    }

    /// Gathers for a charge above the burst.
    pub fn gather(&mut self, asker: &str, now: f64) {
        self.gathers = Some(Gathers {
            asker: asker.to_owned(),
            until_ms: now + GATHER_MS,
        });
    }

    /// The asker has what it gathered for.
    pub fn has_gathered(&mut self, asker: &str) {
        self.gathers.take_if(|gathers| gathers.asker == asker);
    }

    /// The most that one call is charged with: one minute of each limit.
    pub fn most_of_call(&self, limits: &KeyLimits) -> Charge {
        let most = self.in_force(limits);
        let [requests, tokens, input_tokens, output_tokens] =
            most.map(|limit| limit.unwrap_or(u64::MAX));
        Charge {
            requests,
            tokens,
            input_tokens,
            output_tokens,
        }
    }

    /// Takes a charge that fits.
    pub fn take(&mut self, limits: &KeyLimits, charge: &Charge, burst: Duration, now: f64) {
        let in_force = self.in_force(limits);
        let taken = charge.at_most(&self.most_of_call(limits)).amounts();
        for (quantity, amount) in charge.amounts().into_iter().enumerate() {
            self.used[quantity].add(taken[quantity] as f64, now);
            if let Some(limit) = in_force[quantity] {
                let terms = Terms::of(limit, amount, burst);
                self.buckets[quantity].take(&terms, amount, now);
            }
        }
        self.day.take(now);
    }

    /// Corrects a charge that was taken to what was used.
    pub fn correct(&mut self, taken: &Charge, used: &Charge, now: f64) {
        for quantity in 0..QUANTITIES {
            let (taken, used) = (taken.amounts()[quantity], used.amounts()[quantity]);
            self.buckets[quantity].correct(taken, used);
            self.used[quantity].add(used as f64 - taken as f64, now);
        }
        if used.requests < taken.requests {
            self.day.give_back();
        }
    }

    /// Lowers what is believed to what the provider says is left.
    pub fn heed(&mut self, limits: &KeyLimits, signals: &Signals, burst: Duration, now: f64) {
        let rooms = rooms(signals);
        for (quantity, room) in rooms.iter().enumerate() {
            if let Some(limit) = room.limit.filter(|limit| *limit > 0) {
                self.shown[quantity] = Some(limit);
            }
        }
        let in_force = self.in_force(limits);
        for (quantity, room) in rooms.iter().enumerate() {
            if let (Some(limit), Some(remaining)) = (in_force[quantity], room.remaining) {
                let terms = Terms::of(limit, 0, burst);
                self.buckets[quantity].lower(&terms, remaining, now);
            }
        }
    }

    /// Lets nobody in for this long; never shortens a hold.
    pub fn hold(&mut self, hold: Duration, now: f64) {
        let until = now + hold.as_secs_f64() * 1_000.0;
        self.held_until_ms = self.held_until_ms.max(until);
    }

    /// Milliseconds until the hold is over.
    pub fn held_ms(&self, now: f64) -> f64 {
        (self.held_until_ms - now).max(0.0)
    }

    /// How the limits per minute stand.
    pub fn outlook(&self, limits: &KeyLimits, now: f64) -> [LimitOutlook; QUANTITIES] {
        let (configured, in_force) = (limits.per_minute(), self.in_force(limits));
        std::array::from_fn(|quantity| LimitOutlook {
            limit: in_force[quantity],
            lowered: in_force[quantity] != configured[quantity],
            used: self.used[quantity].last_minute(now),
        })
    }

    /// Requests of the last 24 hours.
    pub fn requests_of_day(&self, now: f64) -> u64 {
        self.day.used(now)
    }

    /// Headers only ever lower a limit.
    fn in_force(&self, limits: &KeyLimits) -> [Option<u64>; QUANTITIES] {
        let configured = limits.per_minute();
        std::array::from_fn(
            |quantity| match (configured[quantity], self.shown[quantity]) {
                (Some(configured), Some(shown)) => Some(configured.min(shown)),
                (configured, shown) => configured.or(shown),
            },
        )
    }
}

/// What the headers say, in the order of [`Charge::amounts`].
fn rooms(signals: &Signals) -> [Room; QUANTITIES] {
    [
        signals.requests,
        signals.tokens,
        signals.input_tokens,
        signals.output_tokens,
    ]
}

/// What was taken in this minute and the one before, for people to look at.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct MinuteUse {
    minute: u64,
    this: f64,
    before: f64,
}

impl MinuteUse {
    fn add(&mut self, amount: f64, now: f64) {
        *self = self.at(now);
        self.this += amount;
    }

    fn at(&self, now: f64) -> Self {
        let minute = (now / MINUTE_MS) as u64;
        let (this, before) = match minute.saturating_sub(self.minute) {
            0 => (self.this, self.before),
            1 => (0.0, self.this),
            _ => (0.0, 0.0),
        };
        Self {
            minute,
            this,
            before,
        }
    }

    /// The part of the minute before that is less than a minute ago, as if it
    /// had been used evenly.
    fn last_minute(&self, now: f64) -> u64 {
        let at = self.at(now);
        let passed = now / MINUTE_MS - at.minute as f64;
        (at.this + at.before * (1.0 - passed)).max(0.0).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BURST: Duration = Duration::from_secs(1);

    fn requests(limit: u64) -> KeyLimits {
        KeyLimits {
            requests_per_minute: Some(limit),
            ..KeyLimits::default()
        }
    }

    fn request() -> Charge {
        Charge {
            requests: 1,
            ..Charge::default()
        }
    }

    fn shown(limit: u64, remaining: u64) -> Signals {
        Signals {
            requests: Room {
                limit: Some(limit),
                remaining: Some(remaining),
                reset: None,
            },
            ..Signals::default()
        }
    }

    #[test]
    fn headers_lower_a_limit_and_never_raise_it() {
        let mut scope = Scope::default();
        scope.heed(&requests(600), &shown(60, 60), BURST, 0.0);
        assert_eq!(scope.outlook(&requests(600), 0.0)[0].limit, Some(60));
        assert!(scope.outlook(&requests(600), 0.0)[0].lowered);
        scope.heed(&requests(600), &shown(6_000, 6_000), BURST, 0.0);
        assert_eq!(scope.outlook(&requests(600), 0.0)[0].limit, Some(600));
    }

    #[test]
    fn limit_that_nobody_configured_is_taken_from_the_headers() {
        let (mut scope, none) = (Scope::default(), KeyLimits::default());
        let one = request();
        assert_eq!(scope.look(&none, &one, BURST, 0.0), Ok(1.0));
        scope.heed(&none, &shown(60, 0), BURST, 0.0);
        assert!(scope.look(&none, &one, BURST, 0.0).is_err());
        // One a second, less the burst.
        assert!(scope.look(&none, &one, BURST, 1_100.0).is_ok());
    }

    #[test]
    fn use_of_the_last_minute_moves_with_the_clock() {
        let mut scope = Scope::default();
        let limits = requests(600);
        for _ in 0..30 {
            scope.take(&limits, &request(), BURST, 59_000.0);
        }
        assert_eq!(scope.outlook(&limits, 59_500.0)[0].used, 30);
        assert_eq!(scope.outlook(&limits, 90_000.0)[0].used, 15);
        assert_eq!(scope.outlook(&limits, 130_000.0)[0].used, 0);
    }
}
