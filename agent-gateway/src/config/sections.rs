//! What the configuration file may say, section by section, before anything is
//! checked. Unknown keys are refused. The command line fills the same structs
//! when a model is named by flags instead of a file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::catalogue::{
    ChargeRule, EffortField, HeaderText, OutputLimitField, PriceSection, ProviderKind,
    StructuredOutput, ThinkingForm,
};
use crate::keys::KeyEntry;

/// `[providers.NAME]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderSection {
    /// Which protocol the provider speaks. Default: that of the built-in
    /// provider of this name, else `openai`.
    pub kind: Option<ProviderKind>,
    /// Where it is, up to and including the version (`https://host/v1`).
    pub base_url: Option<String>,
    /// The name under which results know this server. Default: `base_url`. A
    /// server of another name plays sessions of its own; give one that has moved
    /// the name that it had.
    pub endpoint: Option<String>,
    /// Where its keys are: `{ env = "NAME" }` or `{ file = "/path" }`. An empty
    /// list means that the server wants no key. Keys with the same `account`
    /// share their limits.
    pub keys: Option<Vec<KeyEntry>>,
    /// Limits of each key, or account, that all models of the provider share.
    #[serde(default)]
    pub limits: LimitsSection,
    /// How tokens are counted against the limits. Default: as `kind` does;
    /// `total` for servers that are only compatible with OpenAI.
    pub charge: Option<ChargeRule>,
    /// How much of a limit per minute may be used at once, as a time ("1s",
    /// 2 s at most). More makes better use of uneven quotas, less is gentler.
    #[serde(default, with = "humantime_serde")]
    pub burst: Option<Duration>,
    /// How long one call may take ("120s"). Default 120 s, and more for models
    /// that think (`catalogue.rs`).
    #[serde(default, with = "humantime_serde")]
    pub timeout: Option<Duration>,
    /// Azure: the `api-version`; Anthropic: the `anthropic-version`. Default:
    /// the version this gateway was written for.
    pub api_version: Option<String>,
    /// Vertex AI: the project that pays.
    pub project: Option<String>,
    /// Vertex AI: where the model runs. Default: `global`.
    pub location: Option<String>,
    /// Amazon Bedrock: the region.
    pub region: Option<String>,
    /// Amazon Bedrock: the profile whose credentials sign requests. Default: the
    /// environment, then what AWS's own programs find.
    pub profile: Option<String>,
    /// Amazon Bedrock: the file with that profile. Default: `~/.aws/credentials`.
    pub credentials_file: Option<PathBuf>,
}

/// `[providers.NAME.limits]` and `[models.NAME.limits]`: what one key may
/// carry. Absent: no limit, or what the provider's headers say.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsSection {
    /// Requests per minute.
    pub requests_per_minute: Option<u64>,
    /// Input and output tokens per minute.
    pub tokens_per_minute: Option<u64>,
    /// Input tokens per minute, where they are counted apart.
    pub input_tokens_per_minute: Option<u64>,
    /// Output tokens per minute, where they are counted apart.
    pub output_tokens_per_minute: Option<u64>,
    /// Requests in any 24 hours.
    pub requests_per_day: Option<u64>,
    /// Calls in flight; `"auto"` finds out what the server takes well.
    pub concurrency: Option<ConcurrencySection>,
}

/// How many calls of a key may be in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConcurrencySection {
    /// So many.
    Fixed(u64),
    /// As many as the server takes well, found out by trying
    /// (additive increase, multiplicative decrease).
    Auto,
}

impl<'de> Deserialize<'de> for ConcurrencySection {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ConcurrencyVisitor;
        impl serde::de::Visitor<'_> for ConcurrencyVisitor {
            type Value = ConcurrencySection;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a whole number or \"auto\"")
            }
            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
                let number = u64::try_from(number)
                    .map_err(|_| E::invalid_value(serde::de::Unexpected::Signed(number), &self))?;
                Ok(ConcurrencySection::Fixed(number))
            }
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(ConcurrencySection::Fixed(number))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                match text {
                    "auto" => Ok(ConcurrencySection::Auto),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }
        deserializer.deserialize_any(ConcurrencyVisitor)
    }
}

