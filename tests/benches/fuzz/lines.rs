//! Targets that are lines of JSON. Here are the games that other programs recorded, and how a line
//! is changed; records of sessions have a file of their own.

use std::fs::File;
use std::io::{BufRead as _, BufReader};

use agon_engine::replay::{RecordedGame, replay};
use agon_tests::tree;
use flate2::read::GzDecoder;
use serde_json::Value;

use super::Target;
use super::bytes::changed;
use super::draw::Draw;
use super::json::forged;

const WORDS: &[&str] = &[
    "\"seat\":",
    "\"spec\":{",
    "\"game\":\"pirate\"",
    "\"params\":{",
    "\"rounds\":3",
];

/// Lines of a recorded file that the corpus takes.
const LINES: usize = 8;

/// JSON that stays JSON two times of three, else bytes.
pub fn line(draw: &mut Draw, texts: &[Vec<u8>], trees: &[Value]) -> Vec<u8> {
    if draw.one_in(3) {
        return changed(draw, texts, WORDS);
    }
    let real = draw.pick(trees);
    forged(draw, real).to_string().into_bytes()
}

/// Games that other programs recorded.
pub struct RecordedGames {
    texts: Vec<Vec<u8>>,
    trees: Vec<Value>,
}

impl RecordedGames {
    pub fn new() -> Self {
        let files = tree::files(".jsonl.gz").into_iter();
        let files = files.filter(|path| tree::short(path).starts_with("tests/recorded/"));
        let lines = files.flat_map(|path| {
            let file = File::open(path).expect("a recorded file");
            let lines = BufReader::new(GzDecoder::new(file)).lines();
            lines.map(|line| line.expect("text")).take(LINES)
        });
        let lines: Vec<String> = lines.collect();
        let trees = lines
            .iter()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        Self {
            trees: trees.collect(),
            texts: lines.iter().map(|line| line.clone().into_bytes()).collect(),
        }
    }
}

impl Target for RecordedGames {
    fn input(&self, draw: &mut Draw) -> Vec<u8> {
        line(draw, &self.texts, &self.trees)
    }

    fn run(&self, input: &[u8]) {
        match RecordedGame::from_json(&String::from_utf8_lossy(input)) {
            Ok(game) => drop(replay(&game)),
            Err(error) => drop(error.to_string()),
        }
    }
}
