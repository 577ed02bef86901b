//! Bid increments (arXiv 2310.05746, section 4.3, "Execution Analysis"): how far each bid
//! goes over the bidder's own highest offer for the item before, in percent; its first
//! bid for an item is compared with the starting price. Sorted into bins for stacked bars.

use serde::Serialize;

use super::reading::Auction;
use crate::by_player::ByPlayer;

/// Where bins of increments begin, in percent: each holds its own edge and ends before
/// the next one, the last has no end.
#[derive(Debug, Clone, PartialEq)]
pub struct IncrementBins {
    edges: Vec<f64>,
}

impl Default for IncrementBins {
    /// The paper's: [0, 10), [10, 11) and above (figure 5).
    fn default() -> Self {
        Self {
            edges: vec![0.0, 10.0, 11.0],
        }
    }
}

impl IncrementBins {
    /// Bins that begin at these edges; `None` unless they are finite, rise, begin at 0 or
    /// below and are at least one. No increment is below 0.
    pub fn new(edges: Vec<f64>) -> Option<Self> {
        let finite = edges.iter().all(|edge| edge.is_finite());
        let rising = edges.windows(2).all(|pair| pair[0] < pair[1]);
        let first = edges.first().is_some_and(|edge| *edge <= 0.0);
        (finite && rising && first).then_some(Self { edges })
    }

    /// Where they begin.
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    fn place(&self, percent: f64) -> Option<usize> {
        self.edges.iter().rposition(|edge| *edge <= percent)
    }
}

/// Bid increments of one player.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IncrementRow {
    /// Its name.
    pub player: String,
    /// Accepted bids.
    pub bids: u64,
    /// Mean increment in percent.
    pub mean: Option<f64>,
    /// How many bids fell into each bin.
    pub counts: Vec<u64>,
    /// The same as shares of `bids`; empty without a bid.
    pub shares: Vec<f64>,
}

/// Increments of all players so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Increments {
    players: ByPlayer<Counted>,
}

#[derive(Debug, Clone, Default)]
struct Counted {
    bids: u64,
    sum: f64,
    counts: Vec<u64>,
}

impl Increments {
    pub fn add(&mut self, auction: &Auction<'_>, bins: &IncrementBins) {
        for player in &auction.players {
            self.players.of(player);
        }
        let series = &auction.record.measures.series;
        let (Some(increments), Some(seats)) =
            (series.get("increments"), series.get("increment_seats"))
        else {
            return;
        };
        for (percent, seat) in increments.iter().zip(seats) {
            let seat = *seat as usize;
            let (Some(player), Some(place)) = (auction.players.get(seat), bins.place(*percent))
            else {
                continue;
            };
            if !auction.is_measured(seat) {
                continue;
            }
            let counted = self.players.of(player);
            counted.counts.resize(bins.edges.len(), 0);
            counted.counts[place] += 1;
            counted.bids += 1;
            counted.sum += percent;
        }
    }

    pub fn rows(&self, bins: &IncrementBins) -> Vec<IncrementRow> {
        let rows = self.players.iter().map(|(player, counted)| {
            let mut counts = counted.counts.clone();
            counts.resize(bins.edges.len(), 0);
            let share = |count: &u64| *count as f64 / counted.bids as f64;
            let shares = match counted.bids {
                0 => Vec::new(),
                _ => counts.iter().map(share).collect(),
            };
            IncrementRow {
                player: player.to_owned(),
                bids: counted.bids,
                mean: (counted.bids > 0).then(|| counted.sum / counted.bids as f64),
                counts,
                shares,
            }
        });
        rows.collect()
    }
}
