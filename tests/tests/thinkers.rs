//! Players that think more than once, or about others, before they answer: whole
//! experiments of them with the built `agon` and the simulated model. However they are
//! run their records are the same bytes and verify, a plan says beforehand what they ask,
//! and what they predict is there to be compared.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use agon_tests::binary::{self, Ended, run};
use agon_tests::model_server::ModelServer;
use agon_tests::runs;
use serde_json::Value;

/// Every agent in every kind of game that it plays, with JSON and in words.
const THINKERS: &str = r#"
name = "thinkers"
seed = 3
repeats = 2

[model]
model = "any"

[players.level]
kind = "model"
agent = "k_level"

[players.deep]
kind = "model"
agent = "k_level"
depth = 3
reply = "text"
persona = { text = "You know games well." }

[players.seer]
kind = "model"
agent = "prediction_chain_of_thought"

[players.talker]
kind = "model"
agent = "prediction_chain_of_thought"
reply = "text"

[players.learner]
kind = "model"
agent = "reflexion"
reflections = 2

[players.careful]
kind = "model"
agent = "self_refine"
rounds = 2

[players.other]
kind = "rule"
strategy = "random"

[[games]]
game = "water_allocation"
params = { rounds = 4 }
seats = ["level", "deep", "seer", "learner", "careful"]

[[games]]
game = "beauty_contest"
params = { rounds = 3, foul_allowance = 3 }
seats = ["deep", "level", "talker", "learner", "careful"]

[[games]]
game = "guess_to_survive"
params = { rounds = 4, health = 2 }
seats = ["deep", "level", "talker", "learner", "careful"]

[[games]]
game = "battle_royale"
seats = ["seer", "talker", "learner", "careful", "other"]

[[games]]
game = "pirate"
seats = ["seer", "learner", "careful", "other"]

[[games]]
game = "english_auction"
seats = ["seer", "learner", "careful"]
[games.params]
items = [
  { name = "Clock", starting_price = 1000, true_value = 2000 },
  { name = "Vase", starting_price = 1500, true_value = 1600 },
]
"#;

/// Where all decisions follow from the rules: nobody is put out.
const COUNTED: &str = r#"
name = "counted"

[model]
model = "any"

[players.level]
kind = "model"
agent = "k_level"

[players.deep]
kind = "model"
agent = "k_level"
depth = 4
reply = "text"

[players.talker]
kind = "model"
agent = "prediction_chain_of_thought"
reply = "text"

[players.learner]
kind = "model"
agent = "reflexion"

[players.careful]
kind = "model"
agent = "self_refine"

[[games]]
game = "beauty_contest"
params = { rounds = 4 }
seats = ["level", "deep", "talker", "learner", "careful"]
"#;

fn verified(out: &Path) {
    let _ = run(&["verify", &out.display().to_string()]).expect_code(0);
}

fn entries<'a>(record: &'a Value, list: &str) -> Vec<&'a Value> {
    record[list].as_array().into_iter().flatten().collect()
}

#[test]
fn records_of_thinkers_are_the_same_however_they_are_run_and_verify() {
    let folder = tempfile::tempdir().unwrap();
    // Replies come in another order than the calls were made in.
    let uneven = ["--latency", "1ms", "--latency-jitter", "15ms"];
    let models = ModelServer::start(&[&uneven[..], &["--malformed-rate", "0.05"]].concat());
    let base_url = models.base_url();
    let flags = ["--workers", "4", "--base-url", &base_url];
    let (out, _) = runs::run_in(folder.path(), THINKERS, &flags);
    let records = runs::records(&out);
    assert_eq!(models.count("requests"), runs::decisions(&records));
    verified(&out);
    assert!(runs::reference(THINKERS) == records);
    let records = runs::parsed(&records);
    assert_eq!(records.len(), 12);
    let noted = |game: &str, kind: &str, seat: u64| {
        let of_game = records
            .iter()
            .filter(|record| record["spec"]["game"] == game);
        let notes = of_game.flat_map(|record| entries(record, "notes"));
        notes
            .filter(|note| note["note"] == kind && note["seat"] == seat)
            .count()
    };
    for (game, kind, seat) in [
        ("water_allocation", "prediction", 0),
        ("water_allocation", "prediction", 1),
        ("water_allocation", "prediction", 2),
        ("water_allocation", "reflection", 3),
        ("water_allocation", "refinement", 4),
        ("guess_to_survive", "prediction", 0),
        ("guess_to_survive", "prediction", 2),
        ("pirate", "prediction", 0),
        ("pirate", "refinement", 2),
        ("english_auction", "prediction", 0),
        ("english_auction", "reflection", 1),
        ("english_auction", "refinement", 2),
    ] {
        assert!(noted(game, kind, seat) > 0, "{game} {kind} {seat}");
    }
    // An auction is told and measured though its notes are not of its own bidders.
    let session = records
        .iter()
        .find(|record| record["spec"]["game"] == "english_auction");
    let session = session.unwrap()["session"].as_str().unwrap();
    let results = out.display().to_string();
    let shown = run(&["show", session, "--beliefs", "--results", &results]).expect_code(0);
    assert!(shown.out.contains("expects at level 0: "), "{}", shown.out);
}

