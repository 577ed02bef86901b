//! Recorded rounds of the bar game: their form, and what of them is compared. A
//! field it does not know is refused. Played by the frame in `gamma.rs`.

use serde::Deserialize;

use super::super::check::Check;
use super::{Derived, Played, Round, entry, totals, words};
use crate::ask::{Action, Ask};
use crate::event::Value;

/// One round.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choices {
    actions: Vec<String>,
    outcome: Outcome,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    go_num: i64,
    go_ratio: f64,
    /// "go" when the bar was good.
    winner: String,
    /// What going was worth in this round, whether or not anybody went.
    utility: f64,
    utilities: Vec<f64>,
}

impl Round for Choices {
    const GAME: &'static str = "el_farol";
    const DERIVED: &'static [Derived] = &[Derived::Ignored("ratio_str")];

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        entry(&self.actions, ask).map(|word| Action::Choice(word.into()))
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        let computed = |name| played.value("round_result", name);
        let outcome = &self.outcome;
        check.same("actions", words(&self.actions), computed("choice"));
        check.same("go_num", outcome.go_num, computed("goers"));
        check.same("go_ratio", outcome.go_ratio, computed("share"));
        let good = computed("good").and_then(|good| good.flag());
        let winner = good.map(|good| if good { "go" } else { "stay" });
        check.same("winner", outcome.winner.clone(), winner);
        let worth = good.and_then(|good| played.params.get(if good { "max" } else { "min" }));
        check.same("utility", outcome.utility, worth.map(Value::from));
        check.same("utilities", outcome.utilities.clone(), computed("payoff"));
    }

    fn payoffs(rounds: &[Self]) -> Option<Vec<f64>> {
        totals(rounds.iter().map(|round| &round.outcome.utilities[..]))
    }
}
