//! Numbers as figures show them, and round numbers for axes: steps of 1, 2 or 5 times a power of
//! ten. Long numbers are grouped by narrow spaces, very large and very small ones have an exponent.

/// From here on an axis shows exponents.
const LARGE: f64 = 1e7;
const SMALL: f64 = 1e-4;

/// The narrow space between groups of three digits.
const GROUP: char = '\u{202f}';

/// Round numbers between two ends, both included, about as many as wanted.
pub(crate) fn round_steps(from: f64, to: f64, wanted: usize) -> Vec<f64> {
    steps_of(step(from, to, wanted), from, to)
}

/// The multiples of a step between two ends.
fn steps_of(step: f64, from: f64, to: f64) -> Vec<f64> {
    if !step.is_normal() || to <= from {
        return Vec::new();
    }
    // An end that is a multiple but for the last digit counts as one.
    let first = (from / step - 1e-6).ceil();
    let count = ((to / step + 1e-6).floor() - first).clamp(0.0, 1000.0);
    (0..=count as usize)
        .map(|index| (first + index as f64) * step)
        .map(|value| if value == 0.0 { 0.0 } else { value })
        .collect()
}

/// A step of 1, 2 or 5 times a power of ten that gives about the wanted number of steps: at most
/// 1.4 times as many.
pub(crate) fn step(from: f64, to: f64, wanted: usize) -> f64 {
    let rough = (to - from) / wanted.max(1) as f64;
    if !rough.is_normal() || rough <= 0.0 {
        return 0.0;
    }
    let power = power_of_ten(rough.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let factor = factors
        .iter()
        .find(|factor| **factor * power >= rough * 0.7);
    factor.unwrap_or(&10.0) * power
}

/// Exactly rounded, which `powi` does not promise.
fn power_of_ten(exponent: f64) -> f64 {
    format!("1e{exponent:.0}").parse().unwrap_or(1.0)
}

/// The powers of ten between two ends, thinned to the wanted number; within one or two of them,
/// also their multiples by 2 and 5.
pub(crate) fn powers(from: f64, to: f64, wanted: usize) -> Vec<f64> {
    let exponents = |value: f64| (value.log10().clamp(-307.0, 307.0)) as i32;
    let (low, high) = (exponents(from) - 1, exponents(to) + 1);
    let decades = (low..=high).map(|exponent| power_of_ten(f64::from(exponent)));
    let inside = |value: &f64| *value >= from * 0.999_999 && *value <= to * 1.000_001;
    let whole: Vec<f64> = decades.clone().filter(inside).collect();
    let finer: Vec<f64> = decades
        .flat_map(|power| [power, 2.0 * power, 5.0 * power])
        .filter(inside)
        .collect();
    if finer.len() <= wanted && finer.len() >= 2 {
        return finer;
    }
    if whole.len() < 2 {
        return round_steps(from, to, wanted);
    }
    let every = whole.len().div_ceil(wanted.max(2));
    whole.into_iter().step_by(every).collect()
}

/// Labels for the numbers of an axis, all with the same digits after the point.
pub(crate) fn labels(values: &[f64]) -> Vec<String> {
    let largest = values
        .iter()
        .fold(0.0, |most: f64, value| most.max(value.abs()));
    let gaps = values.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let gap = gaps.fold(f64::INFINITY, f64::min);
    let gap = if gap.is_finite() { gap } else { largest };
    if !(SMALL..LARGE).contains(&largest) {
        return values.iter().map(|value| with_exponent(*value)).collect();
    }
    let is_even = |digits: &usize| {
        let unit = power_of_ten(-(*digits as f64));
        let is_multiple = |value: &f64| ((value / unit).round() * unit - value).abs() <= gap * 1e-4;
        values.iter().all(is_multiple)
    };
    let digits = (0..=9).find(is_even).unwrap_or(9);
    values.iter().map(|value| fixed(*value, digits)).collect()
}

/// A number in a label or a tooltip: four significant digits, without needless zeros.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(SMALL..LARGE).contains(&size) {
        return with_exponent(value);
    }
    let digits = (3.0 - size.log10().floor()).clamp(0.0, 8.0) as usize;
    let text = fixed(value, digits);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// With so many digits after the point.
pub(crate) fn fixed(value: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let sign = if value < 0.0 && !is_zero { "−" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", grouped(whole))
}

/// Five digits and more in groups of three.
fn grouped(whole: &str) -> String {
    if whole.len() < 5 {
        return whole.to_owned();
    }
    let mut text = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(GROUP);
        }
        text.push(digit);
    }
    text
}

fn with_exponent(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = format!("{value:.3e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    format!("{digits}e{exponent}").replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_labels_have_no_tail_of_digits() {
        let shown = |from, to, wanted| labels(&round_steps(from, to, wanted));
        assert_eq!(shown(0.0, 0.3, 4), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(shown(0.0, 20.0, 5), ["0", "5", "10", "15", "20"]);
        assert_eq!(shown(-1.0, 1.0, 4), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(shown(0.0, 4e8, 4), ["0", "1e8", "2e8", "3e8", "4e8"]);
        assert_eq!(shown(0.0, 2e-7, 2), ["0", "1e−7", "2e−7"]);
        assert_eq!(shown(0.0, 40_000.0, 2)[1], "20\u{202f}000");
        assert_eq!(labels(&powers(1.0, 1000.0, 5)), ["1", "10", "100", "1000"]);
        assert_eq!(labels(&powers(1.0, 10.0, 5)), ["1", "2", "5", "10"]);
    }

    #[test]
    fn hostile_ranges_give_few_steps_and_no_panic() {
        for (from, to) in [
            (0.0, f64::MIN_POSITIVE),
            (-1e300, 1e300),
            (5.0, 5.0),
            (1e16, 1e16 + 4.0),
        ] {
            assert!(round_steps(from, to, 5).len() <= 12);
        }
    }

    #[test]
    fn short_numbers_keep_four_digits() {
        let shown = [0.1 + 0.2, 1234.5678, 12_345_678.0, -0.00001234, 0.0, -2.5].map(short);
        assert_eq!(shown, ["0.3", "1235", "1.235e7", "−1.234e−5", "0", "−2.5"]);
    }
}
