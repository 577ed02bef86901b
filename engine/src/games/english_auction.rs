//! English auction: several items sold one after another by rising bids.
//!
//! All bidders know the order, the starting prices and the descriptions from the
//! start, each its own budget and its own estimate of each item, which is its true
//! value off by a percentage; nobody knows true values. An item is sold in bid
//! rounds: every bidder that has not withdrawn from it and does not lead is asked
//! at the same time for a bid or to withdraw, for this item. A bid is at most the
//! remaining budget and at least the starting price, or the highest bid at the end
//! of the previous round plus the minimum increase; bids of one round are not
//! compared. The highest leads, chance decides between equal ones. When nobody is
//! left to ask, the leader pays its bid and the true value becomes known. An item
//! without a bid is unsold, or offered again at a lowered starting price to
//! everybody. A forfeited ask is a withdrawal. A payoff is the profit, or the
//! number of items for seats of that objective.
//!
//! Source: Chen et al., arXiv 2310.05746, section 3; house auctions: "Harbor:
//! Exploring Persona Dynamics in Multi-Agent Competition", section 3.1.

use super::prelude::*;
use crate::game::{Game, read};
use crate::spec::Settings;

mod checks;
mod items;
mod players;
mod scores;
mod state;
mod theory;

use checks::MOST_DISCOUNTS;
pub(crate) use checks::MOST_ROUNDS;
pub use items::{Item, Order};
pub use state::AuctionState;
pub(crate) use state::tie_index;

/// The word for leaving an item to the others.
pub const WITHDRAW: &str = "withdraw";

/// Bidders of the paper's standard competition (section 4.2).
const BIDDERS: usize = 3;

parameters! {
    /// Parameters of the game; the standard competition of the paper (sections 3.3 and 4.2)
    /// unless they are set.
    pub struct EnglishAuctionParams(players = BIDDERS, foul_allowance = FOUL_ALLOWANCE);
    declared {
        /// What is sold: name, starting_price, true_value, and optionally description,
        /// size, location, suits (personas that the item matches).
        items: Vec<Item> = items::default_items();
        /// Order of sale: as_listed, random (drawn), ascending or descending by
        /// starting price.
        order: Order = Order::AsListed;
        /// What a bidder can spend; one amount, or one per seat.
        budget: PerSeat<i64> = PerSeat::Same(20_000);
        /// How far estimates lie above true values, in percent; one, or one per seat.
        overestimate_percent: PerSeat<i64> = PerSeat::Same(10);
        /// What a payoff counts: maximize_profit or maximize_items; one, or one per seat.
        objective: PerSeat<Objective> = PerSeat::Same(Objective::MaximizeProfit);
        /// Personas of each seat, a list of names per seat, for counting matched
        /// items; nobody in play is told. Empty without personas.
        personas: Vec<Vec<String>> = Vec::new();
    }
    briefed {
        /// Minimum increase over the highest bid, in percent of the starting price.
        minimum_increase_percent: u32 = 10, in 0..=100;
        /// Whether the minimum increase falls with a lowered starting price.
        minimum_increase_follows_discount: bool = true;
        /// Offer an item that nobody bid on again at a lower starting price.
        discount_unsold: bool = false;
        /// How much lower each time, in percent of the price before.
        discount_percent: u32 = 50, in 1..=100;
        /// How often the price of one item is lowered at most.
        discount_rounds: u32 = 3, in 0..=MOST_DISCOUNTS;
        /// Bid rounds of one item after which the hammer falls whatever is offered.
        max_rounds: u32 = 1000, in 1..=MOST_ROUNDS;
    }
}

/// A value for all seats, or one for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected one value for all seats, or a list with one per seat"
)]
pub enum PerSeat<T> {
    /// The same for all.
    Same(T),
    /// One per seat.
    Each(Vec<T>),
}

