//! Measures of auctions as a user gets them: tables at the end of `agon run`, the same
//! from `agon show --measures`, of rule bidders and of bidders that plan, believe, profile
//! and choose strategies, compared with what their records hold. Each test runs the
//! built `agon` as a process of its own.

use std::fs;
use std::path::Path;

use agon_tests::binary::{Ended, run};
use agon_tests::cluster::Cluster;
use agon_tests::model_server::ModelServer;
use agon_tests::{golden, runs};
use serde_json::Value;

/// What rule bidders play with, and another game beside it.
const RULES: &str = r#"
[games.params]
items = [
  { name = "Clock", starting_price = 1000, true_value = 2000 },
  { name = "Vase", starting_price = 1500, true_value = 1600 },
  { name = "Piano", starting_price = 3000, true_value = 6000 },
]

[games.grid]
"params.budget" = [3000, 6000]

[[games]]
game = "guess_two_thirds"
seats = ["other", "other"]

[players.other]
kind = "rule"
strategy = "random"
"#;

fn rules() -> String {
    runs::rule_bidders("measured-rules", 3, RULES)
}

/// Both kinds of agents with a mind of auctions, every module switched on.
const MINDS: &str = r#"
name = "measured-minds"
seed = 7
repeats = 2

[model]
model = "any"

[players.planner]
kind = "model"
agent = "bdi"

[players.raiser]
kind = "rule"
strategy = "patient_raiser"

[players.master]
kind = "model"
agent = "harbor"
world = "own"
profile = true
theory_of_mind = "inferred"
strategic = true
second_order = true

[players.rival]
kind = "model"
agent = "harbor"
world = "own"
profile = true
theory_of_mind = "inferred"
strategic = true

[[games]]
label = "beliefs"
game = "english_auction"
seats = [{ player = "planner", count = 2 }, "raiser"]
params = { budget = 10000, order = "ascending" }

[[games]]
label = "profiles"
game = "english_auction"
seats = ["master", "rival", "rival"]
params = { budget = 1000000, overestimate_percent = 10 }
world = { name = "houses", items = 6, matched = 2, personas = [["environmental_activist"], ["first_time_buyer"], ["urban_dweller", "art_collector"]] }
"#;

fn measures(place: &Path, experiment: &str, flags: &[&str]) -> Ended {
    let place = place.display().to_string();
    let all = ["show", experiment, "--measures", "--results", &place];
    run(&[&all[..], flags].concat())
}

/// A player's row in a list of a setting's measures.
fn row<'a>(setting: &'a Value, list: &str, player: &str) -> &'a Value {
    let mut rows = setting[list].as_array().unwrap().iter();
    rows.find(|row| row["player"] == player)
        .unwrap_or_else(|| panic!("{player} is not in {list} of {setting}"))
}

/// Notes of a kind that a player's seats made in these sessions.
fn notes<'a>(records: &[&'a Value], player: &str, kind: &str) -> Vec<&'a Value> {
    let of_one = |record: &&'a Value| {
        let record: &'a Value = record;
        let notes = record["notes"].as_array().unwrap().iter();
        let made = notes.filter(|note| {
            let seat = note["seat"].as_u64().unwrap() as usize;
            note["note"] == kind && record["spec"]["seats"][seat]["name"] == player
        });
        made.map(|note| &note["body"]).collect::<Vec<_>>()
    };
    records.iter().flat_map(of_one).collect()
}

fn count(notes: &[&Value], wanted: impl Fn(&Value) -> bool) -> u64 {
    notes.iter().filter(|note| wanted(note)).count() as u64
}

