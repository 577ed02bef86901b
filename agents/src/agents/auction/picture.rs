//! One seat's picture of an English auction, kept from the events it was shown:
//! items in order of sale, its own budget and estimates, every bid round, and
//! where everybody stands by what is public. The truth that beliefs are checked
//! against comes from here, so it is never more than the seat may know.

use agon_engine::Seat;
use agon_engine::game::player_name;
use agon_engine::view::SeenEvent;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::mind::MindError;

/// The game's default for `max_rounds`. No sale takes as many, so bidders are told of fewer only.
const MANY_ROUNDS: u32 = 1_000;

/// The auction as one seat has seen it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Picture {
    /// Whose picture it is.
    pub seat: Seat,
    /// Number of bidders.
    pub players: usize,
    /// Items in order of sale.
    pub items: Vec<Item>,
    /// The item that is up: its place in the order of sale, which is also the
    /// number of items that are over.
    pub place: usize,
    /// What the seat could spend at the start.
    pub start_budget: i64,
    /// What the seat can still spend.
    pub budget: i64,
    /// What the seat is out for: `maximize_profit` or `maximize_items`.
    pub objective: String,
    /// Starting price of the item that is up, discounts counted.
    pub starting_price: i64,
    /// Minimum increase of the item that is up.
    pub minimum_increase: i64,
    /// How an item that nobody bids on is offered again; none where it stays unsold.
    pub discount: Option<Discount>,
    /// Bid rounds of an item, over all its offers, after which it is sold in any case; none
    /// from [`MANY_ROUNDS`] on.
    pub most_rounds: Option<u32>,
    /// Everybody's profit and items so far, by seat.
    pub standings: Vec<Standing>,
    /// Whether the auction is over.
    pub over: bool,
}

/// How an item that nobody bids on is offered again.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Discount {
    /// How often at most.
    pub rounds: u32,
    /// How much lower the starting price is each time, in percent of the one before.
    pub percent: u32,
    /// Whether the minimum increase falls with it.
    pub lowers_increase: bool,
}

/// An item of the auction.
#[derive(Debug, Clone, Serialize)]
pub struct Item {
    /// Its name; no two items share one.
    pub name: String,
    /// Its starting price before any discount.
    pub starting_price: i64,
    /// What the seat thinks that it is worth.
    pub estimate: i64,
    /// What is said of it.
    pub description: Option<String>,
    /// Its size.
    pub size: Option<String>,
    /// Where it is.
    pub location: Option<String>,
    /// Its bid rounds so far, over all discounts.
    pub rounds: Vec<Round>,
    /// How its sale ended, once it did.
    pub outcome: Option<Outcome>,
}

impl Item {
    /// Every bid of a seat on it.
    pub fn bids_of(&self, seat: Seat) -> impl Iterator<Item = i64> + Clone + '_ {
        let rounds = self.rounds.iter();
        rounds.filter_map(move |round| *round.bids.get(seat)?)
    }
}

/// One bid round of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Number of the round, from 1.
    pub bid_round: u32,
    /// Each seat's bid; none where a seat was not asked or withdrew.
    pub bids: Vec<Option<i64>>,
    /// Seats that withdrew in this round.
    pub withdrew: Vec<Seat>,
    /// Who leads after the round.
    pub leader: Option<Seat>,
    /// The bid that leads.
    pub highest: Option<i64>,
    /// The least that a bid must be in the next round.
    pub least_bid: i64,
}

/// How the sale of an item ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// Who won it and what it paid; none when it stayed unsold.
    pub winner: Option<Seat>,
    /// The price that was paid.
    pub price: Option<i64>,
    /// The true value, which is told at the hammer only.
    pub true_value: Option<i64>,
}

/// What everybody knows of one bidder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// The bidder's name.
    pub name: String,
    /// True values less prices of what it won.
    pub profit: i64,
    /// What it paid in all.
    pub spent: i64,
    /// What it won: item name and price.
    pub won: Vec<(String, i64)>,
}

/// What an event meant for the auction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// The rules were told; everything about the items is known from here on.
    Briefed,
    /// An item is up, first or at a lowered price.
    Opened(usize),
    /// A bid round of the item that is up.
    Bid,
    /// The sale of the item at this place is over.
    ItemOver(usize),
    /// The auction is over.
    Over,
    /// Nothing that an auction agent needs.
    Nothing,
}

#[derive(Deserialize)]
struct Briefing {
    players: usize,
    items: Vec<String>,
    starting_prices: Vec<i64>,
    descriptions: Vec<Option<String>>,
    sizes: Vec<Option<String>>,
    locations: Vec<Option<String>>,
    budget: i64,
    estimates: Vec<i64>,
    objective: String,
    discount_unsold: bool,
    discount_rounds: u32,
    discount_percent: u32,
    minimum_increase_follows_discount: bool,
    max_rounds: u32,
}

