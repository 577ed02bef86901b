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
            request.takes(&["value", "sd"])?;
            request.made(Around {
                range: Range::of(params),
                value: request.get("value", USUAL)?,
                sd: request.get_within("sd", 0.0, 0.0..=MOST_SD)?,
            })
        },
    ),
    Strategy::new(
        "mono_trend",
        "goes down by the same step in every round: start (default 40), step (default: \
                  drawn once, 1 to 5)",
        |params, request| {
            request.takes(&["start", "step"])?;
            request.made(Falling {
                range: Range::of(params),
                start: request.get("start", USUAL)?,
                step: request.get("step", None)?,
            })
        },
    ),
    Strategy::new(
        "last_target",
        "the target of the round before: first (what it says before there is one, \
                  default 40), drawn around it from a bell curve where sd is above 0 (default 0)",
        |params, request| {
            request.takes(&["first", "sd"])?;
            request.made(Follower {
                range: Range::of(params),
                first: request.get("first", USUAL)?,
                sd: request.get_within("sd", 0.0, 0.0..=MOST_SD)?,
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

/// Says about the same in every round, whatever happens.
struct Around {
    range: Range,
    value: i64,
    sd: f64,
}

impl RulePlayer for Around {
    fn act(&mut self, _ask: &Ask, _view: &View<'_>, luck: &mut Generator) -> Action {
        self.range.draw(self.value as f64, self.sd, luck)
    }
}

/// An arithmetic sequence downwards.
struct Falling {
    range: Range,
    start: i64,
    step: Option<u32>,
}

impl RulePlayer for Falling {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, luck: &mut Generator) -> Action {
        let (low, high) = STEPS;
        let step = *self
            .step
            .get_or_insert_with(|| luck.between(low, high) as u32);
        let over = view.of_kind("round_result").count() as f64;
        self.range.say(self.start as f64 - over * f64::from(step))
    }
}

/// Says what would have won the last round.
struct Follower {
    range: Range,
    first: i64,
    sd: f64,
}

impl RulePlayer for Follower {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, luck: &mut Generator) -> Action {
        let mut targets = view.of_kind("round_result").rev();
        // A round in which nobody gave a number has none.
        let last = targets.find_map(|sight| sight.number("target"));
        let middle = last.unwrap_or(self.first as f64);
        self.range.draw(middle, self.sd, luck)
    }
}
