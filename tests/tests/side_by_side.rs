//! Several runs in one data folder at the same time: each ends as if it were alone, limits and
//! money are kept together, the same experiment is played once, and a killed run takes nothing
//! along.

use std::fs;
use std::path::{Path, PathBuf};

use agon_tests::binary::{Role, run};
use agon_tests::model_server::ModelServer;
use agon_tests::runs::{self, MIXED};
use agon_tests::waiting::until;

/// A data folder, and experiments that are run in it.
struct Shelf {
    folder: tempfile::TempDir,
    data: String,
}

/// An experiment, and where its results go.
struct Shelved {
    file: String,
    out: PathBuf,
    out_flag: String,
}

impl Shelf {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data").display().to_string();
        Self { folder, data }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes an experiment whose results go to the folder `out`.
    fn experiment(&self, text: &str, out: &str) -> Shelved {
        let home = self.path().join(format!("files-of-{out}"));
        fs::create_dir(&home).unwrap();
        let out = self.path().join(out);
        Shelved {
            file: runs::write(&home, text).display().to_string(),
            out_flag: out.display().to_string(),
            out,
        }
    }
}

impl Shelved {
    /// Starts it, with this configuration.
    fn start(&self, shelf: &Shelf, config: &str) -> Role {
        let (data, out) = (&shelf.data, &self.out_flag);
        Role::start_silent(&[
            "run", &self.file, "--quiet", "--config", config, "--data", data, "--out", out,
        ])
    }
}

fn all_end(running: &mut [Role]) {
    for role in running {
        let (code, err) = role.end();
        assert_eq!(code, Some(0), "{err}");
    }
}

/// Decisions in the records of all of them.
fn decisions(shelved: &[Shelved]) -> u64 {
    let each = shelved
        .iter()
        .map(|one| runs::decisions(&runs::records(&one.out)));
    each.sum()
}

/// The mixed experiment under another name.
fn named(name: &str) -> String {
    MIXED.replace("name = \"mixed\"", &format!("name = \"{name}\""))
}

#[test]
fn two_experiments_run_side_by_side_and_each_is_as_if_it_were_alone() {
    let shelf = Shelf::new();
    let slow = ModelServer::start(&["--latency", "40ms"]);
    let fast = ModelServer::start(&["--latency", "2ms"]);
    let (slow_url, fast_url) = (slow.base_url(), fast.base_url());
    let first = shelf.experiment(&named("first"), "first");
    let second = shelf.experiment(&named("second"), "second");
    let start = runs::arguments(&first.file, &slow_url, &shelf.data, &first.out_flag);
    let mut running = Role::start_silent(&start);
    until("the first one plays", || slow.count("requests") > 20);
    slow.hold();
    let beside = runs::arguments(&second.file, &fast_url, &shelf.data, &second.out_flag);
    let _ = run(&beside).expect_code(0);
    assert!(!running.has_ended(), "they were not side by side");
    slow.go_on();
    let (code, err) = running.end();
    assert_eq!(code, Some(0), "{err}");
    for (one, models, name) in [(&first, &slow, "first"), (&second, &fast, "second")] {
        let records = runs::records(&one.out);
        assert_eq!(models.count("requests"), runs::decisions(&records));
        let alone = runs::records_in_one_process(&named(name), models);
        assert!(alone == records, "{name}");
    }
}

#[test]
fn the_same_experiment_run_twice_at_once_is_played_once_and_both_have_all_of_it() {
    let shelf = Shelf::new();
    let models = ModelServer::start(&["--latency", "30ms"]);
    let base_url = models.base_url();
    let one = shelf.experiment(MIXED, "one");
    let other = shelf.path().join("other");
    let other_flag = other.display().to_string();
    let start = runs::arguments(&one.file, &base_url, &shelf.data, &one.out_flag);
    let mut first = Role::start_silent(&start);
    until("the first one plays", || models.count("requests") > 20);
    let number = first.id().to_string();
    let start = runs::arguments(&one.file, &base_url, &shelf.data, &other_flag);
    let second = run(&start).expect_code(0);
    let (code, err) = first.end();
    assert_eq!(code, Some(0), "{err}");
    for words in [&number, "already running mixed", "waiting for it to end"] {
        assert!(second.err.contains(words), "{words}: {}", second.err);
    }
    let records = runs::records(&one.out);
    assert!(records == runs::records(&other), "both have all of it");
    assert_eq!(models.count("requests"), runs::decisions(&records));
}

