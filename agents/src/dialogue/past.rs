//! What a seat should know of its own past: its last answer of each kind, and what came of
//! it. Beliefs that a model states are compared with this. Kept by `dialogue.rs`.

use std::collections::BTreeMap;

use agon_engine::view::SeenEvent;
use agon_engine::{Action, Name};
use serde_json::Value;

use crate::events::ROUND_RESULT;

/// What a seat should know of its own past.
#[derive(Debug, Default)]
pub(super) struct Past {
    answers: BTreeMap<Name, Answered>,
    has_results: bool,
}

/// An answer of the past, and what came of it.
#[derive(Debug)]
pub(super) struct Answered {
    /// None where no answer counted.
    pub(super) action: Option<Action>,
    /// What the seat got in the round of this answer; none until that round is over, null
    /// in games that do not tell it.
    pub(super) payoff: Option<Value>,
}

impl Past {
    /// An ask of a kind is over; none where no answer counted.
    pub(super) fn answered(&mut self, kind: Name, action: Option<Action>) {
        let payoff = None;
        self.answers.insert(kind, Answered { action, payoff });
    }

    /// The seat was told how something ended. The payoff of a round is that of the answers
    /// that were given in it.
    pub(super) fn has_result(&mut self, result: &SeenEvent) {
        self.has_results = true;
        if result.kind != ROUND_RESULT {
            return;
        }
        let told = result.fact("payoff").map(serde_json::to_value);
        let payoff = told.and_then(Result::ok).unwrap_or_default();
        for answered in self.answers.values_mut() {
            answered.payoff.get_or_insert_with(|| payoff.clone());
        }
    }

    /// Whether a seat that is asked this can look back: it was asked the same before, and
    /// told how anything ended.
    pub(super) fn reaches(&self, kind: &str) -> bool {
        self.has_results && self.answers.contains_key(kind)
    }

    /// What became of the last ask of a kind.
    pub(super) fn last(&self, kind: &str) -> Option<&Answered> {
        self.answers.get(kind)
    }
}
