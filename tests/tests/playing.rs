//! `agon play` as a person types it: an auction with a typing error and a foul, leaving
//! and coming back, a stand-in when time is up, every game. Each test runs the built
//! `agon` as a process of its own, its standard input a pipe.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agon_tests::binary::{self, Ended, Role, run};
use agon_tests::redis::RedisServer;
use agon_tests::runs;
use serde_json::{Value, json};

/// Two items, the person between two rule bidders.
const AUCTION: &str = r#"
name = "evening"
seed = 5

[players.raiser]
kind = "rule"
strategy = "patient_raiser"
bids_per_item = 2

[players.careful]
kind = "rule"
strategy = "truthful"

[players.guest]
kind = "rule"
strategy = "truthful"
percent = 90

[[games]]
game = "english_auction"
seats = ["raiser", "guest", "careful"]

[games.params]
foul_allowance = 3
items = [
  { name = "Clock", starting_price = 1000, true_value = 1200 },
  { name = "Vase", starting_price = 500, true_value = 800 },
]
"#;

/// What is typed: a foul, a word that means nothing, a bid, leaving the rest.
const TYPED: [&str; 7] = ["10", "help", "lots", "1,100", "w", "w", "w"];

fn arguments<'a>(experiment: &'a str, data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed = [
        "play", experiment, "--seat", "1", "--data", data, "--name", "ann",
    ];
    [&fixed[..], more].concat()
}

/// Plays with everything typed at once.
fn play(arguments: &[&str], typed: &str) -> Ended {
    let mut child = binary::command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(typed.as_bytes()).unwrap();
    drop(pipe);
    Ended::from(child.wait_with_output().unwrap())
}

fn piped(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::piped()).stderr(Stdio::piped())
}

/// The records of the only run in a data folder, and the folder of the run.
fn only_run(data: &Path) -> (Vec<u8>, String) {
    let run = only_folder(data);
    (runs::records(&run), run.display().to_string())
}

fn only_folder(data: &Path) -> PathBuf {
    let runs: Vec<_> = fs::read_dir(data.join("runs")).unwrap().collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs.into_iter().next().unwrap().unwrap().path()
}

/// What became of each run of the only experiment of a data folder, the first one first.
fn outcomes(data: &Path) -> Vec<String> {
    let entries = fs::read_dir(only_folder(data).join("history")).unwrap();
    let mut accounts: Vec<_> = entries
        .map(|entry| entry.unwrap().path().join("run.json"))
        .filter(|account| account.exists())
        .collect();
    accounts.sort();
    let outcome = |account: PathBuf| {
        let account: Value = serde_json::from_str(&fs::read_to_string(account).unwrap()).unwrap();
        account["outcome"].as_str().unwrap().to_owned()
    };
    accounts.into_iter().map(outcome).collect()
}

#[test]
fn a_person_plays_an_auction_and_only_what_was_an_answer_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), AUCTION).display().to_string();
    let data = folder.path().join("data").display().to_string();
    let ended = play(&arguments(&experiment, &data, &[]), &TYPED.join("\n")).expect_code(0);
    for words in [
        "You are player_1",
        "That answer does not count: a bid of 10 is below the starting price of 1000",
        "not understood; type a whole number from 1000 to 20000, or withdraw",
        "history",
        "player_1 bid 1100",
        "Personal reports",
        "player_1 ann: budget left 20000 of 20000, profit 0, 0 items won",
        "The game is over.",
    ] {
        assert!(ended.out.contains(words), "{words} is not in {}", ended.out);
    }
    // Who sits elsewhere is nothing that the seat may know.
    for secret in ["patient_raiser", "careful", "equilibrium", "JSON", "\u{1b}"] {
        assert!(!ended.out.contains(secret), "{secret} is in {}", ended.out);
    }
    let (records, out) = only_run(&folder.path().join("data"));
    let record = &runs::parsed(&records)[0];
    let fouls = &record["outcome"]["fouls"][1];
    assert_eq!(fouls, &json!({ "out_of_range": 1 }));
    let said: Vec<&str> = list(&record["decisions"])
        .iter()
        .map(|decision| {
            assert_eq!(decision["answered_by"], "ann");
            decision["reply"].as_str().unwrap()
        })
        .collect();
    assert_eq!(said[..2], ["{\"bid\":10}", "{\"bid\":1100}"]);
    assert!(run(&["verify", &out]).expect_code(0).out.contains("1 of 1"));
    let id = record["session"].as_str().unwrap();
    let shown = run(&["show", &id[..8], "--data", &data, "--fouls"])
        .expect_code(0)
        .out;
    assert!(shown.contains("said: {\"bid\":10}"), "{shown}");
    assert!(!shown.contains("answered by"), "{shown}");

    // The same words again: the game is over, and is told again.
    let again = play(&arguments(&experiment, &data, &[]), "").expect_code(0);
    assert!(again.out.contains("This game is over"), "{}", again.out);
    assert!(again.out.contains("Personal reports"), "{}", again.out);
}

