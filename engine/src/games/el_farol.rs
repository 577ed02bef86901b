//! El Farol bar.
//!
//! In every round each player goes to the bar or stays home, all at the same
//! time. When at most `ratio` of all players go, the bar is good and going pays
//! `max`; otherwise it is crowded and going pays `min`. Staying pays `home`.
//! Everybody is told its own payoff; how many went is told to all players in
//! mode `explicit`, and only to those who went in mode `implicit`. A forfeited
//! ask stays home.
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
    check_between, check_fouls, check_table, column, exact, series_of,
};
use crate::measures::{Measures, mean, share_deviation};
use crate::moves::Move;
use crate::registry::{Built, Registration, read_params, write_params};
use crate::rule::{Rule, StrategyError};
use crate::rules::{common, el_farol as rules};
use crate::spec::Settings;

/// Entry in the registry.
pub const REGISTRATION: Registration = Registration {
    info: &INFO,
    strategies: rules::STRATEGIES,
    build,
    schema: || schemars::schema_for!(BarParams).to_value(),
};

const INFO: GameInfo = GameInfo {
    name: "el_farol",
    title: "El Farol Bar",
    summary: "go to the bar or stay home; going pays unless too many go",
    rules_version: 1,
    seats: (2, 1000),
    timing: Timing::Simultaneous,
    chance: false,
    hidden_information: true,
    source: "gamma-Bench, arXiv 2403.11807, game 2",
};

/// The word for going to the bar.
pub const GO: &str = "go";

/// The word for staying home.
pub const STAY: &str = "stay";

/// Parameters of the game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BarParams {
    /// Number of players; taken from the seats of the experiment.
    pub players: usize,
    /// Number of rounds.
    pub rounds: u32,
    /// Largest share of the players that the bar holds.
    pub ratio: f64,
    /// What going pays when the bar is good.
    pub max: i64,
    /// What going pays when the bar is crowded.
    pub min: i64,
    /// What staying home pays.
    pub home: i64,
    /// Who is told how many went.
    pub mode: Mode,
    /// Fouls forgiven per ask before it is forfeited.
    pub foul_allowance: u32,
    /// Accept what the published game accepted. It asked again for anything but
    /// "go" and "stay", so this changes nothing here.
    pub lenient: bool,
}

/// Who is told how many went to the bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Only those who were there.
    Implicit,
    /// Everybody.
    Explicit,
}

impl Default for BarParams {
    fn default() -> Self {
        Self {
            players: PLAYERS,
            rounds: ROUNDS,
            ratio: 0.6,
            max: 10,
            min: 0,
            home: 5,
            mode: Mode::Implicit,
            foul_allowance: DEFAULT_FOUL_ALLOWANCE,
            lenient: false,
        }
    }
}

impl BarParams {
    /// Whether the bar is good for this many guests. The only place that
    /// compares with the ratio: products like 0.29 * 100 are not what they seem.
    fn is_good(&self, goers: usize) -> bool {
        self.share(goers) <= self.ratio
    }

    fn share(&self, goers: usize) -> f64 {
        goers as f64 / self.players as f64
    }

    /// The most guests for whom the bar is good.
    pub fn capacity(&self) -> usize {
        (0..=self.players)
            .rev()
            .find(|goers| self.is_good(*goers))
            .unwrap_or(0)
    }
}

/// Who is told what.
const DISCLOSURES: &[Disclosure] = &[
    Disclosure::to_everybody(
        BRIEFED,
        &["players", "rounds", "ratio", "max", "min", "home", "mode"],
    ),
    Disclosure::to_everybody(ALIKE, &["foul_allowance", "lenient"]),
];

fn build(settings: &Settings) -> Result<Built, ParameterError> {
    let params: BarParams = read_params(settings)?;
    check_table(&INFO, params.players, params.rounds)?;
    check_fouls(params.foul_allowance)?;
    if !(0.0..=1.0).contains(&params.ratio) {
        let message = format!("ratio must be from 0 to 1, not {}", params.ratio);
        return Err(ParameterError::new("ratio", message));
    }
    check_between("max", params.max, -LARGEST_AMOUNT, LARGEST_AMOUNT)?;
    check_between("min", params.min, -LARGEST_AMOUNT, LARGEST_AMOUNT)?;
    if params.min >= params.max {
        return Err(ParameterError::new("max", "max must be greater than min"));
    }
    check_between("home", params.home, params.min, params.max)?;
    let written = write_params(&params);
    Ok(Built {
        game: std::sync::Arc::new(Bar { params }),
        params: written,
    })
}

