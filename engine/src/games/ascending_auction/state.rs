//! The game in progress: who is asked next, who is still inside, when the sale ends. Rules
//! in prose and parameters are in `ascending_auction.rs`, which opens it.

use super::{AscendingParams, DECISIONS, STAY};
use crate::games::prelude::*;
use crate::games::private_values::{Outcome, Sale};

/// Where a bidder stands in a round.
#[derive(Clone, Copy, PartialEq)]
enum Standing {
    Inside,
    /// Dropped out at this price.
    Out(i64),
    Fouled,
}

#[derive(Clone)]
struct Bidder {
    standing: Standing,
    /// The highest price that it stayed at.
    bid: i64,
}

/// The game in progress.
#[derive(Clone)]
pub struct AscendingState {
    params: Arc<AscendingParams>,
    values: Vec<i64>,
    payoffs: Vec<f64>,
    round: u32,
    bidders: Vec<Bidder>,
    price: i64,
    /// Who has still to answer at this price, the next one last.
    to_ask: Vec<Seat>,
    /// Asks of this round so far.
    asked: u32,
    asks: Vec<Ask>,
}

impl State for AscendingState {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn advance(&mut self, answers: &[Answer], _chance: &mut Chance, log: &mut EventLog) {
        for (ask, answer) in self.asks.iter().zip(answers) {
            let bidder = &mut self.bidders[ask.seat];
            match answer.choice() {
                Some(STAY) => {
                    bidder.bid = self.price;
                    continue;
                }
                Some(_) => bidder.standing = Standing::Out(self.price),
                None => bidder.standing = Standing::Fouled,
            }
            let fouled = bidder.standing == Standing::Fouled;
            log.push(
                Event::new("dropped_out", self.round)
                    .fact("player", ask.seat)
                    .fact("price", self.price)
                    .fact("fouled", fouled)
                    .fact("inside", self.inside()),
            );
        }
        self.asks.clear();
        self.go_on(log);
    }

    fn payoffs(&self) -> Vec<f64> {
        self.payoffs.clone()
    }
}

impl AscendingState {
    /// Opens the first round.
    pub(super) fn open(params: Arc<AscendingParams>, values: Vec<i64>, log: &mut EventLog) -> Self {
        let mut state = Self {
            payoffs: vec![0.0; values.len()],
            params,
            values,
            round: 0,
            bidders: Vec::new(),
            price: 0,
            to_ask: Vec::new(),
            asked: 0,
            asks: Vec::new(),
        };
        state.open_round(log);
        state
    }

    /// The seats still inside.
    fn inside(&self) -> Vec<Seat> {
        let bidders = self.bidders.iter();
        seats_where(bidders.map(|bidder| bidder.standing == Standing::Inside))
    }

    fn open_round(&mut self, log: &mut EventLog) {
        self.round += 1;
        self.price = 0;
        self.asked = 0;
        let newcomer = Bidder {
            standing: Standing::Inside,
            bid: 0,
        };
        self.bidders = vec![newcomer; self.values.len()];
        self.call(log);
        self.go_on(log);
    }

    /// Calls the next price.
    fn call(&mut self, log: &mut EventLog) {
        self.price += self.params.increment;
        self.to_ask = self.inside();
        log.push(
            Event::new("price_called", self.round)
                .fact("price", self.price)
                .fact("inside", self.to_ask.clone()),
        );
    }

    /// Asks the next bidder, or ends the round.
    fn go_on(&mut self, log: &mut EventLog) {
        if self.inside().len() > 1 {
            let is_last = self.price + self.params.increment > self.params.assets;
            if self.to_ask.is_empty() && !is_last {
                self.call(log);
            }
            if let Some(seat) = self.to_ask.pop() {
                self.asked += 1;
                let form = Form::choice(DECISIONS);
                let setup = self.params.setup();
                self.asks
                    .push(setup.ask(seat, AskRole::Choice, "decision", form));
                return;
            }
        }
        self.to_ask.clear();
        self.close_round(log);
        if self.round < self.params.rounds {
            self.open_round(log);
        }
    }

    fn close_round(&mut self, log: &mut EventLog) {
        let fouled = |seat: Seat| self.bidders[seat].standing == Standing::Fouled;
        let valid = (0..self.bidders.len())
            .filter(|seat| !fouled(*seat))
            .count();
        let winner = self.inside().first().copied();
        let sale = winner.filter(|_| valid > 1).map(|winner| Sale {
            winner,
            price: self.bidders[winner].bid as f64,
        });
        let values: Vec<f64> = self.values.iter().map(|value| *value as f64).collect();
        let terms = self.params.terms();
        let left = terms.left(&values, fouled, sale);
        let all = || self.bidders.iter();
        let bids = column(all().map(|bidder| {
            let valid = bidder.standing != Standing::Fouled;
            valid.then_some(bidder.bid)
        }));
        let dropped_at = column(all().map(|bidder| match bidder.standing {
            Standing::Out(price) => Some(price),
            Standing::Inside | Standing::Fouled => None,
        }));
        for (payoff, left) in self.payoffs.iter_mut().zip(&left) {
            *payoff += left;
        }
        let outcome = Outcome { sale, bids, left };
        let more = vec![("dropped_at", dropped_at)];
        let result = terms.result(self.round, &self.values, outcome, more);
        log.push(result.hidden("asks", self.asked));
    }
}
