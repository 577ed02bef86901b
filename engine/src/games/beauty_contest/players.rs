//! Rule players of the beauty contest: the rational one, which says 0, and level-k
//! reasoning from the last mean. They see what their seat sees. Made by the game.

use super::ContestParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<ContestParams>] = &[
    Strategy::new(
        "equilibrium",
        "0, which iterated elimination of dominated numbers leaves",
        |_, request| request.always(Action::Number(0.0)),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "level_k",
        "believes that the others are level k-1, from the last mean it was told \
                  on: k (default 1)",
        |params, request| {
            let (k, ratio) = (request.get("k", LEVEL)?, params.ratio);
            request.plays(move |ask, view, _| Action::Number(level_k(k, ratio, ask, view)))
        },
    ),
];

/// After so many steps any ratio below 1 that matters has led to 0.
const MOST_STEPS: u32 = 10_000;

/// The number of a level-k player (Nagel 1995): level 0 says the middle of the range, or the
/// last round's mean once there is one; level k answers k-1 best.
fn level_k(k: u32, ratio: f64, ask: &Ask, view: &View<'_>) -> f64 {
    let told = view.latest("round_result");
    let last_mean = told.and_then(|sight| sight.number("mean"));
    let Form::Number { max, .. } = ask.form else {
        return 0.0;
    };
    let anchor = last_mean.unwrap_or(max / 2.0);
    let steps = (0..k.min(MOST_STEPS)).fold(anchor, |number, _| number * ratio);
    smaller(steps, max)
}
