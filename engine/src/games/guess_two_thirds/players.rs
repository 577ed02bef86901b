//! Rule players of the guessing game: the number that theory leaves, and level-k
//! reasoning from the last mean. What theory says is the game's, which makes them.

use super::GuessParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<GuessParams>] = &[
    Strategy::new(
        "equilibrium",
        "the number that iterated elimination of dominated guesses leaves",
        |params, request| request.always(Action::Integer(params.equilibrium_number())),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "level_k",
        "believes that the others are level k-1, from the last mean on: k (default 1)",
        |params, request| {
            request.made(LevelK {
                k: request.only("k", LEVEL)?,
                ratio: params.ratio,
                low: params.min,
                high: params.max,
            })
        },
    ),
];

/// A level-k guesser (Nagel 1995): level 0 says the middle of the range, or the
/// last round's mean once there is one; level k answers k-1 best.
struct LevelK {
    k: u32,
    ratio: f64,
    low: i64,
    high: i64,
}

impl RulePlayer for LevelK {
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
