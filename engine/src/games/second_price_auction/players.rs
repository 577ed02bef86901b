//! Rule players of the second-price auction: the rational one, which bids its private
//! value, and one that bids a part of it. They know no other's value. Made by the game.

use super::AuctionParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<AuctionParams>] = &[
    Strategy::new("equilibrium", "bids its private value", |_, request| {
        request.plain(Part(1.0))
    }),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "shade",
        "bids a part of its private value: factor, 0 to 1 (default 0.9)",
        |_, request| {
            let factor = request.only_within("factor", SHADE, 0.0..=1.0)?;
            request.made(Part(factor))
        },
    ),
];

/// Bids this part of its private value.
struct Part(f64);

impl RulePlayer for Part {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let told = view.first("briefing");
        let value = told.and_then(|sight| sight.number("private_value"));
        // Every game begins with the seat's value.
        Action::Number(self.0 * value.unwrap_or(0.0))
    }
}
