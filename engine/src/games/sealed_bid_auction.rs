//! Sealed-bid auction.
//!
//! In every round each player learns what the item is worth to it, its valuation,
//! and bids a whole number, all at the same time. The highest bid wins and pays
//! the highest bid (`first`) or the second highest (`second`, which is the same
//! after a tie at the top, and 0 when nobody else bid); chance decides between
//! equal ones. The winner's utility is its valuation less the price, everybody
//! else's is 0. Valuations are different numbers of a ladder from `valuation_min`
//! to `valuation_max` in steps of `interval`. Players are told the winning bid and
//! the price. A forfeited ask makes no bid. Bids may exceed the valuation, as in the
//! published games; only absurd ones, above `bid_max`, are fouls, and players are
//! not told where that begins, because it would tell them the law of valuations.
//!
//! Source: Huang et al., arXiv 2403.11807, section 3.1 and appendix C; the
//! authors' code for the law of the valuations, which players are not told.

use super::prelude::*;

mod players;
mod theory;

/// Most rungs of the ladder of valuations; a round's draw holds them all.
const MOST_RUNGS: i64 = 100_000;

parameters! {
    /// Parameters of the game.
    pub struct AuctionParams(
        players = PLAYERS, rounds = ROUNDS, foul_allowance = FOUL_ALLOWANCE
    );
    told {
        /// What the winner pays.
        price: Price = Price::First;
    }
    hidden "the law of valuations is not told, nor where absurd bids begin" {
        /// Largest legal bid; ten times the largest valuation unless it is set.
        bid_max: Option<i64> = None;
        /// Smallest valuation.
        valuation_min: i64 = 0, in 0..=LARGEST_AMOUNT;
        /// Largest valuation.
        valuation_max: i64 = 200, in 0..=LARGEST_AMOUNT;
        /// Distance between neighbouring valuations.
        interval: i64 = 10, in 1..=LARGEST_AMOUNT;
    }
    alike {
        /// Accept any whole number as a bid, as the published games did; for replays.
        lenient: bool = false;
    }
}

/// What the winner pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Price {
    /// The highest bid, its own.
    First,
    /// The second highest bid.
    Second,
}

/// A bid of this many times the largest valuation is a slip, not a choice.
const ABSURD: i64 = 10;

impl AuctionParams {
    fn largest_bid(&self) -> i64 {
        let absurd = self.valuation_max.saturating_mul(ABSURD);
        self.bid_max.unwrap_or(absurd.min(LARGEST_AMOUNT))
    }

    fn rungs(&self) -> i64 {
        (self.valuation_max - self.valuation_min) / self.interval + 1
    }

    /// What a player of this valuation bids in equilibrium.
    pub fn equilibrium_bid(&self, valuation: i64) -> i64 {
        theory::bid(self, valuation)
    }
}

impl Rules for AuctionParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("sealed_bid_auction"),
        title: Name::Borrowed("Sealed-Bid Auction"),
        summary: Name::Borrowed(
            "bid once for an item that is worth a different amount to each bidder",
        ),
        chance: true,
        source: Name::Borrowed("gamma-Bench, arXiv 2403.11807, game 6"),
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = Rounds<AuctionRound>;

    fn settle(&mut self) -> Result<(), ParameterError> {
        let top = self.valuation_min..=LARGEST_AMOUNT;
        check_within("valuation_max", self.valuation_max, top)?;
        let (rungs, players) = (self.rungs(), self.players);
        require!(
            (players as i64..=MOST_RUNGS).contains(&rungs),
            "interval",
            "valuations from {} to {} in steps of {} are {rungs}; there must be at least one for \
             each of {players} players, and at most {MOST_RUNGS}",
            self.valuation_min,
            self.valuation_max,
            self.interval
        );
        let bid_max = self.largest_bid();
        check_within("bid_max", bid_max, self.valuation_max..=LARGEST_AMOUNT)?;
        self.bid_max = Some(bid_max);
        Ok(())
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        vec![
            Disclosure::to_owner("a valuation is told to its own player alone", &[])
                .draws(&[VALUATIONS]),
            Disclosure::to_everybody("the winner learns that it won", &[]).draws(&[TIES]),
        ]
    }

    /// Values are drawn, and told with the bids.
    fn values_per_ask(&self) -> u64 {
        18
    }

    /// From paying the largest bid for the smallest valuation to paying nothing
    /// for the largest.
    fn payoff_bounds(&self) -> (f64, f64) {
        let low = self.valuation_min - self.largest_bid();
        bounds_over(self.rounds, low as f64, self.valuation_max as f64)
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        log.push(self.briefing());
        let form = Form::Integer {
            min: (!self.lenient).then_some(0),
            max: None,
            pass: None,
        };
        let ask = self.setup().ask(0, AskRole::Bid, "bid", form);
        let rules = AuctionRound {
            params: Arc::clone(self),
            valuations: Vec::new(),
        };
        Rounds::start(rules, self.setup(), &ask, chance, log)
    }

    fn equilibrium(&self) -> Equilibrium {
        theory::equilibrium(self)
    }

    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        theory::measures(self, log)
    }
}

