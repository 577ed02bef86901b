//! Mean, standard deviation and skewness of numbers that come one by one. Keeps no number and
//! gives no answer where there are too few. Called by the summary, the
//! leaderboard and every report.

/// Mean, spread and skewness so far (Welford 1962, "Note on a method for calculating corrected sums
/// of squares and products"; third powers by Pébay 2008, "Formulas for robust, one-pass parallel
/// computation of covariances and arbitrary-order statistical moments").
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Accumulator {
    count: u64,
    mean: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
    /// Sum of the third powers of distances from the mean.
    cubes: f64,
}

impl Accumulator {
    /// Takes in a number.
    pub fn add(&mut self, number: f64) {
        self.count += 1;
        let count = self.count as f64;
        let distance = number - self.mean;
        let step = distance / count;
        let square = distance * step * (count - 1.0);
        self.mean += step;
        self.cubes += step * (square * (count - 2.0) - 3.0 * self.squares);
        self.squares += square;
    }

    /// Takes in a number where there is one.
    pub fn add_known(&mut self, number: Option<f64>) {
        if let Some(number) = number {
            self.add(number);
        }
    }

    /// Takes in all numbers that another one took in (Chan, Golub and LeVeque 1979,
    /// "Updating formulae and a pairwise algorithm for computing sample variances").
    pub fn merge(&mut self, other: &Self) {
        let count = self.count + other.count;
        if count == 0 {
            return;
        }
        let (own, others) = (self.count as f64, other.count as f64);
        let distance = other.mean - self.mean;
        self.mean += distance * others / count as f64;
        let (whole, square) = (own + others, distance * distance);
        self.cubes += other.cubes
            + distance * square * own * others * (own - others) / (whole * whole)
            + 3.0 * distance * (own * other.squares - others * self.squares) / whole;
        self.squares += other.squares + square * own * others / whole;
        self.count = count;
    }

    /// How many numbers there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; `None` when there were none.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// The sum of the third powers of their distances from the mean.
    pub fn cubes(&self) -> f64 {
        self.cubes
    }

    /// Their sample standard deviation (n - 1); `None` for fewer than two.
    pub fn standard_deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[f64]) -> Accumulator {
        let mut accumulator = Accumulator::default();
        for number in numbers {
            accumulator.add(*number);
        }
        accumulator
    }

    #[test]
    fn spread_is_that_of_a_sample() {
        let accumulator = of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!(accumulator.mean(), Some(5.0));
        let spread = accumulator.standard_deviation().unwrap();
        assert!((spread - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_large_offset_does_not_drown_the_spread() {
        let spread = of(&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0])
            .standard_deviation()
            .unwrap();
        assert!((spread - 1.0).abs() < 1e-6);
    }

    #[test]
    fn two_together_are_as_one_that_took_in_both() {
        let mut merged = of(&[2.0, 4.0, 4.0]);
        merged.merge(&of(&[]));
        merged.merge(&of(&[4.0, 5.0, 5.0, 7.0, 9.0]));
        let whole = of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((merged.count(), merged.mean()), (8, whole.mean()));
        let spreads = (merged.standard_deviation(), whole.standard_deviation());
        assert!((spreads.0.unwrap() - spreads.1.unwrap()).abs() < 1e-12);
        // -27 - 1 - 1 - 1 + 0 + 0 + 8 + 64.
        assert!((whole.cubes() - 42.0).abs() < 1e-12, "{}", whole.cubes());
        assert!((merged.cubes() - 42.0).abs() < 1e-12, "{}", merged.cubes());
    }

    #[test]
    fn nothing_has_no_mean_and_one_number_no_spread() {
        assert_eq!(of(&[]).mean(), None);
        assert_eq!(of(&[3.0]).standard_deviation(), None);
    }
}
