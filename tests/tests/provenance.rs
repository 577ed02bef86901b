//! What a model was really asked, and where: parameters that it does not take, and servers that
//! are not the one that answered before. Each test runs the built `agon` and its model servers.

use std::path::Path;

use agon_tests::binary::{Ended, run};
use agon_tests::model_server::ModelServer;
use agon_tests::redis::free_port;
use agon_tests::runs;
use serde_json::{Value, json};

/// Two temperatures are compared, unless the player is not strict.
fn warm_and_cold(more: &str) -> String {
    format!(
        r#"
name = "temperatures"
repeats = 2

[players.subject]
kind = "model"
model = "any"
{more}

[[games]]
game = "guess_two_thirds"
params = {{ rounds = 2 }}
seats = [{{ player = "subject", count = 3 }}]

[grid]
"players.subject.temperature" = [0.0, 1.0]
"#
    )
}

fn run_at(folder: &Path, text: &str, models: &ModelServer, flags: &[&str]) -> Ended {
    let experiment = runs::write(folder, text);
    let data = folder.join("data").display().to_string();
    let base_url = models.base_url();
    let flags = [&["--base-url", &base_url, "--data", &data], flags].concat();
    runs::run_into(&experiment, &folder.join("out"), &flags)
}

fn records_in(folder: &Path) -> Vec<Value> {
    runs::parsed(&runs::records(&folder.join("out")))
}

#[test]
fn grid_over_a_parameter_that_the_model_does_not_take_is_refused_with_ways_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&["--refuse", "temperature"]);
    let ended = run_at(folder.path(), &warm_and_cold(""), &models, &[]);
    assert_eq!(ended.code, Some(1), "{}{}", ended.out, ended.err);
    for words in ["takes no temperature", "strict = false", "grid"] {
        assert!(
            ended.err.contains(words),
            "`{words}` is not in {}",
            ended.err
        );
    }
    assert_eq!(models.count("answered"), 0, "nothing is paid for in vain");
}

#[test]
fn what_was_asked_for_and_not_sent_stands_in_every_decision_and_record() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&["--refuse", "temperature", "--reasoning-tokens", "7"]);
    let lenient = warm_and_cold("strict = false");
    let _ = run_at(folder.path(), &lenient, &models, &[]).expect_code(0);
    let records = records_in(folder.path());
    assert_eq!(records.len(), 4);
    for record in &records {
        assert_eq!(record["agon_record"], 4);
        assert_eq!(record["spec"]["origins"]["any"]["provider_kind"], "openai");
        for decision in record["decisions"].as_array().unwrap() {
            let applied = &decision["applied"];
            assert_eq!(applied["omitted"], json!(["temperature"]), "{decision}");
            assert_eq!(applied["temperature"], Value::Null);
            assert_eq!(applied["reply_format"], "json_schema");
            assert!(applied["sampling_seed"].is_u64(), "{decision}");
            assert!(decision["reasoning"].as_str().unwrap().contains("thought"));
        }
    }
    let out = folder.path().join("out").display().to_string();
    let _ = run(&["verify", &out]).expect_code(0);
}

#[test]
fn parameters_that_were_sent_are_recorded_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&[]);
    let _ = run_at(folder.path(), &warm_and_cold(""), &models, &[]).expect_code(0);
    for record in records_in(folder.path()) {
        let asked = &record["spec"]["seats"][0]["settings"]["temperature"];
        for decision in record["decisions"].as_array().unwrap() {
            assert_eq!(&decision["applied"]["temperature"], asked, "{decision}");
            assert_eq!(decision["applied"]["omitted"], Value::Null);
        }
    }
}

#[test]
fn same_model_at_another_server_is_another_model() {
    let folder = tempfile::tempdir().unwrap();
    let text = warm_and_cold("");
    let (first, second) = (
        ModelServer::start(&[]),
        ModelServer::start(&["--seed", "9"]),
    );
    let _ = run_at(folder.path(), &text, &first, &["--endpoint", "lab"]).expect_code(0);
    let before = records_in(folder.path());
    let asked = first.count("requests");
    // Moved: known by the same name, nothing is asked again.
    let _ = run_at(folder.path(), &text, &second, &["--endpoint", "lab"]).expect_code(0);
    assert_eq!(
        (first.count("requests"), second.count("requests")),
        (asked, 0)
    );
    assert_eq!(records_in(folder.path()), before);
    // Another one: everything is asked of it.
    let _ = run_at(folder.path(), &text, &second, &["--endpoint", "elsewhere"]).expect_code(0);
    assert_eq!(first.count("requests"), asked);
    assert_eq!(second.count("requests"), asked);
}

#[test]
fn results_of_a_server_do_not_stand_for_those_of_a_dead_port() {
    let folder = tempfile::tempdir().unwrap();
    let text = warm_and_cold("");
    let models = ModelServer::start(&[]);
    let own = models.base_url();
    let _ = run_at(folder.path(), &text, &models, &["--endpoint", &own]).expect_code(0);
    let config = folder.path().join("agon.toml");
    let port = free_port();
    let dead = format!(
        "[gateway]\npatience = \"1s\"\n[providers.dead]\n\
         base_url = \"http://127.0.0.1:{port}/v1\"\nkeys = []\n\
         [models.any]\nprovider = \"dead\"\n"
    );
    std::fs::write(&config, dead).unwrap();
    let (config, data) = (config.display().to_string(), folder.path().join("data"));
    let data = data.display().to_string();
    let flags = ["--config", &config, "--data", &data];
    let experiment = folder.path().join("experiment.toml");
    let ended = runs::run_into(&experiment, &folder.path().join("out"), &flags);
    assert_eq!(ended.code, Some(1), "{}{}", ended.out, ended.err);
}