#[test]
fn who_leaves_comes_back_to_the_same_point_and_the_record_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), AUCTION).display().to_string();
    let whole = folder.path().join("whole").display().to_string();
    let _ = play(&arguments(&experiment, &whole, &[]), &TYPED.join("\n")).expect_code(0);

    let parts = folder.path().join("parts").display().to_string();
    let arguments = arguments(&experiment, &parts, &[]);
    // By Ctrl-C, between a foul and the answer that counts.
    let mut first = Role::launch_with(&arguments, piped);
    first.line_with("Type a whole number");
    first.say("10");
    first.line_with("That answer does not count");
    first.signal("-INT");
    let (code, err) = first.end();
    assert_eq!(code, Some(130), "{err}");
    assert!(
        err.contains("the same command goes on where you stopped"),
        "{err}"
    );
    // Killed outright, at the next question.
    let mut second = Role::launch_with(&arguments, piped);
    second.line_with("Welcome back");
    second.line_with("That answer does not count");
    second.say("1100");
    second.line_with("Bid round 1 for Clock");
    second.kill();
    // By `quit`, without an answer.
    let third = play(&arguments, "history\nquit\n").expect_code(0);
    assert!(third.out.contains("Welcome back"), "{}", third.out);
    assert!(third.out.contains("you: 1100"), "{}", third.out);
    assert!(
        third.out.contains("the same command goes on"),
        "{}",
        third.out
    );
    // Leaving is no end of the run, and its account says so.
    let left = ["interrupted", "unfinished", "interrupted"];
    assert_eq!(outcomes(Path::new(&parts)), left);
    // By the end of the input.
    let fourth = play(&arguments, "withdraw\n").expect_code(0);
    assert!(fourth.out.contains("Vase"), "{}", fourth.out);
    let last = play(&arguments, "w\nw\nw\n").expect_code(0);
    assert!(last.out.contains("The game is over."), "{}", last.out);

    let (expected, _) = only_run(Path::new(&whole));
    let (records, out) = only_run(Path::new(&parts));
    assert_eq!(records, expected);
    let _ = run(&["verify", &out]).expect_code(0);
}

/// The auction's record with the rule player at the middle seat.
fn ruled(folder: &Path, flags: &[&str]) -> Value {
    let (out, _) = runs::run_in(folder, AUCTION, flags);
    runs::parsed(&runs::records(&out)).remove(0)
}

/// The verified record of an auction in which nobody types anything: a truthful stand-in
/// answers after 50 ms, and it goes as it does with the rule player.
fn answered_for(arguments: &[&str], data: &str, ruled: &Value) -> Value {
    let mut silent = Role::launch_with(arguments, piped);
    silent.line_with("You have 50ms, then truthful answers for you.");
    silent.line_with("Time is up: truthful has answered for you.");
    silent.line_with("The game is over.");
    let (code, err) = silent.end();
    assert_eq!(code, Some(0), "{err}");
    let (records, out) = only_run(Path::new(data));
    let played = runs::parsed(&records).remove(0);
    for part in ["moves", "events", "outcome", "draws"] {
        assert_eq!(played[part], ruled[part], "{part}");
    }
    let _ = run(&["verify", &out]).expect_code(0);
    played
}

