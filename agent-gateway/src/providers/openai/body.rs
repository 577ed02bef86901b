//! The body of a chat completion, from the model's settings and what its server
//! is known to take. Refuses a reply format that is no JSON. Called by
//! `openai.rs` and `azure.rs`.

use serde::Serialize;
use serde_json::value::RawValue;

use super::super::Refusal;
use super::super::abilities::{Ability, Thinking};
use super::super::reading::give_up;
use crate::config::{OutputLimitField, ResolvedModel, StructuredOutput};
use crate::decision::{ReplyFormat, Request};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<BodyMessage<'a>>,
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
    response_format: Option<BodyFormat<'a>>,
}

#[derive(Serialize)]
struct BodyMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BodyFormat<'a> {
    JsonObject,
    JsonSchema { json_schema: BodySchema<'a> },
}

#[derive(Serialize)]
struct BodySchema<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a RawValue,
}

/// The body as JSON.
pub(in super::super) fn build(
    model: &ResolvedModel,
    ability: Ability,
    request: &Request,
) -> Result<Vec<u8>, Refusal> {
    let limit = Some(request.max_output_tokens.unwrap_or(model.max_output_tokens));
    let (max_tokens, max_completion_tokens) = match ability.output_limit_field(model) {
        OutputLimitField::MaxTokens => (limit, None),
        OutputLimitField::MaxCompletionTokens => (None, limit),
    };
    let body = Body {
        model: &model.model,
        messages: request
            .messages
            .iter()
            .map(|message| BodyMessage {
                role: message.role.name(),
                content: &message.content,
            })
            .collect(),
        temperature: request.temperature.filter(|_| ability.temperature),
        top_p: request.top_p.filter(|_| ability.top_p),
        max_tokens,
        max_completion_tokens,
        seed: request.sampling_seed.filter(|_| ability.seed),
        stop: match ability.stop {
            true => &request.stop_sequences,
            false => &[],
        },
        reasoning_effort: request
            .reasoning_effort
            .as_deref()
            .filter(|_| ability.thinking == Thinking::UsualWay),
        response_format: match &request.reply_format {
            Some(format) => body_format(ability.structured_output, format)?,
            None => None,
        },
    };
    serde_json::to_vec(&body).map_err(|error| give_up(format!("cannot be written: {error}")))
}

fn body_format(
    how: StructuredOutput,
    format: &ReplyFormat,
) -> Result<Option<BodyFormat<'_>>, Refusal> {
    Ok(match how {
        StructuredOutput::None => None,
        StructuredOutput::JsonObject => Some(BodyFormat::JsonObject),
        StructuredOutput::JsonSchema if format.is_any_object() => Some(BodyFormat::JsonObject),
        StructuredOutput::JsonSchema => {
            let schema = serde_json::from_str(&format.json_schema)
                .map_err(|error| give_up(format!("the reply format is not JSON: {error}")))?;
            let json_schema = BodySchema {
                name: &format.name,
                strict: true,
                schema,
            };
            Some(BodyFormat::JsonSchema { json_schema })
        }
    })
}