#[test]
fn killing_the_first_of_two_runs_of_one_experiment_lets_the_second_finish_it() {
    let shelf = Shelf::new();
    let models = ModelServer::start(&["--latency", "30ms"]);
    let base_url = models.base_url();
    let one = shelf.experiment(MIXED, "one");
    let start = runs::arguments(&one.file, &base_url, &shelf.data, &one.out_flag);
    let mut first = Role::start_silent(&start);
    until("the first one plays", || models.count("requests") > 20);
    let mut second = Role::start_silent(&start);
    until("half of the decisions are made", || {
        models.count("requests") > 150
    });
    first.kill();
    let asked_before = models.count("requests");
    let (code, err) = second.end();
    assert_eq!(code, Some(0), "{err}");
    let records = runs::records(&one.out);
    let asked_twice = models.count("requests") - runs::decisions(&records);
    assert!(
        asked_twice <= runs::asking_seats(&records) && asked_twice < asked_before,
        "{asked_twice} of {asked_before} were asked twice"
    );
    let alone = runs::records_in_one_process(MIXED, &models);
    assert!(alone == records, "nobody sees that the first was killed");
}

#[test]
fn killing_one_of_two_experiments_asks_nothing_of_the_other_twice() {
    let shelf = Shelf::new();
    let killed_models = ModelServer::start(&["--latency", "20ms"]);
    let models = ModelServer::start(&["--latency", "30ms"]);
    let (killed_url, base_url) = (killed_models.base_url(), models.base_url());
    let killed = shelf.experiment(&named("killed"), "killed");
    let other = shelf.experiment(&named("other"), "other");
    let start_killed = runs::arguments(&killed.file, &killed_url, &shelf.data, &killed.out_flag);
    let mut first = Role::start_silent(&start_killed);
    let start_other = runs::arguments(&other.file, &base_url, &shelf.data, &other.out_flag);
    let mut second = Role::start_silent(&start_other);
    until("both play", || {
        killed_models.count("requests") > 50 && models.count("requests") > 50
    });
    first.kill();
    let (code, err) = second.end();
    assert_eq!(code, Some(0), "{err}");
    let records = runs::records(&other.out);
    assert_eq!(models.count("requests"), runs::decisions(&records));
    // The killed one goes on where it stopped.
    let _ = run(&start_killed).expect_code(0);
    let records = runs::records(&killed.out);
    let asked_twice = killed_models.count("requests") - runs::decisions(&records);
    assert!(asked_twice <= runs::asking_seats(&records), "{asked_twice}");
}

#[test]
fn what_an_interrupted_run_left_is_not_played_on_by_a_run_of_another_experiment() {
    let shelf = Shelf::new();
    let models = ModelServer::start(&["--latency", "20ms"]);
    let other_models = ModelServer::start(&[]);
    let (base_url, other_url) = (models.base_url(), other_models.base_url());
    let left = shelf.experiment(&named("left"), "left");
    let other = shelf.experiment(&named("other"), "other");
    let start = runs::arguments(&left.file, &base_url, &shelf.data, &left.out_flag);
    let mut running = Role::start_silent(&start);
    until("some decisions are made", || models.count("requests") > 50);
    running.kill();
    let asked = models.count("requests");
    let start = runs::arguments(&other.file, &other_url, &shelf.data, &other.out_flag);
    let _ = run(&start).expect_code(0);
    let records = runs::records(&other.out);
    assert_eq!(other_models.count("requests"), runs::decisions(&records));
    assert_eq!(models.count("requests"), asked);
}

