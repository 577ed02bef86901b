//! Every run leaves an entry: what was run, what came of it, and nothing of it is lost or changed by
//! a later one. The files beside the history show one run and say which.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use agon_tests::binary::{Ended, Role, run};
use agon_tests::model_server::ModelServer;
use agon_tests::runs;
use agon_tests::tree;
use agon_tests::waiting::until;
use serde_json::Value;

/// Six auctions of rule bidders: two settings, three repeats.
const GRID: &str = "[grid]\n\"params.minimum_increase_percent\" = [10, 20]\n";

/// A folder with an experiment, and where its results go.
struct Desk {
    folder: tempfile::TempDir,
    experiment: String,
    data: String,
    out: PathBuf,
}

impl Desk {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let experiment = runs::write(folder.path(), text).display().to_string();
        Self {
            experiment,
            data: folder.path().join("data").display().to_string(),
            out: folder.path().join("out"),
            folder,
        }
    }

    fn of_auctions() -> Self {
        Self::new(&runs::rule_bidders("auctions", 3, GRID))
    }

    fn run(&self, flags: &[&str]) -> Ended {
        self.run_file(&self.experiment, flags)
    }

    fn run_file(&self, file: &str, flags: &[&str]) -> Ended {
        let flags = [&["--data", &self.data], flags].concat();
        runs::run_into(Path::new(file), &self.out, &flags)
    }

    /// The entry of a run.
    fn entry(&self, number: u32) -> PathBuf {
        let entries = fs::read_dir(self.out.join("history")).unwrap();
        let begins = format!("{number:04}-");
        let mut named = entries.map(|entry| entry.unwrap().path()).filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with(&begins)
        });
        named.next().unwrap_or_else(|| panic!("no run {number}"))
    }

    fn account(&self, number: u32) -> Value {
        let text = fs::read_to_string(self.entry(number).join("run.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.out.join(name)).unwrap()
    }
}

/// All files below a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            found.insert(path, bytes);
        }
    }
    found
}

fn lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

#[test]
fn a_run_with_other_flags_leaves_what_the_run_before_it_left() {
    let desk = Desk::of_auctions();
    let first = desk.run(&[]).expect_code(0);
    assert_eq!(lines(&runs::records(&desk.out)), 6);
    assert!(first.out.contains("history/0001-"), "{}", first.out);
    let kept = files(&desk.entry(1));
    let changes = [
        "--set",
        "params.minimum_increase_percent=10",
        "--repeats",
        "1",
    ];
    let second = desk.run(&changes).expect_code(0);
    assert!(
        second.out.contains("1 other run beside it"),
        "{}",
        second.out
    );
    assert!(kept == files(&desk.entry(1)), "the first entry was changed");
    assert_eq!(lines(&runs::records(&desk.entry(1))), 6);
    assert_eq!(lines(&runs::records(&desk.entry(2))), 1);
    // What stands beside the history is all of one run, and says of which.
    for name in [
        "records.jsonl",
        "telemetry.jsonl",
        "summary.txt",
        "results.csv",
    ] {
        let shown = fs::read(desk.out.join(name)).unwrap();
        assert_eq!(shown, fs::read(desk.entry(2).join(name)).unwrap(), "{name}");
    }
    let heading = "1 of 1 sessions, with --set params.minimum_increase_percent=10 --repeats 1";
    let summary = desk.text("summary.txt");
    assert!(summary.starts_with("Run 2 of auctions, "), "{summary}");
    assert!(
        summary.lines().next().unwrap().ends_with(heading),
        "{summary}"
    );
    assert!(second.out.contains(heading), "{}", second.out);
    let table = desk.text("results.csv");
    let mut rows = table.lines();
    assert!(rows.next().unwrap().starts_with("run,session,"), "{table}");
    assert!(rows.all(|row| row.starts_with("2,")), "{table}");
}

#[test]
fn the_account_of_a_run_says_what_was_run() {
    let desk = Desk::of_auctions();
    let _ = desk.run(&["--repeats", "2", "--seed", "8"]).expect_code(0);
    let account = desk.account(1);
    assert_eq!(account["run"], 1);
    assert_eq!(account["experiment"], "auctions");
    assert_eq!(account["outcome"], "complete");
    assert_eq!(account["changes"][0], "--repeats 2");
    assert_eq!(account["changes"][1], "--seed 8");
    assert_eq!(account["source"]["name"], desk.experiment.as_str());
    assert_eq!(account["state"]["data"], desk.data.as_str());
    assert_eq!(account["sessions"]["all"], 4);
    assert_eq!(account["sessions"]["done"], 4);
    assert!(account["versions"]["rules"]["english_auction"].is_u64());
    assert_eq!(account["versions"]["agon"], env!("CARGO_PKG_VERSION"));
    let command = account["command"].as_array().unwrap();
    assert!(command.contains(&"--seed".into()), "{account}");
    let (started, ended) = (account["started"].as_str(), account["ended"].as_str());
    assert!(started.unwrap() <= ended.unwrap() && started.unwrap().ends_with('Z'));
    // Files are named with their digests.
    for (name, bytes) in files(&desk.entry(1)) {
        let name = name.file_name().unwrap().to_string_lossy().into_owned();
        if name != "run.json" {
            let digest = blake3::hash(&bytes).to_hex().to_string();
            assert_eq!(account["files"][&name], digest.as_str(), "{name}");
        }
    }
    let original = fs::read_to_string(desk.entry(1).join("original.toml")).unwrap();
    assert_eq!(original, fs::read_to_string(&desk.experiment).unwrap());
}