#[test]
fn a_stand_in_answers_when_time_is_up_and_plays_as_the_rule_player_would() {
    let folder = tempfile::tempdir().unwrap();
    let ruled = ruled(folder.path(), &["--set", "players.guest.percent=100"]);
    let experiment = runs::write(folder.path(), AUCTION);
    let experiment = experiment.display().to_string();
    let data = folder.path().join("played").display().to_string();
    let deadline = ["--deadline", "50ms", "--stand-in", "truthful"];
    let played = answered_for(&arguments(&experiment, &data, &deadline), &data, &ruled);
    for decision in list(&played["decisions"]) {
        assert_eq!(decision["answered_by"], "truthful for ann");
    }
    let id = played["session"].as_str().unwrap();
    let shown = run(&["show", id, "--data", &data]).expect_code(0).out;
    assert!(
        shown.contains("(answered by truthful for ann, time was up)"),
        "{shown}"
    );
}

/// The auction with a person at the middle seat, and a rule for how long that may take.
fn timed(deadline: &str) -> String {
    let rule = "[players.guest]\nkind = \"rule\"\nstrategy = \"truthful\"\npercent = 90\n";
    assert!(AUCTION.contains(rule));
    let person = format!(
        "[players.guest]\nkind = \"model\"\nmodel = \"human/ann\"\nagent = \"person\"\n\
         deadline = \"{deadline}\"\nstand_in = {{ strategy = \"truthful\", percent = 90 }}\n"
    );
    AUCTION.replace(rule, &person)
}

/// The notes that say that somebody stood in.
fn stood_in(record: &Value) -> Vec<&Value> {
    let notes = list(&record["notes"]).iter();
    let stood_in = notes.filter(|note| note["note"] == "stand_in");
    stood_in.map(|note| &note["body"]).collect()
}

#[test]
fn the_experiment_says_how_long_a_person_may_take_and_the_record_when_it_was_too_long() {
    let folder = tempfile::tempdir().unwrap();
    let ruled = ruled(folder.path(), &[]);
    let experiment = runs::write(folder.path(), &timed("50ms"))
        .display()
        .to_string();
    let data = folder.path().join("played").display().to_string();
    let played = answered_for(&arguments(&experiment, &data, &[]), &data, &ruled);
    assert_eq!(played["spec"]["seats"][1]["settings"]["deadline"], "50ms");
    let decisions = list(&played["decisions"]);
    for decision in decisions {
        assert_eq!(decision["answered_by"], "truthful for ann");
        assert_eq!(decision["finish_reason"], "deadline");
    }
    let body = json!({ "ask": "bid", "strategy": "truthful", "reason": "deadline",
        "deadline": "50ms" });
    assert_eq!(stood_in(&played), vec![&body; decisions.len()]);
}

#[test]
fn who_answers_in_time_is_not_answered_for() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), &timed("2s"))
        .display()
        .to_string();
    let data = folder.path().join("data").display().to_string();
    let mut role = Role::launch_with(&arguments(&experiment, &data, &[]), piped);
    role.say("1,100");
    role.line_with("Time is up: truthful");
    role.line_with("The game is over.");
    assert_eq!(role.end().0, Some(0));
    let (records, out) = only_run(Path::new(&data));
    let record = &runs::parsed(&records)[0];
    let decisions = list(&record["decisions"]);
    let told = |at: usize| {
        let decision = &decisions[at];
        let text = |name: &str| decision[name].as_str().unwrap().to_owned();
        (text("answered_by"), text("finish_reason"))
    };
    assert_eq!(told(0), ("ann".to_owned(), "stop".to_owned()));
    assert_eq!(decisions[0]["reply"], "{\"bid\":1100}");
    let late = ("truthful for ann".to_owned(), "deadline".to_owned());
    assert_eq!(told(1), late);
    assert_eq!(stood_in(record).len(), decisions.len() - 1);
    let _ = run(&["verify", &out]).expect_code(0);
}

