//! How well profiles of rivals match their true personas (Harbor, profiling error), item
//! by item. Reads the `profile` notes and the personas that the game kept hidden.

use std::collections::BTreeMap;

use agon_engine::Seat;
use serde::Serialize;

use super::reading::Auction;
use crate::accumulator::Accumulator;
use crate::by_player::ByPlayer;
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
    /// Profiles that could not be read, so that the one before stayed.
    pub kept: u64,
    /// How often it sat in an auction that is left out, because more than half of its profiles
    /// could not be read, or because it forfeited more than half of its answers.
    pub left_out: u64,
    /// Entry k: mean divergence in nats, over rivals and sessions, of the true persona
    /// distribution from the profile after k items; `None` where there was none.
    pub divergence: Vec<Option<f64>>,
    /// The same of a profile that knows nothing: ln 10 with ten personas and one per
    /// rival, ln 5 with two per rival.
    pub baseline: Option<f64>,
}

/// Profiles after the last item that one player made of rivals alike: so many rivals in
/// all, so many personas each, so many items that suit them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProfileEndRow {
    /// Its name.
    pub player: String,
    /// How many rivals it had.
    pub rivals: u64,
    /// How many personas the profiled rival had.
    pub personas: u64,
    /// How many items of the auction suit one of them.
    pub matched: u64,
    /// Profiles that were compared.
    pub profiles: u64,
    /// Their mean divergence in nats.
    pub divergence: f64,
    /// The same of a profile that knows nothing.
    pub baseline: f64,
}

/// Profiles so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Profiles {
    players: ByPlayer<Kept>,
}

#[derive(Debug, Clone, Default)]
struct Kept {
    without_truth: u64,
    unread: u64,
    left_out: u64,
    rounds: Vec<Accumulator>,
    baseline: Accumulator,
    ends: BTreeMap<Known, Ends>,
}

/// Rivals, personas of the one that was profiled, and items that suit it: what makes a
/// rival easy or hard to know.
type Known = (u64, u64, u64);

#[derive(Debug, Clone, Default)]
struct Ends {
    divergence: Accumulator,
    baseline: Accumulator,
}

impl Profiles {
    pub fn add(&mut self, auction: &Auction<'_>) {
        let measured = self.count(auction);
        let profiles = auction.notes("profile");
        for (seat, profile) in profiles.filter(|(seat, _)| measured.contains(seat)) {
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
            // Shares that sum to 1 before epsilon is added: 1/2 and 1/2 for a mix of two.
            let is_true = |name: &&String| personas.contains(&&***name);
            let equal = 1.0 / weights.keys().filter(is_true).count().max(1) as f64;
            let share = |name: &String| if is_true(&name) { equal } else { 0.0 };
            let truth: Vec<f64> = weights.keys().map(share).collect();
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
            if after == auction.items.len() {
                let items = auction.items.iter();
                let matched = items.filter(|item| auction.matches(item, about)).count();
                let rivals = auction.players.len() - 1;
                let known = (rivals as u64, personas.len() as u64, matched as u64);
                let ends = kept.ends.entry(known).or_default();
                ends.divergence.add(divergence);
                ends.baseline.add(unknowing);
            }
        }
    }

    /// Counts what could not be read; returns the seats whose profiles are measured.
    fn count(&mut self, auction: &Auction<'_>) -> Vec<Seat> {
        let mut measured = Vec::new();
        for (seat, player) in auction.players.iter().enumerate() {
            let own = auction.notes("profile").filter(|(owner, _)| *owner == seat);
            let made = own.filter(|(_, profile)| profile["source"] != "start");
            let unread: Vec<bool> = made
                .map(|(_, profile)| profile["source"] == "kept")
                .collect();
            let all = unread.len();
            let unread = unread.into_iter().filter(|unread| *unread).count();
            if 2 * unread <= all && auction.is_measured(seat) {
                measured.push(seat);
                if all > 0 {
                    self.players.of(player).unread += unread as u64;
                }
            } else if all > 0 {
                self.players.of(player).left_out += 1;
            }
        }
        measured
    }

    pub fn rows(&self) -> Vec<ProfileRow> {
        let rows = self.players.iter().map(|(player, kept)| ProfileRow {
            player: player.to_owned(),
            profiles: kept.baseline.count(),
            without_truth: kept.without_truth,
            kept: kept.unread,
            left_out: kept.left_out,
            divergence: kept.rounds.iter().map(Accumulator::mean).collect(),
            baseline: kept.baseline.mean(),
        });
        rows.collect()
    }

    pub fn ends(&self) -> Vec<ProfileEndRow> {
        let players = self.players.iter();
        let rows = players.flat_map(|(player, kept)| {
            kept.ends.iter().filter_map(move |(known, ends)| {
                let (rivals, personas, matched) = *known;
                Some(ProfileEndRow {
                    player: player.to_owned(),
                    rivals,
                    personas,
                    matched,
                    profiles: ends.divergence.count(),
                    divergence: ends.divergence.mean()?,
                    baseline: ends.baseline.mean()?,
                })
            })
        });
        rows.collect()
    }
}
