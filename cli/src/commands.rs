//! The command line: what can be typed, with help that teaches, and the choice among the
//! commands, one file each with its own arguments. Parsed by `program.rs`, and read by
//! `agon completions`.

pub mod audit;
pub mod check;
pub mod compare;
pub mod completions;
pub mod conformance;
pub mod coordinator;
pub mod diff;
pub mod doctor;
pub mod experiments;
pub mod export;
pub mod figure;
pub mod games;
pub mod gateway;
pub mod import;
pub mod invite;
pub mod leaderboard;
pub mod plan;
pub mod play;
pub mod presets;
pub mod prompts;
pub mod publish;
pub mod replay;
pub mod report;
pub mod results;
pub mod run;
pub mod runs;
pub mod show;
pub mod sim_llm;
pub mod team;
pub mod token;
pub mod verify;
mod view;
pub mod worker;

use clap::{Parser, Subcommand};

use crate::connecting::ConnectionArguments;
use crate::failure::{EXIT_CODES, Failure};
use crate::role::LogArguments;

const START: &str = "Start here:
  agon run gamma-bench/quick-start        eight games, built-in players, no key
  agon run gamma-bench/leaderboard --model sim
                                          a model's place among published ones,
                                          with a simulated model
  OPENAI_API_KEY=... agon run gamma-bench/leaderboard \\
                              --model openai/gpt-4o-mini";

/// Plays games between language models, rules and people, thousands at a time,
/// and measures how well each one decides.
#[derive(Debug, Parser)]
#[command(name = "agon", version, after_help = format!("{START}\n\n{EXIT_CODES}"))]
#[command(propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    log: LogArguments,
    #[command(flatten)]
    connections: ConnectionArguments,
}

/// What can be done.
#[derive(Debug, Subcommand)]
enum Command {
    /// Run an experiment and print its results; go on where it stopped before
    Run(run::Run),
    /// Sit down at a game yourself, in this terminal; leave and come back as you like
    Play(play::Play),
    /// Invite people to seats at which they play in a browser; list and withdraw invitations
    Invite(invite::Invite),
    /// Check an experiment file and say what is wrong with it, several faults at a time
    Check(check::Check),
    /// Say what an experiment would take: sessions, decisions, tokens, dollars
    Plan(plan::Plan),
    /// List the experiments that come with Agon, or print one to start your own from
    Presets(presets::Presets),
    /// List games, or show parameters and strategies of one
    Games(games::Games),
    /// Check that a game in another process does what every game must do
    Conformance(conformance::Conformance),
    /// Print a game's prompt templates, and an example of what is sent
    Prompts(prompts::Prompts),
    /// Play recorded games again through the engine and compare everything
    Replay(replay::Replay),
    /// Play a run's session records again and compare bytes
    Verify(verify::Verify),
    /// Show a finished session as a readable log, or list the sessions that there are
    Show(show::Show),
    /// Look at runs and sessions in a browser
    View(view::View),
    /// Write runs as a static site: results, sessions, records, and what proves them
    Publish(publish::Publish),
    /// Print everything that can be made of any runs: tables, and what is published beside them
    Report(report::Report),
    /// List the runs whose results are kept, or delete some of them
    #[command(visible_alias = "ls")]
    Runs(runs::Runs),
    /// Write the sessions of any runs as tables for other programs: Parquet, CSV, JSON lines
    Export(export::Export),
    /// Compare two runs, pair by pair of sessions with the same luck
    Compare(compare::Compare),
    /// Show what differs between two finished sessions
    Diff(diff::Diff),
    /// Draw a figure of any runs: in the terminal, or as SVG, PNG, PDF or CSV
    Figure(figure::FigureArguments),
    /// Keep games that other programs recorded as a run, for tables, figures and exports
    Import(import::Import),
    /// Rank the models of any runs of gamma-Bench's games among the published ones
    Leaderboard(leaderboard::Board),
    /// List, follow, cancel or retry experiments of a coordinator
    #[command(subcommand)]
    Experiments(experiments::Experiments),
    /// Fetch results from a coordinator
    #[command(subcommand)]
    Results(results::Results),
    /// Start a coordinator: experiments, queue, leases, results
    Coordinator(coordinator::Coordinator),
    /// Start an agent gateway: keys, limits, ledger, providers
    Gateway(gateway::Gateway),
    /// Start a worker: plays sessions for a coordinator
    Worker(worker::Worker),
    /// Make, list and revoke tokens, with which people and services come in
    Token(token::Token),
    /// Create, change and list the teams that share an installation
    Team(team::Team),
    /// Show who changed what in a shared installation
    Audit(audit::Audit),
    /// Check an installation and say what to do about each fault
    Doctor(doctor::Doctor),
    /// Start a simulated model server: OpenAI, Anthropic, Gemini and Azure protocols
    SimLlm(sim_llm::SimLlm),
    /// Write a completion script for a shell
    Completions(completions::Completions),
}

