//! Measures of towns small enough to work out by hand, of rule players that bid what the
//! test tells them to.

use crate::layout::Layout;
use serde_json::{Value, json};

use super::*;
use crate::game_report::GameReport;
use crate::testing::{Table, close, fits, golden};

/// Water for one, for two, for one. Everybody lives: Alex, Bob and Cindy, Alex win.
const CALM: [(&str, &[f64]); 3] = [
    ("x", &[60.0, 0.0, 50.0]),
    ("y", &[50.0, 40.0, 500.0]),
    ("x", &[0.0, 30.0, 10.0]),
];

/// Bob wins twice; Alex and Cindy die on the second day; on the third Bob bids too much.
const HARSH: [(&str, &[f64]); 3] = [
    ("x", &[10.0, 0.0]),
    ("y", &[70.0, 40.0, 500.0]),
    ("z", &[0.0]),
];

fn town(seats: &[(&str, &[f64])], setting: Value, repeat: u32) -> StoredRecord {
    Table {
        game: WATER_ALLOCATION,
        params: json!({
            "rounds": 3, "requirements": [8, 9, 10], "salaries": [100], "health_start": 2,
            "supply_min": 10, "supply_max": 20, "supplies": [10, 20, 10],
        }),
        setting,
        seats,
        repeat,
    }
    .played()
}

fn both() -> AlympicsReport {
    let calm = town(&CALM, json!({}), 0);
    AlympicsReport::of([&calm, &town(&HARSH, json!({}), 1)])
}

#[test]
fn survival_by_hand() {
    let setting = both().settings().remove(0);
    assert_eq!(*setting.measures.get("survivors"), list([3u64, 1]));
    assert_eq!(setting.measures.number("survivors_mean"), Some(2.0));
    close(setting.measures.number("survivors_sd"), 2f64.sqrt());
    close(setting.measures.number("survival_rate"), 4.0 / 6.0);
    let [alex, bob, cindy] = setting.rows("residents") else {
        panic!("{setting:?}");
    };
    assert_eq!((alex.count("seat"), alex.word("resident")), (0, "Alex"));
    assert_eq!(alex.words("players"), ["x"]);
    assert_eq!(cindy.words("players"), ["x", "z"]);
    assert_eq!(*alex.get("survived"), list([true, false]));
    assert_eq!(
        (alex.number("survival_rate"), bob.number("survival_rate")),
        (Some(0.5), Some(1.0))
    );
    // To the end, and to the morning of the second day's death.
    assert_eq!(alex.number("survival_rounds"), Some(2.5));
    assert_eq!(
        (
            alex.number("days_with_water"),
            bob.number("days_with_water")
        ),
        (Some(1.0), Some(1.5))
    );
    assert_eq!((alex.count("overbids"), bob.count("overbids")), (0, 2));
    assert_eq!(setting.measures.number("overbids"), Some(1.0));
}

#[test]
fn a_town_that_is_left_out_counts_in_no_number_of_towns() {
    // Most asks of the second town were forfeited, though not by Bob and Cindy.
    let mut harsh = town(&HARSH, json!({}), 1);
    harsh.outcome.forfeits[0] = 9;
    let report = AlympicsReport::of([&town(&CALM, json!({}), 0), &harsh]);
    let setting = report.settings().remove(0);
    assert_eq!(setting.measures.number("survivors_mean"), Some(3.0));
    assert_eq!(setting.measures.number("survival_rate"), Some(1.0));
    let bob = &setting.rows("residents")[1];
    assert_eq!(
        (bob.count("n"), bob.number("survival_rate")),
        (2, Some(1.0))
    );
}

#[test]
fn satisfaction_by_hand() {
    let setting = both().settings().remove(0);
    // 10, 20 and 10 units; 27 are needed, at the end of the second session 9.
    let (start, alone) = (40.0 / 3.0 / 27.0, 40.0 / 3.0 / 9.0);
    close(setting.measures.number("rsr_start"), start);
    close(setting.measures.number("rsr_end"), (start + alone) / 2.0);
    let [first, second, third] = setting.rows("days") else {
        panic!("{setting:?}");
    };
    assert_eq!(
        (
            first.count("day"),
            first.count("sessions"),
            first.number("living")
        ),
        (1, 2, Some(3.0))
    );
    close(second.number("rsr"), start);
    assert_eq!(
        (third.count("sessions"), third.number("living")),
        (2, Some(2.0))
    );
    close(third.number("rsr"), (start + alone) / 2.0);
}

#[test]
fn lowest_winning_bids_by_hand() {
    let setting = both().settings().remove(0);
    let [first, second, third] = setting.rows("minimum_bids") else {
        panic!("{setting:?}");
    };
    // 60 and 70; 30 of two winners and 40; 50, and nobody.
    assert_eq!(
        (first.count("sessions"), first.number("median")),
        (2, Some(65.0))
    );
    assert_eq!(
        (first.number("lower"), first.number("upper")),
        (Some(62.5), Some(67.5))
    );
    assert_eq!(
        (second.number("least"), second.number("most")),
        (Some(30.0), Some(40.0))
    );
    assert_eq!(
        (
            third.count("day"),
            third.count("sessions"),
            third.number("median")
        ),
        (3, 1, Some(50.0))
    );
    close(setting.measures.number("minimum_bid_medians"), 50.0);
}

