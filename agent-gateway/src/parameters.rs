//! What a provider was really told beside the conversation, and what it was not told although
//! it was asked for. A leaf: the providers fill it in, decisions keep it, records show it.

use serde::{Deserialize, Serialize};

/// A parameter of a call that a model may not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// Sampling temperature.
    Temperature,
    /// Nucleus sampling.
    TopP,
    /// Seed of the sampling.
    SamplingSeed,
    /// The form of the reply.
    ReplyFormat,
    /// How long to think.
    ReasoningEffort,
    /// Where the reply ends.
    StopSequences,
    /// How likely its tokens were.
    Logprobs,
}

impl Parameter {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 7] = [
        Self::Temperature,
        Self::TopP,
        Self::SamplingSeed,
        Self::ReplyFormat,
        Self::ReasoningEffort,
        Self::StopSequences,
        Self::Logprobs,
    ];

    /// Its name on the wire, in records and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::TopP => "top_p",
            Self::SamplingSeed => "sampling_seed",
            Self::ReplyFormat => "reply_format",
            Self::ReasoningEffort => "reasoning_effort",
            Self::StopSequences => "stop_sequences",
            Self::Logprobs => "logprobs",
        }
    }

    /// The parameter of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// The key of a model's section in the configuration that says whether it is sent.
    pub fn setting(self) -> &'static str {
        match self {
            Self::SamplingSeed => "seed",
            Self::ReplyFormat => "structured_output",
            other => other.name(),
        }
    }
}

/// How the form of a reply was enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormatMode {
    /// With the schema itself.
    JsonSchema,
    /// As any JSON object.
    JsonObject,
    /// As the input of a tool that the model had to use.
    Tool,
    /// As the input of a tool that the model could use.
    OfferedTool,
}

impl FormatMode {
    /// Its name on the wire and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::JsonSchema => "json_schema",
            Self::JsonObject => "json_object",
            Self::Tool => "tool",
            Self::OfferedTool => "offered_tool",
        }
    }
}

/// The parameters of a call as they were sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Seed of the sampling, as the provider takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling_seed: Option<u64>,
    /// The most tokens to write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// How the form of the reply was enforced; absent: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_format: Option<FormatMode>,
    /// How long to think, in the provider's terms ("low", "budget 1024").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// Stop sequences were sent; otherwise the gateway cuts a reply that is free text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_sequences: bool,
    /// How many likely tokens were asked for with each token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<u32>,
    /// What was asked for and was not sent, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<Parameter>,
}
