//! How a player fares, counted the same way over all its auctions and at one place of its
//! series: profit, items won, and failed bids (arXiv 2310.05746, section 4.2). Profit and items
//! count only where it answered enough, failed bids always. Called by `players.rs` and
//! `learning.rs`.

use agon_engine::Seat;

use super::reading::Auction;
use crate::accumulator::Accumulator;
use crate::statistics::corrected_failure_rate;

/// What one player came to so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Fares {
    /// How often it sat.
    pub sat: u64,
    /// Profit of one seat in one session.
    pub profit: Accumulator,
    /// Items won by one seat in one session.
    pub items_won: Accumulator,
    /// Amounts that the rules refused, F.
    pub failed: u64,
    /// Accepted bids and withdrawals that were not forced, C.
    pub correct: u64,
}

impl Fares {
    /// Takes in what a seat came to.
    pub fn add(&mut self, auction: &Auction<'_>, seat: Seat) {
        self.sat += 1;
        if auction.is_measured(seat) {
            self.profit.add_known(auction.number("profit", seat));
            self.items_won.add_known(auction.number("items_won", seat));
        }
        let forfeits = auction.record.outcome.forfeits.get(seat);
        let forced = forfeits.map_or(0, |count| u64::from(*count));
        let acted = auction.count("bids", seat) + auction.count("withdrawals", seat);
        self.failed += auction.count("failed_bids", seat);
        self.correct += acted.saturating_sub(forced);
    }

    /// F / (C + F).
    pub fn failed_bid_rate(&self) -> Option<f64> {
        corrected_failure_rate(self.failed, self.correct)
    }
}
