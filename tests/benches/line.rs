//! The whole line, timed: real processes of the release binary against a
//! simulated model server of 50 ms on the same machine. Prints each figure beside
//! its bar; decides nothing. Run it with `cargo bench -p agon-tests --bench line`
//! after `cargo build --release`.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};

use agon_tests::measured::processor_time_of_commands;
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
    rule_auctions();
    water_games();
    model_auctions();
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
        let before = processor_time_of_commands().unwrap_or_default();
        let (wall, seconds) = guessing(100);
        let spent = processor_time_of_commands().unwrap_or_default() - before;
        let slowest = seconds.iter().copied().fold(0.0, f64::max);
        let calls = ROUNDS * PLAYERS * 100;
        println!(
            "100 sessions at once, {calls} calls: {wall:.2} s for the whole command, slowest \
             session {slowest:.2} s (bar 8 s), {:.0} calls/s, {:.3} ms of processor time per call \
             through seat, gateway and ledger (bar 0.28 ms)",
            calls as f64 / wall,
            spent.as_secs_f64() * 1e3 / calls as f64
        );
    }
}

/// Standard-competition auctions of rule bidders through the whole cluster.
fn rule_auctions() {
    let repeats = 167;
    let bidder = "kind = \"rule\"\nstrategy = \"patient_raiser\"";
    for _ in 0..3 {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let experiment = runs::write(folder.path(), &competition(bidder, repeats));
        let (out, data) = (folder.path().join("out"), folder.path().join("data"));
        let data = data.display().to_string();
        let started = Instant::now();
        let _ = runs::run_into(&experiment, &out, &["--data", &data]).expect_code(0);
        let wall = started.elapsed().as_secs_f64();
        let auctions = seconds(&out).len();
        assert_eq!(auctions, 6 * repeats as usize);
        println!("{auctions} auctions of rule bidders: {wall:.2} s (bar 5 s for 1,000)");
    }
}

/// Water games of twenty days, residents of several kinds, through the whole cluster.
fn water_games() {
    const GAMES: usize = 10_000;
    let strategies = ["share", "outbid", "last_moment", "equilibrium", "random"];
    let players = strategies.map(|strategy| {
        format!("[players.{strategy}]\nkind = \"rule\"\nstrategy = \"{strategy}\"\n")
    });
    let text = format!(
        "name = \"bench\"\nrepeats = {GAMES}\n{}[[games]]\ngame = \"water_allocation\"\n\
         seats = {strategies:?}\n",
        players.concat()
    );
    for _ in 0..3 {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let experiment = runs::write(folder.path(), &text);
        let (out, data) = (folder.path().join("out"), folder.path().join("data"));
        let data = data.display().to_string();
        let started = Instant::now();
        let _ = runs::run_into(&experiment, &out, &["--data", &data]).expect_code(0);
        let wall = started.elapsed().as_secs_f64();
        assert_eq!(seconds(&out).len(), GAMES);
        println!("{GAMES} water games of rule players: {wall:.2} s (bar 10 s)");
    }
}

/// The same with bidders that have plans and beliefs: no auction waits for another,
/// and no seat for another but by the rules of the game.
fn model_auctions() {
    let models = ModelServer::start(&["--latency", "50ms"]);
    let base_url = models.base_url();
    let bidder = "kind = \"model\"\nmodel = \"any\"\nagent = \"bdi\"";
    for _ in 0..3 {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let experiment = runs::write(folder.path(), &competition(bidder, 3));
        let (out, data) = (folder.path().join("out"), folder.path().join("data"));
        let data = data.display().to_string();
        let started = Instant::now();
        let flags = ["--base-url", &base_url, "--data", &data];
        let _ = runs::run_into(&experiment, &out, &flags).expect_code(0);
        let wall = started.elapsed().as_secs_f64();
        let records = std::fs::read_to_string(out.join("records.jsonl")).expect("records");
        let chains = records.lines().map(chain_of_calls);
        let longest = chains.max().expect("an auction");
        let chain = Duration::from_millis(LATENCY_MS * longest).as_secs_f64();
        println!(
            "{} auctions of model bidders, 50 ms model: {wall:.2} s, {:.2} of the longest chain of \
             {longest} calls (bar 1.3)",
            records.lines().count(),
            wall / chain
        );
    }
}

/// Three such bidders, two budgets, three orders of sale.
fn competition(bidder: &str, repeats: u32) -> String {
    format!(
        "name = \"bench\"\nrepeats = {repeats}\n[players.bidder]\n{bidder}\n\
         [[games]]\ngame = \"english_auction\"\nseats = [{{ player = \"bidder\", count = 3 }}]\n\
         [games.grid]\n\"params.budget\" = [20000, 40000]\n\
         \"params.order\" = [\"random\", \"ascending\", \"descending\"]\n"
    )
}

/// Calls that can only be made one after another in a recorded auction: in each
/// turn the most that one of its seats makes (what it thinks about before it answers
/// included), and what is thought about after the last.
fn chain_of_calls(record: &str) -> u64 {
    let record: serde_json::Value = serde_json::from_str(record).expect("a record");
    let list = |name: &str| record[name].as_array().cloned().unwrap_or_default();
    let mut calls: BTreeMap<u64, VecDeque<bool>> = BTreeMap::new();
    for decision in list("decisions") {
        let seat = decision["seat"].as_u64().expect("a seat");
        calls
            .entry(seat)
            .or_default()
            .push_back(decision["purpose"] == "bid");
    }
    let (mut chain, mut turn, mut most) = (0, 0, 0);
    for answer in list("moves") {
        if answer["turn"].as_u64() != Some(turn) {
            turn = answer["turn"].as_u64().expect("a turn");
            chain += std::mem::take(&mut most);
        }
        let tries = 1 + answer["fouls"].as_array().map_or(0, Vec::len);
        let own = calls
            .entry(answer["seat"].as_u64().expect("a seat"))
            .or_default();
        let (mut made, mut bids) = (0, 0);
        while bids < tries {
            let Some(is_bid) = own.pop_front() else { break };
            made += 1;
            bids += usize::from(is_bid);
        }
        most = most.max(made);
    }
    let left = calls.values().map(|own| own.len() as u64).max();
    chain + most + left.unwrap_or_default()
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
