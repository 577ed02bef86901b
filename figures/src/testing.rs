//! Made-up figures of every kind and of hard sizes, for tests and for the gallery, which includes
//! this file by its path. Numbers come from a small generator, the same every time.

#[cfg(test)]
use crate as agon_figures;

#[path = "testing/categories.rs"]
mod categories;
#[path = "testing/curves.rs"]
mod curves;
#[path = "testing/hard.rs"]
mod hard;
#[path = "testing/matrices.rs"]
mod matrices;
#[path = "testing/numbers.rs"]
pub mod numbers;
#[cfg(test)]
#[path = "testing/random.rs"]
pub mod random;
#[path = "testing/samples.rs"]
mod samples;

use agon_figures::Figure;

/// A file name and its figure, one of every kind and hard case.
pub fn all() -> Vec<(&'static str, Figure)> {
    let mut all = Vec::new();
    all.extend(curves::all());
    all.extend(categories::all());
    all.extend(samples::all());
    all.extend(matrices::all());
    all.extend(hard::all());
    all
}
