//! Rule players of the guessing game: the number that theory leaves, and level-k
//! reasoning from the last mean. What theory says is the game's, which makes them.

use serde_json::{Map, Value};

use crate::arithmetic::{larger, power, smaller};
use crate::ask::{Action, Ask};
use crate::chance::Generator;
use crate::games::guess_two_thirds::GuessParams;
use crate::rule::{Rule, StrategyError, StrategyInfo};
use crate::rules::common::{self, Always};
use crate::view::View;

/// The strategies of this game.
pub const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "equilibrium",
        summary: "the number that iterated elimination of dominated guesses leaves",
    },
    common::RANDOM,
    common::SPECIFIED,
    StrategyInfo {
        name: "level_k",
        summary: "believes that the others are level k-1, from the last mean on: k (default 1)",
    },
];

/// Makes a strategy by name; `None` when this game does not know it.
pub fn make(
    params: &GuessParams,
    strategy: &str,
    settings: &Map<String, Value>,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    match strategy {
        "equilibrium" => {
            let number = params.equilibrium_number();
            common::plain(strategy, settings, Always(Action::Integer(number)))
        }
        "level_k" => common::made(common::level(settings).map(|k| LevelK {
            k,
            ratio: params.ratio,
            low: params.min,
            high: params.max,
        })),
        _ => common::make(strategy, settings),
    }
}

/// A level-k guesser (Nagel 1995): level 0 says the middle of the range, or the
/// last round's mean once there is one; level k answers k-1 best.
struct LevelK {
    k: u32,
    ratio: f64,
    low: i64,
    high: i64,
}

impl Rule for LevelK {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let last_mean = view
            .latest("round_result")
            .and_then(|sight| sight.number("mean"));
        let anchor = last_mean.unwrap_or((self.low + self.high) as f64 / 2.0);
        let guess = anchor * power(self.ratio, self.k);
        let bounded = smaller(larger(guess, self.low as f64), self.high as f64);
        Action::Integer(bounded.round() as i64)
    }
}
