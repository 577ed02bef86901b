//! Rule players of the sealed-bid auction: bids from the seat's own valuation. They
//! never see another's, nor who wins ties. Made by the game.

use super::AuctionParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<AuctionParams>] = &[
    Strategy::new(
        "equilibrium",
        "its valuation at second price; shaded by one part in the number of bidders \
                  at first price",
        |params, request| {
            let params = params.clone();
            request
                .plays(move |_, view, _| Action::Integer(params.equilibrium_bid(valuation(view))))
        },
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new("truthful", "bids its valuation", |_, request| {
        request.plays(|_, view, _| Action::Integer(valuation(view)))
    }),
    Strategy::new(
        "shade",
        "bids a part of its valuation, rounded: factor, 0 to 1 (default 0.9)",
        |_, request| {
            let factor = request.get_within("factor", SHADE, 0.0..=1.0)?;
            request.plays(move |_, view, _| {
                Action::Integer((valuation(view) as f64 * factor).round() as i64)
            })
        },
    ),
];

/// The seat's valuation, which every round begins with.
fn valuation(view: &View<'_>) -> i64 {
    let told = view.latest("valuation");
    told.and_then(|sight| sight.integer("valuation"))
        .unwrap_or(0)
}
