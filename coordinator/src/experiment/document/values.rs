//! Single values of a document: what they are, whether they make a name, and whose they are. Called
//! by `document/reader.rs`, and by the checks of cells.

use agon_engine::registry;
use agon_engine::spec::Settings;
use serde_json::{Map, Value};

use super::reader::LONGEST_NAME;

/// The game of an entry, when it has a parameter of this name.
pub(super) fn parameter_owner(entry: &Map<String, Value>, key: &str) -> Option<&'static str> {
    let game = registry::find(entry.get("game")?.as_str()?).ok()?;
    let defaults = (game.build)(&Settings::new()).ok()?;
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

/// Whether a player may be called so.
pub(super) fn is_player_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(legal)
}

/// A table as settings.
pub(super) fn to_settings(table: &Map<String, Value>) -> Settings {
    table
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// What a value is, for people.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a whole number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}
