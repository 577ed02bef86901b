//! Spearman's rank correlation with ties (Spearman 1904, "The proof and measurement of
//! association between two things"): plan faithfulness is the correlation of an item's
//! priority with how it was bid for.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::ranks::average_ranks;
use super::{StatisticsError, all_finite, at_least, same_length};

/// How two columns go together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// Rank correlation, from -1 to 1.
    pub rho: f64,
    /// Two-sided p-value of no correlation between pairs that are independent of each other, by
    /// Student's distribution of `rho sqrt((n - 2) / (1 - rho^2))` with n - 2 degrees of freedom;
    /// `None` for two pairs, where there is no degree of freedom. Items of one auction are not
    /// independent.
    pub p: Option<f64>,
}

/// Pearson's correlation of the average ranks; `None` where a column is constant.
///
/// # Errors
/// Fewer than two pairs; lengths differ; a number is not finite.
pub fn spearman(x: &[f64], y: &[f64]) -> Result<Option<Correlation>, StatisticsError> {
    same_length(x.len(), y.len())?;
    at_least(2, x.len())?;
    all_finite(x)?;
    all_finite(y)?;
    // The mean of average ranks is (n + 1) / 2 whatever the ties; all are halves, so
    // these sums are exact.
    let middle = (x.len() + 1) as f64 / 2.0;
    let (mut both, mut left, mut right) = (0.0, 0.0, 0.0);
    for (x, y) in average_ranks(x).into_iter().zip(average_ranks(y)) {
        let (x, y) = (x - middle, y - middle);
        both += x * y;
        left += x * x;
        right += y * y;
    }
    if left == 0.0 || right == 0.0 {
        return Ok(None);
    }
    // Rounding of the root may lead a trace beyond 1.
    let rho = (both / (left * right).sqrt()).clamp(-1.0, 1.0);
    let freedom = x.len() as f64 - 2.0;
    Ok(Some(Correlation {
        rho,
        p: p_value(rho, freedom),
    }))
}

/// Two-sided p-value of a correlation.
fn p_value(rho: f64, freedom: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let left_over = (1.0 - rho) * (1.0 + rho);
    if left_over == 0.0 {
        return Some(0.0);
    }
    let t = rho.abs() * (freedom / left_over).sqrt();
    Some((2.0 * student.sf(t)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rho(x: &[f64], y: &[f64]) -> f64 {
        spearman(x, y).unwrap().unwrap().rho
    }

    #[test]
    fn only_the_order_counts() {
        let x = [1.0, 2.0, 3.0, 4.0];
        let y = [0.1, 0.2, 50.0, 1e300];
        assert_eq!(rho(&x, &y), 1.0);
        assert_eq!(rho(&y, &x), 1.0);
        assert_eq!(rho(&x, &y.map(|y| -y)), -1.0);
        let perfect = spearman(&x, &y).unwrap().unwrap();
        assert_eq!(perfect.p, Some(0.0));
    }

    #[test]
    fn a_constant_column_has_no_correlation() {
        assert_eq!(spearman(&[2.0; 5], &[1.0, 2.0, 3.0, 4.0, 5.0]), Ok(None));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[0.0; 3]), Ok(None));
        assert_eq!(spearman(&[1.0; 3], &[0.0; 3]), Ok(None));
    }

    #[test]
    fn two_pairs_have_no_p_value() {
        let two = spearman(&[1.0, 2.0], &[8.0, 3.0]).unwrap().unwrap();
        assert_eq!((two.rho, two.p), (-1.0, None));
    }

    #[test]
    fn too_little_or_unusable_data_are_refused() {
        use StatisticsError::{Lengths, NotFinite, TooFew};
        assert_eq!(spearman(&[], &[]), Err(TooFew { least: 2, given: 0 }));
        assert_eq!(spearman(&[1.0], &[1.0]), Err(TooFew { least: 2, given: 1 }));
        let lengths = Err(Lengths { left: 2, right: 1 });
        assert_eq!(spearman(&[1.0, 2.0], &[1.0]), lengths);
        assert_eq!(spearman(&[1.0, f64::NAN], &[1.0, 2.0]), Err(NotFinite));
        assert_eq!(spearman(&[1.0, 2.0], &[1.0, f64::INFINITY]), Err(NotFinite));
    }
}
