//! Token buckets for the requests and tokens of one API key, and the headers that tell a client
//! about them in OpenAI's words. Time is handed in; whoever calls holds the lock.

use std::time::Duration;

use tokio::time::Instant;

use super::SimOptions;

/// What one key may still do.
#[derive(Debug)]
pub(super) struct KeyLimits {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    concurrency: Option<u32>,
    in_flight: u32,
}

/// A refusal, with all a client is told about it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    pub(super) what: &'static str,
    pub(super) limit: u32,
    pub(super) retry_after: Duration,
}

/// The state of one bucket as the `x-ratelimit-*` headers show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Headroom {
    pub(super) limit: u32,
    pub(super) remaining: u32,
    pub(super) reset: Duration,
}

/// How long a client that has too much running is told to wait.
const BUSY_WAIT: Duration = Duration::from_millis(200);

impl KeyLimits {
    pub(super) fn new(options: &SimOptions, now: Instant) -> Self {
        Self {
            requests: options
                .requests_per_minute
                .map(|limit| Bucket::full(limit, now)),
            tokens: options
                .tokens_per_minute
                .map(|limit| Bucket::full(limit, now)),
            concurrency: options.concurrency,
            in_flight: 0,
        }
    }

    /// Takes one request of `tokens` tokens, or nothing at all. Whoever got in calls
    /// [`Self::leave`] in the end.
    pub(super) fn enter(&mut self, tokens: u32, now: Instant) -> Result<(), Refusal> {
        if let Some(limit) = self.concurrency
            && self.in_flight >= limit
        {
            return Err(Refusal {
                what: "concurrent requests",
                limit,
                retry_after: BUSY_WAIT,
            });
        }
        for (bucket, amount, what) in [
            (&mut self.requests, 1, "requests per min"),
            (&mut self.tokens, tokens, "tokens per min"),
        ] {
            if let Some(bucket) = bucket {
                bucket.refill(now);
                let retry_after = bucket.wait_for(amount);
                if !retry_after.is_zero() {
                    return Err(Refusal {
                        what,
                        limit: bucket.limit,
                        retry_after,
                    });
                }
            }
        }
        if let Some(bucket) = &mut self.requests {
            bucket.level -= 1.0;
        }
        if let Some(bucket) = &mut self.tokens {
            bucket.level -= f64::from(tokens);
        }
        self.in_flight += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.in_flight -= 1;
    }

    /// Requests and tokens left, for those of the two that are limited.
    pub(super) fn headroom(&self) -> [(&'static str, Option<Headroom>); 2] {
        [
            ("requests", self.requests.as_ref().map(Bucket::headroom)),
            ("tokens", self.tokens.as_ref().map(Bucket::headroom)),
        ]
    }
}

/// A bucket that holds one minute's worth and fills steadily.
#[derive(Debug)]
struct Bucket {
    limit: u32,
    level: f64,
    filled_at: Instant,
}

impl Bucket {
    fn full(limit: u32, now: Instant) -> Self {
        Self {
            limit,
            level: f64::from(limit),
            filled_at: now,
        }
    }

    fn per_second(&self) -> f64 {
        f64::from(self.limit) / 60.0
    }

    fn refill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.filled_at).as_secs_f64();
        self.level = (self.level + passed * self.per_second()).min(f64::from(self.limit));
        self.filled_at = now;
    }

    /// How long until `amount` is there; zero when it is. More than a full bucket is never there:
    /// the client is told a minute, as the real thing does.
    fn wait_for(&self, amount: u32) -> Duration {
        let missing = f64::from(amount) - self.level;
        if missing <= 0.0 {
            return Duration::ZERO;
        }
        if amount > self.limit {
            return Duration::from_secs(60);
        }
        // A microsecond more, so that rounding never tells a client to come too early.
        Duration::from_secs_f64(missing / self.per_second()) + Duration::from_micros(1)
    }

    fn headroom(&self) -> Headroom {
        let reset = (f64::from(self.limit) - self.level) / self.per_second().max(f64::MIN_POSITIVE);
        Headroom {
            limit: self.limit,
            remaining: self.level.max(0.0) as u32,
            reset: Duration::try_from_secs_f64(reset).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(requests: u32, tokens: u32, concurrency: u32, now: Instant) -> KeyLimits {
        let options = SimOptions {
            requests_per_minute: Some(requests),
            tokens_per_minute: Some(tokens),
            concurrency: Some(concurrency),
            ..SimOptions::default()
        };
        KeyLimits::new(&options, now)
    }

    #[test]
    fn waiting_as_told_is_always_enough() {
        let mut now = Instant::now();
        let mut key = limits(7, 1_000, 10, now);
        let mut admitted = 0;
        for _ in 0..200 {
            match key.enter(90, now) {
                Ok(()) => {
                    admitted += 1;
                    key.leave();
                }
                Err(refusal) => {
                    now += refusal.retry_after;
                    key.enter(90, now)
                        .expect("the wait that was asked for was kept");
                    key.leave();
                }
            }
        }
        assert_eq!(
            admitted, 7,
            "one minute's worth at once, then only by waiting"
        );
    }

    #[test]
    fn refused_request_takes_nothing() {
        let now = Instant::now();
        let mut key = limits(10, 100, 10, now);
        assert_eq!(key.enter(101, now).unwrap_err().what, "tokens per min");
        assert_eq!(key.headroom()[0].1.unwrap().remaining, 10);
        assert_eq!(key.enter(100, now), Ok(()));
        let refusal = key.enter(50, now).unwrap_err();
        assert!((refusal.retry_after.as_secs_f64() - 30.0).abs() < 0.001);
    }

    #[test]
    fn concurrency_counts_what_runs_now() {
        let now = Instant::now();
        let mut key = limits(10, 1_000, 2, now);
        assert_eq!((key.enter(1, now), key.enter(1, now)), (Ok(()), Ok(())));
        assert_eq!(key.enter(1, now).unwrap_err().what, "concurrent requests");
        key.leave();
        assert_eq!(key.enter(1, now), Ok(()));
    }

    #[test]
    fn limit_of_zero_refuses_without_a_fault() {
        let now = Instant::now();
        let mut key = limits(0, 0, 1, now);
        assert_eq!(
            key.enter(1, now).unwrap_err().retry_after,
            Duration::from_secs(60)
        );
        assert_eq!(key.headroom()[0].1.unwrap().remaining, 0);
    }
}