/// A configuration with one model `any` at this server, under these limits and for this team.
fn configure(shelf: &Shelf, models: &ModelServer, limits: &str, team: &str) -> String {
    let (base_url, path) = (models.base_url(), shelf.path().join("agon.toml"));
    let text = format!(
        "[providers.simulated]\nbase_url = \"{base_url}\"\nkeys = []\n{limits}\n\
         [models.any]\nprovider = \"simulated\"\nstructured_output = \"json_schema\"\nseed = true\n\
         max_output_tokens = 200\n\
         price = {{ input_per_million_dollars = \"1\", output_per_million_dollars = \"10\" }}\n\
         {team}\n"
    );
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Eight sessions.
fn small(name: &str) -> String {
    runs::dividers(name, 8)
}

#[test]
fn two_runs_keep_the_limits_of_a_key_together_by_the_servers_own_count() {
    let shelf = Shelf::new();
    let models = ModelServer::start(&["--concurrency", "3", "--latency", "5ms"]);
    let limits = "limits = { concurrency = 3 }";
    let config = configure(&shelf, &models, limits, "");
    let names = ["one", "two"];
    let shelved = names.map(|name| shelf.experiment(&small(name), name));
    let mut running = shelved.each_ref().map(|one| one.start(&shelf, &config));
    all_end(&mut running);
    assert_eq!(
        models.count("requests"),
        decisions(&shelved),
        "none was refused"
    );
}

#[test]
fn two_runs_spend_the_budget_of_a_team_once() {
    let shelf = Shelf::new();
    let models = ModelServer::start(&["--latency", "5ms"]);
    let team = "[teams.default]\nbudget_dollars = \"0.012\"";
    let config = configure(&shelf, &models, "", team);
    let names = ["one", "two"];
    let shelved = names.map(|name| shelf.experiment(&small(name), name));
    let start = |one: &Shelved| one.start(&shelf, &config);
    let mut running = shelved.each_ref().map(start);
    for role in &mut running {
        let (code, err) = role.end();
        assert_eq!(code, Some(4), "{err}");
        assert!(
            err.contains("the budget of team default leaves too little"),
            "{err}"
        );
    }
    let paid = models.count("prompt_tokens") + 10 * models.count("completion_tokens");
    let budget_nanodollars = 12_000_000;
    assert!(models.count("requests") > 2 && paid * 1_000 <= budget_nanodollars);
    let _ = configure(
        &shelf,
        &models,
        "",
        "[teams.default]\nbudget_dollars = \"9\"",
    );
    let mut running = shelved.each_ref().map(start);
    all_end(&mut running);
    assert_eq!(
        models.count("requests"),
        decisions(&shelved),
        "nothing was asked twice"
    );
}

#[test]
fn store_of_an_older_version_is_refused_in_one_line_that_says_how_to_keep_what_is_in_it() {
    let shelf = Shelf::new();
    let store =
        Path::new(&shelf.data).join("coordinator/experiments/gamma-bench-quick-start/store");
    fs::create_dir_all(&store).unwrap();
    fs::write(store.join("coordinator.db"), b"SQLite format 3\0").unwrap();
    let refused = run(&["run", "gamma-bench/quick-start", "--data", &shelf.data]).expect_code(3);
    for words in ["an older agon", "let the older one finish it", "--data"] {
        assert!(refused.err.contains(words), "{}", refused.err);
    }
    assert_eq!(refused.err.trim().lines().count(), 1, "{}", refused.err);
    assert!(store.join("coordinator.db").is_file());
}

#[test]
fn a_service_has_its_folder_for_itself_and_says_so() {
    let shelf = Shelf::new();
    let serve = ["gateway", "--listen", "127.0.0.1:0", "--data", &shelf.data];
    let (_gateway, _) = Role::listening(&serve);
    let refused = run(&["run", "gamma-bench/quick-start", "--data", &shelf.data]).expect_code(3);
    for words in [
        "in use by another agon",
        "choose another folder with --data",
    ] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
}
