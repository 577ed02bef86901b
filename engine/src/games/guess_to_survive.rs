//! Guessing 0.8 of the average, with health to lose: a beauty contest in which who
//! keeps losing is out.
//!
//! Everybody begins with `health`. In every round all players who have health left
//! choose a whole number from `min` to `max` at once. The target is `ratio` times the
//! mean of the numbers of this round. Who is closest wins, and so does everybody who
//! is equally close, on either side of the target. Winners lose nothing, all others
//! lose `loss` health. When several numbers were given and all are the same, nobody
//! wins; one that is alone wins. A forfeited ask is in neither mean nor ranking, and
//! loses health. Whose health is used up is out of the rounds that follow. All
//! choices, the mean, the target, the winners and everybody's health are told to those
//! who played the round. The game ends after the last round, or when nobody is left. A
//! payoff is the number of rounds won, since win rates are what the source compares.
//!
//! Source: Zhang et al., arXiv 2402.01521, section 3.1.1 and appendix B.1; measures
//! from its appendix C.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::ask::{Ask, Form, Seat};
use crate::chance::Chance;
use crate::disclosure::Disclosure;
use crate::event::EventLog;
use crate::game::{Equilibrium, Game, GameInfo, ParameterError, State, Timing};
use crate::games::{
    ALIKE, BRIEFED, DEFAULT_FOUL_ALLOWANCE, LARGEST_AMOUNT, check_between, check_fouls,
    check_table, exact,
};
use crate::measures::Measures;
use crate::moves::Move;
use crate::registry::{Built, Registration, read_params, write_params};
use crate::rule::{Rule, StrategyError};
use crate::rules::{common, guess_to_survive as rules};
use crate::spec::Settings;

mod circle;
mod scores;

/// Entry in the registry.
pub const REGISTRATION: Registration = Registration {
    info: &INFO,
    strategies: rules::STRATEGIES,
    build,
    schema: || schemars::schema_for!(SurvivalParams).to_value(),
};

const INFO: GameInfo = GameInfo {
    name: "guess_to_survive",
    title: "Guessing 0.8 of the Average",
    summary: "choose a number; whoever is not closest to 0.8 of the mean loses health",
    rules_version: 1,
    seats: (2, 1000),
    timing: Timing::Simultaneous,
    chance: false,
    hidden_information: true,
    source: "K-level reasoning, arXiv 2402.01521",
};

/// Most health: sums over rounds stay far from the end of the numbers.
const MOST_HEALTH: i64 = 1_000_000;

/// Parameters of the game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SurvivalParams {
    /// Number of players; taken from the seats of the experiment.
    pub players: usize,
    /// Number of rounds.
    pub rounds: u32,
    /// Smallest number.
    pub min: i64,
    /// Largest number.
    pub max: i64,
    /// The target is this times the mean; below 1.
    pub ratio: f64,
    /// Health at the beginning.
    pub health: i64,
    /// Health that a round costs who does not win it.
    pub loss: i64,
    /// Fouls forgiven per ask before it is forfeited.
    pub foul_allowance: u32,
}

impl Default for SurvivalParams {
    fn default() -> Self {
        Self {
            players: 5,
            rounds: 10,
            min: 1,
            max: 100,
            ratio: 0.8,
            health: 10,
            loss: 1,
            foul_allowance: DEFAULT_FOUL_ALLOWANCE,
        }
    }
}

/// Who is told what.
const DISCLOSURES: &[Disclosure] = &[
    Disclosure::to_everybody(
        BRIEFED,
        &["players", "rounds", "min", "max", "ratio", "health", "loss"],
    ),
    Disclosure::to_everybody(ALIKE, &["foul_allowance"]),
];

fn build(settings: &Settings) -> Result<Built, ParameterError> {
    let params: SurvivalParams = read_params(settings)?;
    check_table(&INFO, params.players, params.rounds)?;
    check_fouls(params.foul_allowance)?;
    // Below 0 a ratio would pull away from the lower end, not towards it.
    check_between("min", params.min, 0, LARGEST_AMOUNT)?;
    check_between("max", params.max, 0, LARGEST_AMOUNT)?;
    if params.min >= params.max {
        return Err(ParameterError::new("max", "max must be greater than min"));
    }
    // From 1 on, saying the smallest number is no equilibrium.
    if !(0.0..1.0).contains(&params.ratio) {
        let message = format!("ratio must be at least 0 and below 1, not {}", params.ratio);
        return Err(ParameterError::new("ratio", message));
    }
    check_between("health", params.health, 1, MOST_HEALTH)?;
    check_between("loss", params.loss, 0, MOST_HEALTH)?;
    let written = write_params(&params);
    Ok(Built {
        game: Arc::new(Survival {
            params: Arc::new(params),
        }),
        params: written,
    })
}

struct Survival {
    params: Arc<SurvivalParams>,
}

impl Game for Survival {
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
        (0.0, f64::from(self.params.rounds))
    }

    fn disclosures(&self) -> &'static [Disclosure] {
        DISCLOSURES
    }

    fn start(&self, _chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        circle::open(&self.params, log)
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

    /// Nobody can win alone by a larger number: the target is at most `ratio` times
    /// the midpoint between that number and the others'. It is where iterated best
    /// replies lead, not the only equilibrium: who loses anyway may say anything.
    fn equilibrium(&self) -> Equilibrium {
        let SurvivalParams {
            min, health, loss, ..
        } = *self.params;
        let outlived = health > loss * i64::from(self.params.rounds);
        Equilibrium {
            play: format!("everybody says {min}, so that nobody wins"),
            scores: vec![
                exact("deviation", 0.0),
                exact("win_rate", 0.0),
                exact("survival", if outlived { 100.0 } else { 0.0 }),
            ],
        }
    }

    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures {
        scores::measures(&self.params, log, moves)
    }
}

/// The ask of a seat.
fn ask(params: &SurvivalParams, seat: Seat) -> Ask {
    Ask {
        seat,
        kind: "choice",
        form: Form::integer(params.min, params.max),
        foul_allowance: params.foul_allowance,
    }
}

#[cfg(test)]
mod tests;
