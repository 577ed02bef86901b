//! Measures of guesses and auctions small enough to work out by hand, of rule players that
//! say what the test tells them to, with notes that predicting agents would have made.

use crate::layout::Layout;
use agon_engine::SeatNote;
use serde_json::{Value, json};

use super::*;
use crate::game_report::GameReport;
use crate::testing::{Table, close, fits, golden};

/// Targets 40 and 37.3: the first seat is closest, both others are out after two rounds,
/// and it wins the last two alone.
const GUESSES: [(&str, &[f64]); 3] = [
    ("k-level", &[40.0, 30.0, 20.0, 10.0]),
    ("direct", &[50.0]),
    ("direct", &[60.0]),
];

/// Water for one: the first seat on the first day, the second on the second.
const BIDS: [(&str, &[f64]); 3] = [
    ("direct", &[50.0, 60.0]),
    ("k-level", &[40.0, 90.0]),
    ("k-level", &[30.0, 10.0]),
];

fn guesses(setting: Value, notes: Vec<SeatNote>) -> StoredRecord {
    Table {
        game: GUESS_TO_SURVIVE,
        params: json!({ "rounds": 4, "health": 2 }),
        setting,
        seats: &GUESSES,
        repeat: 0,
    }
    .played_with(notes)
}

fn auction(params: Value, setting: Value, notes: Vec<SeatNote>) -> StoredRecord {
    let mut all = json!({
        "rounds": 2, "requirements": [10], "salaries": [100], "supply_min": 10, "supply_max": 10,
    });
    for (name, value) in params.as_object().unwrap() {
        all[name] = value.clone();
    }
    Table {
        game: SURVIVAL_AUCTION,
        params: all,
        setting,
        seats: &BIDS,
        repeat: 0,
    }
    .played_with(notes)
}

fn prediction(seat: usize, round: u32, level: u64, predicted: Value) -> SeatNote {
    SeatNote {
        seat,
        turn: round,
        note: "prediction".to_owned(),
        body: json!({ "round": round, "level": level, "depth": 2, "predicted": predicted }),
    }
}

fn one(record: &StoredRecord) -> Setting {
    KLevelReport::of([record]).settings().remove(0)
}

#[test]
fn guesses_by_hand() {
    let setting = one(&guesses(json!({}), Vec::new()));
    assert_eq!(
        (
            setting.measures.count("rounds"),
            setting.measures.word("opponents")
        ),
        (4, "direct")
    );
    let [k_level, direct] = setting.rows("players") else {
        panic!("{setting:?}");
    };
    assert_eq!((k_level.count("sat"), direct.count("sat")), (1, 2));
    assert_eq!(
        (k_level.number("win_rate"), direct.number("win_rate")),
        (Some(1.0), Some(0.0))
    );
    assert_eq!(
        (
            k_level.number("survival_rounds"),
            direct.number("survival_rounds")
        ),
        (Some(4.0), Some(2.0))
    );
    // Off by 0 and 22/3, then by 4 and 2.
    close(k_level.number("adaptation"), 3.0 / (11.0 / 3.0));
    // Out in the second half.
    assert_eq!(
        (
            direct.number("adaptation"),
            direct.count("adaptation_seats")
        ),
        (None, 0)
    );
    // 40 is one step of 0.8 below 50; 50 and 60 are none and one upwards.
    close(k_level.number("strategic_depth"), 1.0);
    close(
        direct.number("strategic_depth"),
        1.2f64.ln() / 0.8f64.ln() / 2.0,
    );
    assert_eq!(
        (
            k_level.number("prediction_error"),
            k_level.count("predictions")
        ),
        (None, 0)
    );
    assert_eq!(setting.rows("first_seat"), std::slice::from_ref(k_level));
}

