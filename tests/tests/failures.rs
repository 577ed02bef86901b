//! Wrong input and missing surroundings: one clear line, the right exit code, no
//! panic, and nothing that was done is lost.

use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use agon_tests::binary::{self, Ended, run};
use agon_tests::cluster::Cluster;
use agon_tests::model_server::ModelServer;
use agon_tests::redis::free_port;
use agon_tests::runs::{self, MIXED};
use agon_tests::small_disk::with_small_disk;
use agon_tests::waiting::until;
use tempfile::TempDir;

/// What every failure must look like.
fn one_clear_line(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!(
        ended.code,
        Some(code),
        "out: {}\nerr: {}",
        ended.out,
        ended.err
    );
    let told: Vec<&str> = ended
        .err
        .lines()
        .filter(|line| line.starts_with("error: "))
        .collect();
    assert_eq!(told.len(), 1, "{}", ended.err);
    for word in words {
        assert!(told[0].contains(word), "`{word}` is not in: {}", told[0]);
    }
    assert!(!ended.err.contains("panicked"), "{}", ended.err);
}

#[test]
fn a_taken_port_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    for role in [
        vec!["coordinator", "--listen", &address, "--data", &data],
        vec!["gateway", "--listen", &address, "--data", &data],
        vec!["sim-llm", "--listen", &address],
    ] {
        one_clear_line(&run(&role), 3, &[&address, "already in use"]);
    }
}

#[test]
fn an_address_that_is_none_is_refused() {
    one_clear_line(&run(&["sim-llm", "--listen", "nowhere"]), 2, &["nowhere"]);
    one_clear_line(
        &run(&["worker", "--coordinator", "nowhere:1"]),
        2,
        &["nowhere:1"],
    );
}

#[test]
fn an_unreachable_redis_is_named_without_its_password() {
    let port = free_port();
    let url = format!("redis://:secret-word@127.0.0.1:{port}");
    let folder = tempfile::tempdir().unwrap();
    let text = MIXED.replace("model = \"any\"", "model = \"sim\"");
    let experiment = runs::write(folder.path(), &text).display().to_string();
    let data = folder.path().join("data").display().to_string();
    // Gateways and coordinators wait for their Redis; their own tests hold what they say meanwhile.
    let ended = run(&["run", &experiment, "--redis", &url, "--data", &data]);
    one_clear_line(&ended, 3, &[&port.to_string()]);
    assert!(!ended.err.contains("secret-word"), "{}", ended.err);
}

#[test]
fn a_run_that_is_named_is_looked_for_here_whatever_coordinator_the_shell_knows() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = binary::command(&["view", "my-run"]);
    command.current_dir(folder.path());
    command.env("AGON_COORDINATOR", "http://127.0.0.1:1");
    let ended = Ended::from(command.output().unwrap());
    one_clear_line(&ended, 2, &["no experiment my-run in agon-data/runs"]);
}

#[test]
fn a_missing_key_says_which_variable_to_set() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let arguments = [
        "run",
        "gamma-bench/leaderboard",
        "--model",
        "openai/gpt-4o",
        "--data",
        &data,
    ];
    let mut command = binary::command(&arguments);
    let ended = Ended::from(command.env_remove("OPENAI_API_KEY").output().unwrap());
    one_clear_line(&ended, 2, &["OPENAI_API_KEY"]);
}

#[test]
fn an_unreachable_provider_sets_sessions_aside_and_keeps_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("agon.toml");
    let models = ModelServer::start(&[]);
    let (good, port) = (models.base_url(), free_port());
    let text = format!(
        "[gateway]\npatience = \"2s\"\n\
         [providers.good]\nbase_url = \"{good}\"\nkeys = []\n\
         [providers.gone]\nbase_url = \"http://127.0.0.1:{port}/v1\"\nkeys = []\n\
         [models.good]\nprovider = \"good\"\n[models.gone]\nprovider = \"gone\"\n"
    );
    fs::write(&config, text).unwrap();
    let experiment = r#"
