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
            let bid = move |valuation| params.equilibrium_bid(valuation);
            request.plain(ByValuation(bid))
        },
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new("truthful", "bids its valuation", |_, request| {
        request.plain(ByValuation(|valuation| valuation))
    }),
    Strategy::new(
        "shade",
        "bids a part of its valuation, rounded: factor, 0 to 1 (default 0.9)",
        |_, request| {
            let factor = request.only_within("factor", SHADE, 0.0..=1.0)?;
            let bid = move |valuation| (valuation as f64 * factor).round() as i64;
            request.made(ByValuation(bid))
        },
    ),
];

/// Bids a function of its valuation.
struct ByValuation<F>(F);

impl<F: Fn(i64) -> i64 + Send + Sync> RulePlayer for ByValuation<F> {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let told = view
            .latest("valuation")
            .and_then(|sight| sight.integer("valuation"));
        // Each round begins with the seat's valuation.
        Action::Integer((self.0)(told.unwrap_or(0)))
    }
}
