//! `agon` as a later version of itself, for tests of upgrades: the same program, which takes its rules,
//! its records or its prompts for newer ones. `AGON_NEXT` names which, with commas between them. It is
//! shipped to nobody.

use std::process::ExitCode;

use agon_engine::versions::{self, Raised};

fn main() -> ExitCode {
    let next = std::env::var("AGON_NEXT").unwrap_or_default();
    let by = |what: &str| u32::from(next.split(',').any(|one| one == what));
    versions::raise(Raised {
        rules: by("rules"),
        record: by("record"),
        prompts: by("prompts"),
    });
    agon_cli::main()
}
