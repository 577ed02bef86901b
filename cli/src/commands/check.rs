//! `agon check`: everything that is wrong with an experiment file. Plays nothing,
//! calls nobody and needs no keys. Started by `commands.rs`.

use agon_coordinator::experiment::expand;

use super::experiment_arguments::{ExperimentArguments, PlaceArguments};
use crate::failure::Failure;
use crate::output::{self, counted};

/// Arguments of `agon check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    #[command(flatten)]
    experiment: ExperimentArguments,
    #[command(flatten)]
    place: PlaceArguments,
}

/// Checks; plays nothing and calls nobody.
pub fn run(arguments: &Check) -> Result<(), Failure> {
    let checked = arguments.experiment.check()?;
    let sessions = expand(&checked.document).map_err(Failure::input)?;
    let name = &checked.document.name;
    let place = arguments.place.in_words(name)?;
    let settings = sessions.last().map_or(0, |last| last.setting_index + 1);
    let sessions = sessions.len();
    output::print(&format!(
        "{name} is good: {}, {}{}",
        counted(settings as u64, "setting"),
        counted(sessions as u64, "session"),
        checked.budget_in_words()
    ));
    output::print(&place);
    Ok(())
}
