//! Configuration of the gateway: what a file may say, the providers that need
//! no file, and what one model name means in the end. Refuses unknown keys and
//! values that make no sense; holds sources of keys, never keys. Called by the
//! command line (to tell early what is missing) and by `gateway.rs`.

mod builtin;
mod secrecy;
mod sections;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::config as files;
use serde::Deserialize;

use crate::admission::KeyLimits;
use crate::keys::{KeyError, KeyPool, KeySource};
use crate::money::Price;

pub use sections::{
    GatewaySection, ModelSection, OutputLimitField, PriceSection, ProviderKind, ProviderSection,
    StructuredOutput,
};

/// Long enough for a provider's bad quarter of an hour to be seen as such.
const DEFAULT_PATIENCE: Duration = Duration::from_secs(600);
/// Slow reasoning models think for a minute; two are a hang.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// Enough for a reasoned move; keeps the reserved quota small.
const DEFAULT_MAX_OUTPUT_TOKENS: u32 = 1024;

/// The checked configuration.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    providers: BTreeMap<String, Arc<ProviderConfig>>,
    models: BTreeMap<String, ModelSection>,
    patience: Duration,
}

impl Default for GatewayConfig {
    /// Only the built-in providers.
    fn default() -> Self {
        let providers = builtin::all()
            .map(|provider| (provider.name.clone(), Arc::new(provider)))
            .collect();
        Self {
            providers,
            models: BTreeMap::new(),
            patience: DEFAULT_PATIENCE,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    providers: BTreeMap<String, ProviderSection>,
    #[serde(default)]
    models: BTreeMap<String, ModelSection>,
    #[serde(default)]
    gateway: GatewaySection,
}

impl GatewayConfig {
    /// Reads and checks a file.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Self::from_document(files::load(path).map_err(ConfigError::of_file)?)
    }

    /// Reads and checks a text; `name` stands for the file in errors.
    pub fn parse(name: &str, text: &str) -> Result<Self, ConfigError> {
        Self::from_document(files::parse(name, text).map_err(ConfigError::of_file)?)
    }

    fn from_document(document: Document) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        if let Some(patience) = document.gateway.patience {
            config.patience = patience;
        }
        for (name, section) in document.providers {
            config.add_provider(&name, section)?;
        }
        for (name, section) in document.models {
            config.add_model(&name, section)?;
        }
        Ok(config)
    }

    /// Adds or changes a provider. What the section leaves out is taken from
    /// the built-in provider of that name, if there is one.
    pub fn add_provider(
        &mut self,
        name: &str,
        section: ProviderSection,
    ) -> Result<(), ConfigError> {
        let provider = ProviderConfig::check(name, section)?;
        self.providers.insert(name.to_owned(), Arc::new(provider));
        Ok(())
    }

    /// Adds or changes a model; its provider must be there already.
    pub fn add_model(&mut self, name: &str, section: ModelSection) -> Result<(), ConfigError> {
        self.resolve_section(name, &section)?;
        self.models.insert(name.to_owned(), section);
        Ok(())
    }

    /// How long a decision may fail at its provider before it is given up.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Changes the patience.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Names of the configured models, in order.
    pub fn model_names(&self) -> impl Iterator<Item = &str> {
        self.models.keys().map(String::as_str)
    }

    /// Everything needed to call a model, and whether at least one of its keys
    /// can be read. A name is looked up among the models first; failing that,
    /// `provider/model` names a model of a provider.
    pub fn resolve(&self, model: &str) -> Result<ResolvedModel, ConfigError> {
        let resolved = self.resolve_without_keys(model)?;
        resolved.read_keys()?;
        Ok(resolved)
    }

    /// As [`GatewayConfig::resolve`], for planning on machines without keys.
    pub fn resolve_without_keys(&self, model: &str) -> Result<ResolvedModel, ConfigError> {
        if let Some(section) = self.models.get(model) {
            return self.resolve_section(model, section);
        }
        let named = model
            .split_once('/')
            .filter(|(provider, name)| self.providers.contains_key(*provider) && !name.is_empty());
        let Some((provider, name)) = named else {
            return Err(ConfigError::UnknownModel {
                model: model.to_owned(),
                models: listed(self.models.keys()),
                providers: listed(self.providers.keys()),
            });
        };
        let section = ModelSection {
            provider: provider.to_owned(),
            model: Some(name.to_owned()),
            ..ModelSection::default()
        };
        self.resolve_section(model, &section)
    }

    fn resolve_section(
        &self,
        name: &str,
        section: &ModelSection,
    ) -> Result<ResolvedModel, ConfigError> {
        let wrong = |reason: String| ConfigError::Model {
            model: name.to_owned(),
            reason,
        };
        let Some(provider) = self.providers.get(&section.provider) else {
            let known = listed(self.providers.keys());
            let provider = &section.provider;
            return Err(wrong(format!(
                "there is no provider {provider:?}, only {known}"
            )));
        };
        let max_output_tokens = section
            .max_output_tokens
            .unwrap_or(DEFAULT_MAX_OUTPUT_TOKENS);
        if max_output_tokens == 0 {
            return Err(wrong("max_output_tokens must be at least 1".to_owned()));
        }
        let price = section.price.as_ref().map(PriceSection::check).transpose();
        Ok(ResolvedModel {
            name: name.to_owned(),
            provider: Arc::clone(provider),
            model: section.model.clone().unwrap_or_else(|| name.to_owned()),
            structured_output: section
                .structured_output
                .unwrap_or(provider.structured_output),
            seed: section.seed.unwrap_or(provider.seed),
            max_output_tokens,
            output_limit_field: section
                .output_limit_field
                .unwrap_or(provider.output_limit_field),
            price: price.map_err(|error| wrong(error.to_string()))?,
        })
    }
}

