//! Recorded rounds of the games in which all players move at once: their form, and what of
//! them is compared. Played by the frame in `gamma.rs`.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::check::Check;
use super::super::{RecordedError, Scripted, forms};
use super::{Derived, Played, Round, entry, round, totals};
use crate::ask::{Action, Ask, Seat};
use crate::chance::{TIES, VALUATIONS};
use crate::event::Value;
use crate::spec::Settings;

/// The event that our games of rounds report a round by.
const RESULT: &str = "round_result";

round! {
    /// A round of the guessing game. Its authors let only the first of two equally close
    /// numbers win, so the replay sets `tie = "first"`.
    Guesses {
        actions: Vec<i64> = "number",
    }
    GuessOutcome {
        mean: f64 = "mean",
        mean_ratio: f64 = "target",
        winner: i64,
        winner_num: i64 = "winners",
    }
}

impl Round for Guesses {
    const GAME: &'static str = "guess_two_thirds";
    const DERIVED: &'static [Derived] = &[Derived::Ignored("ratio_str")];

    fn settle(params: &mut Settings) -> Result<(), RecordedError> {
        params.insert("tie".to_owned(), json!("first"));
        Ok(())
    }

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        entry(&self.actions, ask).map(Action::Integer)
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        self.compare_named(|name| played.value(RESULT, name), check);
        let winning = played.value(RESULT, "winning_numbers");
        check.same("winner", vec![self.outcome.winner], winning);
    }
}

round! {
    /// A round of the bar game.
    Choices {
        actions: Vec<String> = "choice",
    }
    BarOutcome {
        go_num: i64 = "goers",
        go_ratio: f64 = "share",
        /// "go" when the bar was good.
        winner: String,
        /// What going was worth in this round, whether or not anybody went.
        utility: f64,
        utilities: Vec<f64> = "payoff",
    }
}

impl Round for Choices {
    const GAME: &'static str = "el_farol";
    const DERIVED: &'static [Derived] = &[Derived::Ignored("ratio_str")];

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        entry(&self.actions, ask).map(|word| Action::Choice(word.into()))
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        self.compare_named(|name| played.value(RESULT, name), check);
        let good = played.value(RESULT, "good").and_then(|good| good.flag());
        let winner = good.map(|good| if good { "go" } else { "stay" });
        check.same("winner", self.outcome.winner.clone(), winner);
        let worth = good.and_then(|good| played.params.get(if good { "max" } else { "min" }));
        check.same("utility", self.outcome.utility, worth.map(Value::from));
    }

    fn payoffs(rounds: &[Self]) -> Option<Vec<f64>> {
        totals(rounds.iter().map(|round| &round.outcome.utilities[..]))
    }
}

round! {
    /// A round of dividing the dollar.
    Bids {
        actions: Vec<i64> = "bid",
    }
    DollarOutcome {
        total_proposal: i64 = "total",
        utilities: Vec<f64> = "received",
    }
}

impl Round for Bids {
    const GAME: &'static str = "divide_dollar";

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        entry(&self.actions, ask).map(Action::Integer)
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        self.compare_named(|name| played.value(RESULT, name), check);
    }

    fn payoffs(rounds: &[Self]) -> Option<Vec<f64>> {
        totals(rounds.iter().map(|round| &round.outcome.utilities[..]))
    }
}

round! {
    /// A round of the public goods game. `tokens_after` is missing where the players'
    /// message was trimmed from the record; it is compared where it is there.
    Contributions {
        actions: Vec<i64> = "contribution",
    }
    GoodsOutcome {
        total_tokens: i64,
        kept: Vec<i64> = "kept",
        tokens_after: Option<Vec<f64>>,
    }
}