#[derive(Deserialize)]
struct Opening {
    starting_price: i64,
    minimum_increase: i64,
    budget: i64,
}

#[derive(Deserialize)]
struct Hammer {
    winner: Seat,
    price: i64,
    true_value: i64,
    budget: i64,
}

impl Picture {
    /// The picture of a seat that has seen nothing yet.
    pub fn new(seat: Seat) -> Self {
        Self {
            seat,
            ..Self::default()
        }
    }

    /// Takes an event in and says what it meant.
    ///
    /// # Errors
    /// It is not an event of this game.
    pub fn hear(&mut self, event: &SeenEvent) -> Result<Happened, MindError> {
        Ok(match &*event.kind {
            "briefing" => self.brief(read(event)?),
            "item_opened" => {
                let opening: Opening = read(event)?;
                self.starting_price = opening.starting_price;
                self.minimum_increase = opening.minimum_increase;
                self.budget = opening.budget;
                Happened::Opened(self.place)
            }
            "bid_round" => {
                let round: Round = read(event)?;
                if let Some(item) = self.items.get_mut(self.place) {
                    item.rounds.push(round);
                }
                Happened::Bid
            }
            "hammer" => self.sold(&read(event)?),
            "unsold" => self.close(Outcome::default()),
            "auction_over" => {
                self.over = true;
                Happened::Over
            }
            _ => Happened::Nothing,
        })
    }

    /// The item that is up; none before the briefing and after the last item.
    pub fn item(&self) -> Option<&Item> {
        self.items.get(self.place)
    }

    /// Items that are up or still to come, in order of sale.
    pub fn remaining(&self) -> &[Item] {
        self.items.get(self.place..).unwrap_or_default()
    }

    /// Items whose sale is over, in order of sale.
    pub fn past(&self) -> &[Item] {
        self.items.get(..self.place).unwrap_or(&self.items)
    }

    /// Names of all bidders, by seat.
    pub fn names(&self) -> Vec<String> {
        (0..self.players).map(player_name).collect()
    }

    /// The bid round that is asked for now, from 1.
    pub fn bid_round(&self) -> u32 {
        let rounds = self.item().map_or(&[][..], |item| &item.rounds);
        rounds.last().map_or(1, |round| round.bid_round + 1)
    }

    fn brief(&mut self, briefing: Briefing) -> Happened {
        let standing = |seat| Standing {
            name: player_name(seat),
            ..Standing::default()
        };
        let texts = briefing.descriptions.into_iter().zip(briefing.sizes);
        let texts = texts.zip(briefing.locations);
        let numbers = briefing.starting_prices.into_iter().zip(briefing.estimates);
        let items = briefing.items.into_iter().zip(numbers).zip(texts);
        let item = |((name, (starting_price, estimate)), ((description, size), location))| Item {
            name,
            starting_price,
            estimate,
            description,
            size,
            location,
            rounds: Vec::new(),
            outcome: None,
        };
        *self = Self {
            seat: self.seat,
            players: briefing.players,
            items: items.map(item).collect(),
            start_budget: briefing.budget,
            budget: briefing.budget,
            objective: briefing.objective,
            discount: (briefing.discount_unsold && briefing.discount_rounds > 0).then_some(
                Discount {
                    rounds: briefing.discount_rounds,
                    percent: briefing.discount_percent,
                    lowers_increase: briefing.minimum_increase_follows_discount,
                },
            ),
            most_rounds: Some(briefing.max_rounds).filter(|most| *most < MANY_ROUNDS),
            standings: (0..briefing.players).map(standing).collect(),
            ..Self::default()
        };
        Happened::Briefed
    }

    fn sold(&mut self, hammer: &Hammer) -> Happened {
        self.budget = hammer.budget;
        let name = self.item().map(|item| item.name.clone());
        if let (Some(standing), Some(name)) = (self.standings.get_mut(hammer.winner), name) {
            standing.profit += hammer.true_value - hammer.price;
            standing.spent += hammer.price;
            standing.won.push((name, hammer.price));
        }
        self.close(Outcome {
            winner: Some(hammer.winner),
            price: Some(hammer.price),
            true_value: Some(hammer.true_value),
        })
    }

    fn close(&mut self, outcome: Outcome) -> Happened {
        let place = self.place;
        if let Some(item) = self.items.get_mut(place) {
            item.outcome = Some(outcome);
        }
        self.place += 1;
        Happened::ItemOver(place)
    }
}

/// The facts of an event, by name.
fn read<T: DeserializeOwned>(event: &SeenEvent) -> Result<T, MindError> {
    let facts = serde_json::to_value(event).and_then(serde_json::from_value);
    facts.map_err(|error| {
        let kind = &event.kind;
        MindError::Impossible(format!("the event {kind} is none of this game: {error}"))
    })
}

#[cfg(test)]
mod tests;
