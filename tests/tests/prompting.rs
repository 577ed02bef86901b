//! Prompts can be seen: what was sent is made again from a record, word for word, and templates
//! are printed with an example. Each test runs the built `agon`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use agon_tests::binary::{Ended, run};
use agon_tests::model_server::ModelServer;
use agon_tests::runs::{self, MIXED};
use serde_json::{Value, json};

/// Runs the mixed experiment with a model that fouls now and then; its data folder.
fn played(folder: &Path) -> (String, Vec<Value>) {
    let models = ModelServer::start(&["--malformed-rate", "0.2"]);
    let base_url = models.base_url();
    let data = folder.join("data").display().to_string();
    let experiment = runs::write(folder, &MIXED.replace("repeats = 3", "repeats = 1"));
    let flags = ["--base-url", &base_url, "--data", &data];
    let out = folder.join("data/runs/mixed");
    let _ = runs::run_into(&experiment, &out, &flags).expect_code(0);
    (data, runs::parsed(&runs::records(&out)))
}

fn show(data: &str, record: &Value, flags: &[&str]) -> Ended {
    let session = record["session"].as_str().unwrap();
    run(&[&["show", session, "--data", data, "--prompts"], flags].concat())
}

#[test]
fn every_call_of_a_session_is_made_again_and_read_as_it_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (data, records) = played(folder.path());
    let mut fouls = 0;
    for record in &records {
        let shown = show(&data, record, &["--json"]).expect_code(0);
        let shown: Value = serde_json::from_str(&shown.out).unwrap();
        let shown = shown.as_array().unwrap();
        let decisions = record["decisions"].as_array().unwrap();
        assert_eq!(shown.len(), decisions.len());
        for (shown, decision) in shown.iter().zip(decisions) {
            assert_eq!(shown["digest_is_equal"], true, "{shown}");
            assert_eq!(shown["reply"], decision["reply"]);
            assert_eq!(shown["messages"][0]["role"], "system");
            assert!(
                shown["usage"]["input_tokens"].as_u64().unwrap() > 0,
                "{shown}"
            );
        }
        // Answers and fouls are those of the moves, seat by seat and in order.
        for seat in 0..record["spec"]["seats"].as_array().unwrap().len() {
            let of_seat = || shown.iter().filter(|shown| shown["seat"] == json!(seat));
            if of_seat().count() == 0 {
                continue;
            }
            let moves = record["moves"].as_array().unwrap().iter();
            let moves: Vec<&Value> = moves.filter(|made| made["seat"] == json!(seat)).collect();
            let told = of_seat().filter(|shown| !shown["answer"].is_null());
            let told: Vec<&Value> = told.map(|shown| &shown["answer"]).collect();
            let given = moves.iter().map(|made| &made["action"]);
            let given: Vec<&Value> = given.filter(|action| !action.is_null()).collect();
            assert_eq!(told, given, "seat {seat}");
            fouls += of_seat().filter(|shown| !shown["foul"].is_null()).count();
        }
    }
    assert!(fouls > 5, "only {fouls} fouls were seen");
}

#[test]
fn one_decision_is_shown_whole_and_a_seat_with_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let (data, records) = played(folder.path());
    let record = &records[0];
    let one = show(&data, record, &["--decision", "0/1"])
        .expect_code(0)
        .out;
    for words in [
        "=== decision 0/1: seat 0, subject, act",
        "--- system",
        "--- reply by",
        "--- schema",
    ] {
        assert!(one.contains(words), "`{words}` is not in {one}");
    }
    let seat = show(&data, record, &["--seat", "0"]).expect_code(0).out;
    assert_eq!(seat.matches("--- system").count(), 1, "{seat}");
    assert!(seat.contains("as in decision 0 of this seat"), "{seat}");
    assert!(!seat.contains("seat 1"), "{seat}");
    assert!(seat.contains("all made again with equal digests"), "{seat}");
    let wrong = show(&data, record, &["--decision", "first"]).expect_code(2);
    assert!(wrong.err.contains("SEAT/INDEX"), "{}", wrong.err);
}

#[test]
fn templates_are_printed_with_an_example_and_written_as_the_start_of_ones_own() {
    let printed = run(&["prompts", "guess_two_thirds", "--version", "v2"])
        .expect_code(0)
        .out;
    assert!(
        printed.contains("##### guess_two_thirds/v2/system.j2"),
        "{printed}"
    );
    assert!(printed.contains("##### An example"), "{printed}");
    assert!(
        printed.contains("=== decision 0/0: seat 0, subject, act"),
        "{printed}"
    );
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own").display().to_string();
    let write = ["prompts", "guess_two_thirds", "--out", &own];
    let _ = run(&write).expect_code(0);
    let again = run(&write);
    assert_ne!(again.code, Some(0), "nothing is overwritten");
    let (linked, elsewhere) = (
        folder.path().join("linked"),
        folder.path().join("elsewhere"),
    );
    fs::create_dir_all(&linked).unwrap();
    fs::create_dir_all(&elsewhere).unwrap();
    symlink(&elsewhere, linked.join("guess_two_thirds")).unwrap();
    let linked = linked.display().to_string();
    let through = run(&["prompts", "guess_two_thirds", "--out", &linked]);
    assert_ne!(through.code, Some(0), "nothing is written through a link");
    assert!(through.err.contains("symbolic link"), "{}", through.err);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    let experiment = runs::write(folder.path(), &MIXED.replace("repeats = 3", "repeats = 1"));
    let check = [
        "check",
        &experiment.display().to_string(),
        "--templates",
        &own,
    ];
    let _ = run(&check).expect_code(0);
    let unknown = run(&["prompts", "guess_two_thirds", "--version", "v9"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.err);
    assert!(unknown.err.contains("v1"), "{}", unknown.err);
}

#[test]
fn one_word_in_one_games_template_makes_no_new_sessions_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    let text = "{% include \"shared/persona.j2\" %}\nYou are {{ me }}.";
    let path = own.join("guess_two_thirds/v1/system.j2");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let (data, before) = played(folder.path());
    let models = ModelServer::start(&[]);
    let (base_url, own) = (models.base_url(), own.display().to_string());
    let out = folder.path().join("again");
    let flags = [
        "--base-url",
        &base_url,
        "--data",
        &data,
        "--templates",
        &own,
    ];
    let experiment = folder.path().join("experiment.toml");
    let _ = runs::run_into(&experiment, &out, &flags).expect_code(0);
    let after = runs::parsed(&runs::records(&out));
    for (before, after) in before.iter().zip(&after) {
        let changed = before["spec"]["game"] == "guess_two_thirds";
        assert_eq!(
            before["session"] != after["session"],
            changed,
            "{}",
            before["spec"]
        );
    }
}
