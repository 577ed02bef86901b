//! How far an inferred persona profile is from the true one (Harbor, "Exploring Persona
//! Dynamics in Multi-Agent Competition", profiling error): the Kullback-Leibler
//! divergence of the true distribution from the inferred one, in nats.

use super::{StatisticsError, all_finite, at_least, same_length};

/// `sum p ln(p / q)` in nats, never negative.
///
/// `truth` holds one share per persona, not negative (one-hot, or 1/2 and 1/2 for a
/// mix of two); `weights` one weight per persona in [-1, 1]. Weights are shifted by +1
/// to be not negative. `epsilon` is added to every share and every shifted weight, so
/// that a persona ruled out by mistake costs much and not infinitely much; then both
/// are divided by their sums to `p` and `q`.
///
/// Weights that are all the same give the uniform baseline, ln of the number of
/// personas for a one-hot truth.
///
/// # Errors
/// No persona; lengths differ; a number is not finite; a share is negative or all are
/// 0; a weight is outside [-1, 1]; `epsilon` is not above 0.
pub fn persona_divergence(
    truth: &[f64],
    weights: &[f64],
    epsilon: f64,
) -> Result<f64, StatisticsError> {
    same_length(truth.len(), weights.len())?;
    at_least(1, truth.len())?;
    all_finite(truth)?;
    all_finite(weights)?;
    all_finite(&[epsilon])?;
    let within = epsilon > 0.0
        && truth.iter().all(|share| *share >= 0.0)
        && truth.iter().any(|share| *share > 0.0)
        && weights.iter().all(|weight| (-1.0..=1.0).contains(weight));
    if !within {
        return Err(StatisticsError::OutOfRange);
    }
    let truth = normalised(truth.iter().map(|share| share + epsilon));
    let inferred = normalised(weights.iter().map(|weight| weight + 1.0 + epsilon));
    let terms = truth
        .iter()
        .zip(&inferred)
        .filter(|(share, _)| **share > 0.0)
        .map(|(share, inferred)| share * (share / inferred).ln());
    let divergence: f64 = terms.sum();
    if !divergence.is_finite() {
        return Err(StatisticsError::Overflow);
    }
    // Rounding may leave a trace below 0 where both are the same.
    Ok(divergence.max(0.0))
}

/// Divided by their sum.
fn normalised(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let numbers: Vec<f64> = numbers.collect();
    let sum: f64 = numbers.iter().sum();
    numbers.into_iter().map(|number| number / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPSILON: f64 = 1e-9;

    fn one_hot(personas: usize) -> Vec<f64> {
        let mut truth = vec![0.0; personas];
        truth[0] = 1.0;
        truth
    }

    #[test]
    fn equal_weights_are_as_good_as_the_uniform_baseline() {
        for weight in [-1.0, 0.0, 1.0] {
            let single = persona_divergence(&one_hot(10), &[weight; 10], EPSILON).unwrap();
            assert!((single - 10f64.ln()).abs() < 1e-6, "{weight}: {single}");
        }
        let mut mix = one_hot(10);
        mix[1] = 1.0;
        let mix = persona_divergence(&mix, &[0.0; 10], EPSILON).unwrap();
        assert!((mix - 5f64.ln()).abs() < 1e-6, "{mix}");
    }

    #[test]
    fn the_right_profile_costs_nothing_and_a_wrong_one_is_finite() {
        let mut weights = [-1.0; 10];
        weights[0] = 1.0;
        let right = persona_divergence(&one_hot(10), &weights, EPSILON).unwrap();
        assert!((0.0..1e-6).contains(&right), "{right}");
        weights.rotate_right(1);
        let wrong = persona_divergence(&one_hot(10), &weights, EPSILON).unwrap();
        assert!(wrong > 10.0 && wrong.is_finite(), "{wrong}");
        assert_eq!(persona_divergence(&[1.0], &[0.3], EPSILON), Ok(0.0));
    }

    #[test]
    fn what_is_no_profile_is_refused() {
        use StatisticsError::{Lengths, NotFinite, OutOfRange, TooFew};
        let refused = [
            (&[][..], &[][..], EPSILON, TooFew { least: 1, given: 0 }),
            (&[1.0], &[], EPSILON, Lengths { left: 1, right: 0 }),
            (&[0.0, 0.0], &[0.0, 0.0], EPSILON, OutOfRange),
            (&[2.0, -1.0], &[0.0, 0.0], EPSILON, OutOfRange),
            (&[1.0, 0.0], &[0.0, 1.5], EPSILON, OutOfRange),
            (&[1.0, 0.0], &[0.0, 1.0], 0.0, OutOfRange),
            (&[1.0, 0.0], &[0.0, f64::NAN], EPSILON, NotFinite),
            (&[1.0, 0.0], &[0.0, 0.0], f64::INFINITY, NotFinite),
        ];
        for (truth, weights, epsilon, error) in refused {
            assert_eq!(persona_divergence(truth, weights, epsilon), Err(error));
        }
        let huge = persona_divergence(&[f64::MAX, f64::MAX], &[0.0, 0.0], EPSILON);
        assert!(huge.is_err() || huge.unwrap().is_finite());
    }
}
