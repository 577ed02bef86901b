//! The bars of the agent gateway, printed beside their figures: real processes of
//! the release binary, a real Redis, simulated providers that keep limits of their
//! own. Decides nothing; fails only when it cannot measure. Run it with `cargo
//! bench -p agon-tests --bench gateway` after `cargo build --release`; `-- NAME`
//! runs one section.

#[path = "gateway/load.rs"]
mod load;
#[path = "gateway/money.rs"]
mod money;
#[path = "gateway/outage.rs"]
mod outage;
#[path = "gateway/overhead.rs"]
mod overhead;
#[path = "gateway/quota.rs"]
mod quota;
#[path = "gateway/report.rs"]
mod report;
#[path = "gateway/shares.rs"]
mod shares;
#[path = "gateway/simulated.rs"]
mod simulated;
#[path = "gateway/stand.rs"]
mod stand;
#[path = "gateway/waiters.rs"]
mod waiters;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// Name and body of each section, in the order of the bars.
const SECTIONS: [(&str, fn()); 7] = [
    ("quota", || run(quota::measure())),
    ("shares", || run(shares::measure())),
    ("waiters", || run(waiters::measure())),
    ("overhead", || run(overhead::measure())),
    ("money", || run(money::measure())),
    ("outage", || run(outage::measure())),
    ("elsewhere", report::elsewhere),
];

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let known = |name: &String| SECTIONS.iter().any(|(section, _)| section == name);
    if let Some(unknown) = asked.iter().find(|name| !known(name)) {
        let names: Vec<&str> = SECTIONS.iter().map(|(name, _)| *name).collect();
        eprintln!("no section `{unknown}`; there are {}", names.join(", "));
        return ExitCode::from(2);
    }
    agon_service_kit::server::install_crypto();
    let mut unmeasured = Vec::new();
    for (name, section) in SECTIONS {
        if !asked.is_empty() && !asked.iter().any(|wanted| wanted == name) {
            continue;
        }
        println!("\n== {name}");
        if catch_unwind(AssertUnwindSafe(section)).is_err() {
            unmeasured.push(name);
        }
    }
    if unmeasured.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nnot measured: {}", unmeasured.join(", "));
    ExitCode::FAILURE
}

/// The callers run beside the processes that they load: two threads, as the
/// machine of the bars has cores.
fn run(section: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(section);
}
