//! Recorded rounds of the diner's dilemma. Whatever a player said that was not
//! exactly "cheap" counted as the costly dish; such words are kept in
//! `raw_actions` and are what the replay says.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::check::Check;
use super::{Played, Round, entry, totals, words};
use crate::ask::{Action, Ask, Seat};

/// One round.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Dishes {
    actions: Vec<String>,
    #[serde(default)]
    raw_actions: BTreeMap<Seat, String>,
    outcome: Outcome,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    cheap_player: i64,
    total_cost: f64,
    avg_cost: f64,
    utilities: Vec<f64>,
}

impl Round for Dishes {
    const GAME: &'static str = "diners_dilemma";

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        let plain = entry(&self.actions, ask)?;
        let word = self.raw_actions.get(&ask.seat).cloned().unwrap_or(plain);
        Ok(Action::Choice(word.into()))
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        let computed = |name| played.value("round_result", name);
        let outcome = &self.outcome;
        check.same("actions", words(&self.actions), computed("dish"));
        check.same("cheap_player", outcome.cheap_player, computed("cheap"));
        check.same("total_cost", outcome.total_cost, computed("total_cost"));
        check.same("avg_cost", outcome.avg_cost, computed("average_cost"));
        check.same("utilities", outcome.utilities.clone(), computed("utility"));
    }

    fn payoffs(rounds: &[Self]) -> Option<Vec<f64>> {
        totals(rounds.iter().map(|round| &round.outcome.utilities[..]))
    }
}
