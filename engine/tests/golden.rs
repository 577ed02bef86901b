//! Compares every registered game with its golden file: a hash over a thousand
//! sessions and one short session in words. Files are rewritten only with
//! `AGON_REFRESH_GOLDEN=1`; raise the game's `rules_version` when they change.

#![allow(
    clippy::disallowed_methods,
    reason = "the engine reads no files, its tests do"
)]

use std::path::{Path, PathBuf};

use agon_engine::conformance::{full_run_hash, transcript};
use agon_engine::registry::{GAMES, Registration};

/// Sessions behind one hash.
const SESSIONS: u32 = 1000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn golden(game: &'static Registration) -> String {
    let hash = full_run_hash(game, SESSIONS).expect("random sessions play");
    let transcript = transcript(game).expect("a short session plays");
    format!("records of {SESSIONS} sessions: {hash}\n\n{transcript}")
}

/// The first line in which two texts differ.
fn difference(stored: &str, now: &str) -> String {
    let mut pairs = stored.lines().zip(now.lines()).zip(1..);
    match pairs.find(|((stored, now), _)| stored != now) {
        Some(((stored, now), line)) => format!("line {line}: stored {stored:?}, now {now:?}"),
        None => "one is longer".to_owned(),
    }
}

#[test]
fn every_game_plays_as_its_golden_file_says() {
    let refresh = std::env::var("AGON_REFRESH_GOLDEN").is_ok_and(|value| value == "1");
    let mut report = String::new();
    for game in GAMES {
        let name = &*game.info.name;
        let path = folder().join(format!("{name}.txt"));
        let now = golden(game);
        if refresh {
            std::fs::write(&path, &now).expect("the golden folder can be written");
            continue;
        }
        match std::fs::read_to_string(&path) {
            Ok(stored) if stored == now => {}
            Ok(stored) => report.push_str(&format!("{name}: {}\n", difference(&stored, &now))),
            Err(_) => report.push_str(&format!("{name}: no golden file\n")),
        }
    }
    assert!(
        report.is_empty(),
        "{report}AGON_REFRESH_GOLDEN=1 rewrites the files"
    );
}

#[test]
fn every_golden_file_belongs_to_a_game() {
    for entry in std::fs::read_dir(folder()).expect("the golden folder exists") {
        let path = entry.expect("a readable entry").path();
        let name = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        assert!(
            GAMES.iter().any(|game| game.info.name == name),
            "{name} is no game"
        );
    }
}
