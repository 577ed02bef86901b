//! Wilcoxon's signed-rank test of pairs, exact also with ties (Wilcoxon 1945,
//! "Individual comparisons by ranking methods"; with ties the distribution is that of
//! the ranks at hand, Pratt and Gibbons 1981, "Concepts of Nonparametric Theory").

use super::normal::normal_distribution;
use super::ranks::average_ranks;
use super::{StatisticsError, differences};

/// The most pairs that are computed exactly; of more, the rank sum is as good as normal.
pub const MOST_EXACT: usize = 500;

/// What the test says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    /// The smaller of the rank sums of positive and negative differences.
    pub w: f64,
    /// Two-sided p-value: twice the smaller tail, at most 1.
    pub p: f64,
}

/// Ranks the absolute differences, equal ones by their mean rank, and compares the rank
/// sum of the positive ones with its distribution over all choices of signs. Pairs
/// without a difference are left out, as Wilcoxon did; where all are, W is 0 and p 1.
///
/// Pairs must be independent of each other: sessions are, seats and rounds of one are not.
///
/// Profits are often multiples of one amount, so differences tie; tables for ranks
/// without ties would give another p-value then.
///
/// Of more than [`MOST_EXACT`] pairs that differ, the distribution is taken for normal, with its
/// variance corrected for ties (Pratt and Gibbons 1981, 3.7.2) and no correction for continuity.
///
/// # Errors
/// No pair; lengths differ; a number is not finite.
pub fn wilcoxon_test(a: &[f64], b: &[f64]) -> Result<SignedRank, StatisticsError> {
    let mut differences = differences(a, b)?;
    differences.retain(|difference| *difference != 0.0);
    let sizes: Vec<f64> = differences
        .iter()
        .map(|difference| difference.abs())
        .collect();
    // Average ranks are halves; twice a rank is a whole number.
    let ranks: Vec<usize> = average_ranks(&sizes)
        .into_iter()
        .map(|rank| (2.0 * rank).round() as usize)
        .collect();
    let all: usize = ranks.iter().sum();
    let positive = differences.iter().zip(&ranks);
    let positive: usize = positive
        .filter(|(difference, _)| **difference > 0.0)
        .map(|(_, rank)| rank)
        .sum();
    let smaller = positive.min(all - positive);
    let tail = match differences.len() {
        0..=MOST_EXACT => probabilities(&ranks, all)[..=smaller].iter().sum(),
        _ => {
            // Half of all ranks is the mean; each is there or not: their squares make the variance.
            let squares: f64 = ranks.iter().map(|rank| (*rank as f64).powi(2)).sum();
            let below = smaller as f64 - all as f64 / 2.0;
            normal_distribution(below / (squares / 4.0).sqrt())
        }
    };
    Ok(SignedRank {
        w: smaller as f64 / 2.0,
        p: (2.0 * tail).min(1.0),
    })
}

/// Probability of every sum from 0 to `all`, when each rank joins it with probability
/// one half.
fn probabilities(ranks: &[usize], all: usize) -> Vec<f64> {
    let mut probabilities = vec![0.0; all + 1];
    probabilities[0] = 1.0;
    let mut reached = 0;
    for rank in ranks {
        reached += rank;
        for sum in (0..=reached).rev() {
            let joined = sum
                .checked_sub(*rank)
                .map_or(0.0, |rest| probabilities[rest]);
            probabilities[sum] = 0.5 * (probabilities[sum] + joined);
        }
    }
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(differences: &[f64]) -> SignedRank {
        wilcoxon_test(differences, &vec![0.0; differences.len()]).unwrap()
    }

    #[test]
    fn all_on_one_side_leaves_two_of_all_choices() {
        for differences in [&[1.0, 2.0, 3.0, 4.0, 5.0][..], &[-1.0; 5]] {
            let result = test(differences);
            assert_eq!((result.w, result.p), (0.0, 2.0 / 32.0));
        }
    }

    #[test]
    fn tied_ranks_have_their_own_distribution() {
        // Ranks 1, 2.5, 2.5, 4, 5, 6.5, 6.5 with 4 and 6.5 negative; of the 128 choices
        // of signs, 39 give at most 10.5.
        let result = test(&[1.0, 2.0, 2.0, -3.0, 4.0, 5.0, -5.0]);
        assert_eq!((result.w, result.p), (10.5, 2.0 * 39.0 / 128.0));
    }

    #[test]
    fn pairs_without_a_difference_are_left_out() {
        assert_eq!(test(&[0.0, 3.0, 0.0, -1.0, 2.0]), test(&[3.0, -1.0, 2.0]));
        let nothing = test(&[0.0; 3]);
        assert_eq!((nothing.w, nothing.p), (0.0, 1.0));
    }

    #[test]
    fn many_pairs_stay_between_nought_and_one() {
        let alternating = |place: i32| f64::from(if place % 2 == 0 { place } else { -place });
        let mixed: Vec<f64> = (1..=500).map(alternating).collect();
        let p = test(&mixed).p;
        assert!(p > 0.5 && p <= 1.0, "{p}");
        let one_sided: Vec<f64> = (1..=500).map(f64::from).collect();
        let p = test(&one_sided).p;
        assert!(p > 0.0 && p < 1e-100, "{p}");
    }

    #[test]
    fn many_pairs_are_as_good_as_normal() {
        let numbers = |count: i32| -> Vec<f64> {
            let number = |place: i32| f64::from((place * 37) % 101 - 48);
            (0..count).map(number).collect()
        };
        let (exact, normal) = (test(&numbers(504)), test(&numbers(512)));
        assert!((exact.p - normal.p).abs() < 0.05, "{exact:?} {normal:?}");
        // scipy 1.17.1, wilcoxon(method="asymptotic"), of the second.
        assert!(
            (normal.p - 0.158_253_951_248_478_85).abs() < 1e-9,
            "{normal:?}"
        );
    }

    #[test]
    fn unusable_pairs_are_refused() {
        use StatisticsError::{Lengths, NotFinite, TooFew};
        let none = TooFew { least: 1, given: 0 };
        assert_eq!(wilcoxon_test(&[], &[]), Err(none));
        let lengths = Lengths { left: 1, right: 0 };
        assert_eq!(wilcoxon_test(&[1.0], &[]), Err(lengths));
        assert_eq!(wilcoxon_test(&[f64::NAN], &[1.0]), Err(NotFinite));
    }
}
