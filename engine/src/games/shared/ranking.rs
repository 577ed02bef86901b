//! Who comes first: the numbers closest to a target, and the best of sealed bids. What
//! the first one gets, each game says.

use super::columns::seats_where;
use crate::arithmetic::smaller;
use crate::ask::Seat;

/// Distances closer than this share of the largest number are the same distance.
const SAME_DISTANCE: f64 = 1e-12;

/// The seats whose number is closest to the target, in order, on either side of it.
/// `largest` is the largest number that can be said.
pub fn closest(choices: &[Option<f64>], target: f64, largest: f64) -> Vec<Seat> {
    let distance = |choice: &Option<f64>| choice.map(|number| (number - target).abs());
    let least = choices.iter().filter_map(distance).reduce(smaller);
    let Some(least) = least else {
        return Vec::new();
    };
    let slack = largest * SAME_DISTANCE;
    let is_close = |choice| distance(choice).is_some_and(|distance| distance <= least + slack);
    seats_where(choices.iter().map(is_close))
}

/// The best of sealed bids.
pub struct TopBids<T> {
    /// Whose bid is the highest: the lowest seat of equal ones.
    pub seat: Seat,
    /// Its bid.
    pub highest: T,
    /// The second highest, equal to the highest after a tie; `None` when nobody
    /// else bid.
    pub second: Option<T>,
}

/// The best of bids by seat; `None` when nobody bid.
pub fn top_bids<T: PartialOrd + Copy>(bids: impl Iterator<Item = Option<T>>) -> Option<TopBids<T>> {
    let mut best: Option<TopBids<T>> = None;
    for (seat, bid) in bids.enumerate() {
        let Some(bid) = bid else {
            continue;
        };
        best = Some(match best {
            Some(best) if bid <= best.highest => TopBids {
                second: best.second.filter(|second| *second >= bid).or(Some(bid)),
                ..best
            },
            beaten => TopBids {
                seat,
                highest: bid,
                second: beaten.map(|beaten| beaten.highest),
            },
        });
    }
    best
}
