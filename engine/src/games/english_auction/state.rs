//! The auction in progress: which item is up, who may still bid for it, what is
//! legal, and when the hammer falls. Parameters were checked before; everything
//! that players are told is emitted here.

use super::{EnglishAuctionParams, Item, MOST_ROUNDS, Objective, WITHDRAW};
use crate::games::prelude::*;

/// Where the draw for a tie stands in its stream: the same bid round of the same
/// item always has the same luck.
pub(crate) fn tie_index(item: u32, bid_round: u32) -> u32 {
    item * (MOST_ROUNDS + 1) + bid_round
}

fn bidders(params: &EnglishAuctionParams, items: &[Item]) -> Vec<Bidder> {
    let overestimates = params.overestimate_percent.of(params.players);
    let objectives = params.objective.of(params.players);
    let budgets = params.budget.of(params.players).into_iter();
    let rest = overestimates.into_iter().zip(objectives);
    budgets
        .zip(rest)
        .map(|(budget, (overestimate, objective))| Bidder {
            budget,
            objective,
            estimates: items
                .iter()
                .map(|item| EnglishAuctionParams::estimate(item, overestimate))
                .collect(),
            profit: 0,
            won: Vec::new(),
        })
        .collect()
}

/// The game in progress.
#[derive(Clone)]
pub struct AuctionState {
    params: Arc<EnglishAuctionParams>,
    /// In order of sale.
    items: Vec<Item>,
    /// Which item is up.
    place: usize,
    lot: Lot,
    bidders: Vec<Bidder>,
    asks: Vec<Ask>,
}

#[derive(Clone)]
struct Bidder {
    budget: i64,
    objective: Objective,
    estimates: Vec<i64>,
    profit: i64,
    /// Places of the items won.
    won: Vec<usize>,
}

/// The item that is up.
#[derive(Clone)]
struct Lot {
    starting_price: i64,
    increase: i64,
    discounts: u32,
    /// Bid rounds so far, over all discounts.
    rounds: u32,
    standing: Option<Standing>,
    withdrawn: Vec<bool>,
}

/// The offer that stands at the end of a round.
#[derive(Clone, Copy)]
struct Standing {
    leader: Seat,
    highest: i64,
}

impl Lot {
    fn new(params: &EnglishAuctionParams, item: &Item) -> Self {
        Self {
            starting_price: item.starting_price,
            increase: params.increase(item.starting_price),
            discounts: 0,
            rounds: 0,
            standing: None,
            withdrawn: vec![false; params.players],
        }
    }

    fn least_bid(&self) -> i64 {
        match self.standing {
            Some(standing) => standing.highest + self.increase,
            None => self.starting_price,
        }
    }

    /// Who may bid in the next round.
    fn asked(&self) -> impl Iterator<Item = Seat> {
        let leader = self.standing.map(|standing| standing.leader);
        let seats = self.withdrawn.iter().enumerate();
        seats
            .filter(move |(seat, withdrawn)| !**withdrawn && Some(*seat) != leader)
            .map(|(seat, _)| seat)
    }

    /// Settles who leads after these bids, one entry per seat; the seats that
    /// were equal at the top, if there were several.
    fn settle(&mut self, item: u32, bids: &[Option<i64>], chance: &mut Chance) -> Vec<Seat> {
        let Some(highest) = bids.iter().flatten().copied().max() else {
            return Vec::new();
        };
        let mut top = seats_where(bids.iter().map(|bid| *bid == Some(highest)));
        // Without a minimum increase a bid can equal the one that stands.
        if let Some(standing) = self.standing
            && standing.highest == highest
        {
            top.push(standing.leader);
            top.sort_unstable();
        }
        let leader = chance.seat_among(TIES, tie_index(item, self.rounds), &top);
        self.standing = Some(Standing { leader, highest });
        if top.len() > 1 { top } else { Vec::new() }
    }

    /// Offers the item again at a lower price.
    fn discount(&mut self, params: &EnglishAuctionParams) {
        self.starting_price = params.discounted(self.starting_price);
        if params.minimum_increase_follows_discount {
            self.increase = params.increase(self.starting_price);
        }
        self.discounts += 1;
        self.withdrawn.fill(false);
    }
}

impl State for AuctionState {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn check(&self, ask: &Ask, action: &Action) -> Result<(), Foul> {
        match action {
            Action::Integer(bid) if ask.form.check(action).is_err() => Err(Foul::new(
                FoulKind::OutOfRange,
                self.why_not(ask.seat, *bid),
            )),
            _ => ask.form.check(action),
        }
    }

