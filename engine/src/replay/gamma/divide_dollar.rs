//! Recorded rounds of dividing the dollar: their form, and what of them is compared.
//! A field it does not know is refused. Played by the frame in `gamma.rs`.

use serde::Deserialize;

use super::super::check::Check;
use super::{Played, Round, entry, totals};
use crate::ask::{Action, Ask};

/// One round.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bids {
    actions: Vec<i64>,
    outcome: Outcome,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    total_proposal: i64,
    utilities: Vec<f64>,
}

impl Round for Bids {
    const GAME: &'static str = "divide_dollar";

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        entry(&self.actions, ask).map(Action::Integer)
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        let computed = |name| played.value("round_result", name);
        check.same("actions", self.actions.clone(), computed("bid"));
        check.same(
            "total_proposal",
            self.outcome.total_proposal,
            computed("total"),
        );
        check.same(
            "utilities",
            self.outcome.utilities.clone(),
            computed("received"),
        );
    }

    fn payoffs(rounds: &[Self]) -> Option<Vec<f64>> {
        totals(rounds.iter().map(|round| &round.outcome.utilities[..]))
    }
}
