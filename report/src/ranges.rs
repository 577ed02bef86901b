//! Ranges that measures cannot leave, at which their intervals end. Knows nothing of who measures them.
//! Called by leaderboards, comparisons and figures.

use crate::statistics::Interval;

/// The scheme of scores in this range; those of the older scheme may be negative.
const SCORE: &str = "score iclr2025";

/// Of the scores of that scheme.
pub(crate) const OF_SCORES: (f64, f64) = (0.0, 100.0);

/// An interval of the mean of a measure, cut at the measure's range where that is known.
pub(crate) fn cut(interval: Interval, measure: &str) -> Interval {
    match measure {
        SCORE => interval.within(OF_SCORES),
        _ => interval,
    }
}

/// The same of a difference between two means.
pub(crate) fn cut_difference(interval: Interval, measure: &str) -> Interval {
    let (from, to) = OF_SCORES;
    match measure {
        SCORE => interval.within((from - to, to - from)),
        _ => interval,
    }
}
