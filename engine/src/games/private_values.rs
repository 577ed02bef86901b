//! What the auctions of one item with private values have in common, whatever the form
//! of bidding: their terms and checks, the drawn values, what players are left with and
//! told, and measures ("Economics Arena for Large Language Models", appendices A.1 to
//! A.3). Who wins at what price, each form says.

use crate::games::prelude::*;

/// What players are shown of a past round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// Everybody's bids.
    Strategies,
    /// Everybody's bids and private values.
    StrategiesAndValues,
}

/// The parameters of a form of the auction: those that every form has, and its own. The
/// paper forgives no foul.
macro_rules! auction_parameters {
    ($(#[$about:meta])* pub struct $name:ident; $($own:tt)*) => {
        parameters! {
            $(#[$about])*
            pub struct $name(players = 5, rounds = 1, foul_allowance = 0);
            told {
                /// What every player has at the start of every round; the paper's groups
                /// have 100, 1000 and 10000.
                assets: i64 = 100, in 1..=LARGEST_AMOUNT;
                /// What a foul costs in its round.
                entrance_fee: f64 = 0.0;
                /// How many past rounds a player is shown at most; with 0 no result is told.
                history: u32 = 3;
            }
            briefed {
                /// What players are shown of a past round.
                shown: Shown = Shown::Strategies;
            }
            hidden "the law of private values is not told" {
                /// Mean of the private values; 50, 500 and 5000 in the paper's groups.
                value_mean: f64 = 50.0;
                /// Standard deviation of the private values; 10, 100 and 1000 in the
                /// paper's groups.
                value_sd: f64 = 10.0;
            }
            $($own)*
        }

        impl $name {
            fn terms(&self) -> Terms {
                Terms {
                    players: self.players,
                    rounds: self.rounds,
                    assets: self.assets,
                    value_mean: self.value_mean,
                    value_sd: self.value_sd,
                    entrance_fee: self.entrance_fee,
                    history: self.history,
                    shown: self.shown,
                }
            }
        }
    };
}

pub(super) use auction_parameters;

/// The parameters that every form of the auction has.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    pub players: usize,
    pub rounds: u32,
    pub assets: i64,
    pub value_mean: f64,
    pub value_sd: f64,
    pub entrance_fee: f64,
    pub history: u32,
    pub shown: Shown,
}

/// Who gets the item, and what for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sale {
    pub winner: Seat,
    pub price: f64,
}

/// How a round ended.
pub struct Outcome {
    pub sale: Option<Sale>,
    /// What each seat offered; nothing for a foul.
    pub bids: Value,
    /// What each seat is left with.
    pub left: Vec<f64>,
}

impl Terms {
    /// Refuses what no form can be played with.
    pub fn check(&self) -> Result<(), ParameterError> {
        let assets = self.assets as f64;
        // A mean outside, or a wide spread, would be drawn again without end.
        check_within("value_mean", self.value_mean, 1.0..=assets)?;
        check_within("value_sd", self.value_sd, 0.0..=assets)?;
        check_within("entrance_fee", self.entrance_fee, 0.0..=assets)
    }

    /// Who is told the values: each player its own, for good or until the results of rounds
    /// show everybody's.
    pub fn disclosures(&self) -> Vec<Disclosure> {
        let rule = "a private value is told to its own player alone";
        let values = Disclosure::to_owner(rule, &[]).draws(&[VALUATIONS]);
        let is_shown = self.shown == Shown::StrategiesAndValues && self.history > 0;
        vec![if is_shown {
            values.until("round_result")
        } else {
            values
        }]
    }

    /// From paying everything for an item worth 1, or a fee, to getting one that is
    /// worth all assets for nothing.
    pub fn payoff_bounds(&self) -> (f64, f64) {
        let assets = self.assets as f64;
        let low = smaller(1.0, assets - self.entrance_fee);
        bounds_over(self.rounds, low, 2.0 * assets)
    }

    /// The private values, one per seat, for all rounds.
    pub fn draw(&self, chance: &mut Chance) -> Vec<i64> {
        let bell = Bell {
            mean: self.value_mean,
            deviation: self.value_sd,
            most: self.assets,
        };
        chance.bell(VALUATIONS, 0, self.players, bell)
    }

    /// A form's briefing, with what follows from the terms.
    pub fn brief(&self, briefing: Event, values: &[i64]) -> Event {
        briefing
            .fact("values_shown", self.shown == Shown::StrategiesAndValues)
            .own("private_value", values.to_vec())
    }

