//! The normal distribution, by the error function of statrs. Called by the rank test of many pairs
//! and the noncentral t distribution.

use statrs::function::erf::erfc;

/// The share below `z`.
pub(super) fn normal_distribution(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}
