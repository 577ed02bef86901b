//! Providers that need no configuration: name a model `provider/model` and set
//! the key's environment variable. One table; limits are the user's own and
//! are therefore not in it. Called by `config.rs`.

use super::{DEFAULT_TIMEOUT, OutputLimitField, ProviderConfig, ProviderKind, StructuredOutput};
use crate::admission::KeyLimits;
use crate::keys::KeySource;

use OutputLimitField::{MaxCompletionTokens, MaxTokens};
use StructuredOutput::{JsonObject, JsonSchema};

struct Builtin {
    name: &'static str,
    base_url: &'static str,
    key_variable: Option<&'static str>,
    structured_output: StructuredOutput,
    seed: bool,
    output_limit_field: OutputLimitField,
}

#[rustfmt::skip] // A table reads better in columns.
const BUILTINS: [Builtin; 8] = [
    row("openai", "https://api.openai.com/v1", Some("OPENAI_API_KEY"), JsonSchema, true, MaxCompletionTokens),
    row("deepinfra", "https://api.deepinfra.com/v1/openai", Some("DEEPINFRA_API_KEY"), JsonObject, true, MaxTokens),
    row("openrouter", "https://openrouter.ai/api/v1", Some("OPENROUTER_API_KEY"), JsonObject, true, MaxTokens),
    row("together", "https://api.together.xyz/v1", Some("TOGETHER_API_KEY"), JsonObject, true, MaxTokens),
    row("groq", "https://api.groq.com/openai/v1", Some("GROQ_API_KEY"), JsonObject, true, MaxTokens),
    // Mistral calls its seed `random_seed` and refuses unknown fields.
    row("mistral", "https://api.mistral.ai/v1", Some("MISTRAL_API_KEY"), JsonSchema, false, MaxTokens),
    row("vllm", "http://localhost:8000/v1", None, JsonSchema, true, MaxTokens),
    row("ollama", "http://localhost:11434/v1", None, JsonSchema, true, MaxTokens),
];

const fn row(
    name: &'static str,
    base_url: &'static str,
    key_variable: Option<&'static str>,
    structured_output: StructuredOutput,
    seed: bool,
    output_limit_field: OutputLimitField,
) -> Builtin {
    Builtin {
        name,
        base_url,
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
            .map(|variable| KeySource::Env(variable.to_owned()));
        ProviderConfig {
            name: self.name.to_owned(),
            kind: ProviderKind::OpenAi,
            base_url: self.base_url.to_owned(),
            keys: key.into_iter().collect(),
            limits: KeyLimits::default(),
            timeout: DEFAULT_TIMEOUT,
            structured_output: self.structured_output,
            seed: self.seed,
            output_limit_field: self.output_limit_field,
        }
    }
}