    /// What everybody is left with after a round: the assets, less the fee for a foul;
    /// the winner less the price and with the item, at its value.
    pub fn left(
        &self,
        values: &[f64],
        fouled: impl Fn(Seat) -> bool,
        sale: Option<Sale>,
    ) -> Vec<f64> {
        let assets = self.assets as f64;
        let all = values.iter().enumerate();
        all.map(|(seat, value)| match sale {
            Some(Sale { winner, price }) if winner == seat => assets - price + value,
            _ if fouled(seat) => assets - self.entrance_fee,
            _ => assets,
        })
        .collect()
    }

    /// The result of a round, with facts of the form's own behind the bids; told to
    /// nobody with a `history` of 0.
    pub fn result(
        &self,
        round: u32,
        values: &[i64],
        outcome: Outcome,
        more: Vec<(&'static str, Value)>,
    ) -> Event {
        let Outcome { sale, bids, left } = outcome;
        let mut told: Vec<(&'static str, Value)> = vec![
            ("void", sale.is_none().into()),
            ("winner", sale.map(|sale| sale.winner).into()),
            ("price", sale.map(|sale| sale.price).into()),
            ("bids", bids.clone()),
        ];
        told.extend(more);
        if self.shown == Shown::StrategiesAndValues {
            told.push(("private_values", values.to_vec().into()));
        }
        let is_told = self.history > 0;
        let event = round_result(round, is_told, told);
        // Payoffs would give the winner's value away.
        if is_told {
            event.own("bid", bids).own("payoff", left)
        } else {
            event.hidden("payoff", left)
        }
    }
}

/// The equilibrium of every form: nobody bids above its value or stays below it.
pub fn equilibrium(play: &str) -> Equilibrium {
    Equilibrium::exact(play, [("deviation", 0.0), ("rationality", 1.0)])
}

/// What a form says of its own measures.
pub struct Scale<'a> {
    /// Who wins at what price when everybody goes by these private values.
    pub equilibrium: &'a dyn Fn(&[f64]) -> Option<Sale>,
    /// How far what a seat did is from its private value; nothing after a foul.
    pub distance: &'a dyn Fn(&Event, Seat, f64) -> Option<f64>,
    /// The round that a turn belongs to.
    pub round_of: &'a dyn Fn(u32) -> u32,
}

/// What appendices A.2 and A.3 of the source measure; void rounds count for nothing
/// but rule breaking. Per seat: `payoff`, what it is left with, mean over the rounds;
/// `equilibrium_payoff`, what it would be left with if all bid their values;
/// `rationality`, the first over the second (formula 1; the package's `payoffs`);
/// `assets`, the first over the assets at the start (the package's `assets`); `wins`,
/// the share of rounds won; `rule_breaking`, the percentage of rounds with a foul.
/// `deviations`, one per valid bid: the distance from 1 of what the seat is left with
/// over its `equilibrium_payoff` (formula of A.3.2). Scores `deviation` and
/// `rationality` are the means of those. `distances`, one per valid bid as well: how far
/// it is from the value, over the assets. `distance` is their mean in each round: the
/// path towards the equilibrium.
pub fn measures(terms: &Terms, log: &EventLog, moves: &[Move], scale: &Scale<'_>) -> Measures {
    let mut measures = Measures::default();
    let Terms {
        players, rounds, ..
    } = *terms;
    rationality::rule_breaking(players, rounds, moves, scale.round_of, &mut measures);
    let briefing = log.of_kind("briefing").next();
    let values = briefing.map(|event| event.numbers("private_value"));
    let values = values.unwrap_or_default();
    let results = rationality::results(log, rounds, &mut measures);
    let assets = terms.assets as f64;
    let equilibrium = terms.left(&values, |_| false, (scale.equilibrium)(&values));
    measures.series("private_values", values.clone());
    if results.is_empty() {
        return measures;
    }
    rationality::payoffs(&results, "payoff", &equilibrium, &mut measures);
    rationality::actions(&results, "bids", &mut measures, |event, seat, _| {
        let left = event.number_at("payoff", seat);
        (left.unwrap_or(assets) / equilibrium[seat] - 1.0).abs()
    });
    let kept = measures.series["payoff"].iter().map(|left| left / assets);
    let kept = kept.collect();
    measures.series("assets", kept);
    let distances = |event: &&Event| -> Vec<f64> {
        let all = values.iter().enumerate();
        let far = all.filter_map(|(seat, value)| (scale.distance)(event, seat, *value));
        far.map(|far| far / assets).collect()
    };
    let by_round: Vec<Vec<f64>> = results.iter().map(distances).collect();
    let path = by_round.iter().map(|far| mean(far.iter().copied()));
    measures.series("distance", path.collect());
    measures.series("distances", by_round.concat());
    let prices = results.iter().filter_map(|event| event.number("price"));
    measures.series("prices", prices.collect());
    measures
}
