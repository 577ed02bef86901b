//! Paired permutation test (Fisher 1935, "The Design of Experiments"): if two settings were the same,
//! each pair could as well have come the other way round, so every choice of signs of the differences
//! is equally likely. Exact for few pairs, over a sample of choices for more.

use rand_core::Rng as _;

use super::chance::seeded;
use super::{StatisticsError, at_most, differences};

/// The most pairs: each half of them has a million choices of signs.
pub const MOST_PAIRS: usize = 40;

/// The most pairs whose choices are sampled; of more, the mean is as good as normal.
pub const MOST_SAMPLED: usize = 10_000;

/// How many choices of signs are sampled.
pub const DRAWS: u32 = 20_000;

/// Sums closer than this share of the sum of all absolute differences are the same
/// number; they only were added in another order.
const SAME: f64 = 1e-12;

/// What the test says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignFlip {
    /// Mean of `a - b`.
    pub mean_difference: f64,
    /// Two-sided: twice the share of choices of signs whose mean lies at least as far
    /// out on the side of the observed one, at most 1.
    pub p: f64,
}

/// Compares the means of pairs over all 2^n choices of signs. Pairs must be independent of
/// each other: sessions are, seats and rounds of one are not.
///
/// The signs of the two halves of the pairs are listed apart and their sorted sums
/// counted against each other, so it takes 2^(n/2) steps and not 2^n.
///
/// # Errors
/// No pair, or more than [`MOST_PAIRS`]; lengths differ; a number is not finite.
pub fn sign_flip_test(a: &[f64], b: &[f64]) -> Result<SignFlip, StatisticsError> {
    let differences = differences(a, b)?;
    at_most(MOST_PAIRS, differences.len())?;
    let (sum, observed) = observed(&differences);
    let (left, right) = differences.split_at(differences.len() / 2);
    let (left, right) = (sorted_sums(left), sorted_sums(right));
    let (mut as_far, mut first) = (0, right.len());
    for left in &left {
        while first > 0 && left + right[first - 1] >= observed {
            first -= 1;
        }
        as_far += right.len() - first;
    }
    let all = left.len() as f64 * right.len() as f64;
    Ok(SignFlip {
        mean_difference: sum / differences.len() as f64,
        p: (2.0 * as_far as f64 / all).min(1.0),
    })
}

/// The same over [`DRAWS`] choices of signs, drawn from chance with a fixed seed, the observed one
/// counted among them (Phipson and Smyth 2010, "Permutation p-values should never be zero").
///
/// # Errors
/// No pair, or more than [`MOST_SAMPLED`]; lengths differ; a number is not finite.
pub fn sampled_sign_flip_test(a: &[f64], b: &[f64]) -> Result<SignFlip, StatisticsError> {
    let differences = differences(a, b)?;
    at_most(MOST_SAMPLED, differences.len())?;
    let (sum, observed) = observed(&differences);
    let mut chance = seeded();
    let mut as_far = 1u32;
    for _ in 0..DRAWS {
        let mut drawn = 0.0;
        for some in differences.chunks(64) {
            let signs = chance.next_u64();
            for (place, difference) in some.iter().enumerate() {
                let is_flipped = signs >> place & 1 == 1;
                drawn += if is_flipped { -difference } else { *difference };
            }
        }
        as_far += u32::from(drawn.abs() >= observed);
    }
    Ok(SignFlip {
        mean_difference: sum / differences.len() as f64,
        p: f64::from(as_far) / f64::from(DRAWS + 1),
    })
}

/// The sum, and what a sum must reach to lie as far out: the distribution is symmetric, and the upper
/// tail of the absolute sum is the smaller one.
fn observed(differences: &[f64]) -> (f64, f64) {
    let sum: f64 = differences.iter().sum();
    let size: f64 = differences.iter().map(|difference| difference.abs()).sum();
    (sum, sum.abs() - SAME * size)
}