#[test]
fn a_deadline_that_nobody_can_have_is_refused_before_anything_begins() {
    for deadline in ["0s", "40d"] {
        let refused = run(&[
            "play",
            "auction.toml",
            "--seat",
            "1",
            "--deadline",
            deadline,
        ]);
        let said = &refused.expect_code(2).err;
        assert!(said.contains("a time from 1ms to 30days"), "{said}");
    }
}

#[test]
fn the_command_line_may_change_the_experiments_deadline() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody types as fast as that.
    let experiment = runs::write(folder.path(), &timed("1ms"))
        .display()
        .to_string();
    let data = folder.path().join("none").display().to_string();
    let ended = play(
        &arguments(&experiment, &data, &["--deadline", "none"]),
        &TYPED.join("\n"),
    );
    let ended = ended.expect_code(0);
    assert!(!ended.out.contains("answers for you"), "{}", ended.out);
    let (records, _) = only_run(Path::new(&data));
    let record = &runs::parsed(&records)[0];
    let settings = &record["spec"]["seats"][1]["settings"];
    assert_eq!(settings.get("deadline"), None);
    assert_eq!(settings["stand_in"]["percent"], 90);
    for decision in list(&record["decisions"]) {
        assert_eq!(decision["answered_by"], "ann");
    }

    let data = folder.path().join("longer").display().to_string();
    let more = ["--deadline", "90s", "--stand-in", "equilibrium"];
    let ended = play(&arguments(&experiment, &data, &more), &TYPED.join("\n")).expect_code(0);
    let told = "You have 1m 30s, then equilibrium answers for you.";
    assert!(ended.out.contains(told), "{}", ended.out);
    let (records, _) = only_run(Path::new(&data));
    let record = &runs::parsed(&records)[0];
    let settings = &record["spec"]["seats"][1]["settings"];
    assert_eq!(settings["deadline"], "1m 30s");
    assert_eq!(settings["stand_in"], "equilibrium");
    assert!(stood_in(record).is_empty());
}

#[test]
fn a_run_in_which_nobody_comes_to_the_door_ends_by_its_stand_ins() {
    let redis = RedisServer::start();
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), &timed("20ms"));
    let mut seen: Option<Vec<u8>> = None;
    for (place, store) in [None, Some(redis.url())].into_iter().enumerate() {
        let (out, data) = (format!("out-{place}"), format!("data-{place}"));
        let (out, data) = (folder.path().join(out), folder.path().join(data));
        let data = data.display().to_string();
        let mut flags = vec!["--data", &*data];
        if let Some(url) = &store {
            flags.extend(["--redis", url]);
        }
        let ended = runs::run_into(&experiment, &out, &flags).expect_code(0);
        let warning = "nobody can answer for human/";
        assert!(ended.err.contains(warning), "{}", ended.err);
        assert!(!ended.err.contains("http://door"), "{}", ended.err);
        let records = runs::records(&out);
        let record = &runs::parsed(&records)[0];
        assert_eq!(stood_in(record).len(), list(&record["decisions"]).len());
        assert!(!stood_in(record).is_empty());
        // What a stand-in says depends on no clock and no store.
        assert!(seen.as_ref().is_none_or(|seen| *seen == records));
        seen = Some(records);
        // What a stand-in earned is nobody's.
        let summary = fs::read_to_string(out.join("summary.txt")).unwrap();
        assert!(
            summary.contains("100 % by stand-in, 1 of 1 left out"),
            "{summary}"
        );
        assert!(
            summary.contains("by stand-in: share of the answers"),
            "{summary}"
        );
    }
}

