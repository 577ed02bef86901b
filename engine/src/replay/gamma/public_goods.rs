//! Recorded rounds of the public goods game. `tokens_after` is missing where
//! the players' message was trimmed from the record; it is compared where it is
//! there.

use serde::Deserialize;

use super::super::RecordedError;
use super::super::check::Check;
use super::{Derived, Played, Round, entry, totals};
use crate::ask::{Action, Ask};
use crate::spec::Settings;

/// One round.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Contributions {
    actions: Vec<i64>,
    outcome: Outcome,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    total_tokens: i64,
    kept: Vec<i64>,
    tokens_after: Option<Vec<f64>>,
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
        let fixed = params
            .get("token_initialization")
            .and_then(|value| value.as_str());
        if fixed.is_some_and(|way| way != "fixed") {
            let message = "only \"fixed\" can be replayed".to_owned();
            return Err(RecordedError::Field {
                path: "params.token_initialization".to_owned(),
                message,
            });
        }
        if params
            .get("reset")
            .is_some_and(|reset| reset.as_bool() != Some(true))
        {
            let message = "only games with reset = true can be replayed".to_owned();
            return Err(RecordedError::Field {
                path: "params.reset".to_owned(),
                message,
            });
        }
        Ok(())
    }

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        entry(&self.actions, ask).map(Action::Integer)
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        let computed = |name| played.value("round_result", name);
        let outcome = &self.outcome;
        check.same("actions", self.actions.clone(), computed("contribution"));
        let contributions = computed("contributions");
        check.same(
            "actions (as told)",
            self.actions.clone(),
            contributions.clone(),
        );
        let total = contributions.map(|told| told.numbers().iter().sum::<f64>());
        check.same("total_tokens", outcome.total_tokens, total);
        check.same("kept", outcome.kept.clone(), computed("kept"));
        if let Some(tokens) = &outcome.tokens_after {
            check.same("tokens_after", tokens.clone(), computed("tokens_after"));
        }
    }

    fn payoffs(rounds: &[Self]) -> Option<Vec<f64>> {
        let told: Option<Vec<&[f64]>> = rounds
            .iter()
            .map(|round| round.outcome.tokens_after.as_deref())
            .collect();
        totals(told?.into_iter())
    }
}
