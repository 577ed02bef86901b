//! Games whose rules run in another process, here one that remembers nothing and is written on
//! the wire: a cluster plays them, workers that do not know the process are given none, and what a
//! process may not say is told with its reason.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use agon_tests::binary::{Ended, command, run};
use agon_tests::cluster::{Cluster, Flags};
use agon_tests::runs;
use agon_tests::scripted_server::{Said, ScriptedServer};
use agon_tests::waiting::until;
use serde_json::{Value, json};
use tempfile::tempdir;

const EXPERIMENT: &str = r#"
name = "matching"
seed = 3
repeats = 12

[players.model]
kind = "model"
model = "any"

[players.other]
kind = "rule"
strategy = "random"

[[games]]
game = "matching"
seats = ["model", "other"]
params = { rounds = 4 }
"#;

fn description() -> Value {
    json!({
        "agon_game": 1, "name": "matching", "title": "Matching Pennies", "rules_version": 2,
        "summary": "show the same side, or not", "seats": [2, 2], "timing": "simultaneous",
        "parameters": { "rounds": { "type": "integer", "min": 1, "max": 9, "default": 3 } },
        "asks_per_seat": { "times": 1, "parameter": "rounds" },
        "templates": {
            "system.j2": "Two players show sides of pennies, {{ game.rounds }} times.",
            "ask.j2": "Round {{ round }}.\n{% include \"shared/answer.j2\" %}",
            "result.j2": "They showed {{ event.sides|and_list }}.",
        },
    })
}

/// What the answers of all turns lead to.
fn reply(step: &Value) -> Value {
    if step["rules_version"] != 2 {
        return json!({ "other_rules": true });
    }
    let Some(start) = step.get("start") else {
        return json!({ "unknown": true });
    };
    let rounds = start["params"]["rounds"].as_u64().unwrap();
    let turns: Vec<&Vec<Value>> = step["answers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| turn.as_array().unwrap())
        .collect();
    let won = turns.iter().filter(|turn| turn[0] == turn[1]).count() as f64;
    let lost = turns.len() as f64 - won;
    let event = match turns.last() {
        None => {
            json!({ "event": "briefing", "round": 0, "facts": { "players": 2, "rounds": rounds } })
        }
        Some(sides) => json!({
            "event": "round_result", "round": turns.len(), "facts": { "sides": sides },
        }),
    };
    let mut said = json!({ "events": [event], "payoffs": [won - lost, lost - won] });
    if (turns.len() as u64) < rounds {
        said["asks"] = json!([{
            "seats": [0, 1], "kind": "side", "role": "choice", "foul_allowance": 2,
            "form": { "form": "choice", "options": ["heads", "tails"] },
        }]);
    }
    json!({ "reply": said })
}

fn answer(body: &[u8]) -> Value {
    if body.is_empty() {
        return description();
    }
    let request: Value = serde_json::from_slice(body).unwrap();
    let steps = request["steps"].as_array().unwrap();
    json!({ "replies": steps.iter().map(reply).collect::<Vec<_>>() })
}

fn said(status: u16, body: &Value) -> Said {
    Said {
        status,
        body: body.to_string().into_bytes(),
    }
}

/// The process; the value of `--game-at`, and how many steps it was asked for.
fn process() -> (String, Arc<AtomicU64>) {
    process_of(description())
}

/// The same with this description.
fn process_of(description: Value) -> (String, Arc<AtomicU64>) {
    let steps = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&steps);
    let server = ScriptedServer::start(move |_, body| {
        counted.fetch_add(u64::from(!body.is_empty()), Ordering::Relaxed);
        match body.is_empty() {
            true => said(200, &description),
            false => said(200, &answer(body)),
        }
    });
    (format!("matching={}", server.base_url()), steps)
}

