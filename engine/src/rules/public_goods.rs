//! Rule players of Public Goods: fixed contributions, and answers to what the
//! others put in before. They see only their own seat's view. Made by the game.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ask::{Action, Ask};
use crate::chance::Generator;
use crate::games::public_goods::GoodsParams;
use crate::rule::{Rule, StrategyError, StrategyInfo};
use crate::rules::common::{self, Always};
use crate::view::View;

/// The strategies of this game.
pub const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "equilibrium",
        summary: "nothing, or everything where the ratio exceeds the number of players",
    },
    common::RANDOM,
    common::SPECIFIED,
    StrategyInfo {
        name: "free_rider",
        summary: "puts in nothing",
    },
    StrategyInfo {
        name: "full",
        summary: "puts in everything",
    },
    StrategyInfo {
        name: "tit_for_tat",
        summary: "starts with everything, then puts in what the others did on average",
    },
    StrategyInfo {
        name: "conditional",
        summary: "puts in a part of what the others did on average: \
                  share = .. (0.8), start = .. (0.5 of the tokens)",
    },
];

/// Makes a strategy by name; `None` when this game does not know it.
pub fn make(
    params: &GoodsParams,
    strategy: &str,
    settings: &Map<String, Value>,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    let tokens = params.tokens;
    let always = |given| Always(Action::Integer(given));
    match strategy {
        "equilibrium" => common::plain(
            strategy,
            settings,
            always(params.equilibrium_contribution()),
        ),
        "free_rider" => common::plain(strategy, settings, always(0)),
        "full" => common::plain(strategy, settings, always(tokens)),
        "tit_for_tat" => {
            let rule = Matching {
                tokens,
                start: 1.0,
                share: 1.0,
            };
            common::plain(strategy, settings, rule)
        }
        "conditional" => common::made(conditional(tokens, settings)),
        _ => common::make(strategy, settings),
    }
}

/// Puts in a share of what the others put in on average last time.
struct Matching {
    tokens: i64,
    start: f64,
    share: f64,
}

/// Most people match the others imperfectly (Fischbacher, Gaechter, Fehr 2001),
/// which is why contributions decay; the default is of that size.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ConditionalSettings {
    share: f64,
    start: f64,
}

impl Default for ConditionalSettings {
    fn default() -> Self {
        Self {
            share: 0.8,
            start: 0.5,
        }
    }
}

fn conditional(tokens: i64, settings: &Map<String, Value>) -> Result<Matching, StrategyError> {
    let name = "conditional";
    let ConditionalSettings { share, start } = common::read_settings(name, settings)?;
    common::check_share(name, "share", share)?;
    common::check_share(name, "start", start)?;
    Ok(Matching {
        tokens,
        start,
        share,
    })
}

impl Rule for Matching {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let last = view.latest("round_result");
        let given = match last.and_then(|sight| sight.integers("contributions")) {
            Some(all) => self.share * average_of_others(all, view.seat()),
            None => self.start * self.tokens as f64,
        };
        Action::Integer((given.round() as i64).clamp(0, self.tokens))
    }
}

fn average_of_others(all: &[i64], seat: usize) -> f64 {
    let others = all.iter().enumerate().filter(|(other, _)| *other != seat);
    crate::measures::mean(others.map(|(_, given)| *given as f64))
}
