//! `agon check`: everything that is wrong with an experiment file. Plays nothing,
//! calls nobody and needs no keys. Started by `commands.rs`.

use agon_coordinator::experiment::plan;

use super::experiment_arguments::ExperimentArguments;
use crate::failure::Failure;
use crate::output;

/// Arguments of `agon check`.
#[derive(Debug, clap::Args)]
pub struct Check {
    #[command(flatten)]
    experiment: ExperimentArguments,
}

/// Checks; plays nothing and calls nobody.
pub fn run(arguments: &Check) -> Result<(), Failure> {
    let checked = arguments.experiment.check()?;
    let plan = plan(&checked.document).map_err(Failure::input)?;
    let name = &checked.document.name;
    let (settings, sessions) = (plan.settings, plan.sessions);
    output::print(&format!(
        "{name} is good: {settings} settings, {sessions} sessions"
    ));
    Ok(())
}
