//! Rule players of the second-price auction: the rational one, which bids its private
//! value, and one that bids a part of it. They know no other's value. Made by the game.

use super::AuctionParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<AuctionParams>] = &[
    Strategy::new("equilibrium", "bids its private value", |_, request| {
        request.plays(|_, view, _| Action::Number(value(view)))
    }),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "shade",
        "bids a part of its private value: factor, 0 to 1 (default 0.9)",
        |_, request| {
            let factor = request.get_within("factor", SHADE, 0.0..=1.0)?;
            request.plays(move |_, view, _| Action::Number(factor * value(view)))
        },
    ),
];

/// The seat's private value, which every game begins with.
fn value(view: &View<'_>) -> f64 {
    let told = view.first("briefing");
    told.and_then(|sight| sight.number("private_value"))
        .unwrap_or(0.0)
}
