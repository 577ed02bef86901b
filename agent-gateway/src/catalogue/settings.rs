//! Settings with a few values: protocols, ways to count, and how each parameter is put. Named in
//! configurations as they are read here; used by everything that calls models.

use serde::Deserialize;

/// The protocols we speak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// OpenAI chat completions, and the many servers compatible with it.
    #[default]
    OpenAi,
    /// Azure OpenAI: the same bodies under deployments of a resource.
    Azure,
    /// Anthropic messages.
    Anthropic,
    /// Gemini generateContent.
    Gemini,
    /// The same on Google's Vertex AI, with tokens of Google's cloud.
    Vertex,
    /// Amazon Bedrock's Converse, with signatures of AWS.
    Bedrock,
    /// No server: a person or another program answers through
    /// `WatchDoor` and `AnswerAtDoor`.
    Door,
}

impl ProviderKind {
    /// Its name in a configuration and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Vertex => "vertex",
            Self::Bedrock => "bedrock",
            Self::Door => "door",
        }
    }
}

/// How a provider counts the tokens of a call against its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChargeRule {
    /// The larger of the most that may be written and the estimated input,
    /// taken when the call arrives and never given back.
    OpenAi,
    /// Input as estimated and then as it was, without what came from the cache;
    /// output apart, as it is produced.
    Anthropic,
    /// Input only.
    Gemini,
    /// Input and output together, as they were in the end.
    Total,
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

/// How a model is told how long to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingForm {
    /// So many tokens.
    Budget,
    /// In a word ("low").
    Level,
}

/// The field that tells a chat completions server how long to think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffortField {
    /// `reasoning_effort`, with the word as it is.
    #[default]
    ReasoningEffort,
    /// `reasoning`, with an effort, or with tokens if `thinking = "budget"` (OpenRouter).
    Reasoning,
    /// `chat_template_kwargs.enable_thinking`: off for `none`, on for all others (vLLM and
    /// SGLang with Qwen3).
    EnableThinking,
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

impl OutputLimitField {
    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens => Self::MaxTokens,
        }
    }
}
