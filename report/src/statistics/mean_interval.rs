//! How far a mean of few independent numbers may lie from the true one: Student's t interval
//! (Student 1908, "The probable error of a mean"), and the same for a mean over the means of
//! groups whose spreads differ (Welch 1947, Satterthwaite 1946).

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::accumulator::Accumulator;

/// Half of what the interval leaves out on both sides together.
const TAIL: f64 = 0.025;

/// Half the width of the 95 % interval around the mean of the means of these groups, each of
/// independent numbers; of one group, around its mean.
///
/// With `v = s^2 / (n k^2)` of each of `k` groups it is `t * sqrt(sum v)`, t at
/// `(sum v)^2 / sum (v^2 / (n - 1))` degrees of freedom. `None` without a group, and where one has
/// fewer than two numbers. 0 where no group has any spread.
pub fn mean_interval(groups: &[Accumulator]) -> Option<f64> {
    let k = groups.len() as f64;
    let (mut variance, mut below) = (0.0, 0.0);
    for group in groups {
        let spread = group.standard_deviation()?;
        let n = group.count() as f64;
        let share = spread * spread / (n * k * k);
        variance += share;
        below += share * share / (n - 1.0);
    }
    if groups.is_empty() {
        return None;
    }
    if variance == 0.0 {
        return Some(0.0);
    }
    let freedom = variance * variance / below;
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let half = t.inverse_cdf(1.0 - TAIL) * variance.sqrt();
    half.is_finite().then_some(half)
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

    fn is_about(half: Option<f64>, expected: f64) {
        let half = half.unwrap();
        assert!((half - expected).abs() < 1e-3, "{half} {expected}");
    }

    #[test]
    fn one_group_has_students_interval() {
        // s = sqrt(2.5), t(4) = 2.7764.
        is_about(
            mean_interval(&[of(&[1.0, 2.0, 3.0, 4.0, 5.0])]),
            2.776_445 * (2.5f64 / 5.0).sqrt(),
        );
        // The interval of two numbers is wide: t(1) = 12.706.
        is_about(mean_interval(&[of(&[1.0, 3.0])]), 12.706_2);
    }

    #[test]
    fn groups_with_other_spreads_have_welchs_interval() {
        let (calm, wild) = (of(&[1.0, 1.0, 1.0]), of(&[0.0, 10.0, 20.0, 30.0]));
        // Only the second varies: v = (500 / 3) / (4 * 4), 3 degrees of freedom, t = 3.1824.
        let expected = 3.182_446 * (500.0f64 / 3.0 / 16.0).sqrt();
        is_about(mean_interval(&[calm, wild]), expected);
        // Two alike: as many degrees of freedom as both have together, t(4) = 2.7764.
        let same = of(&[1.0, 2.0, 3.0]);
        is_about(
            mean_interval(&[same, same]),
            2.776_445 * (1.0f64 / 6.0).sqrt(),
        );
    }

    #[test]
    fn what_has_no_spread_to_go_by_has_no_interval() {
        assert_eq!(mean_interval(&[]), None);
        assert_eq!(mean_interval(&[of(&[1.0, 2.0]), of(&[1.0])]), None);
        assert_eq!(mean_interval(&[of(&[2.0, 2.0])]), Some(0.0));
    }
}