    fn advance(&mut self, answers: &[Answer], chance: &mut Chance, log: &mut EventLog) {
        self.lot.rounds += 1;
        let mut bids = vec![None; self.bidders.len()];
        let mut withdrew = Vec::new();
        for (ask, answer) in self.asks.iter().zip(answers) {
            bids[ask.seat] = answer.integer();
            if answer.integer().is_none() {
                self.lot.withdrawn[ask.seat] = true;
                withdrew.push(ask.seat);
            }
        }
        let tied = self.lot.settle(self.number(), &bids, chance);
        let lot = &self.lot;
        log.push(
            self.event("bid_round")
                .fact("bid_round", lot.rounds)
                .fact("bids", column(bids.iter().copied()))
                .fact("withdrew", withdrew)
                .fact("tied", tied)
                .fact("leader", lot.standing.map(|standing| standing.leader))
                .fact("highest", lot.standing.map(|standing| standing.highest))
                .fact("least_bid", lot.least_bid()),
        );
        self.asks.clear();
        let is_last = lot.rounds >= self.params.max_rounds;
        if is_last || lot.asked().next().is_none() {
            self.close_lot(log);
        } else {
            self.ask();
        }
    }

    fn payoffs(&self) -> Vec<f64> {
        let payoff = |bidder: &Bidder| match bidder.objective {
            Objective::MaximizeProfit => bidder.profit as f64,
            Objective::MaximizeItems => bidder.won.len() as f64,
        };
        self.bidders.iter().map(payoff).collect()
    }
}

impl AuctionState {
    /// Opens the auction with its first item.
    pub(super) fn open(
        params: &Arc<EnglishAuctionParams>,
        chance: &mut Chance,
        log: &mut EventLog,
    ) -> Self {
        let items = params.order.arrange(&params.items, chance);
        let mut state = Self {
            bidders: bidders(params, &items),
            lot: Lot::new(params, &items[0]),
            params: Arc::clone(params),
            items,
            place: 0,
            asks: Vec::new(),
        };
        state.brief(log);
        state.announce(log);
        state.ask();
        state
    }

    fn item(&self) -> &Item {
        &self.items[self.place]
    }

    /// Items are counted from 1; an item is a round of events.
    fn number(&self) -> u32 {
        self.place as u32 + 1
    }

    fn event(&self, kind: &'static str) -> Event {
        Event::new(kind, self.number()).fact("item", self.item().name.clone())
    }

    /// A column with something of every bidder.
    fn of_bidders(&self, what: impl Fn(&Bidder) -> i64) -> Vec<i64> {
        self.bidders.iter().map(what).collect()
    }

    fn ask(&mut self) {
        let least = self.lot.least_bid();
        let setup = self.params.setup();
        let asks = self.lot.asked().map(|seat| {
            let form = Form::Integer {
                min: Some(least),
                max: Some(self.bidders[seat].budget),
                pass: Some(Name::Borrowed(WITHDRAW)),
            };
            setup.ask(seat, AskRole::Bid, "bid", form)
        });
        self.asks = asks.collect();
    }

    /// Why a bid is not legal, and what would be.
    fn why_not(&self, seat: Seat, bid: i64) -> String {
        let least = self.lot.least_bid();
        let budget = self.bidders[seat].budget;
        let fault = match self.lot.standing {
            _ if bid > budget => format!("a bid of {bid} is more than your remaining budget"),
            None => format!("a bid of {bid} is below the starting price of {least}"),
            Some(Standing { highest, .. }) => {
                let increase = self.lot.increase;
                format!(
                    "a bid of {bid} is too low: the highest bid is {highest} and the minimum \
                     increase {increase}"
                )
            }
        };
        if least > budget {
            return format!(
                "{fault}; the least legal bid is {least} and your remaining budget {budget}, so \
                 you can only \"{WITHDRAW}\""
            );
        }
        format!(
            "{fault}; bid at least {least} and at most your remaining budget of {budget}, or \
             \"{WITHDRAW}\""
        )
    }

    /// Ends the bidding for the item that is up, and goes on.
    fn close_lot(&mut self, log: &mut EventLog) {
        match self.lot.standing {
            Some(standing) => self.sell(standing, log),
            None if self.may_discount() => {
                self.lot.discount(&self.params);
                self.announce(log);
                self.ask();
                return;
            }
            None => log.push(
                self.event("unsold")
                    .fact("bid_rounds", self.lot.rounds)
                    .fact("discounts", self.lot.discounts)
                    .hidden("true_value", self.item().true_value),
            ),
        }
        if self.place + 1 == self.items.len() {
            self.report(log);
            return;
        }
        self.place += 1;
        self.lot = Lot::new(&self.params, &self.items[self.place]);
        self.announce(log);
        self.ask();
    }