#[test]
fn measures_of_rule_bidders_are_as_their_golden_file_says() {
    let folder = tempfile::tempdir().unwrap();
    let (out, ended) = runs::run_in(folder.path(), &rules(), &[]);
    let shown = measures(&out, "measured-rules", &[]).expect_code(0).out;
    golden::compare("measures_rules.txt", &shown);
    assert!(ended.out.contains(&shown), "{}", ended.out);
    let summary = fs::read_to_string(out.join("summary.txt")).unwrap();
    assert!(summary.ends_with(shown.trim_end()), "{summary}");
    let fits = |line: &str| line.chars().count() <= 100;
    assert!(summary.lines().all(fits), "{summary}");
    // No table of what nobody does, and none for the other game.
    for absent in ["Belief", "Plan", "Profiling", "Strategy", "guess"] {
        assert!(!shown.contains(absent), "{absent}: {shown}");
    }

    let json = measures(&out, "measured-rules", &["--json"]).expect_code(0);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 2);
    let records = runs::parsed(&runs::records(&out));
    for (place, budget) in [3000, 6000].into_iter().enumerate() {
        assert_eq!(json[place]["setting"], format!("budget={budget}"));
        let of_setting = records.iter();
        let of_setting: Vec<&Value> = of_setting
            .filter(|record| record["spec"]["setting"]["params.budget"] == budget)
            .collect();
        assert_eq!(json[place]["sessions"], of_setting.len() as u64);
        for (seat, player) in ["raiser", "careful"].into_iter().enumerate() {
            let payoff = |record: &&Value| record["outcome"]["payoffs"][seat].as_f64().unwrap();
            let mean = of_setting.iter().map(payoff).sum::<f64>() / of_setting.len() as f64;
            let profit = row(&json[place], "players", player)["profit"].as_f64();
            assert!((profit.unwrap() - mean).abs() < 1e-6, "{player}");
        }
        // Its one bid is below most starting prices: what it then does is not its own choice.
        let fixed = row(&json[place], "players", "fixed");
        assert!(fixed["profit"].is_null() && fixed["n"] == 0, "{fixed}");
        let answers = row(&json[place], "answers_by_player", "fixed");
        assert_eq!(answers["left_out"], of_setting.len() as u64, "{answers}");
    }
    let failed = row(&json[1], "players", "fixed")["failed_bids"].as_u64();
    assert!(failed > Some(0), "{json}");
}

#[test]
fn increments_are_shown_in_the_bins_that_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (out, _) = runs::run_in(folder.path(), &rules(), &[]);
    let with = |flags: &[&str]| measures(&out, "measured-rules", flags);
    let bins = ["--increment-bins", "0,12.5,50"];
    let shown = with(&bins).expect_code(0).out;
    for bin in ["[0, 12.5)", "[12.5, 50)", "50 and"] {
        assert!(shown.contains(bin), "{bin}: {shown}");
    }
    let json = |flags: &[&str]| -> Value {
        let ended = with(&[flags, &["--json"]].concat()).expect_code(0);
        serde_json::from_str(&ended.out).unwrap()
    };
    let (papers, ours) = (json(&[]), json(&bins));
    assert_eq!(
        papers[0]["increment_bins"],
        serde_json::json!([0.0, 10.0, 11.0, 20.0, 50.0])
    );
    assert_eq!(
        ours[0]["increment_bins"],
        serde_json::json!([0.0, 12.5, 50.0])
    );
    for (paper, own) in [(&papers[0], &ours[0]), (&papers[1], &ours[1])] {
        for player in ["raiser", "careful", "fixed"] {
            let (paper, own) = (
                row(paper, "increments", player),
                row(own, "increments", player),
            );
            // The same bids, sorted otherwise.
            assert_eq!(
                (&paper["bids"], &paper["mean"]),
                (&own["bids"], &own["mean"])
            );
            let counts = own["counts"].as_array().unwrap().iter();
            let sum: u64 = counts.filter_map(Value::as_u64).sum();
            assert_eq!(own["bids"], sum);
        }
    }
    assert_ne!(papers[0]["increments"], ours[0]["increments"]);
    for wrong in ["10,20", "0,0", "0,NaN"] {
        let refused = with(&["--increment-bins", wrong]).expect_code(2);
        assert!(refused.err.contains("must rise from 0"), "{}", refused.err);
    }
}

