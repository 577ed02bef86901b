//! Statistics over plain numbers: intervals of means, ratings, rank correlation, divergence of personas,
//! paired tests, density, quartiles, slopes, failure rates. Pure functions that know no game and no
//! record. What cannot be computed is an error or `None`, never a NaN, never a panic.

pub mod aggregate;
pub mod agreement;
pub mod bootstrap;
mod chance;
pub mod density;
pub mod effect;
pub mod failure_rate;
pub mod holm;
pub mod interval;
pub mod mean_interval;
mod noncentral_t;
mod normal;
pub mod paired_t;
pub mod persona_divergence;
pub mod prediction;
pub mod quartiles;
mod ranks;
pub mod ratio;
pub mod sign_flip;
pub mod slope;
pub mod spearman;
pub mod strength;
pub mod trueskill;
pub mod wilcoxon;
pub mod wilson;

pub use density::gaussian_density;
pub use effect::{Effect, detectable_effect, paired_effect, pairs_needed, power, superiority};
pub use failure_rate::corrected_failure_rate;
pub use holm::holm;
pub use interval::Interval;
pub use mean_interval::mean_interval;
pub use paired_t::paired_t_test;
pub use persona_divergence::persona_divergence;
pub use prediction::{Prediction, predicted_total};
pub use quartiles::{Quartiles, quartiles};
pub use ratio::{Ratio, as_numbers, ratio};
pub use sign_flip::{sampled_sign_flip_test, sign_flip_test};
pub use slope::slope;
pub use spearman::{Correlation, spearman};
pub use trueskill::Rating;
pub use wilcoxon::wilcoxon_test;
pub use wilson::wilson_interval;

/// Why a statistic has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StatisticsError {
    /// There are too few numbers.
    #[error("{given} given, at least {least} needed")]
    TooFew {
        /// How many it takes.
        least: usize,
        /// How many there were.
        given: usize,
    },
    /// There are more numbers than an exact computation can take.
    #[error("{given} given, at most {most} can be computed exactly")]
    TooMany {
        /// How many it can take.
        most: usize,
        /// How many there were.
        given: usize,
    },
    /// Columns that belong together differ in length.
    #[error("columns of {left} and {right} numbers do not belong together")]
    Lengths {
        /// Length of the first.
        left: usize,
        /// Length of the second.
        right: usize,
    },
    /// A number is not finite.
    #[error("a number is missing or infinite")]
    NotFinite,
    /// A number is outside the range that the definition names.
    #[error("a number is outside of its range")]
    OutOfRange,
    /// The numbers are finite, the result is not.
    #[error("the numbers are too far apart to compute with")]
    Overflow,
}

/// Refuses numbers that are not finite.
fn all_finite(numbers: &[f64]) -> Result<(), StatisticsError> {
    let finite = numbers.iter().all(|number| number.is_finite());
    finite.then_some(()).ok_or(StatisticsError::NotFinite)
}

/// Refuses fewer numbers than needed.
fn at_least(least: usize, given: usize) -> Result<(), StatisticsError> {
    let enough = given >= least;
    enough
        .then_some(())
        .ok_or(StatisticsError::TooFew { least, given })
}

/// Refuses more numbers than can be computed exactly.
fn at_most(most: usize, given: usize) -> Result<(), StatisticsError> {
    let few = given <= most;
    few.then_some(())
        .ok_or(StatisticsError::TooMany { most, given })
}

/// Refuses columns of different lengths.
fn same_length(left: usize, right: usize) -> Result<(), StatisticsError> {
    (left == right)
        .then_some(())
        .ok_or(StatisticsError::Lengths { left, right })
}

/// Differences `a - b` of pairs, at least one.
fn differences(a: &[f64], b: &[f64]) -> Result<Vec<f64>, StatisticsError> {
    same_length(a.len(), b.len())?;
    at_least(1, a.len())?;
    all_finite(a)?;
    all_finite(b)?;
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let sum: f64 = differences.iter().map(|difference| difference.abs()).sum();
    sum.is_finite()
        .then_some(differences)
        .ok_or(StatisticsError::Overflow)
}
