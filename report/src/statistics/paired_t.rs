//! Student's test of pairs (Student 1908, "The probable error of a mean"): whether the mean of the
//! differences is 0, for more pairs than a permutation test can take exactly.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::accumulator::Accumulator;

/// The two-sided p-value of Student's test that the mean of `a - b` is 0. `None` for fewer than two
/// pairs, columns of other lengths, and where no pair differs from another.
pub fn paired_t_test(a: &[f64], b: &[f64]) -> Option<f64> {
    let mut differences = Accumulator::default();
    for (a, b) in a.iter().zip(b) {
        differences.add(a - b);
    }
    let (mean, spread) = (differences.mean()?, differences.standard_deviation()?);
    if a.len() != b.len() || spread == 0.0 {
        return None;
    }
    let n = differences.count() as f64;
    let t = mean / (spread / n.sqrt());
    let distribution = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    Some((2.0 * distribution.cdf(-t.abs())).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_tested_as_scipy_does() {
        // ttest_rel([1, 2, 3, 4, 6], [2, 2, 5, 3, 9]) of scipy 1.17.1.
        let p = paired_t_test(&[1.0, 2.0, 3.0, 4.0, 6.0], &[2.0, 2.0, 5.0, 3.0, 9.0]);
        assert!((p.unwrap() - 0.230_199_641_080_498_9).abs() < 1e-9, "{p:?}");
        assert_eq!(paired_t_test(&[1.0, 2.0], &[2.0, 3.0]), None);
        assert_eq!(paired_t_test(&[1.0], &[2.0]), None);
    }
}
