//! Plays every recorded gamma-Bench game and expects no difference.
//!
//! Read from `tests/recorded`, or the folder in `AGON_RECORDED`.

#![allow(
    clippy::disallowed_types,
    reason = "the engine reads no files, its tests do"
)]

use std::path::PathBuf;

use agon_engine::record::StoredRecord;
use agon_engine::replay::{RecordedGame, import, replay};
use recorded::reading;

mod recorded {
    //! What happens to records that are wrong.
    mod broken_lines;
    mod changed_values;
    pub mod reading;
}

/// Differences that are shown when there are many.
const SHOWN: usize = 20;

/// The folder of recorded gamma-Bench games.
fn folder() -> PathBuf {
    reading::folder().join("gamma")
}

/// The lines of one game's file.
fn lines(game: &str) -> Vec<String> {
    reading::lines(&format!("gamma/{game}.jsonl.gz"))
}

/// The eight games; a file for each must be there.
const GAMES: [&str; 8] = [
    "guess_two_thirds",
    "el_farol",
    "divide_dollar",
    "public_goods",
    "diners_dilemma",
    "sealed_bid_auction",
    "battle_royale",
    "pirate",
];

fn every_game_matches(game: &str) {
    let lines = lines(game);
    assert!(!lines.is_empty(), "no recorded games of {game}");
    let mut report = String::new();
    for line in &lines {
        match RecordedGame::from_json(line) {
            Ok(recorded) => {
                let verdict = replay(&recorded);
                for mismatch in verdict.mismatches {
                    report.push_str(&format!("{}: {mismatch}\n", verdict.id));
                }
            }
            Err(error) => report.push_str(&format!("{error}: {line:.80}\n")),
        }
    }
    let count = report.lines().count();
    let shown: Vec<&str> = report.lines().take(SHOWN).collect();
    assert!(count == 0, "{count} differences\n{}", shown.join("\n"));
}

macro_rules! games {
    ($($claim:ident: $game:literal,)*) => {
        $(#[test]
        fn $claim() {
            every_game_matches($game);
        })*

        #[test]
        fn every_recorded_file_is_replayed() {
            for entry in std::fs::read_dir(folder()).expect("recorded games; set AGON_RECORDED") {
                let name = entry.expect("a readable entry").file_name();
                let name = name.to_string_lossy();
                let game = name.trim_end_matches(".jsonl.gz");
                assert!([$($game),*].contains(&game), "{name} is not replayed");
            }
            assert_eq!([$($game),*].len(), GAMES.len());
        }
    };
}

games! {
    recorded_guessing_games_match: "guess_two_thirds",
    recorded_bar_games_match: "el_farol",
    recorded_dollar_games_match: "divide_dollar",
    recorded_public_goods_games_match: "public_goods",
    recorded_diners_match: "diners_dilemma",
    recorded_auctions_match: "sealed_bid_auction",
    recorded_battles_match: "battle_royale",
    recorded_pirate_games_match: "pirate",
}

/// Of a record that does not name the model of every seat nobody is named.
#[test]
fn a_game_that_names_too_few_models_is_imported_without_names() {
    let line = lines("guess_two_thirds").remove(0);
    let mut game: serde_json::Value = serde_json::from_str(&line).unwrap();
    game["file_model"] = "gpt-4".into();
    for models in [serde_json::json!([]), serde_json::json!(["gpt-4"])] {
        game["models"] = models;
        let recorded = RecordedGame::from_json(&game.to_string()).unwrap();
        let record = import(&recorded, "mine").unwrap().to_line().unwrap();
        let stored = StoredRecord::from_line(&record).unwrap();
        assert_eq!(stored.spec.seats.len(), stored.outcome.payoffs.len());
    }
}
