//! The table at the end of a run, and the leaderboard, as they are printed: their golden files
//! hold long names, several players, axes that share a segment, forfeits, costs and simulation.

use crate::layout::Layout;
use serde_json::{Value, json};

use super::*;
use crate::leaderboard::Leaderboard;
use crate::testing::{Table, fits, golden};

/// A session of a game, its seats played as by models of these names, so many a name.
fn session(game: &str, setting: Value, repeat: u32, models: &[(&str, &str, usize)]) -> Value {
    let seats: Vec<(&str, &str)> = models
        .iter()
        .flat_map(|(name, model, seats)| vec![(*name, *model); *seats])
        .collect();
    let names: Vec<(&str, &[f64])> = seats.iter().map(|(name, _)| (*name, &[][..])).collect();
    let table = Table {
        game,
        params: json!({}),
        setting,
        seats: &names,
        repeat,
    };
    let equilibrium = vec![json!({ "strategy": "equilibrium" }); seats.len()];
    let mut record: Value = serde_json::from_str(&table.line(equilibrium, Vec::new())).unwrap();
    for (seat, (_, model)) in seats.iter().enumerate() {
        record["spec"]["seats"][seat]["kind"] = json!("model");
        record["spec"]["seats"][seat]["settings"] = json!({ "model": model });
    }
    record
}

/// The same with so many forfeits of the first seat.
fn forfeited(mut record: Value, forfeits: u32) -> Value {
    record["outcome"]["forfeits"][0] = json!(forfeits);
    record
}

/// The same without any answer.
fn unanswered(mut record: Value) -> Value {
    let moves = record["moves"].as_array().unwrap().clone();
    for made in moves {
        let forfeits = &mut record["outcome"]["forfeits"][made["seat"].as_u64().unwrap() as usize];
        *forfeits = json!(forfeits.as_u64().unwrap() + 1);
    }
    record
}

fn read(record: &Value) -> Session {
    Session::from_line(record.to_string().as_bytes()).unwrap()
}

fn sessions() -> Vec<Session> {
    let long = "meta-llama/llama-3.1-405b-instruct";
    let heat = |alice: f64, bob: f64| json!({ "players.alice.temperature": alice, "players.bob.temperature": bob });
    let one = [("subject", long, 10)];
    let two = [("alice", "gpt-4o-2024-08-06", 5), ("bob", long, 5)];
    let mut sessions = vec![
        forfeited(session("public_goods", heat(0.0, 1.0), 0, &two), 12),
        session("public_goods", heat(0.0, 1.0), 1, &two),
        session("public_goods", heat(1.0, 0.0), 0, &two),
        session("guess_two_thirds", json!({}), 0, &one),
    ];
    for repeat in 0..5 {
        let pirate = session("pirate", json!({ "label": "default" }), repeat, &one);
        // Nothing is measured in four of five.
        sessions.push(if repeat == 0 {
            pirate
        } else {
            unanswered(pirate)
        });
    }
    let mut simulated = session("sealed_bid_auction", json!({}), 0, &one);
    simulated["simulated"] = json!(true);
    sessions.push(simulated);
    sessions.iter().map(read).collect()
}

#[test]
fn the_summary_fits_80_and_100_columns() {
    let mut summary = Summary::default();
    let usage = json!({ "usage": { "cost_nanodollars": 1_234_567_890_123u64 } });
    let telemetry = Telemetry::from_line(usage.to_string().as_bytes());
    for session in sessions() {
        summary.add(&session, &telemetry);
    }
    for (name, width) in [("summary_100.txt", 100), ("summary_80.txt", 80)] {
        let shown = summary.render(Layout::Text(width));
        fits(&shown, width.into());
        golden(name, &shown);
    }
}

#[test]
fn the_leaderboard_fits_80_and_100_columns() {
    let mut leaderboard = Leaderboard::default();
    for session in sessions() {
        leaderboard.add(&session);
    }
    for (name, width) in [("leaderboard_100.txt", 100), ("leaderboard_80.txt", 80)] {
        let shown = leaderboard.render(Layout::Text(width));
        fits(&shown, width.into());
        golden(name, &shown);
    }
}
