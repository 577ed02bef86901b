//! What a player's settings must have, and what is said when they do not. Which strategies and
//! model settings there are is left to the engine and to `agon-agents`. Called when a document is
//! expanded and its cells are checked.

use agon_engine::names::among;
use agon_engine::rule_player::StrategyError;
use agon_engine::spec::Settings;
use agon_engine::{PlayerKind, PlayerSpec};
use serde_json::{Map, Value};

use super::values::{in_plain_words, kind_of};

/// Name of the setting that says which strategy a rule player follows.
pub const STRATEGY: &str = "strategy";

/// Name of the setting that says which model a model player is.
const MODEL: &str = "model";

const PLAYER_KINDS: [&str; 2] = ["rule", "model"];

/// The player that `--model` replaces, and that fills seats nobody is named for.
pub const SUBJECT: &str = "subject";

/// A fault of a player: the key it is about, if one, and what is wrong.
pub type PlayerFault = (Option<&'static str>, String);

/// A player from its own table; a model takes what it does not set itself from `defaults`.
///
/// # Errors
/// What is missing or wrong, whatever the game.
pub fn player(
    name: &str,
    own: &Map<String, Value>,
    defaults: &Map<String, Value>,
) -> Result<PlayerSpec, PlayerFault> {
    let kind = player_kind(own.get("kind"))?;
    let inherited = defaults.iter().filter(|_| kind == PlayerKind::Model);
    let own = own.iter().filter(|(key, _)| *key != "kind");
    // Of two entries with one key the later counts.
    let settings: Settings = inherited
        .chain(own)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let (key, example) = match kind {
        PlayerKind::Rule => (STRATEGY, "strategy = \"equilibrium\""),
        PlayerKind::Model => (MODEL, "model = \"openai/gpt-4o\""),
    };
    match settings.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Ok(PlayerSpec {
            name: name.to_owned(),
            kind,
            settings,
        }),
        None => Err((
            None,
            format!("a player of this kind needs a {key}, for example {example}"),
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

fn player_kind(kind: Option<&Value>) -> Result<PlayerKind, PlayerFault> {
    let message = match kind {
        Some(Value::String(kind)) if kind == "rule" => return Ok(PlayerKind::Rule),
        Some(Value::String(kind)) if kind == "model" => return Ok(PlayerKind::Model),
        None => return Err((None, "needs a kind: \"rule\" or \"model\"".to_owned())),
        Some(Value::String(kind)) => format!("no kind \"{kind}\"{}", among(kind, PLAYER_KINDS)),
        Some(other) => format!("must be \"rule\" or \"model\", not {}", kind_of(other)),
    };
    Err((Some("kind"), message))
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
