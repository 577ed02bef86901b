//! Series end to end: sessions that follow each other, on real processes over files and over a real
//! Redis, with a simulated model that writes lessons down. What is carried, in which order, what
//! kills and repetitions change (nothing), and how a series ends that cannot go on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread;

use agon_tests::binary::{Role, run};
use agon_tests::cluster::{Cluster, Flags};
use agon_tests::model_server::ModelServer;
use agon_tests::redis::{RedisServer, free_port};
use agon_tests::runs;
use agon_tests::waiting::until;
use serde_json::{Value, json};

/// Two series of four auctions: two bidders that learn, one that does not, a rule player.
const LEARNING: &str = r#"
name = "learning"
seed = 5
repeats = 2

[series]
length = 4

[players.learner]
kind = "model"
model = "any"
learn = true

[players.other]
kind = "model"
model = "any"
strategy = "none"

[players.raiser]
kind = "rule"
strategy = "patient_raiser"

[model]
agent = "bdi"

[[games]]
game = "english_auction"
seats = ["raiser", { player = "learner", count = 2 }, "other"]

[games.params]
budget = 4000
order = "random"
items = [
  { name = "Lamp", starting_price = 1000, true_value = 2000 },
  { name = "Chair", starting_price = 500, true_value = 1000 },
]
"#;

const REPEATS: u64 = 2;
const LENGTH: u64 = 4;

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Repeat and place of a record.
fn place(record: &Value) -> (u64, u64) {
    let luck = &record["spec"]["luck"];
    let place = luck.get("place").map_or(Some(0), Value::as_u64);
    (luck["repeat"].as_u64().unwrap(), place.unwrap())
}

/// The lessons that each seat of a session left, as the next one must be handed them.
fn left(record: &Value) -> Vec<Value> {
    let mut last = BTreeMap::new();
    for note in record["notes"].as_array().unwrap() {
        if note["note"] == "tips" {
            let handed = json!({ "seat": note["seat"], "note": "tips", "body": note["body"] });
            last.insert(note["seat"].as_u64().unwrap(), handed);
        }
    }
    last.into_values().collect()
}

#[test]
fn each_auction_of_a_series_is_handed_the_lessons_of_the_one_before_it() {
    let records = runs::parsed(&runs::reference(LEARNING));
    let places: Vec<_> = records.iter().map(place).collect();
    let expected: Vec<_> = (0..REPEATS)
        .flat_map(|repeat| (0..LENGTH).map(move |place| (repeat, place)))
        .collect();
    assert_eq!(places, expected);
    let mut lessons = BTreeSet::new();
    for pair in records.windows(2) {
        let [before, after] = pair else { continue };
        if place(after).1 == 0 {
            assert_eq!(after.get("carried"), None);
            continue;
        }
        let carried = json!({ "from": before["session"], "notes": left(before) });
        assert_eq!(after["carried"], carried);
        let seats: Vec<_> = left(before)
            .iter()
            .map(|note| note["seat"].clone())
            .collect();
        assert_eq!(seats, [json!(1), json!(2)], "only who learns has lessons");
        lessons.extend(
            left(before)
                .iter()
                .map(|note| note["body"]["tips"].to_string()),
        );
    }
    assert!(lessons.len() > 6, "lessons differ: {lessons:?}");
    // Lessons are in the questions: only they set these two sessions apart for who learns.
    let question = |record: &Value, seat: u64| -> Value {
        let decisions = record["decisions"].as_array().unwrap();
        let first = decisions.iter().find(|one| one["seat"] == seat);
        first.unwrap()["request"].clone()
    };
    let orders: BTreeSet<String> = records
        .iter()
        .map(|record| record["events"][0]["facts"]["items"].to_string())
        .collect();
    assert!(orders.len() > 1, "each auction has luck of its own");
    assert_ne!(question(&records[1], 1), question(&records[1], 2));
}