#[test]
fn trajectories_by_hand() {
    let setting = both().settings().remove(0);
    let alex = setting.rows("trajectories")[0].rows("days");
    let day = |place: usize| {
        let point = &alex[place];
        (
            point.count("sessions"),
            point.number("bid"),
            point.number("balance"),
            point.number("health"),
        )
    };
    assert_eq!(day(0), (2, Some(35.0), Some(70.0), Some(2.5)));
    // Who dies in the evening has nothing left.
    assert_eq!(day(1), (2, Some(0.0), Some(70.0), Some(1.5)));
    assert_eq!(day(2), (1, Some(50.0), Some(190.0), Some(5.0)));
    // Bids that the balance does not cover are none: one of them would be all of a mean.
    let bob = &setting.rows("trajectories")[1].rows("days")[2];
    assert_eq!((bob.count("sessions"), bob.number("bid")), (2, None));
    let once: [(&str, &[f64]); 3] = [("x", &[60.0, 0.0]), ("y", &[50.0, 40.0, 90.0]), HARSH[2]];
    let records = [town(&CALM, json!({}), 0), town(&once, json!({}), 1)];
    let setting = AlympicsReport::of(&records).settings().remove(0);
    assert_eq!(
        setting.rows("trajectories")[1].rows("days")[2].number("bid"),
        Some(90.0)
    );
}

#[test]
fn a_town_in_which_nobody_lives_has_no_satisfaction_at_the_end() {
    let nobody: [(&str, &[f64]); 3] = [("x", &[0.0]), ("y", &[0.0]), ("z", &[0.0])];
    let report = AlympicsReport::of([&town(&nobody, json!({}), 0)]);
    let setting = report.settings().remove(0);
    assert_eq!(
        (
            setting.measures.number("survival_rate"),
            setting.measures.number("rsr_end")
        ),
        (Some(0.0), None)
    );
    assert!(
        setting.rows("minimum_bids").is_empty()
            && setting.measures.number("minimum_bid_medians").is_none()
    );
    assert_eq!(setting.rows("days").len(), 2);
    assert!(
        report.render(Layout::Text(80)).contains(" - "),
        "{}",
        report.render(Layout::Text(80))
    );
}

#[test]
fn tables_fit_80_and_100_columns() {
    let low = json!({ "label": "low" });
    let mut simulated = town(&HARSH, json!({ "label": "high" }), 0);
    simulated.simulated = true;
    let records = [town(&CALM, low.clone(), 0), town(&HARSH, low, 1), simulated];
    let report = AlympicsReport::of(&records);
    for (name, width) in [("alympics_100.txt", 100), ("alympics_80.txt", 80)] {
        let shown = report.render(Layout::Text(width));
        fits(&shown, width.into());
        golden(name, &shown);
    }
}

#[test]
fn trajectories_are_printed_up_to_sixty_rows() {
    let mut report = AlympicsReport::default();
    for setting in 0..7 {
        assert!(report.add(&town(&CALM, json!({ "label": format!("s{setting}") }), 0)));
    }
    let shown = report.render(Layout::Text(120));
    // Nine rows each.
    assert!(
        shown.contains("1 more setting: agon show EXPERIMENT --measures --json"),
        "{shown}"
    );
}

#[test]
fn json_has_every_day_of_every_resident() {
    let settings = both().settings_as_json().unwrap();
    let one: Value = serde_json::from_str(&settings[0]).unwrap();
    assert_eq!(one["game"], WATER_ALLOCATION);
    assert_eq!(one["survivors"], json!([3, 1]));
    assert_eq!(one["minimum_bids"][0]["median"], 65.0);
    assert_eq!(one["trajectories"][2]["days"][0]["bid"], 0.0);
    assert_eq!(one["residents"][2]["survived"], json!([true, false]));
}

#[test]
fn own_survival_stands_below_that_of_the_same_supply() {
    let report = both();
    let line = |text: &str, words: &str, after: &str| -> Vec<String> {
        let (_, rest) = text.split_once(after).unwrap();
        let found = rest.lines().find(|line| line.contains(words)).unwrap();
        found.split_whitespace().map(str::to_owned).collect()
    };
    // From 10 to 20 units a day is low, whatever it is called.
    let beside = report
        .beside_published("alympics-resources", Layout::Text(120))
        .unwrap();
    let own = line(&beside, "yours", "Share of sessions");
    let (own, notes) = own.split_at(7);
    assert_eq!(own, ["yours", "low", "0.50", "1.00", "0.50", "-", "-"]);
    let unlike = "not as published: health_start and players and rounds";
    assert_eq!(notes.join(" "), unlike);
    let published = line(&beside, "published", "Share of sessions");
    assert_eq!(
        published,
        ["published", "low", "0.10", "0.10", "0.50", "0.70", "0.40"]
    );
    let own = line(&beside, "yours", "Resource satisfaction");
    assert_eq!(own[..4], ["yours", "low", "0.49", "0.99"]);
    let personas = report
        .beside_published("alympics-personas", Layout::Text(120))
        .unwrap();
    let published = line(&personas, "published", "Share of sessions");
    assert_eq!(published[2..], ["0.30", "0.10", "0.40", "0.60", "0.70"]);
    assert_eq!(
        report.beside_published("aucarena-niche", Layout::Text(120)),
        None
    );
}
