//! Divide the Dollar.
//!
//! In every round each player says how much of `golds` gold it wants, all at the
//! same time. If the bids together are at most `golds`, everybody gets its own
//! bid; otherwise nobody gets anything. Players are told the sum of the bids and
//! what they received, not the others' bids. A forfeited ask counts as a bid of 0.
//!
//! Source: Huang et al., arXiv 2403.11807, section 3.1 and appendix C.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::arithmetic::larger;
use crate::ask::{Answer, Ask, Form, Seat};
use crate::chance::Chance;
use crate::disclosure::Disclosure;
use crate::event::{Event, EventLog};
use crate::game::{Equilibrium, Game, GameInfo, ParameterError, State, Timing};
use crate::games::rounds::{RoundRules, Rounds};
use crate::games::{
    ALIKE, BRIEFED, DEFAULT_FOUL_ALLOWANCE, LARGEST_AMOUNT, PLAYERS, ROUNDS, bounds_over, briefing,
    check_between, check_fouls, check_table, column, exact, series_of, spread_of, total,
};
use crate::measures::{Measures, mean};
use crate::moves::Move;
use crate::registry::{Built, Registration, read_params, write_params};
use crate::rule::{Rule, StrategyError};
use crate::rules::{common, divide_dollar as rules};
use crate::spec::Settings;

/// Entry in the registry.
pub const REGISTRATION: Registration = Registration {
    info: &INFO,
    strategies: rules::STRATEGIES,
    build,
    schema: || schemars::schema_for!(DollarParams).to_value(),
};

const INFO: GameInfo = GameInfo {
    name: "divide_dollar",
    title: "Divide the Dollar",
    summary: "say how much you want; all get nothing when the sum is too high",
    rules_version: 1,
    seats: (2, 1000),
    timing: Timing::Simultaneous,
    chance: false,
    hidden_information: true,
    source: "gamma-Bench, arXiv 2403.11807, game 3",
};

/// Parameters of the game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DollarParams {
    /// Number of players; taken from the seats of the experiment.
    pub players: usize,
    /// Number of rounds.
    pub rounds: u32,
    /// Gold to divide in each round.
    pub golds: i64,
    /// Fouls forgiven per ask before it is forfeited.
    pub foul_allowance: u32,
    /// Accept any whole number as a bid, as the published games did; for replays.
    pub lenient: bool,
}

impl Default for DollarParams {
    fn default() -> Self {
        Self {
            players: PLAYERS,
            rounds: ROUNDS,
            golds: 100,
            foul_allowance: DEFAULT_FOUL_ALLOWANCE,
            lenient: false,
        }
    }
}

impl DollarParams {
    /// A seat's even share; the first seats get what does not divide.
    pub fn even_share(&self, seat: Seat) -> i64 {
        let players = self.players as i64;
        self.golds / players + i64::from((seat as i64) < self.golds % players)
    }
}

/// Who is told what.
const DISCLOSURES: &[Disclosure] = &[
    Disclosure::to_everybody(BRIEFED, &["players", "rounds", "golds"]),
    Disclosure::to_everybody(ALIKE, &["foul_allowance", "lenient"]),
];

fn build(settings: &Settings) -> Result<Built, ParameterError> {
    let params: DollarParams = read_params(settings)?;
    check_table(&INFO, params.players, params.rounds)?;
    check_fouls(params.foul_allowance)?;
    check_between("golds", params.golds, 1, LARGEST_AMOUNT)?;
    let written = write_params(&params);
    Ok(Built {
        game: std::sync::Arc::new(Dollar { params }),
        params: written,
    })
}

struct Dollar {
    params: DollarParams,
}

impl Game for Dollar {
    fn info(&self) -> &'static GameInfo {
        &INFO
    }

    fn seats(&self) -> usize {
        self.params.players
    }

    fn asks_per_seat(&self) -> u32 {
        self.params.rounds
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        bounds_over(self.params.rounds, 0.0, self.params.golds as f64)
    }

    fn disclosures(&self) -> &'static [Disclosure] {
        DISCLOSURES
    }

    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        let params = &self.params;
        log.push(briefing(params.players, params.rounds).fact("golds", params.golds));
        let form = if params.lenient {
            Form::any_integer()
        } else {
            Form::integer(0, params.golds)
        };
        let ask = Ask {
            seat: 0,
            kind: "bid",
            form,
            foul_allowance: params.foul_allowance,
        };
        Rounds::start(
            params.clone(),
            params.players,
            params.rounds,
            ask,
            chance,
            log,
        )
    }

    fn rule(
        &self,
        strategy: &str,
        settings: &Map<String, Json>,
        seat: Seat,
    ) -> Result<Box<dyn Rule>, StrategyError> {
        rules::make(&self.params, strategy, settings, seat)
            .unwrap_or_else(|| Err(common::unknown(&INFO, strategy, rules::STRATEGIES)))
    }

    /// Every list of bids that adds up to the gold is an equilibrium: who asks
    /// for less gets less, who asks for more gets nothing. The even one is what
    /// players can find without talking.
    fn equilibrium(&self) -> Equilibrium {
        Equilibrium {
            play: "everybody bids an even share of the gold".to_owned(),
            scores: vec![exact("iclr2025", 100.0), exact("arxiv2024", 100.0)],
        }
    }

    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        measures(&self.params, log)
    }
}

impl RoundRules for DollarParams {
    fn play(
        &mut self,
        round: u32,
        answers: &[Answer],
        payoffs: &mut [f64],
        _chance: &mut Chance,
        log: &mut EventLog,
    ) {
        let bids = || answers.iter().map(Answer::integer);
        let sum = total(bids().flatten());
        let exceeded = sum > self.golds;
        let received: Vec<i64> = bids()
            .map(|bid| if exceeded { 0 } else { bid.unwrap_or(0) })
            .collect();
        for (payoff, received) in payoffs.iter_mut().zip(&received) {
            *payoff += *received as f64;
        }
        log.push(
            Event::new("round_result", round)
                .fact("total", sum)
                .fact("exceeded", exceeded)
                .own("bid", column(bids()))
                .own("received", received),
        );
    }
}

/// Scores of both schemes (arXiv 2403.11807, section 3.1 and version 1, appendix
/// C). With g = golds / players, S = mean |sum / players - g| and S_total =
/// mean |sum - golds|: `iclr2025` is (g - S) / g, not below 0; `arxiv2024` is
/// (golds - S_total) / golds, which may be; both times 100.
fn measures(params: &DollarParams, log: &EventLog) -> Measures {
    let mut measures = Measures::default();
    let totals = series_of(log, "round_result", "total");
    if totals.is_empty() {
        return measures;
    }
    let (players, golds) = (params.players as f64, params.golds as f64);
    let share = golds / players;
    let apart = mean(totals.iter().map(|sum| (sum / players - share).abs()));
    let apart_total = mean(totals.iter().map(|sum| (sum - golds).abs()));
    measures.score("iclr2025", larger((share - apart) / share * 100.0, 0.0));
    measures.score("arxiv2024", (golds - apart_total) / golds * 100.0);
    measures.part("S", apart);
    measures.part("S_total", apart_total);
    let (means, deviations) = spread_of(log, "round_result", "bid");
    measures.series("total", totals);
    measures.series("mean", means);
    measures.series("sd", deviations);
    measures
}

#[cfg(test)]
mod tests;
