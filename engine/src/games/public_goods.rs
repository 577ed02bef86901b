//! Public Goods.
//!
//! In every round each player gets `tokens` fresh tokens and says how many of
//! them it puts into a common pot, all at the same time. The pot is multiplied by
//! `ratio` and shared out evenly; what was not put in is kept. Everybody is told
//! what everybody put in and holds afterwards. A forfeited ask puts in nothing.
//!
//! Source: Huang et al., arXiv 2403.11807, section 3.1 and appendix C; the
//! authors' code for the rounding to hundredths of what players are told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::arithmetic::{larger, smaller};
use crate::ask::{Answer, Ask, Form, Seat};
use crate::chance::Chance;
use crate::disclosure::Disclosure;
use crate::event::{Event, EventLog};
use crate::game::{Equilibrium, Game, GameInfo, ParameterError, State, Timing};
use crate::games::rounds::{RoundRules, Rounds};
use crate::games::{
    ALIKE, BRIEFED, DEFAULT_FOUL_ALLOWANCE, LARGEST_AMOUNT, PLAYERS, ROUNDS, bounds_over, briefing,
    check_between, check_fouls, check_ratio, check_table, column, exact, spread_of, total,
};
use crate::measures::{Measures, mean};
use crate::moves::Move;
use crate::registry::{Built, Registration, read_params, write_params};
use crate::rule::{Rule, StrategyError};
use crate::rules::{common, public_goods as rules};
use crate::spec::Settings;

/// Entry in the registry.
pub const REGISTRATION: Registration = Registration {
    info: &INFO,
    strategies: rules::STRATEGIES,
    build,
    schema: || schemars::schema_for!(GoodsParams).to_value(),
};

const INFO: GameInfo = GameInfo {
    name: "public_goods",
    title: "Public Goods",
    summary: "put tokens into a pot that is multiplied and shared evenly",
    rules_version: 1,
    seats: (2, 1000),
    timing: Timing::Simultaneous,
    chance: false,
    hidden_information: false,
    source: "gamma-Bench, arXiv 2403.11807, game 4",
};

/// Parameters of the game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GoodsParams {
    /// Number of players; taken from the seats of the experiment.
    pub players: usize,
    /// Number of rounds.
    pub rounds: u32,
    /// Tokens that each player gets in each round.
    pub tokens: i64,
    /// The pot is multiplied by this.
    pub ratio: f64,
    /// Fouls forgiven per ask before it is forfeited.
    pub foul_allowance: u32,
    /// Accept any whole number as a contribution, as the published games did;
    /// for replays.
    pub lenient: bool,
}

impl Default for GoodsParams {
    fn default() -> Self {
        Self {
            players: PLAYERS,
            rounds: ROUNDS,
            tokens: 20,
            ratio: 2.0,
            foul_allowance: DEFAULT_FOUL_ALLOWANCE,
            lenient: false,
        }
    }
}

impl GoodsParams {
    /// What a player who counts only its own tokens puts in: a token comes back
    /// as ratio / players of one, so everything when that is more than a token,
    /// and nothing otherwise (also when it is all the same).
    pub fn equilibrium_contribution(&self) -> i64 {
        if self.ratio > self.players as f64 {
            self.tokens
        } else {
            0
        }
    }
}

/// Who is told what.
const DISCLOSURES: &[Disclosure] = &[
    Disclosure::to_everybody(BRIEFED, &["players", "rounds", "tokens", "ratio"]),
    Disclosure::to_everybody(ALIKE, &["foul_allowance", "lenient"]),
];

fn build(settings: &Settings) -> Result<Built, ParameterError> {
    let params: GoodsParams = read_params(settings)?;
    check_table(&INFO, params.players, params.rounds)?;
    check_fouls(params.foul_allowance)?;
    check_between("tokens", params.tokens, 1, LARGEST_AMOUNT)?;
    check_ratio(params.ratio)?;
    let written = write_params(&params);
    Ok(Built {
        game: std::sync::Arc::new(Goods { params }),
        params: written,
    })
}

struct Goods {
    params: GoodsParams,
}

