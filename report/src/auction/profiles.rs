//! How well profiles of rivals match their true personas (Harbor, profiling error), item
//! by item. Reads the `profile` notes and the personas that the game kept hidden.

use agon_engine::Seat;
use serde::Serialize;

use super::by_player::ByPlayer;
use super::reading::Auction;
use crate::accumulator::Accumulator;
use crate::statistics::persona_divergence;

/// Added to every share, so that a persona ruled out by mistake does not cost infinitely.
const EPSILON: f64 = 1e-9;

/// Profiles that one player made of its rivals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileRow {
    /// Its name.
    pub player: String,
    /// Profiles that could be compared with true personas.
    pub profiles: u64,
    /// Profiles of rivals without a persona of the world, which have no truth.
    pub without_truth: u64,
    /// Entry k: mean divergence in nats, over rivals and sessions, of the true persona
    /// distribution from the profile after k items; `None` where there was none.
    pub divergence: Vec<Option<f64>>,
    /// The same of a profile that knows nothing: ln 10 with ten personas and one per
    /// rival, ln 5 with two per rival.
    pub baseline: Option<f64>,
}

/// Profiles so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Profiles {
    players: ByPlayer<Kept>,
}

#[derive(Debug, Clone, Default)]
struct Kept {
    without_truth: u64,
    rounds: Vec<Accumulator>,
    baseline: Accumulator,
}

impl Profiles {
    pub fn add(&mut self, auction: &Auction<'_>) {
        for (seat, profile) in auction.notes("profile") {
            let (Some(after), Some(about), Some(weights)) = (
                profile["after_item"].as_u64().map(|after| after as usize),
                profile["about"].as_u64().map(|about| about as Seat),
                profile["weights"].as_object(),
            ) else {
                continue;
            };
            if after > auction.items.len() {
                continue;
            }
            let kept = self.players.of(auction.players[seat]);
            let personas = auction.personas(about);
            let is_true = |name: &String| f64::from(u8::from(personas.contains(&&**name)));
            let truth: Vec<f64> = weights.keys().map(is_true).collect();
            let read = weights.values().map(|weight| weight.as_f64());
            let weights: Option<Vec<f64>> = read.collect();
            let divergence =
                weights.and_then(|weights| persona_divergence(&truth, &weights, EPSILON).ok());
            let unknowing = persona_divergence(&truth, &vec![0.0; truth.len()], EPSILON);
            let (Some(divergence), Ok(unknowing)) = (divergence, unknowing) else {
                kept.without_truth += 1;
                continue;
            };
            if kept.rounds.len() <= after {
                kept.rounds.resize(after + 1, Accumulator::default());
            }
            kept.rounds[after].add(divergence);
            kept.baseline.add(unknowing);
        }
    }

    pub fn rows(&self) -> Vec<ProfileRow> {
        let rows = self.players.iter().map(|(player, kept)| ProfileRow {
            player: player.to_owned(),
            profiles: kept.baseline.count(),
            without_truth: kept.without_truth,
            divergence: kept.rounds.iter().map(Accumulator::mean).collect(),
            baseline: kept.baseline.mean(),
        });
        rows.collect()
    }
}
