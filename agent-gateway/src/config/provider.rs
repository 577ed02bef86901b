//! A provider and a model as the rest of the gateway knows them: checked, with
//! every default filled in. Refuses addresses and limits that cannot work.
//! Built by `config.rs`.

use std::sync::Arc;
use std::time::Duration;

use super::additions::Additions;
use super::cloud::Cloud;
use super::model_name::ModelName;
use super::sections::{
    ChargeRule, EffortField, OutputLimitField, ProviderKind, ProviderSection, StructuredOutput,
    ThinkingForm,
};
use super::takes::Takes;
use super::{ConfigError, accounts, builtin, limits, secrecy};
use crate::admission::KeyLimits;
use crate::catalogue::{self, Thinks};
use crate::keys::{KeyEntry, KeyError, KeyForm, KeyPool};
use crate::money::ModelPrices;

/// A model that does not think answers within a minute; two are a hang.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// One second's quota at once: no sliding minute can exceed its limit, and 59
/// sixtieths of it are used (`admission/bucket.rs`).
pub(super) const DEFAULT_BURST: Duration = Duration::from_secs(1);
/// More would leave too little of the limit for steady use.
const LONGEST_BURST: Duration = Duration::from_secs(2);

/// A provider, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderConfig {
    /// Its name in the configuration.
    pub name: String,
    /// Which protocol it speaks.
    pub kind: ProviderKind,
    /// Where it is, without a slash at the end.
    pub base_url: String,
    /// The name under which results know it: `base_url`, or another that is stated.
    pub endpoint: String,
    /// Where its keys are; empty for keyless servers.
    pub keys: Vec<KeyEntry>,
    /// Limits of each key, or of all keys of an account together.
    pub limits: KeyLimits,
    /// How tokens are counted against the limits.
    pub charge: ChargeRule,
    /// How much of a limit per minute may be used at once.
    pub burst: Duration,
    /// How long one call may take.
    pub timeout: Duration,
    /// The configuration states that time itself.
    pub timeout_is_stated: bool,
    /// The version of the protocol, where it has one.
    pub api_version: Option<String>,
    /// Where in a cloud it is.
    pub cloud: Cloud,
    pub(super) structured_output: StructuredOutput,
    pub(super) seed: bool,
    pub(super) output_limit_field: OutputLimitField,
}

