//! Rule players of the second-price auction: the rational one, which bids its private
//! value, and one that bids a part of it. They know no other's value. Made by the game.

use serde_json::{Map, Value};

use crate::ask::{Action, Ask};
use crate::chance::Generator;
use crate::rule::{Rule, StrategyError, StrategyInfo};
use crate::rules::common;
use crate::view::View;

/// The strategies of this game.
pub const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "equilibrium",
        summary: "bids its private value",
    },
    common::RANDOM,
    common::SPECIFIED,
    StrategyInfo {
        name: "shade",
        summary: "bids a part of its private value: factor, 0 to 1 (default 0.9)",
    },
];

/// Makes a strategy by name; `None` when this game does not know it.
pub fn make(
    strategy: &str,
    settings: &Map<String, Value>,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    match strategy {
        "equilibrium" => common::plain(strategy, settings, Part(1.0)),
        "shade" => common::made(common::shade(settings).map(Part)),
        _ => common::make(strategy, settings),
    }
}

/// Bids this part of its private value.
struct Part(f64);

impl Rule for Part {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let told = view.first("briefing");
        let value = told.and_then(|sight| sight.number("private_value"));
        // Every game begins with the seat's value.
        Action::Number(self.0 * value.unwrap_or(0.0))
    }
}
