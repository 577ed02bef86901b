//! Ranks that intervals leave open, from the best to the worst one. Called by the leaderboards of
//! suites, games and all games together.

use crate::statistics::Interval;
use crate::table::count;

/// From the best to the worst rank that these intervals leave open to one of them, in words.
pub(crate) fn rank(own: usize, all: &[Interval]) -> String {
    let others = || all.iter().enumerate().filter(|(place, _)| *place != own);
    let above = others().filter(|(_, other)| other.low > all[own].high);
    let perhaps = others().filter(|(_, other)| other.high > all[own].low);
    in_words(above.count() + 1, perhaps.count() + 1)
}

/// Ranks from one to the other, in words.
pub(crate) fn in_words(best: usize, worst: usize) -> String {
    let [first, last] = [best, worst].map(|rank| count(rank as u64));
    match best == worst {
        true => first,
        false => format!("{first}\u{2013}{last}"),
    }
}
