//! How much was taken within any 60 s and any 5 s, exactly: a list of times and amounts over which
//! two windows slide. It limits nothing. Time is handed in by `limits.rs`.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// A limit per minute must hold over any minute; the short window shows what bursts do to a
/// provider that looks at seconds.
pub(super) const SPANS: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(5)];

/// Charges of the last minute, and the most that ever fell into one window.
#[derive(Debug, Default)]
pub(super) struct Windows {
    charges: VecDeque<(Instant, u64)>,
    /// By span: where it begins in `charges`, and what is in it.
    spans: [Sliding; 2],
}

#[derive(Debug, Clone, Copy, Default)]
struct Sliding {
    begins_at: usize,
    sum: u64,
    largest: u64,
    largest_since_mark: u64,
}

impl Windows {
    /// Something was taken. A window holds what is younger than its span.
    pub(super) fn add(&mut self, amount: u64, now: Instant) {
        self.charges.push_back((now, amount));
        for (sliding, span) in self.spans.iter_mut().zip(SPANS) {
            sliding.sum += amount;
            while let Some((time, left)) = self.charges.get(sliding.begins_at)
                && now.saturating_duration_since(*time) >= span
            {
                sliding.sum -= left;
                sliding.begins_at += 1;
            }
            sliding.largest = sliding.largest.max(sliding.sum);
            sliding.largest_since_mark = sliding.largest_since_mark.max(sliding.sum);
        }
        let gone = self.spans.map(|sliding| sliding.begins_at);
        let gone = gone.into_iter().min().unwrap_or(0);
        self.charges.drain(..gone);
        for sliding in &mut self.spans {
            sliding.begins_at -= gone;
        }
    }

    /// From now on the largest since the mark is counted anew; windows that end later may still
    /// begin before it.
    pub(super) fn mark(&mut self) {
        for sliding in &mut self.spans {
            sliding.largest_since_mark = 0;
        }
    }

    /// The most in any window of each span, since the start and since the mark.
    pub(super) fn largest(&self) -> ([u64; 2], [u64; 2]) {
        (
            self.spans.map(|sliding| sliding.largest),
            self.spans.map(|sliding| sliding.largest_since_mark),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_window_is_found_wherever_it_begins() {
        let start = Instant::now();
        let at = |seconds: f64| start + Duration::from_secs_f64(seconds);
        let mut windows = Windows::default();
        for (seconds, amount) in [(0.0, 7), (50.0, 10), (54.9, 10), (55.0, 1), (60.0, 5)] {
            windows.add(amount, at(seconds));
        }
        // Any 60 s: 7+10+10+1 just before the first leaves. Any 5 s: 10 and 10, never the third.
        assert_eq!(windows.largest().0, [28, 20]);
        windows.mark();
        windows.add(1, at(200.0));
        assert_eq!(windows.largest(), ([28, 20], [1, 1]));
        assert_eq!(windows.charges.len(), 1);
    }

    #[test]
    fn sums_agree_with_counting_by_hand() {
        let start = Instant::now();
        let mut windows = Windows::default();
        let mut seen: Vec<(u64, u64)> = Vec::new();
        let mut largest = [0, 0];
        for step in 0..2_000_u64 {
            let (millis, amount) = (step * 50 + step * step % 49, step * 31 % 11);
            windows.add(amount, start + Duration::from_millis(millis));
            seen.push((millis, amount));
            for (index, span) in [60_000, 5_000].into_iter().enumerate() {
                let young = seen.iter().filter(|(time, _)| time + span > millis);
                largest[index] = largest[index].max(young.map(|(_, amount)| amount).sum());
            }
        }
        assert_eq!(windows.largest().0, largest);
    }
}