#[test]
fn an_auction_by_hand() {
    let notes = vec![prediction(1, 1, 1, json!({ "0": 45, "2": 70 }))];
    let setting = one(&auction(json!({}), json!({}), notes));
    let [direct, k_level] = setting.rows("players") else {
        panic!("{setting:?}");
    };
    assert_eq!(
        (direct.number("win_rate"), k_level.number("win_rate")),
        (Some(0.5), Some(0.25))
    );
    close(k_level.number("win_rate_sd"), 0.125f64.sqrt());
    assert_eq!(k_level.number("survival_rounds"), Some(2.0));
    // 10 from the highest other bid, then 30.
    close(direct.number("adaptation"), 3.0);
    assert_eq!(direct.number("strategic_depth"), None);
    // The highest predicted bid, 70, of which it was 50.
    assert_eq!(
        (
            k_level.number("prediction_error"),
            k_level.count("predictions")
        ),
        (Some(20.0), 1)
    );
}

#[test]
fn the_deepest_predictions_are_compared_with_what_rivals_said() {
    let notes = vec![
        prediction(0, 1, 1, json!({ "1": 10, "2": 10 })),
        // A level that predicts the seat itself as well.
        prediction(0, 1, 2, json!({ "0": 99, "1": 48, "2": 58 })),
        // Nothing could be read of one rival, and nobody is left in round 3.
        prediction(0, 2, 1, json!({ "1": 53, "2": null })),
        prediction(0, 3, 1, json!({ "1": 40 })),
        prediction(0, 9, 1, json!({ "1": 40 })),
        prediction(0, 2, 0, json!({ "1": 1, "7": 3, "x": 1 })),
        SeatNote {
            seat: 0,
            turn: 1,
            note: "reading".to_owned(),
            body: json!({ "round": 1, "level": 9, "predicted": { "1": 0 } }),
        },
    ];
    let setting = one(&guesses(json!({}), notes));
    let row = &setting.rows("players")[0];
    // Means 53 of 55, then 53 of the 50 that this rival said.
    let rounds: Vec<_> = row
        .rows("prediction_rounds")
        .iter()
        .map(|one| (one.count("round"), one.number("error")))
        .collect();
    assert_eq!(rounds, [(1, Some(2.0)), (2, Some(3.0))]);
    assert_eq!(
        (row.number("prediction_error"), row.count("predictions")),
        (Some(2.5), 2)
    );
    assert_eq!(setting.rows("players")[1].rows("prediction_rounds"), []);
}

#[test]
fn a_town_is_no_survival_auction_unless_somebody_predicts_in_it() {
    let measured = |params: Value, notes: Vec<SeatNote>| {
        let mut report = KLevelReport::default();
        report.add(&auction(params, json!({}), notes))
    };
    assert!(measured(json!({ "supply_max": 19 }), Vec::new()));
    for other in [
        json!({ "supply_max": 20 }),
        json!({ "supply_min": 9 }),
        json!({ "requirements": [10, 9] }),
    ] {
        assert!(!measured(other.clone(), Vec::new()), "{other}");
        assert!(measured(
            other,
            vec![prediction(0, 1, 1, json!({ "1": 3 }))]
        ));
    }
}

#[test]
fn a_town_with_other_rules_is_called_so_and_stands_beside_no_published_auction() {
    let notes = || vec![prediction(1, 1, 1, json!({ "0": 45 }))];
    let label = || json!({ "label": "k-level" });
    let town = auction(json!({ "supply_max": 20 }), label(), notes());
    let report = KLevelReport::of([&town]);
    let shown = report.render(Layout::Text(120));
    assert!(
        shown.contains("Water allocation, other rules: wins"),
        "{shown}"
    );
    assert!(!shown.contains("Survival auction"), "{shown}");
    let beside = report.beside_published("k-level-survival-auction", Layout::Text(120));
    assert!(!beside.unwrap_or_default().contains("yours"));
    let both = [town, auction(json!({}), label(), notes())];
    let shown = KLevelReport::of(&both).render(Layout::Text(120));
    assert!(shown.contains("Survival auction: wins"), "{shown}");
}

