//! A session as it stands in a list for programs. Says what is in its record and measures nothing.
//! Called by `sessions.rs` for each one that is listed.

use agon_report::Session;
use serde_json::json;

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
