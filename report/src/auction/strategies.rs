//! Which of Harbor's six actions bidders choose, and how often a rival's profile decided
//! it (Harbor, section 3.5). Reads the `strategy` notes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::reading::Auction;
use crate::by_player::ByPlayer;

/// Choices of one player.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StrategyRow {
    /// Its name.
    pub player: String,
    /// Choices that could be read.
    pub choices: u64,
    /// Choices that could not.
    pub unreadable: u64,
    /// How often each letter was chosen, A to F: raise for a top priority, raise to drain
    /// a rival, raise because the budget allows it, quit to save, quit because the margin
    /// is gone, quit to avoid a war. Those never chosen are left out.
    pub counts: BTreeMap<String, u64>,
    /// The same as shares of `choices`.
    pub shares: BTreeMap<String, f64>,
    /// Share of `choices` that the profile of a rival decided.
    pub uses_profile: Option<f64>,
}

/// Choices so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Strategies {
    players: ByPlayer<Kept>,
}

#[derive(Debug, Clone, Default)]
struct Kept {
    counts: BTreeMap<String, u64>,
    unreadable: u64,
    by_profile: u64,
}

impl Strategies {
    pub fn add(&mut self, auction: &Auction<'_>) {
        for (seat, strategy) in auction.notes("strategy") {
            let kept = self.players.of(auction.players[seat]);
            if !auction.is_measured(seat) {
                continue;
            }
            match strategy["choice"].as_str() {
                Some(choice) => {
                    *kept.counts.entry(choice.to_owned()).or_default() += 1;
                    kept.by_profile += u64::from(strategy["uses_profile"] == true);
                }
                None => kept.unreadable += 1,
            }
        }
    }

    pub fn rows(&self) -> Vec<StrategyRow> {
        let rows = self.players.iter().map(|(player, kept)| {
            let choices: u64 = kept.counts.values().sum();
            let share = |count: u64| count as f64 / choices as f64;
            let counts = kept.counts.iter();
            StrategyRow {
                player: player.to_owned(),
                choices,
                unreadable: kept.unreadable,
                counts: kept.counts.clone(),
                shares: counts
                    .map(|(choice, count)| (choice.clone(), share(*count)))
                    .collect(),
                uses_profile: (choices > 0).then(|| share(kept.by_profile)),
            }
        });
        rows.collect()
    }
}
