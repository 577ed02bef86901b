//! Claims about what a comparison says beside its rows: which sessions have no partner, which are left
//! out, and what the numbers of each side rest on.

use serde_json::{Value, json};

use super::*;
use crate::testing::Table;

/// A guess of two thirds of four rounds: `first` guesses 30, forfeits so many of its answers, and every
/// call of it was sent without these parameters.
fn session(repeat: u32, forfeits: u32, omitted: &[&str]) -> Session {
    let table = Table {
        game: "guess_two_thirds",
        params: json!({ "rounds": 4 }),
        setting: json!({}),
        seats: &[("first", &[]), ("other", &[])],
        repeat,
    };
    let guesses = |guess: u32| json!({ "strategy": "specified", "answers": [guess] });
    let line = table.line(vec![guesses(30 + repeat), guesses(60)], Vec::new());
    let mut record: Value = serde_json::from_str(&line).unwrap();
    record["spec"]["seats"][0]["settings"]["temperature"] = json!(0);
    record["outcome"]["forfeits"] = json!([forfeits, 0]);
    record["decisions"] = json!([{ "seat": 0, "applied": { "omitted": omitted } }]);
    Session::from_line(record.to_string().as_bytes()).unwrap()
}

/// The rows of two sets in Markdown, with what stands below.
fn compared(a: &[Session], b: &[Session]) -> String {
    let mut comparison = Comparison::default();
    for (called, sessions) in [("one", a), ("two", b)] {
        let set = comparison.set(called);
        for session in sessions {
            comparison.add(set, session);
        }
    }
    comparison.render(Layout::Markdown)
}

#[track_caller]
fn row<'a>(shown: &'a str, measure: &str) -> &'a str {
    let mut rows = shown.lines();
    let row = rows.find(|row| row.starts_with('|') && row.contains(measure));
    row.unwrap_or_else(|| panic!("{measure}: {shown}"))
}

#[test]
fn sessions_that_both_have_are_in_neither_alone() {
    // Forfeited whole: of the first the repeats 0 and 1, of the second 1 and 2.
    let of = |repeats: std::ops::Range<u32>, silent: [u32; 2]| -> Vec<Session> {
        let forfeits = |repeat| 4 * u32::from(silent.contains(&repeat));
        repeats
            .map(|repeat| session(repeat, forfeits(repeat), &[]))
            .collect()
    };
    let shown = compared(&of(0..5, [0, 1]), &of(0..4, [1, 2]));
    let said = "1 only in A; 3 of 4 pairs left out; A and B: 2 of 4 left out";
    assert!(row(&shown, "payoff of first").contains("| 1 |"), "{shown}");
    assert!(row(&shown, "payoff of first").contains(said), "{shown}");
    let other = row(&shown, "payoff of other");
    assert!(
        other.contains("| 4 |") && other.contains("| 1 only in A"),
        "{shown}"
    );
    assert!(!other.contains("left out"), "{shown}");
    assert!(
        shown.contains("left out: sessions in which more than half"),
        "{shown}"
    );
}

#[test]
fn scores_of_sessions_that_are_left_out_are_left_out_and_not_missing() {
    let silent: Vec<Session> = (0..3).map(|repeat| session(repeat, 8, &[])).collect();
    let answered: Vec<Session> = (1..5).map(|repeat| session(repeat, 0, &[])).collect();
    let shown = compared(&silent, &answered);
    let said =
        "1 only in A; 2 only in B; 2 of 2 pairs left out; A: 100\u{a0}% forfeited, 2 of 2 left out";
    assert!(row(&shown, "score iclr2025").contains(said), "{shown}");
}

#[test]
fn each_side_keeps_the_marks_of_its_answers() {
    let cold: Vec<Session> = (0..3)
        .map(|repeat| session(repeat, 1, &["temperature"]))
        .collect();
    let plain: Vec<Session> = (0..3).map(|repeat| session(repeat, 0, &[])).collect();
    let shown = compared(&cold, &plain);
    let first = row(&shown, "payoff of first");
    assert!(
        first.contains("| A: 25\u{a0}% forfeited, temperature not sent;"),
        "{shown}"
    );
    assert!(
        row(&shown, "payoff of other").ends_with("the same |"),
        "{shown}"
    );
    for sentence in [
        "forfeited: share of the answers",
        "not sent: a setting that was asked for",
    ] {
        assert!(shown.contains(sentence), "{shown}");
    }
    // Both sides alike are said once.
    let shown = compared(&cold, &cold);
    assert!(
        row(&shown, "payoff of first")
            .contains("| A and B: 25\u{a0}% forfeited, temperature not sent;"),
        "{shown}"
    );
}
