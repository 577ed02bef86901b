//! Experiments for end-to-end tests, and what came out of them. Judges nothing: the
//! tests compare. Called by tests that run experiments through the binary.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::{Ended, run};
use crate::model_server::ModelServer;
use crate::scripted_server::ScriptedServer;

/// An experiment with model players in every game: simultaneous and sequential,
/// with hidden information, chance and eliminations; players that answer in one
/// structured call, in several, and in prose.
pub const MIXED: &str = r#"
name = "mixed"
seed = 11
repeats = 3

[players.subject]
kind = "model"
model = "any"

[players.thinker]
kind = "model"
model = "any"
agent = "chain_of_thought"

[players.talker]
kind = "model"
model = "any"
reply = "text"

[players.other]
kind = "rule"
strategy = "random"

[[games]]
game = "guess_two_thirds"
params = { rounds = 4 }
seats = [{ player = "subject", count = 3 }, "talker", { player = "other", count = 2 }]

[[games]]
game = "divide_dollar"
params = { rounds = 3 }
seats = [{ player = "subject", count = 2 }, "thinker", "talker"]

[[games]]
game = "public_goods"
params = { rounds = 3 }
seats = [{ player = "subject", count = 2 }, "thinker", "other"]

[[games]]
game = "diners_dilemma"
params = { rounds = 3 }
seats = [{ player = "subject", count = 2 }, "talker", "other"]

[[games]]
game = "el_farol"
params = { rounds = 3 }
seats = [{ player = "subject", count = 4 }, "thinker"]

[[games]]
game = "sealed_bid_auction"
params = { rounds = 3 }
seats = [{ player = "subject", count = 2 }, "talker", { player = "other", count = 2 }]

[[games]]
game = "battle_royale"
seats = [{ player = "subject", count = 2 }, "thinker", "talker", { player = "other", count = 2 }]

[[games]]
game = "pirate"
seats = [{ player = "subject", count = 2 }, "thinker", "talker", "other"]
"#;

/// An English auction of three rule bidders, up to the parameters of its game: no version
/// of prompts is in the sessions' ids.
pub fn rule_bidders(name: &str, repeats: u32, rest: &str) -> String {
    format!("name = \"{name}\"\nrepeats = {repeats}\n{RULE_BIDDERS}{rest}")
}

const RULE_BIDDERS: &str = r#"
seed = 5

[players.raiser]
kind = "rule"
strategy = "patient_raiser"
bids_per_item = 3

[players.careful]
kind = "rule"
strategy = "truthful"
percent = 80

[players.fixed]
kind = "rule"
strategy = "specified"
answers = [1200]

[[games]]
game = "english_auction"
seats = ["raiser", "careful", "fixed"]
"#;

/// Sessions of two players of a model and three rounds.
pub fn dividers(name: &str, repeats: u32) -> String {
    format!("name = \"{name}\"\nrepeats = {repeats}\n{DIVIDERS}")
}

const DIVIDERS: &str = r#"
[players.subject]
kind = "model"
model = "any"

[[games]]
game = "divide_dollar"
params = { rounds = 3 }
seats = [{ player = "subject", count = 2 }]
"#;

/// Writes an experiment into a folder.
///
/// # Panics
/// The folder cannot be written.
pub fn write(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("experiment.toml");
    fs::write(&path, text).expect("a writable folder");
    path
}

/// Runs an experiment with further flags, its results going to `out`.
pub fn run_into(experiment: &Path, out: &Path, flags: &[&str]) -> Ended {
    let (experiment, out) = (experiment.display().to_string(), out.display().to_string());
    let mut arguments = vec!["run", &experiment, "--quiet", "--out", &out];
    arguments.extend(flags);
    run(&arguments)
}

/// Runs an experiment in a folder of its own, which must come to a good end. Answers where
/// its results are, and what was said.
///
/// # Panics
/// It does not succeed.
pub fn run_in(folder: &Path, text: &str, flags: &[&str]) -> (PathBuf, Ended) {
    let experiment = write(folder, text);
    let (out, data) = (
        folder.join("out"),
        folder.join("data").display().to_string(),
    );
    let ended = run_into(&experiment, &out, &[&["--data", &data], flags].concat()).expect_code(0);
    (out, ended)
}

