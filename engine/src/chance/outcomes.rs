//! Chance for whoever works out what could happen: runs a step once for everything that
//! its draws can come to. Sessions never use it.

use super::{Chance, Law, Luck, Source};
use crate::event::Value;

/// One path through the draws of a step.
#[derive(Debug, Clone)]
pub(super) struct Path {
    /// Which outcome each draw takes, in order; the first one past the end.
    places: Vec<usize>,
    /// How many outcomes the draws had that were made.
    widths: Vec<usize>,
    probability: f64,
    most: usize,
    /// Set when a draw has more than `most` outcomes.
    is_too_wide: bool,
}

impl Path {
    /// The next outcome; `None` when there are too many to list.
    pub(super) fn take(&mut self, law: &Law<'_>) -> Option<Value> {
        let Some(mut outcomes) = law.outcomes(self.most) else {
            self.is_too_wide = true;
            return None;
        };
        let place = self.places.get(self.widths.len()).copied().unwrap_or(0);
        self.widths.push(outcomes.len());
        let (value, probability) = outcomes.swap_remove(place);
        self.probability *= probability;
        Some(value)
    }

    /// The places of the next path, the last draw changing fastest.
    fn next(&self) -> Option<Vec<usize>> {
        let place = |draw: usize| self.places.get(draw).copied().unwrap_or(0);
        let last = (0..self.widths.len()).rfind(|draw| place(*draw) + 1 < self.widths[*draw])?;
        let before = (0..last).map(place);
        Some(before.chain([place(last) + 1]).collect())
    }
}

impl Chance {
    /// Everything that chance can do to a step, with its probability: `step` is run once for
    /// each combination of outcomes of the draws that it makes. `None` when there are more
    /// than `most`, or one draw alone has more.
    pub fn every_outcome<T>(
        most: usize,
        mut step: impl FnMut(&mut Self) -> T,
    ) -> Option<Vec<(T, f64)>> {
        let mut all = Vec::new();
        let mut places = Some(Vec::new());
        while let Some(next) = places {
            let path = Path {
                places: next,
                widths: Vec::new(),
                probability: 1.0,
                most,
                is_too_wide: false,
            };
            let mut chance = Self {
                source: Source::Listed(path),
                ..Self::seeded(Luck::new(0, 0))
            };
            let outcome = step(&mut chance);
            let Source::Listed(path) = chance.source else {
                return None;
            };
            if path.is_too_wide || all.len() == most {
                return None;
            }
            all.push((outcome, path.probability));
            places = path.next();
        }
        Some(all)
    }
}
