//! The bucket behind a limit per minute. Smooth refill with a short burst, sized
//! so that no sliding 60 seconds ever hold more than the limit. Pure arithmetic
//! on a clock that is handed in. Called by `scope.rs`.

use std::time::Duration;

use serde::{Deserialize, Serialize};

const MINUTE_MS: f64 = 60_000.0;
const SECONDS_PER_MINUTE: f64 = 60.0;

/// How a bucket for `limit` per minute treats a charge.
///
/// In any 60 seconds a bucket lets through at most what it can hold plus what
/// it refills. So the refill is the limit less the size, and the size is the
/// larger of the burst's worth and the charge itself, which must fit. A charge
/// above half the limit would leave no refill: it is let through when half is
/// there and leaves a debt. A charge above the whole limit fits into no minute
/// anyway: it is let through with the burst's worth, and takes one minute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// What the bucket may hold.
    pub size: f64,
    /// What it regains per millisecond.
    pub refill_per_ms: f64,
    /// What must be there for the charge.
    pub needed: f64,
    /// The most that one call takes, and the deepest debt: by a minute later the
    /// provider has forgotten everything.
    pub most: f64,
}

impl Terms {
    /// The terms of one charge.
    pub fn of(limit_per_minute: u64, charge: u64, burst: Duration) -> Self {
        let (limit, charge) = (limit_per_minute as f64, charge as f64);
        let half = limit / 2.0;
        let at_once = limit * burst.as_secs_f64() / SECONDS_PER_MINUTE;
        let size = charge.max(at_once).min(half.max(1.0));
        let refill_per_ms = (limit - size).max(half) / MINUTE_MS;
        let worth = if charge > limit { at_once } else { charge };
        Self {
            size,
            refill_per_ms,
            needed: worth.min(size),
            most: limit,
        }
    }
}

/// What is left of a limit.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Bucket {
    /// What was there at a time; absent: never used, hence full.
    left: Option<(f64, f64)>,
}

impl Bucket {
    /// What is there now.
    pub fn level(&self, terms: &Terms, now_ms: f64) -> f64 {
        self.left.map_or(terms.size, |(level, at_ms)| {
            let regained = (now_ms - at_ms).max(0.0) * terms.refill_per_ms;
            (level.max(-terms.most) + regained).min(terms.size)
        })
    }

    /// Milliseconds until the charge fits; 0 when it does.
    pub fn wait_ms(&self, terms: &Terms, now_ms: f64) -> f64 {
        let missing = terms.needed - self.level(terms, now_ms);
        if missing <= 0.0 {
            0.0
        } else {
            missing / terms.refill_per_ms
        }
    }

    /// Takes the charge; may leave a debt.
    pub fn take(&mut self, terms: &Terms, charge: u64, now_ms: f64) {
        let taken = (charge as f64).min(terms.most);
        self.left = Some((self.level(terms, now_ms) - taken, now_ms));
    }

    /// Lets its past lie so much later; negative: earlier.
    pub fn shift(&mut self, by_ms: f64) {
        if let Some((_, at_ms)) = &mut self.left {
            *at_ms += by_ms;
        }
    }

    /// Corrects an estimate. What would overflow is cut off by the next look.
    pub fn correct(&mut self, estimated: u64, used: u64) {
        if let Some((level, _)) = &mut self.left {
            *level += estimated as f64 - used as f64;
        }
    }

