//! Experiments for end-to-end tests, and what came out of them. Judges nothing: the
//! tests compare. Called by tests that run experiments through the binary.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::{Ended, run};

/// An experiment with model players in games of every kind: simultaneous and
/// sequential, with hidden information, chance and eliminations.
pub const MIXED: &str = r#"
name = "mixed"
seed = 11
repeats = 4

[players.subject]
kind = "model"
model = "any"

[players.other]
kind = "rule"
strategy = "random"

[[games]]
game = "guess_two_thirds"
params = { rounds = 4 }
seats = [{ player = "subject", count = 4 }, { player = "other", count = 2 }]

[[games]]
game = "el_farol"
params = { rounds = 3 }
seats = [{ player = "subject", count = 5 }]

[[games]]
game = "sealed_bid_auction"
params = { rounds = 3 }
seats = [{ player = "subject", count = 3 }, { player = "other", count = 3 }]

[[games]]
game = "battle_royale"
seats = [{ player = "subject", count = 3 }, { player = "other", count = 3 }]

[[games]]
game = "pirate"
seats = [{ player = "subject", count = 3 }, { player = "other", count = 2 }]
"#;

/// Writes an experiment into a folder.
///
/// # Panics
/// The folder cannot be written.
pub fn write(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("experiment.toml");
    fs::write(&path, text).expect("a writable folder");
    path
}

/// Runs an experiment with further flags, its results going to `out`.
pub fn run_into(experiment: &Path, out: &Path, flags: &[&str]) -> Ended {
    let (experiment, out) = (experiment.display().to_string(), out.display().to_string());
    let mut arguments = vec!["run", &experiment, "--quiet", "--out", &out];
    arguments.extend(flags);
    run(&arguments)
}

/// The bytes of a run's records.
///
/// # Panics
/// There are none.
pub fn records(out: &Path) -> Vec<u8> {
    let path = out.join("records.jsonl");
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// How many decisions a run's records hold.
///
/// # Panics
/// A line is no record.
pub fn decisions(records: &[u8]) -> u64 {
    let lines = records
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let count = lines.map(|line| {
        let record: Value = serde_json::from_slice(line).expect("a record as JSON");
        record["decisions"]
            .as_array()
            .map_or(0, |decisions| decisions.len() as u64)
    });
    count.sum()
}
