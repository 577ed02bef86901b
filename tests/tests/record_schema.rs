//! Holds the published form of the session record against what the engine writes:
//! `docs/record.schema.json` fits the records of every registered game and refuses
//! any other form, and `docs/record.md` explains all of it with a true example.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use agon_engine::conformance::{Case, cases};
use agon_engine::outside_game::Description;
use agon_engine::record::{AppliedParameters, StoredRecord, TokenLogprob};
use agon_engine::registry::{self, GAMES};
use agon_engine::spec::{Origin, Settings};
use agon_engine::{
    Action, Carried, CarriedNote, FoulKind, Luck, Play, PlayerKind, PlayerSpec, Reaction, Record,
    RecordedDecision, SeatNote, SessionSpec, session,
};
use agon_tests::tree;
use jsonschema::Validator;
use serde_json::{Value, json};

/// Strategies that every game has and that need no settings.
const STRATEGIES: [&str; 2] = ["random", "equilibrium"];

/// Fields that a record may lack, by the object they stand in.
const OPTIONAL: &[(&str, &[&str])] = &[
    ("", &["decisions", "notes"]),
    ("/spec", &["prompts_version", "prompt_bundle", "origins"]),
    ("/spec/origins/agon-sim", &["additions"]),
    ("/moves/0", &["fouls"]),
    ("/events/1", &["to", "facts", "own", "hidden"]),
    (
        "/decisions/0",
        &["model", "simulated", "reasoning", "applied", "logprobs"],
    ),
    (
        "/decisions/0/applied",
        &[
            "temperature",
            "top_p",
            "sampling_seed",
            "max_output_tokens",
            "reply_format",
            "reasoning_effort",
            "stop_sequences",
            "logprobs",
            "omitted",
        ],
    ),
];

/// Objects of [`rich_record`] whose fields the form states one by one.
const CLOSED: &[&str] = &[
    "",
    "/spec",
    "/spec/luck",
    "/carried",
    "/carried/notes/0",
    "/spec/seats/0",
    "/outcome",
    "/measures",
    "/moves/0",
    "/moves/0/fouls/0",
    "/events/1",
    "/draws/0",
    "/decisions/0",
    "/decisions/0/applied",
    "/spec/origins/agon-sim",
    "/notes/0",
];

