//! Measures of an auction, computed from what happened in it. Averages over
//! sessions and charts belong to `agon-report`.

use std::collections::BTreeSet;

use super::EnglishAuctionParams;
use super::theory::{self, PROFIT_RATIO};
use crate::games::prelude::*;

/// Per seat: `profit` (true values less prices of what it won), `profit_ratio`
/// (Harbor, section 3.1: that profit / sum over all items of true value - starting
/// price, in percent), `items_won`, `budget_left`, `bids` (accepted ones),
/// `withdrawals`, `failed_bids` (amounts that the rules refused, arXiv 2310.05746,
/// section 4.2), and, where seats have personas, `matched_offered` and
/// `matched_won` (items that suit one of its personas). Per item in order of sale:
/// `sold` (1 or 0), `prices` (0 when unsold), `bid_rounds`. `engagements`: accepted
/// bids, item by item, one entry per seat. Per accepted bid, in order: `increments`
/// (percent over the bidder's own highest offer before, for its first bid on an
/// item over the starting price), `increment_seats`, `increment_items` (from 1).
/// Parts: `items_sold`, `revenue`, `bid_rounds`.
pub(super) fn measures(params: &EnglishAuctionParams, log: &EventLog, moves: &[Move]) -> Measures {
    let mut measures = Measures::default();
    let book = Book::read(params, log);
    let Some(end) = log.of_kind("auction_over").next() else {
        return measures;
    };
    let profits = end.numbers("profits");
    let stake = theory::stake(params);
    if stake > 0 {
        let percent = |profit: f64| 100.0 * profit / stake as f64;
        measures.score(PROFIT_RATIO, percent(profits.iter().sum()));
        let ratios = profits.iter().map(|profit| percent(*profit));
        measures.series(PROFIT_RATIO, ratios.collect());
    }
    measures.series("items_won", end.numbers("items_won"));
    measures.series("budget_left", end.numbers("budget_left"));
    measures.series("profit", profits);
    let mut failed = vec![0.0; params.players];
    for made in moves {
        let fouls = made.fouls.iter();
        let refused = fouls.filter(|foul| foul.kind == FoulKind::OutOfRange);
        failed[made.seat] += refused.count() as f64;
    }
    measures.series("failed_bids", failed);
    book.add_to(&mut measures);
    add_matches(params, log, &mut measures);
    measures
}

/// Everything that was bid.
#[derive(Default)]
struct Book {
    engagements: Vec<Vec<f64>>,
    withdrawals: Vec<f64>,
    rounds: Vec<f64>,
    prices: Vec<f64>,
    sold: Vec<f64>,
    /// In percent, with the bidder and the item.
    increments: Vec<[f64; 3]>,
}

impl Book {
    fn read(params: &EnglishAuctionParams, log: &EventLog) -> Self {
        let mut book = Self {
            withdrawals: vec![0.0; params.players],
            ..Self::default()
        };
        let mut offers = Vec::new();
        for event in log.all() {
            match &*event.kind {
                "item_opened" => {
                    if book.engagements.len() < event.round as usize {
                        book.engagements.push(vec![0.0; params.players]);
                    }
                    offers = vec![event.integer("starting_price").unwrap_or(0); params.players];
                }
                "bid_round" => book.read_round(event, &mut offers),
                "hammer" | "unsold" => {
                    let is_sold = event.kind == "hammer";
                    book.sold.push(f64::from(u8::from(is_sold)));
                    book.rounds.push(event.number("bid_rounds").unwrap_or(0.0));
                    book.prices.push(event.number("price").unwrap_or(0.0));
                }
                _ => {}
            }
        }
        book
    }

    /// `offers`: what each seat's next bid for the item is compared with.
    fn read_round(&mut self, event: &Event, offers: &mut [i64]) {
        for seat in event.integers("withdrew") {
            self.withdrawals[*seat as usize] += 1.0;
        }
        let Some(engaged) = self.engagements.last_mut() else {
            return;
        };
        for (seat, before) in offers.iter_mut().enumerate() {
            let Some(bid) = event.integer_at("bids", seat) else {
                continue;
            };
            engaged[seat] += 1.0;
            let percent = 100.0 * (bid - *before) as f64 / *before as f64;
            let item = f64::from(event.round);
            self.increments.push([percent, seat as f64, item]);
            *before = bid;
        }
    }

    fn add_to(self, measures: &mut Measures) {
        let seats = self.withdrawals.len();
        let bids_of = |seat: Seat| self.engagements.iter().map(|item| item[seat]).sum();
        measures.series("bids", (0..seats).map(bids_of).collect());
        measures.series("withdrawals", self.withdrawals);
        measures.series("engagements", self.engagements.concat());
        measures.part("items_sold", self.sold.iter().sum());
        measures.part("revenue", self.prices.iter().sum());
        measures.part("bid_rounds", self.rounds.iter().sum());
        measures.series("sold", self.sold);
        measures.series("prices", self.prices);
        measures.series("bid_rounds", self.rounds);
        let names = ["increments", "increment_seats", "increment_items"];
        measures.columns(names, &self.increments);
    }
}

/// Items that suit a seat's personas: how many there are and how many it won.
fn add_matches(params: &EnglishAuctionParams, log: &EventLog, measures: &mut Measures) {
    if params.personas.is_empty() {
        return;
    }
    let winner_of = |name: &str| {
        let mut hammers = log.of_kind("hammer");
        let sold = hammers.find(|event| event.get("item").and_then(Value::text) == Some(name))?;
        sold.integer("winner")
    };
    let (mut offered, mut won) = (Vec::new(), Vec::new());
    for (seat, personas) in params.personas.iter().enumerate() {
        let personas: BTreeSet<&String> = personas.iter().collect();
        let items = params.items.iter();
        let matched = items.filter(|item| item.suits.iter().any(|name| personas.contains(name)));
        let (mut all, mut mine) = (0.0, 0.0);
        for item in matched {
            all += 1.0;
            mine += f64::from(u8::from(winner_of(&item.name) == Some(seat as i64)));
        }
        offered.push(all);
        won.push(mine);
    }
    measures.series("matched_offered", offered);
    measures.series("matched_won", won);
}
