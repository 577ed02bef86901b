//! A recorded game with one changed value must not match, and the mismatch must
//! name what was changed.

use agon_engine::replay::{RecordedGame, replay};
use serde_json::{Value, json};

use crate::{GAMES, lines};

fn first(game: &str) -> Value {
    let lines = lines(game);
    let line = lines.first().expect("a recorded game");
    serde_json::from_str(line).expect("a line of JSON")
}

/// The first recorded game for which `wanted` holds.
fn one_with(game: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let lines = lines(game);
    let mut games = lines
        .iter()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    games.find(wanted).expect("a recorded game of this kind")
}

fn mismatches(game: &Value) -> Vec<String> {
    let recorded = RecordedGame::from_json(&game.to_string()).expect("a readable game");
    replay(&recorded).mismatches
}

/// Changes the value at a JSON pointer; a mismatch must contain `named`.
fn notices(mut game: Value, pointer: &str, value: Value, named: &str) {
    let id = game["id"].to_string();
    let place = game.pointer_mut(pointer);
    let place = place.unwrap_or_else(|| panic!("{id} has no {pointer}"));
    assert_ne!(*place, value, "{id}: {pointer} is so already");
    *place = value;
    let found = mismatches(&game);
    let told = found.iter().any(|line| line.contains(named));
    assert!(
        told,
        "{id}: {pointer} changed, expected \"{named}\", found {found:#?}"
    );
}

/// Adds to the number at a JSON pointer.
fn notices_number(game: &Value, pointer: &str, named: &str) {
    let number = game
        .pointer(pointer)
        .and_then(Value::as_f64)
        .expect("a number");
    let whole = game.pointer(pointer).is_some_and(Value::is_i64);
    let other = if whole {
        json!(number as i64 + 1)
    } else {
        json!(number + 1e-5)
    };
    notices(game.clone(), pointer, other, named);
}

#[test]
fn a_changed_score_is_named() {
    for game in GAMES {
        let recorded = first(game);
        notices_number(&recorded, "/score_iclr2025", "score_iclr2025: recorded");
        notices_number(&recorded, "/score_arxiv2024", "score_arxiv2024: recorded");
    }
}

#[test]
fn every_changed_part_of_a_score_is_named() {
    for game in GAMES {
        let recorded = first(game);
        let parts = recorded["raw_S"].as_object().expect("parts").clone();
        for name in parts.keys() {
            let named = format!("{name}: recorded");
            notices_number(&recorded, &format!("/raw_S/{name}"), &named);
        }
        let mut unknown = recorded.clone();
        unknown["raw_S"]["S_other"] = json!(1);
        let found = mismatches(&unknown);
        assert_eq!(found, ["S_other: recorded 1.0, computed nothing"]);
    }
}

#[test]
fn every_changed_outcome_number_is_named_with_its_round() {
    for game in GAMES {
        let recorded = first(game);
        let outcome = recorded["rounds"][0]["outcome"]
            .as_object()
            .expect("an outcome")
            .clone();
        for (name, value) in &outcome {
            let pointer = format!("/rounds/0/outcome/{name}");
            let named = format!("round 1: {name}");
            match value {
                Value::Number(_) => notices_number(&recorded, &pointer, &named),
                Value::Array(entries) => {
                    let last = entries.len() - 1;
                    let entry = format!("{pointer}/{last}");
                    notices_number(&recorded, &entry, &format!("{named}[{last}]"));
                }
                Value::Bool(flag) => notices(recorded.clone(), &pointer, json!(!flag), &named),
                Value::String(_) => notices(recorded.clone(), &pointer, json!("other"), &named),
                _ => {}
            }
        }
    }
}

#[test]
fn a_difference_below_the_tolerance_is_none() {
    let mut recorded = first("guess_two_thirds");
    for pointer in [
        "/score_iclr2025",
        "/raw_S/S",
        "/rounds/3/outcome/mean_ratio",
    ] {
        let place = recorded.pointer_mut(pointer).expect("a value");
        *place = json!(place.as_f64().expect("a number") + 5e-7);
    }
    assert_eq!(mismatches(&recorded), Vec::<String>::new());
}

#[test]
fn a_changed_action_changes_what_follows_from_it() {
    let cases = [
        (
            "guess_two_thirds",
            "/rounds/4/actions/2",
            json!(98),
            "round 5: mean",
        ),
        (
            "divide_dollar",
            "/rounds/4/actions/2",
            json!(77),
            "round 5: total_proposal",
        ),
        (
            "public_goods",
            "/rounds/4/actions/2",
            json!(19),
            "round 5: kept[2]",
        ),
        (
            "sealed_bid_auction",
            "/rounds/4/actions/2",
            json!(9999),
            "round 5: winner",
        ),
    ];
    for (game, pointer, value, named) in cases {
        notices(first(game), pointer, value, named);
    }
    for (game, one, other, named) in [
        ("el_farol", "go", "stay", "round 5: go_num"),
        ("diners_dilemma", "cheap", "costly", "round 5: cheap_player"),
    ] {
        let recorded = first(game);
        let pointer = "/rounds/4/actions/2";
        let was = recorded.pointer(pointer).expect("an action").clone();
        let value = if was == one { other } else { one };
        notices(recorded, pointer, json!(value), named);
    }
}

#[test]
fn a_changed_shot_is_named() {
    let recorded = one_with("battle_royale", |game| {
        game["rounds"][1]["chance"]["hit"] == true
    });
    let other = if recorded["rounds"][1]["actions"]["target"] == 7 {
        8
    } else {
        7
    };
    notices(
        recorded.clone(),
        "/rounds/1/actions/target",
        json!(other),
        "round 2: alive_after",
    );
    notices(
        recorded.clone(),
        "/rounds/1/actions/target",
        Value::Null,
        "round 2: action",
    );
    notices(
        recorded,
        "/rounds/1/actions/shooter",
        json!(9),
        "round 2: no shot of player 1: recorded shooter 9, computed 1",
    );
}

