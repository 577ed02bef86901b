//! Rule players of Public Goods: fixed contributions, and answers to what the
//! others put in before. They see only their own seat's view. Made by the game.

use super::GoodsParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<GoodsParams>] = &[
    Strategy::new(
        "equilibrium",
        "nothing, or everything where the ratio exceeds the number of players",
        |params, request| request.always(Action::Integer(params.equilibrium_contribution())),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new("free_rider", "puts in nothing", |_, request| {
        request.always(Action::Integer(0))
    }),
    Strategy::new("full", "puts in everything", |params, request| {
        request.always(Action::Integer(params.tokens))
    }),
    Strategy::new(
        "tit_for_tat",
        "starts with everything, then puts in what the others did on average",
        |params, request| {
            let tokens = params.tokens;
            request.plays(move |_, view, _| matching(tokens, 1.0, 1.0, view))
        },
    ),
    Strategy::new(
        "conditional",
        "puts in a part of what the others did on average: \
                  share = .. (0.8), start = .. (0.5 of the tokens)",
        |params, request| {
            let tokens = params.tokens;
            let share = request.get_within("share", SHARE, 0.0..=1.0)?;
            let start = request.get_within("start", 0.5, 0.0..=1.0)?;
            request.plays(move |_, view, _| matching(tokens, share, start, view))
        },
    ),
];

/// Most people match the others imperfectly (Fischbacher, Gaechter, Fehr 2001),
/// which is why contributions decay; the share is of that size.
const SHARE: f64 = 0.8;

/// Puts in a share of what the others put in on average last time.
fn matching(tokens: i64, share: f64, start: f64, view: &View<'_>) -> Action {
    let last = view.latest("round_result");
    let given = match last.and_then(|sight| sight.integers("contributions")) {
        Some(all) => share * average_of_others(all, view.seat()),
        None => start * tokens as f64,
    };
    Action::Integer((given.round() as i64).clamp(0, tokens))
}

fn average_of_others(all: &[i64], seat: usize) -> f64 {
    let others = all.iter().enumerate().filter(|(other, _)| *other != seat);
    mean(others.map(|(_, given)| *given as f64))
}
