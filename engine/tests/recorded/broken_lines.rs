//! Lines that are no recorded games: a typed error, never a panic. What can
//! still be read must be replayed without a panic too, whatever it holds.

use agon_engine::replay::{RecordedError, RecordedGame, replay};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{GAMES, lines};

fn line(game: &str) -> String {
    lines(game).swap_remove(0)
}

fn error(line: &str) -> RecordedError {
    match RecordedGame::from_json(line) {
        Ok(game) => panic!("{} should be refused: {line:.60}", game.id()),
        Err(error) => error,
    }
}

/// Reads a line and plays it if it can be read.
fn survive(line: &str) {
    if let Ok(game) = RecordedGame::from_json(line) {
        replay(&game);
    }
}

#[test]
fn a_truncated_line_is_not_json() {
    for game in GAMES {
        let line = line(game);
        for end in (0..line.len()).step_by(line.len() / 50) {
            let found = error(&line[..end]);
            assert!(
                matches!(found, RecordedError::NotJson(_)),
                "{game} to {end}: {found:?}"
            );
        }
    }
}

#[test]
fn what_follows_the_line_is_refused() {
    let line = line("pirate");
    assert!(matches!(
        error(&format!("{line} {{}}")),
        RecordedError::NotJson(_)
    ));
}

#[test]
fn an_unknown_game_is_named_with_those_that_are_known() {
    let found = error(r#"{"id": "x", "game": "chess"}"#);
    let text = found.to_string();
    assert!(matches!(found, RecordedError::UnknownGame { .. }));
    assert!(text.starts_with("no recorded games of \"chess\""), "{text}");
    assert!(GAMES.iter().all(|game| text.contains(game)), "{text}");
}

#[test]
fn a_wrong_field_is_named() {
    let cases = [
        (
            "guess_two_thirds",
            "/rounds/3/actions/1",
            json!("ten"),
            "rounds[3].actions[1]: ",
        ),
        (
            "guess_two_thirds",
            "/rounds/3/outcome/mean",
            json!(null),
            "rounds[3].outcome.mean: ",
        ),
        (
            "guess_two_thirds",
            "/params/ratio",
            json!(-1),
            "params.ratio: ",
        ),
        (
            "guess_two_thirds",
            "/params/players",
            json!(1),
            "params.players: ",
        ),
        (
            "guess_two_thirds",
            "/score_iclr2025",
            json!("high"),
            "score_iclr2025: ",
        ),
        ("el_farol", "/params/mode", json!("hidden"), "params.mode: "),
        (
            "el_farol",
            "/rounds/0/actions/0",
            json!(1),
            "rounds[0].actions[0]: ",
        ),
        (
            "public_goods",
            "/params/reset",
            json!(false),
            "params.reset: ",
        ),
        (
            "public_goods",
            "/params/token_initialization",
            json!("random"),
            "params.token_",
        ),
        ("public_goods", "/raw_S", json!([]), "raw_S: "),
        (
            "diners_dilemma",
            "/rounds/1/outcome/utilities",
            json!(7),
            "rounds[1].outcome.utilities: ",
        ),
        (
            "sealed_bid_auction",
            "/rounds/2/private/valuations",
            json!([1.5]),
            "rounds[2].private",
        ),
        (
            "battle_royale",
            "/rounds/0/actions/shooter",
            json!(-1),
            "rounds[0].actions.shooter: ",
        ),
        (
            "battle_royale",
            "/rounds/0/chance/hit",
            json!(1),
            "rounds[0].chance.hit: ",
        ),
        (
            "pirate",
            "/rounds/0/actions/votes",
            json!("accept"),
            "rounds[0].actions.votes: ",
        ),
        ("pirate", "/params/gold", json!("much"), "params.gold: "),
        ("pirate", "/rounds", json!({}), "rounds: "),
        ("pirate", "/id", json!(4), "id: "),
    ];
    for (game, pointer, value, place) in cases {
        let mut json: Value = serde_json::from_str(&line(game)).expect("JSON");
        *json.pointer_mut(pointer).expect(pointer) = value;
        let found = error(&json.to_string()).to_string();
        assert!(found.starts_with(place), "{game} {pointer}: {found}");
    }
}

#[test]
fn a_missing_or_unknown_field_is_named() {
    for game in GAMES {
        let json: Value = serde_json::from_str(&line(game)).expect("JSON");
        for field in ["id", "game", "params", "rounds", "raw_S", "score_iclr2025"] {
            let mut less = json.clone();
            less.as_object_mut().expect("an object").remove(field);
            let found = error(&less.to_string()).to_string();
            assert!(
                found.contains(&format!("`{field}`")),
                "{game} without {field}: {found}"
            );
        }
        let mut more = json.clone();
        more["rounds"][0]["outcome"]["surplus"] = json!(1);
        let found = error(&more.to_string()).to_string();
        assert!(found.starts_with("rounds[0].outcome"), "{game}: {found}");
        let mut more = json;
        more["params"]["surplus"] = json!(1);
        let found = error(&more.to_string()).to_string();
        assert!(
            found.starts_with("params") && found.contains("surplus"),
            "{game}: {found}"
        );
    }
}

#[test]
fn deep_nesting_is_refused() {
    let deep = format!("{{\"id\": \"x\", \"game\": {}", "[".repeat(200_000));
    assert!(RecordedGame::from_json(&deep).is_err());
}

/// Values that numbers and lists of a record may be replaced with.
fn extreme() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        Just(json!(-1)),
        Just(json!(0)),
        Just(json!(i64::MAX)),
        Just(json!(i64::MIN)),
        Just(json!(u64::MAX)),
        Just(json!(4_294_967_295_u32)),
        Just(json!(1e308)),
        Just(json!(-1e308)),
        Just(json!(0.1)),
        Just(json!("")),
        Just(json!("go")),
        Just(json!([])),
        Just(json!([0, 1])),
        Just(json!({})),
        (-20_i64..200).prop_map(|number| json!(number)),
    ]
}

/// Replaces the value that `path` leads to: at every level, the entry at that
/// place modulo the number of entries.
fn replace(json: &mut Value, path: &[usize], value: Value) {
    let Some((place, rest)) = path.split_first() else {
        *json = value;
        return;
    };
    match json {
        Value::Array(items) if !items.is_empty() => {
            let place = place % items.len();
            replace(&mut items[place], rest, value);
        }
        Value::Object(map) if !map.is_empty() => {
            let place = place % map.len();
            if let Some((_, entry)) = map.iter_mut().nth(place) {
                replace(entry, rest, value);
            }
        }
        _ => *json = value,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn lines_with_changed_bytes_never_panic(
        game in 0..GAMES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = line(GAMES[game]).into_bytes();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        survive(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn games_with_extreme_values_never_panic(
        game in 0..GAMES.len(),
        changes in prop::collection::vec(
            (prop::collection::vec(0_usize..40, 1..6), extreme()),
            1..4,
        ),
    ) {
        let mut json: Value = serde_json::from_str(&line(GAMES[game])).expect("JSON");
        for (path, value) in changes {
            replace(&mut json, &path, value);
        }
        survive(&json.to_string());
    }

    #[test]
    fn extreme_parameters_never_panic(
        game in 0..GAMES.len(),
        changes in prop::collection::vec((0_usize..12, extreme()), 1..4),
    ) {
        let mut json: Value = serde_json::from_str(&line(GAMES[game])).expect("JSON");
        for (place, value) in changes {
            replace(&mut json["params"], &[place], value);
        }
        survive(&json.to_string());
    }

    #[test]
    fn arbitrary_text_never_panics(text in ".{0,200}") {
        survive(&text);
    }
}
