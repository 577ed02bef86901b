//! Records that nobody played: real ones with values changed at random, as somebody else's folder may
//! hold them. Whatever they say, every table, export and story comes out, or the record is refused.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use agon_engine::record::StoredRecord;
use agon_engine::session::open;
use agon_engine::{Luck, PlayerKind, PlayerSpec, Record, SeatNote, SessionSpec, registry};
use agon_report::session::Telemetry;
use agon_report::{Cells, Leaderboard, Reports, ResultColumns, Session, Summary, Telling, story};
use serde_json::{Value, json};

/// Forged records of each game, unless `AGON_FORGED` says how many.
const FORGED: u64 = 20;

/// Changes to each.
const CHANGES: u64 = 3;

/// A generator of numbers that is the same wherever it runs (splitmix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// A short game of rule players with notes as agents leave them.
fn line(game: &str, params: Value, notes: Vec<SeatNote>) -> String {
    let registration = registry::find(game).unwrap();
    let params = serde_json::from_value(params).unwrap();
    let built = (registration.build)(&params).unwrap();
    let names = ["alice", "bob", "bob"];
    let seats = (0..built.game.seats()).map(|seat| PlayerSpec {
        name: names[seat.min(2)].to_owned(),
        kind: PlayerKind::Rule,
        settings: serde_json::from_value(json!({ "strategy": "random" })).unwrap(),
    });
    let setting = json!({ "label": "one", "params.rounds": 2 });
    let spec = SessionSpec {
        experiment: "e".to_owned(),
        setting: serde_json::from_value(setting).unwrap(),
        luck: Luck::new(3, 0),
        game: game.to_owned(),
        rules_version: registration.info.rules_version,
        seats: seats.collect(),
        params: built.params,
        prompts_version: None,
        prompt_bundle: None,
        origins: BTreeMap::new(),
    };
    let play = open(&spec).unwrap();
    assert!(play.is_finished(), "{game}");
    let record = Record::new(spec, &play, Vec::new(), notes);
    record.to_line().unwrap()
}

fn note(seat: usize, turn: u32, kind: &str, body: Value) -> SeatNote {
    SeatNote {
        seat,
        turn,
        note: kind.to_owned(),
        body,
    }
}

/// Everything that bidders with all modules, and players that predict, write down.
fn notes() -> Vec<SeatNote> {
    let of_seat = |seat: usize| {
        let about = 1 - seat;
        let profile = |after: u64| {
            json!({ "after_item": after, "about": about, "source": "model",
                "weights": { "reader": 0.5, "cook": -0.5 } })
        };
        let belief = json!({ "after_item": 1, "checked": 5, "wrong": 3, "tries": 2,
            "corrected": true, "source": "model",
            "believed": { "remaining_budget": 700, "total_profits": { "bob": 200 } },
            "truth": { "remaining_budget": 700, "total_profits": { "bob": 0 } },
            "errors": [{ "try": 1, "kind": "profit", "about": "self", "detail": "" }] });
        [
            note(
                seat,
                1,
                "plan",
                json!({ "at_item": 0, "priorities": [3, 2], "tries": 1, "source": "model" }),
            ),
            note(
                seat,
                2,
                "plan",
                json!({ "at_item": 1, "priorities": [null, 2], "source": "kept" }),
            ),
            note(seat, 1, "profile", profile(0)),
            note(seat, 2, "profile", profile(1)),
            note(seat, 3, "profile", profile(2)),
            note(seat, 2, "belief", belief),
            note(
                seat,
                1,
                "prediction",
                json!({ "item": 0, "about": about, "wants": true, "detail": "" }),
            ),
            note(
                seat,
                1,
                "prediction",
                json!({ "round": 1, "level": 1, "predicted": { "bob": 40.0, "alice": 3 } }),
            ),
            note(
                seat,
                1,
                "strategy",
                json!({ "item": 0, "round": 1, "choice": "B", "uses_profile": true }),
            ),
            note(seat, 3, "tips", json!({ "tips": ["bid less"] })),
            note(seat, 1, "stand_in", json!({})),
        ]
    };
    [of_seat(0), of_seat(1)].concat()
}

/// Records of every game, as they are played.
fn real() -> Vec<(&'static str, String)> {
    let lines = registry::GAMES.iter().map(|entry| {
        let game = entry.info.name;
        let params = match game {
            "english_auction" => json!({
                "players": 3, "budget": 1000, "personas": [["reader"], ["cook"], []],
                "items": [
                    { "name": "lamp", "starting_price": 100, "true_value": 200, "suits": ["reader"] },
                    { "name": "chair", "starting_price": 50, "true_value": 80, "suits": ["cook"] },
                ],
            }),
            _ => json!({}),
        };
        (game, line(game, params, notes()))
    });
    lines.collect()
}

/// The values of a tree, by their pointers.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                pointers(value, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(table) => {
            for (key, value) in table {
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers(value, &format!("{at}/{key}"), found);
            }
        }
        _ => {}
    }
}

