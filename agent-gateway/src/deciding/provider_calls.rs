//! Calls under way at providers: each is paid for, so a stopping gateway waits for them. Owns how
//! long the last of them can still take. Told by `asking.rs` of each call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_service_kit::clock::millis;

pub struct ProviderCalls {
    opened: Instant,
    calls: AtomicU64,
    /// When the last of them is over at the latest, in milliseconds after the opening.
    over_ms: AtomicU64,
}

impl Default for ProviderCalls {
    fn default() -> Self {
        Self {
            opened: Instant::now(),
            calls: AtomicU64::new(0),
            over_ms: AtomicU64::new(0),
        }
    }
}

impl ProviderCalls {
    /// A call is about to begin that takes no longer than its time-out. To be called before the stop
    /// flag is read; otherwise a call could begin that a stopping gateway does not count.
    pub(super) fn expect(&self, timeout: Duration) {
        let over = millis(self.opened.elapsed().saturating_add(timeout));
        self.over_ms.fetch_max(over, Ordering::SeqCst);
    }

    pub(super) fn begin(&self, timeout: Duration) -> ProviderCall<'_> {
        self.expect(timeout);
        self.calls.fetch_add(1, Ordering::Relaxed);
        ProviderCall(self)
    }

    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// How long the last of them, or one that is about to begin, can still take, at most.
    pub fn left(&self) -> Duration {
        let over = Duration::from_millis(self.over_ms.load(Ordering::SeqCst));
        over.saturating_sub(self.opened.elapsed())
    }
}

/// One of them, until it is dropped.
pub(super) struct ProviderCall<'a>(&'a ProviderCalls);

impl Drop for ProviderCall<'_> {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_under_way_are_waited_for_up_to_the_longest_time_out() {
        let minute = Duration::from_secs(60);
        let under_way = ProviderCalls::default();
        let long = under_way.begin(10 * minute);
        let short = under_way.begin(minute);
        assert_eq!(under_way.calls(), 2);
        drop(short);
        assert_eq!(under_way.calls(), 1);
        assert!(under_way.left() > 9 * minute && under_way.left() <= 10 * minute);
        drop(long);
        assert_eq!(under_way.calls(), 0);
    }
}
