//! Rule players of Divide the Dollar: fixed bids, and one that follows the last sum.
//! They see only their own seat's view. Made by the game.

use super::DollarParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<DollarParams>] = &[
    Strategy::new(
        "equilibrium",
        "an even share; the first seats take what does not divide",
        |params, request| request.always(Action::Integer(params.even_share(request.seat))),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new("greedy", "bids all of the gold", |params, request| {
        request.always(Action::Integer(params.golds))
    }),
    Strategy::new(
        "dominant",
        "always bids the same large amount: bid = .. (91 percent of the gold)",
        |params, request| {
            let bid = params.golds * DOMINANT_PERCENT / 100;
            let bid = request.get_within("bid", bid, 0..=params.golds)?;
            request.always(Action::Integer(bid))
        },
    ),
    Strategy::new(
        "adaptive",
        "starts with an even share, then scales its bid so that the last sum would fit",
        |params, request| {
            let (golds, first) = (params.golds, params.even_share(request.seat));
            request.plays(move |_, view, _| Action::Integer(scaled(golds, view).unwrap_or(first)))
        },
    ),
];

/// What the paper's one scripted player asks for, in percent of the gold.
const DOMINANT_PERCENT: i64 = 91;

/// The last bid, scaled by what the last sum missed the gold by. When all do so, sums meet
/// the gold at once, whatever the bids were.
fn scaled(golds: i64, view: &View<'_>) -> Option<i64> {
    let last = view.latest("round_result")?;
    let total = last.integer("total").filter(|total| *total > 0)?;
    let scaled = i128::from(last.integer("bid")?) * i128::from(golds) / i128::from(total);
    Some((scaled as i64).clamp(0, golds))
}
