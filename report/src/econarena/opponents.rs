//! Adaptation to opponents (section 4.2): the measures of a player by who else sat at the
//! table. Opponents are names: how often one of them sat does not matter.

use serde::Serialize;

use super::players::Sums;
use super::reading::Played;
use crate::by_player::ByPlayer;

/// One player against one set of others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OpponentsRow {
    /// Its name.
    pub player: String,
    /// Names of all other seats, sorted; its own among them where it sat twice.
    pub opponents: Vec<String>,
    /// Seats times sessions.
    pub sat: u64,
    /// How many of these its payoffs are means of.
    pub n: u64,
    /// Mean payoff of a run.
    pub payoff: Option<f64>,
    /// Rationality degree.
    pub rationality: Option<f64>,
    /// Share of runs won, from 0 to 1, ties included.
    pub wins: Option<f64>,
    /// Its valid actions.
    pub actions: u64,
    /// Mean of what it said.
    pub action: Option<f64>,
    /// Mean of it over the bound (contests) or over the private value (auctions).
    pub relative_action: Option<f64>,
    /// Mean deviation distance.
    pub deviation: Option<f64>,
}

/// All of them so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Opponents {
    players: ByPlayer<Vec<(Vec<String>, Sums)>>,
}

impl Opponents {
    pub fn add(&mut self, played: &Played<'_>) {
        for (seat, player) in played.players.iter().enumerate() {
            let others = played.players.iter().enumerate();
            let others = others.filter(|(other, _)| *other != seat);
            let mut names: Vec<String> = others.map(|(_, name)| (*name).to_owned()).collect();
            names.sort();
            names.dedup();
            let sets = self.players.of(player);
            let place = sets.iter().position(|(known, _)| *known == names);
            let place = place.unwrap_or_else(|| {
                sets.push((names, Sums::default()));
                sets.len() - 1
            });
            let sums = &mut sets[place].1;
            sums.add_seat(played, seat);
            for taken in played.actions.iter().filter(|taken| taken.seat == seat) {
                sums.add_action(taken);
            }
        }
    }

    pub fn rows(&self) -> Vec<OpponentsRow> {
        let sets = self.players.iter();
        let rows = sets.flat_map(|(player, sets)| {
            sets.iter().map(|(opponents, sums)| OpponentsRow {
                player: player.to_owned(),
                opponents: opponents.clone(),
                sat: sums.sat,
                n: sums.payoff.count(),
                payoff: sums.payoff.mean(),
                rationality: sums.rationality.mean(),
                wins: sums.wins.mean(),
                actions: sums.action.count(),
                action: sums.action.mean(),
                relative_action: sums.relative.mean(),
                deviation: sums.deviation.mean(),
            })
        });
        rows.collect()
    }
}
