//! The body of a chat completion, from the model's settings and what its server
//! is known to take. Refuses a reply format that is no JSON. Called by
//! `openai.rs` and `azure.rs`.

use serde::Serialize;
use serde_json::value::RawValue;

use super::super::Refusal;
use super::super::capabilities::Capabilities;
use super::super::reading::give_up;
use crate::catalogue;
use crate::catalogue::{
    EffortField, OutputLimit, OutputLimitField, ResolvedModel, StructuredOutput, ThinkingForm,
};
use crate::decision::{ReplyFormat, Request};
use crate::parameters::{Applied, FormatMode};

#[derive(Serialize)]
struct OpenAiBody<'a> {
    model: &'a str,
    messages: Vec<OpenAiMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<TemplateArguments>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    logprobs: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_logprobs: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<OpenAiFormat<'a>>,
}

#[derive(Serialize)]
struct OpenAiMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum OpenAiFormat<'a> {
    JsonObject,
    JsonSchema { json_schema: OpenAiSchema<'a> },
}

#[derive(Serialize)]
struct OpenAiSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a RawValue,
}

/// How long to think, in the words of OpenRouter.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Reasoning<'a> {
    Effort(&'a str),
    MaxTokens(u32),
}

/// What the template of a prompt is told, where a server of one's own has one.
#[derive(Serialize)]
struct TemplateArguments {
    enable_thinking: bool,
}

/// An effort in the fields of a server.
#[derive(Default)]
struct OpenAiEffort<'a> {
    reasoning_effort: Option<&'a str>,
    reasoning: Option<Reasoning<'a>>,
    chat_template_kwargs: Option<TemplateArguments>,
    /// The same in words.
    said: Option<String>,
}

/// Of the most that may be written, where nothing was added for thoughts.
const SHARE_OF_THOUGHTS: u32 = 80;

impl<'a> OpenAiEffort<'a> {
    fn new(model: &ResolvedModel, effort: &'a str, limit: OutputLimit) -> Self {
        let is_off = catalogue::is_off(Some(effort));
        match model.effort_field {
            EffortField::ReasoningEffort => Self {
                reasoning_effort: Some(effort),
                said: Some(effort.to_owned()),
                ..Self::default()
            },
            EffortField::Reasoning if !is_off && model.thinking == Some(ThinkingForm::Budget) => {
                let share = limit.tokens / 100 * SHARE_OF_THOUGHTS;
                let budget = limit.thinking.unwrap_or(share);
                Self {
                    reasoning: Some(Reasoning::MaxTokens(budget)),
                    said: Some(format!("budget {budget}")),
                    ..Self::default()
                }
            }
            EffortField::Reasoning => Self {
                reasoning: Some(Reasoning::Effort(effort)),
                said: Some(effort.to_owned()),
                ..Self::default()
            },
            EffortField::EnableThinking => Self {
                chat_template_kwargs: Some(TemplateArguments {
                    enable_thinking: !is_off,
                }),
                said: Some(format!("enable_thinking {}", !is_off)),
                ..Self::default()
            },
        }
    }
}

/// The body as JSON, and what it holds.
pub(in super::super) fn build(
    model: &ResolvedModel,
    capabilities: Capabilities,
    request: &Request,
) -> Result<(Vec<u8>, Applied), Refusal> {
    let output_limit = model.output_limit(request.max_output_tokens, request.effort());
    let limit = Some(output_limit.tokens);
    let effort = request
        .reasoning_effort
        .as_deref()
        .filter(|_| capabilities.reasoning_effort)
        .map(|effort| OpenAiEffort::new(model, effort, output_limit))
        .unwrap_or_default();
    let (max_tokens, max_completion_tokens) = match capabilities.output_limit_field {
        OutputLimitField::MaxTokens => (limit, None),
        OutputLimitField::MaxCompletionTokens => (None, limit),
    };
    let logprobs = request.logprobs.filter(|_| capabilities.logprobs);
    let body = OpenAiBody {
        model: &model.model,
        messages: request
            .messages
            .iter()
            .map(|message| OpenAiMessage {
                role: message.role.name(),
                content: &message.content,
            })
            .collect(),
        temperature: request.temperature.filter(|_| capabilities.temperature),
        top_p: request.top_p.filter(|_| capabilities.top_p),
        max_tokens,
        max_completion_tokens,
        seed: request.sampling_seed.filter(|_| capabilities.seed),
        stop: match capabilities.stop {
            true => &request.stop_sequences,
            false => &[],
        },
        reasoning_effort: effort.reasoning_effort,
        reasoning: effort.reasoning,
        chat_template_kwargs: effort.chat_template_kwargs,
        logprobs: logprobs.is_some(),
        top_logprobs: logprobs,
        response_format: match &request.reply_format {
            Some(format) => body_format(capabilities.structured_output, format)?,
            None => None,
        },
    };
    let applied = Applied {
        temperature: body.temperature,
        top_p: body.top_p,
        sampling_seed: body.seed,
        max_output_tokens: limit,
        reply_format: body.response_format.as_ref().map(OpenAiFormat::mode),
        reasoning_effort: effort.said,
        stop_sequences: !body.stop.is_empty(),
        logprobs,
        omitted: Vec::new(),
    };
    let bytes = serde_json::to_vec(&body)
        .map_err(|error| give_up(format!("cannot be written: {error}")))?;
    Ok((bytes, applied))
}

impl OpenAiFormat<'_> {
    fn mode(&self) -> FormatMode {
        match self {
            Self::JsonObject => FormatMode::JsonObject,
            Self::JsonSchema { .. } => FormatMode::JsonSchema,
        }
    }
}

fn body_format(
    how: StructuredOutput,
    format: &ReplyFormat,
) -> Result<Option<OpenAiFormat<'_>>, Refusal> {
    Ok(match how {
        StructuredOutput::None => None,
        StructuredOutput::JsonObject => Some(OpenAiFormat::JsonObject),
        StructuredOutput::JsonSchema if format.is_any_object() => Some(OpenAiFormat::JsonObject),
        StructuredOutput::JsonSchema => {
            let schema = serde_json::from_str(&format.json_schema)
                .map_err(|error| give_up(format!("the reply format is not JSON: {error}")))?;
            let json_schema = OpenAiSchema {
                name: &format.name,
                strict: true,
                schema,
            };
            Some(OpenAiFormat::JsonSchema { json_schema })
        }
    })
}
