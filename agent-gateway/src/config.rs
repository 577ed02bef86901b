//! Configuration of the gateway: what a file may say, the providers that need
//! no file, and what one model name means in the end. Refuses unknown keys and
//! values that make no sense; holds sources of keys, never keys. Called by the
//! command line (to tell early what is missing) and by `gateway.rs`.

mod accounts;
mod additions;
mod builtin;
mod cloud;
mod error;
mod hedging;
mod limits;
mod provider;
mod reading;
mod redis;
mod secrecy;
mod sections;
mod takes;
mod team;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_redis_link::Confirmation;
use agon_service_kit::config as files;
use serde::Deserialize;

use crate::catalogue::{
    self, ModelName, ModelPrices, OutputLimitField, Price, PriceSection, PriceTable,
    ProviderConfig, ProviderKind, ResolvedModel, Thinks,
};
use crate::money::NanoDollars;

use error::listed;
use redis::RedisSection;

pub use error::ConfigError;
pub(crate) use reading::{read_headers, read_keys};
pub use sections::{
    ConcurrencySection, GatewaySection, LimitsSection, ModelSection, ProviderSection, TeamSection,
};
pub use team::Team;

/// Long enough for a provider's bad quarter of an hour to be seen as such.
const DEFAULT_PATIENCE: Duration = Duration::from_secs(600);
/// So many calls that time out are put up with, however long they take.
const CALLS_OF_PATIENCE: u32 = 3;
/// Long enough for a paper's revision round.
const DEFAULT_CONTENT_CACHE: Duration = Duration::from_secs(30 * 24 * 3_600);
/// Enough for a reasoned move; keeps the reserved quota small.
const DEFAULT_MAX_OUTPUT_TOKENS: u32 = 1024;

/// Between the last sign of life of a dead key and the calls that try it: somebody may top up an
/// account at once, or next week.
const DEAD_KEY_PROBES: [Duration; 3] = [
    Duration::from_secs(60),
    Duration::from_secs(5 * 60),
    Duration::from_secs(30 * 60),
];

/// The checked configuration.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    providers: BTreeMap<String, Arc<ProviderConfig>>,
    models: BTreeMap<String, ModelSection>,
    teams: BTreeMap<String, Arc<Team>>,
    patience: Duration,
    patience_is_stated: bool,
    prices: Option<PathBuf>,
    price_table: Arc<PriceTable>,
    content_cache_for: Duration,
    confirmation: Option<Confirmation>,
    dead_key_probes: Arc<[Duration]>,
    is_of_empty_file: bool,
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
            teams: BTreeMap::new(),
            patience: DEFAULT_PATIENCE,
            patience_is_stated: false,
            prices: None,
            price_table: Arc::default(),
            content_cache_for: DEFAULT_CONTENT_CACHE,
            confirmation: None,
            dead_key_probes: Arc::new(DEAD_KEY_PROBES),
            is_of_empty_file: false,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigDocument {
    #[serde(default)]
    providers: BTreeMap<String, ProviderSection>,
    #[serde(default)]
    models: BTreeMap<String, ModelSection>,
    #[serde(default)]
    teams: BTreeMap<String, TeamSection>,
    #[serde(default)]
    gateway: GatewaySection,
    #[serde(default)]
    redis: RedisSection,
}