#[test]
fn a_series_is_the_same_bytes_whatever_ran_it() {
    let reference = runs::reference(LEARNING);
    let redis = RedisServer::start();
    let many = runs::in_process(
        scratch().path(),
        LEARNING,
        &["--workers", "3", "--places", "5"],
    );
    assert!(reference == many);
    let shared = runs::in_process(scratch().path(), LEARNING, &["--redis", &redis.url()]);
    assert!(reference == shared);
    for store in [Some(RedisServer::start()), None] {
        let folder = scratch();
        let models = runs::model_server("2ms");
        let url = store.as_ref().map(RedisServer::url);
        let cluster = Cluster::start(folder.path(), url.as_deref(), &models, 3);
        let experiment = runs::write(folder.path(), LEARNING);
        let records = cluster.run(&experiment, &folder.path().join("out"));
        assert!(reference == records, "store {url:?}");
        assert_eq!(models.count("requests"), runs::decisions(&records));
        // A finished experiment that is run again asks nobody anything.
        let again = cluster.run(&experiment, &folder.path().join("again"));
        assert!(reference == again);
        assert_eq!(models.count("requests"), runs::decisions(&records));
    }
}

#[test]
fn killing_workers_and_coordinators_leaves_no_series_half_chained() {
    let reference = runs::reference(LEARNING);
    for store in [Some(RedisServer::start()), None] {
        let folder = scratch();
        let models = runs::model_server("15ms");
        let flags = Flags {
            coordinator: &["--lease-ttl", "2s"],
            ..Flags::default()
        };
        let url = store.as_ref().map(RedisServer::url);
        let mut cluster = Cluster::start_with(folder.path(), url.as_deref(), &models, 2, flags);
        let experiment = runs::write(folder.path(), LEARNING);
        let (out, address) = (folder.path().join("out"), cluster.coordinator_url());
        let decided = runs::decisions(&reference);
        let coordinator = ["--coordinator", address.as_str()];
        thread::scope(|scope| {
            // Whoever watches may be cut off with the coordinator; the experiment is not.
            let watching = scope.spawn(|| runs::run_into(&experiment, &out, &coordinator));
            until("a quarter is decided", || {
                models.count("requests") > decided / 4
            });
            cluster.workers[0].kill();
            until("half is decided", || models.count("requests") > decided / 2);
            cluster.coordinator.kill();
            cluster.restart_coordinator();
            let _ = watching.join().unwrap();
        });
        let records = cluster.run(&experiment, &out);
        assert!(reference == records, "store {url:?}");
        assert_eq!(models.count("requests"), decided, "store {url:?}");
    }
}

#[test]
fn a_killed_run_goes_on_with_its_series_and_a_longer_one_keeps_what_is_done() {
    let folder = scratch();
    let models = runs::model_server("15ms");
    let experiment = runs::write(folder.path(), LEARNING).display().to_string();
    let (base_url, out) = (models.base_url(), folder.path().join("out"));
    let data = folder.path().join("data").display().to_string();
    let out_flag = out.display().to_string();
    let arguments = runs::arguments(&experiment, &base_url, &data, &out_flag);
    let mut killed = Role::start_silent(&arguments);
    until("a third is decided", || models.count("requests") > 60);
    killed.kill();
    let _ = run(&arguments).expect_code(0);
    let records = runs::records(&out);
    // What was under way when the gateway died is asked again, with other answers to follow.
    let parsed = runs::parsed(&records);
    for pair in parsed.windows(2).filter(|pair| place(&pair[1]).1 > 0) {
        assert_eq!(pair[1]["carried"]["from"], pair[0]["session"]);
        assert_eq!(pair[1]["carried"]["notes"], json!(left(&pair[0])));
    }
    let verified = run(&["verify", &out_flag]).expect_code(0);
    assert!(verified.out.contains("8 of 8 records"), "{}", verified.out);
    let asked = models.count("requests");
    let longer = [&arguments[..], &["--set", "series.length=5"]].concat();
    let _ = run(&longer).expect_code(0);
    let more = runs::parsed(&runs::records(&out));
    assert_eq!(more.len(), 10);
    let kept: Vec<&Value> = more.iter().filter(|one| place(one).1 < 4).collect();
    assert!(kept.into_iter().eq(&parsed), "what was done is kept");
    let new: usize = more
        .iter()
        .filter(|one| place(one).1 == 4)
        .map(|one| one["decisions"].as_array().unwrap().len())
        .sum();
    assert_eq!(models.count("requests"), asked + new as u64);
}

