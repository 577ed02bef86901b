//! Growing delays between tries, and a retry loop with a deadline. This is the only file that
//! names the `backoff` crate: it is asked for by name but unmaintained (RUSTSEC-2025-0012, and
//! it brings `instant`, RUSTSEC-2024-0384), so whoever replaces it has one file to change.
//! Called by every client of a service, a store or a provider.

use std::future::Future;
use std::time::Duration;

use backoff::ExponentialBackoff;
use backoff::backoff::Backoff as _;
use tokio::time::Instant;

/// How delays grow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DelayPolicy {
    /// The first delay, before jitter.
    pub initial: Duration,
    /// Each delay is this many times the one before; at least 1.
    pub factor: f64,
    /// No delay is longer.
    pub cap: Duration,
    /// A delay is drawn from `delay * (1 - jitter) ..= delay * (1 + jitter)`; 0 to 1.
    pub jitter: f64,
    /// No more delays once this much time has passed since the start or the last reset.
    pub give_up_after: Option<Duration>,
}

impl Default for DelayPolicy {
    /// For calls between our own services: quick at first, then every few seconds for ever.
    fn default() -> Self {
        Self {
            initial: Duration::from_millis(50),
            factor: 2.0,
            cap: Duration::from_secs(5),
            jitter: 0.3,
            give_up_after: None,
        }
    }
}

/// A run of delays under one policy.
#[derive(Debug)]
pub struct Delays {
    cap: Duration,
    inner: ExponentialBackoff,
}

impl Delays {
    /// Starts with the first delay. Values outside their range are brought into it.
    pub fn new(policy: DelayPolicy) -> Self {
        let mut inner = ExponentialBackoff {
            current_interval: policy.initial,
            initial_interval: policy.initial,
            randomization_factor: policy.jitter.clamp(0.0, 1.0),
            multiplier: policy.factor.max(1.0),
            max_interval: policy.cap,
            max_elapsed_time: policy.give_up_after,
            ..ExponentialBackoff::default()
        };
        inner.reset();
        Self {
            cap: policy.cap,
            inner,
        }
    }

    /// How long to wait before the next try; `None` when the policy's patience is over.
    pub fn next_delay(&mut self) -> Option<Duration> {
        self.inner.next_backoff().map(|delay| delay.min(self.cap))
    }

    /// Back to the first delay, after a success.
    pub fn reset(&mut self) {
        self.inner.reset();
    }
}

impl Default for Delays {
    fn default() -> Self {
        Self::new(DelayPolicy::default())
    }
}

/// Why a try failed, and what that means for the next one.
#[derive(Debug)]
pub enum Retry<E> {
    /// Worth another try after the next delay.
    Again(E),
    /// The other side said how long to wait; that wins when it is longer than our own delay.
    After(E, Duration),
    /// Another try is useless.
    Stop(E),
}

/// Tries until success, [`Retry::Stop`], the end of the delays, or a delay that would end after
/// `deadline`; then returns the last error. The deadline does not cut a try short: a try that can
/// hang needs its own timeout.
pub async fn retry<T, E, F, Fut>(
    mut delays: Delays,
    deadline: Option<Instant>,
    mut attempt: F,
) -> Result<T, E>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, Retry<E>>>,
{
    loop {
        let (error, asked) = match attempt().await {
            Ok(value) => return Ok(value),
            Err(Retry::Stop(error)) => return Err(error),
            Err(Retry::Again(error)) => (error, Duration::ZERO),
            Err(Retry::After(error, asked)) => (error, asked),
        };
        let Some(delay) = delays.next_delay() else {
            return Err(error);
        };
        // A wait beyond what the clock can hold is a wait beyond any deadline.
        let Some(next_try) = Instant::now().checked_add(delay.max(asked)) else {
            return Err(error);
        };
        if deadline.is_some_and(|deadline| next_try > deadline) {
            return Err(error);
        }
        tokio::time::sleep_until(next_try).await;
    }
}

#[cfg(test)]
mod tests;
