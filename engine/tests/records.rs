//! The session record as a line of JSON: what is written can be read back, every
//! float survives, and a changed record does not pass for itself.

use agon_engine::record::{RECORD_VERSION, RecordError, StoredRecord};
use agon_engine::registry::{self, GAMES};
use agon_engine::session::{self, AgainError, OpenError, STRATEGY};
use agon_engine::spec::{Settings, sorted};
use agon_engine::{
    Action, Event, Foul, FoulKind, Luck, PlayerKind, PlayerSpec, Reaction, Record,
    RecordedDecision, SeatNote, SessionSpec, Value,
};
use proptest::prelude::*;
use serde_json::json;

fn player(kind: PlayerKind) -> PlayerSpec {
    let settings = match kind {
        PlayerKind::Rule => Settings::from([(STRATEGY.to_owned(), json!("random"))]),
        _ => Settings::new(),
    };
    PlayerSpec {
        name: "somebody".to_owned(),
        kind,
        settings,
    }
}

/// A session of a game with its default parameters and seats of some kinds.
fn spec(game: &str, seed: u64, kinds: impl Fn(usize) -> PlayerKind) -> SessionSpec {
    let registration = registry::find(game).expect("registered");
    let built = registration.build(&Settings::new()).expect("defaults");
    SessionSpec {
        experiment: "records \"quoted\" \u{1f3b2}".to_owned(),
        setting: Settings::from([("axis".to_owned(), json!({"b": 1.5, "a": [null, "x"]}))]),
        luck: Luck::new(seed, 2),
        game: game.to_owned(),
        outside: None,
        rules_version: registration.info.rules_version,
        seats: (0..built.game.seats())
            .map(|seat| player(kinds(seat)))
            .collect(),
        params: built.params,
        prompts_version: Some("1".to_owned()),
        prompt_bundle: None,
        origins: Default::default(),
    }
}

/// A record with everything that one can hold: rule players and outside ones,
/// a pass, fouls, a forfeit, decisions, notes.
fn rich_record() -> Record {
    let outside = |seat| {
        if seat < 2 {
            PlayerKind::Model
        } else {
            PlayerKind::Rule
        }
    };
    let spec = spec("battle_royale", 11, outside);
    let mut play = session::open(&spec).expect("a good spec");
    while !play.is_finished() {
        let ask = play.waiting().next().cloned().expect("somebody is asked");
        let unreadable = Foul::new(FoulKind::Unreadable, "no answer was found\n\"at all\"");
        if play.turn() == 1 {
            assert!(matches!(
                play.answer(ask.seat, Err(unreadable)),
                Reaction::Refused { .. }
            ));
            assert_eq!(play.answer(ask.seat, Ok(Action::Pass)), Reaction::Taken);
            continue;
        }
        // Seat 1, and seat 0 later on, foul until they forfeit.
        play.answer(ask.seat, Ok(Action::Target(ask.seat)));
    }
    let decision = |seat, index| RecordedDecision {
        seat,
        index,
        purpose: "act".to_owned(),
        request: "digest".to_owned(),
        model: (seat == 1 && index == 1).then(|| "fall-back".to_owned()),
        answered_by: "model".to_owned(),
        finish_reason: "stop".to_owned(),
        reply: "I hold fire.\t\u{0}\u{7f}\u{2028}".to_owned(),
        reasoning: String::new(),
        applied: None,
        logprobs: Vec::new(),
        simulated: index == 1,
    };
    let note = |seat, turn, text: &str| SeatNote {
        seat,
        turn,
        note: "belief".to_owned(),
        body: json!({ "text": text, "share": 1.0 / 3.0 }),
    };
    let decisions = vec![decision(1, 1), decision(0, 0), decision(1, 0)];
    let notes = vec![
        note(1, 2, "c"),
        note(0, 3, "b"),
        note(0, 3, "a"),
        note(0, 1, "0"),
    ];
    Record::new(spec, play, decisions, notes)
}

#[test]
fn a_record_reads_back_as_it_was_written() {
    let record = rich_record();
    let line = record.to_line().expect("a line");
    assert!(!line.contains('\n'));
    let stored = StoredRecord::from_line(&line).expect("a record");
    assert_eq!(stored.agon_record, record.agon_record);
    assert_eq!(stored.session, record.session);
    assert_eq!(stored.spec, record.spec);
    assert_eq!(stored.outcome, record.outcome);
    assert_eq!(stored.measures, record.measures);
    assert_eq!(stored.decisions, record.decisions);
    assert_eq!(stored.notes, record.notes);
    assert_eq!(stored.moves.len(), record.moves.len());
    assert!(stored.simulated && record.simulated);
    let fouls = |moves: usize, forfeited: usize| {
        let made = record.moves.iter();
        made.clone().filter(|made| !made.fouls.is_empty()).count() >= moves
            && made.filter(|made| made.forfeited).count() >= forfeited
    };
    assert!(fouls(2, 1), "the record should hold fouls and a forfeit");
    let events = serde_json::to_string(&stored.events).expect("events");
    assert_eq!(
        events,
        serde_json::to_string(&record.events).expect("events")
    );
}

