//! The answers of one round, and how long one of usual length took. The lengths
//! of answers vary much, so the mean time is corrected by how the times of the
//! round went with their lengths: a straight line through them, read off at the
//! usual length. Called by `window.rs`.

use std::time::Duration;

/// However short the usual answer, it takes this part of the round's mean:
/// a line through few points may be steeper than the truth.
const LEAST: f64 = 0.1;

/// Sums over the answers of a round.
#[derive(Debug, Default)]
pub(super) struct WindowRound {
    answers: u32,
    when_full: u32,
    seconds: f64,
    tokens: f64,
    seconds_by_tokens: f64,
    tokens_squared: f64,
}

impl WindowRound {
    /// An answer; `full`: it came while the window was as good as full.
    pub(super) fn note(&mut self, took: Duration, output_tokens: u64, full: bool) {
        let (seconds, tokens) = (took.as_secs_f64(), output_tokens as f64);
        self.answers += 1;
        self.when_full += u32::from(full);
        self.seconds += seconds;
        self.tokens += tokens;
        self.seconds_by_tokens += seconds * tokens;
        self.tokens_squared += tokens * tokens;
    }

    pub(super) fn answers(&self) -> u32 {
        self.answers
    }

    /// Share of the answers that came while the window was full.
    pub(super) fn used(&self) -> f64 {
        f64::from(self.when_full) / f64::from(self.answers.max(1))
    }

    pub(super) fn mean_tokens(&self) -> f64 {
        self.tokens / f64::from(self.answers.max(1))
    }

    /// How long an answer of so many tokens took.
    pub(super) fn seconds_of(&self, tokens: f64) -> f64 {
        let answers = f64::from(self.answers.max(1));
        let (mean, mean_tokens) = (self.seconds / answers, self.mean_tokens());
        let variance = self.tokens_squared / answers - mean_tokens * mean_tokens;
        let together = self.seconds_by_tokens / answers - mean * mean_tokens;
        let slope = if variance > f64::EPSILON {
            (together / variance).max(0.0)
        } else {
            0.0
        };
        (mean + slope * (tokens - mean_tokens)).max(mean * LEAST)
    }
}
