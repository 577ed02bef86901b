//! Winning bids of each player and of each group of bidders, those out for the same, as
//! a histogram with a kernel density over it (arXiv 2310.05746, niche experiment and
//! figure 8): which prices they pay.

use serde::Serialize;

use super::reading::Auction;
use crate::by_player::ByPlayer;
use crate::statistics::gaussian_density;

/// Bins of a histogram: enough to show two humps, few enough for ten repeats.
const BINS: usize = 20;

/// Points of a density per bin.
const POINTS_PER_BIN: usize = 5;

/// Winning bids of a setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WinningBidTable {
    /// Width of each of the bins: 20 from 0 to the highest winning bid, each with its
    /// lower end, the last with both. 0 where nothing was won.
    pub bin_width: f64,
    /// Where densities are given: 101 points from 0 to the highest winning bid.
    pub at: Vec<f64>,
    /// Each player's.
    pub players: Vec<WinningBidRow>,
    /// Each group's.
    pub groups: Vec<WinningBidGroup>,
}

/// Winning bids of one player.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WinningBidRow {
    /// Its name.
    pub player: String,
    /// How many items it won.
    pub won: u64,
    /// How many winning bids fell into each bin.
    pub counts: Vec<u64>,
    /// Gaussian kernel density at the points of `at`, per unit of money, bandwidth by
    /// Scott's rule; `None` for fewer than two winning bids and where all are the same.
    pub density: Option<Vec<f64>>,
}

/// Winning bids of all seats that are out for the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WinningBidGroup {
    /// What they are out for: `maximize_profit` or `maximize_items`.
    pub group: String,
    /// Names of the players that sat in it.
    pub players: Vec<String>,
    /// How many items they won together.
    pub won: u64,
    /// As of a player.
    pub counts: Vec<u64>,
    /// As of a player, over the winning bids of all of them.
    pub density: Option<Vec<f64>>,
}

/// Winning bids so far.
#[derive(Debug, Clone, Default)]
pub(super) struct WinningBids {
    players: ByPlayer<Vec<f64>>,
    /// By what they are out for.
    groups: ByPlayer<Group>,
}

#[derive(Debug, Clone, Default)]
struct Group {
    players: Vec<String>,
    bids: Vec<f64>,
}

impl WinningBids {
    pub fn add(&mut self, auction: &Auction<'_>) {
        for (seat, player) in auction.players.iter().enumerate() {
            self.players.of(player);
            if let Some(objective) = auction.objective(seat) {
                let group = self.groups.of(objective);
                if !group.players.iter().any(|one| one == player) {
                    group.players.push((*player).to_owned());
                }
            }
        }
        let sold = auction.items.iter().filter_map(|item| item.sold);
        for (winner, price) in sold.filter(|(winner, _)| auction.is_measured(*winner)) {
            self.players.of(auction.players[winner]).push(price as f64);
            if let Some(objective) = auction.objective(winner) {
                self.groups.of(objective).bids.push(price as f64);
            }
        }
    }

    pub fn table(&self) -> WinningBidTable {
        let bids = self.players.iter().flat_map(|(_, bids)| bids);
        let highest = bids.copied().fold(0.0, f64::max);
        let width = highest / BINS as f64;
        let at: Vec<f64> = if highest > 0.0 {
            let points = BINS * POINTS_PER_BIN;
            let point = |place: usize| highest * place as f64 / points as f64;
            (0..=points).map(point).collect()
        } else {
            Vec::new()
        };
        let counted = |bids: &[f64]| {
            let mut counts = vec![0; if highest > 0.0 { BINS } else { 0 }];
            for bid in bids {
                let place = (bid / width) as usize;
                if let Some(count) = counts.get_mut(place.min(BINS - 1)) {
                    *count += 1;
                }
            }
            counts
        };
        let density = |bids: &[f64]| gaussian_density(bids, &at).unwrap_or_default();
        let players = self.players.iter().map(|(player, bids)| WinningBidRow {
            player: player.to_owned(),
            won: bids.len() as u64,
            counts: counted(bids),
            density: density(bids),
        });
        let groups = self
            .groups
            .iter()
            .map(|(objective, group)| WinningBidGroup {
                group: objective.to_owned(),
                players: group.players.clone(),
                won: group.bids.len() as u64,
                counts: counted(&group.bids),
                density: density(&group.bids),
            });
        WinningBidTable {
            bin_width: width,
            players: players.collect(),
            groups: groups.collect(),
            at,
        }
    }
}