#[test]
fn a_game_without_templates_is_told_in_common_words() {
    let mut described = description();
    described.as_object_mut().unwrap().remove("templates");
    let (at, _) = process_of(described);
    let folder = tempdir().unwrap();
    let text = EXPERIMENT
        .replace("\"any\"", "\"sim\"")
        .replace("repeats = 12", "repeats = 1");
    let (out, ended) = runs::run_in(folder.path(), &text, &["--game-at", &at]);
    let _ = ended.expect_code(0);
    let records = out.join("records.jsonl").display().to_string();
    let session = runs::parsed(&runs::records(&out))[0]["session"].clone();
    let session = session.as_str().unwrap();
    let shown = run(&["show", session, "--results", &records, "--prompts"]).expect_code(0);
    let told = [
        "--- system\n  You are player_0, one of 2 players.\n  What you know at the beginning:\n  - \
         rounds: 4\n",
        "  Round 1. It is your turn to say your side.\n  Reply with nothing but a JSON object \
         {\"side\": WORD}, where WORD is \"heads\" or \"tails\".\n",
        "  Round 1 is over.\n  - sides: ",
        "  Round 2. It is your turn to say your side.\n",
    ];
    for words in told {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
}

#[test]
fn a_cluster_plays_a_game_that_is_elsewhere_and_only_workers_that_know_where() {
    let (at, steps) = process();
    let folder = tempdir().unwrap();
    let models = runs::model_server("2ms");
    let reference = runs::in_process(tempdir().unwrap().path(), EXPERIMENT, &["--game-at", &at]);
    let asked = steps.load(Ordering::Relaxed);
    assert!(asked > 0);

    let flags = Flags {
        coordinator: &["--lease-ttl", "2s"],
        ..Flags::default()
    };
    let mut cluster = Cluster::start_with(folder.path(), None, &models, 1, flags);
    let experiment = runs::write(folder.path(), EXPERIMENT);
    let (out, address) = (folder.path().join("out"), cluster.coordinator_url());
    let submit = ["--coordinator", address.as_str(), "--game-at", at.as_str()];
    let records = thread::scope(|scope| {
        let watching = scope.spawn(|| runs::run_into(&experiment, &out, &submit));
        let listed = ["experiments", "list", "--coordinator", address.as_str()];
        until("it is handed in", || run(&listed).out.contains("matching"));
        assert_eq!(
            steps.load(Ordering::Relaxed),
            asked + 1,
            "the start, by whoever handed it in"
        );
        cluster.add_worker_with(&["--game-at", &at]);
        until("some was played", || {
            steps.load(Ordering::Relaxed) > asked + 20
        });
        cluster.workers[1].kill();
        cluster.add_worker_with(&["--game-at", &at]);
        let _ = watching.join().unwrap().expect_code(0);
        runs::records(&out)
    });
    assert!(reference == records);

    let played = runs::parsed(&records);
    assert_eq!(played.len(), 12);
    let prompts = played[0]["spec"]["prompt_bundle"].as_str();
    assert!(
        prompts.is_some(),
        "the game's templates are part of the session"
    );
    let lines = out.join("records.jsonl").display().to_string();
    let before = steps.load(Ordering::Relaxed);
    let verified = run(&["verify", &lines]).expect_code(0);
    assert!(
        verified.out.contains("12 of 12 records verified"),
        "{}",
        verified.out
    );
    assert!(
        verified
            .out
            .contains("12 records of games in other processes")
    );
    assert_eq!(
        steps.load(Ordering::Relaxed),
        before,
        "from the records alone"
    );
    let verified = run(&["verify", &lines, "--game-at", &at]).expect_code(0);
    assert!(
        verified.out.contains("12 of 12 records verified"),
        "{}",
        verified.out
    );
    assert!(steps.load(Ordering::Relaxed) > before, "from the process");
}

/// Runs the experiment with rule players alone against a process that answers so.
fn run_against(script: impl Fn(u64, &[u8]) -> Said + Send + Sync + 'static) -> Ended {
    let server = ScriptedServer::start(script);
    let folder = tempdir().unwrap();
    let text = EXPERIMENT
        .replace(
            "kind = \"model\"\nmodel = \"any\"",
            "kind = \"rule\"\nstrategy = \"random\"",
        )
        .replace("repeats = 12", "repeats = 2");
    let experiment = folder.path().join("matching.toml");
    fs::write(&experiment, text).unwrap();
    let data = folder.path().join("data").display().to_string();
    let at = format!("matching={}", server.base_url());
    let path = experiment.display().to_string();
    run(&["run", &path, "--data", &data, "--quiet", "--game-at", &at])
}

#[test]
fn a_process_that_is_away_for_a_moment_is_asked_again() {
    let failed = AtomicU64::new(0);
    let ended = run_against(move |_, body| {
        // Every other message of the first ones meets an error that may pass.
        if !body.is_empty() && failed.fetch_add(1, Ordering::Relaxed) < 6 {
            return said(503, &json!("starting"));
        }
        said(200, &answer(body))
    });
    let _ = ended.expect_code(0);
}

#[test]
fn what_a_process_may_not_say_is_told_with_its_reason() {
    // What is said of the start is said before anything is played.
    let early: [(Said, &str); 5] = [
        (said(200, &json!({ "replies": [] })), "one to 0 of 1 steps"),
        (
            said(200, &json!({ "replies": [{}] })),
            "the answer of the game has no reply",
        ),
        (
            said(200, &json!({ "replies": [{ "error": "no cards left" }] })),
            "no cards left",
        ),
        (
            said(404, &json!("nothing here")),
            "404 Not Found: \"nothing here\"",
        ),
        (said(302, &json!("elsewhere")), "302 Found"),
    ];
    for (wrong, why) in early {
        let wrong = Mutex::new(wrong);
        let ended = run_against(move |_, body| match body.is_empty() {
            true => said(200, &description()),
            false => {
                let wrong = wrong.lock().unwrap();
                Said {
                    status: wrong.status,
                    body: wrong.body.clone(),
                }
            }
        })
        .expect_code(2);
        assert!(ended.err.contains(why), "{why}: {}", ended.err);
    }
    let descriptions = [
        (
            json!({ "agon_game": 1 }),
            "what it describes is no game: missing field",
        ),
        (json!([]), "what it describes is no game"),
    ];
    for (wrong, why) in descriptions {
        let ended = run_against(move |_, _| said(200, &wrong)).expect_code(2);
        assert!(ended.err.contains(why), "{why}: {}", ended.err);
    }
    let other = run_against(|_, body| {
        let mut other = description();
        other["name"] = json!("other");
        match body.is_empty() {
            true => said(200, &other),
            false => said(200, &answer(body)),
        }
    })
    .expect_code(2);
    assert!(other.err.contains("it plays \"other\""), "{}", other.err);
    // Later, the session ends with what is wrong, and the others go on, whatever it is.
    let later = [
        (
            json!([1]),
            "payoffs are 1 numbers; there must be one finite number",
        ),
        (json!("none"), "is no reply: invalid type"),
    ];
    for (payoffs, why) in later {
        let once = AtomicBool::new(false);
        let ended = run_against(move |_, body| {
            let mut all = answer(body);
            if let Some(replies) = all.get_mut("replies").and_then(Value::as_array_mut) {
                for reply in replies {
                    let ends = reply["reply"]["asks"].is_null() && !reply["reply"].is_null();
                    if ends && !once.swap(true, Ordering::Relaxed) {
                        reply["reply"]["payoffs"] = payoffs.clone();
                    }
                }
            }
            said(200, &all)
        })
        .expect_code(1);
        assert!(ended.err.contains(why), "{}", ended.err);
        assert!(ended.err.contains("1 of 2 sessions"), "{}", ended.err);
    }
}

#[test]
fn a_process_of_other_rules_than_the_session_plays_nothing() {
    let changed = AtomicBool::new(false);
    let ended = run_against(move |_, body| {
        let text = String::from_utf8_lossy(body).into_owned();
        // After the first rulings it has other rules, as one that was replaced has.
        let turns = text.contains("\"turn\":2");
        if turns || changed.load(Ordering::Relaxed) {
            changed.store(true, Ordering::Relaxed);
            let request: Value = serde_json::from_slice(body).unwrap();
            let steps = request["steps"].as_array().unwrap();
            let other = vec![json!({ "other_rules": true }); steps.len()];
            return said(200, &json!({ "replies": other }));
        }
        said(200, &answer(body))
    });
    let ended = ended.expect_code(1);
    assert!(ended.err.contains("rules 2 of matching"), "{}", ended.err);
}

#[test]
fn a_person_sits_down_at_a_game_that_is_elsewhere() {
    let (at, _) = process();
    let folder = tempdir().unwrap();
    let text = EXPERIMENT.replace(
        "kind = \"model\"\nmodel = \"any\"",
        "kind = \"rule\"\nstrategy = \"random\"",
    );
    let experiment = runs::write(folder.path(), &text).display().to_string();
    let data = folder.path().join("data").display().to_string();
    let seat = [
        "play",
        &experiment,
        "--seat",
        "0",
        "--data",
        &data,
        "--game-at",
        &at,
    ];
    let mut child = command(&seat)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let typed = "heads\nedge\ntails\nheads\ntails\n";
    child
        .stdin
        .take()
        .unwrap()
        .write_all(typed.as_bytes())
        .unwrap();
    let ended = Ended::from(child.wait_with_output().unwrap()).expect_code(0);
    for told in [
        "Two players show sides of pennies, 4 times.",
        "They showed",
        "Round 4.",
    ] {
        assert!(ended.out.contains(told), "{told}: {}", ended.out);
    }
}

#[test]
fn a_game_that_nobody_serves_is_named_with_what_to_do() {
    let folder = tempdir().unwrap();
    let experiment = runs::write(folder.path(), EXPERIMENT).display().to_string();
    let ended = run(&["check", &experiment]).expect_code(2);
    assert!(
        ended.err.contains("--game-at matching=URL"),
        "{}",
        ended.err
    );
    for (at, why, code) in [
        ("matching", "write NAME=URL", 2),
        (
            "matching=ftp://127.0.0.1",
            "begins with http:// or https://",
            2,
        ),
        ("matching=foo", "begins with http:// or https://", 2),
        ("matching=http://127.0.0.1:1", "start it and try again", 3),
    ] {
        let ended = run(&["check", &experiment, "--game-at", at]).expect_code(code);
        assert!(ended.err.contains(why), "{at}: {}", ended.err);
    }
    let ended = run(&["conformance", "foo"]).expect_code(2);
    assert!(ended.err.contains("begins with http://"), "{}", ended.err);
}

#[test]
fn the_kit_is_passed_by_a_process_that_remembers_nothing() {
    let (at, _) = process();
    let address = at.strip_prefix("matching=").unwrap();
    let ended = run(&["conformance", address]).expect_code(0);
    assert!(ended.out.contains("matching conforms"), "{}", ended.out);
}