#[test]
fn lessons_that_were_changed_in_the_file_are_found_by_verifying() {
    let folder = scratch();
    let records = runs::in_process(folder.path(), LEARNING, &[]);
    let text = String::from_utf8(records).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut changed: Value = serde_json::from_str(lines[1]).unwrap();
    let tips = &mut changed["carried"]["notes"][0]["body"]["tips"];
    *tips = json!(["Bid everything at once."]);
    let path = folder.path().join("changed.jsonl");
    fs::write(&path, format!("{}\n{changed}\n", lines[0])).unwrap();
    let ended = run(&["verify", &path.display().to_string()]).expect_code(1);
    let chained = "was handed something else than session";
    assert!(ended.out.contains(chained), "{}", ended.out);
    // And its first question is another one, too.
    assert!(ended.out.contains("another question"), "{}", ended.out);
}

#[test]
fn a_series_that_cannot_go_on_ends_in_a_clear_state_and_goes_on_when_it_can() {
    let redis = RedisServer::start();
    for store in [Some(redis.url()), None] {
        let folder = scratch();
        let (port, models) = (free_port(), ModelServer::start(&[]));
        let config = |base_url: &str| {
            format!(
                "[gateway]\npatience = \"1s\"\n\
                 [providers.good]\nbase_url = \"{}\"\nkeys = []\n\
                 [providers.gone]\nbase_url = \"{base_url}\"\nkeys = []\n\
                 [models.any]\nprovider = \"good\"\n[models.gone]\nprovider = \"gone\"\n",
                models.base_url()
            )
        };
        let path = folder.path().join("agon.toml");
        fs::write(&path, config(&format!("http://127.0.0.1:{port}/v1"))).unwrap();
        let grid = "[games.grid]\n\"players.other.model\" = [\"any\", \"gone\"]\n[games.params]";
        let text = LEARNING.replace("[games.params]", grid);
        let experiment = runs::write(folder.path(), &text).display().to_string();
        let data = folder.path().join("data").display().to_string();
        let out = folder.path().join("out").display().to_string();
        let config_flag = path.display().to_string();
        let mut arguments = vec![
            "run",
            &experiment,
            "--config",
            &config_flag,
            "--data",
            &data,
            "--out",
            &out,
            "--quiet",
        ];
        if let Some(url) = &store {
            arguments.extend(["--redis", url]);
        }
        let ended = run(&arguments).expect_code(1);
        assert!(
            ended.err.contains("2 of 16 sessions were set aside"),
            "{}",
            ended.err
        );
        let stopped = "not played: 6 sessions that follow them in a series";
        assert!(ended.err.contains(stopped), "{}", ended.err);
        let done = runs::records(Path::new(&out));
        assert_eq!(runs::parsed(&done).len(), 8);
        // The provider is back: the same command goes on where the series stopped.
        fs::write(&path, config(&models.base_url())).unwrap();
        let _ = run(&arguments).expect_code(0);
        let all = runs::records(Path::new(&out));
        assert_eq!(runs::parsed(&all).len(), 16);
        assert!(all.starts_with(&done), "what was done is kept");
        let _ = run(&["verify", &out]).expect_code(0);
    }
}