/// What a round means.
#[derive(Clone)]
pub struct AuctionRound {
    params: Arc<AuctionParams>,
    valuations: Vec<i64>,
}

impl RoundRules for AuctionRound {
    fn open(&mut self, round: u32, chance: &mut Chance, log: &mut EventLog) {
        let ladder = Ladder {
            low: self.params.valuation_min,
            step: self.params.interval,
            rungs: self.params.rungs() as usize,
        };
        self.valuations = chance.distinct(VALUATIONS, round, self.params.players, ladder);
        log.push(Event::new("valuation", round).own("valuation", self.valuations.clone()));
    }

    fn check(&self, ask: &Ask, action: &Action) -> Result<(), Foul> {
        ask.form.check(action)?;
        match action {
            Action::Integer(bid) if !self.params.lenient && *bid > self.params.largest_bid() => {
                let reason = format!("{bid} is far more than the item can be worth to anybody");
                Err(Foul::new(FoulKind::OutOfRange, reason))
            }
            _ => Ok(()),
        }
    }

    fn play(&mut self, round: Round<'_>) -> Vec<f64> {
        let answers = round.answers;
        let valuations = std::mem::take(&mut self.valuations);
        let sale = sell(self.params.price, round.number, answers, round.chance);
        let mut won = vec![false; answers.len()];
        let mut utilities = vec![0; answers.len()];
        let mut gains = vec![0.0; answers.len()];
        if let Some(sale) = &sale {
            let utility = valuations[sale.winner].saturating_sub(sale.price);
            won[sale.winner] = true;
            utilities[sale.winner] = utility;
            gains[sale.winner] = utility as f64;
        }
        round.log.push(
            Event::new("round_result", round.number)
                .fact("winning_bid", sale.as_ref().map(|sale| sale.winning_bid))
                .fact("price", sale.as_ref().map(|sale| sale.price))
                .own("valuation", valuations)
                .own("bid", column(answers.iter().map(Answer::integer)))
                .own("won", won)
                .own("utility", utilities)
                .hidden("winner", sale.as_ref().map(|sale| sale.winner))
                .hidden("tied", sale.map_or_else(Vec::new, |sale| sale.tied)),
        );
        gains
    }
}

/// Who gets the item and for how much.
struct Sale {
    winner: Seat,
    winning_bid: i64,
    price: i64,
    /// Everybody with the winning bid, when there are several.
    tied: Vec<Seat>,
}

/// Sells to the highest bid; `None` when nobody bid.
fn sell(price: Price, round: u32, answers: &[Answer], chance: &mut Chance) -> Option<Sale> {
    let TopBids {
        seat,
        highest: winning_bid,
        second,
    } = top_bids(answers.iter().map(Answer::integer))?;
    let (mut winner, mut tied) = (seat, Vec::new());
    if second == Some(winning_bid) {
        let bids = answers.iter().map(Answer::integer);
        tied = seats_where(bids.map(|bid| bid == Some(winning_bid)));
        winner = chance.seat_among(TIES, round, &tied);
    }
    let price = match price {
        Price::First => winning_bid,
        Price::Second => second.unwrap_or(0),
    };
    Some(Sale {
        winner,
        winning_bid,
        price,
        tied,
    })
}

#[cfg(test)]
mod tests;