impl Round for Contributions {
    const GAME: &'static str = "public_goods";
    const DERIVED: &'static [Derived] = &[
        Derived::Ignored("token_initialization"),
        Derived::Ignored("reset"),
        Derived::Ignored("rand_min"),
    ];

    /// Other ways of handing out tokens exist in the authors' code but in no
    /// published game; a record that claims them is refused, not misread.
    fn settle(params: &mut Settings) -> Result<(), RecordedError> {
        for (name, only) in [
            ("token_initialization", json!("fixed")),
            ("reset", json!(true)),
        ] {
            if params.get(name).is_some_and(|value| *value != only) {
                return Err(RecordedError::Field {
                    path: format!("params.{name}"),
                    message: format!("only games with {name} = {only} can be replayed"),
                });
            }
        }
        Ok(())
    }

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        entry(&self.actions, ask).map(Action::Integer)
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        self.compare_named(|name| played.value(RESULT, name), check);
        let told = played.value(RESULT, "contributions");
        check.same("actions (as told)", self.actions.clone(), told.clone());
        let total = told.map(|told| told.numbers().iter().sum::<f64>());
        check.same("total_tokens", self.outcome.total_tokens, total);
        if let Some(tokens) = &self.outcome.tokens_after {
            let computed = played.value(RESULT, "tokens_after");
            check.same("tokens_after", tokens.clone(), computed);
        }
    }

    fn payoffs(rounds: &[Self]) -> Option<Vec<f64>> {
        let told = rounds
            .iter()
            .map(|round| round.outcome.tokens_after.as_deref());
        totals(told.collect::<Option<Vec<&[f64]>>>()?.into_iter())
    }
}

round! {
    /// A round of the diner's dilemma. Whatever a player said that was not exactly "cheap"
    /// counted as the costly dish; such words are kept in `raw_actions` and are what the
    /// replay says.
    Dishes {
        actions: Vec<String> = "dish",
        #[serde(default)]
        raw_actions: BTreeMap<Seat, String>,
    }
    DinerOutcome {
        cheap_player: i64 = "cheap",
        total_cost: f64 = "total_cost",
        avg_cost: f64 = "average_cost",
        utilities: Vec<f64> = "utility",
    }
}

impl Round for Dishes {
    const GAME: &'static str = "diners_dilemma";

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        let plain = entry(&self.actions, ask)?;
        let word = self.raw_actions.get(&ask.seat).cloned().unwrap_or(plain);
        Ok(Action::Choice(word.into()))
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        self.compare_named(|name| played.value(RESULT, name), check);
        if let Some((seat, _)) = self.raw_actions.range(self.actions.len()..).next() {
            check.fault(format!(
                "there is no player_{seat} whose words are in raw_actions"
            ));
        }
    }

    fn payoffs(rounds: &[Self]) -> Option<Vec<f64>> {
        totals(rounds.iter().map(|round| &round.outcome.utilities[..]))
    }
}

round! {
    /// A round of the sealed-bid auction. Valuations and the winner of a tie are draws that
    /// the record states.
    SealedBids {
        actions: Vec<i64> = "bid",
        private: Private,
        chance: Ties,
    }
    SaleOutcome {
        winner: Seat = "winner",
        winning_bid: i64 = "winning_bid",
        price: i64 = "price",
        utilities: Vec<f64> = "utility",
    }
}

forms! {
    struct Private {
        valuations: Vec<i64>,
    }

    struct Ties {
        tie_winner: Option<Seat>,
        tied: Vec<Seat>,
    }
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
        let computed = |name: &str| played.value(RESULT, name);
        self.compare_named(computed, check);
        let valuations = self.private.valuations.clone();
        check.same("valuations", valuations, computed("valuation"));
        // The record lists the tied only when there are several.
        let tied = computed("tied").map(|tied| match tied {
            Value::Integers(seats) if seats.len() < 2 => Value::Integers(Vec::new()),
            several => several,
        });
        check.same("tied", self.chance.tied.clone(), tied);
    }

    fn payoffs(rounds: &[Self]) -> Option<Vec<f64>> {
        totals(rounds.iter().map(|round| &round.outcome.utilities[..]))
    }
}
