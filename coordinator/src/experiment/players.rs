//! What a player's settings must have, and what is said when they do not.

use agon_engine::rule::StrategyError;
use agon_engine::{PlayerKind, PlayerSpec};
use serde_json::{Map, Value};

use super::document::kind_of;
use super::faults::among;

/// Name of the setting that says which strategy a rule player follows.
pub const STRATEGY: &str = "strategy";

/// Name of the setting that says which model a model player is.
const MODEL: &str = "model";

const PLAYER_KINDS: [&str; 2] = ["rule", "model"];

/// What a player's own settings must have, whatever the game.
///
/// # Errors
/// What is missing or wrong: the key it is about, and the message.
pub fn player_kind(
    settings: &Map<String, Value>,
) -> Result<PlayerKind, (Option<&'static str>, String)> {
    let kind = match settings.get("kind") {
        None => return Err((None, "needs a kind: \"rule\" or \"model\"".to_owned())),
        Some(Value::String(kind)) if kind == "rule" => PlayerKind::Rule,
        Some(Value::String(kind)) if kind == "model" => PlayerKind::Model,
        Some(Value::String(kind)) => {
            return Err((
                Some("kind"),
                format!("no kind \"{kind}\"{}", among(kind, PLAYER_KINDS)),
            ));
        }
        Some(other) => {
            let message = format!("must be \"rule\" or \"model\", not {}", kind_of(other));
            return Err((Some("kind"), message));
        }
    };
    let (key, example) = match kind {
        PlayerKind::Rule => (STRATEGY, "strategy = \"equilibrium\""),
        PlayerKind::Model => (MODEL, "model = \"gpt-4o\""),
    };
    match settings.get(key) {
        Some(Value::String(name)) if !name.is_empty() => Ok(kind),
        None => Err((
            None,
            format!("a player of this kind needs a {key}, as {example}"),
        )),
        Some(other) => {
            let given = if other == "" {
                "empty text"
            } else {
                kind_of(other)
            };
            Err((
                Some(key),
                format!("must be a name, as {example}, not {given}"),
            ))
        }
    }
}

/// The strategy of a rule player and its settings.
pub fn strategy_of(player: &PlayerSpec) -> Option<(String, Map<String, Value>)> {
    if player.kind != PlayerKind::Rule {
        return None;
    }
    let mut settings: Map<String, Value> = player.settings.clone().into_iter().collect();
    match settings.remove(STRATEGY) {
        Some(Value::String(strategy)) => Some((strategy, settings)),
        _ => None,
    }
}

/// The message for a strategy that a game does not have.
pub fn no_strategy<'a>(game: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    format!("{game} has no strategy \"{name}\"{}", among(name, known))
}

/// The key that a strategy's error is about, and the message.
pub fn strategy_fault(error: &StrategyError, settings: &Map<String, Value>) -> (String, String) {
    match error {
        StrategyError::Unknown { name, game, known } => (
            STRATEGY.to_owned(),
            no_strategy(game, name, known.split(", ")),
        ),
        StrategyError::Settings { .. } => {
            let message = in_plain_words(&error.to_string());
            // The engine's message names the setting in one of three ways.
            let names = |key: &&String| {
                [
                    format!("\": {key}"),
                    format!("`{key}`"),
                    format!("\"{key}\""),
                ]
                .iter()
                .any(|form| message.contains(form.as_str()))
            };
            let key = settings.keys().find(names).cloned();
            (key.unwrap_or_else(|| STRATEGY.to_owned()), message)
        }
    }
}

/// A message about types without the names of Rust's types.
pub fn in_plain_words(message: &str) -> String {
    let Some((before, expected)) = message.rsplit_once("expected ") else {
        return message.to_owned();
    };
    let plain = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or greater",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        other => other,
    };
    format!("{before}expected {plain}")
}
