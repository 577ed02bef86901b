//! Items over the sessions of a setting, by name and by starting price: how many bids a
//! player placed for one, and what it earned with those it won (arXiv 2310.05746,
//! appendix B.3). Starting prices are those announced, before any discount.

use std::collections::BTreeMap;

use serde::Serialize;

use super::reading::Auction;
use crate::accumulator::Accumulator;
use crate::by_player::ByPlayer;

/// One item, or all items of one starting price.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemRow {
    /// Its name; `None` for all of a starting price.
    pub item: Option<String>,
    /// Its starting price.
    pub starting_price: i64,
    /// How often it was put up.
    pub offered: u64,
    /// How often it was sold.
    pub sold: u64,
    /// Mean price of those sold.
    pub price: Option<f64>,
    /// What each player did about it.
    pub players: Vec<ItemPlayer>,
}

/// One player and an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemPlayer {
    /// Its name.
    pub player: String,
    /// Mean number of accepted bids for it, of one seat each time it was put up.
    pub bids: Option<f64>,
    /// How often it suited one of a seat's personas.
    pub matched: u64,
    /// How often it could have won it: each time it was put up while the player answered.
    pub offered: u64,
    /// How often it won it.
    pub won: u64,
    /// Mean profit when it won it: true value less price.
    pub profit: Option<f64>,
}

/// All items so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Items {
    names: BTreeMap<(i64, String), Sums>,
    prices: BTreeMap<i64, Sums>,
}

#[derive(Debug, Clone, Default)]
struct Sums {
    offered: u64,
    price: Accumulator,
    players: ByPlayer<PlayerSums>,
}

#[derive(Debug, Clone, Default)]
struct PlayerSums {
    offered: u64,
    bids: Accumulator,
    matched: u64,
    profit: Accumulator,
}

impl Items {
    pub fn add(&mut self, auction: &Auction<'_>) {
        for item in &auction.items {
            let key = (item.starting_price, item.name.to_owned());
            for sums in [
                self.names.entry(key).or_default(),
                self.prices.entry(item.starting_price).or_default(),
            ] {
                sums.offered += 1;
                let mut bidders: Vec<&str> = Vec::new();
                for (seat, player) in auction.measured_seats() {
                    let sums = sums.players.of(player);
                    sums.bids.add(item.engagements[seat]);
                    sums.matched += u64::from(auction.matches(item, seat));
                    if !bidders.contains(&player) {
                        bidders.push(player);
                        sums.offered += 1;
                    }
                }
                if let Some((winner, price)) = item.sold {
                    sums.price.add(price as f64);
                    if auction.is_measured(winner) {
                        let winner = sums.players.of(auction.players[winner]);
                        winner.profit.add(item.true_value as f64 - price as f64);
                    }
                }
            }
        }
    }

    /// Every item, by starting price, then name.
    pub fn by_name(&self) -> Vec<ItemRow> {
        let rows = self.names.iter();
        rows.map(|((price, name), sums)| sums.row(Some(name.clone()), *price))
            .collect()
    }

    /// Every starting price, rising.
    pub fn by_starting_price(&self) -> Vec<ItemRow> {
        let rows = self.prices.iter();
        rows.map(|(price, sums)| sums.row(None, *price)).collect()
    }
}

impl Sums {
    fn row(&self, item: Option<String>, starting_price: i64) -> ItemRow {
        let players = self.players.iter().map(|(player, sums)| ItemPlayer {
            player: player.to_owned(),
            bids: sums.bids.mean(),
            matched: sums.matched,
            offered: sums.offered,
            won: sums.profit.count(),
            profit: sums.profit.mean(),
        });
        ItemRow {
            item,
            starting_price,
            offered: self.offered,
            sold: self.price.count(),
            price: self.price.mean(),
            players: players.collect(),
        }
    }
}
