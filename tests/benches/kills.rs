//! One experiment while processes of every kind are killed and stopped at random, the gateways' Redis is
//! restarted twice and that of the coordinators fails over: nothing is lost, nothing is there twice, the
//! records are those of an undisturbed run, and only calls that were in flight when a gateway died are
//! made again. Run it with `cargo bench -p agon-tests --bench kills` after `cargo build --release`;
//! `-- --sessions N --seed S` takes so many sessions, and draws what happens from this seed; `--keep`
//! keeps logs and results, as a missed bar does. Exit code 1 when a bar is missed.

#[path = "kills/in_flight.rs"]
mod in_flight;
#[path = "kills/killer.rs"]
mod killer;
#[path = "kills/plan.rs"]
mod plan;
#[path = "kills/process.rs"]
mod process;
#[path = "kills/stand.rs"]
mod stand;
#[path = "kills/verdict.rs"]
mod verdict;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use agon_tests::binary::Role;
use agon_tests::runs;

use killer::Killer;
use plan::{Chance, plan};
use stand::Stand;
use verdict::Verdict;

/// Without `--sessions`.
const SESSIONS: usize = 10_000;

/// With fewer, not all that must happen falls into the experiment.
const FEWEST_SESSIONS: usize = 200;

/// What the model server takes for every answer.
const LATENCY: &str = "20ms";

/// The experiment's name.
const NAME: &str = "kills";

/// Short sessions of two players of a model each. A seat makes two calls, and few make four.
const GAMES: &str = r#"
[players.subject]
kind = "model"
model = "any"

[players.talker]
kind = "model"
model = "any"
reply = "text"

[[games]]
game = "divide_dollar"
params = { rounds = 2 }
seats = [{ player = "subject", count = 2 }]

[[games]]
game = "public_goods"
params = { rounds = 2 }
seats = ["subject", "talker"]

[[games]]
game = "guess_two_thirds"
params = { rounds = 2 }
seats = [{ player = "subject", count = 2 }]

[[games]]
game = "sealed_bid_auction"
params = { rounds = 2 }
seats = ["subject", "talker"]
"#;

/// Games in the experiment.
const GAMES_COUNT: usize = 4;

fn main() -> ExitCode {
    let (mut sessions, mut seed, mut keeps) = (SESSIONS, 1, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|number| number.parse().ok());
        let is_good = match &*argument {
            "--sessions" => number()
                .map(|number: u64| sessions = number as usize)
                .is_some(),
            "--seed" => number().map(|number| seed = number).is_some(),
            "--keep" => {
                keeps = true;
                true
            }
            // What cargo adds.
            "--bench" => true,
            _ => false,
        };
        if !is_good || sessions < FEWEST_SESSIONS {
            eprintln!(
                "cannot read `{argument}`: [--sessions N] [--seed S] [--keep], {FEWEST_SESSIONS} sessions or \
                 more"
            );
            return ExitCode::from(2);
        }
    }
    agon_service_kit::server::install_crypto();
    let folder = tempfile::tempdir().expect("a scratch folder");
    let verdict = disturb(folder.path(), sessions.next_multiple_of(GAMES_COUNT), seed);
    let is_met = verdict.print();
    if keeps || !is_met {
        println!("logs and results: {}", folder.keep().display());
    }
    match is_met {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Plays the experiment undisturbed, and then disturbed.
fn disturb(folder: &Path, sessions: usize, seed: u64) -> Verdict {
    println!("{sessions} sessions, seed {seed}");
    let repeats = sessions / GAMES_COUNT;
    let text = format!("name = \"{NAME}\"\nseed = {seed}\nrepeats = {repeats}\n{GAMES}");
    let begun = Instant::now();
    let alone = folder.join("alone");
    std::fs::create_dir(&alone).expect("a writable folder");
    let undisturbed = runs::in_process(&alone, &text, &[]);
    let calls = runs::decisions(&undisturbed);
    let seconds = begun.elapsed().as_secs_f64();
    println!("undisturbed: {calls} decisions in {seconds:.1} s");

    let models = runs::model_server(LATENCY);
    let experiment = runs::write(folder, &text);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let _clients_live_here = runtime.enter();
    // As many at once as make the experiment last for a while.
    let places = (sessions / 150).clamp(2, 16);
    let stand = Stand::start(folder, &models, places);
    let begun = Instant::now();
    let out = folder.join("out");
    let mut following = hand_in(&runtime, &stand, &experiment, &out);
    let mut chance = Chance::new(seed);
    let plan = plan(&mut chance, sessions);
    let mut killer = Killer::new(stand, (chance, plan), &models, &runtime, NAME);
    let ended = killer.run(calls);
    let took = begun.elapsed();
    killer.restore_all();
    let said = following.end();
    std::fs::write(folder.join("faults.log"), &killer.log).expect("a writable folder");
    verdict::judge(&killer, &models, (&undisturbed, &out), (ended, said), took)
}

/// Hands the experiment in as a person does, who stays and follows it through everything.
fn hand_in(
    runtime: &tokio::runtime::Runtime,
    stand: &Stand,
    experiment: &Path,
    out: &Path,
) -> Role {
    let (experiment, out) = (experiment.display().to_string(), out.display().to_string());
    let command = ["run", &experiment, "--quiet", "--out", &out];
    let following =
        Role::start_silent(&[&command[..], &["--coordinator", &stand.urls.join(",")]].concat());
    let deadline = Instant::now() + Duration::from_secs(60);
    while runtime.block_on(stand.look(NAME)).is_none() {
        assert!(Instant::now() < deadline, "nobody takes the experiment");
        std::thread::sleep(Duration::from_millis(50));
    }
    following
}
