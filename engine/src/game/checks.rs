//! Checks of parameters, and the bounds that several games keep to. Called when a game is
//! built; each error names the parameter and what would be right.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};

use super::ParameterError;

/// Largest amount that a parameter may name: sums of it over seats stay whole
/// numbers of 64 bits, and its products with a share stay exact.
pub(crate) const LARGEST_AMOUNT: i64 = 1_000_000_000;

/// Longest session: more rounds than any published one, and few enough that a
/// record stays in memory.
pub(crate) const MOST_ROUNDS: u32 = 10_000;

/// Larger factors of means and pots are slips, and their products leave what
/// JSON can hold.
pub(crate) const LARGEST_RATIO: f64 = 1000.0;

/// A number in a range.
pub(crate) fn check_within<T: PartialOrd + Display>(
    name: &str,
    value: T,
    range: impl RangeBounds<T>,
) -> Result<(), ParameterError> {
    if range.contains(&value) {
        return Ok(());
    }
    let bounds = match (range.start_bound(), range.end_bound()) {
        (Bound::Included(low), Bound::Included(high)) => format!("from {low} to {high}"),
        (low, high) => [
            bound("at least", "above", low),
            bound("at most", "below", high),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<String>>()
        .join(" and "),
    };
    let message = format!("{name} must be {bounds}, not {value}");
    Err(ParameterError::new(name, message))
}

fn bound<T: Display>(included: &str, excluded: &str, bound: Bound<&T>) -> Option<String> {
    match bound {
        Bound::Included(end) => Some(format!("{included} {end}")),
        Bound::Excluded(end) => Some(format!("{excluded} {end}")),
        Bound::Unbounded => None,
    }
}

/// Refuses a parameter by its path, with what would be right, unless something holds.
macro_rules! require {
    ($holds:expr, $path:expr, $($message:tt)+) => {
        if !$holds {
            return Err(ParameterError::new($path, format!($($message)+)));
        }
    };
}

pub(crate) use require;

/// The upper end of a range whose lower end is `min`.
pub(crate) fn check_max(min: i64, max: i64) -> Result<(), ParameterError> {
    require!(min < max, "max", "max must be greater than min");
    Ok(())
}

/// Letters that steer a terminal, or end a line for some reader.
pub(crate) fn ends_a_line(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')
}
