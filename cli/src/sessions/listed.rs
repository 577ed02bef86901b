//! A session as it stands in a list for programs, and what is said where an experiment has none yet.
//! Measures nothing. Called by `sessions.rs`.

use agon_outlets::InLine as _;
use agon_report::Session;
use serde_json::json;

use super::Sessions;

pub(super) fn as_json(session: &Session) -> serde_json::Value {
    json!({
        "session": session.session,
        "experiment": session.spec.experiment,
        "game": session.spec.game,
        "setting": session.spec.setting,
        "repeat": session.spec.luck.repeat,
        "place": session.spec.luck.place,
        "players": session.players(),
        "payoffs": session.outcome.payoffs,
        "scores": session.scores(),
        "answers": session.answers().all(),
        "notes": session.notes(),
        "simulated": session.simulated,
    })
}

impl Sessions {
    /// That an experiment is there which has no finished session; `None` of any other name.
    pub(super) fn unfinished(&self, wanted: &str) -> Option<String> {
        let results = self.folders.iter().find(|one| one.experiment == wanted);
        if results.is_none() && !self.experiments.contains_key(wanted) {
            return None;
        }
        let listed =
            results.map(|one| format!("; `agon runs {}` lists its runs", one.path.in_line()));
        let listed = listed.unwrap_or_default();
        Some(format!(
            "{wanted} has no finished session to show yet{listed}"
        ))
    }
}
