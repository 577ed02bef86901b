//! Money as whole nano-dollars and what a model's tokens cost. No floats: sums
//! of many small prices must come out the same in any order. Called by the
//! configuration and by whoever plans or accounts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::decision::Usage;

const NANODOLLARS_PER_DOLLAR: u64 = 1_000_000_000;
const TOKENS_PER_MILLION: u128 = 1_000_000;

/// An amount of money in billionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NanoDollars(pub u64);

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

/// What a model's tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// For a million input tokens.
    pub input_per_million: NanoDollars,
    /// For a million output tokens, hidden reasoning included.
    pub output_per_million: NanoDollars,
}

impl Price {
    /// What this use costs, rounded up to a whole nano-dollar.
    pub fn of(&self, usage: &Usage) -> NanoDollars {
        let millionths = u128::from(usage.input_tokens) * u128::from(self.input_per_million.0)
            + u128::from(usage.output_tokens) * u128::from(self.output_per_million.0);
        NanoDollars(u64::try_from(millionths.div_ceil(TOKENS_PER_MILLION)).unwrap_or(u64::MAX))
    }
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

    #[test]
    fn cost_is_rounded_up_to_a_whole_nanodollar() {
        let price = Price {
            input_per_million: NanoDollars(230_000_000),
            output_per_million: NanoDollars(37_500_000),
        };
        let usage = Usage {
            input_tokens: 1_000,
            output_tokens: 1,
            ..Usage::default()
        };
        assert_eq!(price.of(&usage), NanoDollars(230_000 + 38));
    }
}
