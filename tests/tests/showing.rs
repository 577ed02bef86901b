//! `agon show` as a user types it: lists, logs of every game, abbreviated ids, wrong
//! ones, another's eyes, JSON, a coordinator instead of a folder. Each test runs the
//! built `agon` as a process of its own.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use agon_tests::binary::run;
use agon_tests::cluster::Cluster;
use agon_tests::model_server::ModelServer;
use agon_tests::{golden, runs};
use serde_json::Value;

/// What rule bidders play with.
const AUCTION: &str = r#"
[games.params]
budget = [6000, 5000, 2000]
discount_unsold = true
discount_rounds = 1
items = [
  { name = "Clock", starting_price = 1000, true_value = 2000, description = "it ticks" },
  { name = "Vase", starting_price = 1500, true_value = 1600 },
  { name = "Piano", starting_price = 9000, true_value = 9500, size = "large" },
]
"#;

fn auction() -> String {
    runs::rule_bidders("small-auction", 2, AUCTION)
}

fn show(place: &Path, arguments: &[&str]) -> agon_tests::binary::Ended {
    let place = place.display().to_string();
    let flags = ["--results", &place];
    run(&[&["show"], arguments, &flags[..]].concat())
}

#[test]
fn a_seeded_auction_is_shown_as_its_golden_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = runs::run_in(folder.path(), &auction(), &[]);
    let records = runs::parsed(&runs::records(&out));
    let id = records[0]["session"].as_str().unwrap();
    let shown = show(&out, &[id]).expect_code(0).out;

    golden::compare("show_auction.txt", &shown);

    // Everything that the record counts is in the log.
    let bids: u64 = records[0]["measures"]["series"]["bids"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bids| bids.as_f64().unwrap() as u64)
        .sum();
    assert_eq!(shown.matches(": bids ").count() as u64, bids);
    let fouls: usize = records[0]["moves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|made| made["fouls"].as_array().map_or(0, Vec::len))
        .sum();
    assert!(fouls > 0);
    assert_eq!(shown.matches(": refused, ").count(), fouls);
}

#[test]
fn sessions_of_all_games_are_listed_and_shown_by_any_unique_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&[]);
    let base_url = models.base_url();
    let data = folder.path().join("data").display().to_string();
    let flags = ["--base-url", &base_url, "--data", &data];
    let results = folder.path().join("results");
    for (name, text) in [("mixed", runs::MIXED), ("small-auction", &auction())] {
        let experiment = runs::write(folder.path(), text);
        let _ = runs::run_into(&experiment, &results.join(name), &flags).expect_code(0);
    }
    let experiments = show(&results, &[]).expect_code(0).out;
    assert!(experiments.contains("mixed") && experiments.contains("small-auction"));

    let records = runs::parsed(&runs::records(&results.join("mixed")));
    let listed = show(&results, &["mixed"]).expect_code(0).out;
    let mut games = BTreeSet::new();
    for record in &records {
        let id = record["session"].as_str().unwrap();
        assert!(listed.contains(&id[..8]), "{id} is not in {listed}");
        games.insert(record["spec"]["game"].as_str().unwrap());
        // A folder, a run's folder and a file of records are the same to it.
        let file = results.join("mixed/records.jsonl");
        let shown = show(&file, &[&id[..12], "--fouls", "--plans", "--beliefs"])
            .expect_code(0)
            .out;
        assert!(shown.contains(id) && shown.contains("simulated"), "{shown}");
        assert!(shown.contains("Outcome"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "not plain: {shown:?}");
    }
    assert_eq!(games.len(), 8);

    // By a whole id from the listing, in capitals, as JSON: the line as it is.
    let id = records[0]["session"].as_str().unwrap();
    let json = show(&results, &[&id.to_uppercase(), "--json"])
        .expect_code(0)
        .out;
    let lines = String::from_utf8(runs::records(&results.join("mixed"))).unwrap();
    assert_eq!(json.trim_end(), lines.lines().next().unwrap());
    let seen = show(&results, &[id, "--json", "--seat", "1"])
        .expect_code(0)
        .out;
    let seen: Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(seen["seat"], 1);
    assert!(seen["events"].as_array().unwrap().len() > 1 && seen.get("draws").is_none());
    let none = show(&results, &[id, "--seat", "40"]).expect_code(2);
    assert!(none.err.contains("seats 0 to"), "{}", none.err);
    let json = show(&results, &["mixed", "--json"]).expect_code(0).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json.as_array().unwrap().len(), records.len());
}

