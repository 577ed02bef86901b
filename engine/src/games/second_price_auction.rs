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
use crate::chance::Chance;
use crate::disclosure::Disclosure;
use crate::event::{Event, EventLog};
use crate::game::{Equilibrium, Game, GameInfo, ParameterError, State, Timing};
use crate::games::private_values::{self, Outcome, Sale, Scale, Terms};
use crate::games::rounds::{RoundRules, Rounds};
use crate::games::{column, top_bids};
use crate::measures::Measures;
use crate::moves::Move;
use crate::registry::{Built, Registration, read_params, write_params};
use crate::rule::{Rule, StrategyError};
use crate::rules::{common, second_price_auction as rules};
use crate::spec::Settings;

pub use crate::games::private_values::Shown;

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

impl AuctionParams {
    fn terms(&self) -> Terms {
        Terms {
            players: self.players,
            rounds: self.rounds,
            assets: self.assets,
            value_mean: self.value_mean,
            value_sd: self.value_sd,
            entrance_fee: self.entrance_fee,
            history: self.history,
            shown: self.shown,
            foul_allowance: self.foul_allowance,
        }
    }
}

/// What everybody is told.
const TOLD: &[&str] = &[
    "players",
    "rounds",
    "assets",
    "entrance_fee",
    "history",
    "shown",
];

/// Who is told what where results show everybody's value.
const VALUES_SHOWN: &[Disclosure] = &private_values::disclosures(TOLD, true);

/// Who is told what where they do not.
const VALUES_KEPT: &[Disclosure] = &private_values::disclosures(TOLD, false);

fn build(settings: &Settings) -> Result<Built, ParameterError> {
    let params: AuctionParams = read_params(settings)?;
    let terms = params.terms();
    terms.check(&INFO)?;
    let written = write_params(&params);
    Ok(Built {
        game: std::sync::Arc::new(Auction { terms }),
        params: written,
    })
}

struct Auction {
    terms: Terms,
}

impl Game for Auction {
    fn info(&self) -> &'static GameInfo {
        &INFO
    }

    fn seats(&self) -> usize {
        self.terms.players
    }

    fn asks_per_seat(&self) -> u32 {
        self.terms.rounds
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        self.terms.payoff_bounds()
    }

    fn disclosures(&self) -> &'static [Disclosure] {
        match self.terms.shows_values() {
            true => VALUES_SHOWN,
            false => VALUES_KEPT,
        }
    }

    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        let terms = self.terms;
        let values = terms.draw(chance);
        log.push(terms.briefing(&values));
        let ask = Ask {
            seat: 0,
            kind: "bid",
            form: Form::Number {
                min: 0.0,
                max: terms.assets as f64,
            },
            foul_allowance: terms.foul_allowance,
        };
        let rules = AuctionRound { terms, values };
        Rounds::start(rules, terms.players, terms.rounds, ask, chance, log)
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
        private_values::equilibrium("everybody bids its private value")
    }

    /// As [`private_values::measures`]; a bid is as far from the value as it differs.
    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures {
        let truthful = |values: &[f64]| {
            let bids: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
            sell(&bids)
        };
        let distance = |event: &Event, seat: Seat, value: f64| {
            let bid = event.get("bids")?.entry(seat).number()?;
            Some((bid - value).abs())
        };
        let scale = Scale {
            equilibrium: &truthful,
            distance: &distance,
            round_of: &|turn| turn,
        };
        private_values::measures(&self.terms, log, moves, &scale)
    }
}

struct AuctionRound {
    terms: Terms,
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
        let sale = sell(&bids);
        let values: Vec<f64> = self.values.iter().map(|value| *value as f64).collect();
        let left = self.terms.left(&values, |seat| bids[seat].is_none(), sale);
        for (payoff, left) in payoffs.iter_mut().zip(&left) {
            *payoff += left;
        }
        let bids = column(bids.iter().copied());
        let outcome = Outcome { sale, bids, left };
        log.push(self.terms.result(round, &self.values, outcome, Vec::new()));
    }
}

/// The highest bidder, the lowest seat of equal ones, pays the second highest bid;
/// `None` with fewer than two bids.
fn sell(bids: &[Option<f64>]) -> Option<Sale> {
    let best = top_bids(bids.iter().copied())?;
    Some(Sale {
        winner: best.seat,
        price: best.second?,
    })
}

#[cfg(test)]
mod tests;
