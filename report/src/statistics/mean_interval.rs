//! How far a mean of few independent numbers may lie from the true one: Student's t, corrected for
//! the skewness of the numbers (Hall 1992, "On the removal of skewness by transformation", J. R.
//! Statist. Soc. B 54), and the same for a mean over the means of groups whose spreads differ (Welch
//! 1947, Satterthwaite 1946). `docs/statistics.md` says how often such intervals cover.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Interval;
use crate::accumulator::Accumulator;

/// What it is called below tables.
pub const METHOD: &str = "t corrected for skewness";

/// What is said beside it, from `docs/statistics.md`.
pub const CAVEAT: &str = "with fewer than 10 very skewed values it covers 88 to 93 % instead of 95 %, with 10 to 20 bounded \
     values up to 97 %";

/// What the interval leaves out on either side.
const TAIL: f64 = 0.025;

/// The 95 % interval around the mean of the means of these groups, each of independent numbers; of
/// one group, around its mean.
///
/// With the squares `v = s^2 / n` of `k` groups the standard error is `sqrt(sum v) / k`, and t has
/// `(sum v)^2 / sum (v^2 / (n - 1))` degrees of freedom. The distance `T` from the mean, in standard
/// errors, is where `T + l T^2 / 3 + l^2 T^3 / 27 + l / 6` is t on either side; `l` is the skewness of
/// the mean: `sum (d^3) / (n (n - 1)^2)` over all groups, by `(sum v)^(3 / 2)`.
///
/// `None` without a group, and where one has fewer than two numbers. A point where no group has any
/// spread.
pub fn mean_interval(groups: &[Accumulator]) -> Option<Interval> {
    let k = groups.len() as f64;
    let (mut mean, mut variance, mut below, mut third) = (0.0, 0.0, 0.0, 0.0);
    for group in groups {
        let spread = group.standard_deviation()?;
        let n = group.count() as f64;
        let own = spread * spread / n;
        mean += group.mean()? / k;
        variance += own;
        below += own * own / (n - 1.0);
        third += group.cubes() / (n * (n - 1.0) * (n - 1.0));
    }
    if groups.is_empty() {
        return None;
    }
    if variance == 0.0 {
        return Some(Interval::point(mean));
    }
    // Beyond, t is as good as normal.
    let freedom = (variance * variance / below).min(1e6);
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let t = t.inverse_cdf(1.0 - TAIL);
    let skewness = third / variance.powf(1.5);
    let error = variance.sqrt() / k;
    let ends = [t, -t].map(|t| mean - error * uncorrected(t, skewness));
    ends.iter().all(|end| end.is_finite()).then_some(Interval {
        low: ends[0],
        high: ends[1],
    })
}

/// The distance in standard errors that the correction for this skewness makes to `t`.
fn uncorrected(t: f64, skewness: f64) -> f64 {
    if skewness.abs() < 1e-9 {
        return t;
    }
    let cube = 1.0 + skewness * (t - skewness / 6.0);
    3.0 * (cube.cbrt() - 1.0) / skewness
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

    fn is_about(interval: Option<Interval>, mean: f64, half: f64) {
        let interval = interval.unwrap();
        assert!((interval.low - (mean - half)).abs() < 1e-3, "{interval:?}");
        assert!((interval.high - (mean + half)).abs() < 1e-3, "{interval:?}");
    }

    #[test]
    fn a_group_without_skewness_has_students_interval() {
        // s = sqrt(2.5), t(4) = 2.7764.
        is_about(
            mean_interval(&[of(&[1.0, 2.0, 3.0, 4.0, 5.0])]),
            3.0,
            2.776_445 * (2.5f64 / 5.0).sqrt(),
        );
        // The interval of two numbers is wide: t(1) = 12.706.
        is_about(mean_interval(&[of(&[1.0, 3.0])]), 2.0, 12.706_2);
    }

    #[test]
    fn the_longer_tail_has_the_longer_side() {
        let right = mean_interval(&[of(&[0.0, 0.0, 1.0, 1.0, 9.0])]).unwrap();
        let (below, above) = (2.2 - right.low, right.high - 2.2);
        assert!(above > 2.0 * below, "{right:?}");
        let left = mean_interval(&[of(&[0.0, 0.0, -1.0, -1.0, -9.0])]).unwrap();
        assert!((left.low + right.high).abs() < 1e-9, "{left:?} {right:?}");
        // Both ends are where the formula is t(4).
        let (error, t) = ((14.7f64 / 5.0).sqrt(), 2.776_445);
        let skewness = (2.0 * -10.648 + 2.0 * -1.728 + 314.432) / 80.0 / error.powi(3);
        for (end, t) in [(right.low, t), (right.high, -t)] {
            let x = (2.2 - end) / error;
            let formula = x
                + skewness * x * x / 3.0
                + skewness * skewness * x.powi(3) / 27.0
                + skewness / 6.0;
            assert!((formula - t).abs() < 1e-4, "{formula} {t}");
        }
    }

    #[test]
    fn groups_with_other_spreads_have_welchs_interval() {
        let (calm, wild) = (of(&[1.0, 1.0, 1.0]), of(&[0.0, 10.0, 20.0, 30.0]));
        // Only the second varies: v = (500 / 3) / (4 * 4), 3 degrees of freedom, t = 3.1824.
        let expected = 3.182_446 * (500.0f64 / 3.0 / 16.0).sqrt();
        is_about(mean_interval(&[calm, wild]), 8.0, expected);
        // Two alike: as many degrees of freedom as both have together, t(4) = 2.7764.
        let same = of(&[1.0, 2.0, 3.0]);
        is_about(
            mean_interval(&[same, same]),
            2.0,
            2.776_445 * (1.0f64 / 6.0).sqrt(),
        );
    }

    #[test]
    fn what_has_no_spread_to_go_by_has_no_interval() {
        assert_eq!(mean_interval(&[]), None);
        assert_eq!(mean_interval(&[of(&[1.0, 2.0]), of(&[1.0])]), None);
        let same = mean_interval(&[of(&[2.0, 2.0])]).unwrap();
        assert!(same.is_point() && same.low == 2.0);
    }
}
