//! Providers that need no configuration: name a model `provider/model` and set
//! the key's environment variable. One table; limits are the user's own and
//! are therefore not in it. Called by `config.rs`.

use std::time::Duration;

use crate::catalogue::{
    ChargeRule, Cloud, OutputLimitField, ProviderConfig, ProviderKind, StructuredOutput,
};
use crate::limits::KeyLimits;
use agon_service_kit::secret_source::SecretSource;

use OutputLimitField::{MaxCompletionTokens, MaxTokens};
use ProviderKind::{Anthropic, Door, Gemini, OpenAi};
use StructuredOutput::{JsonObject, JsonSchema};

/// A model that does not think answers within a minute; two are a hang.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// One second's quota at once: no sliding minute can exceed its limit, and 59
/// sixtieths of it are used (`admission/bucket.rs`).
pub(super) const DEFAULT_BURST: Duration = Duration::from_secs(1);
struct Builtin {
    name: &'static str,
    base_url: &'static str,
    kind: ProviderKind,
    key_variable: Option<&'static str>,
    structured_output: StructuredOutput,
    seed: bool,
    output_limit_field: OutputLimitField,
}

#[rustfmt::skip] // A table reads better in columns.
const BUILTINS: [Builtin; 11] = [
    row("openai", "https://api.openai.com/v1", OpenAi, Some("OPENAI_API_KEY"), JsonSchema, true, MaxCompletionTokens),
    row("deepinfra", "https://api.deepinfra.com/v1/openai", OpenAi, Some("DEEPINFRA_API_KEY"), JsonObject, true, MaxTokens),
    row("openrouter", "https://openrouter.ai/api/v1", OpenAi, Some("OPENROUTER_API_KEY"), JsonObject, true, MaxTokens),
    row("together", "https://api.together.xyz/v1", OpenAi, Some("TOGETHER_API_KEY"), JsonObject, true, MaxTokens),
    row("groq", "https://api.groq.com/openai/v1", OpenAi, Some("GROQ_API_KEY"), JsonObject, true, MaxTokens),
    // Mistral calls its seed `random_seed` and refuses unknown fields.
    row("mistral", "https://api.mistral.ai/v1", OpenAi, Some("MISTRAL_API_KEY"), JsonSchema, false, MaxTokens),
    row("anthropic", "https://api.anthropic.com/v1", Anthropic, Some("ANTHROPIC_API_KEY"), JsonSchema, false, MaxTokens),
    row("gemini", "https://generativelanguage.googleapis.com/v1beta", Gemini, Some("GEMINI_API_KEY"), JsonSchema, true, MaxTokens),
    // "human/NAME" waits for an answer at the door of that name.
    row("human", "http://door", Door, None, JsonSchema, true, MaxTokens),
    row("vllm", "http://localhost:8000/v1", OpenAi, None, JsonSchema, true, MaxTokens),
    row("ollama", "http://localhost:11434/v1", OpenAi, None, JsonSchema, true, MaxTokens),
];

const fn row(
    name: &'static str,
    base_url: &'static str,
    kind: ProviderKind,
    key_variable: Option<&'static str>,
    structured_output: StructuredOutput,
    seed: bool,
    output_limit_field: OutputLimitField,
) -> Builtin {
    Builtin {
        name,
        base_url,
        kind,
        key_variable,
        structured_output,
        seed,
        output_limit_field,
    }
}

/// All built-in providers.
pub(super) fn all() -> impl Iterator<Item = ProviderConfig> {
    BUILTINS.iter().map(Builtin::provider)
}

/// The built-in provider of this name.
pub(super) fn find(name: &str) -> Option<ProviderConfig> {
    BUILTINS
        .iter()
        .find(|builtin| builtin.name == name)
        .map(Builtin::provider)
}

impl Builtin {
    fn provider(&self) -> ProviderConfig {
        let key = self
            .key_variable
            .map(|variable| SecretSource::Env(variable.to_owned()));
        ProviderConfig {
            name: self.name.to_owned(),
            kind: self.kind,
            base_url: self.base_url.to_owned(),
            endpoint: self.base_url.to_owned(),
            keys: key.into_iter().map(Into::into).collect(),
            limits: KeyLimits {
                // Servers of one's own publish no limits: find out what they take.
                adaptive: self.key_variable.is_none() && self.kind == OpenAi,
                ..KeyLimits::default()
            },
            charge: default_charge(self.name, self.kind),
            burst: DEFAULT_BURST,
            timeout: DEFAULT_TIMEOUT,
            timeout_is_stated: false,
            api_version: None,
            cloud: Cloud::default(),
            structured_output: self.structured_output,
            seed: self.seed,
            output_limit_field: self.output_limit_field,
        }
    }
}

/// Servers that are merely compatible count what was used; OpenAI and Azure take
/// the most that may be written when the call arrives.
pub(super) fn default_charge(provider: &str, kind: ProviderKind) -> ChargeRule {
    match kind {
        OpenAi if provider == "openai" => ChargeRule::OpenAi,
        OpenAi | Door => ChargeRule::Total,
        ProviderKind::Azure => ChargeRule::OpenAi,
        Anthropic => ChargeRule::Anthropic,
        Gemini | ProviderKind::Vertex => ChargeRule::Gemini,
        ProviderKind::Bedrock => ChargeRule::Total,
    }
}
