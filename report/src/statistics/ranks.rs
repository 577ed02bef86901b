//! Average ranks: equal numbers share the mean of the places they take.
//! Called by the rank correlation and the signed-rank test.

use statrs::statistics::{Data, OrderStatistics, RankTieBreaker};

/// Ranks from 1, in the order of the numbers, which must be finite.
pub(super) fn average_ranks(numbers: &[f64]) -> Vec<f64> {
    if numbers.is_empty() {
        return Vec::new();
    }
    Data::new(numbers.to_vec()).ranks(RankTieBreaker::Average)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_share_the_mean_of_their_places() {
        assert_eq!(
            average_ranks(&[3.0, 1.0, 3.0, -2.0, 3.0]),
            [4.0, 2.0, 4.0, 1.0, 4.0]
        );
        assert_eq!(average_ranks(&[5.0, 5.0]), [1.5, 1.5]);
        assert_eq!(average_ranks(&[0.0, -0.0, 1.0]), [1.5, 1.5, 3.0]);
        assert_eq!(average_ranks(&[7.0]), [1.0]);
        assert!(average_ranks(&[]).is_empty());
    }
}