#[test]
fn a_coordinator_tells_which_series_stopped_and_where() {
    let redis = RedisServer::start();
    for store in [Some(redis.url()), None] {
        let folder = scratch();
        let models = ModelServer::start(&[]);
        let cluster = Cluster::start(folder.path(), store.as_deref(), &models, 2);
        // A model that takes no temperature, which is compared: its sessions can never be played.
        let grid = "[games.grid]\n\"players.other.model\" = [\"any\", \"lukewarm\"]\n\
                    \"players.other.temperature\" = [0.5]\n[games.params]";
        let text = LEARNING.replace("[games.params]", grid);
        let experiment = runs::write(folder.path(), &text);
        let (out, url) = (folder.path().join("out"), cluster.coordinator_url());
        let flags = ["--coordinator", url.as_str()];
        let ended = runs::run_into(&experiment, &out, &flags).expect_code(1);
        assert!(
            ended.err.contains("2 of 16 sessions were set aside"),
            "{}",
            ended.err
        );
        let ask = |what: &[&str]| run(&[&["experiments"], what, &flags].concat()).expect_code(0);
        let shown = ask(&["show", "learning"]).out;
        assert!(shown.contains("8 of 16 sessions done"), "{shown}");
        assert_eq!(shown.matches("dead ").count(), 2, "{shown}");
        let stopped = "not played: 6 sessions that follow them in a series";
        assert!(shown.contains(stopped), "{shown}");
        let listed = ask(&["list"]).out;
        let state = "2 set aside, 6 behind those in their series";
        assert!(listed.contains(state), "{listed}");
        // Tried again, they meet the same end, and nothing hangs.
        let retried = ask(&["retry", "learning"]).out;
        assert!(retried.contains("2 sessions queued again"), "{retried}");
        until("they are set aside again", || {
            let shown = ask(&["show", "learning"]).out;
            shown.contains(stopped) && shown.contains("0 running, 0 queued")
        });
        let _ = ask(&["cancel", "learning"]);
        let listed = ask(&["list"]).out;
        assert!(listed.contains("cancelled"), "{listed}");
    }
}

#[test]
fn a_series_is_planned_shown_and_tabulated() {
    let folder = scratch();
    let experiment = runs::write(folder.path(), LEARNING).display().to_string();
    let planned = run(&["plan", &experiment]).expect_code(0);
    assert!(
        planned.out.contains("1 setting, 8 sessions"),
        "{}",
        planned.out
    );
    assert!(
        planned.out.contains("2 series of 4 sessions"),
        "{}",
        planned.out
    );
    let records = runs::parsed(&runs::in_process(folder.path(), LEARNING, &[]));
    let out = folder.path().join("out").display().to_string();
    let second = records[1]["session"].as_str().unwrap();
    let shown = run(&["show", second, "--results", &out, "--plans"]).expect_code(0);
    let first = records[0]["session"].as_str().unwrap();
    assert!(shown.out.contains("place 1 of its series"), "{}", shown.out);
    let along = format!("Taken along from session {first}:");
    let (_, told) = shown.out.split_once(&along).expect(&shown.out);
    for note in left(&records[0]) {
        let tip = note["body"]["tips"][0].as_str().unwrap().trim();
        let start: String = tip.chars().take(20).collect();
        assert!(told.contains(start.trim()), "{tip} is not in: {told}");
    }
    let of_seat = run(&["show", second, "--results", &out, "--plans", "--seat", "2"]);
    let of_seat = of_seat.expect_code(0).out;
    let heading = of_seat.split("Told as").next().unwrap();
    assert!(
        heading.contains("player_2") && !heading.contains("player_1"),
        "{heading}"
    );
    let listed = run(&["show", "learning", "--results", &out]).expect_code(0);
    assert!(listed.out.contains("repeat, place"), "{}", listed.out);
    let measured = run(&["show", "learning", "--results", &out, "--measures"]).expect_code(0);
    let heading = "From place to place of a series";
    let (_, table) = measured.out.split_once(heading).expect(&measured.out);
    let rows = table.lines().filter(|line| line.contains("learner"));
    assert!(rows.count() >= 4, "{table}");
    let table = fs::read_to_string(folder.path().join("out/results.csv")).unwrap();
    let mut rows = table.lines();
    let headings: Vec<&str> = rows.next().unwrap().split(',').collect();
    let column = headings.iter().position(|name| *name == "place").unwrap();
    assert_eq!(headings[column - 1], "repeat");
    assert_eq!(rows.count(), 8);
}
