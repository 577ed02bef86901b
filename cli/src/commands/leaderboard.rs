//! `agon leaderboard`: the gamma-Bench leaderboard over any number of runs, each session counted
//! once. Knows no measure. Started by `commands.rs`.

use agon_report::{Leaderboard, Session};

use crate::failure::Failure;
use crate::gathering::RunArguments;
use crate::output::{self, FormatArguments};

const EXAMPLES: &str = "Examples:
  agon leaderboard                        every run whose results are here
  agon leaderboard lb-gpt-4o lb-my-model  those of two experiments
  agon leaderboard ~/colleague/results gamma-bench-leaderboard
                                          folders of results from elsewhere, too
  agon leaderboard --format latex         for a paper

Of each experiment the run that its folder shows is taken; `agon runs` lists all of them.";

/// Arguments of `agon leaderboard`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Board {
    #[command(flatten)]
    runs: RunArguments,
    #[command(flatten)]
    format: FormatArguments,
}

/// Prints it.
///
/// # Errors
/// Exit 2 when there is no such run, or none with a game of the leaderboard.
pub fn run(arguments: &Board) -> Result<(), Failure> {
    let mut board = Leaderboard::default();
    let gathered = arguments.runs.gather(|session| {
        board.add(&Session::of(&session.record));
        Ok(())
    })?;
    if board.is_empty() {
        return Err(Failure::BadInput(
            "none of these sessions is of the leaderboard's games; `agon run \
             gamma-bench/leaderboard` plays all eight"
                .to_owned(),
        ));
    }
    output::print(&board.render(arguments.format.layout()));
    for note in gathered.notes() {
        output::print(&format!("\n{note}"));
    }
    Ok(())
}