impl ProviderConfig {
    pub(super) fn check(name: &str, section: ProviderSection) -> Result<Self, ConfigError> {
        let wrong = |reason: &str| ConfigError::Provider {
            provider: name.to_owned(),
            reason: reason.into(),
        };
        if name.is_empty() || name.contains('/') {
            return Err(wrong("a provider's name must not be empty or hold a slash"));
        }
        let builtin = builtin::find(name);
        let kind = section
            .kind
            .or(builtin.as_ref().map(|builtin| builtin.kind));
        let kind = kind.unwrap_or_default();
        let cloud = Cloud::check(kind, &section).map_err(|reason| wrong(&reason))?;
        let base_url = match (section.base_url, &builtin, cloud.base_url(kind)) {
            (Some(url), ..) => url.trim_end_matches('/').to_owned(),
            (None, _, Some(url)) => url,
            (None, Some(builtin), None) => builtin.base_url.clone(),
            (None, None, None) if kind == ProviderKind::Door => "http://door".to_owned(),
            (None, None, None) => {
                return Err(wrong("base_url is missing, write \"https://host/v1\""));
            }
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
        let entries = section.keys.as_deref().unwrap_or_default();
        for entry in entries {
            secrecy::check_source("keys", &entry.source).map_err(|reason| wrong(&reason))?;
        }
        accounts::check_entries(entries).map_err(|reason| wrong(&reason))?;
        let mut limits = limits::check(&section.limits).map_err(|reason| wrong(&reason))?;
        if limits.concurrency.is_none() && known_address.is_some_and(|known| known.limits.adaptive)
        {
            limits.adaptive = true;
        }
        let burst = section.burst.unwrap_or(DEFAULT_BURST);
        if burst.is_zero() || burst > LONGEST_BURST {
            return Err(wrong("burst must be longer than 0s and at most 2s"));
        }
        let timeout_is_stated = section.timeout.is_some();
        let timeout = section.timeout.unwrap_or(DEFAULT_TIMEOUT);
        if timeout.is_zero() {
            return Err(wrong("timeout must be longer than 0s"));
        }
        let endpoint = section.endpoint.unwrap_or_else(|| base_url.clone());
        if endpoint.trim().is_empty() || endpoint.chars().any(char::is_control) {
            return Err(wrong("endpoint must be a name on one line"));
        }
        let defaults = builtin.as_ref();
        Ok(Self {
            name: name.to_owned(),
            kind,
            base_url,
            endpoint,
            keys: keys_of(kind, section.keys.or(known_keys)),
            limits,
            charge: section.charge.unwrap_or_else(|| default_charge(name, kind)),
            burst,
            timeout,
            timeout_is_stated,
            api_version: section.api_version,
            cloud,
            // A server that we do not know is believed to take everything; one
            // that does not is asked with less (`providers/capabilities.rs`).
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

impl ProviderConfig {
    /// How its models are told how long to think, unless the configuration says.
    pub(super) fn effort_field(&self, model: &str) -> EffortField {
        if self.name == "openrouter" || self.base_url.contains("://openrouter.ai/") {
            return EffortField::Reasoning;
        }
        match self.name == "vllm" && model.contains("qwen3") {
            true => EffortField::EnableThinking,
            false => EffortField::ReasoningEffort,
        }
    }
}

/// Where a model's answers come from. Two names with the same origin are one model, and a
/// name whose origin has changed is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The protocol.
    pub provider_kind: ProviderKind,
    /// The name of the server.
    pub endpoint: String,
    /// The server's name for the model.
    pub provider_model: String,
    /// Digest of what the configuration adds to every request; empty when nothing.
    pub additions: String,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = self.provider_kind.name();
        write!(f, "{} at {} ({kind})", self.provider_model, self.endpoint)?;
        match self.additions.as_str() {
            "" => Ok(()),
            additions => write!(f, " with additions {additions}"),
        }
    }
}

/// What a model name means in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedModel {
    /// The name that experiments use.
    pub name: String,
    /// Who serves it.
    pub provider: Arc<ProviderConfig>,
    /// The provider's name for it.
    pub model: ModelName,
    /// Which parameters it takes.
    pub takes: Takes,
    /// How a reasoning effort is put, where the configuration states it.
    pub thinking: Option<ThinkingForm>,
    /// How a chat completions server is told how long it should think.
    pub effort_field: EffortField,
    /// The most it may write when the request does not say.
    pub max_output_tokens: u32,
    /// The configuration states that number itself: thoughts are part of it.
    pub max_output_tokens_is_stated: bool,
    /// When it thinks; absent: never, as far as anybody knows.
    pub thinks: Option<Thinks>,
    /// Room to think, where the configuration states it.
    pub thinking_tokens: Option<u32>,
    /// The most that it can write at all, where that is known.
    pub most_output_tokens: Option<u32>,
    /// How long one call may take, where the configuration states it.
    pub timeout: Option<Duration>,
    /// How it is told the most it may write.
    pub output_limit_field: OutputLimitField,
    /// The configuration states that field itself.
    pub output_limit_field_is_stated: bool,
    /// The beginning of long conversations is kept in the provider's cache.
    pub prompt_cache: bool,
    /// What is added to every request to it.
    pub additions: Additions,
    /// What it costs, as far as anybody knows.
    pub prices: ModelPrices,
    /// Limits of each key for this model alone.
    pub limits: KeyLimits,
    /// After this long a call is made once more.
    pub hedge_after: Option<Duration>,
}

/// What one call may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLimit {
    /// Thoughts and answer together.
    pub tokens: u32,
    /// The part of it that was added for thoughts; absent where none was.
    pub thinking: Option<u32>,
}

impl ResolvedModel {
    /// Whether a call with this effort thinks before it answers.
    pub fn thinks_at(&self, effort: Option<&str>) -> bool {
        let can_be_told = match self.provider.kind {
            // An effort becomes a budget of tokens, or else is refused.
            ProviderKind::Anthropic | ProviderKind::Gemini | ProviderKind::Vertex => true,
            // Of the models there, Claude.
            ProviderKind::Bedrock if self.model.contains("anthropic.") => true,
            // Others ignore it, or are asked without it.
            ProviderKind::OpenAi
            | ProviderKind::Azure
            | ProviderKind::Bedrock
            | ProviderKind::Door => self.thinks.is_some(),
        };
        let is_told = effort.is_some() && can_be_told && self.takes.reasoning_effort.value;
        !catalogue::is_off(effort) && (is_told || self.thinks == Some(Thinks::Always))
    }

