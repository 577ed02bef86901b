//! Rule players of the sealed-bid auction: bids from the seat's own valuation. They
//! never see another's, nor who wins ties. Made by the game.

use serde_json::{Map, Value};

use crate::ask::{Action, Ask};
use crate::chance::Generator;
use crate::games::sealed_bid_auction::AuctionParams;
use crate::rule::{Rule, StrategyError, StrategyInfo};
use crate::rules::common;
use crate::view::View;

/// The strategies of this game.
pub const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "equilibrium",
        summary: "its valuation at second price; shaded by one part in the number of bidders \
                  at first price",
    },
    common::RANDOM,
    common::SPECIFIED,
    StrategyInfo {
        name: "truthful",
        summary: "bids its valuation",
    },
    StrategyInfo {
        name: "shade",
        summary: "bids a part of its valuation, rounded: factor, 0 to 1 (default 0.9)",
    },
];

/// Makes a strategy by name; `None` when this game does not know it.
pub fn make(
    params: &AuctionParams,
    strategy: &str,
    settings: &Map<String, Value>,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    match strategy {
        "equilibrium" => {
            let params = params.clone();
            let bid = move |valuation| params.equilibrium_bid(valuation);
            common::plain(strategy, settings, ByValuation(bid))
        }
        "truthful" => common::plain(strategy, settings, ByValuation(|valuation| valuation)),
        "shade" => common::made(common::shade(settings).map(|factor| {
            ByValuation(move |valuation| (valuation as f64 * factor).round() as i64)
        })),
        _ => common::make(strategy, settings),
    }
}

/// Bids a function of its valuation.
struct ByValuation<F>(F);

impl<F: Fn(i64) -> i64 + Send> Rule for ByValuation<F> {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let told = view
            .latest("valuation")
            .and_then(|sight| sight.integer("valuation"));
        // Each round begins with the seat's valuation.
        Action::Integer((self.0)(told.unwrap_or(0)))
    }
}