#[test]
fn measures_of_bidders_with_minds_hold_what_they_noted() {
    let folder = tempfile::tempdir().unwrap();
    // Some replies are nonsense, by seed and request: errors of all kinds are measured.
    let models = ModelServer::start(&["--malformed-rate", "0.4"]);
    let cluster = Cluster::start(folder.path(), None, &models, 2);
    let url = cluster.coordinator_url();
    let experiment = runs::write(folder.path(), MINDS);
    let out = folder.path().join("out");
    let ended = runs::run_into(&experiment, &out, &["--coordinator", &url]).expect_code(0);
    let shown = measures(&out, "measured-minds", &[]).expect_code(0).out;
    golden::compare("measures_minds.txt", &shown);
    assert!(ended.out.contains(&shown), "{}", ended.out);
    let flags = ["--measures", "--coordinator", &url];
    let asked = run(&[&["show", "measured-minds"], &flags[..]].concat()).expect_code(0);
    assert_eq!(asked.out, shown);

    let json = measures(&out, "measured-minds", &["--json"]).expect_code(0);
    let json: Value = serde_json::from_str(&json.out).unwrap();
    let records = runs::parsed(&runs::records(&out));
    let labelled = |label: &str| {
        let records = records.iter();
        let wanted = records.filter(|record| record["spec"]["setting"]["label"] == label);
        wanted.collect::<Vec<_>>()
    };

    // Every note that agents write is understood and counted once.
    let (beliefs, profiles) = (&json[0], &json[1]);
    assert_eq!(beliefs["simulated"], 2);
    let of_beliefs = labelled("beliefs");
    let noted = notes(&of_beliefs, "planner", "belief");
    let measured = row(beliefs, "beliefs", "planner");
    assert_eq!(measured["updates"], noted.len() as u64);
    assert_eq!(noted.len(), 2 * 2 * 10);
    let sum = |key: &str| -> u64 {
        let numbers = noted.iter().map(|note| note[key].as_u64().unwrap());
        numbers.sum()
    };
    // Of three bidders: a budget, and a profit and a list of wins of each. What cannot be read
    // states none of these right.
    let facts = 1 + 2 * 3;
    let unread = count(&noted, |note| note["checked"] == 0);
    assert_eq!(measured["all"]["checked"], facts * noted.len() as u64);
    assert_eq!(measured["all"]["wrong"], sum("wrong") + facts * unread);
    assert!(unread > 0 && measured["unreadable"] == unread, "{measured}");
    let ended = |source: &str| {
        count(&noted, |note| {
            note["corrected"] == true && note["source"] == source
        })
    };
    let (itself, auctioneer) = (ended("model"), ended("auctioneer"));
    assert_eq!(measured["corrected"], itself);
    assert_eq!(measured["put_right"], auctioneer);
    assert!(auctioneer > 0, "{measured}");

    let plans = row(beliefs, "plans", "planner");
    assert_eq!(
        (&plans["planned"], &plans["pairs"]),
        (&4.into(), &40.into())
    );
    // Before the first item: the mean of the first plans of two seats in two sessions.
    let noted = notes(&of_beliefs, "planner", "plan");
    let first: Vec<f64> = noted
        .iter()
        .filter(|note| note["at_item"] == 0)
        .map(|note| note["priorities"][3].as_f64().unwrap())
        .collect();
    assert_eq!(first.len(), 4);
    let mean = first.iter().sum::<f64>() / 4.0;
    assert_eq!(plans["priorities"][0][3].as_f64(), Some(mean));
    assert_eq!(plans["priorities"].as_array().unwrap().len(), 10);
    // One order of sale: the map by item is the map by place with its sides changed over.
    assert_eq!(plans["one_order"], true);
    for (place, item) in plans["by_item"].as_array().unwrap().iter().enumerate() {
        for (round, row) in plans["priorities"].as_array().unwrap().iter().enumerate() {
            assert_eq!(item["priorities"][round], row[place], "{item}");
        }
    }

    let of_profiles = labelled("profiles");
    for player in ["master", "rival"] {
        let noted = notes(&of_profiles, player, "profile");
        let measured = row(profiles, "profiles", player);
        assert_eq!(measured["profiles"], noted.len() as u64, "{player}");
        assert_eq!(measured["without_truth"], 0);
        let divergence = measured["divergence"].as_array().unwrap();
        assert_eq!(divergence.len(), 7, "before the first item and after each");
        assert!(divergence.iter().all(Value::is_number), "{measured}");
        // Before the first item a profile knows nothing.
        let (start, baseline) = (divergence[0].as_f64(), measured["baseline"].as_f64());
        assert!((start.unwrap() - baseline.unwrap()).abs() < 1e-9);

        let noted = notes(&of_profiles, player, "prediction");
        let measured = row(profiles, "predictions", player);
        let first_order = count(&noted, |note| note.get("wants").is_some());
        let said = count(&noted, |note| note["wants"].is_boolean());
        assert!(said > 0, "{measured}");
        assert_eq!(measured["predictions"], said, "{player}");
        assert_eq!(measured["open"], first_order - said, "{player}");
        let ends = profiles["profile_ends"].as_array().unwrap().iter();
        let of_player = ends.filter(|row| row["player"] == player);
        let compared = of_player.map(|row| {
            assert_eq!((&row["rivals"], &row["matched"]), (&2.into(), &2.into()));
            row["profiles"].as_u64().unwrap()
        });
        // Two sessions of one Master or two rivals, each with two rivals of its own.
        let seats = if player == "master" { 1 } else { 2 };
        assert_eq!(compared.sum::<u64>(), 2 * 2 * seats, "{player}");

        let noted = notes(&of_profiles, player, "strategy");
        let measured = row(profiles, "strategies", player);
        let read = count(&noted, |note| note["choice"].is_string());
        assert!(read > 0, "{measured}");
        assert_eq!(measured["choices"], read, "{player}");
        assert_eq!(measured["unreadable"], noted.len() as u64 - read);
        for letter in ["A", "B", "C", "D", "E", "F"] {
            let chosen = count(&noted, |note| note["choice"] == letter);
            assert_eq!(measured["counts"][letter].as_u64().unwrap_or(0), chosen);
        }
        assert!(row(profiles, "plans", player)["planned"].as_u64() > Some(0));
        // Two houses suit each seat that has personas, in each session.
        let seats = if player == "master" { 1 } else { 2 };
        let offered = row(profiles, "players", player)["matched_offered"].as_u64();
        assert_eq!(offered, Some(2 * 2 * seats), "{player}");
    }
}