/// A provider, checked.
#[derive(Clone, Debug)]
pub struct ProviderConfig {
    /// Its name in the configuration.
    pub name: String,
    /// Which protocol it speaks.
    pub kind: ProviderKind,
    /// Where it is, without a slash at the end.
    pub base_url: String,
    /// Where its keys are; empty for keyless servers.
    pub keys: Vec<KeySource>,
    /// Limits of each key.
    pub limits: KeyLimits,
    /// How long one call may take.
    pub timeout: Duration,
    structured_output: StructuredOutput,
    seed: bool,
    output_limit_field: OutputLimitField,
}

impl ProviderConfig {
    fn check(name: &str, section: ProviderSection) -> Result<Self, ConfigError> {
        let wrong = |reason: &str| ConfigError::Provider {
            provider: name.to_owned(),
            reason: reason.into(),
        };
        if name.is_empty() || name.contains('/') {
            return Err(wrong("a provider's name must not be empty or hold a slash"));
        }
        let builtin = builtin::find(name);
        let base_url = match (section.base_url, &builtin) {
            (Some(url), _) => url.trim_end_matches('/').to_owned(),
            (None, Some(builtin)) => builtin.base_url.clone(),
            (None, None) => return Err(wrong("base_url is missing, write \"https://host/v1\"")),
        };
        // A key belongs to an address: elsewhere it has to be named again.
        let known_address = builtin
            .as_ref()
            .filter(|builtin| builtin.base_url == base_url);
        let known_keys = known_address.map(|builtin| builtin.keys.clone());
        let host = ["http://", "https://"]
            .iter()
            .find_map(|scheme| base_url.strip_prefix(scheme));
        if host.is_none_or(|host| host.is_empty() || host.starts_with('/')) {
            return Err(wrong(
                "base_url must begin with http:// or https:// and name a host",
            ));
        }
        if host.is_some_and(|host| host.contains('@')) {
            return Err(wrong("base_url must not hold a user or password, use keys"));
        }
        if base_url.contains(['?', '#']) {
            return Err(wrong("base_url must end before any ? or #"));
        }
        for source in section.keys.iter().flatten() {
            secrecy::check_source(source).map_err(|reason| wrong(&reason))?;
        }
        let limits = KeyLimits {
            requests_per_minute: section.requests_per_minute,
            tokens_per_minute: section.tokens_per_minute,
            concurrency: section.concurrency,
        };
        if limits.any_is_zero() {
            return Err(wrong(
                "a limit of 0 would never let a call through, leave it out",
            ));
        }
        let timeout = section.timeout.unwrap_or(DEFAULT_TIMEOUT);
        if timeout.is_zero() {
            return Err(wrong("timeout must be longer than 0s"));
        }
        let defaults = builtin.as_ref();
        Ok(Self {
            name: name.to_owned(),
            kind: section.kind,
            base_url,
            keys: section.keys.or(known_keys).unwrap_or_default(),
            limits,
            timeout,
            // A server that we do not know is believed to take everything; one
            // that does not is asked with less (`providers/openai/abilities.rs`).
            structured_output: defaults.map_or(StructuredOutput::JsonSchema, |builtin| {
                builtin.structured_output
            }),
            seed: defaults.is_none_or(|builtin| builtin.seed),
            output_limit_field: defaults.map_or(OutputLimitField::MaxTokens, |builtin| {
                builtin.output_limit_field
            }),
        })
    }
}

/// What a model name means in the end.
#[derive(Clone, Debug)]
pub struct ResolvedModel {
    /// The name that experiments use.
    pub name: String,
    /// Who serves it.
    pub provider: Arc<ProviderConfig>,
    /// The provider's name for it.
    pub model: String,
    /// How it is told what a reply should look like.
    pub structured_output: StructuredOutput,
    /// It accepts a sampling seed.
    pub seed: bool,
    /// The most it may write when the request does not say.
    pub max_output_tokens: u32,
    /// How it is told the most it may write.
    pub output_limit_field: OutputLimitField,
    /// What it costs, when that is configured.
    pub price: Option<Price>,
}

impl ResolvedModel {
    /// The keys of its provider that can be read, and what is wrong with the
    /// others; an error when none can.
    pub fn read_keys(&self) -> Result<(KeyPool, Vec<KeyError>), ConfigError> {
        let provider = &self.provider;
        let (pool, errors) = KeyPool::read(&provider.name, &provider.keys, provider.limits);
        if pool.keys().is_empty() {
            let reasons: Vec<String> = errors.iter().map(ToString::to_string).collect();
            return Err(ConfigError::MissingKey {
                model: self.name.clone(),
                provider: provider.name.clone(),
                reasons: reasons.join("; "),
            });
        }
        Ok((pool, errors))
    }
}

/// Why a configuration, or a model name, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is not there, or not as it should be.
    #[error(transparent)]
    File(files::ConfigError),
    /// A provider makes no sense.
    #[error("provider {provider}: {reason}")]
    Provider {
        /// Its name.
        provider: String,
        /// What is wrong.
        reason: String,
    },
    /// A model makes no sense.
    #[error("model {model}: {reason}")]
    Model {
        /// Its name.
        model: String,
        /// What is wrong.
        reason: String,
    },
    /// Nobody knows this model.
    #[error(
        "unknown model {model:?}; configured models: {models}; or write provider/model with one \
         of the providers {providers}"
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
    #[error("model {model} needs a key of provider {provider}: {reasons}")]
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
    fn of_file(fault: files::ConfigError) -> Self {
        Self::File(secrecy::discreet(fault))
    }
}

fn listed<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

#[cfg(test)]
mod tests;
