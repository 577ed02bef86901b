//! What ten thousand open sessions of ten model seats cost their worker while all wait for an answer:
//! its memory beside the requests that a silent gateway received.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use agon_tests::benches::{bar, note};
use agon_tests::binary::{Role, run};
use agon_tests::fake_gateway::FakeGateway;
use agon_tests::measured::Memory;

use crate::stand::{memory, sessions};

const SESSIONS: u32 = 10_000;

const SEATS: u64 = 10;

/// What makes a prompt long: rules as long as those of games with many.
const PADDING: &str = "All of this has to be read before the first move. ";
const PADDING_TIMES: usize = 150;

/// 12 KB, beside the prompt itself.
const MOST_BYTES: f64 = 12.0 * 1024.0;

/// How long all calls may take to arrive, and how long they are left alone then.
const ARRIVE_WITHIN: Duration = Duration::from_secs(240);
const LEFT_ALONE: Duration = Duration::from_secs(5);

/// Measures and prints.
pub fn measure() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let all = sessions(SESSIONS);
    let experiment = experiment(folder.path(), all);
    let gateway = FakeGateway::silent();
    let data = folder.path().join("data").display().to_string();
    let at = gateway.url();
    let arguments = ["coordinator", "--listen", "127.0.0.1:0", "--data", &data];
    let (_coordinator, address) =
        Role::listening(&[&arguments[..], &["--gateway", &at, "--log", "warn"]].concat());
    let url = format!("http://{address}");
    let places = all.to_string();
    let arguments = ["worker", "--coordinator", &url, "--gateway", &at];
    let (worker, _) =
        Role::start(&[&arguments[..], &["--places", &places, "--log", "warn"]].concat());
    let before = memory(&worker, Memory::Now);
    let arguments = ["run", &experiment, "--coordinator", &url, "--gateway", &at];
    let _run = Role::start_silent(&[&arguments[..], &["--data", &data]].concat());
    let calls = u64::from(all) * SEATS;
    let deadline = Instant::now() + ARRIVE_WITHIN;
    while gateway.waiting().calls < calls {
        assert!(
            Instant::now() < deadline,
            "{:?} of {calls} wait",
            gateway.waiting()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    std::thread::sleep(LEFT_ALONE);
    let after = memory(&worker, Memory::Now);
    let waiting = gateway.waiting();
    let prompt = waiting.bytes as f64 / waiting.asked as f64;
    let each = (after - before) as f64 / calls as f64;
    bar(
        &format!(
            "{calls} calls wait in one worker, with requests of {prompt:.0} bytes; each takes"
        ),
        &format!(
            "{:.1} KB beside its request, {:.1} KB with it",
            (each - prompt) / 1024.0,
            each / 1024.0
        ),
        "12 KB",
        each - prompt <= MOST_BYTES,
    );
    note(&format!(
        "{} were asked again; the worker grew from {} to {} MB, {} MB at the most",
        waiting.asked - calls,
        before / 1_000_000,
        after / 1_000_000,
        memory(&worker, Memory::Peak) / 1_000_000
    ));
}

/// An experiment of long prompts.
fn experiment(folder: &Path, sessions: u32) -> String {
    let templates = folder.join("templates");
    let shown = templates.display().to_string();
    let _ = run(&["prompts", "guess_two_thirds", "--out", &shown]).expect_code(0);
    let rules = templates.join("guess_two_thirds/v1/system.j2");
    let text = fs::read_to_string(&rules).expect("the rules as they are sent");
    fs::write(&rules, text + &PADDING.repeat(PADDING_TIMES)).expect("a writable folder");
    let text = format!(
        "name = \"waiting\"\nrepeats = {sessions}\ntemplates = \"{shown}\"\n[players.subject]\n\
         kind = \"model\"\nmodel = \"any\"\n[[games]]\ngame = \"guess_two_thirds\"\n\
         params = {{ rounds = 1 }}\nseats = [{{ player = \"subject\", count = {SEATS} }}]\n"
    );
    let experiment = folder.join("waiting.toml");
    fs::write(&experiment, text).expect("a writable folder");
    experiment.display().to_string()
}
