//! `agon compare`: two runs, pair by pair of sessions with the same luck. The comparison is the report
//! crate's. Started by `commands.rs`.

use agon_report::Session;
use agon_report::comparison::Comparison;

use crate::failure::Failure;
use crate::gathering::{gather, place};
use crate::output::{self, FormatArguments};
use crate::role::DataArguments;

const EXAMPLES: &str = "Examples:
  agon compare lb-gpt-4o lb-my-model    two models on the same seeds
  agon compare before after --format markdown

Sessions are paired by game, setting, seed and repeat; an axis that only names models does not \
count. What has no partner is left out and counted, and simulated sessions are never compared with \
real ones.";

/// Arguments of `agon compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Compare {
    /// Name of an experiment, folder of results, or file of records
    #[arg(value_name = "A")]
    a: String,
    /// What it is compared with
    #[arg(value_name = "B")]
    b: String,
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    format: FormatArguments,
}

/// Prints it.
///
/// # Errors
/// Exit 2 when there is no such run.
pub fn run(arguments: &Compare) -> Result<(), Failure> {
    let by_default = arguments.data.runs();
    let mut comparison = Comparison::default();
    let mut notes = Vec::new();
    for named in [&arguments.a, &arguments.b] {
        let set = comparison.set(named);
        let gathered = gather(&[place(named, &by_default)?], &[], |session| {
            comparison.add(set, &Session::of(&session.record));
            Ok(())
        })?;
        notes.extend(gathered.notes());
    }
    let layout = arguments.format.layout();
    output::print(&comparison.render(layout));
    for note in notes {
        output::print(&format!("\n{note}"));
    }
    Ok(())
}