impl Game for Goods {
    fn info(&self) -> &'static GameInfo {
        &INFO
    }

    fn seats(&self) -> usize {
        self.params.players
    }

    fn asks_per_seat(&self) -> u32 {
        self.params.rounds
    }

    /// Own contributions count ratio / players, the others' as much: the ends
    /// are all or nothing from oneself, with nothing or all from the others.
    fn payoff_bounds(&self) -> (f64, f64) {
        let (tokens, players) = (self.params.tokens as f64, self.params.players as f64);
        let returned = self.params.ratio * tokens / players;
        let low = smaller(tokens, returned);
        let high = larger(tokens + returned * (players - 1.0), returned * players);
        bounds_over(self.params.rounds, hundredths(low), hundredths(high))
    }

    fn disclosures(&self) -> &'static [Disclosure] {
        DISCLOSURES
    }

    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        let params = &self.params;
        log.push(
            briefing(params.players, params.rounds)
                .fact("tokens", params.tokens)
                .fact("ratio", params.ratio),
        );
        let form = if params.lenient {
            Form::any_integer()
        } else {
            Form::integer(0, params.tokens)
        };
        let foul_allowance = params.foul_allowance;
        let ask = Ask {
            seat: 0,
            kind: "contribution",
            form,
            foul_allowance,
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
        _seat: Seat,
    ) -> Result<Box<dyn Rule>, StrategyError> {
        rules::make(&self.params, strategy, settings)
            .unwrap_or_else(|| Err(common::unknown(&INFO, strategy, rules::STRATEGIES)))
    }

    fn equilibrium(&self) -> Equilibrium {
        let contribution = self.params.equilibrium_contribution();
        let (new, old) = scores(&self.params, contribution as f64);
        Equilibrium {
            play: format!("everybody puts in {contribution}"),
            scores: vec![exact("iclr2025", new), exact("arxiv2024", old)],
        }
    }

    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        measures(&self.params, log)
    }
}

impl RoundRules for GoodsParams {
    fn play(
        &mut self,
        round: u32,
        answers: &[Answer],
        payoffs: &mut [f64],
        _chance: &mut Chance,
        log: &mut EventLog,
    ) {
        let given: Vec<i64> = answers
            .iter()
            .map(|answer| answer.integer().unwrap_or(0))
            .collect();
        let pot = self.ratio * total(given.iter().copied()) as f64;
        let returned = pot / self.players as f64;
        let kept: Vec<i64> = given
            .iter()
            .map(|own| self.tokens.saturating_sub(*own))
            .collect();
        let held: Vec<f64> = kept
            .iter()
            .map(|kept| hundredths(*kept as f64 + returned))
            .collect();
        let gain: Vec<f64> = given
            .iter()
            .map(|own| hundredths(returned - *own as f64))
            .collect();
        for (payoff, held) in payoffs.iter_mut().zip(&held) {
            *payoff += held;
        }
        log.push(
            Event::new("round_result", round)
                .fact("contributions", given)
                .fact("pot", pot)
                .fact("tokens_after", held)
                .own("contribution", column(answers.iter().map(Answer::integer)))
                .own("gain", gain)
                .hidden("kept", kept),
        );
    }
}

/// How near a third decimal must be to a 5 before it is looked at exactly.
const NEAR_TIE: f64 = 1e-4;

/// Up to here the error of a multiplication by 100 is far below [`NEAR_TIE`].
const EXACT_HUNDREDTHS: f64 = 1e10;

/// The number rounded to hundredths as the published games rounded it: by its
/// exact binary value, which decides what looks like a tie in decimals.
fn hundredths(number: f64) -> f64 {
    let scaled = number * 100.0;
    let far_from_tie = (scaled.fract().abs() - 0.5).abs() > NEAR_TIE;
    let rounded = if far_from_tie && scaled.abs() < EXACT_HUNDREDTHS {
        scaled.round() / 100.0
    } else {
        format!("{number:.2}").parse().unwrap_or(number)
    };
    // No record says "-0.0".
    rounded + 0.0
}

/// Scores of both schemes from S = mean(round's contributions / players)
/// (arXiv 2403.11807, section 3.1 and version 1, appendix C): `iclr2025` is
/// (tokens - S) / tokens for every ratio; `arxiv2024` is that for ratios up to 1
/// and S / tokens above; both times 100.
fn scores(params: &GoodsParams, average: f64) -> (f64, f64) {
    let tokens = params.tokens as f64;
    let new = (tokens - average) / tokens * 100.0;
    let old = if params.ratio <= 1.0 {
        new
    } else {
        average / tokens * 100.0
    };
    (new, old)
}

fn measures(params: &GoodsParams, log: &EventLog) -> Measures {
    let mut measures = Measures::default();
    let (means, deviations) = spread_of(log, "round_result", "contributions");
    if means.is_empty() {
        return measures;
    }
    let average = mean(means.iter().copied());
    let (new, old) = scores(params, average);
    measures.score("iclr2025", new);
    measures.score("arxiv2024", old);
    measures.part("S", average);
    measures.series(
        "returns",
        means.iter().map(|given| params.ratio * given).collect(),
    );
    measures.series("mean", means);
    measures.series("sd", deviations);
    measures
}

#[cfg(test)]
mod tests;
