//! Ranges that measures cannot leave, at which their intervals end. Knows nothing of who measures them.
//! Called by leaderboards, comparisons and figures.

use crate::statistics::Interval;

/// Of scores in percent.
pub(crate) const OF_SCORES: (f64, f64) = (0.0, 100.0);

/// The range of a measure; `None` where it is not known. Scores of gamma-Bench's older scheme and profits may
/// be negative.
fn range_of(measure: &str) -> Option<(f64, f64)> {
    match measure {
        "score iclr2025" | "score survival" => Some(OF_SCORES),
        "score win_rate" => Some((0.0, 1.0)),
        "score bid_share" | "score deviation" => Some((0.0, f64::INFINITY)),
        _ => None,
    }
}

/// An interval of the mean of a measure, cut at the measure's range where that is known.
pub(crate) fn cut(interval: Interval, measure: &str) -> Interval {
    range_of(measure).map_or(interval, |range| interval.within(range))
}

/// The same of a difference between two means.
pub(crate) fn cut_difference(interval: Interval, measure: &str) -> Interval {
    range_of(measure).map_or(interval, |(from, to)| {
        interval.within((from - to, to - from))
    })
}
