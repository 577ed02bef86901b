//! Rule players of guessing to survive: the equilibrium, and the programmed opponents
//! of the K-level paper (arXiv 2402.01521, appendix D), which never look at who they
//! play against. Made by the game.

use super::SurvivalParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<SurvivalParams>] = &[
    Strategy::new("equilibrium", "the smallest number", |params, request| {
        request.always(Action::Integer(params.min))
    }),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "level_0",
        "around the same number in every round: value (default 40), drawn anew from a \
                  bell curve where sd is above 0 (default 0)",
        |params, request| {
            let range = Range::of(params);
            let value: i64 = request.get("value", USUAL)?;
            let sd = request.get_within("sd", 0.0, 0.0..=MOST_SD)?;
            request.plays(move |_, _, luck| range.draw(value as f64, sd, luck))
        },
    ),
    Strategy::new(
        "mono_trend",
        "goes down by the same step in every round: start (default 40), step (default: \
                  drawn once, 1 to 5)",
        |params, request| {
            let range = Range::of(params);
            let start: i64 = request.get("start", USUAL)?;
            let mut step: Option<u32> = request.get("step", None)?;
            request.plays(move |_, view, luck| {
                let (low, high) = STEPS;
                let step = *step.get_or_insert_with(|| luck.between(low, high) as u32);
                let over = view.of_kind("round_result").count() as f64;
                range.say(start as f64 - over * f64::from(step))
            })
        },
    ),
    Strategy::new(
        "last_target",
        "the target of the round before: first (what it says before there is one, \
                  default 40), drawn around it from a bell curve where sd is above 0 (default 0)",
        |params, request| {
            let range = Range::of(params);
            let first: i64 = request.get("first", USUAL)?;
            let sd = request.get_within("sd", 0.0, 0.0..=MOST_SD)?;
            request.plays(move |_, view, luck| {
                let mut targets = view.of_kind("round_result").rev();
                // A round in which nobody gave a number has none.
                let last = targets.find_map(|sight| sight.number("target"));
                range.draw(last.unwrap_or(first as f64), sd, luck)
            })
        },
    ),
];

/// Where the paper's opponents begin.
const USUAL: i64 = 40;

/// The steps that a falling player may draw.
const STEPS: (i64, i64) = (1, 5);

/// Widest bell curve; wider ones give little but the two ends of the range.
const MOST_SD: f64 = 1_000_000.0;

/// The numbers that can be said.
#[derive(Clone, Copy)]
struct Range {
    min: i64,
    max: i64,
}

impl Range {
    fn of(params: &SurvivalParams) -> Self {
        let SurvivalParams { min, max, .. } = *params;
        Self { min, max }
    }

    /// Rounded down, kept in the range.
    fn say(self, number: f64) -> Action {
        Action::Integer((number.floor() as i64).clamp(self.min, self.max))
    }

    /// A number of a bell curve; the middle itself, undrawn, where it has no width.
    fn draw(self, middle: f64, sd: f64, luck: &mut Generator) -> Action {
        if sd > 0.0 {
            self.say(middle + sd * luck.normal())
        } else {
            self.say(middle)
        }
    }
}