impl GatewayConfig {
    /// Reads and checks a file, and the file of prices that it names.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let (text, document) = files::load_with_text(path).map_err(ConfigError::of_file)?;
        Ok(Self {
            is_of_empty_file: text.trim_ascii().is_empty(),
            ..Self::from_document(document, path)?
        })
    }

    /// Reads and checks a text; `name` stands for the file in errors.
    pub fn parse(name: &str, text: &str) -> Result<Self, ConfigError> {
        let document = files::parse(name, text).map_err(ConfigError::of_file)?;
        Self::from_document(document, Path::new(name))
    }

    fn from_document(document: ConfigDocument, path: &Path) -> Result<Self, ConfigError> {
        let mut config = Self::default();
        if let Some(patience) = document.gateway.patience {
            config.set_patience(patience);
        }
        if let Some(prices) = document.gateway.prices {
            let prices = path.parent().unwrap_or(Path::new("")).join(prices);
            let table = PriceTable::load(&prices).map_err(ConfigError::of_file)?;
            config.price_table = Arc::new(table);
            config.prices = Some(prices);
        }
        if let Some(kept) = document.gateway.content_cache_for {
            config.content_cache_for = kept;
        }
        if let Some(pauses) = document.gateway.dead_key_probes {
            let pauses = pauses.into_iter().map(|pause| pause.into_inner());
            config.dead_key_probes = pauses.collect();
        }
        if config.dead_key_probes.iter().any(Duration::is_zero) {
            let reason = "pauses in dead_key_probes must be longer than 0s".to_owned();
            return Err(ConfigError::Gateway { reason });
        }
        config.confirmation = document.redis.confirmation()?;
        let mut stated: Vec<Arc<ProviderConfig>> = Vec::new();
        for (name, section) in document.providers {
            config.add_provider(&name, section)?;
            let provider = Arc::clone(&config.providers[&name]);
            for other in &stated {
                let checked = accounts::check_keys(&provider, other);
                checked.map_err(|reason| ConfigError::Provider {
                    provider: name.clone(),
                    reason,
                })?;
            }
            stated.push(provider);
        }
        for (name, section) in document.models {
            config.add_model(&name, section)?;
        }
        for (name, section) in document.teams {
            let team = Team::check(&name, section)?;
            config.teams.insert(name, Arc::new(team));
        }
        Ok(config)
    }

    /// It was loaded from a file that holds nothing.
    pub(crate) fn is_of_empty_file(&self) -> bool {
        self.is_of_empty_file
    }

    /// Which replicas of Redis must have decisions and charges before they count as done. Read at
    /// the start: a reload changes nothing of it.
    pub fn confirmation(&self) -> Option<Confirmation> {
        self.confirmation
    }

    /// After which pauses a key that was refused as dead or wrong is tried again; the last one is
    /// repeated.
    pub fn dead_key_probes(&self) -> &Arc<[Duration]> {
        &self.dead_key_probes
    }

    /// Adds or changes a provider. What the section leaves out is taken from
    /// the built-in provider of that name, if there is one.
    pub fn add_provider(
        &mut self,
        name: &str,
        section: ProviderSection,
    ) -> Result<(), ConfigError> {
        let provider = provider::check(name, section)?;
        for other in self.providers.values() {
            accounts::check_beside(&provider, other).map_err(|reason| ConfigError::Provider {
                provider: name.to_owned(),
                reason,
            })?;
        }
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
        self.patience_is_stated = true;
    }

    /// The same for calls of one model with this effort. Unless it is stated, a model that thinks for a
    /// quarter of an hour may fail more than once.
    pub fn patience_with(&self, model: &ResolvedModel, effort: Option<&str>) -> Duration {
        match self.patience_is_stated {
            true => self.patience,
            false => self.patience.max(model.timeout(effort) * CALLS_OF_PATIENCE),
        }
    }

    /// The file of prices that stand before the listed ones, for whoever watches
    /// it for changes.
    pub fn prices(&self) -> Option<&Path> {
        self.prices.as_deref()
    }

    /// Whether the tables of prices say the same.
    pub fn has_prices_of(&self, other: &Self) -> bool {
        self.price_table == other.price_table
    }

    /// How long the content cache keeps an answer.
    pub fn content_cache_for(&self) -> Duration {
        self.content_cache_for
    }

    /// The configured teams, in order of name.
    pub fn teams(&self) -> impl Iterator<Item = &Arc<Team>> {
        self.teams.values()
    }

    /// The configured teams with their budgets, in order of name.
    pub(crate) fn team_budgets(&self) -> impl Iterator<Item = (String, Option<NanoDollars>)> {
        self.teams().map(|team| (team.name.clone(), team.budget))
    }

    /// Names of the configured teams, in order.
    pub fn team_names(&self) -> impl Iterator<Item = &str> {
        self.teams.keys().map(String::as_str)
    }

    /// A team's terms; those of a team that nobody configured are the default.
    pub fn team(&self, name: &str) -> Arc<Team> {
        let configured = self.teams.get(name).map(Arc::clone);
        configured.unwrap_or_else(|| Arc::new(Team::named(name)))
    }

    /// A provider by name, configured or built in.
    pub fn provider(&self, name: &str) -> Option<&Arc<ProviderConfig>> {
        self.providers.get(name)
    }

    /// Names of all providers, in order.
    pub fn provider_names(&self) -> impl Iterator<Item = &str> {
        self.providers.keys().map(String::as_str)
    }

    /// The price in a model's own section.
    pub fn own_price(&self, model: &str) -> Option<PriceSection> {
        self.models.get(model)?.price
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
        read_keys(&resolved)?;
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
                "unknown provider {provider:?}; expected one of: {known}"
            )));
        };
        let max_output_tokens = section
            .max_output_tokens
            .unwrap_or(DEFAULT_MAX_OUTPUT_TOKENS);
        if max_output_tokens == 0 {
            return Err(wrong("max_output_tokens must be at least 1".to_owned()));
        }
        let model = ModelName::parse(section.model.as_deref().unwrap_or(name)).map_err(wrong)?;
        let prices = match &section.price {
            Some(section) => ModelPrices::always(section.price()),
            None => self.listed_prices(provider, &model),
        };
        let limits = limits::of_model(name, section, &self.models).map_err(wrong)?;
        if section.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(wrong("timeout must be longer than 0s".to_owned()));
        }
        let model_name = model.to_lowercase();
        let known = catalogue::find(&model_name);
        let takes = takes::of(section, provider, known);
        let thinks = match section.reasoning {
            Some(true) => Some(Thinks::Always),
            Some(false) => None,
            None => known.map(|known| known.thinks),
        };
        let resolved = ResolvedModel {
            name: name.to_owned(),
            provider: Arc::clone(provider),
            model,
            output_limit_field: section.output_limit_field.unwrap_or(
                match takes.refuses_sampling {
                    true => OutputLimitField::MaxCompletionTokens,
                    false => provider.output_limit_field,
                },
            ),
            takes: takes.takes,
            thinking: section.thinking,
            effort_field: section
                .effort_field
                .unwrap_or_else(|| provider.effort_field(&model_name)),
            max_output_tokens,
            max_output_tokens_is_stated: section.max_output_tokens.is_some(),
            thinks,
            thinking_tokens: section.thinking_tokens,
            most_output_tokens: known.and_then(|known| known.most_output_tokens),
            timeout: section.timeout,
            // Some models of Bedrock refuse the marks.
            prompt_cache: section
                .prompt_cache
                .unwrap_or(provider.kind != ProviderKind::Bedrock),
            additions: additions::check(section.extra_body.as_ref(), &section.extra_headers)
                .map_err(wrong)?,
            output_limit_field_is_stated: section.output_limit_field.is_some(),
            prices,
            limits,
            hedge_after: section.hedge_after,
        };
        hedging::check(&resolved).map_err(wrong)?;
        Ok(resolved)
    }
}

impl GatewayConfig {
    /// What a model costs that has no price of its own. Listed prices are those
    /// of the address that we know the provider by.
    fn listed_prices(&self, provider: &ProviderConfig, model: &str) -> ModelPrices {
        let builtin = builtin::find(&provider.name);
        let at_home = builtin
            .as_ref()
            .is_some_and(|builtin| builtin.base_url == provider.base_url);
        // Nobody sends a bill for people and for servers of one's own.
        let free = builtin.is_some_and(|builtin| builtin.keys.is_empty());
        if provider.kind == ProviderKind::Door || (free && provider.keys.is_empty()) {
            return ModelPrices::always(Price::FREE);
        }
        ModelPrices::look_up(&self.price_table, at_home, &provider.name, model)
    }
}

#[cfg(test)]
mod tests;