/// Sums under all choices of signs, rising.
fn sorted_sums(differences: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for difference in differences {
        let flipped: Vec<f64> = sums.iter().map(|sum| sum - difference).collect();
        for sum in &mut sums {
            *sum += difference;
        }
        sums.extend(flipped);
    }
    sums.sort_unstable_by(f64::total_cmp);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(differences: &[f64]) -> f64 {
        let nothing = vec![0.0; differences.len()];
        sign_flip_test(differences, &nothing).unwrap().p
    }

    /// Every choice of signs, one by one.
    fn p_by_listing(differences: &[i32]) -> f64 {
        let observed: i32 = differences.iter().sum();
        let choices = 1u32 << differences.len();
        let (mut above, mut below) = (0, 0);
        for choice in 0..choices {
            let signed = |(place, difference): (usize, &i32)| {
                if choice >> place & 1 == 1 {
                    -difference
                } else {
                    *difference
                }
            };
            let sum: i32 = differences.iter().enumerate().map(signed).sum();
            above += u32::from(sum >= observed);
            below += u32::from(sum <= observed);
        }
        (2.0 * f64::from(above.min(below)) / f64::from(choices)).min(1.0)
    }

    #[test]
    fn halves_count_what_listing_counts() {
        let cases: [&[i32]; 6] = [
            &[1],
            &[0, 0, 3],
            &[1, 2, 2, -3, 4, 5],
            &[-5, -5, -5, -5],
            &[500, -500, 1000, 1000, 0, -250, 250],
            &[3, 1, -4, 1, -5, -9, -2, -6, 5, -3, -5],
        ];
        for case in cases {
            let differences: Vec<f64> = case.iter().copied().map(f64::from).collect();
            assert_eq!(p(&differences), p_by_listing(case), "{case:?}");
            // In tenths the same sums come out of other roundings.
            let tenths: Vec<f64> = differences.iter().map(|number| number / 10.0).collect();
            assert_eq!(p(&tenths), p_by_listing(case), "tenths of {case:?}");
        }
    }

    #[test]
    fn forty_pairs_on_one_side_leave_two_choices() {
        let rising: Vec<f64> = (1..=40).map(f64::from).collect();
        assert_eq!(p(&rising), 2.0 / 2f64.powi(40));
    }

    #[test]
    fn a_sample_of_choices_finds_what_all_of_them_find() {
        let differences: Vec<f64> = (0..24).map(|place| f64::from(place % 7) - 2.2).collect();
        let nothing = vec![0.0; differences.len()];
        let sampled = sampled_sign_flip_test(&differences, &nothing).unwrap();
        let exact = sign_flip_test(&differences, &nothing).unwrap();
        assert_eq!(sampled.mean_difference, exact.mean_difference);
        // Four standard errors of a share of so many draws.
        let error = (exact.p * (1.0 - exact.p) / f64::from(DRAWS)).sqrt();
        assert!((sampled.p - exact.p).abs() < 4.0 * error, "{sampled:?}");
        let far = sampled_sign_flip_test(&vec![1.0; 100], &vec![0.0; 100]).unwrap();
        assert_eq!(far.p, 1.0 / f64::from(DRAWS + 1));
        let same = sampled_sign_flip_test(&[0.5; 60], &[0.5; 60]).unwrap();
        assert_eq!(same.p, 1.0);
    }

    #[test]
    fn no_difference_is_no_evidence() {
        assert_eq!(p(&[0.0; 4]), 1.0);
        assert_eq!(p(&[7.0]), 1.0);
    }

    #[test]
    fn unusable_pairs_are_refused() {
        use StatisticsError::{Lengths, NotFinite, Overflow, TooFew, TooMany};
        let none = TooFew { least: 1, given: 0 };
        assert_eq!(sign_flip_test(&[], &[]), Err(none));
        let lengths = Lengths { left: 1, right: 2 };
        assert_eq!(sign_flip_test(&[1.0], &[1.0, 2.0]), Err(lengths));
        assert_eq!(sign_flip_test(&[f64::NAN], &[1.0]), Err(NotFinite));
        assert_eq!(sign_flip_test(&[f64::MAX], &[-f64::MAX]), Err(Overflow));
        let (most, given) = (MOST_PAIRS, MOST_PAIRS + 1);
        let many = vec![1.0; given];
        assert_eq!(sign_flip_test(&many, &many), Err(TooMany { most, given }));
    }
}
