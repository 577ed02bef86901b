//! Checks of parameters that several games have, and the bounds they keep to. Called when
//! a game is built; each error names the parameter and what would be right.

use super::ParameterError;

/// Largest amount that a parameter may name: sums of it over seats stay whole
/// numbers of 64 bits, and its products with a share stay exact.
pub(crate) const LARGEST_AMOUNT: i64 = 1_000_000_000;

/// Longest session: more rounds than any published one, and few enough that a
/// record stays in memory.
pub(crate) const MOST_ROUNDS: u32 = 10_000;

/// Larger factors of means and pots are slips, and their products leave what
/// JSON can hold.
const LARGEST_RATIO: f64 = 1000.0;

/// A whole number in a range.
pub(crate) fn check_between(
    name: &str,
    value: impl Into<i64>,
    low: impl Into<i64>,
    high: impl Into<i64>,
) -> Result<(), ParameterError> {
    let (value, low, high) = (value.into(), low.into(), high.into());
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let message = format!("{name} must be from {low} to {high}, not {value}");
    Err(ParameterError::new(name, message))
}

/// The ends of a range, `min` and `max`, both from `low` to [`LARGEST_AMOUNT`].
pub(crate) fn check_range(min: i64, max: i64, low: i64) -> Result<(), ParameterError> {
    check_between("min", min, low, LARGEST_AMOUNT)?;
    check_between("max", max, low, LARGEST_AMOUNT)?;
    if min >= max {
        return Err(ParameterError::new("max", "max must be greater than min"));
    }
    Ok(())
}

/// A factor that means or sums are multiplied by.
pub(crate) fn check_ratio(ratio: f64) -> Result<(), ParameterError> {
    if (0.0..=LARGEST_RATIO).contains(&ratio) {
        return Ok(());
    }
    let message = format!("ratio must be from 0 to {LARGEST_RATIO}, not {ratio}");
    Err(ParameterError::new("ratio", message))
}

/// A factor that pulls a mean towards 0.
pub(crate) fn check_ratio_below_one(ratio: f64) -> Result<(), ParameterError> {
    if (0.0..1.0).contains(&ratio) {
        return Ok(());
    }
    let message = format!("ratio must be at least 0 and below 1, not {ratio}");
    Err(ParameterError::new("ratio", message))
}

/// Letters that steer a terminal, or end a line for some reader.
pub(crate) fn ends_a_line(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')
}
