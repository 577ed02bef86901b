//! Why a configuration, or a name of a model, cannot be used: in one line, without secrets. Made by
//! `config.rs` and its children.

use agon_service_kit::config as files;
use agon_service_kit::config::discreet::shown;

use super::secrecy;

/// In place of a list of nothing.
const NONE: &str = "none";

/// Why a configuration, or a model name, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is not there, or not as it should be.
    #[error(transparent)]
    File(files::ConfigError),
    /// A provider makes no sense.
    #[error("provider {}: {}", shown(provider), shown(reason))]
    Provider {
        /// Its name.
        provider: String,
        /// What is wrong.
        reason: String,
    },
    /// A team makes no sense.
    #[error("team {}: {}", shown(team), shown(reason))]
    Team {
        /// Its name.
        team: String,
        /// What is wrong.
        reason: String,
    },
    /// The section of the gateway itself makes no sense.
    #[error("gateway: {}", shown(reason))]
    Gateway {
        /// What is wrong.
        reason: String,
    },
    /// What is said of Redis makes no sense.
    #[error("redis: {}", shown(reason))]
    Redis {
        /// What is wrong.
        reason: String,
    },
    /// A model makes no sense.
    #[error("model {}: {}", shown(model), shown(reason))]
    Model {
        /// Its name.
        model: String,
        /// What is wrong.
        reason: String,
    },
    /// Nobody knows this model.
    #[error(
        "unknown model \"{}\"; {}PROVIDER/MODEL, where PROVIDER is one of {}",
        shown(model),
        known_models(models),
        shown(providers)
    )]
    UnknownModel {
        /// What was asked for.
        model: String,
        /// What is configured.
        models: String,
        /// Which providers exist.
        providers: String,
    },
    /// The model is known, but none of its keys can be read.
    #[error(
        "model {} needs a key of provider {}: {}",
        shown(model),
        shown(provider),
        shown(reasons)
    )]
    MissingKey {
        /// What was asked for.
        model: String,
        /// Whose key is missing.
        provider: String,
        /// What to set, per key.
        reasons: String,
    },
}

impl ConfigError {
    pub(super) fn of_file(fault: files::ConfigError) -> Self {
        Self::File(secrecy::discreet(fault))
    }
}

/// What is said of configured models where an unknown one is asked for.
fn known_models(names: &str) -> String {
    match names {
        NONE => "no models are configured; name it as ".to_owned(),
        names => format!("configured models are {}; others are named ", shown(names)),
    }
}

/// Names in a row.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() {
        NONE.to_owned()
    } else {
        names.join(", ")
    }
}
