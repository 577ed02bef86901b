//! Plays every recorded water game and expects no difference; then spoils one and
//! expects the difference to be named.
//!
//! Read from `tests/recorded`, or the folder in `AGON_RECORDED`.

#![allow(
    clippy::disallowed_types,
    reason = "the engine reads no files, its tests do"
)]

use std::sync::LazyLock;

use agon_engine::replay::{RecordedGame, Verdict, replay};
use serde_json::{Value, json};

#[path = "recorded/reading.rs"]
mod reading;

static GAMES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let lines = reading::lines("wac.jsonl.gz");
    let read = |line: &String| serde_json::from_str(line).expect("JSON");
    lines.iter().map(read).collect()
});

fn verdict(game: &Value) -> Verdict {
    replay(&RecordedGame::from_json(&game.to_string()).expect("a readable game"))
}

/// A sound game in which somebody is eliminated.
fn deadly() -> Value {
    let dies = |game: &&Value| {
        let days = game["days"].as_array().expect("days").iter();
        let gone = days.filter(|day| day["eliminated"] != json!([])).count();
        gone > 0 && game["replays_exactly"] == json!(true)
    };
    GAMES
        .iter()
        .find(dies)
        .expect("a game with a death")
        .clone()
}

#[test]
fn recorded_water_games_match() {
    assert!(!GAMES.is_empty(), "no recorded games");
    for game in &*GAMES {
        let verdict = verdict(game);
        assert_eq!(verdict.mismatches, Vec::<String>::new(), "{}", verdict.id);
        let sound = game["replays_exactly"] == json!(true);
        assert_eq!(verdict.record_fault.is_none(), sound, "{}", verdict.id);
    }
}

#[test]
fn bids_with_cents_replay() {
    let status = |balance: f64, hp: i64, no_drink: i64| json!({ "balance": balance, "hp": hp, "no_drink": no_drink });
    let mut game = json!({
        "game": "water_allocation", "id": "cents", "tie_rule": "lower_requirement",
        "params": {
            "low": 9, "high": 9, "persona": false, "start_hp": 8, "max_hp": 10, "days": 2,
            "players": [
                { "name": "Ann", "requirement": 8, "salary": 70 },
                { "name": "Ben", "requirement": 9, "salary": 75 },
            ],
        },
        "days": [
            {
                "day": 1, "supply": 9, "texts": {}, "eliminated": [],
                "before": { "Ann": status(70.0, 8, 1), "Ben": status(75.0, 8, 1) },
                "bids": { "Ann": 67.25, "Ben": 67 }, "winners": ["Ann"],
                "after": { "Ann": status(2.75, 10, 1), "Ben": status(75.0, 7, 2) },
            },
            {
                "day": 2, "supply": 9, "texts": {}, "eliminated": [],
                "before": { "Ann": status(72.75, 10, 1), "Ben": status(150.0, 7, 2) },
                "bids": { "Ann": 72.75, "Ben": 72.76 }, "winners": ["Ben"],
                // As a program writes it that sums real numbers.
                "after": { "Ann": status(72.75, 9, 2), "Ben": status(77.24000000000001, 9, 1) },
            },
        ],
        "survivors": ["Ann", "Ben"], "last_day": 2,
    });
    assert_eq!(verdict(&game).mismatches, Vec::<String>::new());
    game["days"][1]["after"]["Ben"]["balance"] = json!(77.23);
    let found = verdict(&game).mismatches;
    assert!(found[0].contains("balance of Ben"), "{found:?}");
}

