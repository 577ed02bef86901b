//! Players whose long conversations are summed up, whose replies another model makes out
//! and who state their beliefs: whole experiments of them with the built `agon` and the
//! simulated model. However they are run their records are the same bytes and verify.

use agon_tests::binary::run;
use agon_tests::model_server::ModelServer;
use agon_tests::runs;
use serde_json::Value;

const CONVERSING: &str = r#"
name = "conversing"
seed = 5
repeats = 2

[model]
model = "any"
others = "rational"
when_full = "summarise"

[players.talker]
kind = "model"
reply = "text"
reader = "careful"
memory_tokens = 1100

[players.thinker]
kind = "model"
agent = "chain_of_thought"
reader = "careful"
memory_tokens = 1000

[players.open]
kind = "model"
agent = "elicitation"

[players.outspoken]
kind = "model"
agent = "elicitation"
reply = "text"
reader = "careful"

[players.level]
kind = "model"
agent = "k_level"
reply = "text"
reader = "careful"
memory_tokens = 1200

[players.learner]
kind = "model"
agent = "reflexion"
memory_tokens = 1200

[players.refiner]
kind = "model"
agent = "self_refine"
reply = "text"
memory_tokens = 1200

[players.seer]
kind = "model"
agent = "prediction_chain_of_thought"
memory_tokens = 1200

[[games]]
game = "water_allocation"
params = { rounds = 16, elimination = false }
seats = [{ player = "talker", count = 3 }, "thinker", "open"]
label = "talkers"

[[games]]
label = "thinkers"
game = "water_allocation"
params = { rounds = 10, elimination = false }
seats = ["level", "learner", "refiner", "seer", "talker"]

[[games]]
game = "beauty_contest"
params = { rounds = 5, history = 3 }
seats = ["open", "outspoken", "talker"]

[[games]]
game = "el_farol"
params = { rounds = 4, mode = "explicit" }
seats = [{ player = "outspoken", count = 2 }, { player = "open", count = 2 }, "talker"]
"#;

fn model_server() -> ModelServer {
    ModelServer::start(&["--latency", "2ms", "--malformed-rate", "0.3"])
}

/// Every entry of a list of all records, with its record's game.
fn entries<'a>(records: &'a [Value], list: &str) -> Vec<(&'a str, &'a Value)> {
    let of_one = |record: &'a Value| {
        let game = record["spec"]["game"].as_str().unwrap();
        let entries = record[list].as_array().into_iter().flatten();
        entries.map(move |entry| (game, entry)).collect::<Vec<_>>()
    };
    records.iter().flat_map(of_one).collect()
}

#[test]
fn records_of_conversing_players_are_the_same_however_they_are_run_and_verify() {
    let folder = tempfile::tempdir().unwrap();
    let models = model_server();
    let base_url = models.base_url();
    let flags = ["--workers", "4", "--base-url", &base_url];
    let (out, _) = runs::run_in(folder.path(), CONVERSING, &flags);
    let bytes = runs::records(&out);
    assert_eq!(models.count("requests"), runs::decisions(&bytes));
    let _ = run(&["verify", &out.display().to_string()]).expect_code(0);
    assert!(runs::records_in_one_process(CONVERSING, &model_server()) == bytes);

    let records = runs::parsed(&bytes);
    let decisions = entries(&records, "decisions");
    let made = |purpose: &str| {
        let made = decisions.iter();
        made.filter(|(_, decision)| decision["purpose"] == purpose)
            .count()
    };
    assert!(made("summarise") > 4 && made("read") > 10);
    // A reader is no stand-in for the player's model.
    assert!(
        decisions
            .iter()
            .all(|(_, decision)| decision.get("model").is_none())
    );
    let notes = entries(&records, "notes");
    let noted = |kind: &str, key: &str, value: &str| {
        let noted = notes.iter();
        noted
            .filter(|(_, note)| note["note"] == kind && note["body"][key] == value)
            .count()
    };
    assert!(noted("summary", "source", "model") > 4);
    assert!(noted("reading", "found_in", "reader") > 2);
    assert!(noted("reasons", "ask", "choice") > 10);
    for seat in 0..5 {
        // Of whoever thinks more than once, too.
        let of_thinkers = records
            .iter()
            .filter(|record| record["spec"]["params"]["rounds"] == 10);
        let mut notes = of_thinkers.flat_map(|record| record["notes"].as_array().unwrap());
        let is_summary = |note: &&Value| note["seat"] == seat && note["note"] == "summary";
        assert!(notes.any(|note| is_summary(&note)), "seat {seat}");
    }
    let texts = notes
        .iter()
        .filter_map(|(_, note)| note["body"]["text"].as_str());
    assert!(
        texts
            .clone()
            .all(|text| !text.is_empty() && !text.contains(['{', '}']))
    );

    let (_, summary) = notes
        .iter()
        .find(|(_, note)| note["note"] == "summary")
        .unwrap();
    assert!(summary["turn"].as_u64() > Some(0));
    let session = records[0]["session"].as_str().unwrap();
    let results = out.display().to_string();
    let shown = run(&["show", session, "--plans", "--results", &results]).expect_code(0);
    assert!(shown.out.contains("summary: "), "{}", shown.out);
    assert!(shown.out.contains("reasons: "), "{}", shown.out);
}

#[test]
fn a_reader_counts_among_the_models_and_stays_when_another_plays() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), CONVERSING).display().to_string();
    let plan = |flags: &[&str]| {
        run(&[&["plan", &experiment], flags].concat())
            .expect_code(0)
            .out
    };
    let rows = |plan: &str, model: &str| {
        plan.lines()
            .any(|line| line.split_whitespace().next() == Some(model))
    };
    let plain = plan(&[]);
    assert!(rows(&plain, "any") && rows(&plain, "careful"), "{plain}");
    let other = plan(&["--model", "other"]);
    assert!(rows(&other, "other") && rows(&other, "careful"), "{other}");
    assert!(!rows(&other, "any"), "{other}");
    let players = ["talker", "thinker", "outspoken", "level"];
    let set = players.map(|player| format!("players.{player}.reader=sim"));
    let flags: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
    let simulated = plan(&flags);
    assert!(
        rows(&simulated, "sim") && !rows(&simulated, "careful"),
        "{simulated}"
    );
    let refused = run(&[
        "check",
        &experiment,
        "--set",
        "players.talker.reader=human/ann",
    ])
    .expect_code(2);
    let place = "reader must be the name of a model, not of a person";
    assert!(refused.err.contains(place), "{}", refused.err);
    let refused = run(&["check", &experiment, "--set", "model.others=kind"]).expect_code(2);
    assert!(
        refused.err.contains("expected one of `rational`"),
        "{}",
        refused.err
    );
}
