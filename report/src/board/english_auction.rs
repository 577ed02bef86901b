//! An English auction: the item under the hammer, bids that rise, budgets that shrink, and what is over.
//! Folds events into a scene; what is unknown is absent. Called by `board.rs`.

use agon_engine::{Seat, Value};

use super::Fold;
use super::scene::{Bidder, BoardSeat, Lot, Scene};
use super::seen::Seen;

/// See the module.
pub struct Rising {
    item: String,
    place: usize,
    items: usize,
    starting_price: f64,
    highest: Option<f64>,
    leader: Option<Seat>,
    /// How the item ended: whether it was sold, and what it was worth.
    over: Option<(bool, Option<f64>)>,
    bidders: Vec<Bidder>,
    lots: Vec<Lot>,
}

impl Rising {
    pub fn new(seats: usize) -> Self {
        let bidder = |seat| Bidder {
            seat,
            ..Bidder::default()
        };
        Self {
            item: String::new(),
            place: 0,
            items: 0,
            starting_price: 0.0,
            highest: None,
            leader: None,
            over: None,
            bidders: (0..seats).map(bidder).collect(),
            lots: Vec::new(),
        }
    }

    /// Rounds of bids on this item.
    fn rounds(&self) -> usize {
        let rounds = self.bidders.iter().map(|bidder| bidder.bids.len());
        rounds.max().unwrap_or(0)
    }

    fn open(&mut self, event: &Seen<'_>) {
        let item = event.text("item").unwrap_or_default();
        // An item that nobody wanted is opened again, at a discount.
        if item != self.item || self.over.is_none() {
            self.place += 1;
        } else {
            self.lots.pop();
        }
        self.item = item;
        self.starting_price = event.number("starting_price").unwrap_or(0.0);
        (self.highest, self.leader, self.over) = (None, None, None);
        for bidder in &mut self.bidders {
            bidder.bids.clear();
            bidder.withdrawn = false;
            bidder.estimate = event.number_of("estimate", bidder.seat);
        }
        self.money(event);
    }

    fn bid(&mut self, event: &Seen<'_>) {
        let withdrew = event.seats("withdrew");
        for bidder in &mut self.bidders {
            bidder.bids.push(event.number_of("bids", bidder.seat));
            bidder.withdrawn |= withdrew.contains(&bidder.seat);
        }
        self.leader = event.seat("leader");
        self.highest = event.number("highest");
    }

    fn end(&mut self, event: &Seen<'_>) {
        let (winner, price) = (event.seat("winner"), event.number("price"));
        let true_value = event.number("true_value");
        self.over = Some((winner.is_some(), true_value));
        self.lots.push(Lot {
            item: self.item.clone(),
            winner,
            price,
            true_value,
        });
        for bidder in &mut self.bidders {
            if let Some(gain) = event.number_of("profit", bidder.seat) {
                *bidder.profit.get_or_insert(0.0) += gain;
            }
        }
        self.money(event);
    }

    fn money(&mut self, event: &Seen<'_>) {
        for bidder in &mut self.bidders {
            if let Some(budget) = event.number_of("budget", bidder.seat) {
                bidder.budget = Some(budget);
            }
        }
    }
}

impl Fold for Rising {
    fn see(&mut self, event: &Seen<'_>) {
        match event.kind() {
            "briefing" => {
                self.items = match event.fact("items") {
                    Value::List(items) => items.len(),
                    _ => 0,
                };
                self.money(event);
            }
            "item_opened" => self.open(event),
            "bid_round" => self.bid(event),
            "hammer" | "unsold" => self.end(event),
            _ => {}
        }
    }

    fn round(&self, _: u32) -> String {
        match self.over {
            None if self.rounds() == 0 => format!("Item {}, no bids yet", self.place),
            None => format!("Item {}, round {} of bids", self.place, self.rounds()),
            Some(_) => format!("Item {}, after the hammer", self.place),
        }
    }

    fn scene(&self) -> Scene {
        Scene::Rising {
            item: self.item.clone(),
            place: self.place,
            items: self.items,
            starting_price: self.starting_price,
            true_value: self.over.and_then(|(_, true_value)| true_value),
            highest: self.highest,
            leader: self.leader,
            sold: self.over.map(|(sold, _)| sold),
            bidders: self.bidders.clone(),
            lots: self.lots.clone(),
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        let bidder = &self.bidders[seat];
        let leads = self.leader == Some(seat);
        BoardSeat::playing(seat)
            .figure("budget", bidder.budget)
            .figure("profit", bidder.profit)
            .figure("estimate", bidder.estimate)
            .mark("leads", leads && self.over.is_none())
            .mark("won", leads && self.over.is_some_and(|(sold, _)| sold))
            .mark("withdrawn", bidder.withdrawn && self.over.is_none())
    }
}
