//! Second-price auction of one item with private values (Vickrey 1961).
//!
//! Each player has assets and a private value of the item, the whole part of a
//! normally distributed number, drawn again until it is above 0 and at most the
//! assets. In every round (a run, in the words of the paper) all players bid a real
//! number from 0 to the assets at once. The highest bid wins, of equal ones that of
//! the lowest seat, and pays the second highest. The winner is left with its assets
//! less the price plus its value, everybody else with the assets. Values and assets
//! are the same in all rounds. A fouling player is in neither ranking nor price and
//! pays the entrance fee; a round with fewer than two valid bids is void: nothing is
//! sold. Everybody is told the bids, with `shown` also the private values, except
//! with a `history` of 0. In equilibrium everybody bids its value.
//!
//! Source: "Economics Arena for Large Language Models", sections 3 and 4 and
//! appendix A.1; measures from its appendices A.2 and A.3.

use super::prelude::*;
use super::private_values::{self, Outcome, Sale, Scale, Terms, auction_parameters};

mod players;

pub use super::private_values::Shown;

auction_parameters! {
    /// Parameters of the game.
    pub struct AuctionParams;
}

impl Rules for AuctionParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("second_price_auction"),
        title: Name::Borrowed("Second-Price Auction"),
        summary: Name::Borrowed(
            "bid once for an item of private value; the highest bid pays the second highest",
        ),
        chance: true,
        source: Name::Borrowed("Economics Arena for Large Language Models, appendix A.1"),
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = Rounds<AuctionRound>;

    fn settle(&mut self) -> Result<(), ParameterError> {
        self.terms().check()
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        self.terms().payoff_bounds()
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        self.terms().disclosures()
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        let terms = self.terms();
        let values = terms.draw(chance);
        log.push(terms.brief(self.briefing(), &values));
        let form = Form::Number {
            min: 0.0,
            max: terms.assets as f64,
        };
        let ask = self.setup().ask(0, AskRole::Bid, "bid", form);
        let rules = AuctionRound { terms, values };
        Rounds::start(rules, self.setup(), &ask, chance, log)
    }

    fn equilibrium(&self) -> Equilibrium {
        private_values::equilibrium("everybody bids its private value")
    }

    /// As [`private_values::measures`]; a bid is as far from the value as it differs.
    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures {
        let truthful = |values: &[f64]| {
            let bids: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
            sell(&bids)
        };
        let distance = |event: &Event, seat: Seat, value: f64| {
            Some((event.number_at("bids", seat)? - value).abs())
        };
        let scale = Scale {
            equilibrium: &truthful,
            distance: &distance,
            round_of: &|turn| turn,
        };
        private_values::measures(&self.terms(), log, moves, &scale)
    }
}

/// What a round means.
#[derive(Clone)]
pub struct AuctionRound {
    terms: Terms,
    values: Vec<i64>,
}

impl RoundRules for AuctionRound {
    fn play(&mut self, round: Round<'_>) -> Vec<f64> {
        let answers = round.answers;
        let bids: Vec<Option<f64>> = answers.iter().map(Answer::number).collect();
        let sale = sell(&bids);
        let values: Vec<f64> = self.values.iter().map(|value| *value as f64).collect();
        let left = self.terms.left(&values, |seat| bids[seat].is_none(), sale);
        let gains = left.clone();
        let bids = column(bids.iter().copied());
        let outcome = Outcome { sale, bids, left };
        let terms = self.terms;
        round
            .log
            .push(terms.result(round.number, &self.values, outcome, Vec::new()));
        gains
    }
}

/// The highest bidder, the lowest seat of equal ones, pays the second highest bid;
/// `None` with fewer than two bids.
fn sell(bids: &[Option<f64>]) -> Option<Sale> {
    let best = top_bids(bids.iter().copied())?;
    Some(Sale {
        winner: best.seat,
        price: best.second?,
    })
}

#[cfg(test)]
mod tests;