#[test]
fn who_plays_is_told_whom_the_game_waits_for_that_cannot_come() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), &timed("1h"))
        .display()
        .to_string();
    let data = folder.path().join("data").display().to_string();
    let line = [
        "play",
        &experiment,
        "--seat",
        "0",
        "--data",
        &data,
        "--name",
        "eve",
    ];
    let ended = play(&line, "quit\n").expect_code(0);
    let waits = "WARNING: this game waits for guest at seat 1, and only you can play in it.";
    assert!(ended.err.contains(waits), "{}", ended.err);
    let folder = only_folder(Path::new(&data));
    let name = folder.file_name().unwrap().to_str().unwrap();
    let shown = run(&["show", name, "--data", &data]).expect_code(2).err;
    let unfinished = format!("{name} has no finished session to show yet; `agon runs ");
    assert!(shown.contains(&unfinished), "{shown}");
    // Nor does a link to a door open anything at which nobody is asked.
    let invite = |door| {
        run(&["invite", name, door, "--data", &data])
            .expect_code(0)
            .err
    };
    assert_eq!(invite("ann"), "");
    let unknown = invite("bob");
    let doors = "has no player of a model human/bob; its doors are ann, eve";
    assert!(unknown.contains(doors), "{unknown}");
}

#[test]
fn a_deadline_that_cannot_be_kept_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    for (deadline, stand_in, words) in [
        ("soon", "\"truthful\"", "deadline must be a time"),
        ("2m", "\"brave\"", "expected one of: equilibrium"),
        ("2m", "7", "stand_in must be a strategy"),
    ] {
        let rule = "{ strategy = \"truthful\", percent = 90 }";
        let text = timed(deadline).replace(rule, stand_in);
        let experiment = runs::write(folder.path(), &text).display().to_string();
        let ended = run(&["check", &experiment]).expect_code(2);
        assert!(ended.err.contains(words), "{words} is not in {}", ended.err);
        assert!(ended.err.contains("experiment.toml:1") || ended.err.contains("experiment.toml:2"));
    }
    let alone = timed("2m").replace("stand_in = ", "# ");
    let experiment = runs::write(folder.path(), &alone).display().to_string();
    let ended = run(&["check", &experiment]).expect_code(2);
    assert!(
        ended.err.contains("deadline needs a stand_in"),
        "{}",
        ended.err
    );
}

#[test]
fn every_game_is_played_to_its_end_at_a_persons_seat() {
    let games = [
        "guess_two_thirds",
        "divide_dollar",
        "public_goods",
        "diners_dilemma",
        "el_farol",
        "sealed_bid_auction",
        "battle_royale",
        "pirate",
    ];
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    for game in games {
        let more = ["--game", game, "--deadline", "1ms"];
        let arguments = arguments("gamma-bench/quick-start", &data, &more);
        let mut silent = Role::launch_with(&arguments, piped);
        silent.line_with("The game is over.");
        let (code, err) = silent.end();
        assert_eq!(code, Some(0), "{game}: {err}");
    }
    let listed = run(&["show", "--data", &data, "--json"]).expect_code(0).out;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(list(&listed).len(), games.len());
}

#[test]
fn answers_of_every_form_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    // A pirate's plan and votes, a shot, a choice: what is typed first, and what it is
    // in the record.
    let typed = [
        ("pirate", "a\n100 0 0 0 0 0 0 0 0\n", json!("accept")),
        ("el_farol", "perhaps\nSTAY\n", json!("stay")),
        ("battle_royale", "3\n", json!(3)),
        ("guess_two_thirds", "33\n", json!(33)),
    ];
    for (game, lines, first) in typed {
        let more = ["--game", game, "--deadline", "200ms"];
        let arguments = arguments("gamma-bench/quick-start", &data, &more);
        let mut role = Role::launch_with(&arguments, piped);
        lines.lines().for_each(|line| role.say(line));
        let over = role.line_with("The game is over.");
        let (code, err) = role.end();
        assert_eq!(code, Some(0), "{game}: {err}");
        let id = over.split('`').nth(1).unwrap().split(' ').nth(2).unwrap();
        let record = run(&["show", id, "--data", &data, "--json"])
            .expect_code(0)
            .out;
        let record: Value = serde_json::from_str(&record).unwrap();
        let mine = list(&record["moves"]).iter().find(|made| made["seat"] == 1);
        assert_eq!(mine.unwrap()["action"], first, "{game}");
    }
}

