//! Gaussian kernel density with the bandwidth of Scott's rule (Scott 1992,
//! "Multivariate Density Estimation"), for distributions of winning bids.

use std::f64::consts::TAU;

use super::{StatisticsError, all_finite, at_least};
use crate::accumulator::Accumulator;

/// Density at each point of `at`, per unit of the data:
/// `1 / (n h sqrt(2 pi)) * sum exp(-((x - x_i) / h)^2 / 2)` with `h = s n^(-1/5)` and
/// `s` the sample standard deviation (n - 1). `None` where all data are the same:
/// there is no width then.
///
/// # Errors
/// Fewer than two data; a number is not finite, or their spread is not.
pub fn gaussian_density(data: &[f64], at: &[f64]) -> Result<Option<Vec<f64>>, StatisticsError> {
    at_least(2, data.len())?;
    all_finite(data)?;
    all_finite(at)?;
    let mut spread = Accumulator::default();
    for number in data {
        spread.add(*number);
    }
    let count = data.len() as f64;
    // Compared with the first one too: rounding may leave a trace of spread.
    let spread = spread.standard_deviation().unwrap_or_default();
    if spread == 0.0 || data.iter().all(|number| *number == data[0]) {
        return Ok(None);
    }
    let bandwidth = spread * count.powf(-0.2);
    let scale = 1.0 / (count * bandwidth * TAU.sqrt());
    let density = |point: &f64| {
        let kernels = data.iter().map(|number| {
            let distance = (point - number) / bandwidth;
            (-0.5 * distance * distance).exp()
        });
        scale * kernels.sum::<f64>()
    };
    let densities: Vec<f64> = at.iter().map(density).collect();
    let finite = bandwidth.is_finite() && densities.iter().all(|density| density.is_finite());
    finite
        .then_some(Some(densities))
        .ok_or(StatisticsError::Overflow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_below_it_is_one() {
        let data = [-3.0, 0.0, 0.5, 2.0, 2.0, 11.0];
        let step = 0.01;
        let at: Vec<f64> = (-6000..=7000)
            .map(|point| f64::from(point) * step)
            .collect();
        let densities = gaussian_density(&data, &at).unwrap().unwrap();
        let area: f64 = densities.iter().map(|density| density * step).sum();
        assert!((area - 1.0).abs() < 1e-9, "{area}");
    }

    #[test]
    fn data_without_spread_have_no_density() {
        assert_eq!(gaussian_density(&[0.1; 7], &[0.1]), Ok(None));
    }

    #[test]
    fn too_little_or_unusable_data_are_refused() {
        let too_few = |given| Err(StatisticsError::TooFew { least: 2, given });
        assert_eq!(gaussian_density(&[], &[1.0]), too_few(0));
        assert_eq!(gaussian_density(&[1.0], &[1.0]), too_few(1));
        assert_eq!(gaussian_density(&[1.0, 2.0], &[]), Ok(Some(Vec::new())));
        let not_finite = Err(StatisticsError::NotFinite);
        assert_eq!(gaussian_density(&[1.0, f64::NAN], &[1.0]), not_finite);
        assert_eq!(gaussian_density(&[1.0, 2.0], &[f64::INFINITY]), not_finite);
        let far_apart = gaussian_density(&[-f64::MAX, f64::MAX], &[0.0]);
        assert_eq!(far_apart, Err(StatisticsError::Overflow));
    }
}