#[test]
fn decisions_and_notes_are_in_order_whoever_was_faster() {
    let record = rich_record();
    let decisions: Vec<(usize, u32)> = record
        .decisions
        .iter()
        .map(|made| (made.seat, made.index))
        .collect();
    assert_eq!(decisions, [(0, 0), (1, 0), (1, 1)]);
    let notes: Vec<&str> = record
        .notes
        .iter()
        .filter_map(|note| note.body["text"].as_str())
        .collect();
    assert_eq!(notes, ["0", "b", "a", "c"]);
}

#[test]
fn a_record_with_fouls_passes_and_forfeits_plays_again() {
    let line = rich_record().to_line().expect("a line");
    let stored = StoredRecord::from_line(&line).expect("a record");
    let play = session::play_again(&stored).expect("the same game");
    let again = Record::new(stored.spec, play, stored.decisions, stored.notes);
    assert_eq!(again.to_line().expect("a line"), line);
}

#[test]
fn a_record_whose_moves_were_changed_does_not_pass() {
    let line = rich_record().to_line().expect("a line");
    let mut stored = StoredRecord::from_line(&line).expect("a record");
    stored.moves[0].action = json!(5);
    // The changed game may also come to an ask that the record does not answer.
    if let Ok(play) = session::play_again(&stored) {
        let again = Record::new(stored.spec, play, stored.decisions, stored.notes);
        assert_ne!(again.to_line().expect("a line"), line);
    }

    let mut stored = StoredRecord::from_line(&line).expect("a record");
    stored.moves[0].action = json!("at the moon");
    assert!(matches!(
        session::play_again(&stored),
        Err(AgainError::Refused {
            turn: 1,
            seat: 0,
            ..
        })
    ));
    stored.moves.clear();
    assert!(matches!(
        session::play_again(&stored),
        Err(AgainError::Missing { turn: 1, seat: 0 })
    ));
}

#[test]
fn equal_specs_have_equal_ids_and_any_change_another() {
    let outside = |_| PlayerKind::Model;
    let original = spec("pirate", 1, outside);
    assert_eq!(original.id(), spec("pirate", 1, outside).id());
    assert_eq!(original.id().as_str().len(), 32);
    let reread: SessionSpec =
        serde_json::from_str(&original.canonical_json()).expect("canonical JSON is JSON");
    assert_eq!(reread, original);
    let changes: [fn(&mut SessionSpec); 9] = [
        |spec| spec.experiment.push('x'),
        |spec| spec.setting.clear(),
        |spec| spec.luck.seed += 1,
        |spec| spec.luck.repeat += 1,
        |spec| spec.rules_version += 1,
        |spec| spec.params.clear(),
        |spec| spec.seats.truncate(3),
        |spec| spec.prompts_version = None,
        |spec| spec.prompt_bundle = Some(String::new()),
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut changed = original.clone();
        change(&mut changed);
        assert_ne!(changed.id(), original.id(), "change {number}");
    }
}