#[test]
fn what_cannot_be_played_is_refused_with_what_can() {
    let refused = |arguments: &[&str], words: &str| {
        let ended = run(&[&["play"], arguments].concat()).expect_code(2);
        assert!(ended.err.contains(words), "{words} is not in {}", ended.err);
    };
    let preset = "gamma-bench/quick-start";
    refused(&[preset, "--seat", "10"], "seats 0 to 9");
    refused(
        &[preset, "--seat", "1", "--game", "chess"],
        "it plays battle_royale",
    );
    refused(
        &[preset, "--seat", "1", "--setting", "99"],
        "settings 1 to 8",
    );
    refused(
        &[preset, "--seat", "1", "--stand-in", "brave"],
        "expected one of: equilibrium",
    );
    refused(
        &[preset, "--seat", "1", "--stand-in", "random"],
        "no effect without a deadline",
    );
    refused(
        &[preset, "--seat", "1", "--name", "two words"],
        "starts with a letter",
    );
    refused(
        &[preset, "--seat", "1", "--name", "subject"],
        "choose another --name",
    );
    refused(&[preset, "--seat", "1", "--deadline", "soon"], "--deadline");
    refused(&["no-such-file", "--seat", "1"], "no experiment file");
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn a_person_in_a_seat_of_a_world_is_told_whom_it_is_to_be_as_a_model_there_is() {
    let world = Path::new(env!("CARGO_MANIFEST_DIR")).join("../experiments/worlds/houses.toml");
    let world: toml::Value = toml::from_str(&fs::read_to_string(world).unwrap()).unwrap();
    let text_of = |name: &str| -> String {
        let personas = world["personas"].as_array().unwrap();
        let persona = personas
            .iter()
            .find(|one| one["name"].as_str() == Some(name));
        persona.unwrap()["text"].as_str().unwrap().to_owned()
    };
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let ended = play(&arguments("harbor/persona-profit", &data, &[]), "quit\n").expect_code(0);
    let name = "first_time_buyer";
    for words in [
        &*format!("This is who you are ({name}): {}", text_of(name)),
        "Stay true to who you are: such a buyer prefers some houses to others",
        "You are player_1",
    ] {
        assert!(ended.out.contains(words), "{words} is not in {}", ended.out);
    }
    // A model there profiles nobody, and is told of nobody else.
    for secret in ["downsizing_couple", "kinds of buyer", "your rivals"] {
        assert!(!ended.out.contains(secret), "{secret} is in {}", ended.out);
    }

    // Two kinds at once, by --set as in a file.
    let mixed = "games[0].world.personas=[[], [\"urban_dweller\", \"farming_family\"], []]";
    let data = folder.path().join("mixed").display().to_string();
    let more = ["--set", mixed];
    let ended = play(&arguments("harbor/persona-profit", &data, &more), "quit\n").expect_code(0);
    for words in [
        "You are two kinds of buyer in one person, both in equal measure.",
        &*format!("The first (urban_dweller): {}", text_of("urban_dweller")),
        &*format!("The second (farming_family): {}", text_of("farming_family")),
    ] {
        assert!(ended.out.contains(words), "{words} is not in {}", ended.out);
    }
}

#[test]
fn a_person_is_told_the_persona_and_the_others_of_the_seat_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str, experiment: &str, more: &[&str]| {
        let data = folder.path().join(name).display().to_string();
        let ended = play(&arguments(experiment, &data, more), "quit\n").expect_code(0);
        ended.out
    };
    let bob = told("water", "alympics/personas", &[]);
    assert!(bob.contains("You teach at a high school."), "{bob}");
    assert!(!bob.contains("psychologist"), "{bob}");
    let plain = told("plain", "alympics/resources", &[]);
    assert!(!plain.contains("high school"), "{plain}");
    let seats = "seats=[\"rational\", \"subject\"]";
    let rational = told("others", "econarena/rational", &["--set", seats]);
    assert!(rational.contains("perfectly rational"), "{rational}");
}

