//! Records for tests, played on the engine by rule players that say what they are told to.
//! Tests of reports work their figures out by hand from such small games.

use std::path::Path;

use agon_engine::record::{Record, StoredRecord};
use agon_engine::session::open;
use agon_engine::{Luck, PlayerKind, PlayerSpec, SeatNote, SessionSpec, registry};
use serde_json::{Value, json};

/// A game to be played.
pub(crate) struct Table<'a> {
    pub game: &'a str,
    pub params: Value,
    /// The setting: axes and label.
    pub setting: Value,
    /// Names with what each says, ask by ask, from the beginning again where it ends.
    pub seats: &'a [(&'a str, &'a [f64])],
    pub repeat: u32,
}

impl Table<'_> {
    /// The record of it with notes that agents would have made.
    pub fn played_with(&self, notes: Vec<SeatNote>) -> StoredRecord {
        let settings = self.seats.iter().map(|(_, answers)| {
            let answers: Vec<Value> = answers.iter().map(|answer| number(*answer)).collect();
            json!({ "strategy": "specified", "answers": answers })
        });
        self.record(settings.collect(), notes)
    }

    /// The record of it, played by rule players with these settings, seat by seat.
    pub fn played_by(&self, settings: &[Value]) -> StoredRecord {
        self.record(settings.to_vec(), Vec::new())
    }

    fn record(&self, settings: Vec<Value>, notes: Vec<SeatNote>) -> StoredRecord {
        StoredRecord::from_line(&self.line(settings, notes)).unwrap()
    }

    /// The same as a line of a file of records.
    pub fn line(&self, settings: Vec<Value>, notes: Vec<SeatNote>) -> String {
        let registration = registry::find(self.game).unwrap();
        let mut params = self.params.clone();
        params["players"] = self.seats.len().into();
        let params = serde_json::from_value(params).unwrap();
        let players = self.seats.iter().zip(settings);
        let seats = players.map(|((name, _), settings)| PlayerSpec {
            name: (*name).to_owned(),
            kind: PlayerKind::Rule,
            settings: serde_json::from_value(settings).unwrap(),
        });
        let spec = SessionSpec {
            experiment: "measured".to_owned(),
            setting: serde_json::from_value(self.setting.clone()).unwrap(),
            luck: Luck::new(1, self.repeat),
            game: self.game.to_owned(),
            outside: None,
            rules_version: registration.info.rules_version,
            params: registration.build(&params).unwrap().params,
            seats: seats.collect(),
            prompts_version: None,
            prompt_bundle: None,
            origins: Default::default(),
        };
        let play = open(&spec).unwrap();
        assert!(play.is_finished());
        let record = Record::new(spec, play, Vec::new(), notes);
        record.to_line().unwrap()
    }

    /// The record of it.
    pub fn played(&self) -> StoredRecord {
        self.played_with(Vec::new())
    }
}

/// Whole numbers as such: some games ask for nothing else.
fn number(answer: f64) -> Value {
    if answer.fract() == 0.0 {
        json!(answer as i64)
    } else {
        json!(answer)
    }
}

/// What programs read of a value.
pub(crate) fn told(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

/// Asserts that a number is there and what it should be.
#[track_caller]
pub(crate) fn close(left: Option<f64>, right: f64) {
    let left = left.expect("a number");
    assert!((left - right).abs() < 1e-9, "{left} is not {right}");
}

/// Asserts that a text is the same as in `tests/golden/NAME`; with `AGON_REFRESH_GOLDEN=1`
/// it is written there first.
#[track_caller]
pub(crate) fn golden(name: &str, now: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let path = folder.join(name);
    if std::env::var("AGON_REFRESH_GOLDEN").is_ok_and(|value| value == "1") {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&path, format!("{now}\n")).unwrap();
    }
    let then = std::fs::read_to_string(&path).unwrap();
    for (number, (then, now)) in then.lines().zip(now.lines()).enumerate() {
        assert_eq!(then, now, "{name}, line {}", number + 1);
    }
    assert_eq!(then.lines().count(), now.lines().count(), "{name}");
}

/// Asserts that every line is at most so wide.
#[track_caller]
pub(crate) fn fits(shown: &str, width: usize) {
    for line in shown.lines() {
        assert!(line.chars().count() <= width, "{width}: {line}");
    }
}
