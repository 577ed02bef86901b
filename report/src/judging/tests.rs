//! Marks of a few rule judges that say what the test tells them to, worked out by hand,
//! and the tables and the JSON of them.

use crate::layout::Layout;
use serde_json::{Value, json};

use super::*;
use crate::game_report::GameReport;
use crate::testing::{Table, close, fits, golden};

/// Three judges, five criteria without a persona.
fn judged(marks: [&[f64]; 3], setting: Value) -> StoredRecord {
    Table {
        game: JUDGING,
        params: json!({}),
        setting,
        seats: &[("ann", marks[0]), ("ben", marks[1]), ("cem", marks[2])],
        repeat: 0,
    }
    .played()
}

fn both() -> JudgingReport {
    let one = judged([&[1.0], &[3.0], &[5.0]], json!({ "label": "record-1" }));
    let other = judged(
        [&[4.0], &[4.0], &[2.0, 5.0]],
        json!({ "label": "record-2" }),
    );
    let own = judged([&[5.0], &[5.0], &[5.0]], json!({ "label": "persons" }));
    JudgingReport::of([&one, &other, &own])
}

#[test]
fn marks_by_hand() {
    let settings = both().settings();
    assert_eq!(settings.len(), 3);
    let first = &settings[0].rows("criteria")[0];
    assert_eq!(
        (
            first.count("marks"),
            first.number("mean"),
            first.number("spread")
        ),
        (3, Some(3.0), Some(4.0))
    );
    assert_eq!(first.number("sd"), Some(2.0));
    assert_eq!(
        first.number("alpha"),
        None,
        "one record says nothing of agreement"
    );
    let quartiles = first.inner("quartiles");
    assert_eq!(
        (
            quartiles.number("lower"),
            quartiles.number("median"),
            quartiles.number("upper")
        ),
        (Some(2.0), Some(3.0), Some(4.0))
    );
    // 4, 4, 2 for the first criterion, 4, 4, 5 for the second.
    let second = settings[1].rows("criteria");
    close(second[0].number("mean"), 10.0 / 3.0);
    close(second[1].number("mean"), 13.0 / 3.0);
    assert_eq!(
        (
            settings[1].measures.word("about"),
            settings[2].measures.word("about")
        ),
        ("agents", "persons")
    );
    // The one about a persona is not asked.
    assert_eq!(second.len(), 5);
}

#[test]
fn records_are_taken_together_and_stand_below_what_is_published() {
    let report = both();
    let beside = report
        .beside_published("alympics-judging", Layout::Text(140))
        .unwrap();
    let rows: Vec<Vec<&str>> = beside
        .lines()
        .filter(|line| line.trim_start().starts_with("yours"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 10);
    // 1, 3, 5, 4, 4, 2, not the mean of two medians.
    assert_eq!(rows[1][..4], ["yours", "agents", "median", "3.50"]);
    assert_eq!(rows[3][..4], ["yours", "agents", "mean", "3.17"]);
    assert_eq!(rows[3].last(), Some(&"-"));
    assert_eq!(rows[8][..4], ["yours", "persons", "mean", "5.00"]);
}

#[test]
fn tables_fit_80_and_100_columns() {
    for (name, width) in [("judging_100.txt", 100), ("judging_80.txt", 80)] {
        let shown = both().render(Layout::Text(width));
        fits(&shown, width.into());
        golden(name, &shown);
    }
}

#[test]
fn json_has_every_record() {
    let settings = both().settings_as_json().unwrap();
    let one: Value = serde_json::from_str(&settings[1]).unwrap();
    assert_eq!(
        (&one["setting"], &one["about"]),
        (&json!("record-2"), &json!("agents"))
    );
    assert_eq!(one["criteria"][1]["quartiles"]["most"], 5.0);
}
