//! `agon completions`: completion scripts for shells, written to standard output.
//! Installs nothing. Started by `commands.rs`.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Cli;
use crate::output;

/// Arguments of `agon completions`.
#[derive(Debug, clap::Args)]
pub struct Completions {
    /// The shell to write for.
    shell: Shell,
}

/// Writes the script to standard output.
pub fn run(arguments: &Completions) {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "agon", &mut script);
    output::write(&script);
}
