//! What a player came to over the sessions of a setting (arXiv 2402.01521, appendix C): wins,
//! rounds survived, adaptation, strategic depth, prediction errors.

use agon_engine::Seat;
use serde::Serialize;

use super::predictions::errors;
use super::reading::Played;
use crate::accumulator::Accumulator;

/// One player over the sessions of a setting; means are of one seat in one session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlayerRow {
    /// Its name, or in first seats its method.
    pub player: String,
    /// How often it sat: seats times sessions.
    pub sat: u64,
    /// How many of these its means are of, where nothing else is said: those in which it
    /// answered enough.
    pub n: u64,
    /// Mean share of a session's rounds that it won, from 0 to 1 (formula 9).
    pub win_rate: Option<f64>,
    /// Standard deviation (n - 1) of that.
    pub win_rate_sd: Option<f64>,
    /// Mean of the last round that it played (formula 10).
    pub survival_rounds: Option<f64>,
    /// Standard deviation (n - 1) of that.
    pub survival_rounds_sd: Option<f64>,
    /// Mean adaptation index, over the seats for which it is defined.
    pub adaptation: Option<f64>,
    /// How many these are.
    pub adaptation_seats: u64,
    /// Mean strategic depth of the first choice, over seats that made one (formula 13).
    pub strategic_depth: Option<f64>,
    /// How many these are.
    pub strategic_depth_seats: u64,
    /// Mean prediction error over rounds and seats (formulas 11 and 12).
    pub prediction_error: Option<f64>,
    /// Rounds of seats with a prediction that could be compared.
    pub predictions: u64,
    /// The same round by round; empty for who predicts nothing.
    pub prediction_rounds: Vec<PredictionRow>,
}

/// Predictions for one round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictionRow {
    /// From 1.
    pub round: u32,
    /// How many could be compared.
    pub predictions: u64,
    /// Their mean error.
    pub error: Option<f64>,
}

/// Sums of one player.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    sat: u64,
    win_rate: Accumulator,
    survival_rounds: Accumulator,
    adaptation: Accumulator,
    depth: Accumulator,
    error: Accumulator,
    errors: Vec<Accumulator>,
}

impl Sums {
    /// Takes in what a seat came to.
    pub fn add(&mut self, played: &Played<'_>, seat: Seat) {
        self.sat += 1;
        if !played.is_measured(seat) {
            return;
        }
        self.win_rate.add_known(played.win_rate(seat));
        self.survival_rounds
            .add_known(played.number("survival_rounds", seat));
        let adaptation = played.number_of_some("adaptation", "adaptation_seats", seat);
        self.adaptation.add_known(adaptation);
        let depth = played.number_of_some("strategic_depth", "strategic_depth_seats", seat);
        self.depth.add_known(depth);
        for (round, error) in errors(played, seat) {
            self.error.add(error);
            let rounds = self.errors.len().max(round as usize);
            self.errors.resize(rounds, Accumulator::default());
            if let Some(errors) = (round as usize)
                .checked_sub(1)
                .and_then(|place| self.errors.get_mut(place))
            {
                errors.add(error);
            }
        }
    }

    pub fn row(&self, player: &str) -> PlayerRow {
        let rounds = (1..)
            .zip(&self.errors)
            .map(|(round, errors)| PredictionRow {
                round,
                predictions: errors.count(),
                error: errors.mean(),
            });
        PlayerRow {
            player: player.to_owned(),
            sat: self.sat,
            n: self.win_rate.count(),
            win_rate: self.win_rate.mean(),
            win_rate_sd: self.win_rate.standard_deviation(),
            survival_rounds: self.survival_rounds.mean(),
            survival_rounds_sd: self.survival_rounds.standard_deviation(),
            adaptation: self.adaptation.mean(),
            adaptation_seats: self.adaptation.count(),
            strategic_depth: self.depth.mean(),
            strategic_depth_seats: self.depth.count(),
            prediction_error: self.error.mean(),
            predictions: self.error.count(),
            prediction_rounds: rounds.collect(),
        }
    }
}
