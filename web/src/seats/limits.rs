//! How often something may be done: so much at once, and so much per second after that. Bounded in
//! what it keeps. Called by `routes.rs`.

use std::collections::HashMap;
use std::time::Instant;

use parking_lot::Mutex;

/// Names that are kept; when there are more, those that have their whole allowance go.
const MOST_NAMES: usize = 10_000;

/// An allowance.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    /// So much at once.
    pub burst: f64,
    /// So much comes back.
    pub per_second: f64,
}

/// Allowances by name.
#[derive(Default)]
pub struct Limits {
    left: Mutex<HashMap<String, (f64, Instant)>>,
}

impl Limits {
    /// Takes one of an allowance; false where nothing is left of it.
    pub fn take(&self, name: &str, rate: Rate) -> bool {
        let now = Instant::now();
        let mut left = self.left.lock();
        if left.len() >= MOST_NAMES {
            left.retain(|_, (tokens, since)| filled(*tokens, *since, now, rate) < rate.burst);
        }
        let entry = left.entry(name.to_owned()).or_insert((rate.burst, now));
        let tokens = filled(entry.0, entry.1, now, rate);
        let has_one = tokens >= 1.0;
        *entry = (if has_one { tokens - 1.0 } else { tokens }, now);
        has_one
    }
}

fn filled(tokens: f64, since: Instant, now: Instant, rate: Rate) -> f64 {
    let back = now.duration_since(since).as_secs_f64() * rate.per_second;
    (tokens + back).min(rate.burst)
}
