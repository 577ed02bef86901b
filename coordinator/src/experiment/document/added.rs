//! What the command line adds to a document that no file holds: which prompts its players are
//! given, and what games are that are played elsewhere. Read beside the rest by `document/reader.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_engine::outside_game::Description;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::PromptsOfPlayer;
use crate::experiment::faults::Faults;
use crate::experiment::path::TreePath;

/// Its keys.
pub(super) const KEYS: [&str; 3] = ["prompts", "prompt_bundle", OUTSIDE];

/// Where the games stand that are played elsewhere.
pub(super) const OUTSIDE: &str = "outside";

/// See [`super::ExperimentDocument`].
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Added {
    pub(super) prompts: BTreeMap<String, PromptsOfPlayer>,
    pub(super) outside: BTreeMap<String, Arc<Description>>,
    pub(super) prompt_bundle: Option<String>,
}

/// Reads it.
pub(super) fn read(table: &Map<String, Value>, faults: &mut Faults) -> Added {
    let own = table.iter().filter(|(key, _)| KEYS.contains(&key.as_str()));
    let own = own.map(|(key, value)| (key.clone(), value.clone()));
    let read: Result<Added, _> = serde_json::from_value(Value::Object(own.collect()));
    let added = read.unwrap_or_else(|error| {
        let keys = KEYS.join(", ");
        let message = format!("{keys} are not as the command line writes them: {error}");
        faults.value(&TreePath::root(), message);
        Added::default()
    });
    for (name, game) in &added.outside {
        let is_named = match game.name == *name {
            true => Ok(()),
            false => Err(format!("it is called \"{}\"", game.name)),
        };
        if let Err(why) = is_named.and_then(|()| game.check()) {
            let at = TreePath::root().key(OUTSIDE).key(name.as_str());
            faults.value(&at, why);
        }
    }
    added
}
