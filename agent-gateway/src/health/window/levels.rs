//! How fast answers came at each size of a window lately, and whether a larger
//! one brings anything. What counts is what more places gain, because a server
//! that batches is slower with each of them and gets more done all the same.
//! Called by `window.rs`.

use std::collections::BTreeMap;

/// Sizes that differ by less than a tenth are one level.
const LEVEL_RATIO: f64 = 1.1;
/// Levels are compared with one that is smaller by at least this, so that what
/// more places bring stands out from chance.
const CONTRAST: f64 = 1.35;
/// Of what a larger window adds, this part at least must be lost in longer
/// answers before it counts as useless. 0: answers are as fast as before; 1: all
/// of it waits inside the server.
const LOST: f64 = 0.75;
/// The newest round of a level counts as much as all before it.
const NEWEST: f64 = 0.5;
/// What a round found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WindowLevel {
    pub(super) size: f64,
    /// How long an answer of usual length took.
    pub(super) seconds: f64,
}

/// What rounds found lately.
#[derive(Debug, Default)]
pub(super) struct WindowLevels(BTreeMap<i32, WindowLevel>);

/// Whether what `high` has more than `low` is lost in longer answers.
pub(super) fn brings_nothing(low: &WindowLevel, high: &WindowLevel) -> bool {
    let slower = (high.seconds / low.seconds).ln();
    let larger = (high.size / low.size).ln();
    larger > 0.0 && slower >= LOST * larger
}

impl WindowLevels {
    pub(super) fn note(&mut self, found: WindowLevel) {
        let level = self.0.entry(index(found.size)).or_insert(found);
        level.size = found.size;
        let before = level.seconds;
        level.seconds = before + NEWEST * (found.seconds - before);
    }

    /// Whether a smaller window would get as much done; absent: not known.
    pub(super) fn brings_nothing(&self, level: &WindowLevel) -> Option<bool> {
        self.below(level).map(|low| brings_nothing(&low, level))
    }

    /// The next smaller level that stands out from this one.
    pub(super) fn below(&self, level: &WindowLevel) -> Option<WindowLevel> {
        let highest = index(level.size / CONTRAST);
        let low = self.0.range(..=highest).next_back();
        low.map(|(_, low)| *low)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

fn index(size: f64) -> i32 {
    (size.ln() / LEVEL_RATIO.ln()).round() as i32
}
