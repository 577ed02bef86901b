//! The noncentral t distribution: t of numbers whose mean is not 0. What the size of an effect and the
//! power of a test follow from (Johnson, Kotz and Balakrishnan 1995, "Continuous univariate
//! distributions 2", chapter 31).

use statrs::function::gamma::ln_gamma;

use super::normal::normal_distribution;

/// Steps of the integral over the standard deviation.
const STEPS: usize = 400;

/// How many standard deviations of that are integrated over, on either side.
const REACH: f64 = 10.0;

/// The share below `t` with `freedom` degrees of freedom and this noncentrality: the mean of the
/// normal share below `t s - noncentrality` over `s = sqrt(chi^2 / freedom)`, by Simpson's rule.
pub(super) fn noncentral_t(t: f64, freedom: f64, noncentrality: f64) -> f64 {
    let half = REACH / (2.0 * freedom).sqrt();
    let (from, to) = ((1.0 - half).max(0.0), 1.0 + half);
    let step = (to - from) / STEPS as f64;
    let v = freedom / 2.0;
    let scale = v * v.ln() - ln_gamma(v) + std::f64::consts::LN_2;
    let density = |s: f64| match s > 0.0 {
        true => (scale + (freedom - 1.0) * s.ln() - v * s * s).exp(),
        false if freedom == 1.0 => scale.exp(),
        false => 0.0,
    };
    let terms = (0..=STEPS).map(|place| {
        let s = from + step * place as f64;
        let weight = match place {
            0 | STEPS => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        weight * density(s) * normal_distribution(t * s - noncentrality)
    });
    (terms.sum::<f64>() * step / 3.0).clamp(0.0, 1.0)
}

/// Where a falling function is `wanted`, between two numbers, by halving.
pub(super) fn where_falling(
    wanted: f64,
    mut low: f64,
    mut high: f64,
    of: impl Fn(f64) -> f64,
) -> f64 {
    for _ in 0..60 {
        let middle = low + (high - low) / 2.0;
        if of(middle) > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    low + (high - low) / 2.0
}
