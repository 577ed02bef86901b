//! `agon presets`: the experiments that come with Agon, listed or printed. Runs
//! none of them; their files come from `crate::presets`. Started by `commands.rs`.

use agon_coordinator::experiment::{ExperimentErrors, ExperimentFile};

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
        let bad = |errors: ExperimentErrors| Failure::BadInput(errors.to_string());
        let mut file = ExperimentFile::parse(&name, &source.text).map_err(bad)?;
        presets::add_worlds(&mut file, &name)?;
        let document = file.check().map_err(bad)?;
        columns.row([name, document.description]);
    }
    output::print(&columns.to_string());
    output::print(
        "\n`agon run NAME` runs one; `agon presets NAME > mine.toml` starts your own from it.",
    );
    Ok(())
}
