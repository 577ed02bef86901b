//! What the command line adds to a document that no file holds: which prompts its players are
//! given. Read beside the rest by `document/reader.rs`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::PromptsOfPlayer;
use crate::experiment::faults::Faults;
use crate::experiment::path::TreePath;

/// Its keys.
pub(super) const KEYS: [&str; 2] = ["prompts", "prompt_bundle"];

/// See [`super::ExperimentDocument`].
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Added {
    pub(super) prompts: BTreeMap<String, PromptsOfPlayer>,
    pub(super) prompt_bundle: Option<String>,
}

/// Reads it.
pub(super) fn read(table: &Map<String, Value>, faults: &mut Faults) -> Added {
    let own = table.iter().filter(|(key, _)| KEYS.contains(&key.as_str()));
    let own = own.map(|(key, value)| (key.clone(), value.clone()));
    serde_json::from_value(Value::Object(own.collect())).unwrap_or_else(|error| {
        let message =
            format!("prompts and prompt_bundle are not as the command line writes them: {error}");
        faults.value(&TreePath::root(), message);
        Added::default()
    })
}
