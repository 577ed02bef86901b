//! Rule players of the beauty contest: the rational one, which says 0, and level-k
//! reasoning from the last mean. They see what their seat sees. Made by the game.

use serde_json::{Map, Value};

use crate::arithmetic::smaller;
use crate::ask::{Action, Ask, Form};
use crate::chance::Generator;
use crate::games::beauty_contest::ContestParams;
use crate::rule::{Rule, StrategyError, StrategyInfo};
use crate::rules::common::{self, Always};
use crate::view::View;

/// The strategies of this game.
pub const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "equilibrium",
        summary: "0, which iterated elimination of dominated numbers leaves",
    },
    common::RANDOM,
    common::SPECIFIED,
    StrategyInfo {
        name: "level_k",
        summary: "believes that the others are level k-1, from the last mean it was told \
                  on: k (default 1)",
    },
];

/// Makes a strategy by name; `None` when this game does not know it.
pub fn make(
    params: &ContestParams,
    strategy: &str,
    settings: &Map<String, Value>,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    match strategy {
        "equilibrium" => common::plain(strategy, settings, Always(Action::Number(0.0))),
        "level_k" => common::made(common::level(settings).map(|k| LevelK {
            k,
            ratio: params.ratio,
        })),
        _ => common::make(strategy, settings),
    }
}

/// A level-k guesser (Nagel 1995): level 0 says the middle of the range, or the last
/// round's mean once there is one; level k answers k-1 best.
struct LevelK {
    k: u32,
    ratio: f64,
}

impl Rule for LevelK {
    fn act(&mut self, ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let told = view.latest("round_result");
        let last_mean = told.and_then(|sight| sight.number("mean"));
        let Form::Number { max, .. } = ask.form else {
            return Action::Number(0.0);
        };
        let anchor = last_mean.unwrap_or(max / 2.0);
        let steps = (0..self.k.min(MOST_STEPS)).fold(anchor, |number, _| number * self.ratio);
        Action::Number(smaller(steps, max))
    }
}

/// After so many steps any ratio below 1 that matters has led to 0.
const MOST_STEPS: u32 = 10_000;
