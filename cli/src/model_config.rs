//! The gateway's configuration as the command line builds it: a file when there
//! is one, built-in providers by name, one provider given by its address, and the
//! simulated model.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use agon_agent_gateway::catalogue::{PriceSection, ProviderKind};
use agon_agent_gateway::keys::KeyPool;
use agon_agent_gateway::{GatewayConfig, ModelSection, ProviderSection};
use agon_engine::spec::{Origin, SIMULATED_ENDPOINT};
use agon_service_kit::secret_source::SecretSource;
use agon_service_kit::tasks::with_causes;

use crate::failure::Failure;
use crate::role::typed;

/// Name of the provider at --base-url.
pub const BASE_URL: &str = "base-url";

/// The model that needs no provider: a simulated server inside the process.
pub const SIMULATED: &str = "sim";

/// Where a configuration is looked for when none is named.
const DEFAULT_FILE: &str = "agon.toml";

/// Where the models are.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Models")]
pub struct ModelArguments {
    /// Providers, keys, limits and models [default: agon.toml if there is one]
    #[arg(long, env = "AGON_CONFIG", hide_env_values = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Ask every model of this experiment at this OpenAI-compatible server
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Name that is recorded for the server at --base-url; if the server has moved, give its old
    /// address, so that its earlier results are still used [default: that URL]
    #[arg(long, value_name = "NAME", requires = "base_url")]
    endpoint: Option<String>,
    /// Environment variable with the key for --base-url, if it needs one
    #[arg(long, value_name = "VARIABLE", requires = "base_url")]
    key_env: Option<String>,
}

impl ModelArguments {
    /// Somebody typed a configuration.
    pub fn names_a_file(&self) -> bool {
        typed(self.config.as_ref(), "AGON_CONFIG")
    }

    /// A server is given by its address.
    pub fn names_a_server(&self) -> bool {
        self.base_url.is_some()
    }

    /// The configuration: every named model can be resolved, except [`SIMULATED`],
    /// which is added when its server runs.
    ///
    /// # Errors
    /// The file is wrong, or a model or its key is missing; says what to do.
    pub fn load(&self, models: &BTreeSet<String>) -> Result<GatewayConfig, Failure> {
        let mut config = self.read()?;
        if let Some(base_url) = &self.base_url {
            let is_elsewhere = |model: &str| {
                let resolved = config.resolve_without_keys(model);
                resolved.is_ok_and(|model| model.provider.kind == ProviderKind::Door)
            };
            // What people are asked at doors is no business of the server.
            let real: Vec<String> = models
                .iter()
                .filter(|model| *model != SIMULATED && !is_elsewhere(model))
                .cloned()
                .collect();
            let server = Server {
                provider: BASE_URL,
                base_url,
                endpoint: self.endpoint.as_deref(),
                key_variable: self.key_env.as_deref(),
            };
            add_server(&mut config, &server, real.iter().map(String::as_str))?;
        }
        Ok(config)
    }

    /// The configuration file, or the built-in providers alone.
    ///
    /// # Errors
    /// The file is wrong.
    pub fn read(&self) -> Result<GatewayConfig, Failure> {
        match self.file() {
            Some(file) => GatewayConfig::load(&file).map_err(Failure::input),
            None => GatewayConfig::parse("built-in providers", "").map_err(Failure::input),
        }
    }

    /// The configuration file, if there is one.
    pub fn file(&self) -> Option<PathBuf> {
        let by_default = || {
            Path::new(DEFAULT_FILE)
                .is_file()
                .then(|| DEFAULT_FILE.into())
        };
        self.config.clone().or_else(by_default)
    }
}

/// Says what is missing for a model, before anything is played.
///
/// # Errors
/// A model cannot be resolved or has no key.
pub fn require(config: &GatewayConfig, models: &BTreeSet<String>) -> Result<(), Failure> {
    for model in models {
        config.resolve(model).map_err(Failure::input)?;
    }
    Ok(())
}

/// Keys that are configured for these models and cannot be used, beside others that can; a line for
/// each. Where none can, [`require`] says so.
pub fn unusable_keys(config: &GatewayConfig, models: &BTreeSet<String>) -> Vec<String> {
    let resolved = models
        .iter()
        .filter_map(|model| config.resolve_without_keys(model).ok());
    let providers = resolved.map(|model| (model.provider.name.clone(), model.provider));
    let mut lines = Vec::new();
    for (name, provider) in providers.collect::<BTreeMap<_, _>>() {
        let (pool, errors) = KeyPool::read(&name, &provider.keys);
        if !pool.keys().is_empty() {
            lines.extend(errors.iter().map(|error| {
                let error = with_causes(error);
                format!("WARNING: a key of {name} cannot be used: {error}; its other keys are used")
            }));
        }
    }
    lines
}

