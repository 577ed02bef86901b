//! The commands, one file each, and the choice among them. Parsing and exit codes
//! are the business of `args.rs` and `failure.rs`, which calls this.

pub mod check;
pub mod completions;
pub mod coordinator;
pub mod experiments;
pub mod games;
pub mod gateway;
pub mod plan;
pub mod play;
pub mod presets;
pub mod prompts;
pub mod replay;
pub mod run;
pub mod runs;
pub mod show;
pub mod sim_llm;
pub mod verify;
pub mod worker;

mod experiment_arguments;

pub(crate) use experiment_arguments::{CheckedExperiment, prompts_of};

use crate::args::{Cli, Command};
use crate::failure::Failure;

/// Runs what was typed.
pub fn run(cli: Cli) -> Result<(), Failure> {
    let log = cli.log;
    match cli.command {
        Command::Run(arguments) => run::run(&arguments, &log),
        Command::Play(arguments) => play::run(&arguments, &log),
        Command::Check(arguments) => check::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Presets(arguments) => presets::run(&arguments),
        Command::Games(arguments) => games::run(&arguments),
        Command::Prompts(arguments) => prompts::run(&arguments, &log),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments, &log),
        Command::Show(arguments) => show::run(&arguments, &log),
        Command::Runs(arguments) => runs::run(&arguments),
        Command::Experiments(arguments) => experiments::run(&arguments, &log),
        Command::Coordinator(arguments) => coordinator::run(&arguments, &log),
        Command::Gateway(arguments) => gateway::run(&arguments, &log),
        Command::Worker(arguments) => worker::run(&arguments, &log),
        Command::SimLlm(arguments) => sim_llm::run(&arguments, &log),
        Command::Completions(arguments) => {
            completions::run(&arguments);
            Ok(())
        }
    }
}
