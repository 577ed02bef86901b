//! `agon presets`: the experiments that come with Agon, listed or printed. Runs
//! none of them; their files come from `crate::presets`. Started by `commands.rs`.

use agon_coordinator::experiment::ExperimentFile;

use crate::failure::Failure;
use crate::output::{self, Columns};
use crate::presets;

/// Arguments of `agon presets`.
#[derive(Debug, clap::Args)]
pub struct Presets {
    /// Print this preset's file, to start your own from
    name: Option<String>,
}

/// Prints the list, or one file.
pub fn run(arguments: &Presets) -> Result<(), Failure> {
    if let Some(name) = &arguments.name {
        let source = presets::find(name)?;
        output::print(source.text.trim_end());
        return Ok(());
    }
    let mut columns = Columns::new(["preset", "what it is"]);
    for name in presets::names() {
        let source = presets::find(&name)?;
        let file = ExperimentFile::parse(&name, &source.text);
        let document = file
            .and_then(|file| file.check())
            .map_err(|errors| Failure::BadInput(errors.to_string()))?;
        columns.row([name, document.description]);
    }
    output::print(&columns.to_string());
    output::print(
        "\n`agon run NAME` runs one; `agon presets NAME > mine.toml` starts your own from it.",
    );
    Ok(())
}