/// A folder with one template in the place of a built-in one.
fn own_template(desk: &Desk) -> String {
    let path = "divide_dollar/v1/system.j2";
    let built_in = tree::root().join("agents/src/prompts").join(path);
    let text = fs::read_to_string(built_in).unwrap() + "Think of a number first.\n";
    let own = desk.folder.path().join("own");
    fs::create_dir_all(own.join(path).parent().unwrap()).unwrap();
    fs::write(own.join(path), text).unwrap();
    own.display().to_string()
}

#[test]
fn the_experiment_that_an_entry_keeps_plays_the_same_sessions() {
    let models = ModelServer::start(&[]);
    let desk = Desk::new(&runs::dividers("told", 3));
    let (base_url, own) = (models.base_url(), own_template(&desk));
    let server = ["--base-url", base_url.as_str()];
    let changes = ["--set", "params.rounds=2", "--seed", "12", "--repeats", "2"];
    let flags = [&server[..], &changes, &["--templates", &own]].concat();
    let _ = desk.run(&flags).expect_code(0);
    let records = runs::records(&desk.out);
    let asked = models.count("requests");
    assert!(String::from_utf8_lossy(&records).contains("decisions"));
    let kept = desk.entry(1).join("experiment.toml").display().to_string();
    let _ = desk.run_file(&kept, &server).expect_code(0);
    assert!(runs::records(&desk.out) == records, "other sessions");
    assert_eq!(models.count("requests"), asked, "nothing was played again");
    assert_eq!(
        desk.text("experiment.toml"),
        fs::read_to_string(&kept).unwrap()
    );

    let account = desk.account(1);
    let template = &account["templates"]["divide_dollar/v1/system.j2"];
    assert!(template.is_string(), "{account}");
    assert!(account["prompt_bundle"].is_string(), "{account}");
    assert_eq!(account["models"]["any"]["provider_kind"], "openai");
    assert!(
        account["models"]["any"]["endpoint"].is_string(),
        "{account}"
    );
    assert!(
        !account["versions"]["prompts"]
            .as_object()
            .unwrap()
            .is_empty()
    );
    let out = desk.out.display().to_string();
    let verified = run(&["verify", &out]).expect_code(0).out;
    assert!(verified.contains("2 of 2"), "{verified}");
}

#[test]
fn a_run_that_ends_otherwise_says_so_in_its_entry() {
    let models = ModelServer::start(&["--latency", "150ms"]);
    let desk = Desk::new(runs::MIXED);
    let (base_url, out) = (models.base_url(), desk.out.display().to_string());
    let start = runs::arguments(&desk.experiment, &base_url, &desk.data, &out);
    let mut killed = Role::start_silent(&start);
    until("some decisions are made", || models.count("requests") > 20);
    killed.kill();
    assert_eq!(desk.account(1)["outcome"], "unfinished");
    assert!(desk.account(1)["ended"].is_null());
    let before = models.count("requests");
    let mut stopped = Role::start_silent(&start);
    until("more decisions are made", || {
        models.count("requests") > before + 150
    });
    stopped.signal("-INT");
    let (code, err) = stopped.end();
    assert_eq!(code, Some(130), "{err}");
    let account = desk.account(2);
    assert_eq!(account["outcome"], "interrupted");
    let reason = account["reason"].as_str().unwrap();
    for words in [
        "sessions are done, with results in",
        "model answers",
        "paid for twice",
    ] {
        assert!(reason.contains(words), "`{words}` is not in: {reason}");
    }
    let _ = run(&start).expect_code(0);
    assert_eq!(desk.account(3)["outcome"], "complete");
    assert_eq!(
        desk.account(1)["outcome"],
        "unfinished",
        "nobody touched it"
    );
    let listed = run(&["runs", &out]).expect_code(0).out;
    for outcome in ["running or killed", "interrupted", "complete"] {
        assert!(listed.contains(outcome), "{listed}");
    }
}