#[test]
fn canonical_json_has_sorted_keys_at_every_depth() {
    let text = spec("guess_two_thirds", 1, |_| PlayerKind::Rule).canonical_json();
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(sorted(&json).to_string(), text);
    assert!(
        text.contains(r#""setting":{"axis":{"a":[null,"x"],"b":1.5}}"#),
        "{text}"
    );
    assert!(text.contains(r#""luck":{"repeat":2,"seed":1}"#), "{text}");
    assert!(
        text.contains(r#"{"kind":"rule","name":"somebody","settings":"#),
        "{text}"
    );
}

#[test]
fn a_session_that_cannot_be_opened_says_why() {
    let good = spec("pirate", 1, |_| PlayerKind::Rule);
    let with = |change: fn(&mut SessionSpec)| {
        let mut changed = good.clone();
        change(&mut changed);
        session::open(&changed).err().expect("refused")
    };
    assert!(matches!(
        with(|spec| spec.game = "chess".to_owned()),
        OpenError::Game(_)
    ));
    assert!(matches!(
        with(|spec| spec.rules_version = 99),
        OpenError::RulesVersion {
            have: _,
            wanted: 99,
            ..
        }
    ));
    assert!(matches!(
        with(|spec| spec.seats.truncate(3)),
        OpenError::Seats {
            seats: 10,
            players: 3
        }
    ));
    assert!(matches!(
        with(|spec| spec.seats[4].settings.clear()),
        OpenError::NoStrategy { seat: 4 }
    ));
    let unknown = with(|spec| {
        spec.seats[5]
            .settings
            .insert(STRATEGY.to_owned(), json!("brilliant"));
    });
    assert!(matches!(unknown, OpenError::Strategy { seat: 5, .. }));
    let bad = with(|spec| {
        spec.params.insert("gold".to_owned(), json!(-3));
    });
    assert!(matches!(bad, OpenError::Game(error) if error.path == "gold"));
}

#[test]
fn lines_that_are_no_records_are_refused() {
    let line = rich_record().to_line().expect("a line");
    for end in (0..line.len())
        .filter(|end| line.is_char_boundary(*end))
        .step_by(97)
    {
        let found = StoredRecord::from_line(&line[..end]);
        assert!(
            matches!(found, Err(RecordError::Malformed(_))),
            "up to {end}"
        );
    }
    let next = RECORD_VERSION + 1;
    let newer = line.replacen("\"agon_record\":2", &format!("\"agon_record\":{next}"), 1);
    let found = StoredRecord::from_line(&newer);
    assert!(matches!(found, Err(RecordError::TooNew { found }) if found == next));
}

#[test]
fn a_record_has_the_oldest_version_that_holds_it() {
    let record = rich_record();
    assert_eq!(record.agon_record, 2, "a fall-back answered");
    let mut decisions = record.decisions;
    for decision in &mut decisions {
        decision.model = None;
    }
    let spec = record.spec;
    let play = session::open(&spec).expect("opens");
    let plain = Record::new(spec, play, decisions, Vec::new());
    assert_eq!(plain.agon_record, 1);
    let plain: serde_json::Value =
        serde_json::from_str(&plain.to_line().expect("a line")).expect("JSON");
    assert_eq!(plain["decisions"][0].get("model"), None);
}

#[test]
fn a_number_that_json_lacks_is_refused_not_lost() {
    for wrong in [f64::NAN, f64::INFINITY] {
        let mut record = rich_record();
        record.outcome.payoffs[3] = wrong;
        assert!(record.to_line().is_err());
        let mut record = rich_record();
        record.measures.scores.insert("wrong".to_owned(), wrong);
        assert!(record.to_line().is_err());
        let mut record = rich_record();
        record
            .events
            .push(Event::new("wrong", 1).fact("number", wrong));
        assert!(record.to_line().is_err());
    }
}

#[test]
fn every_game_records_what_it_was_played_with() {
    for game in GAMES {
        let spec = spec(&game.info.name, 5, |_| PlayerKind::Rule);
        let play = session::open(&spec).expect("a good spec");
        let record = Record::new(spec, play, Vec::new(), Vec::new());
        let stored = StoredRecord::from_line(&record.to_line().expect("a line")).expect("a record");
        assert!(!stored.simulated);
        assert_eq!(stored.session, stored.spec.id());
        assert_eq!(stored.measures, record.measures);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn floats_survive_bit_by_bit(numbers in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, 1..20)) {
        let event = Event::new("numbers", 1)
            .fact("list", numbers.clone())
            .fact("one", numbers[0]);
        let line = serde_json::to_string(&event).expect("a line");
        let read: Event = serde_json::from_str(&line).expect("an event");
        let bits = |value: Option<&Value>| match value {
            Some(Value::Numbers(numbers)) => numbers.iter().map(|n| n.to_bits()).collect(),
            Some(Value::Number(number)) => vec![number.to_bits()],
            other => panic!("{other:?} is not real"),
        };
        prop_assert_eq!(bits(read.get("list")), bits(event.get("list")));
        prop_assert_eq!(bits(read.get("one")), bits(event.get("one")));
        prop_assert_eq!(serde_json::to_string(&read).expect("a line"), line);
    }

    #[test]
    fn a_whole_number_and_a_real_one_stay_apart(number in -1_000_000_i64..1_000_000) {
        for value in [Value::Integer(number), Value::Number(number as f64)] {
            let text = serde_json::to_string(&value).expect("text");
            let read: Value = serde_json::from_str(&text).expect("a value");
            prop_assert_eq!(read, value);
        }
    }
}

#[test]
fn facts_are_read_from_a_line_as_they_are_from_json() {
    for text in [
        "null",
        "true",
        "5",
        "-5",
        "9223372036854775807",
        "18446744073709551615",
        "1.5",
        "1e300",
        "\"word\"",
        "[]",
        "[1,-2]",
        "[1.5,2.0]",
        "[1,2.5]",
        "[1,null]",
        "[[1],[2.0],[]]",
        "[\"word\",null]",
        "{\"a\":[1,{\"b\":null}]}",
    ] {
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        let read: Value = serde_json::from_str(text).unwrap();
        assert_eq!(read, Value::from(&json), "{text}");
    }
    let broken: Result<Value, _> = serde_json::from_str("[1,");
    assert!(broken.is_err());
}
