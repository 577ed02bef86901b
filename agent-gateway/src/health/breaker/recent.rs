//! How many calls there were lately and how many of them failed. Counts in
//! slices of the window, so that old ones fall out without a list of calls.
//! Called by `breaker.rs`.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// What is recent.
pub(super) const WINDOW: Duration = Duration::from_secs(30);

/// It forgets a tenth of itself at a time.
const SLICES: u32 = 10;

#[derive(Debug, Default)]
pub(super) struct Recent {
    slices: VecDeque<Slice>,
}

#[derive(Debug)]
struct Slice {
    began: Instant,
    calls: u32,
    failures: u32,
}

impl Recent {
    pub(super) fn note(&mut self, now: Instant, failed: bool) {
        self.forget(now);
        let width = WINDOW / SLICES;
        let fresh = |slice: &Slice| now.saturating_duration_since(slice.began) < width;
        if !self.slices.back().is_some_and(fresh) {
            self.slices.push_back(Slice {
                began: now,
                calls: 0,
                failures: 0,
            });
        }
        if let Some(slice) = self.slices.back_mut() {
            slice.calls += 1;
            slice.failures += u32::from(failed);
        }
    }

    /// Calls and failures in the window.
    pub(super) fn count(&mut self, now: Instant) -> (u32, u32) {
        self.forget(now);
        let add =
            |(calls, failures), slice: &Slice| (calls + slice.calls, failures + slice.failures);
        self.slices.iter().fold((0, 0), add)
    }

    fn forget(&mut self, now: Instant) {
        let old = |slice: &Slice| now.saturating_duration_since(slice.began) >= WINDOW;
        while self.slices.front().is_some_and(old) {
            self.slices.pop_front();
        }
    }
}