#[test]
fn records_that_come_out_the_same_take_no_space_twice() {
    let desk = Desk::of_auctions();
    let _ = desk.run(&[]).expect_code(0);
    let _ = desk.run(&[]).expect_code(0);
    let node = |path: PathBuf| fs::metadata(path.join("records.jsonl")).unwrap().ino();
    assert_eq!(node(desk.entry(1)), node(desk.entry(2)));
}

/// Adds a line to a file as an editor does that keeps the file.
fn append(path: PathBuf) {
    let mut file = fs::File::options().append(true).open(path).unwrap();
    file.write_all(b"more\n").unwrap();
}

#[test]
fn edits_of_what_is_shown_change_no_entry_and_a_changed_entry_is_handed_on_to_no_run() {
    let desk = Desk::of_auctions();
    let _ = desk.run(&[]).expect_code(0);
    let text = |path: PathBuf| fs::read_to_string(path.join("records.jsonl")).unwrap();
    let played = text(desk.entry(1));
    append(desk.out.join("records.jsonl"));
    assert_eq!(text(desk.entry(1)), played);
    append(desk.entry(1).join("records.jsonl"));
    let _ = desk.run(&[]).expect_code(0);
    assert_eq!(text(desk.entry(2)), played);
    assert_eq!(text(desk.out), played);
}

#[test]
fn what_was_written_before_runs_had_entries_is_read_and_carried_over() {
    let desk = Desk::of_auctions();
    let _ = desk.run(&["--repeats", "2"]).expect_code(0);
    // As it was laid out before: one run, its files beside each other, and nothing else.
    fs::remove_dir_all(desk.out.join("history")).unwrap();
    fs::remove_file(desk.out.join("agon-results.json")).unwrap();
    fs::create_dir(desk.out.join("templates")).unwrap();
    fs::write(desk.out.join("templates/mine.j2"), "a template").unwrap();
    fs::write(desk.out.join("NOTES.md"), "mine").unwrap();
    let before = files(&desk.out);
    let out = desk.out.display().to_string();
    let shown = run(&["show", "auctions", "--results", &out]).expect_code(0);
    assert!(shown.out.contains("4 sessions;"), "{}", shown.out);
    fs::remove_dir_all(desk.out.join("templates")).unwrap();
    let verified = run(&["verify", &out]).expect_code(0);
    assert!(verified.out.contains("4 of 4"), "{}", verified.out);
    fs::create_dir(desk.out.join("templates")).unwrap();
    fs::write(desk.out.join("templates/mine.j2"), "a template").unwrap();

    let _ = desk.run(&[]).expect_code(0);
    assert_eq!(lines(&runs::records(&desk.out)), 6);
    assert_eq!(desk.account(1)["outcome"], "unknown");
    for (path, bytes) in before {
        let name = path.strip_prefix(&desk.out).unwrap();
        if name != Path::new("NOTES.md") {
            let carried = fs::read(desk.entry(1).join(name)).unwrap();
            assert_eq!(carried, bytes, "{}", name.display());
        }
    }
    assert_eq!(desk.text("NOTES.md"), "mine");
    assert_eq!(desk.text("templates/mine.j2"), "a template");
    let verified = run(&["verify", &out]).expect_code(0);
    assert!(verified.out.contains("6 of 6"), "{}", verified.out);
}

#[test]
fn runs_are_listed_and_removed_by_the_command_that_says_so() {
    let desk = Desk::of_auctions();
    let out = desk.out.display().to_string();
    let _ = desk.run(&[]).expect_code(0);
    let _ = desk.run(&["--repeats", "1"]).expect_code(0);
    let _ = desk.run(&["--repeats", "2"]).expect_code(0);
    let listed = run(&["runs", &out]).expect_code(0).out;
    let rows: Vec<&str> = listed
        .lines()
        .filter(|line| line.trim_start().starts_with("auctions"))
        .collect();
    assert_eq!(rows.len(), 3, "{listed}");
    assert!(rows[0].contains("6 of 6"), "{listed}");
    assert!(rows[1].contains("--repeats 1"), "{listed}");
    assert!(rows[2].contains("3 *"), "{listed}");
    fs::write(desk.entry(3).join("NOTES.md"), "mine").unwrap();

    // The tables of the newest that is left take the place of those that go.
    let deleted = run(&["runs", &out, "delete", "3"]).expect_code(0).out;
    assert!(
        deleted.contains("2 runs left; the folder shows run 2"),
        "{deleted}"
    );
    assert_eq!(lines(&runs::records(&desk.out)), 2);
    assert!(desk.text("summary.txt").starts_with("Run 2 of auctions"));
    let missing = run(&["runs", &out, "delete", "3"]).expect_code(2).err;
    let both = run(&["runs", &out, "delete", "2", "3"]).expect_code(2).err;
    assert_eq!(both, missing, "run 2 is not removed before 3 is missed");
    let whose = run(&["runs", "delete", "2"]).expect_code(2).err;
    assert!(whose.contains("agon runs EXPERIMENT delete N"), "{whose}");
    assert!(
        missing.contains("no run 3") && missing.contains("there are 1, 2"),
        "{missing}"
    );
    let _ = run(&["runs", &out, "delete", "2", "1"]).expect_code(0);
    let none = run(&["runs", &out]).expect_code(2).err;
    assert!(none.contains("no run of auctions is kept in"), "{none}");
    assert!(!desk.out.join("records.jsonl").exists());
    assert_eq!(fs::read_dir(desk.out.join("history")).unwrap().count(), 1);

    // No number is given twice, and nothing that was played is played again.
    let again = desk.run(&["--repeats", "2"]).expect_code(0);
    assert!(again.out.contains("Run 4 of auctions"), "{}", again.out);
    assert_eq!(desk.account(4)["sessions"]["done"], 4);
}

