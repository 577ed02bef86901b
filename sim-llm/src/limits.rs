//! The limits of one API key, or of one key and model: token buckets for requests and tokens, a
//! count of what runs, and what was taken and refused by each. Time is handed in; whoever calls
//! holds the lock. Nothing here knows how a protocol words it.

use std::time::Duration;

use tokio::time::Instant;

use super::charge::{Amounts, Charge};
use super::options::{SimLimits, SimOptions};
use super::window::Windows;

/// How long a client that has too much running is told to wait.
const BUSY_WAIT: Duration = Duration::from_millis(200);

/// What a client is told whose request can never fit, as the real ones do.
const NEVER_WAIT: Duration = Duration::from_secs(60);

/// What the levels of buckets count per minute.
const MINUTE: Duration = Duration::from_secs(60);

/// What the daily bucket counts.
const DAY: Duration = Duration::from_secs(86_400);

/// A kind of limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Requests,
    Tokens,
    InputTokens,
    OutputTokens,
    RequestsPerDay,
    Concurrency,
}

/// Those that are counted in buckets.
pub(super) const BUCKETS: [Kind; 5] = [
    Kind::Requests,
    Kind::Tokens,
    Kind::InputTokens,
    Kind::OutputTokens,
    Kind::RequestsPerDay,
];

impl Kind {
    /// As options and statistics call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests_per_minute",
            Self::Tokens => "tokens_per_minute",
            Self::InputTokens => "input_tokens_per_minute",
            Self::OutputTokens => "output_tokens_per_minute",
            Self::RequestsPerDay => "requests_per_day",
            Self::Concurrency => "concurrency",
        }
    }

    fn amount(self, amounts: Amounts, requests: u64) -> u64 {
        match self {
            Self::Requests | Self::RequestsPerDay => requests,
            Self::Tokens => amounts.tokens,
            Self::InputTokens => amounts.input,
            Self::OutputTokens => amounts.output,
            Self::Concurrency => 0,
        }
    }
}

/// A refusal, with all a client is told about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) kind: Kind,
    pub(super) limit: u32,
    pub(super) retry_after: Duration,
}

/// The state of one bucket as headers show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Headroom {
    pub(super) kind: Kind,
    pub(super) limit: u32,
    pub(super) remaining: u32,
    pub(super) reset: Duration,
}

/// The limits of a key, or of a key and model.
#[derive(Debug)]
pub(super) struct Limits {
    pub(super) meters: Vec<Meter>,
    pub(super) running: Running,
}

/// One limit in a bucket, and what came of it.
#[derive(Debug)]
pub(super) struct Meter {
    pub(super) kind: Kind,
    pub(super) bucket: Bucket,
    pub(super) charged: Marked,
    pub(super) refused: Marked,
    pub(super) windows: Windows,
}

/// What runs, with or without a limit.
#[derive(Debug, Default)]
pub(super) struct Running {
    pub(super) limit: Option<u32>,
    pub(super) now: u32,
    pub(super) largest: u32,
    pub(super) largest_since_mark: u32,
    pub(super) refused: Marked,
}

/// A count with its value at the mark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Marked {
    pub(super) all: u64,
    at_mark: u64,
}

impl Marked {
    pub(super) fn add(&mut self, amount: u64) {
        self.all += amount;
    }

    pub(super) fn mark(&mut self) {
        self.at_mark = self.all;
    }

    pub(super) fn since_mark(self) -> u64 {
        self.all - self.at_mark
    }
}

impl Limits {
    /// `limits` are those of the scope, `options` say how buckets behave.
    pub(super) fn new(limits: SimLimits, options: &SimOptions, now: Instant) -> Self {
        let limit = |kind| match kind {
            Kind::Requests => limits.requests_per_minute,
            Kind::Tokens => limits.tokens_per_minute,
            Kind::InputTokens => limits.input_tokens_per_minute,
            Kind::OutputTokens => limits.output_tokens_per_minute,
            Kind::RequestsPerDay => limits.requests_per_day,
            Kind::Concurrency => None,
        };
        let meter = |kind| {
            let (limit, foreign) = (limit(kind)?, options.foreign_use);
            let bucket = match kind {
                Kind::RequestsPerDay => Bucket::full(limit, DAY, DAY, 0.0, now),
                _ => Bucket::full(limit, MINUTE, options.bucket, foreign, now),
            };
            Some(Meter {
                kind,
                bucket,
                charged: Marked::default(),
                refused: Marked::default(),
                windows: Windows::default(),
            })
        };
        Self {
            meters: BUCKETS.into_iter().filter_map(meter).collect(),
            running: Running {
                limit: limits.concurrency,
                ..Running::default()
            },
        }
    }

