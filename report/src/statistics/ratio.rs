//! A sum over another one where only clusters are independent: moves of a session, sessions of a
//! series. Its standard error is that of what each cluster adds to the ratio (linearisation; Cochran
//! 1977, "Sampling techniques", 6.4), which for means of numbers in clusters is the cluster-robust one
//! (Liang and Zeger 1986; Miller 2024, arXiv 2411.00640, equation 4, with k / (k - 1)).

use super::{Interval, mean_interval};
use crate::accumulator::Accumulator;

/// A ratio of sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The sum of numerators over the sum of denominators.
    pub value: f64,
    /// Its standard error; `None` of a single cluster.
    pub error: Option<f64>,
    /// The 95 % interval of [`mean_interval()`] over clusters; `None` of a single one.
    pub interval: Option<Interval>,
}

/// The ratio of these numerators and denominators, one of each for every cluster; `None` where the
/// denominators make 0.
pub fn ratio(clusters: &[(f64, f64)]) -> Option<Ratio> {
    let (value, denominator) = of_sums(clusters)?;
    let n = clusters.len() as f64;
    let mut residuals = Accumulator::default();
    for residual in residuals_of(clusters, value, denominator) {
        residuals.add(residual);
    }
    let interval = mean_interval(&[residuals]);
    Some(Ratio {
        value,
        error: residuals
            .standard_deviation()
            .map(|spread| spread / n.sqrt()),
        interval: interval.map(|interval| interval.moved(value, 1.0)),
    })
}

/// Numbers, one of each cluster, whose mean is that ratio and which spread as it does: what a mean
/// over several ratios is made of. `None` where the denominators make 0.
pub fn as_numbers(clusters: &[(f64, f64)]) -> Option<Accumulator> {
    let (value, denominator) = of_sums(clusters)?;
    let mut numbers = Accumulator::default();
    for residual in residuals_of(clusters, value, denominator) {
        numbers.add(value + residual);
    }
    Some(numbers)
}

/// The ratio, and the sum of denominators.
fn of_sums(clusters: &[(f64, f64)]) -> Option<(f64, f64)> {
    let numerator: f64 = clusters.iter().map(|cluster| cluster.0).sum();
    let denominator: f64 = clusters.iter().map(|cluster| cluster.1).sum();
    (denominator != 0.0).then(|| (numerator / denominator, denominator))
}

/// How far each cluster moves the ratio; their mean is 0.
fn residuals_of(
    clusters: &[(f64, f64)],
    value: f64,
    denominator: f64,
) -> impl Iterator<Item = f64> {
    let n = clusters.len() as f64;
    let residuals = clusters.iter();
    residuals.map(move |(own, of)| (own - value * of) * n / denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_sessions_are_ratios_to_one() {
        let numbers = [1.0, 2.0, 4.0, 9.0];
        let own = ratio(&numbers.map(|number| (number, 1.0))).unwrap();
        let mut all = Accumulator::default();
        numbers.into_iter().for_each(|number| all.add(number));
        let expected = mean_interval(&[all]).unwrap();
        let interval = own.interval.unwrap();
        assert_eq!(own.value, 4.0);
        assert!((interval.low - expected.low).abs() < 1e-12);
        assert!((interval.high - expected.high).abs() < 1e-12);
    }

    #[test]
    fn numbers_of_unequal_clusters_have_the_ratio_as_their_mean() {
        let clusters = [(10.0, 2.0), (3.0, 1.0), (20.0, 5.0)];
        let numbers = as_numbers(&clusters).unwrap();
        let own = ratio(&clusters).unwrap();
        assert!((numbers.mean().unwrap() - own.value).abs() < 1e-12);
        let interval = mean_interval(&[numbers]).unwrap();
        assert!((interval.low - own.interval.unwrap().low).abs() < 1e-12);
        let sessions = [(1.0, 1.0), (4.0, 1.0)];
        assert_eq!(as_numbers(&sessions).unwrap().mean(), Some(2.5));
        assert_eq!(as_numbers(&[(1.0, 0.0)]), None);
    }

    #[test]
    fn a_ratio_to_nothing_is_none_and_one_cluster_has_no_interval() {
        assert_eq!(ratio(&[(1.0, 0.0)]), None);
        let one = ratio(&[(1.0, 2.0)]).unwrap();
        assert_eq!((one.value, one.interval, one.error), (0.5, None, None));
    }
}