fn document(name: &str) -> String {
    let path = tree::root().join("docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn schema() -> Value {
    serde_json::from_str(&document("record.schema.json")).expect("the schema is JSON")
}

fn validator() -> Validator {
    let schema = schema();
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    jsonschema::draft202012::new(&schema).expect("the schema compiles")
}

/// The first thing that is wrong with a record, if anything is.
fn fault(validator: &Validator, record: &Value) -> Option<String> {
    let fault = validator.iter_errors(record).next()?;
    Some(format!("{}: {fault}", fault.instance_path()))
}

fn settings(json: Value) -> Settings {
    serde_json::from_value(json).expect("an object")
}

fn player(name: &str, kind: PlayerKind, with: Value) -> PlayerSpec {
    let name = name.to_owned();
    let settings = settings(with);
    PlayerSpec {
        name,
        kind,
        settings,
    }
}

/// A session of one game with everything else left out.
fn spec(game: &str, params: Settings, luck: Luck, seats: Vec<PlayerSpec>) -> SessionSpec {
    let registration = registry::find(game).expect("registered");
    SessionSpec {
        experiment: "record-schema".to_owned(),
        setting: Settings::new(),
        luck,
        game: game.to_owned(),
        outside: None,
        rules_version: registration.info.rules_version,
        params,
        seats,
        prompts_version: None,
        prompt_bundle: None,
        origins: Default::default(),
    }
}

/// The record of a session in which all seats follow one strategy.
fn rule_record(case: &Case, strategy: &str) -> Record {
    let everybody = player(strategy, PlayerKind::Rule, json!({ "strategy": strategy }));
    let seats = vec![everybody; case.game.seats()];
    let game = &*case.registration.info.name;
    let spec = spec(game, case.params.clone(), case.luck, seats);
    let play = session::open(&spec).expect("a session of rule players opens");
    Record::new(spec, play, Vec::new(), Vec::new())
}

/// The record as its readers get it.
fn as_read(record: &Record) -> Value {
    let line = record.to_line().expect("writable");
    assert!(!line.contains('\n'), "a record is one line");
    serde_json::from_str(&line).expect("JSON")
}

/// Every field that a record can have, in one record: a small auction of two
/// models and a rule player, with fouls, forfeits, decisions and notes.
fn rich_record() -> Value {
    let params = settings(json!({ "players": 3, "rounds": 2 }));
    let built = registry::find("sealed_bid_auction")
        .expect("registered")
        .build(&params);
    let model = || {
        let with = json!({ "model": "agon-sim", "temperature": 0.5 });
        player("subject", PlayerKind::Model, with)
    };
    let truthful = player(
        "truthful",
        PlayerKind::Rule,
        json!({ "strategy": "truthful" }),
    );
    let params = built.expect("legal parameters").params;
    let luck = Luck::new(u64::MAX, 3).at(2);
    let seats = vec![model(), model(), truthful];
    let mut spec = spec("sealed_bid_auction", params, luck, seats);
    spec.setting = settings(json!({ "players.subject.temperature": 0.5, "label": "warm" }));
    spec.prompts_version = Some(format!("1-{}", "0".repeat(16)));
    spec.prompt_bundle = Some("f".repeat(16));
    let origin = Origin {
        provider_kind: "openai".to_owned(),
        endpoint: "http://localhost:8000/v1".to_owned(),
        provider_model: "agon-sim".to_owned(),
        additions: "0123456789abcdef".to_owned(),
    };
    spec.origins.insert("agon-sim".to_owned(), origin);
    let mut play = session::open(&spec).expect("opens");
    answer(&mut play);
    let token = |token: &str, logprob, top| TokenLogprob {
        token: token.to_owned(),
        logprob,
        top,
    };
    let decide = |seat, index| RecordedDecision {
        seat,
        index,
        purpose: "act".to_owned(),
        request: "0123456789abcdef".repeat(4),
        model: (index == 0).then(|| "second-choice".to_owned()),
        answered_by: "agon-sim".to_owned(),
        finish_reason: "stop".to_owned(),
        reply: "{\"bid\": 99999}\n".to_owned(),
        reasoning: "Higher bids win.".to_owned(),
        applied: Some(AppliedParameters {
            temperature: Some(0.5),
            top_p: Some(0.9),
            sampling_seed: Some(7),
            max_output_tokens: Some(1_024),
            reply_format: "json_schema".to_owned(),
            reasoning_effort: "low".to_owned(),
            stop_sequences: true,
            logprobs: Some(2),
            omitted: vec!["reply_format".to_owned()],
        }),
        logprobs: vec![token("{", -0.25, vec![token("{", -0.25, Vec::new())])],
        simulated: index == 0,
    };
    let note = |seat, turn| SeatNote {
        seat,
        turn,
        note: "reading".to_owned(),
        body: json!({ "found_in": "prose", "repairs": [] }),
    };
    let decisions = vec![decide(1, 0), decide(0, 1), decide(0, 0)];
    let notes = vec![note(1, 1), note(0, 2), note(0, 1)];
    let carried = Carried {
        from: spec.before().expect("it comes after another").id(),
        notes: vec![CarriedNote {
            seat: 1,
            note: "tips".to_owned(),
            body: json!({ "tips": ["Wait."], "source": "model" }),
        }],
    };
    as_read(&Record::new(spec, play, decisions, notes).with_carried(Some(carried)))
}

/// Seat 0 fouls once before each answer, seat 1 forfeits everything.
fn answer(play: &mut Play) {
    while !play.is_finished() {
        let foul = agon_engine::Foul::new(FoulKind::Unreadable, "no answer was found");
        let too_much = play.answer(0, Ok(Action::Integer(99_999)));
        assert!(matches!(too_much, Reaction::Refused { .. }));
        while matches!(play.answer(1, Err(foul.clone())), Reaction::Refused { .. }) {}
        assert_eq!(play.answer(0, Ok(Action::Integer(7))), Reaction::Taken);
    }
}

#[test]
fn records_of_every_game_have_the_published_form() {
    let validator = validator();
    for game in GAMES {
        for strategy in STRATEGIES {
            for case in cases(game) {
                let record = as_read(&rule_record(&case, strategy));
                let found = fault(&validator, &record);
                assert_eq!(found, None, "{} {strategy} {record}", game.info.name);
            }
        }
    }
}

#[test]
fn a_record_with_decisions_and_notes_has_the_published_form() {
    let record = rich_record();
    assert_eq!(fault(&validator(), &record), None, "{record}");
    assert_eq!(record["simulated"], json!(true));
    let addresses = |list: &Value, second: &str| -> Vec<(Value, Value)> {
        let entries = list.as_array().expect("a list").iter();
        entries
            .map(|entry| (entry["seat"].clone(), entry[second].clone()))
            .collect()
    };
    let in_order = |pairs: [(u32, u32); 3]| pairs.map(|(seat, at)| (json!(seat), json!(at)));
    let decisions = addresses(&record["decisions"], "index");
    assert_eq!(decisions, in_order([(0, 0), (0, 1), (1, 0)]));
    let notes = addresses(&record["notes"], "turn");
    assert_eq!(notes, in_order([(0, 1), (0, 2), (1, 1)]));
}

/// A session of a game that is played elsewhere, with a refused answer.
fn outside_record() -> Value {
    let description: Description = serde_json::from_value(json!({
        "agon_game": 1, "name": "numbers", "title": "Numbers", "rules_version": 1, "seats": [2, 2],
        "timing": "sequential", "asks_per_seat": { "times": 1 }, "facts": { "in_play": "alive" },
    }))
    .unwrap();
    let description = Arc::new(description);
    let params = description
        .registration()
        .build(&Settings::new())
        .unwrap()
        .params;
    let seats = vec![player("ann", PlayerKind::Model, json!({ "model": "agon-sim" })); 2];
    let spec = SessionSpec {
        outside: Some(description.rules(&params)),
        game: description.name.clone(),
        ..spec("pirate", params, Luck::new(1, 0), seats)
    };
    let mut play = session::open(&spec).unwrap();
    let said = [
        json!({
            "events": [{ "event": "briefing", "round": 0, "facts": { "players": 2 } }],
            "draws": [{ "stream": "deck", "at": 0, "value": [3, 1, 2] }],
            "asks": [{
                "seats": [0], "kind": "number", "role": "guess", "foul_allowance": 2,
                "form": { "form": "integer", "min": 0, "max": 9, "pass": null },
            }],
            "payoffs": [0.0, 0.0],
        }),
        json!({ "refused": [{ "seat": 0, "kind": "out_of_range", "reason": "seven is taken" }] }),
        json!({ "events": [{ "event": "end", "round": 1 }], "payoffs": [1.0, 0.0] }),
    ];
    for (reply, number) in said.into_iter().zip([7, 6, 0]) {
        play.reply(serde_json::from_value(reply).unwrap()).unwrap();
        play.answer(0, Ok(Action::Integer(number)));
    }
    assert!(play.is_finished());
    as_read(&Record::new(spec, play, Vec::new(), Vec::new()))
}

#[test]
fn a_record_of_a_game_that_is_played_elsewhere_has_the_published_form() {
    let (validator, record) = (validator(), outside_record());
    assert_eq!(fault(&validator, &record), None);
    assert_eq!(record["agon_record"], 6);
    assert_eq!(record["replies"].as_array().unwrap().len(), 3);
    let without = |path: &str, name: &str| {
        let mut record = record.clone();
        let object = record.pointer_mut(path).unwrap().as_object_mut().unwrap();
        object.remove(name).unwrap();
        record
    };
    let older = json!(5);
    let mut as_older = record.clone();
    as_older["agon_record"] = older;
    let broken = [
        without("", "replies"),
        without("/spec", "outside"),
        without("/replies/1", "turn"),
        without("/replies/1/refused/0", "reason"),
        without("/replies/0/asks/0", "form"),
        as_older,
    ];
    for record in broken {
        assert!(fault(&validator, &record).is_some(), "{record}");
    }
}

#[test]
fn a_record_with_an_extra_field_is_refused() {
    let validator = validator();
    let record = rich_record();
    for place in CLOSED {
        let mut changed = record.clone();
        let object = changed.pointer_mut(place).expect("an object of the record");
        object["worker"] = json!("worker-1");
        let found = fault(&validator, &changed);
        assert!(found.is_some(), "\"{place}\" takes an extra field");
    }
}

#[test]
fn a_record_with_a_missing_field_is_refused() {
    let validator = validator();
    let record = rich_record();
    let mut removed = 0;
    for place in CLOSED {
        let object = record.pointer(place).and_then(Value::as_object);
        let fields: Vec<String> = object.expect("an object").keys().cloned().collect();
        let optional = OPTIONAL.iter().find(|(at, _)| at == place);
        for field in fields {
            let mut changed = record.clone();
            let object = changed.pointer_mut(place).and_then(Value::as_object_mut);
            object.expect("an object").remove(&field);
            let may_lack = optional.is_some_and(|(_, names)| names.contains(&field.as_str()));
            let found = fault(&validator, &changed);
            assert_eq!(
                found.is_none(),
                may_lack,
                "{place} without {field}: {found:?}"
            );
            removed += 1;
        }
    }
    assert!(removed > 40, "only {removed} fields were tried");
}

#[test]
fn a_record_with_an_impossible_value_is_refused() {
    let validator = validator();
    let record = rich_record();
    let changes = [
        ("/agon_record", json!(1)),
        ("/agon_record", json!(2)),
        ("/agon_record", json!(3)),
        ("/agon_record", json!(4)),
        ("/agon_record", json!(6)),
        ("/decisions/0/logprobs", json!([])),
        ("/spec/origins/agon-sim/additions", json!("")),
        ("/spec/luck/place", json!(0)),
        ("/carried/from", json!("the one before")),
        ("/carried/notes/0/note", json!("plan")),
        ("/session", json!("somewhere")),
        ("/spec/seats/0/kind", json!("human")),
        ("/spec/seats/2/settings", json!({})),
        ("/outcome/payoffs/0", Value::Null),
        ("/outcome/fouls/0", json!({ "rudeness": 1 })),
        ("/outcome/fouls/0/out_of_range", json!(0)),
        ("/measures/scores/iclr2025", Value::Null),
        ("/moves/0/turn", json!(0)),
        ("/moves/0/forfeited", json!(true)),
        ("/moves/0/fouls", json!([])),
        ("/events/1/own/valuation", json!(5)),
        ("/events/1/hidden", json!({})),
        ("/decisions", json!([])),
        ("/decisions/0/request", json!("")),
        ("/notes/0/turn", json!(-1)),
    ];
    for (place, value) in changes {
        let mut changed = record.clone();
        if let Some(there) = changed.pointer_mut(place) {
            *there = value;
        } else {
            let (parent, field) = place.rsplit_once('/').expect("a path");
            let parent = changed.pointer_mut(parent).expect("a place in the record");
            parent[field] = value;
        }
        assert!(fault(&validator, &changed).is_some(), "{place} is taken");
    }
}

#[test]
fn the_example_in_the_documentation_is_a_record_of_this_program() {
    let text = document("record.md");
    let example = text
        .split_once("```json\n")
        .and_then(|(_, rest)| rest.split_once("\n```"))
        .map(|(example, _)| example);
    let example: Value = serde_json::from_str(example.expect("an example")).expect("JSON");
    assert_eq!(fault(&validator(), &example), None);
    let stored = StoredRecord::from_line(&example.to_string()).expect("a record");
    let again = session::play_again(&stored).expect("the example can be played again");
    let record = Record::new(stored.spec, again, stored.decisions, stored.notes);
    assert_eq!(as_read(&record), example);
}

#[test]
fn the_documentation_names_every_field() {
    let text = document("record.md");
    let mut fields = BTreeSet::new();
    collect_fields(&schema(), &mut fields);
    assert!(fields.len() > 40, "{fields:?}");
    for field in fields {
        assert!(text.contains(&format!("`{field}`")), "{field} is missing");
    }
}

/// The names in every `properties` of a schema.
fn collect_fields(schema: &Value, fields: &mut BTreeSet<String>) {
    let Some(object) = schema.as_object() else {
        let entries = schema.as_array().into_iter().flatten();
        return entries.for_each(|entry| collect_fields(entry, fields));
    };
    for (key, node) in object {
        if let ("properties", Some(named)) = (key.as_str(), node.as_object()) {
            fields.extend(named.keys().cloned());
        }
        collect_fields(node, fields);
    }
}

#[test]
fn the_documentation_names_every_event_and_measure_of_every_game() {
    let text = document("record.md");
    for game in GAMES {
        let name = &*game.info.name;
        let heading = format!("**{name}**");
        let (_, rest) = text
            .split_once(&heading)
            .unwrap_or_else(|| panic!("docs/record.md says nothing of {name}"));
        let paragraph = rest.split("\n\n").next().unwrap_or_default();
        for case in cases(game) {
            for strategy in STRATEGIES {
                for word in words(&rule_record(&case, strategy)) {
                    let named = paragraph.contains(&format!("`{word}`"));
                    assert!(named, "docs/record.md does not name {word} of {name}");
                }
            }
        }
    }
}

/// The names that a game chose: events, facts, measures, asks and streams.
fn words(record: &Record) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for event in &record.events {
        words.insert(event.kind.to_string());
        let facts = event.facts.iter().chain(&event.own).chain(&event.hidden);
        words.extend(facts.map(|(name, _)| name.to_string()));
    }
    words.extend(record.moves.iter().map(|made| made.ask.to_string()));
    words.extend(record.draws.iter().map(|draw| draw.stream.to_string()));
    let measures = &record.measures;
    let numbers = measures.scores.keys().chain(measures.parts.keys());
    words.extend(numbers.chain(measures.series.keys()).cloned());
    words
}
