//! Ascending auction of one item with private values: the English variant of the
//! second-price auction.
//!
//! Assets and private values are those of the second-price auction, and the same in all
//! rounds. In a round everybody begins inside. Prices are called, `increment` first and
//! that much more each time, up to the assets. At each price the bidders still inside
//! are asked in turn, from the last seat to the first, whether they stay at this price
//! or drop out for good; everybody hears who drops out. The sale ends as soon as one
//! bidder is left inside, before it is asked again. It wins, and pays the highest price
//! that it stayed at, 0 if none: the price at which the last rival dropped out, or the
//! one before where the rival was asked first. When several stay at the last price that
//! can be called, the lowest seat wins. A bidder gets what `second_price_auction` says.
//! A fouling bidder is out of the round and pays the entrance fee; with fewer than two
//! bidders without a foul the round is void. Staying at exactly the prices up to one's
//! value is weakly dominant: no price is paid that was not accepted.
//!
//! Source: "Economics Arena for Large Language Models", appendix A.1 (after Levin 2004).

use super::prelude::*;
use super::private_values::{self, Scale, Shown, Terms, auction_parameters};

mod players;
mod state;
mod theory;

pub use state::AscendingState;

/// The answer of a bidder that accepts the price.
pub const STAY: &str = "stay";

/// The answer of a bidder that gives up.
pub const DROP: &str = "drop";

/// What a bidder decides between.
const DECISIONS: &[Name] = &[Name::Borrowed(STAY), Name::Borrowed(DROP)];

/// Most prices that can be called in a round; each is a question to every bidder.
const MOST_CALLS: i64 = 1_000;

auction_parameters! {
    /// Parameters of the game.
    pub struct AscendingParams;
    briefed {
        /// The first price, and how much higher each further price is; at least a
        /// thousandth of the assets.
        increment: i64 = 5;
    }
}

impl AscendingParams {
    /// How many prices can be called.
    fn calls(&self) -> i64 {
        self.assets / self.increment
    }
}

impl Rules for AscendingParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("ascending_auction"),
        title: Name::Borrowed("Ascending Auction"),
        summary: Name::Borrowed(
            "stay or drop out as the price rises; the last one inside buys the item",
        ),
        seats: (2, 100),
        timing: Timing::Sequential,
        chance: true,
        source: Name::Borrowed("Economics Arena for Large Language Models, appendix A.1"),
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = AscendingState;

    fn settle(&mut self) -> Result<(), ParameterError> {
        self.terms().check()?;
        check_within("increment", self.increment, 1..=self.assets)?;
        let least = self.assets / (MOST_CALLS + 1) + 1;
        require!(
            self.calls() <= MOST_CALLS,
            "increment",
            "increment must be at least {least}, so that at most {MOST_CALLS} prices are called"
        );
        Ok(())
    }

    fn asks_per_seat(&self) -> u32 {
        self.rounds * self.calls() as u32
    }

    /// Up to the call that is above a usual value.
    fn usual_asks_per_seat(&self) -> u32 {
        let accepted = self.value_mean / self.increment as f64;
        let usual = (accepted as i64 + 1).min(self.calls());
        self.rounds * usual as u32
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        self.terms().payoff_bounds()
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        self.terms().disclosures()
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        let values = self.terms().draw(chance);
        let briefing = self.terms().brief(self.briefing(), &values);
        log.push(briefing.fact("increment", self.increment));
        AscendingState::open(Arc::clone(self), values, log)
    }

    fn equilibrium(&self) -> Equilibrium {
        private_values::equilibrium("everybody stays at the prices up to its private value")
    }

    /// As [`private_values::measures`], where a bid is the highest price that a bidder
    /// stayed at, and the equilibrium that of this discrete auction. A bidder's limit is
    /// only known to be at least its bid and below the price at which it dropped out;
    /// its distance is that of its value from there.
    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures {
        let mut ends = Vec::new();
        for event in log.of_kind("round_result") {
            let asks = event.integer("asks").unwrap_or(0) as u32;
            ends.push(ends.last().copied().unwrap_or(0) + asks);
        }
        let scale = Scale {
            equilibrium: &|values| theory::truthful_sale(self, values),
            distance: &outside,
            round_of: &|turn| 1 + ends.partition_point(|end| *end < turn) as u32,
        };
        private_values::measures(&self.terms(), log, moves, &scale)
    }
}

/// How far a value is outside of what a seat's answers say of its limit.
fn outside(event: &Event, seat: Seat, value: f64) -> Option<f64> {
    let bid = event.number_at("bids", seat)?;
    let dropped = event.number_at("dropped_at", seat);
    Some(match dropped {
        _ if value < bid => bid - value,
        Some(dropped) if value > dropped => value - dropped,
        _ => 0.0,
    })
}

#[cfg(test)]
mod tests;
