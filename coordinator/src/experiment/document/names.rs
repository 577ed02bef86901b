//! Names in a document: which an experiment or a player may have, and whose parameter one is.
//! Called by `document/reader.rs`.

use agon_engine::registry;
use agon_engine::spec::Settings;
use agon_identity::holder::OF_TEAM;
use agon_service_kit::team_name::TeamName;
use serde_json::{Map, Value};

/// Longest name of an experiment, player or label: they become file names and columns.
pub(super) const LONGEST_NAME: usize = 100;

/// The game of an entry, when it has a parameter of this name.
pub(super) fn parameter_owner(entry: &Map<String, Value>, key: &str) -> Option<&'static str> {
    let game = registry::find(entry.get("game")?.as_str()?).ok()?;
    let defaults = game.build(&Settings::new()).ok()?;
    defaults
        .params
        .contains_key(key)
        .then_some(&*game.info.name)
}

/// Whether an experiment may be called so.
pub fn is_experiment_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(legal)
}

/// Whether an experiment may be kept under this name: its own, or its own with its team's behind it.
pub fn is_kept_name(name: &str) -> bool {
    match name.split_once(OF_TEAM) {
        None => is_experiment_name(name),
        Some((own, team)) => is_experiment_name(own) && TeamName::read(team.to_owned()).is_ok(),
    }
}

/// Whether a player may be called so.
pub fn is_player_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(legal)
}
