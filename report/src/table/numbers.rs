//! Numbers as people read them: rounded, with separators, with their spread and with how many
//! there were; what is not defined is `-`. Programs read the JSON instead.

use crate::accumulator::Accumulator;

/// What is not defined.
pub(crate) const NONE: &str = "-";

/// A number with its noun: `1 session`, `1,500 sessions`.
pub fn counted(number: u64, noun: &str) -> String {
    let several = if number == 1 { "" } else { "s" };
    format!("{} {noun}{several}", count(number))
}

/// A whole number, as `1,500`.
pub fn count(number: u64) -> String {
    grouped(&number.to_string())
}

/// How many of all there are: `3 of 5`, or `5` for all of them.
pub(crate) fn part_of(number: u64, all: u64) -> String {
    if number == all {
        count(number)
    } else {
        format!("{} of {}", count(number), count(all))
    }
}

/// A number; `-` where it is not defined.
pub(crate) fn number(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| NONE.to_owned(), |number| rounded(number, decimals))
}

/// A number without a sign before what rounds to 0.
pub(crate) fn rounded(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|digit| matches!(digit, '0' | '.')) => zero.to_owned(),
        Some(size) => format!("-{}", grouped(size)),
        None => grouped(&text),
    }
}

/// A share of 1 in percent.
pub(crate) fn percent(share: Option<f64>, decimals: usize) -> String {
    number(share.map(|share| 100.0 * share), decimals)
}

/// A mean and its spread as `12.3 ± 0.4`; the mean alone without a spread, `-` without a mean.
pub(crate) fn mean_and_spread(mean: Option<f64>, sd: Option<f64>, decimals: usize) -> String {
    match (mean, sd) {
        (None, _) => NONE.to_owned(),
        (Some(mean), None) => rounded(mean, decimals),
        (Some(mean), Some(sd)) => {
            format!(
                "{} \u{b1} {}",
                rounded(mean, decimals),
                rounded(sd, decimals)
            )
        }
    }
}

/// Mean and spread of what was gathered.
pub(crate) fn spread(numbers: &Accumulator, decimals: usize) -> String {
    mean_and_spread(numbers.mean(), numbers.standard_deviation(), decimals)
}

/// A mean of `n` values in a row whose other means are of `usual` values.
pub(crate) fn of_values(mean: String, n: u64, usual: u64) -> String {
    if n == usual || mean == NONE {
        mean
    } else {
        format!("{mean} (n = {})", count(n))
    }
}

/// At most `most` places of `count`, the first and the last among them.
pub(crate) fn evenly(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    let place = |at: usize| at * (count - 1) / (most - 1);
    (0..most).map(place).collect()
}

/// Digits with a comma before every third from the end of the whole part.
pub(crate) fn grouped(digits: &str) -> String {
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = String::with_capacity(digits.len() + whole.len() / 3);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_have_separators_and_nothing_else_has() {
        assert_eq!(rounded(1_234_567.891, 1), "1,234,567.9");
        assert_eq!(rounded(-1000.0, 0), "-1,000");
        assert_eq!(rounded(999.0, 2), "999.00");
        assert_eq!(rounded(-0.001, 2), "0.00");
        assert_eq!(rounded(0.12345, 4), "0.1235");
        assert_eq!(
            mean_and_spread(Some(2500.0), Some(1250.5), 1),
            "2,500.0 \u{b1} 1,250.5"
        );
        assert_eq!(
            (count(0), count(100_000)),
            ("0".to_owned(), "100,000".to_owned())
        );
    }

    #[test]
    fn one_is_singular() {
        assert_eq!(counted(1, "session"), "1 session");
        assert_eq!(counted(0, "session"), "0 sessions");
        assert_eq!(counted(1500, "session"), "1,500 sessions");
    }

    #[test]
    fn a_mean_of_other_values_than_its_row_says_of_how_many() {
        assert_eq!(of_values("12.5".to_owned(), 1, 5), "12.5 (n = 1)");
        assert_eq!(of_values("12.5".to_owned(), 5, 5), "12.5");
        assert_eq!(of_values(NONE.to_owned(), 0, 5), NONE);
        assert_eq!(
            (part_of(1, 5), part_of(5, 5)),
            ("1 of 5".to_owned(), "5".to_owned())
        );
    }
}
