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
            let probability = request.only_within("probability", params.ratio, 0.0..=1.0)?;
            request.made(Mixed { probability })
        },
    ),
    Strategy::new(
        "contrarian",
        "goes when it saw the last evening crowded, stays when it saw it good; \
                  goes with probability ratio when it saw nothing",
        |params, request| {
            request.plain(Reacting {
                ratio: params.ratio,
                goes_after_good: false,
            })
        },
    ),
    Strategy::new(
        "follower",
        "goes when it saw the last evening good, stays when it saw it crowded; \
                  goes with probability ratio when it saw nothing",
        |params, request| {
            request.plain(Reacting {
                ratio: params.ratio,
                goes_after_good: true,
            })
        },
    ),
    Strategy::new(
        "averaging",
        "goes when the mean of the last shares that it saw fits the bar: window = .. (3)",
        |params, request| {
            let (ratio, window) = (params.ratio, request.only("window", 3)?);
            if window == 0 {
                return Err(request.wrong("window must be at least 1"));
            }
            request.made(Averaging { ratio, window })
        },
    ),
];

fn choice(goes: bool) -> Action {
    Action::Choice(if goes { GO } else { STAY }.into())
}

/// Goes with a fixed probability.
struct Mixed {
    probability: f64,
}

impl RulePlayer for Mixed {
    fn act(&mut self, _ask: &Ask, _view: &View<'_>, luck: &mut Generator) -> Action {
        choice(luck.unit() < self.probability)
    }
}

/// Answers the last evening, if it knows how it was.
struct Reacting {
    ratio: f64,
    goes_after_good: bool,
}

impl RulePlayer for Reacting {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, luck: &mut Generator) -> Action {
        let last_round = view.latest("round_result").map(|sight| sight.round());
        let report = view
            .latest("bar_report")
            .filter(|report| Some(report.round()) == last_round);
        match report.and_then(|report| report.flag("good")) {
            Some(good) => choice(good == self.goes_after_good),
            None => choice(luck.unit() < self.ratio),
        }
    }
}

/// One of the predictors of Arthur (1994): expects the mean of the last shares
/// it saw. Goes until it has seen one.
struct Averaging {
    ratio: f64,
    window: usize,
}

impl RulePlayer for Averaging {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let seen = view.of_kind("bar_report").rev().take(self.window);
        let expected = mean(seen.filter_map(|report| report.number("share")));
        choice(expected <= self.ratio)
    }
}
