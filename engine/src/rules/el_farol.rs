//! Rule players of the El Farol bar. In implicit mode a seat that stayed at home
//! knows nothing of that evening, and its rule player neither. Made by the game.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ask::{Action, Ask, Seat};
use crate::chance::Generator;
use crate::games::el_farol::{BarParams, GO, STAY};
use crate::measures::mean;
use crate::rule::{Rule, StrategyError, StrategyInfo};
use crate::rules::common::{self, Always};
use crate::view::View;

/// The strategies of this game.
pub const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "equilibrium",
        summary: "goes when the bar holds all seats up to its own, otherwise stays",
    },
    common::RANDOM,
    common::SPECIFIED,
    StrategyInfo {
        name: "mixed",
        summary: "goes with a probability: probability = .. (the ratio)",
    },
    StrategyInfo {
        name: "contrarian",
        summary: "goes when it saw the last evening crowded, stays when it saw it good; \
                  goes with probability ratio when it saw nothing",
    },
    StrategyInfo {
        name: "follower",
        summary: "goes when it saw the last evening good, stays when it saw it crowded; \
                  goes with probability ratio when it saw nothing",
    },
    StrategyInfo {
        name: "averaging",
        summary: "goes when the mean of the last shares that it saw fits the bar: window = .. (3)",
    },
];

/// Makes a strategy by name; `None` when this game does not know it.
pub fn make(
    params: &BarParams,
    strategy: &str,
    settings: &Map<String, Value>,
    seat: Seat,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    let ratio = params.ratio;
    match strategy {
        "equilibrium" => {
            common::plain(strategy, settings, Always(choice(seat < params.capacity())))
        }
        "mixed" => common::made(Mixed::new(ratio, settings)),
        "contrarian" => common::plain(
            strategy,
            settings,
            Reacting {
                ratio,
                goes_after_good: false,
            },
        ),
        "follower" => common::plain(
            strategy,
            settings,
            Reacting {
                ratio,
                goes_after_good: true,
            },
        ),
        "averaging" => common::made(Averaging::new(ratio, settings)),
        _ => common::make(strategy, settings),
    }
}

fn choice(goes: bool) -> Action {
    Action::Choice(if goes { GO } else { STAY }.into())
}

/// Goes with a fixed probability.
struct Mixed {
    probability: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MixedSettings {
    probability: Option<f64>,
}

impl Mixed {
    fn new(ratio: f64, settings: &Map<String, Value>) -> Result<Self, StrategyError> {
        let MixedSettings { probability } = common::read_settings("mixed", settings)?;
        let probability = probability.unwrap_or(ratio);
        common::check_share("mixed", "probability", probability)?;
        Ok(Self { probability })
    }
}

impl Rule for Mixed {
    fn act(&mut self, _ask: &Ask, _view: &View<'_>, luck: &mut Generator) -> Action {
        choice(luck.unit() < self.probability)
    }
}

/// Answers the last evening, if it knows how it was.
struct Reacting {
    ratio: f64,
    goes_after_good: bool,
}

impl Rule for Reacting {
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

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AveragingSettings {
    window: usize,
}

impl Default for AveragingSettings {
    fn default() -> Self {
        Self { window: 3 }
    }
}

impl Averaging {
    fn new(ratio: f64, settings: &Map<String, Value>) -> Result<Self, StrategyError> {
        let AveragingSettings { window } = common::read_settings("averaging", settings)?;
        if window == 0 {
            return Err(StrategyError::Settings {
                name: "averaging".to_owned(),
                message: "window must be at least 1".to_owned(),
            });
        }
        Ok(Self { ratio, window })
    }
}

impl Rule for Averaging {
    fn act(&mut self, _ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let seen = view.of_kind("bar_report").rev().take(self.window);
        let expected = mean(seen.filter_map(|report| report.number("share")));
        choice(expected <= self.ratio)
    }
}