#[test]
fn a_changed_hit_is_named() {
    let recorded = one_with("battle_royale", |game| {
        game["rounds"][1]["chance"]["hit"] == true
    });
    let pointer = "/rounds/1/chance/hit";
    notices(recorded.clone(), pointer, json!(false), "round 2: out");
    notices(
        recorded,
        pointer,
        Value::Null,
        "round 2: a draw of hits that the record lacks",
    );
    let held = one_with("battle_royale", |game| {
        game["rounds"][0]["actions"]["target"].is_null()
    });
    let named = "round 1: recorded a draw of hits (true) that is never made";
    notices(held, "/rounds/0/chance/hit", json!(true), named);
}

#[test]
fn a_changed_derived_parameter_is_named() {
    let recorded = first("battle_royale");
    notices(
        recorded,
        "/params/hit_rates/3",
        json!(51),
        "params.hit_rates[3]",
    );
}

#[test]
fn a_changed_valuation_or_tie_is_named() {
    let recorded = first("sealed_bid_auction");
    let pointer = "/rounds/0/private/valuations/0";
    let named = "round 1: a draw of valuations that the record lacks or has impossibly";
    notices(recorded.clone(), pointer, json!(205), named);
    let mut exchanged = recorded;
    let valuations = exchanged
        .pointer_mut("/rounds/0/private/valuations")
        .expect("valuations");
    valuations.as_array_mut().expect("a list").swap(0, 1);
    let found = mismatches(&exchanged);
    assert!(found.iter().any(|line| line.contains("S")), "{found:?}");

    let tie = |game: &Value| !game["rounds"][0]["chance"]["tie_winner"].is_null();
    let rounds = |game: &Value| game["rounds"].as_array().map_or(0, Vec::len);
    let mut tied = one_with("sealed_bid_auction", |game| {
        (0..rounds(game)).any(|round| !game["rounds"][round]["chance"]["tie_winner"].is_null())
    });
    while !tie(&tied) {
        // Bring a round with a tie to the front; rounds do not depend on each other.
        tied["rounds"]
            .as_array_mut()
            .expect("rounds")
            .rotate_left(1);
    }
    assert_eq!(mismatches(&tied), Vec::<String>::new());
    let winner = tied["rounds"][0]["chance"]["tie_winner"].clone();
    let among = tied["rounds"][0]["chance"]["tied"]
        .as_array()
        .expect("the tied")
        .clone();
    let other = among
        .into_iter()
        .find(|seat| *seat != winner)
        .expect("another");
    let pointer = "/rounds/0/chance/tie_winner";
    notices(tied.clone(), pointer, other, "round 1: winner");
    notices(
        tied,
        pointer,
        Value::Null,
        "round 1: a draw of ties that the record lacks",
    );
}

#[test]
fn a_changed_vote_or_plan_is_named() {
    let recorded = first("pirate");
    let last = recorded["rounds"].as_array().expect("rounds").len() - 1;
    let votes = format!("/rounds/{last}/actions/votes/1");
    let was = recorded.pointer(&votes).expect("a vote").clone();
    let other = if was == "accept" { "reject" } else { "accept" };
    let named = format!("round {}: accepts", last + 1);
    notices(recorded.clone(), &votes, json!(other), &named);
    let plan = "/rounds/0/actions/proposal/0";
    notices_number(
        &recorded,
        plan,
        "round 1: the recorded proposal of player 0 is a foul",
    );
    notices(
        recorded.clone(),
        "/rounds/0/actions/proposer",
        json!(3),
        "recorded proposer 3",
    );
    let payoffs = format!("/rounds/{last}/outcome/payoffs");
    notices(recorded, &payoffs, Value::Null, "no payoffs are recorded");
}

#[test]
fn a_record_that_ends_early_or_late_is_named() {
    for game in GAMES {
        let mut short = first(game);
        short["rounds"].as_array_mut().expect("rounds").pop();
        let found = mismatches(&short);
        let told = found
            .iter()
            .any(|line| line.ends_with("the game goes on, but the record ends"));
        assert!(told, "{game}: {found:?}");

        let mut long = first(game);
        let rounds = long["rounds"].as_array_mut().expect("rounds");
        rounds.push(rounds[rounds.len() - 1].clone());
        let ended = game != "battle_royale" || rounds.len() > 20;
        let found = mismatches(&long);
        let told = found
            .iter()
            .any(|line| line.contains("recorded, but the game was over before"));
        assert!(told || !ended, "{game}: {found:?}");
    }
}

#[test]
fn missing_and_surplus_answers_are_named() {
    for game in [
        "guess_two_thirds",
        "el_farol",
        "divide_dollar",
        "diners_dilemma",
    ] {
        let mut short = first(game);
        short["rounds"][2]["actions"]
            .as_array_mut()
            .expect("actions")
            .pop();
        let found = mismatches(&short);
        assert!(found[0].starts_with("round 3: no "), "{game}: {found:?}");
        assert!(
            found[0].ends_with("the record has 9 answers"),
            "{game}: {found:?}"
        );

        let mut long = first(game);
        let actions = long["rounds"][2]["actions"]
            .as_array_mut()
            .expect("actions");
        actions.push(actions[0].clone());
        let found = mismatches(&long);
        assert!(
            found
                .iter()
                .any(|line| line.starts_with("round 3: actions")),
            "{found:?}"
        );
    }
}
