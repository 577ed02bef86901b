//! Auctions of one item: sealed bids, and a price that rises until one bidder is left.
//! Folds events into a scene; what is unknown is absent. Called by `board.rs`.

use agon_engine::Seat;

use super::Fold;
use super::scene::{BoardSeat, Dropped, Envelope, Scene, Valued};
use super::seen::Seen;

/// Sealed bids, at the first or the second price.
pub struct Envelopes {
    bids: Vec<Envelope>,
    price: Option<f64>,
    winner: Option<Seat>,
}

impl Envelopes {
    pub fn new(seats: usize) -> Self {
        let envelope = |seat| Envelope {
            seat,
            value: None,
            bid: None,
            won: false,
            profit: None,
        };
        Self {
            bids: (0..seats).map(envelope).collect(),
            price: None,
            winner: None,
        }
    }
}

impl Fold for Envelopes {
    fn see(&mut self, event: &Seen<'_>) {
        match event.kind() {
            "briefing" | "valuation" => {
                (self.price, self.winner) = (None, None);
                for envelope in &mut self.bids {
                    let seat = envelope.seat;
                    let value = event.number_of("valuation", seat);
                    *envelope = Envelope {
                        seat,
                        value: value.or_else(|| event.number_of("private_value", seat)),
                        bid: None,
                        won: false,
                        profit: None,
                    };
                }
            }
            "round_result" => {
                self.price = event.number("price");
                self.winner = event.seat("winner");
                for envelope in &mut self.bids {
                    let seat = envelope.seat;
                    let bid = event.number_of("bid", seat);
                    envelope.bid = bid.or_else(|| event.number_of("bids", seat));
                    envelope.won = event.is_so_for("won", seat) || self.winner == Some(seat);
                    let profit = event.number_of("utility", seat);
                    envelope.profit = profit.or_else(|| event.number_of("payoff", seat));
                    if envelope.won {
                        self.winner = Some(seat);
                    }
                }
            }
            _ => {}
        }
    }

    fn scene(&self) -> Scene {
        Scene::Envelopes {
            bids: self.bids.clone(),
            price: self.price,
            winner: self.winner,
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        let envelope = &self.bids[seat];
        BoardSeat::playing(seat)
            .figure("value", envelope.value)
            .figure("bid", envelope.bid)
            .mark("won", envelope.won)
    }
}

/// A price that rises until one bidder is left.
pub struct Clock {
    seats: usize,
    price: Option<f64>,
    highest: f64,
    inside: Vec<Seat>,
    dropped: Vec<Dropped>,
    values: Vec<Valued>,
    winner: Option<Seat>,
    paid: Option<f64>,
}

impl Clock {
    pub fn new(seats: usize) -> Self {
        Self {
            seats,
            price: None,
            highest: 1.0,
            inside: (0..seats).collect(),
            dropped: Vec::new(),
            values: Vec::new(),
            winner: None,
            paid: None,
        }
    }
}

impl Fold for Clock {
    fn see(&mut self, event: &Seen<'_>) {
        match event.kind() {
            "briefing" => {
                let values = (0..self.seats).filter_map(|seat| {
                    let value = event.number_of("private_value", seat)?;
                    Some(Valued { seat, value })
                });
                self.values = values.collect();
            }
            "price_called" => {
                if self.winner.is_some() {
                    (self.dropped, self.winner, self.paid) = (Vec::new(), None, None);
                }
                self.price = event.number("price");
                self.inside = event.seats("inside");
            }
            "dropped_out" => {
                self.inside = event.seats("inside");
                if let (Some(seat), Some(price)) = (event.seat("player"), event.number("price")) {
                    self.dropped.push(Dropped { seat, price });
                }
            }
            "round_result" => {
                self.winner = event.seat("winner");
                self.paid = event.number("price");
            }
            _ => {}
        }
        let values = self.values.iter().map(|valued| valued.value);
        let seen = values.chain(self.price).chain(self.paid);
        self.highest = seen.fold(self.highest, f64::max);
    }

    fn scene(&self) -> Scene {
        Scene::Clock {
            price: self.price,
            highest_price: self.highest,
            inside: self.inside.clone(),
            dropped: self.dropped.clone(),
            values: self.values.clone(),
            winner: self.winner,
            paid: self.paid,
        }
    }

    fn seat(&self, seat: Seat) -> BoardSeat {
        let value = self.values.iter().find(|valued| valued.seat == seat);
        let dropped = self.dropped.iter().rfind(|dropped| dropped.seat == seat);
        BoardSeat::playing(seat)
            .figure("value", value.map(|valued| valued.value))
            .figure("dropped out at", dropped.map(|dropped| dropped.price))
            .mark(
                "inside",
                self.winner.is_none() && self.inside.contains(&seat),
            )
            .mark("won", self.winner == Some(seat))
    }
}
