//! How far a rate of successes may lie from the true one (Wilson 1927, "Probable inference, the law
//! of succession, and statistical inference"): stays between 0 and 1, and has a width where all
//! succeeded.

use super::Interval;

/// The normal quantile that leaves out 2.5 % on either side.
const Z: f64 = 1.959_963_984_540_054;

/// The 95 % interval of a rate of `successes` out of `n` independent trials; `None` without a trial,
/// and for more successes than trials.
pub fn wilson_interval(successes: u64, n: u64) -> Option<Interval> {
    if n == 0 || successes > n {
        return None;
    }
    let (n, rate) = (n as f64, successes as f64 / n as f64);
    let square = Z * Z;
    let centre = (rate + square / (2.0 * n)) / (1.0 + square / n);
    let half = Z * (rate * (1.0 - rate) / n + square / (4.0 * n * n)).sqrt() / (1.0 + square / n);
    Some(Interval {
        low: (centre - half).max(0.0),
        high: (centre + half).min(1.0),
    })
}
