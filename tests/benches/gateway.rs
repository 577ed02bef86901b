//! The bars of the agent gateway, printed beside their figures: real processes of
//! the release binary, a real Redis, simulated providers that keep limits of their
//! own. Decides nothing; fails only when it cannot measure. Run it with `cargo
//! bench -p agon-tests --bench gateway` after `cargo build --release`; `-- NAME`
//! runs one section.

#[path = "gateway/drain.rs"]
mod drain;
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

use std::process::ExitCode;

use agon_tests::benches::{self, Section};

/// Name and body of each section, in the order of the bars.
const SECTIONS: [Section; 8] = [
    ("quota", || run(quota::measure())),
    ("shares", || run(shares::measure())),
    ("waiters", || run(waiters::measure())),
    ("overhead", || run(overhead::measure())),
    ("money", || run(money::measure())),
    ("outage", || run(outage::measure())),
    ("drain", || run(drain::measure())),
    ("elsewhere", report::elsewhere),
];

fn main() -> ExitCode {
    agon_service_kit::server::install_crypto();
    benches::run(&SECTIONS)
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
