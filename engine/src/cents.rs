//! Money of players in dollars and cents, as whole cents, so that sums are exact. Whole
//! dollars are written as whole numbers everywhere: 40, never 40.0. Used by games whose
//! amounts may have fractions.

use std::fmt;
use std::ops::{AddAssign, SubAssign};

use serde::{Deserialize, Deserializer};

/// Cents of a dollar.
const PER_DOLLAR: i128 = 100;

/// An amount of money in cents. Any whole number of dollars of 64 bits fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cents(i128);

impl Cents {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// The smallest amount.
    pub const ONE: Self = Self(1);

    /// Whole dollars.
    pub const fn dollars(dollars: i64) -> Self {
        Self(dollars as i128 * PER_DOLLAR)
    }

    /// The amount that an f64 stands for: the closest one to a number with at most two
    /// decimals. `None` for any other.
    pub fn of(dollars: f64) -> Option<Self> {
        let cents = (dollars * PER_DOLLAR as f64).round();
        // Beyond this, neighbours of an f64 are more than a cent apart.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let amount = Self(cents as i128);
        let is_exact = cents.abs() <= EXACT && amount.in_dollars() == dollars;
        let is_whole = dollars.fract() == 0.0 && dollars.abs() < i64::MAX as f64;
        if is_whole {
            return Some(Self::dollars(dollars as i64));
        }
        is_exact.then_some(amount)
    }

    /// The closest f64 in dollars.
    pub fn in_dollars(self) -> f64 {
        self.0 as f64 / PER_DOLLAR as f64
    }

    /// The dollars, if there are no cents beside them.
    pub fn whole_dollars(self) -> Option<i64> {
        (self.0 % PER_DOLLAR == 0).then(|| i64::try_from(self.0 / PER_DOLLAR).ok())?
    }
}

impl fmt::Display for Cents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whole_dollars() {
            Some(dollars) => dollars.fmt(formatter),
            None => self.in_dollars().fmt(formatter),
        }
    }
}

impl AddAssign for Cents {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Cents {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl<'de> Deserialize<'de> for Cents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let whole = value.as_i64().map(Self::dollars);
        whole
            .or_else(|| Self::of(value.as_f64()?))
            .ok_or_else(|| serde::de::Error::custom("expected an amount in dollars and cents"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_with_two_decimals_are_exact_and_others_are_none() {
        for (dollars, cents) in [
            (67.25, 6725),
            (961.73, 96_173),
            (0.1, 10),
            (40.0, 4000),
            (-0.05, -5),
        ] {
            assert_eq!(Cents::of(dollars), Some(Cents(cents)), "{dollars}");
            assert_eq!(Cents(cents).in_dollars(), dollars);
        }
        for dollars in [0.125, 33.333, 0.1 + 0.2, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(Cents::of(dollars), None, "{dollars}");
        }
        assert_eq!(Cents::dollars(i64::MAX).whole_dollars(), Some(i64::MAX));
    }

    #[test]
    fn whole_dollars_are_whole_numbers_wherever_they_are_written() {
        use crate::{Action, Value};
        let column = |cents: &[i128]| {
            let amounts: Vec<Cents> = cents.iter().copied().map(Cents).collect();
            serde_json::to_string(&Value::from(amounts)).unwrap()
        };
        assert_eq!(column(&[4000, 7500]), "[40,75]");
        assert_eq!(column(&[4000, 6725]), "[40,67.25]");
        assert_eq!(column(&[6750]), "[67.5]");
        assert_eq!(Cents(4000).to_string(), "40");
        assert_eq!(Cents(6725).to_string(), "67.25");
        assert_eq!(Action::from(Cents(4000)), Action::Integer(40));
        assert_eq!(Action::from(Cents(6725)), Action::Number(67.25));
    }

    #[test]
    fn sums_are_exact() {
        let mut balance = Cents::ZERO;
        for _ in 0..10 {
            balance += Cents(10);
        }
        assert_eq!(balance, Cents::dollars(1));
        balance -= Cents(1);
        assert_eq!(balance.in_dollars(), 0.99);
    }
}
