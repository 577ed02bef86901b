//! How many calls agents make for themselves, by their settings, in tables of several sizes.
//! No agent is built.

use agon_engine::PlayerSpec;
use serde_json::{Value, json};

use super::*;
use crate::roster::own_calls;

/// Calls in a usual game, and the most that there can be.
fn calls(settings: Value, table: &Table) -> (u64, u64) {
    let player = json!({ "name": "ann", "kind": "model", "settings": settings });
    let player: PlayerSpec = serde_json::from_value(player).unwrap();
    own_calls(&player).unwrap().1.in_game(table)
}

#[test]
fn bidders_are_counted_with_the_calls_they_make_for_themselves() {
    let table = Table {
        asks: 100,
        usual_asks: 30,
        seats: 3,
        items: 10,
        rounds: 10,
    };
    let everything = json!({ "agent": "harbor", "profile": true, "theory_of_mind": "inferred",
        "strategic": true, "second_order": true, "tries": 2 });
    for (settings, expected) in [
        (json!({ "agent": "direct" }), (0, 0)),
        (json!({ "agent": "bdi" }), (20, 80)),
        (
            json!({ "agent": "bdi", "strategy": "static", "learn": true }),
            (12, 48),
        ),
        (
            json!({ "agent": "bdi", "strategy": "none", "tries": 1 }),
            (10, 10),
        ),
        (json!({ "agent": "harbor" }), (10, 40)),
        (json!({ "agent": "harbor", "beliefs": true }), (20, 80)),
        // Whatever its world is, and before it is known.
        (
            json!({ "agent": "harbor", "profile": true, "plan": false, "world": "own" }),
            (20, 80),
        ),
        (everything, (10 + 20 + 10 + 20 + 30, 2 * (60 + 100))),
    ] {
        assert_eq!(calls(settings.clone(), &table), expected, "{settings}");
    }
}

#[test]
fn players_that_think_more_than_once_are_counted_with_all_their_calls() {
    let table = Table {
        asks: 20,
        usual_asks: 10,
        seats: 5,
        items: 0,
        rounds: 20,
    };
    for (settings, expected) in [
        // Four rivals, at one level.
        (json!({ "agent": "k_level" }), (40, 160)),
        (json!({ "agent": "k_level", "depth": 1 }), (0, 0)),
        // Four rivals at two levels, and the player itself at the first.
        (
            json!({ "agent": "k_level", "depth": 3, "tries": 1 }),
            (90, 180),
        ),
        (json!({ "agent": "reflexion" }), (9, 19)),
        (json!({ "agent": "self_refine" }), (20, 40)),
        (json!({ "agent": "self_refine", "rounds": 2 }), (40, 80)),
        (json!({ "agent": "prediction_chain_of_thought" }), (0, 0)),
    ] {
        assert_eq!(calls(settings.clone(), &table), expected, "{settings}");
    }
    // Several asks in a round are looked back on once.
    let stepwise = Table { rounds: 4, ..table };
    assert_eq!(calls(json!({ "agent": "reflexion" }), &stepwise), (3, 3));
}

#[test]
fn numbers_beyond_64_bits_end_at_the_largest() {
    let all = OwnCalls {
        once: 1,
        per_item: 1,
        per_item_and_rival: 1,
        per_round_over: 1,
        per_ask: 1,
        per_ask_and_rival: 1,
        tries: u64::MAX,
        reason: true,
    };
    let endless = Table {
        asks: u64::MAX,
        usual_asks: u64::MAX,
        seats: u64::MAX,
        items: u64::MAX,
        rounds: u64::MAX,
    };
    assert_eq!(all.in_game(&endless), (u64::MAX, u64::MAX));
}