    fn may_discount(&self) -> bool {
        let params = &self.params;
        params.discount_unsold
            && self.lot.discounts < params.discount_rounds
            && self.lot.rounds < params.max_rounds
    }

    fn sell(&mut self, standing: Standing, log: &mut EventLog) {
        let Standing { leader, highest } = standing;
        let true_value = self.item().true_value;
        let profit = true_value - highest;
        let winner = &mut self.bidders[leader];
        winner.budget -= highest;
        winner.profit += profit;
        winner.won.push(self.place);
        let seats = 0..self.bidders.len();
        let won: Vec<bool> = seats.map(|seat| seat == leader).collect();
        let gains = won.iter().map(|won| if *won { profit } else { 0 });
        log.push(
            self.event("hammer")
                .fact("winner", leader)
                .fact("price", highest)
                .fact("true_value", true_value)
                .fact("bid_rounds", self.lot.rounds)
                .own("profit", gains.collect::<Vec<i64>>())
                .own("budget", self.of_bidders(|bidder| bidder.budget))
                .own("won", won),
        );
    }

    /// Puts the item up, first or at a lowered price.
    fn announce(&self, log: &mut EventLog) {
        let (item, lot) = (self.item(), &self.lot);
        log.push(
            self.event("item_opened")
                .fact("items_left", self.items.len() - self.place)
                .fact("starting_price", lot.starting_price)
                .fact("minimum_increase", lot.increase)
                .fact("discounts", lot.discounts)
                .fact("description", item.description.clone())
                .fact("size", item.size.clone())
                .fact("location", item.location.clone())
                .own(
                    "estimate",
                    self.of_bidders(|bidder| bidder.estimates[self.place]),
                )
                .own("budget", self.of_bidders(|bidder| bidder.budget)),
        );
    }

    fn brief(&self, log: &mut EventLog) {
        let (params, items) = (&self.params, &self.items);
        let of_each =
            |of: fn(&Item) -> Option<&String>| value_of(items.iter().map(of).collect::<Vec<_>>());
        let of_seats =
            |of: fn(&Bidder) -> Value| self.bidders.iter().map(of).collect::<Vec<Value>>();
        let prices: Vec<i64> = items.iter().map(|item| item.starting_price).collect();
        let true_values: Vec<i64> = items.iter().map(|item| item.true_value).collect();
        let suits: Vec<&[String]> = items.iter().map(|item| &*item.suits).collect();
        log.push(
            params
                .briefing()
                .fact("items", of_each(|item| Some(&item.name)))
                .fact("starting_prices", prices)
                .fact("descriptions", of_each(|item| item.description.as_ref()))
                .fact("sizes", of_each(|item| item.size.as_ref()))
                .fact("locations", of_each(|item| item.location.as_ref()))
                .fact("minimum_increase_percent", params.minimum_increase_percent)
                .fact("discount_unsold", params.discount_unsold)
                .fact("discount_percent", params.discount_percent)
                .fact("discount_rounds", params.discount_rounds)
                .fact(
                    "minimum_increase_follows_discount",
                    params.minimum_increase_follows_discount,
                )
                .fact("max_rounds", params.max_rounds)
                .own("budget", self.of_bidders(|bidder| bidder.budget))
                .own(
                    "estimates",
                    of_seats(|bidder| bidder.estimates.clone().into()),
                )
                .own("objective", of_seats(|bidder| value_of(bidder.objective)))
                .hidden("true_values", true_values)
                .hidden(
                    "overestimate_percent",
                    params.overestimate_percent.of(params.players),
                )
                .hidden("suits", value_of(suits))
                .hidden("personas", value_of(&params.personas)),
        );
    }

    /// The personal reports at the end.
    fn report(&self, log: &mut EventLog) {
        let name = |place: &usize| &self.items[*place].name;
        let won = self.bidders.iter();
        let won = won.map(|bidder| bidder.won.iter().map(name).collect());
        let won: Vec<Vec<&String>> = won.collect();
        log.push(
            Event::new("auction_over", self.number())
                .fact("profits", self.of_bidders(|bidder| bidder.profit))
                .fact(
                    "items_won",
                    self.of_bidders(|bidder| bidder.won.len() as i64),
                )
                .own("profit", self.of_bidders(|bidder| bidder.profit))
                .own("won_items", value_of(won))
                .own("budget_left", self.of_bidders(|bidder| bidder.budget)),
        );
    }
}
