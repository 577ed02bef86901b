//! `agon run --records`: players of finished sessions are judged by an experiment of the
//! game `judging`. Runs the built `agon` as a process of its own.

use std::path::Path;

use agon_tests::binary::{Ended, run};
use agon_tests::runs;
use serde_json::Value;

/// Two model players and a rule player; one of the models was told who it is.
const PLAYED: &str = r#"
name = "played"
repeats = 2

[players.secret-model-name]
kind = "model"
model = "sim"
reply = "text"
persona = { text = "You keep bees." }

[players.plain]
kind = "model"
model = "sim"

[players.neighbour]
kind = "rule"
strategy = "share"

[[games]]
game = "water_allocation"
params = { rounds = 3 }
seats = ["secret-model-name", "neighbour", "plain"]
"#;

const JUDGES: &str = r#"
name = "judges"

[players.subject]
kind = "model"
model = "sim"

[[games]]
game = "judging"
seats = [{ player = "subject", count = 3 }]
"#;

/// Three judges who need no model.
const PANEL: &str = r#"
name = "panel"

[players.ann]
kind = "rule"
strategy = "random"

[players.ben]
kind = "rule"
strategy = "random"

[players.eve]
kind = "rule"
strategy = "random"

[[games]]
game = "judging"
seats = ["ann", { player = "ben" }, "eve"]
"#;

struct Judged {
    folder: tempfile::TempDir,
    played: std::path::PathBuf,
}

fn played() -> Judged {
    let folder = tempfile::tempdir().unwrap();
    let (played, ended) = runs::run_in(folder.path(), PLAYED, &[]);
    let _ = ended.expect_code(0);
    Judged { folder, played }
}

impl Judged {
    fn judge(&self, name: &str, records: &Path, flags: &[&str]) -> (Vec<Value>, Ended) {
        self.judge_with(JUDGES, name, records, flags)
    }

    fn judge_with(
        &self,
        experiment: &str,
        name: &str,
        records: &Path,
        flags: &[&str],
    ) -> (Vec<Value>, Ended) {
        let folder = self.folder.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let experiment = runs::write(&folder, experiment);
        let (out, data) = (folder.join("out"), folder.join("data"));
        let (records, data) = (records.display().to_string(), data.display().to_string());
        let mut all = vec!["--records", &records, "--data", &data];
        all.extend(flags);
        let ended = runs::run_into(&experiment, &out, &all);
        let records = if out.join("records.jsonl").exists() {
            runs::parsed(&runs::records(&out))
        } else {
            Vec::new()
        };
        (records, ended)
    }
}

