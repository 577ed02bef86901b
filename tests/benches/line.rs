//! The whole line, timed: real processes of the release binary against a
//! simulated model server of 50 ms on the same machine. Prints each figure beside
//! its bar; decides nothing. Run it with `cargo bench -p agon-tests --bench line`
//! after `cargo build --release`.

use std::path::Path;
use std::time::{Duration, Instant};

use agon_tests::model_server::ModelServer;
use agon_tests::{binary, runs};

/// What the model server takes for every answer.
const LATENCY_MS: u64 = 50;

/// Rounds and players of a vanilla guessing game.
const ROUNDS: u64 = 20;
const PLAYERS: u64 = 10;

fn main() {
    one_session();
    many_sessions();
    presets();
}

/// One session of 10 players and 20 rounds.
fn one_session() {
    let limit = Duration::from_millis(LATENCY_MS * ROUNDS).as_secs_f64();
    for _ in 0..3 {
        let (wall, seconds) = guessing(1);
        println!(
            "one session, 10 players, 20 rounds, 50 ms model: {:.3} s in the session, {wall:.3} s \
             for the whole command (bar 1.3 s; limit of physics {limit:.1} s)",
            seconds[0]
        );
    }
}

/// A hundred of them at once: 20,000 calls.
fn many_sessions() {
    for _ in 0..3 {
        let (wall, seconds) = guessing(100);
        let slowest = seconds.iter().copied().fold(0.0, f64::max);
        let calls = ROUNDS * PLAYERS * 100;
        println!(
            "100 sessions at once, {calls} calls: {wall:.2} s for the whole command, slowest \
             session {slowest:.2} s (bar 8 s), {:.0} calls/s",
            calls as f64 / wall
        );
    }
}

/// The presets that a newcomer runs first.
fn presets() {
    for (preset, bar) in [
        ("gamma-bench/quick-start", 60),
        ("gamma-bench/leaderboard", 120),
    ] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let data = folder.path().display().to_string();
        let started = Instant::now();
        let _ = binary::run(&["run", preset, "--quiet", "--data", &data]).expect_code(0);
        let wall = started.elapsed().as_secs_f64();
        println!("preset {preset}: {wall:.2} s (bar {bar} s)");
    }
}

/// Plays the guessing game this often at once; returns the seconds of the whole
/// command and of each session.
fn guessing(sessions: u32) -> (f64, Vec<f64>) {
    let models = ModelServer::start(&["--latency", "50ms"]);
    let folder = tempfile::tempdir().expect("a scratch folder");
    let text = format!(
        "name = \"bench\"\nrepeats = {sessions}\n\
         [players.subject]\nkind = \"model\"\nmodel = \"any\"\n\
         [[games]]\ngame = \"guess_two_thirds\"\n"
    );
    let experiment = runs::write(folder.path(), &text);
    let (out, data) = (folder.path().join("out"), folder.path().join("data"));
    let (base_url, data) = (models.base_url(), data.display().to_string());
    let started = Instant::now();
    let flags = ["--base-url", &base_url, "--data", &data];
    let _ = runs::run_into(&experiment, &out, &flags).expect_code(0);
    let wall = started.elapsed().as_secs_f64();
    assert_eq!(
        models.count("requests"),
        u64::from(sessions) * ROUNDS * PLAYERS
    );
    (wall, seconds(&out))
}

/// Seconds of each session, from the run's telemetry.
fn seconds(out: &Path) -> Vec<f64> {
    let text = std::fs::read_to_string(out.join("telemetry.jsonl")).expect("telemetry");
    let lines = text.lines().map(|line| {
        let telemetry: serde_json::Value = serde_json::from_str(line).expect("telemetry as JSON");
        telemetry["seconds"].as_f64().expect("seconds")
    });
    lines.collect()
}