name = "half"
[players.subject]
kind = "model"
model = "good"
[[games]]
game = "divide_dollar"
params = { rounds = 2 }
seats = [{ player = "subject", count = 3 }]
[grid]
"players.subject.model" = ["good", "gone"]
"#;
    let experiment = runs::write(folder.path(), experiment);
    let out = folder.path().join("out");
    let (config, data) = (
        config.display().to_string(),
        folder.path().join("data").display().to_string(),
    );
    let ended = runs::run_into(&experiment, &out, &["--config", &config, "--data", &data]);
    one_clear_line(&ended, 1, &["1 of 2 sessions", "set aside"]);
    assert!(ended.err.contains("set aside: session "), "{}", ended.err);
    assert_eq!(
        runs::records(&out)
            .iter()
            .filter(|byte| **byte == b'\n')
            .count(),
        1
    );
}

#[test]
fn a_data_folder_serves_one_process_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().display().to_string();
    let serve = ["gateway", "--listen", "127.0.0.1:0", "--data", &data];
    let (_running, _) = binary::Role::listening(&serve);
    one_clear_line(&run(&serve), 3, &["in use by another agon"]);
}

#[test]
fn a_full_disk_is_told_and_what_was_done_is_kept() {
    let test = "a_full_disk_is_told_and_what_was_done_is_kept";
    with_small_disk(test, "2m", |disk| {
        let folder = tempfile::tempdir().unwrap();
        let experiment = runs::write(folder.path(), MIXED);
        let data = folder.path().join("data").display().to_string();
        let out = disk.path().join("out");
        let models = ModelServer::start(&[]);
        let flags = ["--base-url", &models.base_url(), "--data", &data];
        let filler = disk.fill(2_000_000);
        let ended = runs::run_into(&experiment, &out, &flags);
        one_clear_line(
            &ended,
            3,
            &["free some space and run the same command again"],
        );
        let asked = models.count("requests");
        assert!(asked > 0);
        fs::remove_file(filler).unwrap();
        let _ = runs::run_into(&experiment, &out, &flags).expect_code(0);
        assert_eq!(
            models.count("requests"),
            asked,
            "what was done is not done again"
        );
        assert_eq!(runs::decisions(&runs::records(&out)), asked);
    });
}

#[test]
fn a_full_disk_under_the_store_stops_the_run_and_loses_nothing() {
    let test = "a_full_disk_under_the_store_stops_the_run_and_loses_nothing";
    with_small_disk(test, "64m", |disk| {
        let folder = tempfile::tempdir().unwrap();
        let many = MIXED.replace("repeats = 3", "repeats = 60");
        let experiment = runs::write(folder.path(), &many);
        let out = folder.path().join("out");
        let models = ModelServer::start(&[]);
        let data = disk.path().join("data").display().to_string();
        let flags = ["--base-url", &models.base_url(), "--data", &data];
        let filler = disk.fill(61 << 20);
        let ended = runs::run_into(&experiment, &out, &flags);
        one_clear_line(&ended, 3, &["cannot write in", "Free some space"]);
        fs::remove_file(filler).unwrap();
        let _ = runs::run_into(&experiment, &out, &flags).expect_code(0);
    });
}

#[test]
fn no_answer_is_paid_for_twice_when_the_disk_fills_up_under_hundreds_of_calls() {
    let test = "no_answer_is_paid_for_twice_when_the_disk_fills_up_under_hundreds_of_calls";
    with_small_disk(test, "64m", |disk| {
        let folder = tempfile::tempdir().unwrap();
        let experiment = runs::write(folder.path(), &MIXED.replace("repeats = 3", "repeats = 60"));
        let out = folder.path().join("out");
        let models = ModelServer::start(&["--latency", "300ms"]);
        let data = disk.path().join("data").display().to_string();
        let out_flag = out.display().to_string();
        let base_url = models.base_url();
        let experiment = experiment.display().to_string();
        let mut start = runs::arguments(&experiment, &base_url, &data, &out_flag).to_vec();
        start.extend(["--workers", "4", "--places", "100"]);
        let mut running = binary::Role::start_silent(&start);
        until("hundreds of calls are under way", || {
            models.count("requests") > 500
        });
        let filler = disk.fill_up();
        let (code, err) = running.end();
        assert_eq!(code, Some(3), "{err}");
        assert!(err.contains("no model is asked any more"), "{err}");
        assert!(!err.contains("paid for and could not be recorded"), "{err}");
        let asked = models.count("requests");
        fs::remove_file(filler).unwrap();
        let _ = run(&start).expect_code(0);
        let decisions = runs::decisions(&runs::records(&out));
        assert!(asked < decisions, "the disk was full before the end");
        assert_eq!(models.count("requests"), decisions);
    });
}

