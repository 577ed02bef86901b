//! Winning bids of each player as a histogram with a kernel density over it
//! (arXiv 2310.05746, niche experiment): which prices a player pays.

use serde::Serialize;

use super::by_player::ByPlayer;
use super::reading::Auction;
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

/// Winning bids so far.
#[derive(Debug, Clone, Default)]
pub(super) struct WinningBids {
    players: ByPlayer<Vec<f64>>,
}

impl WinningBids {
    pub fn add(&mut self, auction: &Auction<'_>) {
        for player in &auction.players {
            self.players.of(player);
        }
        for (winner, price) in auction.items.iter().filter_map(|item| item.sold) {
            self.players.of(auction.players[winner]).push(price as f64);
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
        let players = self.players.iter().map(|(player, bids)| {
            let mut counts = vec![0; if highest > 0.0 { BINS } else { 0 }];
            for bid in bids {
                let place = (bid / width) as usize;
                if let Some(count) = counts.get_mut(place.min(BINS - 1)) {
                    *count += 1;
                }
            }
            WinningBidRow {
                player: player.to_owned(),
                won: bids.len() as u64,
                counts,
                density: gaussian_density(bids, &at).unwrap_or_default(),
            }
        });
        WinningBidTable {
            bin_width: width,
            players: players.collect(),
            at,
        }
    }
}