#[test]
fn a_run_that_an_experiment_does_not_have_is_not_looked_for_among_those_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let text = "name = \"one\"\nplayers.r = { kind = \"rule\", strategy = \"random\" }\n\
                [[games]]\ngame = \"divide_dollar\"\nseats = [{ player = \"r\", count = 2 }]\n";
    let file = runs::write(folder.path(), text).display().to_string();
    for name in ["one", "other", "other"] {
        let more = ["--name", name, "--data", &data, "--quiet"];
        let _ = run(&[&["run", &file][..], &more].concat()).expect_code(0);
    }
    let show = ["show", "one", "--data", &data, "--run", "2"];
    let refused = run(&show).expect_code(2).err;
    assert!(refused.contains("there is no run 2 in"), "{refused}");
    assert!(refused.contains("there is only run 1"), "{refused}");
}

#[test]
fn sessions_of_different_runs_are_never_taken_together() {
    let desk = Desk::of_auctions();
    let out = desk.out.display().to_string();
    let _ = desk.run(&["--seed", "1"]).expect_code(0);
    let earlier = runs::parsed(&runs::records(&desk.out))[0]["session"].clone();
    let _ = desk.run(&["--seed", "2", "--repeats", "1"]).expect_code(0);
    let listed = run(&["show", "auctions", "--results", &out])
        .expect_code(0)
        .out;
    for words in [
        "2 sessions;",
        "They are from run 2; `agon runs",
        "lists both",
    ] {
        assert!(listed.contains(words), "{listed}");
    }
    let listed = run(&["show", "auctions", "--results", &out, "--run", "1"]);
    let listed = listed.expect_code(0).out;
    for words in [
        "6 sessions;",
        "They are from run 1; `agon runs",
        "lists both",
    ] {
        assert!(listed.contains(words), "{listed}");
    }
    let measures = [
        "show",
        "auctions",
        "--measures",
        "--json",
        "--results",
        &out,
    ];
    let newest = run(&measures).expect_code(0).out;
    let first = run(&[&measures[..], &["--run", "1"]].concat())
        .expect_code(0)
        .out;
    assert_ne!(newest, first);
    // Each by its own number of sessions.
    assert!(
        first.contains("\"sessions\":3") || first.contains("\"n\":3"),
        "{first}"
    );
    // A session of an earlier run is found by its id.
    let id = earlier.as_str().unwrap();
    let shown = run(&["show", id, "--results", &out, "--json"])
        .expect_code(0)
        .out;
    assert!(shown.contains(id), "{shown}");
    // And an entry is a folder of results like any other.
    let entry = desk.entry(1).display().to_string();
    let verified = run(&["verify", &entry]).expect_code(0).out;
    assert!(verified.contains("6 of 6 records verified"), "{verified}");
}

#[test]
fn records_that_were_changed_since_are_told_apart_from_those_that_were_written() {
    let desk = Desk::of_auctions();
    let _ = desk.run(&[]).expect_code(0);
    let path = desk.out.join("records.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let fewer: Vec<&str> = text.lines().skip(1).collect();
    fs::remove_file(&path).unwrap();
    fs::write(&path, fewer.join("\n")).unwrap();
    let out = desk.out.display().to_string();
    let verified = run(&["verify", &out]).expect_code(0).out;
    for words in [
        "1 more session of the experiment",
        "has changed since run 1 wrote it",
    ] {
        assert!(verified.contains(words), "{words}: {verified}");
    }
    let entry = desk.entry(1).display().to_string();
    let verified = run(&["verify", &entry]).expect_code(0).out;
    assert!(!verified.contains("wrote it"), "{verified}");
}