struct Bar {
    params: BarParams,
}

impl Game for Bar {
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
        bounds_over(
            self.params.rounds,
            self.params.min as f64,
            self.params.max as f64,
        )
    }

    fn disclosures(&self) -> &'static [Disclosure] {
        DISCLOSURES
    }

    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        let params = &self.params;
        let mode = match params.mode {
            Mode::Implicit => "implicit",
            Mode::Explicit => "explicit",
        };
        log.push(
            briefing(params.players, params.rounds)
                .fact("ratio", params.ratio)
                .fact("max", params.max)
                .fact("min", params.min)
                .fact("home", params.home)
                .fact("mode", mode),
        );
        let form = Form::choice(&[GO, STAY]);
        let ask = Ask {
            seat: 0,
            kind: "choice",
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

    /// With the bar exactly full nobody gains by changing: a guest would get
    /// `home` instead of `max`, one more guest `min` instead of `home`.
    fn equilibrium(&self) -> Equilibrium {
        let capacity = self.params.capacity();
        let distance = (self.params.share(capacity) - self.params.ratio).abs();
        let value = score_at(&self.params, distance);
        Equilibrium {
            play: format!("the first {capacity} seats go, the others stay home"),
            scores: vec![exact("iclr2025", value), exact("arxiv2024", value)],
        }
    }

    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        measures(&self.params, log)
    }
}

impl RoundRules for BarParams {
    fn play(
        &mut self,
        round: u32,
        answers: &[Answer],
        payoffs: &mut [f64],
        _chance: &mut Chance,
        log: &mut EventLog,
    ) {
        let choice = |answer: &Answer| Some(if answer.choice()? == GO { GO } else { STAY });
        let went = |answer: &Answer| choice(answer) == Some(GO);
        let goers = answers.iter().filter(|answer| went(answer)).count();
        let (share, good) = (self.share(goers), self.is_good(goers));
        let evening = if good { self.max } else { self.min };
        let paid: Vec<i64> = answers
            .iter()
            .map(|answer| if went(answer) { evening } else { self.home })
            .collect();
        for (payoff, paid) in payoffs.iter_mut().zip(&paid) {
            *payoff += *paid as f64;
        }
        log.push(
            Event::new("round_result", round)
                .own("choice", column(answers.iter().map(choice)))
                .own("payoff", paid)
                .hidden("goers", goers)
                .hidden("share", share)
                .hidden("good", good),
        );
        let report = Event::new("bar_report", round)
            .fact("goers", goers)
            .fact("stayers", self.players - goers)
            .fact("share", share)
            .fact("good", good);
        match self.mode {
            Mode::Explicit => log.push(report),
            Mode::Implicit if goers == 0 => {}
            Mode::Implicit => {
                let seats = answers
                    .iter()
                    .enumerate()
                    .filter(|(_, answer)| went(answer));
                log.push(report.only_for(seats.map(|(seat, _)| seat).collect()));
            }
        }
    }
}

/// The score of both schemes from the mean distance between share and ratio.
fn score_at(params: &BarParams, distance: f64) -> f64 {
    let widest = larger(params.ratio, 1.0 - params.ratio);
    (widest - distance) / widest * 100.0
}

/// Scores of both schemes (arXiv 2403.11807, section 3.1 and version 1, appendix
/// C): with S = mean |share of goers - ratio| and W = max(ratio, 1 - ratio) both
/// are (W - S) / W * 100.
fn measures(params: &BarParams, log: &EventLog) -> Measures {
    let mut measures = Measures::default();
    let shares = series_of(log, "round_result", "share");
    if shares.is_empty() {
        return measures;
    }
    let distance = mean(shares.iter().map(|share| (share - params.ratio).abs()));
    let value = score_at(params, distance);
    measures.score("iclr2025", value);
    measures.score("arxiv2024", value);
    measures.part("S", distance);
    measures.series(
        "sd",
        shares.iter().map(|share| share_deviation(*share)).collect(),
    );
    measures.series("mean", shares);
    measures
}

#[cfg(test)]
mod tests;
