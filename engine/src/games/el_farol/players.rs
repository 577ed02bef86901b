//! Rule players of the El Farol bar. In implicit mode a seat that stayed at home
//! knows nothing of that evening, and its rule player neither. Made by the game.

use super::{BarParams, GO, STAY};
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<BarParams>] = &[
    Strategy::new(
        "equilibrium",
        "goes when the bar holds all seats up to its own, otherwise stays",
        |params, request| request.always(choice(request.seat < params.capacity())),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "mixed",
        "goes with a probability: probability = .. (the ratio)",
        |params, request| {
            let probability = request.get_within("probability", params.ratio, 0.0..=1.0)?;
            request.plays(move |_, _, luck| choice(luck.unit() < probability))
        },
    ),
    Strategy::new(
        "contrarian",
        "goes when it saw the last evening crowded, stays when it saw it good; \
                  goes with probability ratio when it saw nothing",
        |params, request| {
            let ratio = params.ratio;
            request.plays(move |_, view, luck| {
                choice(last_was_good(view).map_or_else(|| luck.unit() < ratio, |good| !good))
            })
        },
    ),
    Strategy::new(
        "follower",
        "goes when it saw the last evening good, stays when it saw it crowded; \
                  goes with probability ratio when it saw nothing",
        |params, request| {
            let ratio = params.ratio;
            request.plays(move |_, view, luck| {
                choice(last_was_good(view).unwrap_or_else(|| luck.unit() < ratio))
            })
        },
    ),
    // One of the predictors of Arthur (1994): expects the mean of the last shares it saw.
    // Goes until it has seen one.
    Strategy::new(
        "averaging",
        "goes when the mean of the last shares that it saw fits the bar: window = .. (3)",
        |params, request| {
            let (ratio, window) = (params.ratio, request.get("window", 3)?);
            if window == 0 {
                return Err(request.wrong("window must be at least 1"));
            }
            request.plays(move |_, view, _| {
                let seen = view.of_kind("bar_report").rev().take(window);
                choice(mean(seen.filter_map(|report| report.number("share"))) <= ratio)
            })
        },
    ),
];

fn choice(goes: bool) -> Action {
    Action::Choice(if goes { GO } else { STAY }.into())
}

/// How the last evening was, if it knows.
fn last_was_good(view: &View<'_>) -> Option<bool> {
    let last_round = view.latest("round_result")?.round();
    let report = view.latest("bar_report")?;
    report.flag("good").filter(|_| report.round() == last_round)
}
