//! Second-price auction of one item with private values (Vickrey 1961).
//!
//! Each player has assets and a private value of the item, the whole part of a
//! normally distributed number, drawn again until it is above 0 and at most the
//! assets. In every round (a run, in the words of the paper) all players bid a real
//! number from 0 to the assets at once. The highest bid wins, of equal ones that of
//! the lowest seat, and pays the second highest. The winner is left with its assets
//! less the price plus its value, everybody else with the assets. Values and assets
//! are the same in all rounds. A fouling player is in neither ranking nor price and
//! pays the entrance fee; a round with fewer than two valid bids is void: nothing is
//! sold. Everybody is told the bids, with `shown` also the private values, except
//! with a `history` of 0. In equilibrium everybody bids its value.
//!
//! Source: "Economics Arena for Large Language Models", sections 3 and 4 and
//! appendix A.1; measures from its appendices A.2 and A.3.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::ask::{Answer, Ask, Form, Seat};
use crate::chance::{Bell, Chance, VALUATIONS};
use crate::event::{Event, EventLog, Value};
use crate::game::{Equilibrium, Game, GameInfo, ParameterError, State, Timing};
use crate::games::rounds::{RoundRules, Rounds};
use crate::games::{
    LARGEST_AMOUNT, bounds_over, briefing, check_between, check_fouls, check_table, column, exact,
    rationality, round_result, top_bids,
};
use crate::measures::{Measures, mean};
use crate::play::Move;
use crate::registry::{Built, Registration, read_params, write_params};
use crate::rule::{Rule, StrategyError};
use crate::rules::{common, second_price_auction as rules};
use crate::spec::Settings;

/// Entry in the registry.
pub const REGISTRATION: Registration = Registration {
    info: &INFO,
    strategies: rules::STRATEGIES,
    build,
    schema: || schemars::schema_for!(AuctionParams).to_value(),
};

const INFO: GameInfo = GameInfo {
    name: "second_price_auction",
    title: "Second-Price Auction",
    summary: "bid once for an item of private value; the highest bid pays the second highest",
    rules_version: 1,
    seats: (2, 1000),
    timing: Timing::Simultaneous,
    chance: true,
    hidden_information: true,
    source: "Economics Arena for Large Language Models, appendix A.1",
};

/// Parameters of the game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuctionParams {
    /// Number of players; taken from the seats of the experiment.
    pub players: usize,
    /// Number of rounds: the runs of a session.
    pub rounds: u32,
    /// What every player has at the start of every round; the paper's groups have
    /// 100, 1000 and 10000.
    pub assets: i64,
    /// Mean of the private values; 50, 500 and 5000 in the paper's groups.
    pub value_mean: f64,
    /// Standard deviation of the private values; 10, 100 and 1000 in the paper's
    /// groups.
    pub value_sd: f64,
    /// What a foul costs in its round.
    pub entrance_fee: f64,
    /// How many past rounds a player is shown at most; with 0 none is told at all.
    pub history: u32,
    /// What players are shown of a past round.
    pub shown: Shown,
    /// Fouls forgiven per ask before it is forfeited; the paper forgives none.
    pub foul_allowance: u32,
}

/// What players are shown of a past round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// Everybody's bids.
    Strategies,
    /// Everybody's bids and private values.
    StrategiesAndValues,
}

impl Default for AuctionParams {
    fn default() -> Self {
        Self {
            players: 5,
            rounds: 1,
            assets: 100,
            value_mean: 50.0,
            value_sd: 10.0,
            entrance_fee: 0.0,
            history: 3,
            shown: Shown::Strategies,
            foul_allowance: 0,
        }
    }
}

fn build(settings: &Settings) -> Result<Built, ParameterError> {
    let params: AuctionParams = read_params(settings)?;
    check_table(&INFO, params.players, params.rounds)?;
    check_fouls(params.foul_allowance)?;
    check_between("assets", params.assets, 1, LARGEST_AMOUNT)?;
    let assets = params.assets as f64;
    // A mean outside, or a wide spread, would be drawn again without end.
    for (name, value, low) in [
        ("value_mean", params.value_mean, 1.0),
        ("value_sd", params.value_sd, 0.0),
        ("entrance_fee", params.entrance_fee, 0.0),
    ] {
        if !(low..=assets).contains(&value) {
            let message = format!("{name} must be from {low} to the assets, not {value}");
            return Err(ParameterError::new(name, message));
        }
    }
    let written = write_params(&params);
    Ok(Built {
        game: std::sync::Arc::new(Auction { params }),
        params: written,
    })
}

struct Auction {
    params: AuctionParams,
}

