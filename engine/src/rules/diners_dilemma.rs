//! Rule players of Diner's Dilemma: one dish for ever, or an answer to what the
//! others ordered before. They see only their own seat's view. Made by the game.

use serde_json::{Map, Value};

use crate::ask::{Action, Ask};
use crate::chance::Generator;
use crate::games::diners_dilemma::{CHEAP, COSTLY, DinerParams};
use crate::rule::{Rule, StrategyError, StrategyInfo};
use crate::rules::common::{self, Always};
use crate::view::{Sight, View};

/// The strategies of this game.
pub const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "equilibrium",
        summary: "the dish that is better whatever the others order",
    },
    common::RANDOM,
    common::SPECIFIED,
    StrategyInfo {
        name: "cheap",
        summary: "always the cheap dish",
    },
    StrategyInfo {
        name: "costly",
        summary: "always the costly dish",
    },
    StrategyInfo {
        name: "tit_for_tat",
        summary: "starts cheap, then orders what most of the others did; cheap when even",
    },
    StrategyInfo {
        name: "grim",
        summary: "orders cheap until anybody else has ordered costly, costly from then on",
    },
];

/// Makes a strategy by name; `None` when this game does not know it.
pub fn make(
    params: &DinerParams,
    strategy: &str,
    settings: &Map<String, Value>,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    let always = |dish: &'static str| Always(Action::Choice(dish.into()));
    match strategy {
        "equilibrium" => common::plain(strategy, settings, always(params.dominant_dish())),
        "cheap" => common::plain(strategy, settings, always(CHEAP)),
        "costly" => common::plain(strategy, settings, always(COSTLY)),
        "tit_for_tat" => common::plain(strategy, settings, TitForTat),
        "grim" => common::plain(strategy, settings, Grim { provoked: false }),
        _ => common::make(strategy, settings),
    }
}

/// How many of the others ordered cheap and costly in a round.
fn others(sight: &Sight<'_>) -> Option<(i64, i64)> {
    let (cheap, costly) = (sight.integer("cheap")?, sight.integer("costly")?);
    let own_costly = sight.fact("dish")?.text() == Some(COSTLY);
    Some(if own_costly {
        (cheap, costly - 1)
    } else {
        (cheap - 1, costly)
    })
}

fn order(costly: bool) -> Action {
    Action::Choice(if costly { COSTLY } else { CHEAP }.into())
}

struct TitForTat;

impl Rule for TitForTat {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let last = view.latest("round_result").and_then(|sight| others(&sight));
        order(last.is_some_and(|(cheap, costly)| costly > cheap))
    }
}

struct Grim {
    provoked: bool,
}

impl Rule for Grim {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let last = view.latest("round_result").and_then(|sight| others(&sight));
        self.provoked |= last.is_some_and(|(_, costly)| costly > 0);
        order(self.provoked)
    }
}
