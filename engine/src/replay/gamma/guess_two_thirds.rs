//! Recorded rounds of the guessing game. Its authors let only the first of two
//! equally close numbers win, so the replay sets `tie = "first"`.

use serde::Deserialize;
use serde_json::json;

use super::super::RecordedError;
use super::super::check::Check;
use super::{Derived, Played, Round, entry};
use crate::ask::{Action, Ask};
use crate::spec::Settings;

/// One round.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Guesses {
    actions: Vec<i64>,
    outcome: Outcome,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    mean: f64,
    mean_ratio: f64,
    winner: i64,
    winner_num: i64,
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
        let computed = |name| played.value("round_result", name);
        let outcome = &self.outcome;
        check.same("actions", self.actions.clone(), computed("number"));
        check.same("mean", outcome.mean, computed("mean"));
        check.same("mean_ratio", outcome.mean_ratio, computed("target"));
        check.same("winner", vec![outcome.winner], computed("winning_numbers"));
        check.same("winner_num", outcome.winner_num, computed("winners"));
    }
}