#[test]
fn a_game_that_was_left_holds_no_other_up_and_is_played_on_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    // One answer, then away; who is away would be answered for after a second.
    let terms = ["--deadline", "1s", "--stand-in", "share"];
    let left = || arguments("alympics/human", &data, &terms);
    let ended = play(&left(), "35\nquit\n").expect_code(0);
    assert!(ended.out.contains("day 2 of 20"), "{}", ended.out);
    // Another game in the same folder, and a run, while the first waits.
    let other = play(
        &arguments("gamma-bench/quick-start", &data, &["--game", "pirate"]),
        "quit\n",
    );
    let other = other.expect_code(0);
    assert!(other.out.contains("pirate"), "{}", other.out);
    let run = [
        "run",
        "k-level/programmatic",
        "--repeats",
        "2",
        "--quiet",
        "--data",
        &data,
    ];
    let _ = binary::run(&run).expect_code(0);
    let back = play(&left(), "quit\n").expect_code(0);
    assert!(back.out.contains("Welcome back"), "{}", back.out);
    assert!(back.out.contains("day 2 of 20"), "{}", back.out);
    assert!(!back.out.contains("Day 3 of 20"), "{}", back.out);
}

/// Two programs at one door, and a model server that must not be asked what they are.
const PROGRAMS: &str = r#"
name = "programs"
repeats = 2

[players.bot]
kind = "model"
model = "human/bot"
agent = "person"

[[games]]
game = "guess_two_thirds"
params.rounds = 2
seats = [{ player = "bot", count = 2 }]
"#;

#[tokio::test]
async fn programs_answer_at_the_doors_of_a_single_run_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), PROGRAMS).display().to_string();
    let out = folder.path().join("out").display().to_string();
    let data = folder.path().join("data").display().to_string();
    let nobody = "http://127.0.0.1:9/v1";
    let arguments = [
        "run",
        &experiment,
        "--http-listen",
        "--base-url",
        nobody,
        "--out",
        &out,
        "--data",
        &data,
    ];
    let mut child = binary::command(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    let address = loop {
        line.clear();
        assert_ne!(
            std::io::BufRead::read_line(&mut said, &mut line).unwrap(),
            0
        );
        if let Some((_, address)) = line.trim().split_once("run http listening on ") {
            break address.to_owned();
        }
    };
    agon_service_kit::server::install_crypto();
    let client = reqwest::Client::new();
    let door = format!("http://{address}/v1/doors/bot");
    let mut answered = 0;
    // Two seats, two rounds, two sessions.
    while answered < 8 {
        let listed = client.get(format!("{door}/asks")).send().await.unwrap();
        let listed: Value = listed.json().await.unwrap();
        for ask in listed["asks"].as_array().unwrap() {
            let answer = json!({
                "address": ask["address"], "request_digest": ask["request_digest"],
                "reply": "{\"guess\": 20}",
            });
            let sent = client.post(format!("{door}/answers")).json(&answer).send();
            answered += usize::from(sent.await.unwrap().status().is_success());
        }
    }
    assert!(child.wait().unwrap().success());
    let records = runs::parsed(&runs::records(Path::new(&out)));
    let replies = records
        .iter()
        .flat_map(|record| record["decisions"].as_array().unwrap());
    let replies: Vec<_> = replies.map(|decision| &decision["reply"]).collect();
    assert_eq!(replies, [&json!("{\"guess\": 20}"); 8]);
}