fn judged(record: &Value) -> String {
    record["spec"]["setting"]["label"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn every_model_player_of_every_session_is_judged_by_what_it_saw_and_said() {
    let sessions = played();
    let (records, ended) = sessions.judge("all", &sessions.played, &[]);
    let _ = ended.expect_code(0);
    // Alex and Cindy of two sessions; Bob is played by a rule.
    assert_eq!(records.len(), 4);
    for record in &records {
        let params = &record["spec"]["params"];
        let (told, name) = (
            params["record"].as_str().unwrap(),
            params["judged"].as_str().unwrap(),
        );
        assert!(["Alex", "Cindy"].contains(&name), "{name}");
        assert!(told.contains(&format!("{name}: bid ")), "{told}");
        assert!(told.contains("said: "), "{told}");
        // Judges know the rules that the player knew.
        assert!(told.contains("Your goal is to be alive"), "{told}");
        assert!(
            !told.contains("Bob: bid"),
            "Bob's answers are told by the game alone: {told}"
        );
        // Judges are not told who plays, but who a player was told to be.
        assert!(
            !told.contains("secret-model-name") && !told.contains("sim"),
            "{told}"
        );
        assert_eq!(told.contains("You keep bees."), name == "Alex");
        assert_eq!(params["has_persona"], Value::Bool(name == "Alex"));
        let asked = record["moves"].as_array().unwrap().len();
        assert_eq!(asked, if name == "Alex" { 18 } else { 15 });
    }
    let out = sessions.folder.path().join("all/out").display().to_string();
    let verified = run(&["verify", &out]).expect_code(0);
    assert!(
        verified.out.contains("4 of 4 records verified"),
        "{}",
        verified.out
    );
}

#[test]
fn a_label_of_the_file_stands_before_those_of_the_judged() {
    let sessions = played();
    let label = ["--set", "games[0].label=persons", "--judged", "1"];
    let (records, ended) = sessions.judge("own", &sessions.played, &label);
    let ended = ended.expect_code(0);
    assert!(judged(&records[0]).starts_with("persons-"), "{records:?}");
    assert!(ended.out.contains("persons"), "{}", ended.out);
}

#[test]
fn fewer_are_drawn_in_a_way_that_does_not_change() {
    let sessions = played();
    let draw = |name: &str, number: &str| {
        let (records, ended) = sessions.judge(name, &sessions.played, &["--judged", number]);
        let _ = ended.expect_code(0);
        records.iter().map(judged).collect::<Vec<String>>()
    };
    let (two, three, again) = (draw("two", "2"), draw("three", "3"), draw("again", "2"));
    assert_eq!((two.len(), three.len()), (2, 3));
    assert_eq!(two, again);
    assert!(
        two.iter().all(|one| three.contains(one)),
        "{two:?} {three:?}"
    );
}

fn judges(record: &Value) -> Vec<&str> {
    let seats = record["spec"]["seats"].as_array().unwrap();
    let names = seats.iter().map(|seat| seat["name"].as_str().unwrap());
    names.collect()
}

#[test]
fn judges_are_told_how_many_they_are_and_no_name_that_the_judged_player_may_have() {
    let sessions = played();
    let all = ["--judged", "1"];
    let alone = ["--judged", "1", "--judges", "1"];
    for (name, flags, told) in [
        (
            "all",
            &all[..],
            "You are one of 3 judges who rate how a player did",
        ),
        (
            "alone",
            &alone,
            "You are the judge who rates how a player did",
        ),
    ] {
        let (records, ended) = sessions.judge(name, &sessions.played, flags);
        let _ = ended.expect_code(0);
        let session = records[0]["session"].as_str().unwrap();
        let out = sessions.folder.path().join(name).join("out");
        let out = out.display().to_string();
        let shown = run(&[
            "show",
            session,
            "--results",
            &out,
            "--prompts",
            "--decision",
            "0/0",
        ]);
        let shown = shown.expect_code(0).out;
        assert!(shown.contains(told), "{shown}");
        // A judge who is called as the player is would judge itself.
        let (said, _) = shown.split_once("The record of the game follows").unwrap();
        assert!(
            !said.contains("You are Alex") && !said.contains("player_0"),
            "{said}"
        );
    }
}

#[test]
fn judges_take_turns_so_that_each_has_equally_many_records() {
    let sessions = played();
    let two = ["--judges", "2"];
    let (records, ended) = sessions.judge_with(PANEL, "turns", &sessions.played, &two);
    let _ = ended.expect_code(0);
    assert_eq!(records.len(), 4);
    let mut counts = [("ann", 0), ("ben", 0), ("eve", 0)];
    for record in &records {
        assert_eq!(judges(record).len(), 2, "{record}");
        for (name, count) in &mut counts {
            *count += judges(record).iter().filter(|judge| judge == &name).count();
        }
        // Everybody who is seated was asked, and nobody else.
        let asked = record["moves"].as_array().unwrap().len();
        let criteria = if record["spec"]["params"]["has_persona"] == true {
            6
        } else {
            5
        };
        assert_eq!(asked, 2 * criteria);
    }
    let mut counts = counts.map(|(_, count)| count);
    counts.sort_unstable();
    assert_eq!(counts, [2, 3, 3]);
    let four = ["--judges", "4"];
    let (_, ended) = sessions.judge_with(PANEL, "four", &sessions.played, &four);
    let ended = ended.expect_code(2);
    assert!(
        ended.err.contains("there are only 3 judges"),
        "{}",
        ended.err
    );
}

/// A person for whom a stand-in answers, since nobody comes.
fn absent(name: &str) -> String {
    format!(
        "[players.{name}]\nkind = \"model\"\nmodel = \"human/{name}\"\nagent = \"person\"\n\
         deadline = \"1ms\"\nstand_in = \"random\"\n"
    )
}

#[test]
fn what_stand_ins_did_is_judged_as_nobodys_own_play() {
    let people = format!(
        "name = \"people\"\n{}{}[[games]]\ngame = \"guess_two_thirds\"\n\
         params = {{ rounds = 2 }}\nseats = [\"ann\", \"ben\"]\n",
        absent("ann"),
        absent("ben"),
    );
    let folder = tempfile::tempdir().unwrap();
    let (played, ended) = runs::run_in(folder.path(), &people, &[]);
    let _ = ended.expect_code(0);
    let sessions = Judged { folder, played };
    for flags in [&["--own"][..], &[]] {
        let (_, ended) = sessions.judge("absent", &sessions.played, flags);
        let ended = ended.expect_code(2);
        assert!(ended.err.contains("a stand-in's"), "{}", ended.err);
    }
}

#[test]
fn whoever_played_is_no_judge_of_that_session() {
    let played = format!(
        "name = \"mixed\"\n{}[players.m]\nkind = \"model\"\nmodel = \"sim\"\n[[games]]\n\
         game = \"guess_two_thirds\"\nparams = {{ rounds = 2 }}\nseats = [\"ann\", \"m\"]\n",
        absent("ann"),
    );
    let folder = tempfile::tempdir().unwrap();
    let (played, ended) = runs::run_in(folder.path(), &played, &[]);
    let _ = ended.expect_code(0);
    let sessions = Judged { folder, played };
    let panel = PANEL.replace(
        "[players.ann]\nkind = \"rule\"\nstrategy = \"random\"\n",
        &absent("ann"),
    );
    let (records, ended) = sessions.judge_with(&panel, "mixed", &sessions.played, &[]);
    let ended = ended.expect_code(0);
    // Of Alex a stand-in made all guesses.
    assert!(ended.err.contains("left out: 1 player"), "{}", ended.err);
    assert_eq!(records.len(), 1);
    assert_eq!(judges(&records[0]), ["ben", "eve"]);
}

#[test]
fn judgements_and_what_is_not_there_are_told_apart() {
    let sessions = played();
    let (_, ended) = sessions.judge_with(PANEL, "first", &sessions.played, &[]);
    let _ = ended.expect_code(0);
    let judgements = sessions.folder.path().join("first/out");
    let (_, ended) = sessions.judge_with(PANEL, "second", &judgements, &[]);
    let ended = ended.expect_code(2);
    assert!(ended.err.contains("are judgements"), "{}", ended.err);
}

#[test]
fn nobody_rates_their_own_game_where_no_person_played() {
    let sessions = played();
    let (_, ended) = sessions.judge("nobody", &sessions.played, &["--own"]);
    let ended = ended.expect_code(2);
    assert!(ended.err.contains("no person played"), "{}", ended.err);
}

#[test]
fn one_session_in_two_folders_is_judged_once_and_names_may_look_alike() {
    let folder = tempfile::tempdir().unwrap();
    let alike = PLAYED.replace(
        "params = { rounds = 3 }",
        "params = { rounds = 2, names = [\"Al x\", \"Bo\", \"Al-x\"] }",
    );
    let (played, ended) = runs::run_in(folder.path(), &alike, &[]);
    let _ = ended.expect_code(0);
    let both = folder.path().join("both");
    for copy in ["one", "two"] {
        std::fs::create_dir_all(both.join(copy)).unwrap();
        let to = both.join(copy).join("records.jsonl");
        let _ = std::fs::copy(played.join("records.jsonl"), to).unwrap();
    }
    let sessions = Judged { folder, played };
    let (records, ended) = sessions.judge("alike", &both, &[]);
    let _ = ended.expect_code(0);
    assert_eq!(
        records.len(),
        4,
        "{:?}",
        records.iter().map(judged).collect::<Vec<_>>()
    );
}

#[test]
fn who_answered_for_a_person_is_nothing_for_judges() {
    let folder = tempfile::tempdir().unwrap();
    let people = PLAYED.replace(
        "[players.plain]\nkind = \"model\"\nmodel = \"sim\"",
        "[players.plain]\nkind = \"model\"\nmodel = \"sim\"\nagent = \"person\"",
    );
    let (played, ended) = runs::run_in(folder.path(), &people, &[]);
    let _ = ended.expect_code(0);
    let shown = std::fs::read_to_string(played.join("records.jsonl")).unwrap();
    assert!(shown.contains("answered_by"), "{shown}");
    let sessions = Judged { folder, played };
    let (records, ended) = sessions.judge("people", &sessions.played, &[]);
    let _ = ended.expect_code(0);
    for record in &records {
        let told = record["spec"]["params"]["record"].as_str().unwrap();
        assert!(!told.contains("answered by"), "{told}");
    }
}

#[test]
fn records_that_cannot_be_judged_are_refused_by_name() {
    let sessions = played();
    let (_, ended) = sessions.judge("none", &sessions.folder.path().join("nowhere"), &[]);
    let ended = ended.expect_code(2);
    assert!(ended.err.contains("nowhere"), "{}", ended.err);
    let damaged = sessions.folder.path().join("damaged.jsonl");
    let records = std::fs::read_to_string(sessions.played.join("records.jsonl")).unwrap();
    let mut first: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    for id in ["abc", "", "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}"] {
        first["session"] = id.into();
        std::fs::write(&damaged, format!("{first}\n")).unwrap();
        let (_, ended) = sessions.judge("damaged", &damaged, &[]);
        let ended = ended.expect_code(2);
        assert!(ended.err.contains("no id of a session"), "{}", ended.err);
    }
    // A line that a crash cut off is told, and the others are judged.
    let cut = &records[..records.len() - 40];
    std::fs::write(&damaged, cut).unwrap();
    let (judged, ended) = sessions.judge("cut", &damaged, &[]);
    let ended = ended.expect_code(0);
    assert!(ended.err.contains("unreadable"), "{}", ended.err);
    assert_eq!(judged.len(), 2);
    let records = sessions.played.display().to_string();
    let data = sessions.folder.path().join("other").display().to_string();
    let ended = run(&[
        "run",
        "gamma-bench/quick-start",
        "--records",
        &records,
        "--data",
        &data,
    ]);
    let ended = ended.expect_code(2);
    assert!(ended.err.contains("\"judging\""), "{}", ended.err);
}
