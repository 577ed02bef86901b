//! Money in whole nano-dollars, and the days on which it is spent. No floats: sums of many small
//! prices must come out the same in any order. A leaf.

mod day;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

pub use day::{Day, DayError};

const NANODOLLARS_PER_DOLLAR: u64 = 1_000_000_000;

/// An amount of money in billionths of a dollar.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct NanoDollars(pub u64);

impl NanoDollars {
    /// Reads an amount of dollars where a file has one.
    pub fn from_dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }

    /// The same where it may be left out.
    pub fn from_optional_dollars<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Self>, D::Error> {
        Self::from_dollars(deserializer).map(Some)
    }

    /// The sum, or the most that can be written.
    pub fn plus(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }
}

impl fmt::Display for NanoDollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (
            self.0 / NANODOLLARS_PER_DOLLAR,
            self.0 % NANODOLLARS_PER_DOLLAR,
        );
        write!(f, "${whole}.{rest:09}")
    }
}

impl FromStr for NanoDollars {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, MoneyError> {
        let wrong = || MoneyError {
            text: text.to_owned(),
        };
        let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(rest) || rest.len() > 9 {
            return Err(wrong());
        }
        let whole: u64 = whole.parse().map_err(|_| wrong())?;
        let rest: u64 = format!("{rest:0<9}").parse().map_err(|_| wrong())?;
        whole
            .checked_mul(NANODOLLARS_PER_DOLLAR)
            .and_then(|nano| nano.checked_add(rest))
            .map(NanoDollars)
            .ok_or_else(wrong)
    }
}

/// A text that is no amount of dollars.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an amount in dollars, write \"0.23\" (at most nine decimals)")]
pub struct MoneyError {
    text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_exactly_or_refused() {
        assert_eq!("0.23".parse(), Ok(NanoDollars(230_000_000)));
        assert_eq!("12".parse(), Ok(NanoDollars(12_000_000_000)));
        assert_eq!("0.000000001".parse(), Ok(NanoDollars(1)));
        for wrong in [
            "",
            ".5",
            "1.",
            "-1",
            "1e3",
            "0.0000000001",
            "$1",
            "99999999999999999999",
        ] {
            assert!(wrong.parse::<NanoDollars>().is_err(), "{wrong}");
        }
        assert_eq!(NanoDollars(1_230_000_000).to_string(), "$1.230000000");
    }
}
