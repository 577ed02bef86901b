//! The observations of a session of judging: the marks of each criterion, and how far judges
//! disagree about it.

use agon_engine::Value;
use agon_engine::record::StoredRecord;

use super::{AGENTS, JUDGING, PERSONS};
use crate::axes::{LABEL, in_words};
use crate::observation::{At, SessionObservations};
use crate::statistics::quartiles;

/// What it is called among facts who is judged.
pub(super) const ABOUT: &str = "about";

/// `None` for a record of another game.
pub(super) fn observe(record: &StoredRecord) -> Option<SessionObservations<'_>> {
    if record.spec.game != JUDGING {
        return None;
    }
    let mut seen = SessionObservations::of(record);
    let label = record.spec.setting.get(LABEL).map(in_words);
    seen.note(ABOUT, about(&label.unwrap_or_default()).to_owned());
    let of_kind = |kind: &'static str| record.events.iter().filter(move |one| one.kind == kind);
    for opened in of_kind("criterion_opened") {
        let Some(criterion) = opened.get("criterion").and_then(Value::text) else {
            continue;
        };
        let at = At::default().round(opened.round).item(criterion, None);
        seen.push(at, "asked", 1.0);
        let mut results = of_kind("round_result");
        let result = results.find(|result| result.round == opened.round);
        let Some(given) = result.and_then(|result| result.get("ratings")) else {
            continue;
        };
        let mut marks = Vec::new();
        for judge in 0..given.len() {
            let mark = given.entry(judge).number();
            seen.push(
                At {
                    seat: Some(judge),
                    ..at
                },
                "mark",
                mark,
            );
            marks.extend(mark.filter(|_| seen.is_measured(judge)));
        }
        let spread = quartiles(&marks).map(|all| all.most - all.least);
        seen.push(at, "mark_spread", spread);
        seen.push(at, "judges", marks.len() as f64);
    }
    Some(seen)
}

/// Who is judged in settings with this label.
pub(super) fn about(label: &str) -> &'static str {
    let rest = label.strip_prefix(PERSONS);
    if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-')) {
        PERSONS
    } else {
        AGENTS
    }
}