#[test]
fn a_plan_says_what_thinkers_will_ask_and_their_predictions_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&[]);
    let base_url = models.base_url();
    let experiment = runs::write(folder.path(), COUNTED).display().to_string();
    let plan = run(&["plan", &experiment]).expect_code(0).out;
    let counted = plan.lines().find_map(|line| line.split_once("expected"));
    let counted = counted.and_then(|(_, counts)| counts.split_whitespace().next());
    // Four rivals; four rivals at three levels and itself at two; one call; three looks back;
    // a draft and what is said to it. And an answer of everybody in each of four rounds.
    let expected: u64 = 4 * (4 + 14 + 2) + 3 + 5 * 4;
    assert_eq!(counted, Some(&*expected.to_string()), "{plan}");
    let (out, _) = runs::run_in(folder.path(), COUNTED, &["--base-url", &base_url]);
    verified(&out);
    let records = runs::records(&out);
    assert_eq!(runs::decisions(&records), expected);
    assert!(runs::fouls(&records).is_empty());
    let record = &runs::parsed(&records)[0];
    let mut predicted = [0; 3];
    for note in entries(record, "notes")
        .iter()
        .filter(|note| note["note"] == "prediction")
    {
        let seat = note["seat"].as_u64().unwrap() as usize;
        let body = &note["body"];
        let said = body["predicted"].as_object().unwrap();
        assert!(said.values().all(Value::is_number), "{note}");
        let is_deepest = body["level"].as_u64().unwrap() + 1 == body["depth"].as_u64().unwrap();
        assert_eq!(said.contains_key(&seat.to_string()), !is_deepest, "{note}");
        predicted[seat] += said.len();
    }
    assert_eq!(predicted, [4 * 4, 4 * 14, 4 * 4]);
}

#[test]
fn a_person_at_the_table_is_predicted_like_anybody() {
    let folder = tempfile::tempdir().unwrap();
    let text = COUNTED.replace("model = \"any\"", "model = \"sim\"");
    let experiment = runs::write(folder.path(), &text).display().to_string();
    let data = folder.path().join("data").display().to_string();
    let table = ["play", &experiment, "--seat", "4", "--data", &data];
    let mut child = binary::command(&table)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut typed = child.stdin.take().unwrap();
    typed.write_all(b"10\n8\n6.5\n4\n").unwrap();
    drop(typed);
    let ended = Ended::from(child.wait_with_output().unwrap()).expect_code(0);
    assert!(!ended.out.contains("predicted"), "{}", ended.out);
    let run = std::fs::read_dir(folder.path().join("data/runs"))
        .unwrap()
        .next();
    let out = run.unwrap().unwrap().path();
    verified(&out);
    let record = &runs::parsed(&runs::records(&out))[0];
    let predictions = entries(record, "notes").into_iter();
    let predictions = predictions.filter(|note| note["note"] == "prediction");
    let of_person = predictions.filter(|note| note["body"]["predicted"]["4"].is_number());
    // A simulated model slips now and then, and says nothing of anybody.
    let asked = 4 * (1 + 3 + 1);
    let told = of_person.count();
    assert!((asked - 2..=asked).contains(&told), "{told} of {asked}");
}

#[test]
fn where_others_see_more_a_check_says_what_can_be_played() {
    let folder = tempfile::tempdir().unwrap();
    let text = COUNTED.replace("game = \"beauty_contest\"", "game = \"guess_two_thirds\"");
    let experiment = runs::write(folder.path(), &text).display().to_string();
    let ended = run(&["check", &experiment]).expect_code(2);
    let said = format!("{}{}", ended.out, ended.err);
    assert!(said.contains("cannot play guess_two_thirds"), "{said}");
    assert!(said.contains("it plays beauty_contest, "), "{said}");
    let wrong = COUNTED.replace("depth = 4", "depth = 9");
    let experiment = runs::write(folder.path(), &wrong).display().to_string();
    let ended = run(&["check", &experiment]).expect_code(2);
    let said = format!("{}{}", ended.out, ended.err);
    assert!(
        said.contains("depth must be a whole number from 1 to 5, not 9"),
        "{said}"
    );
}