#[test]
fn predictions_are_not_compared_with_bids_that_cannot_be_paid() {
    let unpaid = |bid: f64| {
        let seats: [(&str, &[f64]); 3] = [BIDS[0], BIDS[1], ("k-level", &[bid, 10.0])];
        let table = Table {
            game: SURVIVAL_AUCTION,
            params: json!({
                "rounds": 2, "requirements": [10], "salaries": [100], "supply_min": 10,
                "supply_max": 10,
            }),
            setting: json!({}),
            seats: &seats,
            repeat: 0,
        };
        let notes = vec![
            prediction(1, 1, 1, json!({ "0": 45, "2": 70 })),
            prediction(0, 1, 1, json!({ "2": 70 })),
        ];
        let setting = one(&table.played_with(notes));
        let [direct, k_level] = setting.rows("players") else {
            panic!("{setting:?}");
        };
        let errors = (
            direct.number("prediction_error"),
            k_level.number("prediction_error"),
        );
        (errors, direct.number("adaptation"))
    };
    // 45 of 50; nothing is left to compare what the first seat predicts with. Its own bid
    // is 10 from the highest other bid, then 30.
    let expected = ((None, Some(5.0)), Some(3.0));
    assert_eq!(unpaid(101.0), expected);
    assert_eq!(unpaid(1_000_000.0), expected);
    // What can be paid counts.
    assert_eq!(unpaid(100.0).0, (Some(30.0), Some(30.0)));
}

#[test]
fn an_axis_over_the_opponents_says_nothing_of_the_player() {
    for axis in [
        "players.others.agent",
        "players.subjects.agent",
        "seats[1]",
        "seats[0]0",
        "params.opponents",
    ] {
        for value in ["direct", "reflexion"] {
            let mut record = guesses(json!({ axis: value }), Vec::new());
            record.spec.seats[0].name = "subject".to_owned();
            let own = json!({ "agent": "k_level" });
            record.spec.seats[0].settings = serde_json::from_value(own).unwrap();
            let setting = one(&record);
            assert_eq!(
                setting.rows("first_seat")[0].word("player"),
                "k-level",
                "{axis}"
            );
        }
    }
    for (axis, settings, player) in [
        ("seats[0]", json!({}), "reflexion"),
        ("seats[0].player", json!({}), "reflexion"),
        (
            "players.subject.agent",
            json!({ "agent": "reflexion" }),
            "reflexion",
        ),
        ("players.subject", json!({}), "reflexion"),
    ] {
        let mut record = guesses(json!({ axis: "reflexion" }), Vec::new());
        record.spec.seats[0].name = "subject".to_owned();
        record.spec.seats[0].settings = serde_json::from_value(settings).unwrap();
        assert_eq!(
            one(&record).rows("first_seat")[0].word("player"),
            player,
            "{axis}"
        );
    }
    let mut record = guesses(json!({ "players.subject.agent": "k_level" }), Vec::new());
    record.spec.seats[0].name = "subject".to_owned();
    let own = json!({ "agent": "k_level", "depth": 3 });
    record.spec.seats[0].settings = serde_json::from_value(own).unwrap();
    assert_eq!(
        one(&record).rows("first_seat")[0].word("player"),
        "k-level-3"
    );
}

#[test]
fn a_method_is_said_by_name_by_axis_or_by_agent() {
    let first = |name: &str, setting: Value, settings: Value| {
        let mut record = guesses(setting, Vec::new());
        record.spec.seats[0].name = name.to_owned();
        record.spec.seats[0].settings = serde_json::from_value(settings).unwrap();
        let setting = one(&record);
        (
            setting.measures.word("opponents").to_owned(),
            setting.rows("first_seat")[0].word("player").to_owned(),
        )
    };
    let said = |opponents: &str, method: &str| (opponents.to_owned(), method.to_owned());
    let nothing = || json!({});
    let label = json!({ "label": "reflexion", "seats[0]": "k-level" });
    assert_eq!(
        first("self-refine", label, nothing()),
        said("reflexion", "self-refine")
    );
    let axis = json!({ "label": "Self_Refine", "players.subject.agent": "chain_of_thought" });
    assert_eq!(
        first("subject", axis, nothing()),
        said("self-refine", "chain-of-thought")
    );
    for (settings, method) in [
        (
            json!({ "agent": "prediction_chain_of_thought" }),
            "prediction-cot",
        ),
        (json!({ "agent": "k_level" }), "k-level"),
        (json!({ "agent": "k_level", "depth": 2 }), "k-level"),
        (json!({ "agent": "k_level", "depth": 3 }), "k-level-3"),
        (json!({ "agent": "bdi" }), "subject"),
    ] {
        assert_eq!(
            first("subject", nothing(), settings),
            said("direct", method)
        );
    }
}

