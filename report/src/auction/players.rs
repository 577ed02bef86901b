//! What each player made of the auctions of a setting: profit, items, rating, failed
//! bids, engagement, and what Harbor adds: profit ratio and matched-item acquisition.

use serde::Serialize;

use super::fares::Fares;
use super::reading::Auction;
use crate::accumulator::Accumulator;
use crate::by_player::ByPlayer;
use crate::ratings::Ratings;

/// One player over the sessions of a setting. Failed bids and correct actions are counted over
/// all its seats and sessions, everything else over those in which it answered enough; means
/// are of one seat in one session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlayerRow {
    /// Its name; all its seats are taken together.
    pub player: String,
    /// How often it sat: seats times sessions.
    pub sat: u64,
    /// How many of these the means are of: those in which it answered enough.
    pub n: u64,
    /// Mean profit: true values less prices of what it won.
    pub profit: Option<f64>,
    /// Standard deviation (n - 1) of that profit; `None` for fewer than two.
    pub profit_sd: Option<f64>,
    /// Mean number of items won.
    pub items_won: Option<f64>,
    /// TrueSkill by profit after the last session, one entry per seat that the player has.
    pub trueskill: Vec<Rated>,
    /// Amounts that the rules refused, F.
    pub failed_bids: u64,
    /// Accepted bids and withdrawals that were not forced, C.
    pub correct_actions: u64,
    /// F / (C + F) (arXiv 2310.05746, section 4.2).
    pub failed_bid_rate: Option<f64>,
    /// Accepted bids per item that was put up.
    pub engagements_per_item: Option<f64>,
    /// Mean of 100 x profit / (true values less starting prices of all items), in percent
    /// (Harbor, section 3.1).
    pub profit_ratio: Option<f64>,
    /// Items that suit one of its personas.
    pub matched_offered: u64,
    /// Those of them that it won.
    pub matched_won: u64,
    /// `matched_won / matched_offered` (Harbor: matched-item acquisition).
    pub acquisition: Option<f64>,
}

/// A TrueSkill rating.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rated {
    /// The player's name; `name (2)` for its second seat.
    pub name: String,
    /// Estimated skill, 25 at first.
    pub mu: f64,
    /// Uncertainty, 25/3 at first.
    pub sigma: f64,
}

/// All players so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Players {
    sums: ByPlayer<Sums>,
    ratings: Ratings,
}

#[derive(Debug, Clone, Default)]
struct Sums {
    most_seats: usize,
    fares: Fares,
    profit_ratio: Accumulator,
    engagements: f64,
    items: u64,
    matched_offered: u64,
    matched_won: u64,
}

impl Players {
    pub fn add(&mut self, auction: &Auction<'_>) {
        for (seat, player) in auction.players.iter().enumerate() {
            let sums = self.sums.of(player);
            let seats = auction.players.iter().filter(|name| *name == player);
            sums.most_seats = sums.most_seats.max(seats.count());
            sums.fares.add(auction, seat);
            if !auction.is_measured(seat) {
                continue;
            }
            sums.profit_ratio
                .add_known(auction.number("profit_ratio", seat));
            sums.items += auction.items.len() as u64;
            let engaged = auction.items.iter().map(|item| item.engagements[seat]);
            sums.engagements += engaged.sum::<f64>();
            sums.matched_offered += auction.count("matched_offered", seat);
            sums.matched_won += auction.count("matched_won", seat);
        }
        let seats = auction.measured_seats();
        let (seats, players): (Vec<usize>, Vec<&str>) = seats.unzip();
        let profits = seats.iter().map(|seat| auction.number("profit", *seat));
        if let Some(profits) = profits.collect::<Option<Vec<f64>>>() {
            // What cannot be rated (a single bidder) leaves the ratings as they were.
            let _ = self.ratings.rate(&players, &profits);
        }
    }

    pub fn rows(&self) -> Vec<PlayerRow> {
        let rows = self.sums.iter().map(|(player, sums)| PlayerRow {
            player: player.to_owned(),
            sat: sums.fares.sat,
            n: sums.fares.profit.count(),
            profit: sums.fares.profit.mean(),
            profit_sd: sums.fares.profit.standard_deviation(),
            items_won: sums.fares.items_won.mean(),
            trueskill: self.rated(player, sums.most_seats),
            failed_bids: sums.fares.failed,
            correct_actions: sums.fares.correct,
            failed_bid_rate: sums.fares.failed_bid_rate(),
            engagements_per_item: (sums.items > 0).then(|| sums.engagements / sums.items as f64),
            profit_ratio: sums.profit_ratio.mean(),
            matched_offered: sums.matched_offered,
            matched_won: sums.matched_won,
            acquisition: (sums.matched_offered > 0)
                .then(|| sums.matched_won as f64 / sums.matched_offered as f64),
        });
        rows.collect()
    }

    fn rated(&self, player: &str, seats: usize) -> Vec<Rated> {
        let names = (1..=seats).map(|seat| match seat {
            1 => player.to_owned(),
            _ => format!("{player} ({seat})"),
        });
        let rated = names.filter_map(|name| {
            let rating = self.ratings.rating(&name)?;
            Some(Rated {
                name,
                mu: rating.mu,
                sigma: rating.sigma,
            })
        });
        rated.collect()
    }
}