/// `[models.NAME]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSection {
    /// Name of its provider.
    pub provider: String,
    /// The provider's name for it. Default: the section's name.
    pub model: Option<String>,
    /// How it takes a reply format. Default: what a built-in provider can, else
    /// `json_schema`; a schema that its server refuses is asked for with less.
    pub structured_output: Option<StructuredOutput>,
    /// It takes a sampling seed. Default: what a built-in provider can, else
    /// true. This and the four below: what is stated here is kept to; where
    /// nothing is stated and the server refuses the parameter, it is left out
    /// for a while, and every decision says so.
    pub seed: Option<bool>,
    /// It takes a temperature. Default: true, unless `reasoning` or one of
    /// OpenAI's models that think.
    pub temperature: Option<bool>,
    /// It takes `top_p`. Default: as `temperature`.
    pub top_p: Option<bool>,
    /// It takes stop sequences. Default: true, unless it is one of OpenAI's
    /// models with `reasoning`.
    pub stop_sequences: Option<bool>,
    /// It takes a reasoning effort. Default: true.
    pub reasoning_effort: Option<bool>,
    /// It tells how likely its tokens were. Default: true, unless it is
    /// Anthropic's, or `reasoning`.
    pub logprobs: Option<bool>,
    /// How a reasoning effort is put to Anthropic's, Gemini's and OpenRouter's
    /// models: as a `budget` of tokens or as a `level`. Default: by the model's
    /// name; a level for OpenRouter.
    pub thinking: Option<ThinkingForm>,
    /// How a reasoning effort is put to a server that speaks chat completions.
    /// Default: `reasoning` for OpenRouter, `enable_thinking` for Qwen3 on `vllm`,
    /// else `reasoning_effort`.
    pub effort_field: Option<EffortField>,
    /// The most tokens it may write when the request does not say, thoughts
    /// included. Default: 1024 for the answer and room to think on top.
    pub max_output_tokens: Option<u32>,
    /// Room to think, on top of what the answer may take. Default: by the
    /// effort, for models that think.
    pub thinking_tokens: Option<u32>,
    /// How long one call may take. Default: the provider's, else by the effort
    /// for models that think.
    #[serde(default, with = "humantime_serde")]
    pub timeout: Option<Duration>,
    /// The field that carries that number. Default: what its provider wants,
    /// else `max_tokens`.
    pub output_limit_field: Option<OutputLimitField>,
    /// What it costs. Absent: what the price table says, if it knows the model.
    pub price: Option<PriceSection>,
    /// Limits of each key for this model alone, beside those of the provider. They
    /// hold for all names of the same model of the provider.
    #[serde(default)]
    pub limits: LimitsSection,
    /// It thinks before it answers: sampling settings that such models refuse
    /// are left out, the reply's limit goes into the field they want, and room
    /// and time to think are added. Default: by the model's name.
    pub reasoning: Option<bool>,
    /// Anthropic: the beginning of a long conversation is kept in the provider's
    /// cache, where it is read at a tenth of the price and written at a quarter
    /// more. Default: true. Others do it by themselves.
    pub prompt_cache: Option<bool>,
    /// Fields that are added to the body of every request. Objects are merged;
    /// a call whose request sets the same field is refused.
    pub extra_body: Option<Map<String, Value>>,
    /// Headers that are added to every request: a text, or `{ env = "NAME" }`
    /// or `{ file = "/path" }` for what is secret.
    #[serde(default)]
    pub extra_headers: BTreeMap<String, HeaderText>,
    /// A call that takes longer is made once more, on another key if there is
    /// one; the first answer counts, both are paid. Absent: never.
    #[serde(default, with = "humantime_serde")]
    pub hedge_after: Option<Duration>,
}

/// `[teams.NAME]`: who pays. A team that is not configured has weight 1, no
/// budget.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeamSection {
    /// Share of contended quota, relative to other teams. Default 1.
    pub weight: Option<f64>,
    /// The most it may spend in all, in dollars, as text. Absent: no budget.
    pub budget_dollars: Option<String>,
    /// Stood here once; see `team.rs`.
    pub tokens: Option<IgnoredAny>,
}

/// `[gateway]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatewaySection {
    /// How long a decision may fail at its provider before it is given up; time
    /// spent waiting for quota does not count. Default 10 minutes, and time for
    /// three calls of a model that thinks.
    #[serde(default, with = "humantime_serde")]
    pub patience: Option<Duration>,
    /// A file of prices that stand before the listed ones, relative to this file.
    pub prices: Option<PathBuf>,
    /// After which pauses a key that was refused as dead or wrong is tried again, with one call
    /// each; the last one is repeated. An empty list: never. Default `["1m", "5m", "30m"]`.
    pub dead_key_probes: Option<Vec<humantime_serde::Serde<Duration>>>,
    /// How long the content cache keeps an answer. Default 30 days.
    #[serde(default, with = "humantime_serde")]
    pub content_cache_for: Option<Duration>,
}
