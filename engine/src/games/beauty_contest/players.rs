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
            request.made(LevelK {
                k: request.only("k", LEVEL)?,
                ratio: params.ratio,
            })
        },
    ),
];

/// A level-k guesser (Nagel 1995): level 0 says the middle of the range, or the last
/// round's mean once there is one; level k answers k-1 best.
struct LevelK {
    k: u32,
    ratio: f64,
}

impl RulePlayer for LevelK {
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