#[test]
fn a_wrong_session_is_refused_with_what_is_near() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), &auction());
    let (out, data) = (folder.path().join("out"), folder.path().join("data"));
    let data = data.display().to_string();
    // More sessions than there are digits: one digit cannot be enough for all.
    let flags = ["--data", &data, "--repeats", "17"];
    let _ = runs::run_into(&experiment, &out, &flags).expect_code(0);
    let records = runs::parsed(&runs::records(&out));
    let ids: Vec<&str> = records
        .iter()
        .map(|record| record["session"].as_str().unwrap())
        .collect();
    let begins = |digit: &str| ids.iter().filter(|id| id.starts_with(digit)).count();
    let digits = "0123456789abcdef".chars().map(String::from);
    let shared = digits.clone().find(|digit| begins(digit) > 1).unwrap();
    let several = show(&out, &[&shared]).expect_code(2);
    assert!(several.err.contains("write more of it"), "{}", several.err);
    assert!(several.err.contains("english_auction of small-auction"));

    // Seven digits of a real id, and one that it does not have.
    let last = if ids[0].as_bytes()[7] == b'0' {
        '1'
    } else {
        '0'
    };
    let wrong = format!("{}{last}", &ids[0][..7]);
    let near = show(&out, &[&wrong]).expect_code(2);
    assert!(
        near.err
            .contains(&format!("the nearest are {}", &ids[0][..8])),
        "{}",
        near.err
    );
    let name = show(&out, &["small-auktion"]).expect_code(2);
    assert!(
        name.err
            .contains("did you mean \"small-auction\"? Experiments there: small-auction"),
        "{}",
        name.err
    );

    let nowhere = show(&folder.path().join("nowhere"), &["ab"]).expect_code(2);
    assert!(nowhere.err.contains("--results"), "{}", nowhere.err);
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let empty = show(&empty, &["ab"]).expect_code(2);
    assert!(empty.err.contains("no finished session"), "{}", empty.err);

    // A line that is broken is told about and hides no other.
    let file = out.join("records.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{{\"half\n{text}")).unwrap();
    let shown = show(&file, &[ids[3]]).expect_code(0);
    assert!(shown.err.contains("records.jsonl:1: "), "{}", shown.err);
    assert!(shown.out.contains(ids[3]));
}

#[test]
fn a_coordinator_shows_the_same_as_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&[]);
    let cluster = Cluster::start(folder.path(), None, &models, 1);
    let url = cluster.coordinator_url();
    let experiment = runs::write(folder.path(), &auction());
    let out = folder.path().join("out");
    let _ = runs::run_into(&experiment, &out, &["--coordinator", &url]).expect_code(0);
    let records = runs::parsed(&runs::records(&out));
    let id = records[1]["session"].as_str().unwrap();
    for wanted in [id, &id[..9], "small-auction"] {
        let from_folder = show(&out, &[wanted]).expect_code(0).out;
        let asked = run(&["show", wanted, "--coordinator", &url])
            .expect_code(0)
            .out;
        assert_eq!(asked, from_folder);
    }
    let listed = run(&["show", "--coordinator", &url]).expect_code(0).out;
    assert!(listed.contains("small-auction"), "{listed}");
    let wrong = run(&["show", "zz", "--coordinator", &url]).expect_code(2);
    assert!(wrong.err.contains("small-auction"), "{}", wrong.err);
    let nobody = run(&["show", "zz", "--coordinator", "http://127.0.0.1:1"]).expect_code(3);
    assert!(nobody.err.contains("does not answer"), "{}", nobody.err);
}

#[test]
fn two_sessions_are_compared_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = runs::run_in(folder.path(), &auction(), &[]);
    let records = runs::parsed(&runs::records(&out));
    let ids: Vec<&str> = records
        .iter()
        .map(|record| record["session"].as_str().unwrap())
        .collect();
    let place = out.display().to_string();
    let diff = |one: &str, other: &str| run(&["diff", one, other, "--results", &place]);
    let same = diff(ids[0], ids[0]).expect_code(0).out;
    assert_eq!(same.trim(), "the two sessions tell the same");
    let differing = diff(ids[0], ids[1]).expect_code(1).out;
    assert!(differing.contains("- spec.luck.repeat = 0"), "{differing}");
    assert!(differing.contains("+ spec.luck.repeat = 1"), "{differing}");
    let unknown = diff(ids[0], "ffffffff").expect_code(2);
    assert!(unknown.err.contains("ffffffff"), "{}", unknown.err);
}