/// Puts something else in the place of a value.
fn change(value: &mut Value, draw: &mut Draw) {
    let whole = [
        json!(0),
        json!(-1),
        json!(1),
        json!(2),
        json!(9),
        json!(1000),
        json!(4_294_967_295u64),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(i64::MAX),
    ];
    let fractions = [
        json!(0.5),
        json!(-1e300),
        json!(1.7e308),
        json!(1e-320),
        json!(1e15),
    ];
    let texts = [
        json!(""),
        json!("bob"),
        json!("é\n\u{202e}"),
        json!("x".repeat(3_000)),
    ];
    let mut pick = |from: &[Value]| from[draw.below(from.len())].clone();
    let other = match value {
        Value::Number(_) => match pick(&[json!(0), json!(1), json!(2)]).as_i64() {
            Some(0) => pick(&fractions),
            _ => pick(&whole),
        },
        Value::String(_) => pick(&texts),
        Value::Bool(flag) => json!(!*flag),
        Value::Null => pick(&whole),
        Value::Array(list) => {
            match draw.below(5) {
                0 => list.clear(),
                1 => drop(list.pop()),
                2 => list.extend(list.clone()),
                3 => list.truncate(1),
                _ => list.reverse(),
            }
            return;
        }
        Value::Object(table) => {
            let keys: Vec<String> = table.keys().cloned().collect();
            if let Some(key) = keys.get(draw.below(keys.len())) {
                let removed = table.remove(key);
                if draw.below(2) == 0 {
                    table.insert("other".to_owned(), removed.unwrap_or_default());
                }
            }
            return;
        }
    };
    *value = other;
}

/// What is measured and told is more often changed than what was played.
fn forge(real: &Value, draw: &mut Draw) -> Value {
    let mut forged = real.clone();
    for _ in 0..CHANGES {
        let part = [
            "/measures",
            "/outcome",
            "/spec",
            "/events",
            "/notes",
            "/moves",
            "",
        ];
        let part = part[draw.below(part.len())];
        let mut found = Vec::new();
        pointers(
            forged.pointer(part).unwrap_or(&Value::Null),
            part,
            &mut found,
        );
        let at = &found[draw.below(found.len())];
        if let Some(value) = forged.pointer_mut(at).filter(|_| !at.is_empty()) {
            change(value, draw);
        }
    }
    forged
}

/// Everything that is made of records.
fn report(lines: &[String]) {
    let (mut summary, mut leaderboard) = (Summary::default(), Leaderboard::default());
    let (mut reports, mut columns) = (Reports::default(), ResultColumns::default());
    let telemetry = Telemetry::default();
    let mut sessions = Vec::new();
    for line in lines {
        if let Ok(session) = Session::from_line(line.as_bytes()) {
            summary.add(&session, &telemetry);
            leaderboard.add(&session);
            columns.gather(&session);
            let _ = (
                session.paid(),
                session.fouls(),
                session.forfeits(),
                session.players(),
            );
            let _ = (session.mean_payoff(), session.notes(), session.scores());
            sessions.push(session);
        }
        if let Ok(record) = StoredRecord::from_line(line) {
            reports.add(&record);
            tell(&record);
        }
    }
    let _ = (
        summary.render(80),
        leaderboard.render(80),
        reports.render(80),
    );
    let _ = reports.to_json();
    for table in reports.published_tables() {
        let _ = reports.beside_published(table, 80);
    }
    let mut out = Cells::new(Vec::new());
    columns.write_headings(&mut out).unwrap();
    for session in &sessions {
        columns.write_row(session, &telemetry, &mut out).unwrap();
    }
}

fn tell(record: &StoredRecord) {
    let everything = |seat| Telling {
        seat,
        plans: true,
        beliefs: true,
        said: true,
        replies: true,
        anonymous: false,
    };
    let _ = story::tell(record, everything(None));
    let _ = story::tell_last(record, everything(None));
    for seat in 0..record.spec.seats.len().min(2) {
        let _ = story::tell(record, everything(Some(seat)));
        let _ = story::seat_as_json(record, seat);
        let _ = (
            story::persona(record, seat),
            story::name_in_game(record, seat),
        );
        let _ = story::for_judges(record, seat);
    }
}

#[test]
fn whatever_a_record_says_it_is_reported_or_refused() {
    let forged = std::env::var("AGON_FORGED").ok();
    let forged = forged
        .and_then(|number| number.parse().ok())
        .unwrap_or(FORGED);
    let mut broken = Vec::new();
    for (game, line) in real() {
        let real: Value = serde_json::from_str(&line).unwrap();
        report(std::slice::from_ref(&line));
        for seed in 0..forged {
            let forged = forge(&real, &mut Draw(seed)).to_string();
            // With a real one of the same setting before it, and alone.
            for lines in [vec![forged.clone()], vec![line.clone(), forged]] {
                if catch_unwind(AssertUnwindSafe(|| report(&lines))).is_err() {
                    broken.push(format!("{game}, seed {seed}"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{broken:?}");
}