    /// The provider says that less is left than the bucket believes. The terms
    /// are those of an empty charge.
    pub fn lower(&mut self, terms: &Terms, remaining: u64, now_ms: f64) {
        let remaining = remaining as f64;
        if remaining < self.level(terms, now_ms) {
            self.left = Some((remaining, now_ms));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BURST: Duration = Duration::from_secs(1);

    /// Drives a bucket as fast as it allows; returns (time, charge) pairs.
    fn saturate(limit: u64, charges: &[u64], until_ms: f64) -> Vec<(f64, u64)> {
        let (mut bucket, mut now, mut taken) = (Bucket::default(), 0.0, Vec::new());
        for charge in charges.iter().cycle().copied() {
            let terms = Terms::of(limit, charge, BURST);
            // Clocks of both back ends tick in whole milliseconds or finer.
            now += bucket.wait_ms(&terms, now).ceil();
            if now > until_ms {
                return taken;
            }
            bucket.take(&terms, charge, now);
            taken.push((now, charge));
        }
        taken
    }

    fn busiest_minute(taken: &[(f64, u64)]) -> u64 {
        let minute_from = |start: f64| {
            let inside = taken
                .iter()
                .filter(|(at, _)| (start..=start + 60_000.0).contains(at));
            inside.map(|(_, charge)| charge).sum()
        };
        taken
            .iter()
            .map(|(at, _)| minute_from(*at))
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn no_sliding_minute_exceeds_the_limit() {
        for limit in [3, 10, 60, 600, 5_000] {
            let busiest = busiest_minute(&saturate(limit, &[1], 200_000.0));
            assert!(busiest <= limit, "{limit}: {busiest}");
        }
        for charge in [10, 100, 1_000, 5_000] {
            let busiest = busiest_minute(&saturate(10_000, &[charge], 300_000.0));
            assert!(busiest <= 10_000, "{charge}: {busiest}");
        }
        let mixed = busiest_minute(&saturate(10_000, &[40, 900, 7, 300, 120], 300_000.0));
        assert!(mixed <= 10_000, "{mixed}");
    }

    #[test]
    fn small_charges_use_nearly_the_whole_limit() {
        let taken = saturate(6_000, &[1], 600_000.0).len();
        assert!((58_500..=60_100).contains(&taken), "{taken}");
    }

    #[test]
    fn charge_above_the_limit_waits_but_is_let_through() {
        let times = |charge| -> Vec<f64> {
            let taken = saturate(1_000, &[charge], 600_000.0);
            taken.into_iter().map(|(at, _)| at).collect()
        };
        let taken = times(2_000);
        assert!(taken[1] >= 60_000.0 && taken[2] >= 180_000.0, "{taken:?}");
        assert_eq!(times(100_000_000), taken, "one minute, however large");
    }

    #[test]
    fn debt_is_one_minute_at_most() {
        let terms = Terms::of(1_000, 1, BURST);
        let mut bucket = Bucket::default();
        bucket.take(&terms, 1, 0.0);
        bucket.correct(1, 100_000_000);
        let wait_ms = bucket.wait_ms(&terms, 0.0);
        assert!((60_000.0..63_000.0).contains(&wait_ms), "{wait_ms}");
    }

    #[test]
    fn longer_burst_still_keeps_every_sliding_minute() {
        let burst = Duration::from_secs(2);
        let (mut bucket, mut now, mut taken) = (Bucket::default(), 0.0, Vec::new());
        while now < 200_000.0 {
            let terms = Terms::of(6_000, 1, burst);
            now += bucket.wait_ms(&terms, now).ceil();
            bucket.take(&terms, 1, now);
            taken.push((now, 1));
        }
        let busiest = busiest_minute(&taken);
        assert!((5_700..=6_000).contains(&busiest), "{busiest}");
    }

    #[test]
    fn what_the_provider_says_is_left_only_lowers() {
        let terms = Terms::of(6_000, 0, BURST);
        let mut bucket = Bucket::default();
        bucket.lower(&terms, 1_000, 0.0);
        assert_eq!(bucket.level(&terms, 0.0), 100.0);
        bucket.lower(&terms, 3, 0.0);
        assert_eq!(bucket.level(&terms, 0.0), 3.0);
        bucket.lower(&terms, 50, 0.0);
        assert_eq!(bucket.level(&terms, 0.0), 3.0);
    }

    #[test]
    fn correction_gives_back_what_was_not_used() {
        let terms = Terms::of(60_000, 1_000, BURST);
        let mut bucket = Bucket::default();
        bucket.take(&terms, 1_000, 0.0);
        assert!(bucket.wait_ms(&terms, 0.0) > 900.0);
        bucket.correct(1_000, 0);
        assert_eq!(bucket.wait_ms(&terms, 0.0), 0.0);
        bucket.correct(0, 1_500);
        assert!(bucket.level(&terms, 0.0) < 0.0);
    }
}
