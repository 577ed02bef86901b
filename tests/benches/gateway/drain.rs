//! SIGTERM at a random moment while calls are under way that take long: each of them is paid for,
//! so it is awaited, recorded and answered, and nothing is asked twice. Scaled down unless the
//! command line says `--full`.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::load::{Ask, Crowd};
use crate::report;
use crate::simulated::Simulated;
use crate::stand::{Config, Stand};

/// How much of it is measured.
struct Size {
    callers: usize,
    latency: Duration,
    times: u32,
}

const FULL: Size = Size {
    callers: 500,
    latency: Duration::from_secs(20),
    times: 20,
};

const SCALED: Size = Size {
    callers: 200,
    latency: Duration::from_secs(2),
    times: 5,
};

/// Each caller asks so many questions: some when the replica has gone.
const QUESTIONS: u32 = 2;

/// Measures and prints.
pub async fn measure() {
    let full = std::env::args().any(|argument| argument == "--full");
    let Size {
        callers,
        latency,
        times,
    } = if full { FULL } else { SCALED };
    let seconds = format!("{}s", latency.as_secs());
    let server = Simulated::start(&["--latency", &seconds]);
    let mut config = Config::new();
    config.provider("p", &server, 1, "");
    config.add("[models.m]\nprovider = 'p'");
    let mut stand = Stand::start(2, config);
    let (mut twice, mut unanswered, mut failed, mut slowest) = (0, 0, 0, Duration::ZERO);
    for round in 0..times {
        let before = server.stats().count("requests");
        let ask = Ask::small(&format!("drain-{round}"), "default", "m");
        // All of them ask the replica that is told to stop first.
        let clients = |_| vec![stand.client(0), stand.client(1)];
        let mut crowd = Crowd::send(&ask, callers, Some(QUESTIONS), clients);
        tokio::time::sleep(random_part_of(latency)).await;
        let began = Instant::now();
        stand.replicas[0].role.signal("-TERM");
        let stopped = tokio::task::block_in_place(|| stand.replicas[0].role.end());
        slowest = slowest.max(began.elapsed());
        failed += u64::from(stopped.0 != Some(0));
        crowd.finished().await;
        crowd.counts.tell_wrong();
        let asked = callers as u64 * u64::from(QUESTIONS);
        let calls = server.stats().count("requests") - before;
        twice += calls.saturating_sub(asked);
        unanswered += asked - crowd.counts.answered();
        stand.restart(0);
    }
    let seconds = latency.as_secs();
    report::bar(
        &format!(
            "calls paid twice after SIGTERM at a random moment under {callers} calls of {seconds} s, \
             {times} times"
        ),
        &twice.to_string(),
        "0",
        twice == 0 && unanswered == 0 && failed == 0,
    );
    report::note(&format!(
        "{unanswered} questions without an answer, {failed} stops without success, the slowest \
         took {:.1} s",
        slowest.as_secs_f64()
    ));
    stand.tell_oddities();
}

fn random_part_of(time: Duration) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let draw = now.map_or(0, |now| now.subsec_nanos());
    time.mul_f64(f64::from(draw % 1_000_000) / 1e6)
}