#[test]
fn published_figures_stand_under_the_tables_of_their_preset() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let flags = ["--repeats", "1", "--quiet", "--data", &data];
    let ended = run(&[&["run", "aucarena/human"], &flags[..]].concat()).expect_code(0);
    let (own, published) = ended.out.split_once("Published beside it").unwrap();
    assert!(own.contains("Belief errors") && published.contains("10862.5"));
    // A person's own row stands below the published ones of the same order.
    let rows = published.lines().map(|line| line.split_whitespace());
    let rows: Vec<Vec<&str>> = rows.map(Iterator::collect).collect();
    let of_descending: Vec<&Vec<&str>> = rows
        .iter()
        .filter(|row| row.contains(&"descending"))
        .collect();
    assert_eq!(of_descending.len(), 6, "{published}");
    assert!(of_descending[5].contains(&"person"), "{published}");
    let runs = folder.path().join("runs");
    let compare = |table| {
        let flags = ["--compare", table];
        measures(&runs, "aucarena-human", &flags)
    };
    let again = compare("aucarena-human").expect_code(0).out;
    assert!(
        again
            .trim_end()
            .ends_with(published.split("\nresults in").next().unwrap().trim_end())
    );
    let wrong = compare("gamma").expect_code(2);
    assert!(wrong.err.contains("aucarena-niche"), "{}", wrong.err);
}

#[test]
fn what_cannot_be_measured_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let text = runs::MIXED.split("[[games]]").next().unwrap().to_owned();
    let text = text
        + "[[games]]\ngame = \"guess_two_thirds\"\nparams = { rounds = 2 }\n\
           seats = [{ player = \"other\", count = 3 }]\n";
    let (out, _) = runs::run_in(folder.path(), &text, &[]);
    let none = measures(&out, "mixed", &[]).expect_code(2);
    assert!(
        none.err
            .contains("has no finished session of a game with measures; these games have some: english_auction"),
        "{}",
        none.err
    );
    let records = runs::parsed(&runs::records(&out));
    let id = records[0]["session"].as_str().unwrap();
    let session = measures(&out, id, &[]).expect_code(2);
    assert!(
        session.err.contains("name of an experiment"),
        "{}",
        session.err
    );
    let unknown = measures(&out, "mixt", &[]).expect_code(2);
    assert!(
        unknown.err.contains("experiments there: mixed"),
        "{}",
        unknown.err
    );
}
