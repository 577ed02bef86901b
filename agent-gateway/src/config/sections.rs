//! What the configuration file may say, section by section, before anything is
//! checked. Unknown keys are refused. The command line fills the same structs
//! when a model is named by flags instead of a file.

use std::time::Duration;

use serde::Deserialize;

use crate::keys::KeySource;
use crate::money::{MoneyError, Price};

/// `[providers.NAME]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderSection {
    /// Which protocol the provider speaks. Default `openai`.
    #[serde(default)]
    pub kind: ProviderKind,
    /// Where it is, up to and including the version (`https://host/v1`).
    pub base_url: Option<String>,
    /// Where its keys are: `{ env = "NAME" }` or `{ file = "/path" }`. An empty
    /// list means that the server wants no key.
    pub keys: Option<Vec<KeySource>>,
    /// Requests per minute and key. Absent: no limit.
    pub requests_per_minute: Option<u64>,
    /// Input and output tokens per minute and key. Absent: no limit.
    pub tokens_per_minute: Option<u64>,
    /// Calls in flight per key. Absent: no limit.
    pub concurrency: Option<u64>,
    /// How long one call may take ("120s"). Default 120 s.
    #[serde(default, with = "humantime_serde")]
    pub timeout: Option<Duration>,
}

/// The protocols we speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// OpenAI chat completions, and the many servers compatible with it.
    #[default]
    OpenAi,
}

/// `[models.NAME]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSection {
    /// Name of its provider.
    pub provider: String,
    /// The provider's name for it. Default: the section's name.
    pub model: Option<String>,
    /// How it takes a reply format. Default: what a built-in provider
    /// can, else `json_schema`; a server that refuses it is asked with less.
    pub structured_output: Option<StructuredOutput>,
    /// It accepts a sampling seed. Default: what a built-in provider
    /// can, else true; a server that refuses it is asked without.
    pub seed: Option<bool>,
    /// The most tokens it may write when the request does not say. Default 1024.
    pub max_output_tokens: Option<u32>,
    /// The field that carries that number. Default: what its provider wants,
    /// else `max_tokens`.
    pub output_limit_field: Option<OutputLimitField>,
    /// What it costs, for plans. Absent: unknown.
    pub price: Option<PriceSection>,
}

/// How a model is told what its reply should look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructuredOutput {
    /// `response_format` with the schema itself.
    JsonSchema,
    /// `response_format` that says only "a JSON object".
    JsonObject,
    /// Not at all; the prompt has to say it.
    None,
}

impl StructuredOutput {
    /// The name it has in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            StructuredOutput::JsonSchema => "json_schema",
            StructuredOutput::JsonObject => "json_object",
            StructuredOutput::None => "none",
        }
    }
}

/// The field that carries the most tokens to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputLimitField {
    /// `max_tokens`, understood by nearly every server.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's newer models insist on.
    MaxCompletionTokens,
}

/// `price = { input_per_million_dollars = "0.23", output_per_million_dollars = "0.40" }`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceSection {
    /// Dollars per million input tokens, as text so that no digit is lost.
    pub input_per_million_dollars: String,
    /// Dollars per million output tokens.
    pub output_per_million_dollars: String,
}

impl PriceSection {
    pub(super) fn check(&self) -> Result<Price, MoneyError> {
        Ok(Price {
            input_per_million: self.input_per_million_dollars.parse()?,
            output_per_million: self.output_per_million_dollars.parse()?,
        })
    }
}

/// `[gateway]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatewaySection {
    /// How long a decision may fail at its provider before it is given up; time
    /// spent waiting for quota does not count. Default 10 minutes.
    #[serde(default, with = "humantime_serde")]
    pub patience: Option<Duration>,
}