    /// Whether a call may come in, and if not, the limit that makes it wait longest. Takes
    /// nothing but counts the refusal.
    pub(super) fn check(&mut self, charge: &Charge, now: Instant) -> Result<(), Refusal> {
        if let Some(limit) = self.running.limit
            && self.running.now >= limit
        {
            self.running.refused.add(1);
            return Err(Refusal {
                kind: Kind::Concurrency,
                limit,
                retry_after: BUSY_WAIT,
            });
        }
        let mut worst: Option<(Duration, &mut Meter)> = None;
        for meter in &mut self.meters {
            // What is taken later must not find the bucket empty now.
            let later = meter.kind.amount(charge.when_done, 0).min(1);
            let amount = meter.kind.amount(charge.on_arrival, 1).max(later);
            meter.bucket.refill(now);
            let wait = meter.bucket.wait_for(amount);
            if !wait.is_zero() && worst.as_ref().is_none_or(|(longest, _)| wait > *longest) {
                worst = Some((wait, meter));
            }
        }
        let Some((retry_after, meter)) = worst else {
            return Ok(());
        };
        meter.refused.add(1);
        Err(Refusal {
            kind: meter.kind,
            limit: meter.bucket.limit,
            retry_after,
        })
    }

    /// Lets a call in that was checked. Whoever got in calls [`Self::leave`] in the end.
    pub(super) fn enter(&mut self, charge: &Charge, now: Instant) {
        self.take(charge.on_arrival, 1, now);
        let running = &mut self.running;
        running.now += 1;
        running.largest = running.largest.max(running.now);
        running.largest_since_mark = running.largest_since_mark.max(running.now);
    }

    /// The answer of a call that was let in is there.
    pub(super) fn done(&mut self, charge: &Charge, now: Instant) {
        self.take(charge.when_done, 0, now);
    }

    pub(super) fn leave(&mut self) {
        self.running.now -= 1;
    }

    fn take(&mut self, amounts: Amounts, requests: u64, now: Instant) {
        for meter in &mut self.meters {
            let amount = meter.kind.amount(amounts, requests);
            if amount > 0 {
                meter.bucket.refill(now);
                meter.bucket.level -= amount as f64;
                meter.charged.add(amount);
                meter.windows.add(amount, now);
            }
        }
    }

    /// Counts since the mark begin anew.
    pub(super) fn mark(&mut self) {
        for meter in &mut self.meters {
            meter.charged.mark();
            meter.refused.mark();
            meter.windows.mark();
        }
        self.running.largest_since_mark = self.running.now;
        self.running.refused.mark();
    }
}

/// A bucket that fills steadily.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) limit: u32,
    /// The limit as it is for a minute, whatever its period.
    pub(super) per_minute: f64,
    per_second: f64,
    /// Of that, what is left beside foreign use.
    available_per_second: f64,
    capacity: f64,
    level: f64,
    filled_at: Instant,
}

impl Bucket {
    /// `limit` in each `period`, of which as much as falls into `span` may come at once, less
    /// the share that somebody else uses.
    fn full(limit: u32, period: Duration, span: Duration, foreign: f64, now: Instant) -> Self {
        let per_second = f64::from(limit) / period.as_secs_f64();
        let whole = f64::from(limit);
        let capacity = (per_second * span.as_secs_f64()).clamp(whole.min(1.0), whole);
        Self {
            limit,
            per_minute: whole * MINUTE.as_secs_f64() / period.as_secs_f64(),
            per_second,
            available_per_second: per_second * (1.0 - foreign),
            capacity,
            level: capacity,
            filled_at: now,
        }
    }

    /// What somebody else's use leaves, as a share of the limit.
    pub(super) fn available_share(&self) -> f64 {
        if self.per_second > 0.0 {
            self.available_per_second / self.per_second
        } else {
            0.0
        }
    }

    fn refill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.filled_at).as_secs_f64();
        self.level = (self.level + passed * self.available_per_second).min(self.capacity);
        self.filled_at = self.filled_at.max(now);
    }

    /// How long until `amount` may be taken; zero when it may. More than a full bucket is let in
    /// when the bucket is full, more than the limit never.
    fn wait_for(&self, amount: u64) -> Duration {
        if amount > u64::from(self.limit) {
            return NEVER_WAIT;
        }
        let missing = (amount as f64).min(self.capacity) - self.level;
        if missing <= 0.0 {
            return Duration::ZERO;
        }
        // A microsecond more, so that rounding never tells a client to come too early.
        let wait = Duration::try_from_secs_f64(missing / self.available_per_second);
        wait.unwrap_or(NEVER_WAIT) + Duration::from_micros(1)
    }

    fn headroom(&self, kind: Kind) -> Headroom {
        let missing = (self.capacity - self.level).max(0.0);
        let reset = Duration::try_from_secs_f64(missing / self.per_second);
        Headroom {
            kind,
            limit: self.limit,
            remaining: self.level.max(0.0) as u32,
            reset: reset.unwrap_or_default(),
        }
    }
}

/// The buckets of several scopes as one client sees them: of each kind the one with least left.
pub(super) fn headrooms<'a>(scopes: impl Iterator<Item = &'a Limits>) -> Vec<Headroom> {
    let mut least: Vec<Headroom> = Vec::new();
    for meter in scopes.flat_map(|limits| &limits.meters) {
        let headroom = meter.bucket.headroom(meter.kind);
        match least.iter_mut().find(|known| known.kind == meter.kind) {
            Some(known) if headroom.remaining < known.remaining => *known = headroom,
            Some(_) => {}
            None => least.push(headroom),
        }
    }
    least
}

#[cfg(test)]
mod tests;