#[test]
fn every_changed_number_of_a_day_is_noticed() {
    let game = deadly();
    let days = game["days"].as_array().expect("days");
    let mut changes = 0;
    for (place, day) in days.iter().enumerate() {
        for when in ["before", "after"] {
            let residents = day[when].as_object().expect("residents");
            for (name, status) in residents {
                for what in status.as_object().expect("status").keys() {
                    let mut changed = game.clone();
                    let number = &mut changed["days"][place][when][name][what];
                    *number = json!(number.as_i64().expect("a number") + 1);
                    let found = verdict(&changed).mismatches;
                    let named = format!("day {}: {when}: {what} of {name}", place + 1);
                    assert!(
                        found.iter().any(|line| line.contains(&named)),
                        "{named}: {found:?}"
                    );
                    changes += 1;
                }
            }
        }
    }
    assert!(changes > 100, "only {changes} numbers");
}

/// Changes one value; a mismatch must contain `named`.
fn notices(game: &Value, pointer: &str, value: Value, named: &str) {
    let mut changed = game.clone();
    let place = changed.pointer_mut(pointer).expect(pointer);
    assert_ne!(*place, value, "{pointer} is so already");
    *place = value;
    let found = verdict(&changed).mismatches;
    let told = found.iter().any(|line| line.contains(named));
    assert!(told, "{pointer}: expected \"{named}\", found {found:#?}");
}

#[test]
fn a_changed_outcome_is_named_with_its_place() {
    let game = deadly();
    notices(&game, "/days/0/winners", json!([]), "day 1: winners");
    notices(
        &game,
        "/days/1/winners",
        json!(["Nobody"]),
        "there is no resident Nobody",
    );
    notices(
        &game,
        "/days/0/eliminated",
        json!(["Bob"]),
        "day 1: eliminated",
    );
    notices(&game, "/days/0/day", json!(2), "day 1: day: recorded 2");
    notices(&game, "/days/0/bids/Bob", json!(-3), "-3 is no bid");
    notices(&game, "/survivors", json!([]), "survivors");
    notices(&game, "/last_day", json!(3), "last_day");
    // A supply that the law cannot give is no draw of ours.
    notices(
        &game,
        "/days/0/supply",
        json!(1_000),
        "lacks or has impossibly",
    );
}

#[test]
fn a_day_more_or_less_is_noticed() {
    let mut less = deadly();
    less["days"].as_array_mut().expect("days").pop();
    let found = verdict(&less).mismatches;
    assert!(
        found.iter().any(|line| line.contains("the game goes on")),
        "{found:?}"
    );
    let mut more = deadly();
    let again = more["days"][0].clone();
    more["days"].as_array_mut().expect("days").push(again);
    let found = verdict(&more).mismatches;
    assert!(
        found.iter().any(|line| line.contains("the game was over")),
        "{found:?}"
    );
}

#[test]
fn a_faulty_record_is_compared_up_to_its_fault_and_only_with_its_tie_rule() {
    let faulty = |game: &&Value| game["replays_exactly"] == json!(false);
    let game = GAMES.iter().find(faulty).expect("a faulty record");
    let why = verdict(game).record_fault.expect("a fault");
    assert!(why.contains("gives water to one resident twice"), "{why}");
    // Differences before the fault count like any others.
    notices(
        game,
        "/days/0/after/Bob/balance",
        json!(-7),
        "day 1: after: balance of Bob",
    );
    // With the sound rule the same day is a difference.
    notices(game, "/tie_rule", json!("lower_requirement"), "winners");
}

#[test]
fn lines_of_another_form_are_refused_with_the_field() {
    for (pointer, value, named) in [
        ("/params/players", json!([]), "players"),
        ("/params/low", json!("much"), "params.low"),
        ("/params/players/0/requirement", json!(0), "requirements[0]"),
        ("/tie_rule", json!("who_shouts"), "tie_rule"),
        ("/days/0/bids/Bob", json!(2.125), "days[0].bids"),
    ] {
        let mut game = deadly();
        *game.pointer_mut(pointer).expect(pointer) = value;
        let error = RecordedGame::from_json(&game.to_string())
            .err()
            .expect(pointer);
        assert!(error.to_string().contains(named), "{pointer}: {error}");
    }
}
