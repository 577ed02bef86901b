//! What a session is, before it is played: everything its record depends on.
//!
//! The session id is a hash of the spec's canonical JSON, so equal content is
//! the same session wherever and however often it is submitted, and a changed
//! grid re-uses what is done.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::chance::Luck;
use crate::outside::OutsideRules;

pub mod bundle;
mod canonical;
pub mod prompts;
mod repeats;

pub use repeats::Repeats;

/// JSON object with a stable order of keys.
pub type Settings = BTreeMap<String, serde_json::Value>;

/// Everything that a session's record depends on, besides outside decisions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionSpec {
    /// Name of the experiment.
    pub experiment: String,
    /// The cell of the grid: axis to value, for tables. Empty without a grid.
    pub setting: Settings,
    /// Experiment seed and repeat: the session's chance.
    pub luck: Luck,
    /// Registered name of the game.
    pub game: String,
    /// What is known of a game that is played elsewhere; absent for one of this program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<OutsideRules>,
    /// Version of the game's rules that the spec was made for.
    pub rules_version: u32,
    /// Parameters of the game, complete with defaults.
    pub params: Settings,
    /// Who sits where, in seat order.
    pub seats: Vec<PlayerSpec>,
    /// Version of the agents and of the built-in templates that its players use; absent when no
    /// model plays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts_version: Option<String>,
    /// Digest of the templates that replace built-in ones, if any of these do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_bundle: Option<String>,
    /// Where the answers of its models come from, by the names that its players use; empty
    /// when no model plays, or nobody could say.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub origins: BTreeMap<String, Origin>,
}

/// Where a model's answers come from. Another origin is another model, whatever its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Protocol of its provider ("openai", "anthropic", "door").
    pub provider_kind: String,
    /// Address of its provider, or the name that the gateway's configuration gives it.
    pub endpoint: String,
    /// The provider's own name for it.
    pub provider_model: String,
    /// Digest of what the gateway's configuration adds to every request; empty when nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub additions: String,
}

/// The kind of provider whose answers were not asked for by this program: the game was recorded by
/// another one and imported.
pub const RECORDED: &str = "recorded";

/// The endpoint of the simulated model that a process brings along.
pub const SIMULATED_ENDPOINT: &str = "this process";

impl std::fmt::Display for Origin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (model, endpoint) = (&self.provider_model, &self.endpoint);
        write!(formatter, "{model} at {endpoint} ({})", self.provider_kind)?;
        match self.additions.as_str() {
            "" => Ok(()),
            additions => write!(formatter, " with additions {additions}"),
        }
    }
}

/// Who sits at a seat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayerSpec {
    /// The player's name in the experiment file.
    pub name: String,
    /// What plays.
    pub kind: PlayerKind,
    /// Settings of that kind: strategy, model, temperature, persona ...
    #[serde(default)]
    pub settings: Settings,
}

/// What kind of player sits at a seat.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PlayerKind {
    /// A built-in strategy.
    Rule,
    /// A language model, through the gateway.
    Model,
}

/// Digits of an id.
const ID_DIGITS: usize = 32;

/// Content-derived id of a session: 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Of a spec's canonical JSON.
    fn of(canonical_json: &str) -> Self {
        let digest = blake3::hash(canonical_json.as_bytes());
        Self(digest.to_hex()[..ID_DIGITS].to_owned())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it has the form that every id has.
    pub fn is_whole(&self) -> bool {
        let hexadecimal = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        self.0.len() == ID_DIGITS && self.0.bytes().all(hexadecimal)
    }
}

impl From<String> for SessionId {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl std::fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl SessionSpec {
    /// Whether another program played it and this one only imported its record, so that nothing of
    /// its chance follows from a seed.
    pub fn is_imported(&self) -> bool {
        let mut origins = self.origins.values();
        origins.any(|origin| origin.provider_kind == RECORDED)
    }

    /// The session's id.
    pub fn id(&self) -> SessionId {
        self.identified().0
    }

    /// The session's id, and the JSON that it is made of ([`Self::canonical_json`]).
    pub fn identified(&self) -> (SessionId, String) {
        let json = self.canonical_json();
        (SessionId::of(&json), json)
    }

    /// The spec as JSON with sorted keys and no blanks: equal specs give equal
    /// bytes, however they were built.
    pub fn canonical_json(&self) -> String {
        repeats::json(&canonical::Spec(self))
    }

    /// The session before this one in its series; `None` for the first of a
    /// series and for sessions of none.
    pub fn before(&self) -> Option<Self> {
        let place = self.luck.place.checked_sub(1)?;
        Some(Self {
            luck: self.luck.at(place),
            ..self.clone()
        })
    }

    /// Whether any seat needs the gateway.
    pub fn asks_outside(&self) -> bool {
        self.seats
            .iter()
            .any(|player| player.kind != PlayerKind::Rule)
    }
}

/// The same JSON with the keys of every object in order, whichever map type
/// the JSON library was built with.
pub fn sorted(json: &serde_json::Value) -> serde_json::Value {
    match json {
        serde_json::Value::Object(map) => {
            let ordered: BTreeMap<&String, serde_json::Value> = map
                .iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect();
            let rebuilt = ordered.into_iter().map(|(key, value)| (key.clone(), value));
            serde_json::Value::Object(rebuilt.collect())
        }
        serde_json::Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
