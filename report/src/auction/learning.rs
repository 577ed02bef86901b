//! How players fare from place to place of their series: profit, items, failed bids, and
//! how many lessons they had in mind; these are counted, never read. Says nothing of
//! sessions that stand for themselves.

use std::collections::BTreeMap;

use agon_engine::Carried;
use serde::Serialize;
use serde_json::Value;

use super::fares::Fares;
use super::reading::Auction;
use crate::accumulator::Accumulator;
use crate::basis::Basis;
use crate::by_player::ByPlayer;

/// The kind of note that lessons stand in.
const LESSONS: &str = "tips";

/// One player at one place of its series, over the series of a setting. Means are of one
/// seat in one session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearningRow {
    /// Its name; all its seats are taken together.
    pub player: String,
    /// The place, from 0.
    pub place: u32,
    /// How often it sat there: seats times series.
    pub sat: u64,
    /// How many of these the means are of: those in which it answered enough.
    pub n: u64,
    /// Its answers there.
    pub answers: Basis,
    /// Mean profit.
    pub profit: Option<f64>,
    /// Standard deviation (n - 1) of that profit; `None` for fewer than two.
    pub profit_sd: Option<f64>,
    /// Mean number of items won.
    pub items_won: Option<f64>,
    /// Corrected failure rate of its bids.
    pub failed_bid_rate: Option<f64>,
    /// Mean number of lessons that it had taken along; `None` at the first place.
    pub lessons: Option<f64>,
}

/// All players so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Learning {
    /// Whether any session is a later one of a series.
    in_series: bool,
    players: ByPlayer<BTreeMap<u32, Sums>>,
}

#[derive(Debug, Clone, Default)]
struct Sums {
    basis: Basis,
    fares: Fares,
    lessons: Accumulator,
}

impl Learning {
    pub fn add(&mut self, auction: &Auction<'_>) {
        let place = auction.record.spec.luck.place;
        self.in_series |= place > 0;
        for (seat, player) in auction.players.iter().enumerate() {
            let sums = self.players.of(player).entry(place).or_default();
            if !auction.players[..seat].contains(player) {
                let answers = auction
                    .answers
                    .of_player(&auction.record.spec.seats, player);
                sums.basis.add(&auction.answers, &answers);
            }
            sums.fares.add(auction, seat);
            if let Some(carried) = auction.record.carried.as_ref()
                && auction.is_measured(seat)
            {
                sums.lessons.add(lessons(carried, seat) as f64);
            }
        }
    }

    pub fn rows(&self) -> Vec<LearningRow> {
        if !self.in_series {
            return Vec::new();
        }
        let rows = self.players.iter().flat_map(|(player, places)| {
            places.iter().map(|(place, sums)| LearningRow {
                player: player.to_owned(),
                place: *place,
                sat: sums.fares.sat,
                n: sums.fares.profit.count(),
                answers: sums.basis.clone(),
                profit: sums.fares.profit.mean(),
                profit_sd: sums.fares.profit.standard_deviation(),
                items_won: sums.fares.items_won.mean(),
                failed_bid_rate: sums.fares.failed_bid_rate(),
                lessons: sums.lessons.mean(),
            })
        });
        rows.collect()
    }
}

fn lessons(carried: &Carried, seat: usize) -> usize {
    let listed = carried.of(seat, LESSONS).and_then(|body| body.get(LESSONS));
    listed.and_then(Value::as_array).map_or(0, Vec::len)
}
