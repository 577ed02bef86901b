//! Requests of the last 24 hours, counted by the hour. Keeps whole hours, so that
//! it lets through a little too little rather than too much. Pure. Called by `scope.rs`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(super) const HOUR_MS: f64 = 3_600_000.0;

/// An hour counts until the last of its requests is a day old.
const HOURS_KEPT: u64 = 25;

/// Requests by hour, on a clock of the caller's.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DayLog(BTreeMap<u64, u64>);

impl DayLog {
    /// Requests of the last 24 to 25 hours.
    pub fn used(&self, now_ms: f64) -> u64 {
        let first = first_hour(now_ms);
        self.0.range(first..).map(|(_, requests)| requests).sum()
    }

    /// Milliseconds until one more fits; 0 when it does.
    pub fn wait_ms(&self, limit: u64, now_ms: f64) -> f64 {
        if self.used(now_ms) < limit {
            return 0.0;
        }
        let mut excess = (self.used(now_ms) + 1).saturating_sub(limit);
        for (hour, requests) in self.0.range(first_hour(now_ms)..) {
            if *requests >= excess {
                return (hour + HOURS_KEPT) as f64 * HOUR_MS - now_ms;
            }
            excess -= requests;
        }
        0.0
    }

    /// Counts a request.
    pub fn take(&mut self, now_ms: f64) {
        self.0 = self.0.split_off(&first_hour(now_ms));
        *self.0.entry(hour(now_ms)).or_default() += 1;
    }

    /// Takes a request out of the newest hour that has one: it was not made.
    pub fn give_back(&mut self) {
        if let Some(requests) = self.0.values_mut().rev().find(|requests| **requests > 0) {
            *requests -= 1;
        }
    }
}

fn hour(now_ms: f64) -> u64 {
    (now_ms / HOUR_MS) as u64
}

fn first_hour(now_ms: f64) -> u64 {
    (hour(now_ms) + 1).saturating_sub(HOURS_KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_24_hours_hold_more_than_the_limit() {
        let (mut log, mut now, mut taken) = (DayLog::default(), 0.4 * HOUR_MS, Vec::new());
        while now < 100.0 * HOUR_MS {
            let wait = log.wait_ms(50, now);
            now += if wait > 0.0 { wait } else { 0.1 * HOUR_MS };
            if wait == 0.0 {
                log.take(now);
                taken.push(now);
            }
        }
        assert!(taken.len() >= 150, "{}", taken.len());
        for start in &taken {
            let day = *start..*start + 24.0 * HOUR_MS;
            assert!(taken.iter().filter(|at| day.contains(at)).count() <= 50);
        }
    }

    #[test]
    fn request_that_was_not_made_counts_no_more() {
        let mut log = DayLog::default();
        log.give_back();
        log.take(0.5 * HOUR_MS);
        log.take(1.5 * HOUR_MS);
        log.give_back();
        assert_eq!(log.used(1.6 * HOUR_MS), 1);
        log.give_back();
        log.give_back();
        assert_eq!(log.used(1.6 * HOUR_MS), 0);
    }

    #[test]
    fn wait_as_told_is_enough() {
        let mut log = DayLog::default();
        log.take(0.5 * HOUR_MS);
        log.take(3.5 * HOUR_MS);
        let wait = log.wait_ms(2, 4.0 * HOUR_MS);
        assert_eq!(wait, 21.0 * HOUR_MS);
        assert_eq!(log.wait_ms(2, 25.0 * HOUR_MS), 0.0);
        assert_eq!(log.wait_ms(3, 4.0 * HOUR_MS), 0.0);
        // Lowered by hand meanwhile: both have to go.
        assert_eq!(log.wait_ms(1, 4.0 * HOUR_MS), 24.0 * HOUR_MS);
    }
}