    /// The most that a call may write. What is asked for is room for the answer; thoughts come on
    /// top, unless the configuration says what both may take.
    pub fn output_limit(&self, asked: Option<u32>, effort: Option<&str>) -> OutputLimit {
        let answer = asked.unwrap_or(self.max_output_tokens);
        let is_whole = asked.is_none() && self.max_output_tokens_is_stated;
        let room = match self.thinking_tokens {
            _ if !self.thinks_at(effort) => 0,
            Some(stated) => stated,
            None if is_whole => 0,
            None => catalogue::effort(effort).most_tokens,
        };
        let most = self.most_output_tokens.unwrap_or(u32::MAX).max(answer);
        let tokens = answer.saturating_add(room).min(most);
        OutputLimit {
            tokens,
            thinking: Some(tokens - answer).filter(|room| *room > 0),
        }
    }

    /// How long a call with this effort may take.
    pub fn timeout(&self, effort: Option<&str>) -> Duration {
        match self.timeout {
            Some(stated) => stated,
            None if self.provider.timeout_is_stated || !self.thinks_at(effort) => {
                self.provider.timeout
            }
            None => catalogue::effort(effort).timeout.max(self.provider.timeout),
        }
    }

    /// Where its answers come from.
    pub fn origin(&self) -> Origin {
        Origin {
            provider_kind: self.provider.kind,
            endpoint: self.provider.endpoint.clone(),
            provider_model: self.model.to_string(),
            additions: self.additions.digest(),
        }
    }

    /// Reads the headers that are added to its requests. Nothing reads them anew for this model.
    pub fn read_headers(&self) -> Result<(), ConfigError> {
        let read = self.additions.headers();
        read.map(|_| ()).map_err(|error| ConfigError::Model {
            model: self.name.clone(),
            reason: format!("extra_headers: {error}"),
        })
    }

    /// The keys of its provider that can be read, and what is wrong with the
    /// others; an error when none can.
    pub fn read_keys(&self) -> Result<(KeyPool, Vec<KeyError>), ConfigError> {
        let provider = &self.provider;
        self.read_headers()?;
        let (pool, errors) = KeyPool::read(&provider.name, &provider.keys);
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

/// Servers that are merely compatible count what was used; OpenAI and Azure take
/// the most that may be written when the call arrives.
pub(super) fn default_charge(provider: &str, kind: ProviderKind) -> ChargeRule {
    match kind {
        ProviderKind::OpenAi if provider == "openai" => ChargeRule::OpenAi,
        ProviderKind::OpenAi | ProviderKind::Door => ChargeRule::Total,
        ProviderKind::Azure => ChargeRule::OpenAi,
        ProviderKind::Anthropic => ChargeRule::Anthropic,
        ProviderKind::Gemini | ProviderKind::Vertex => ChargeRule::Gemini,
        ProviderKind::Bedrock => ChargeRule::Total,
    }
}

/// The keys in the form that a protocol wants them in.
fn keys_of(kind: ProviderKind, keys: Option<Vec<KeyEntry>>) -> Vec<KeyEntry> {
    let form = match kind {
        ProviderKind::Vertex => KeyForm::Account,
        _ => KeyForm::Header,
    };
    let keys = keys.unwrap_or_default().into_iter();
    keys.map(|entry| KeyEntry { form, ..entry }).collect()
}
