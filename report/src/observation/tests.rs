//! The table of observations of a small game, row by row, and what is summed of it. The session
//! is described here, so that each row can be checked by eye.

use agon_engine::record::StoredRecord;
use serde_json::{Value, json};

use super::*;
use crate::grouping::{Groups, Section, Statistic, by_player};
use crate::testing::Table;

/// One contest of two players under a bound of 60, of which one sits twice.
fn contest() -> StoredRecord {
    Table {
        game: "beauty_contest",
        params: json!({ "bound_min": 60, "bound_max": 60, "rounds": 1 }),
        setting: json!({ "label": "low", "params.rounds": 1 }),
        seats: &[("a", &[30.0]), ("b", &[60.0]), ("a", &[6.0])],
        repeat: 4,
    }
    .played()
}

/// What each of them said.
fn said(record: &StoredRecord) -> SessionObservations<'_> {
    let mut seen = SessionObservations::of(record);
    for (seat, said) in [30.0, 60.0, 6.0].into_iter().enumerate() {
        seen.push(At::seat(seat).round(1), "action", said);
        seen.push(At::seat(seat), "sat", 1.0);
    }
    seen.push(At::default(), "void_rounds", 0.0);
    seen.push(At::default(), "nothing", None);
    seen
}

const PLAYERS: Section = Section {
    name: "players",
    labels: &["player"],
    by: by_player,
    fields: &[
        ("sat", Statistic::Total("sat")),
        ("n", Statistic::Count("action")),
        ("action", Statistic::Mean("action")),
        ("action_sd", Statistic::Deviation("action")),
    ],
};

fn summed(session: &SessionObservations<'_>) -> Value {
    let mut groups = Groups::new(&PLAYERS);
    groups.add(session);
    serde_json::to_value(groups.rows()).unwrap()
}

#[test]
fn a_row_has_everything_that_tells_it_from_others() {
    let mut record = contest();
    record.simulated = true;
    let seen = said(&record);
    let rows: Vec<Value> = seen
        .rows()
        .map(|row| serde_json::to_value(row).unwrap())
        .collect();
    assert_eq!(rows.len(), 7);
    let expected = json!({
        "experiment": "measured", "axes": { "label": "low", "params.rounds": 1 },
        "seed": 1, "repeat": 4, "session": record.session, "game": "beauty_contest",
        "player": "b", "seat": 1, "about": null, "round": 1, "item": null, "price": null, "lot": null,
        "category": null, "measure": "action", "value": 60.0, "simulated": true,
        "forfeited": false, "unpublished": false,
    });
    assert_eq!(rows[2], expected);
    // Of the whole session.
    assert_eq!(
        (&rows[6]["player"], &rows[6]["seat"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn own_prompts_are_said_in_every_row() {
    let mut record = contest();
    record.spec.prompt_bundle = Some("digest".to_owned());
    assert!(said(&record).rows().all(|row| row.unpublished));
}

#[test]
fn all_seats_of_a_player_are_one_group() {
    let record = contest();
    let expected = json!([
        { "player": "a", "sat": 2, "n": 2, "action": 18.0, "action_sd": 288f64.sqrt() },
        { "player": "b", "sat": 1, "n": 1, "action": 60.0, "action_sd": null },
    ]);
    assert_eq!(summed(&said(&record)), expected);
}

#[test]
fn who_forfeits_most_answers_is_counted_and_in_no_mean() {
    let mut record = contest();
    record.outcome.forfeits[1] = 1;
    let seen = said(&record);
    let forfeited = seen.rows().filter(|row| row.forfeited);
    let forfeited: Vec<_> = forfeited.map(|row| (row.player, row.measure)).collect();
    assert_eq!(forfeited, [(Some("b"), "action"), (Some("b"), "sat")]);
    let expected = json!({ "player": "b", "sat": 1, "n": 0, "action": null, "action_sd": null });
    assert_eq!(summed(&seen)[1], expected);
}
