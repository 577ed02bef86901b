//! How large an effect is, and which effects so many pairs can show: the standardised mean difference
//! of pairs with its interval (Cohen 1988, "Statistical power analysis"; Cumming and Finch 2001), the
//! chance that one number is larger than another, and the power of the paired t test.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::Interval;
use super::noncentral_t::{noncentral_t, where_falling};
use crate::accumulator::Accumulator;

/// Chance of a finding where there is nothing.
const LEVEL: f64 = 0.05;

/// Chance of a finding where there is what is looked for.
pub const POWER: f64 = 0.8;

/// The most pairs that are told as a number that is needed.
pub const MOST_PAIRS: u64 = 1 << 20;

/// Effects beyond it are told by nobody.
const LARGEST: f64 = 1e3;

/// The mean of differences over their standard deviation, `d_z`, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    /// Mean over standard deviation.
    pub size: f64,
    /// The effects under which the `t` seen is in neither tail of 2.5 %.
    pub interval: Interval,
}

/// The effect of these differences; `None` of fewer than two, and where all are the same.
pub fn paired_effect(differences: &Accumulator) -> Option<Effect> {
    let (mean, spread) = (differences.mean()?, differences.standard_deviation()?);
    if spread == 0.0 {
        return None;
    }
    let (size, n) = (mean / spread, differences.count() as f64);
    let (t, freedom) = (size * n.sqrt(), n - 1.0);
    // The share below t falls with the noncentrality.
    let reach = 10.0 + 10.0 * t.abs();
    let at = |share: f64| {
        let of = |noncentrality: f64| noncentral_t(t, freedom, noncentrality);
        where_falling(share, t - reach, t + reach, of) / n.sqrt()
    };
    Some(Effect {
        size,
        interval: Interval {
            low: at(1.0 - LEVEL / 2.0),
            high: at(LEVEL / 2.0),
        },
    })
}

/// The chance that the paired t test of `n` pairs, two-sided at 5 %, finds an effect of this size.
pub fn power(size: f64, n: u64) -> Option<f64> {
    let freedom = n.checked_sub(1).filter(|freedom| *freedom > 0)? as f64;
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let edge = t.inverse_cdf(1.0 - LEVEL / 2.0);
    let noncentrality = size * (n as f64).sqrt();
    let [below, above] = [-edge, edge].map(|t| noncentral_t(t, freedom, noncentrality));
    Some(below + 1.0 - above)
}

/// The smallest effect that the paired t test of `n` pairs finds with a chance of 80 %, in standard
/// deviations of the differences; `None` of fewer than two pairs.
pub fn detectable_effect(n: u64) -> Option<f64> {
    let _ = power(0.0, n)?;
    let missed = |size: f64| 1.0 - power(size, n).unwrap_or(1.0);
    Some(where_falling(1.0 - POWER, 0.0, LARGEST, missed))
}

/// How many pairs the paired t test needs to find an effect of this size with a chance of 80 %; `None`
/// where it would be more than [`MOST_PAIRS`].
pub fn pairs_needed(size: f64) -> Option<u64> {
    let has_enough = |n: u64| power(size, n).is_some_and(|power| power >= POWER);
    let mut enough = 2;
    while !has_enough(enough) {
        enough *= 2;
        if enough > MOST_PAIRS {
            return None;
        }
    }
    let (mut low, mut high) = (enough / 2, enough);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if has_enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(if has_enough(low) { low } else { high })
}

/// The chance that a number of `a` is larger than one of `b`, equal ones counted half (Mann and
/// Whitney 1947; P(X > Y) of Agarwal et al. 2021, arXiv 2108.13264; Cliff's delta is twice this less
/// 1, Cliff 1993, "Dominance statistics"); `None` where either has none.
pub fn superiority(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let mut sorted = b.to_vec();
    sorted.sort_by(f64::total_cmp);
    let wins = a.iter().map(|own| {
        let below = sorted.partition_point(|other| other < own);
        let up_to = sorted.partition_point(|other| other <= own);
        (below + up_to) as f64 / 2.0
    });
    Some(wins.sum::<f64>() / (a.len() as f64 * b.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_of_an_effect_has_none() {
        let mut same = Accumulator::default();
        assert_eq!(paired_effect(&same), None);
        same.add(2.0);
        assert_eq!(paired_effect(&same), None);
        same.add(2.0);
        assert_eq!(paired_effect(&same), None);
        assert_eq!((power(1.0, 1), detectable_effect(1)), (None, None));
        assert_eq!(pairs_needed(0.0), None);
        assert_eq!(superiority(&[], &[1.0]), None);
    }

    #[test]
    fn as_many_pairs_as_are_needed_have_the_power() {
        for size in [0.1, 0.5, -1.0, 4.0] {
            let n = pairs_needed(size).unwrap();
            assert!(power(size, n).unwrap() >= POWER, "{size}");
            assert!(n == 2 || power(size, n - 1).unwrap() < POWER, "{size}");
        }
    }

    #[test]
    fn dominance_counts_equals_half() {
        assert_eq!(superiority(&[1.0, 2.0], &[1.0, 0.0]), Some(3.5 / 4.0));
        assert_eq!(superiority(&[1.0], &[1.0, 2.0]), Some(0.25));
    }
}