#[test]
fn own_figures_stand_below_those_of_the_same_methods() {
    let against = |label: &str| guesses(json!({ "label": label }), Vec::new());
    let mut other = against("direct");
    other.spec.seats[0].name = "persona".to_owned();
    other
        .measures
        .series
        .insert("wins".to_owned(), vec![0.25, 0.5, 0.0]);
    let records = [
        against("direct"),
        against("persona"),
        against("others"),
        other,
    ];
    let report = KLevelReport::of(&records);
    let beside = report
        .beside_published("k-level-guessing", Layout::Text(140))
        .unwrap();
    let rows: Vec<Vec<&str>> = beside
        .lines()
        .filter(|line| line.trim_start().starts_with("yours"))
        .map(|line| line.split_whitespace())
        // Notes of the rows are another test's.
        .map(|words| words.take_while(|word| *word != "not").collect())
        .collect();
    let row = |condition: &'static str, persona: &'static str, k_level: &'static str| {
        vec![
            "yours", condition, "-", "-", persona, "-", "-", "-", k_level, "-",
        ]
    };
    assert_eq!(rows[0], row("direct", "0.25", "1.00"));
    assert_eq!(rows[1], row("persona", "-", "1.00"));
    // Published opponents only; others stand for themselves.
    assert_eq!(rows[2], row("average", "0.25", "1.00"));
    assert_eq!(rows[3], row("others", "-", "1.00"));
    // Depth has no conditions.
    assert_eq!(
        rows[4],
        ["yours", "-", "-", "1.00", "-", "-", "-", "1.00", "-"]
    );
    let auction = auction(json!({}), json!({ "label": "k-level" }), Vec::new());
    let report = KLevelReport::of([&auction]);
    let beside = report
        .beside_published("k-level-survival-auction", Layout::Text(140))
        .unwrap();
    let own = beside.lines().find(|line| line.contains("yours")).unwrap();
    let cells: Vec<&str> = own.split_whitespace().collect();
    assert_eq!(cells[..3], ["yours", "k-level", "2.00"]);
}

fn all() -> KLevelReport {
    let notes = vec![
        prediction(0, 1, 1, json!({ "1": 48, "2": 58 })),
        prediction(0, 2, 1, json!({ "1": 53 })),
    ];
    let mut simulated = guesses(json!({ "label": "direct" }), notes);
    simulated.simulated = true;
    let records = [
        simulated,
        guesses(json!({ "label": "persona" }), Vec::new()),
        auction(json!({}), json!({ "label": "k-level" }), Vec::new()),
    ];
    KLevelReport::of(&records)
}

#[test]
fn tables_fit_80_and_100_columns() {
    let report = all();
    for (name, width) in [("k_level_100.txt", 100), ("k_level_80.txt", 80)] {
        let shown = report.render(Layout::Text(width));
        let beside = report
            .beside_published("k-level-guessing", Layout::Text(width))
            .unwrap();
        let shown = format!("{shown}\n\n{beside}");
        fits(&shown, width.into());
        golden(name, &shown);
    }
}

#[test]
fn json_has_the_first_seat_apart() {
    let settings = all().settings_as_json().unwrap();
    let one: Value = serde_json::from_str(&settings[0]).unwrap();
    assert_eq!(
        (&one["game"], &one["opponents"]),
        (&json!(GUESS_TO_SURVIVE), &json!("direct"))
    );
    assert_eq!(one["first_seat"][0]["prediction_rounds"][1]["error"], 3.0);
    assert_eq!(one["players"][1]["adaptation"], Value::Null);
}
