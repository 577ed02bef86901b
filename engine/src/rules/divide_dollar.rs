//! Rule players of Divide the Dollar: fixed bids, and one that follows the last sum.
//! They see only their own seat's view. Made by the game.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ask::{Action, Ask, Seat};
use crate::chance::Generator;
use crate::games::divide_dollar::DollarParams;
use crate::rule::{Rule, StrategyError, StrategyInfo};
use crate::rules::common::{self, Always};
use crate::view::View;

/// The strategies of this game.
pub const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "equilibrium",
        summary: "an even share; the first seats take what does not divide",
    },
    common::RANDOM,
    common::SPECIFIED,
    StrategyInfo {
        name: "greedy",
        summary: "bids all of the gold",
    },
    StrategyInfo {
        name: "dominant",
        summary: "always bids the same large amount: bid = .. (91 percent of the gold)",
    },
    StrategyInfo {
        name: "adaptive",
        summary: "starts with an even share, then scales its bid so that the last sum would fit",
    },
];

/// What the paper's one scripted player asks for, in percent of the gold.
const DOMINANT_PERCENT: i64 = 91;

/// Makes a strategy by name; `None` when this game does not know it.
pub fn make(
    params: &DollarParams,
    strategy: &str,
    settings: &Map<String, Value>,
    seat: Seat,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    let bids = |bid| Always(Action::Integer(bid));
    match strategy {
        "equilibrium" => common::plain(strategy, settings, bids(params.even_share(seat))),
        "greedy" => common::plain(strategy, settings, bids(params.golds)),
        "dominant" => common::made(dominant_bid(params, settings).map(bids)),
        "adaptive" => {
            let (golds, first) = (params.golds, params.even_share(seat));
            common::plain(strategy, settings, Adaptive { golds, first })
        }
        _ => common::make(strategy, settings),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DominantSettings {
    bid: Option<i64>,
}

fn dominant_bid(
    params: &DollarParams,
    settings: &Map<String, Value>,
) -> Result<i64, StrategyError> {
    let DominantSettings { bid } = common::read_settings("dominant", settings)?;
    let bid = bid.unwrap_or(params.golds * DOMINANT_PERCENT / 100);
    if (0..=params.golds).contains(&bid) {
        return Ok(bid);
    }
    Err(StrategyError::Settings {
        name: "dominant".to_owned(),
        message: format!("bid must be from 0 to {}, not {bid}", params.golds),
    })
}

/// Scales its last bid by what the last sum missed the gold by. When all adapt,
/// sums meet the gold at once, whatever the bids were.
struct Adaptive {
    golds: i64,
    first: i64,
}

impl Rule for Adaptive {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let last = view.latest("round_result").and_then(|sight| {
            let total = sight.integer("total")?;
            Some((sight.integer("bid")?, total))
        });
        let bid = match last {
            Some((bid, total)) if total > 0 => {
                let scaled = i128::from(bid) * i128::from(self.golds) / i128::from(total);
                (scaled as i64).clamp(0, self.golds)
            }
            _ => self.first,
        };
        Action::Integer(bid)
    }
}
