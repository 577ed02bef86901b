//! Rule players of the ascending auction: the rational one, which stays at prices up to
//! its private value, and some whose limit is a part or a multiple of it. They know no
//! other's value. Made by the game.

use super::{AscendingParams, DROP, STAY};
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<AscendingParams>] = &[
    Strategy::new(
        "equilibrium",
        "stays at the prices up to its private value",
        |_, request| request.plays(|_, view, _| up_to(1.0, view)),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "shade",
        "stays up to a part of its private value: factor, 0 to 1 (default 0.9)",
        |_, request| {
            let factor = request.get_within("factor", SHADE, 0.0..=1.0)?;
            request.plays(move |_, view, _| up_to(factor, view))
        },
    ),
    Strategy::new(
        "overbid",
        "stays up to a multiple of its private value: factor, 1 to 100 (default 1.2)",
        |_, request| {
            let factor = request.get_within("factor", OVERBID, 1.0..=MOST_FACTOR)?;
            request.plays(move |_, view, _| up_to(factor, view))
        },
    ),
];

/// Largest multiple; more than any assets over a value that matters.
const MOST_FACTOR: f64 = 100.0;

/// Enough to buy at a loss now and then.
const OVERBID: f64 = 1.2;

/// Stays up to this part of its private value.
fn up_to(part: f64, view: &View<'_>) -> Action {
    let number = |sight: Option<Sight<'_>>, name| sight.and_then(|sight| sight.number(name));
    let value = number(view.first("briefing"), "private_value");
    let price = number(view.latest("price_called"), "price");
    // Every game begins with the seat's value, every round with a price.
    let stays = price.unwrap_or(0.0) <= part * value.unwrap_or(0.0);
    Action::Choice(if stays { STAY } else { DROP }.into())
}
