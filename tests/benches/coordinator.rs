//! The bars of the coordinator, printed beside their figures: real processes of the release binary
//! and a real Redis whose append-only file is synced every second. Decides nothing; fails only when
//! it cannot measure. Run it with `cargo bench -p agon-tests --bench coordinator` after `cargo build
//! --release`; `-- NAME` runs one section, and numbers of sessions are set by `AGON_BENCH_SESSIONS`.

#[path = "coordinator/idle_worker.rs"]
mod idle_worker;
#[path = "coordinator/million.rs"]
mod million;
#[path = "coordinator/no_op.rs"]
mod no_op;
#[path = "coordinator/stand.rs"]
mod stand;
#[path = "coordinator/teams.rs"]
mod teams;
#[path = "coordinator/waiting.rs"]
mod waiting;

use std::process::ExitCode;

use agon_tests::benches::{self, Section};

/// Name and body of each section, in the order of the bars.
const SECTIONS: [Section; 4] = [
    ("no-op", no_op::measure),
    ("million", million::measure),
    ("waiting", waiting::measure),
    ("teams", teams::measure),
];

fn main() -> ExitCode {
    benches::run(&SECTIONS)
}
