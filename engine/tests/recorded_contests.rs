//! Plays the recorded contests and auctions of EconArena's package and expects no
//! difference; then spoils one and expects the difference to be named.
//!
//! Read from `tests/recorded`, or the folder in `AGON_RECORDED`.

#![allow(
    clippy::disallowed_types,
    reason = "the engine reads no files, its tests do"
)]

use agon_engine::replay::{RecordedError, RecordedGame, replay};
use serde_json::{Value, json};

#[path = "recorded/reading.rs"]
mod reading;

/// The games that are replayed.
const GAMES: [&str; 2] = ["beauty_contest", "second_price_auction"];

fn games(name: &str) -> Vec<Value> {
    let lines = reading::lines("econarena.jsonl.gz");
    let read = |line: &String| -> Value { serde_json::from_str(line).expect("JSON") };
    let all = lines.iter().map(read);
    all.filter(|game| game["game"] == name).collect()
}

fn mismatches(game: &Value) -> Vec<String> {
    let recorded = RecordedGame::from_json(&game.to_string()).expect("a readable game");
    replay(&recorded).mismatches
}

#[test]
fn recorded_games_match() {
    for name in GAMES {
        let games = games(name);
        assert!(!games.is_empty(), "no recorded {name}");
        let differences = games.iter().flat_map(|game| {
            let found = mismatches(game).into_iter();
            found.map(|line| format!("{}: {line}", game["id"]))
        });
        let differences: Vec<String> = differences.take(20).collect();
        assert!(differences.is_empty(), "{name}: {differences:#?}");
    }
}

#[test]
fn changed_values_are_named() {
    for name in GAMES {
        let games = games(name);
        let fouled = |game: &&Value| {
            let fouls = game["result"]["fouls"].as_array().expect("a list");
            fouls[0] == false && fouls[1..].contains(&json!(true))
        };
        let game = games.iter().find(fouled).expect("a game with a foul");
        let winner = if name == "beauty_contest" {
            "winners"
        } else {
            "winner"
        };
        let other = if name == "beauty_contest" {
            json!([77])
        } else {
            json!(77)
        };
        for (pointer, value, named) in [
            ("/result/fouls/0".to_owned(), json!(true), "fouls[0]"),
            ("/result/choices/0".to_owned(), json!(0.123), "choices[0]"),
            ("/result/payoffs/0".to_owned(), json!(0.123), "payoffs[0]"),
            ("/result/payoffs/0".to_owned(), json!(null), "payoffs[0]"),
            ("/result/status".to_owned(), json!(false), "status"),
            (format!("/result/{winner}"), other, winner),
            ("/replies/0".to_owned(), json!("no"), "fouls[0]"),
        ] {
            let mut changed = game.clone();
            *changed.pointer_mut(&pointer).expect("a value") = value;
            let found = mismatches(&changed);
            let told = found.iter().any(|line| line.contains(named));
            assert!(told, "{pointer} changed, found {found:?}");
        }
    }
}

#[test]
fn impossible_games_are_refused_with_the_field() {
    for name in GAMES {
        let games = games(name);
        for (pointer, value, path) in [
            ("/params/players", json!(1), "params.players"),
            ("/params/players", json!("two"), "params.players"),
            ("/replies", json!([]), "replies"),
            ("/result/fouls", json!([]), "result.fouls"),
        ] {
            let mut changed = games[0].clone();
            *changed.pointer_mut(pointer).expect("a value") = value;
            match RecordedGame::from_json(&changed.to_string()) {
                Err(RecordedError::Field { path: found, .. }) => assert_eq!(found, path),
                Err(other) => panic!("{other}"),
                Ok(_) => panic!("{pointer} is taken"),
            }
        }
    }
}