impl<T: Copy> PerSeat<T> {
    /// One value per seat.
    fn of(&self, players: usize) -> Vec<T> {
        match self {
            Self::Same(value) => vec![*value; players],
            Self::Each(values) => values.clone(),
        }
    }
}

/// What a bidder is out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// The highest profit: true values less prices.
    MaximizeProfit,
    /// As many items as possible.
    MaximizeItems,
}

impl EnglishAuctionParams {
    /// What a bidder of this overestimation thinks that an item is worth:
    /// floor(true value x (1 + percent / 100)) (arXiv 2310.05746, section 3.3).
    pub fn estimate(item: &Item, overestimate_percent: i64) -> i64 {
        (item.true_value * (100 + overestimate_percent)).div_euclid(100)
    }

    /// The minimum increase that belongs to a starting price.
    fn increase(&self, starting_price: i64) -> i64 {
        starting_price * i64::from(self.minimum_increase_percent) / 100
    }

    /// The starting price after one more discount; a price is at least 1.
    fn discounted(&self, starting_price: i64) -> i64 {
        (starting_price * i64::from(100 - self.discount_percent) / 100).max(1)
    }

    /// Starting prices of an item from the first to the lowest.
    fn starting_prices(&self, item: &Item) -> impl Iterator<Item = i64> {
        let lowered = if self.discount_unsold {
            self.discount_rounds as usize
        } else {
            0
        };
        std::iter::successors(Some(item.starting_price), |price| {
            Some(self.discounted(*price))
        })
        .take(lowered + 1)
    }
}

/// The game as recorded auctions were held: bidders are asked again without end.
///
/// # Errors
/// The parameters make no auction.
pub(crate) fn build_without_cap(settings: &Settings) -> Result<Arc<dyn Game>, ParameterError> {
    let mut params: EnglishAuctionParams = read(settings)?;
    params.foul_allowance = u32::MAX;
    Ok(Arc::new(Arc::new(params)))
}

impl Rules for EnglishAuctionParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("english_auction"),
        title: Name::Borrowed("English Auction"),
        summary: Name::Borrowed("bid upwards for several items in a row, from one budget"),
        seats: (2, 100),
        chance: true,
        source: Name::Borrowed("AucArena, arXiv 2310.05746; Harbor for house auctions"),
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = AuctionState;

    fn settle(&mut self) -> Result<(), ParameterError> {
        checks::check(self)
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        let order = "the briefing lists the items in the order of sale";
        let means = "a bidder knows its own means and aims alone";
        let estimates = "a bidder knows its own estimates alone";
        let values = "nobody knows what an item is worth before the hammer falls";
        let personas = "personas are for counting and are told by no event";
        vec![
            Disclosure::briefed(&[
                "items.name",
                "items.starting_price",
                "items.description",
                "items.size",
                "items.location",
            ]),
            Disclosure::to_everybody(order, &["order"]).draws(&[ORDERS]),
            Disclosure::to_everybody("everybody hears who leads", &[]).draws(&[TIES]),
            Disclosure::to_owner(means, &["budget", "objective"]),
            Disclosure::to_owner(estimates, &["overestimate_percent"]),
            Disclosure::to_nobody(values, &["items.true_value"])
                .seen_in(&["estimate", "estimates"])
                .until("hammer"),
            Disclosure::to_nobody(personas, &["items.suits", "personas"]),
        ]
    }

    fn asks_per_seat(&self) -> u32 {
        theory::most_asks(self)
    }

    fn usual_asks_per_seat(&self) -> u32 {
        theory::usual_asks(self)
    }

    /// Every round of bids and every item has events of its own.
    fn values_per_ask(&self) -> u64 {
        32
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        theory::payoff_bounds(self)
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        AuctionState::open(self, chance, log)
    }

    fn equilibrium(&self) -> Equilibrium {
        theory::equilibrium(self)
    }

    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures {
        scores::measures(self, log, moves)
    }
}

#[cfg(test)]
mod tests;
