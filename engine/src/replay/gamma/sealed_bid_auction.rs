//! Recorded rounds of the sealed-bid auction. Valuations and the winner of a
//! tie are draws that the record states.

use serde::Deserialize;

use super::super::check::Check;
use super::{Derived, Played, Round, Scripted, entry, totals};
use crate::ask::{Action, Ask, Seat};
use crate::chance::{TIES, VALUATIONS};
use crate::event::Value;

/// One round.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SealedBids {
    actions: Vec<i64>,
    private: Private,
    chance: Ties,
    outcome: Outcome,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Private {
    valuations: Vec<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ties {
    tie_winner: Option<Seat>,
    tied: Vec<Seat>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    winner: Seat,
    winning_bid: i64,
    price: i64,
    utilities: Vec<f64>,
}

impl Round for SealedBids {
    const GAME: &'static str = "sealed_bid_auction";
    const DERIVED: &'static [Derived] = &[Derived::Ignored("first_seed")];

    fn script(&self, round: u32, script: &mut Vec<Scripted>) {
        script.push((VALUATIONS, round, self.private.valuations.clone().into()));
        if let Some(winner) = self.chance.tie_winner {
            script.push((TIES, round, winner.into()));
        }
    }

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        entry(&self.actions, ask).map(Action::Integer)
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        let computed = |name| played.value("round_result", name);
        let outcome = &self.outcome;
        check.same("actions", self.actions.clone(), computed("bid"));
        check.same(
            "valuations",
            self.private.valuations.clone(),
            computed("valuation"),
        );
        // The record lists the tied only when there are several.
        let tied = computed("tied").map(|tied| match tied {
            Value::Integers(seats) if seats.len() < 2 => Value::Integers(Vec::new()),
            several => several,
        });
        check.same("tied", self.chance.tied.clone(), tied);
        check.same("winner", outcome.winner, computed("winner"));
        check.same("winning_bid", outcome.winning_bid, computed("winning_bid"));
        check.same("price", outcome.price, computed("price"));
        check.same("utilities", outcome.utilities.clone(), computed("utility"));
    }

    fn payoffs(rounds: &[Self]) -> Option<Vec<f64>> {
        totals(rounds.iter().map(|round| &round.outcome.utilities[..]))
    }
}
