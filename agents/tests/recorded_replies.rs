//! Reads every recorded reply of the water games and compares with the bid that was
//! used at the time.
//!
//! Read from the folder in `AGON_RECORDED` (default `../shared/recorded` beside the
//! workspace). Without it this test fails.

use std::io::Read;
use std::path::{Path, PathBuf};

use agon_agents::reading;
use agon_engine::{Action, Ask, Form};
use flate2::read::GzDecoder;
use serde_json::Value;

/// The share of replies that must be read as the bid that was used.
const BAR: f64 = 0.99;

fn replies() -> Vec<Value> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/recorded");
    let root = std::env::var_os("AGON_RECORDED").map_or_else(beside, PathBuf::from);
    let path = root.join("wac_replies.jsonl.gz");
    let file = std::fs::File::open(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; set AGON_RECORDED", path.display()));
    let mut text = String::new();
    let read = GzDecoder::new(file).read_to_string(&mut text);
    read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let line = |line| serde_json::from_str(line).expect("JSON");
    text.lines().map(line).collect()
}

#[test]
fn bids_are_read_from_recorded_replies() {
    let replies = replies();
    assert!(!replies.is_empty(), "no recorded replies");
    let ask = Ask {
        seat: 0,
        kind: "bid",
        form: Form::Integer {
            min: Some(0),
            max: None,
            pass: None,
        },
        foul_allowance: 0,
    };
    let mut others = Vec::new();
    for reply in &replies {
        let used = reply["bid"].as_i64().expect("a bid");
        let text = reply["text"].as_str().expect("a text");
        let read = reading::prose::read(&ask, text);
        if read != Ok(Action::Integer(used)) {
            let (game, day, player) = (&reply["game"], &reply["day"], &reply["player"]);
            others.push(format!(
                "{game} day {day} {player}: used {used}, read {read:?}"
            ));
        }
    }
    let equal = replies.len() - others.len();
    println!("{equal} of {} as used", replies.len());
    println!("{others:#?}");
    assert!(
        equal as f64 >= BAR * replies.len() as f64,
        "{} of {} differ: {others:#?}",
        others.len(),
        replies.len()
    );
}
