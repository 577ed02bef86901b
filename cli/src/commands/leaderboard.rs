//! `agon leaderboard`: who did best, over any number of runs, each session counted once: in a suite
//! with an overall score, in every game, or over all games. Started by `commands.rs`.

use agon_report::{Leaderboard, Session, Standings};

use crate::failure::Failure;
use crate::gathering::RunArguments;
use crate::output::{self, FormatArguments};

const EXAMPLES: &str = "Examples:
  agon leaderboard                        every run whose results are here
  agon leaderboard lb-gpt-4o lb-my-model  those of two experiments
  agon leaderboard ~/colleague/results gamma-bench-leaderboard
                                          with a folder from elsewhere
  agon leaderboard --by game              best first in every game, with ratings
                                          of players who met
  agon leaderboard --by overall           over all games and settings
  agon leaderboard --format latex         for a paper

Of each experiment, the run that its folder shows is taken; `agon runs` lists all of them.";

/// Arguments of `agon leaderboard`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Board {
    #[command(flatten)]
    runs: RunArguments,
    /// What is ranked together
    #[arg(long, value_enum, default_value_t = By::Suite)]
    by: By,
    #[command(flatten)]
    format: FormatArguments,
}

/// What is ranked together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// gamma-Bench by its overall score, among the published rows; other games one by one
    Suite,
    /// Every game and setting by itself, with ratings of players who met in sessions
    Game,
    /// All games and settings: how likely a player does better than another
    Overall,
}

/// Prints it.
///
/// # Errors
/// Exit 2 when there is no such run, or nobody to rank.
pub fn run(arguments: &Board) -> Result<(), Failure> {
    let mut board = Leaderboard::default();
    let mut standings = Standings::default();
    let gathered = arguments.runs.gather(|session| {
        let session = Session::of(&session.record);
        board.add(&session);
        standings.add(&session);
        Ok(())
    })?;
    let layout = arguments.format.layout();
    let shown = match arguments.by {
        By::Suite => {
            let suite = (!board.is_empty()).then(|| board.render(layout));
            suite
                .into_iter()
                .chain([standings.by_game(false, layout)])
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("\n\n")
        }
        By::Game => standings.by_game(true, layout),
        By::Overall => standings.overall(layout).unwrap_or_default(),
    };
    if shown.is_empty() {
        return Err(Failure::BadInput(nobody(arguments.by).to_owned()));
    }
    output::print(&shown);
    for note in gathered.notes() {
        output::print(&format!("\n{note}"));
    }
    Ok(())
}

/// What to do where nobody can be ranked.
fn nobody(by: By) -> &'static str {
    match by {
        By::Suite => {
            "nobody to rank: none of these sessions is of the leaderboard's games, and no two players \
             are in another game and setting; `agon run gamma-bench/leaderboard` plays all eight games"
        }
        By::Game => "nobody to rank: no two players are in the same game and setting",
        By::Overall => {
            "nobody to rank over all games: that needs at least two games or settings with two players \
             each, and a player in all of them; --where leaves some out, and --by game ranks in each"
        }
    }
}