impl Game for Auction {
    fn info(&self) -> &'static GameInfo {
        &INFO
    }

    fn seats(&self) -> usize {
        self.params.players
    }

    fn asks_per_seat(&self) -> u32 {
        self.params.rounds
    }

    /// From paying everything for an item worth 1, or a fee, to getting one that is
    /// worth all assets for nothing.
    fn payoff_bounds(&self) -> (f64, f64) {
        let assets = self.params.assets as f64;
        let low = f64::min(1.0, assets - self.params.entrance_fee);
        bounds_over(self.params.rounds, low, 2.0 * assets)
    }

    fn reveals_private_draws(&self) -> bool {
        self.params.shown == Shown::StrategiesAndValues && self.params.history > 0
    }

    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        let params = &self.params;
        let bell = Bell {
            mean: params.value_mean,
            deviation: params.value_sd,
            most: params.assets,
        };
        let values = chance.bell(VALUATIONS, 0, params.players, bell);
        log.push(
            briefing(params.players, params.rounds)
                .fact("assets", params.assets)
                .fact("entrance_fee", params.entrance_fee)
                .fact("history", params.history)
                .fact("values_shown", params.shown == Shown::StrategiesAndValues)
                .own("private_value", values.clone())
                .hidden("value_mean", params.value_mean)
                .hidden("value_sd", params.value_sd),
        );
        let ask = Ask {
            seat: 0,
            kind: "bid",
            form: Form::Number {
                min: 0.0,
                max: params.assets as f64,
            },
            foul_allowance: params.foul_allowance,
        };
        let rules = AuctionRound {
            params: params.clone(),
            values,
        };
        Rounds::start(rules, params.players, params.rounds, ask, chance, log)
    }

    fn rule(
        &self,
        strategy: &str,
        settings: &Map<String, Json>,
        _seat: Seat,
    ) -> Result<Box<dyn Rule>, StrategyError> {
        rules::make(strategy, settings)
            .unwrap_or_else(|| Err(common::unknown(&INFO, strategy, rules::STRATEGIES)))
    }

    fn equilibrium(&self) -> Equilibrium {
        Equilibrium {
            play: "everybody bids its private value".to_owned(),
            scores: vec![exact("deviation", 0.0), exact("rationality", 1.0)],
        }
    }

    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures {
        measures(&self.params, log, moves)
    }
}

struct AuctionRound {
    params: AuctionParams,
    values: Vec<i64>,
}

impl RoundRules for AuctionRound {
    fn play(
        &mut self,
        round: u32,
        answers: &[Answer],
        payoffs: &mut [f64],
        _chance: &mut Chance,
        log: &mut EventLog,
    ) {
        let bids: Vec<Option<f64>> = answers.iter().map(Answer::number).collect();
        let assets = self.params.assets as f64;
        let left = |bid: &Option<f64>| match bid {
            Some(_) => assets,
            None => assets - self.params.entrance_fee,
        };
        let mut gains: Vec<f64> = bids.iter().map(left).collect();
        let sale = sell(&bids);
        if let Some((winner, price)) = sale {
            gains[winner] = assets - price + self.values[winner] as f64;
        }
        for (payoff, gain) in payoffs.iter_mut().zip(&gains) {
            *payoff += gain;
        }
        let all = || column(bids.iter().copied());
        let mut told: Vec<(&'static str, Value)> = vec![
            ("void", sale.is_none().into()),
            ("winner", sale.map(|(winner, _)| winner).into()),
            ("price", sale.map(|(_, price)| price).into()),
            ("bids", all()),
        ];
        if self.params.shown == Shown::StrategiesAndValues {
            told.push(("private_values", self.values.clone().into()));
        }
        let is_told = self.params.history > 0;
        let event = round_result(round, is_told, told);
        // Payoffs would give the winner's value away.
        log.push(if is_told {
            event.own("bid", all()).own("payoff", gains)
        } else {
            event.hidden("payoff", gains)
        });
    }
}

/// The highest bidder, the lowest seat of equal ones, and the second highest bid;
/// `None` with fewer than two bids.
fn sell(bids: &[Option<f64>]) -> Option<(Seat, f64)> {
    let best = top_bids(bids.iter().copied())?;
    Some((best.seat, best.second?))
}

/// What everybody is left with when all bid their values.
fn equilibrium_payoffs(assets: f64, values: &[f64]) -> Vec<f64> {
    let bids: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
    let mut left = vec![assets; values.len()];
    if let Some((winner, price)) = sell(&bids) {
        left[winner] = assets - price + values[winner];
    }
    left
}

/// What appendices A.2 and A.3 of the source measure; void rounds count for nothing
/// but rule breaking. Per seat: `payoff`, what it is left with, mean over the rounds;
/// `equilibrium_payoff`, what it would be left with if all bid their values;
/// `rationality`, the first over the second (formula 1; the package's `payoffs`);
/// `assets`, the first over the assets at the start (the package's `assets`); `wins`,
/// the share of rounds won; `rule_breaking`, the percentage of rounds with a foul.
/// `deviations`, one per valid bid: the distance from 1 of what the seat is left with
/// over its `equilibrium_payoff` (formula of A.3.2). Scores `deviation` and
/// `rationality` are the means of those. `distance` is each round's mean distance of
/// bids from values, over the assets: the path towards the equilibrium.
fn measures(params: &AuctionParams, log: &EventLog, moves: &[Move]) -> Measures {
    let mut measures = Measures::default();
    rationality::rule_breaking(params.players, params.rounds, moves, &mut measures);
    let values = log
        .of_kind("briefing")
        .find_map(|event| Some(event.get("private_value")?.numbers()))
        .unwrap_or_default();
    let results = rationality::results(log, params.rounds, &mut measures);
    let assets = params.assets as f64;
    let equilibrium = equilibrium_payoffs(assets, &values);
    measures.series("private_values", values.clone());
    if results.is_empty() {
        return measures;
    }
    rationality::payoffs(&results, "payoff", &equilibrium, &mut measures);
    rationality::actions(&results, "bids", &mut measures, |event, seat, _| {
        let left = event
            .get("payoff")
            .and_then(|left| left.entry(seat).number());
        (left.unwrap_or(assets) / equilibrium[seat] - 1.0).abs()
    });
    let kept = measures.series["payoff"].iter().map(|left| left / assets);
    let kept = kept.collect();
    measures.series("assets", kept);
    let distance = |event: &&Event| {
        let bids = event.get("bids");
        let far = values.iter().enumerate().filter_map(|(seat, value)| {
            let bid = bids?.entry(seat).number()?;
            Some((bid - value).abs() / assets)
        });
        mean(far)
    };
    measures.series("distance", results.iter().map(distance).collect());
    let prices = results
        .iter()
        .filter_map(|event| event.get("price")?.number());
    measures.series("prices", prices.collect());
    measures
}

#[cfg(test)]
mod tests;
