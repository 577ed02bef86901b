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
            let (k, params) = (request.get("k", LEVEL)?, params.clone());
            request.plays(move |_, view, _| Action::Integer(level_k(k, &params, view)))
        },
    ),
];

/// The guess of a level-k player (Nagel 1995): level 0 says the middle of the range, or the
/// last round's mean once there is one; level k answers k-1 best.
fn level_k(k: u32, params: &GuessParams, view: &View<'_>) -> i64 {
    let last = view.latest("round_result");
    let last_mean = last.and_then(|sight| sight.number("mean"));
    let (low, high) = (params.min as f64, params.max as f64);
    let guess = last_mean.unwrap_or((low + high) / 2.0) * power(params.ratio, k);
    smaller(larger(guess, low), high).round() as i64
}
