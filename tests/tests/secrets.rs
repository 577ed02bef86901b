//! Keys are never printed, logged or stored: a run with a key leaves it in no
//! log at the finest level, no file and no status.

use std::fs;
use std::path::Path;

use agon_tests::binary::{self, Ended};
use agon_tests::model_server::ModelServer;
use agon_tests::{redis, runs};

/// Long and odd enough to be found wherever it might turn up.
const KEY: &str = "sk-agon-test-8c1f2e7b90d34a5566";

const EXPERIMENT: &str = r#"
name = "keyed"
[players.subject]
kind = "model"
model = "any"
[[games]]
game = "divide_dollar"
params = { rounds = 2 }
seats = [{ player = "subject", count = 3 }]
"#;

fn holds_key(path: &Path) -> Option<String> {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap();
        return entries.flatten().find_map(|entry| holds_key(&entry.path()));
    }
    let bytes = fs::read(path).unwrap();
    let found = bytes
        .windows(KEY.len())
        .any(|window| window == KEY.as_bytes());
    found.then(|| path.display().to_string())
}

fn run_with_key(experiment: &Path, out: &Path, flags: &[&str]) -> Ended {
    let (experiment, out) = (experiment.display().to_string(), out.display().to_string());
    let mut arguments = vec!["run", &experiment, "--out", &out, "--log", "trace"];
    arguments.extend(["--log-format", "json", "--key-env", "TEST_MODEL_KEY"]);
    arguments.extend(flags);
    let mut command = binary::command(&arguments);
    Ended::from(command.env("TEST_MODEL_KEY", KEY).output().unwrap())
}

#[test]
fn a_key_is_in_no_output_and_in_no_file() {
    let redis = redis::RedisServer::start();
    let (redis_url, port) = (redis.url(), redis::free_port());
    let models = ModelServer::start(&["--key", KEY, "--error-rate", "0.2"]);
    let nowhere = format!("http://127.0.0.1:{port}/v1");
    for (base_url, store, code) in [
        (models.base_url(), None, 0),
        (models.base_url(), Some(&redis_url), 0),
        // A provider that cannot be reached is the likeliest to be complained about.
        (nowhere, None, 130),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let experiment = runs::write(folder.path(), EXPERIMENT);
        let data = folder.path().join("data").display().to_string();
        let mut flags = vec!["--base-url", &base_url, "--data", &data];
        if let Some(url) = store {
            flags.extend(["--redis", url]);
        }
        let out = folder.path().join("out");
        let ended = if code == 0 {
            run_with_key(&experiment, &out, &flags).expect_code(0)
        } else {
            interrupted(&experiment, &out, &flags)
        };
        assert!(
            !ended.out.contains(KEY) && !ended.err.contains(KEY),
            "in the output"
        );
        assert!(
            ended.err.contains("provider_call") || code != 0,
            "the log is at trace level"
        );
        assert_eq!(holds_key(folder.path()), None);
    }
    assert_eq!(holds_key(redis.folder()), None);
}

/// The same run, stopped after a while because it would wait for its provider.
fn interrupted(experiment: &Path, out: &Path, flags: &[&str]) -> Ended {
    let (experiment, out) = (experiment.display().to_string(), out.display().to_string());
    let mut arguments = vec!["run", &experiment, "--out", &out, "--log", "trace"];
    arguments.extend(["--key-env", "TEST_MODEL_KEY"]);
    arguments.extend(flags);
    let command = binary::command(&arguments);
    let program = command.get_program().to_owned();
    let mut limited = std::process::Command::new("timeout");
    limited
        .args(["--signal", "INT", "--preserve-status", "3"])
        .arg(program)
        .args(&arguments);
    Ended::from(limited.env("TEST_MODEL_KEY", KEY).output().unwrap()).expect_code(130)
}