/// The arguments of a quiet run with all its places, which may be killed and run again.
pub fn arguments<'a>(
    experiment: &'a str,
    base_url: &'a str,
    data: &'a str,
    out: &'a str,
) -> [&'a str; 9] {
    let [base, folder, results] = ["--base-url", "--data", "--out"];
    [
        "run", experiment, "--quiet", base, base_url, folder, data, results, out,
    ]
}

/// A configuration in which model `any` is at this server, which has not long to answer; `more` goes
/// into its provider's section.
///
/// # Panics
/// It cannot be written.
pub fn config_for(folder: &Path, server: &ScriptedServer, more: &str) -> String {
    let path = folder.join("agon.toml");
    let text = format!(
        "[providers.scripted]\nbase_url = '{}'\nendpoint = 'test'\n{more}\n\
         [models.any]\nprovider = 'scripted'\n[gateway]\npatience = '1s'\n",
        server.base_url()
    );
    fs::write(&path, text).expect("the configuration is written");
    path.display().to_string()
}

/// A model server some of whose answers are no legal ones, so that seats are asked again.
pub fn model_server(latency: &str) -> ModelServer {
    ModelServer::start(&["--latency", latency, "--malformed-rate", "0.05"])
}

/// The records of an experiment that ran in one process, every decision of which was asked
/// once by the model server's own count.
///
/// # Panics
/// It does not succeed, or asks something twice.
pub fn in_process(folder: &Path, text: &str, flags: &[&str]) -> Vec<u8> {
    let models = model_server("2ms");
    let base_url = models.base_url();
    let (out, _) = run_in(folder, text, &[&["--base-url", &base_url], flags].concat());
    let records = records(&out);
    assert_eq!(models.count("requests"), decisions(&records));
    records
}

/// What an experiment comes to in one process with a single place: what every
/// other way of running it must come to.
///
/// # Panics
/// It does not succeed.
pub fn records_in_one_process(text: &str, models: &ModelServer) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let base_url = models.base_url();
    let single = ["--workers", "1", "--places", "1", "--base-url", &base_url];
    let (out, _) = run_in(folder.path(), text, &single);
    records(&out)
}

/// The same, where some of the model's answers are no legal ones.
///
/// # Panics
/// It does not succeed, or asks something twice.
pub fn reference(text: &str) -> Vec<u8> {
    let models = model_server("2ms");
    let records = records_in_one_process(text, &models);
    assert_eq!(models.count("requests"), decisions(&records));
    records
}

/// The bytes of a run's records.
///
/// # Panics
/// There are none.
pub fn records(out: &Path) -> Vec<u8> {
    let path = out.join("records.jsonl");
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The same, read.
///
/// # Panics
/// A line is no record.
pub fn parsed(records: &[u8]) -> Vec<Value> {
    let lines = records
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let records = lines.map(|line| serde_json::from_slice(line).expect("a record as JSON"));
    records.collect()
}

/// How many decisions a run's records hold.
///
/// # Panics
/// A line is no record.
pub fn decisions(records: &[u8]) -> u64 {
    let records = parsed(records);
    let count = records
        .iter()
        .map(|record| list(&record["decisions"]).len());
    count.sum::<usize>() as u64
}

/// How many fouls of each class a run's records count, over all seats.
///
/// # Panics
/// A line is no record.
pub fn fouls(records: &[u8]) -> BTreeMap<String, u64> {
    let mut fouls = BTreeMap::new();
    for record in parsed(records) {
        for seat in list(&record["outcome"]["fouls"]) {
            for (class, count) in seat.as_object().into_iter().flatten() {
                *fouls.entry(class.clone()).or_insert(0) += count.as_u64().unwrap_or(0);
            }
        }
    }
    fouls
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// How many seats of a run were asked anything outside. A seat waits for one
/// answer at a time, so no more decisions than this can be under way when a
/// gateway dies: answered by the model server, perhaps, but not recorded yet.
///
/// # Panics
/// A line is no record.
pub fn asking_seats(records: &[u8]) -> u64 {
    let lines = records
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let count = lines.map(|line| {
        let record: Value = serde_json::from_slice(line).expect("a record as JSON");
        let decisions = record["decisions"].as_array().cloned().unwrap_or_default();
        let seats: std::collections::BTreeSet<u64> = decisions
            .iter()
            .filter_map(|decision| decision["seat"].as_u64())
            .collect();
        seats.len() as u64
    });
    count.sum()
}