#[test]
fn a_run_asks_for_as_many_open_files_as_its_calls_need() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let experiment = runs::write(folder.path(), &MIXED.replace("repeats = 3", "repeats = 60"));
    let models = ModelServer::start(&["--latency", "300ms"]);
    let (experiment, base_url) = (experiment.display().to_string(), models.base_url());
    let (data, out) = (path("data"), path("out"));
    let mut run = Command::new("sh");
    run.args(["-c", "ulimit -Sn 100 && exec \"$@\"", "sh"]);
    run.arg(binary::path());
    run.args(runs::arguments(&experiment, &base_url, &data, &out));
    let ended: Ended = run.output().unwrap().into();
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(!ended.err.contains("open files"), "{}", ended.err);
}

#[test]
fn unreadable_recorded_games_are_named_with_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("games.jsonl");
    for (text, words) in [
        ("{\"id\":1}\n", vec!["games.jsonl:1"]),
        ("\n\nnot json\n", vec!["games.jsonl:3"]),
        (
            "{\"id\":\"a\",\"game\":\"chess\"}\n",
            vec!["games.jsonl:1", "chess"],
        ),
    ] {
        fs::write(&path, text).unwrap();
        let ended = run(&["replay", &path.display().to_string()]);
        assert_eq!(ended.code, Some(2), "{}", ended.err);
        for word in words {
            assert!(ended.err.contains(word), "`{word}` is not in {}", ended.err);
        }
    }
    one_clear_line(
        &run(&["replay", "/nowhere/games.jsonl"]),
        2,
        &["could not be read"],
    );
}

#[test]
fn where_files_may_not_be_large_enough_for_a_reserve_nothing_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), MIXED).display().to_string();
    let [data, out] = ["data", "out"].map(|name| folder.path().join(name).display().to_string());
    let models = ModelServer::start(&[]);
    let binary = binary::path().display().to_string();
    // In units of 512 bytes: 4 MB.
    let line = "trap '' XFSZ; ulimit -f 8000 && exec \"$0\" \"$@\"";
    let mut command = binary::command_in_shell(line, &binary);
    let base_url = models.base_url();
    command.args(["run", &experiment, "--out", &out, "--data", &data]);
    command.args(["--base-url", &base_url, "--endpoint", "test"]);
    let ended = Ended::from(command.output().unwrap());
    one_clear_line(&ended, 3, &["no 16 MB are left to record answers"]);
    assert_eq!(models.count("requests"), 0);
}

/// Where a service is reached whose first connection breaks as soon as something is said on it.
fn breaking_once(service: &str) -> String {
    let service = service.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut callers = listener.incoming().flatten();
        let first = callers.next().map(|mut first| first.read(&mut [0; 64]));
        assert!(matches!(first, Some(Ok(1..))), "{first:?}");
        for caller in callers {
            let server = TcpStream::connect(&service).unwrap();
            let (mut from, mut to) = (caller.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut to));
            let (mut from, mut to) = (server, caller);
            thread::spawn(move || std::io::copy(&mut from, &mut to));
        }
    });
    format!("http://127.0.0.1:{port}")
}

/// A cluster with so many workers, an experiment for it, and a folder for what comes of it.
fn cluster_of(workers: usize) -> (TempDir, ModelServer, Cluster, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let models = ModelServer::start(&[]);
    let cluster = Cluster::start(folder.path(), None, &models, workers);
    let experiment = runs::write(folder.path(), &runs::dividers("dividing", 2));
    let out = folder.path().join("out");
    (folder, models, cluster, experiment, out)
}

#[test]
fn an_experiment_is_handed_in_again_where_the_connection_breaks() {
    let (_folder, _models, cluster, experiment, out) = cluster_of(1);
    let url = breaking_once(&cluster.coordinator_url());
    let _ = runs::run_into(&experiment, &out, &["--coordinator", &url]).expect_code(0);
    assert_eq!(runs::parsed(&runs::records(&out)).len(), 2);
}

#[test]
fn a_cluster_without_the_simulated_model_says_where_that_comes_from() {
    let (_folder, _models, cluster, experiment, out) = cluster_of(0);
    let flags = [
        "--coordinator",
        &cluster.coordinator_url(),
        "--model",
        "sim",
    ];
    let told = runs::run_into(&experiment, &out, &flags);
    one_clear_line(
        &told,
        2,
        &["unknown model \"sim\"", "one process", "agon sim-llm"],
    );
}