/// Runs what was typed.
pub fn run(cli: Cli) -> Result<(), Failure> {
    let log = cli.log;
    cli.connections.settle()?;
    match cli.command {
        Command::Run(arguments) => run::run(&arguments, &log),
        Command::Play(arguments) => play::run(&arguments, &log),
        Command::Invite(arguments) => invite::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments, &log),
        Command::Presets(arguments) => presets::run(&arguments),
        Command::Games(arguments) => games::run(&arguments),
        Command::Prompts(arguments) => prompts::run(&arguments, &log),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Verify(arguments) => verify::run(&arguments, &log),
        Command::Show(arguments) => show::run(&arguments, &log),
        Command::View(arguments) => view::run(&arguments, &log),
        Command::Publish(arguments) => publish::run(&arguments, &log),
        Command::Report(arguments) => report::run(&arguments),
        Command::Runs(arguments) => runs::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Conformance(arguments) => conformance::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments, &log),
        Command::Figure(arguments) => figure::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Leaderboard(arguments) => leaderboard::run(&arguments),
        Command::Experiments(arguments) => experiments::run(&arguments, &log),
        Command::Results(arguments) => results::run(&arguments, &log),
        Command::Coordinator(arguments) => coordinator::run(&arguments, &log),
        Command::Gateway(arguments) => gateway::run(&arguments, &log),
        Command::Worker(arguments) => worker::run(&arguments, &log),
        Command::Token(arguments) => token::run(&arguments),
        Command::Team(arguments) => team::run(&arguments),
        Command::Audit(arguments) => audit::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::SimLlm(arguments) => sim_llm::run(&arguments, &log),
        Command::Completions(arguments) => {
            completions::run(&arguments);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// Narrow terminals have 80 columns.
    const NARROW: usize = 80;

    /// Gives every command, those below others too.
    fn each(command: &clap::Command, look: &mut impl FnMut(&clap::Command)) {
        look(command);
        for below in command.get_subcommands() {
            each(below, look);
        }
    }

    #[test]
    fn examples_in_the_help_fit_80_columns_and_paragraphs_wrap_where_the_terminal_ends() {
        let mut with_examples = 0;
        each(&Cli::command(), &mut |command| {
            let helps = [command.get_after_help(), command.get_after_long_help()];
            for help in helps.into_iter().flatten().map(ToString::to_string) {
                with_examples += 1;
                let lines: Vec<&str> = help.lines().collect();
                for pair in lines.windows(2) {
                    let is_words = |line: &str| !line.is_empty() && !line.starts_with(' ');
                    let broken = is_words(pair[0]) && is_words(pair[1]);
                    assert!(!broken, "{}: {pair:?}", command.get_name());
                }
                for line in lines.iter().filter(|line| line.starts_with(' ')) {
                    assert!(line.len() <= NARROW, "{}: {line}", command.get_name());
                }
            }
        });
        assert!(with_examples >= 14, "{with_examples}");
    }

    #[test]
    fn help_tells_no_value_of_an_environment_variable() {
        let mut variables = 0;
        each(&Cli::command(), &mut |command| {
            for argument in command.get_arguments() {
                if let Some(variable) = argument.get_env() {
                    variables += 1;
                    // An address of Redis may hold a password.
                    assert!(argument.is_hide_env_values_set(), "{variable:?}");
                }
            }
        });
        assert!(variables >= 20, "{variables}");
    }
}
