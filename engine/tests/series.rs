//! What a series is made of: luck and ids by place, what players take along from a
//! record, and which session may take up what.

use agon_engine::record::{RECORD_VERSION, RecordError};
use agon_engine::series::{Carried, CarriedNote, HandoverError, check};
use agon_engine::spec::Settings;
use agon_engine::{
    Chance, Luck, PlayerKind, PlayerSpec, Record, SeatNote, SessionSpec, registry, session,
};
use serde_json::{Value, json};

/// A session of rule players at a place of its series.
fn spec(place: u32) -> SessionSpec {
    let game = registry::find("sealed_bid_auction").unwrap();
    let asked: Settings = serde_json::from_value(json!({ "players": 2, "rounds": 2 })).unwrap();
    let player = PlayerSpec {
        name: "anybody".to_owned(),
        kind: PlayerKind::Rule,
        settings: serde_json::from_value(json!({ "strategy": "random" })).unwrap(),
    };
    SessionSpec {
        experiment: "series".to_owned(),
        setting: Settings::new(),
        luck: Luck::new(7, 2).at(place),
        game: "sealed_bid_auction".to_owned(),
        outside: None,
        rules_version: game.info.rules_version,
        params: game.build(&asked).unwrap().params,
        seats: vec![player.clone(), player],
        prompts_version: None,
        prompt_bundle: None,
        origins: Default::default(),
    }
}

fn note(seat: usize, turn: u32, kind: &str, body: Value) -> SeatNote {
    SeatNote {
        seat,
        turn,
        note: kind.to_owned(),
        body,
    }
}

fn record(place: u32, notes: Vec<SeatNote>) -> Record {
    let spec = spec(place);
    let play = session::open(&spec).unwrap();
    Record::new(spec, play, Vec::new(), notes)
}

fn taken_along(record: &Record) -> Carried {
    Carried::from_record(record.to_line().unwrap().as_bytes()).unwrap()
}

#[test]
fn the_first_place_is_a_session_of_no_series_and_every_other_has_its_own_luck() {
    let first = serde_json::to_value(spec(0)).unwrap();
    assert_eq!(first["luck"], json!({ "seed": 7, "repeat": 2 }));
    let third = serde_json::to_value(spec(2)).unwrap();
    assert_eq!(third["luck"], json!({ "seed": 7, "repeat": 2, "place": 2 }));
    let drawn = |luck: Luck| -> Vec<u64> {
        let mut generator = Chance::seeded(luck).for_rule_player(0);
        (0..4).map(|_| generator.below(1_000_000)).collect()
    };
    let luck = Luck::new(7, 2);
    assert_eq!(drawn(luck), drawn(luck.at(0)));
    let mut seen = std::collections::BTreeSet::new();
    for place in 0..50 {
        assert!(seen.insert(drawn(luck.at(place))), "place {place}");
        assert!(
            seen.insert(drawn(Luck::new(7, 3).at(place))),
            "place {place}"
        );
    }
}

#[test]
fn ids_follow_from_the_experiment_alone_and_each_session_knows_the_one_before_it() {
    let ids: Vec<_> = (0..4).map(|place| spec(place).id()).collect();
    let before: Vec<_> = (1..4)
        .map(|place| spec(place).before().unwrap().id())
        .collect();
    assert_eq!(before, ids[..3]);
    assert_eq!(spec(0).before(), None);
    assert_eq!(
        ids.iter().collect::<std::collections::BTreeSet<_>>().len(),
        4
    );
    // What was taken along is in the record and in no id.
    let bare = record(1, Vec::new());
    let carried = taken_along(&record(
        0,
        vec![note(1, 3, "tips", json!({ "tips": ["wait"] }))],
    ));
    let told = record(1, Vec::new()).with_carried(Some(carried));
    assert_eq!(bare.session, told.session);
    assert_ne!(bare.to_line().unwrap(), told.to_line().unwrap());
}

#[test]
fn every_seat_takes_along_its_own_last_lessons_and_nothing_else() {
    let record = record(
        0,
        vec![
            note(1, 1, "tips", json!({ "tips": ["early"] })),
            note(0, 3, "tips", json!({ "tips": ["save"] })),
            note(1, 3, "tips", json!({ "tips": ["late"] })),
            note(1, 3, "plan", json!({ "priorities": [1] })),
        ],
    );
    let carried = taken_along(&record);
    let expected = |seat, tip: &str| CarriedNote {
        seat,
        note: "tips".to_owned(),
        body: json!({ "tips": [tip] }),
    };
    assert_eq!(carried.from, record.session);
    assert_eq!(carried.notes, [expected(0, "save"), expected(1, "late")]);
    assert_eq!(carried.of(1, "tips"), Some(&json!({ "tips": ["late"] })));
    assert_eq!((carried.of(2, "tips"), carried.of(1, "plan")), (None, None));
}

#[test]
fn a_session_takes_up_what_the_one_before_it_left_and_nothing_else() {
    let from = |place| taken_along(&record(place, Vec::new()));
    assert_eq!(check(&spec(0), None), Ok(()));
    assert_eq!(check(&spec(2), Some(&from(1))), Ok(()));
    assert_eq!(
        check(&spec(0), Some(&from(1))),
        Err(HandoverError::Uncalled)
    );
    assert_eq!(
        check(&spec(2), None),
        Err(HandoverError::Missing { place: 2 })
    );
    let other = check(&spec(2), Some(&from(0)));
    assert_eq!(
        other,
        Err(HandoverError::Other {
            wanted: spec(1).id(),
            found: spec(0).id()
        })
    );
}

#[test]
fn notes_that_no_session_hands_on_are_refused() {
    let carried = taken_along(&record(0, vec![note(0, 1, "tips", json!("wait"))]));
    assert_eq!(check(&spec(1), Some(&carried)), Ok(()));
    let with = |seat, kind: &str| {
        let mut changed = carried.clone();
        let (note, body) = (kind.to_owned(), json!("bid"));
        changed.notes.push(CarriedNote { seat, note, body });
        check(&spec(1), Some(&changed))
    };
    assert_eq!(with(1, "tips"), Ok(()));
    for (seat, kind) in [(0, "tips"), (99, "tips"), (1, "plan")] {
        let refused = with(seat, kind);
        assert!(
            matches!(refused, Err(HandoverError::Note { seat: told, .. }) if told == seat),
            "{seat} {kind}: {refused:?}"
        );
    }
}

#[test]
fn only_records_of_later_places_are_of_the_new_version() {
    assert_eq!(record(0, Vec::new()).agon_record, 1);
    assert_eq!(record(1, Vec::new()).agon_record, 3);
    let line = record(0, Vec::new()).to_line().unwrap();
    assert!(!line.contains("carried") && !line.contains("place"));
}

#[test]
fn what_is_no_record_hands_nothing_on() {
    for wrong in ["", "{}", "[]", "not json", r#"{"agon_record":1}"#] {
        let read = Carried::from_record(wrong.as_bytes());
        assert!(matches!(read, Err(RecordError::Malformed(_))), "{wrong}");
    }
    let newer = format!(r#"{{"agon_record":{},"session":"x"}}"#, RECORD_VERSION + 1);
    let read = Carried::from_record(newer.as_bytes());
    assert!(matches!(read, Err(RecordError::TooNew { .. })));
}
