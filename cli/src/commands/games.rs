//! `agon games`: which games there are, and what one of them takes. Prints what the
//! engine's registry says and knows no game itself. Started by `commands.rs`.

use agon_engine::registry::{self, Registration};
use serde_json::Value;

use crate::failure::Failure;
use crate::output::{self, Columns};

/// Longest list that is shown in full as a default.
const LONGEST_DEFAULT: usize = 40;

/// Arguments of `agon games`.
#[derive(Debug, clap::Args)]
pub struct Games {
    /// Show parameters, strategies and equilibrium of this game.
    name: Option<String>,
}

/// Prints the list, or one game.
pub fn run(arguments: &Games) -> Result<(), Failure> {
    match &arguments.name {
        None => list(),
        Some(name) => {
            let game = registry::find(name).map_err(Failure::input)?;
            describe(game)?;
        }
    }
    Ok(())
}

fn list() {
    let mut columns = Columns::new(["game", "seats", "what it is"]);
    for game in registry::GAMES {
        let (fewest, most) = game.info.seats;
        let seats = format!("{fewest}-{most}");
        columns.row([
            game.info.name.to_string(),
            seats,
            game.info.summary.to_string(),
        ]);
    }
    output::print(&columns.to_string());
    output::print("\n`agon games NAME` shows parameters and built-in strategies of one game.");
}

fn describe(game: &Registration) -> Result<(), Failure> {
    let info = &game.info;
    let built = game.build(&Default::default()).map_err(Failure::input)?;
    let (fewest, most) = info.seats;
    output::print(&format!(
        "{} ({})\n{}\nSource: {}\nSeats: {fewest} to {most}\n",
        info.title, info.name, info.summary, info.source
    ));
    let mut params = Columns::new(["parameter", "default", "meaning"]);
    let schema = game.schema();
    for (name, default) in &built.params {
        let meaning = meaning(&schema, name);
        params.row([name.clone(), shown(default), meaning]);
    }
    output::print(&params.to_string());
    let mut strategies = Columns::new(["strategy", "what it does"]);
    for strategy in game.strategies() {
        strategies.row([strategy.name.to_owned(), strategy.summary.to_owned()]);
    }
    output::print(&format!("\n{strategies}"));
    output::print(&format!("\nEquilibrium: {}", built.game.equilibrium().play));
    Ok(())
}

/// A default in the table; a long list only by its length, because it would leave no
/// room for meanings.
fn shown(default: &Value) -> String {
    let text = default.to_string();
    match default.as_array() {
        Some(entries) if text.len() > LONGEST_DEFAULT => format!("[{} entries]", entries.len()),
        _ => text,
    }
}

/// The description of a parameter in the schema, in one line.
fn meaning(schema: &Value, name: &str) -> String {
    let described = schema["properties"][name]["description"].as_str();
    described.unwrap_or_default().replace('\n', " ")
}