/// An OpenAI-compatible server that no file configures.
#[derive(Debug, Clone, Copy)]
pub struct Server<'a> {
    /// The provider's name.
    pub provider: &'a str,
    /// Where it is.
    pub base_url: &'a str,
    /// The name under which results know it, if not by its address.
    pub endpoint: Option<&'a str>,
    /// The environment variable with its key, if it needs one.
    pub key_variable: Option<&'a str>,
}

/// What a record says of [`SIMULATED`] then.
pub fn simulated_origin() -> Origin {
    Origin {
        provider_kind: ProviderKind::OpenAi.name().to_owned(),
        endpoint: SIMULATED_ENDPOINT.to_owned(),
        provider_model: SIMULATED.to_owned(),
        additions: String::new(),
    }
}

/// Adds a server with models.
///
/// # Errors
/// The address is no URL.
pub fn add_server<'a>(
    config: &mut GatewayConfig,
    server: &Server<'_>,
    models: impl Iterator<Item = &'a str>,
) -> Result<(), Failure> {
    let keys = server.key_variable.iter();
    let section = ProviderSection {
        base_url: Some(server.base_url.to_owned()),
        endpoint: server.endpoint.map(str::to_owned),
        keys: Some(
            keys.map(|name| SecretSource::Env((*name).to_owned()).into())
                .collect(),
        ),
        ..ProviderSection::default()
    };
    config
        .add_provider(server.provider, section)
        .map_err(Failure::input)?;
    for model in models {
        let section = ModelSection {
            provider: server.provider.to_owned(),
            // Wherever it is asked, a model costs what its own section says.
            price: match model {
                SIMULATED => Some(PriceSection::FREE),
                _ => config.own_price(model),
            },
            ..ModelSection::default()
        };
        config.add_model(model, section).map_err(Failure::input)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_that_is_missing_beside_others_is_named_once() {
        let folder = tempfile::tempdir().unwrap();
        let [there, missing] = ["there", "missing"].map(|name| folder.path().join(name));
        std::fs::write(&there, "sk-1").unwrap();
        let lines = |keys: &[&Path]| {
            let keys = keys.iter().map(|file| format!("{{ file = {file:?} }}"));
            let keys = keys.collect::<Vec<_>>().join(", ");
            let text = format!(
                "[providers.lab]\nbase_url = 'http://127.0.0.1:9/v1'\nkeys = [{keys}]\n\
                 [models.one]\nprovider = 'lab'\n[models.two]\nprovider = 'lab'\n"
            );
            let config = GatewayConfig::parse("test", &text).unwrap();
            unusable_keys(&config, &["one".to_owned(), "two".to_owned()].into())
        };
        let said = lines(&[&there, &missing]);
        assert_eq!(said.len(), 1, "{said:?}");
        let file = missing.display().to_string();
        assert!(
            said[0].contains(&file) && said[0].contains("lab"),
            "{said:?}"
        );
        assert!(lines(&[&there]).is_empty());
        assert!(lines(&[&missing]).is_empty(), "`require` says it");
    }

    #[test]
    fn a_server_is_asked_what_models_are_asked_and_never_what_people_are() {
        let arguments = ModelArguments {
            config: None,
            base_url: Some("http://127.0.0.1:9/v1".to_owned()),
            endpoint: None,
            key_env: None,
        };
        let models = ["human/ann", "lab/llama", "mine", SIMULATED].map(str::to_owned);
        let config = arguments.load(&models.into()).unwrap();
        let provider = |model: &str| {
            let resolved = config.resolve_without_keys(model).unwrap();
            (
                resolved.provider.kind == ProviderKind::Door,
                resolved.model.to_string(),
            )
        };
        assert_eq!(provider("human/ann"), (true, "ann".to_owned()));
        assert_eq!(provider("lab/llama"), (false, "lab/llama".to_owned()));
        assert_eq!(provider("mine"), (false, "mine".to_owned()));
    }

    #[test]
    fn agents_and_gateway_have_one_word_for_a_reply_that_is_all_thoughts() {
        let of_agents = agon_agents::mind::CUT_OFF_THINKING;
        assert_eq!(of_agents, agon_agent_gateway::decision::CUT_OFF_THINKING);
    }

    #[test]
    fn agents_and_gateway_know_the_simulated_model_by_the_same_address() {
        let of_agents = SIMULATED_ENDPOINT;
        assert_eq!(of_agents, agon_proto::simulated::SIMULATED_ENDPOINT);
    }
}
