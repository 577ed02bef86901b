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
#[path = "coordinator/waiting.rs"]
mod waiting;

use std::process::ExitCode;

/// Name and body of each section, in the order of the bars.
const SECTIONS: [(&str, fn()); 3] = [
    ("no-op", no_op::measure),
    ("million", million::measure),
    ("waiting", waiting::measure),
];

fn main() -> ExitCode {
    let arguments = std::env::args().skip(1);
    let asked: Vec<String> = arguments.filter(|one| !one.starts_with('-')).collect();
    let known = |name: &String| SECTIONS.iter().any(|(section, _)| section == name);
    if let Some(unknown) = asked.iter().find(|name| !known(name)) {
        let names: Vec<&str> = SECTIONS.iter().map(|(name, _)| *name).collect();
        eprintln!("no section `{unknown}`; there are {}", names.join(", "));
        return ExitCode::from(2);
    }
    for (name, section) in SECTIONS {
        if asked.is_empty() || asked.iter().any(|wanted| wanted == name) {
            println!("\n== {name}");
            section();
        }
    }
    ExitCode::SUCCESS
}
