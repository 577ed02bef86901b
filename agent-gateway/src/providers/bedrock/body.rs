//! The body of a Converse request. A reply format becomes a tool that the model is made to use;
//! how long to think has no field of its own and goes, in the words of the model's maker, into
//! those for the model alone. Refuses what the protocol cannot say. Called by `bedrock.rs`.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::Refusal;
use super::super::anthropic::body::{
    AnthropicEffort, TOOL_DESCRIPTION, cached, input_schema, takes_top_p,
};
use super::super::capabilities::Capabilities;
use super::super::conversation::Conversation;
use super::super::reading::give_up;
use crate::catalogue::{ResolvedModel, StructuredOutput};
use crate::decision::Request;
use crate::parameters::{Applied, FormatMode};

/// Part of the names of Anthropic's models here.
const ANTHROPICS: &str = "anthropic.";

/// Part of the names of OpenAI's, which take a word.
const OPENAIS: &str = "openai.";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BedrockBody {
    messages: Vec<BodyMessage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    inference_config: InferenceConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_model_request_fields: Option<Value>,
}

#[derive(Serialize)]
struct BodyMessage {
    role: &'static str,
    content: Vec<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InferenceConfig {
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig {
    tools: [Value; 1],
    tool_choice: Value,
}

/// The body as JSON, and what it holds.
pub(super) fn build(
    model: &ResolvedModel,
    capabilities: Capabilities,
    request: &Request,
) -> Result<(Vec<u8>, Applied), Refusal> {
    if let Some(temperature) = request.temperature.filter(|t| !(0.0..=1.0).contains(t)) {
        let reason =
            format!("temperature {temperature} is outside of 0 to 1, which is all there is");
        return Err(give_up(reason));
    }
    let limit = model.output_limit(request.max_output_tokens, request.effort());
    let effort = request.reasoning_effort.as_deref();
    let effort = effort.filter(|_| capabilities.reasoning_effort);
    let thinking = match effort {
        Some(effort) if model.model.contains(ANTHROPICS) => {
            BedrockThinking::of_claude(AnthropicEffort::new(model, effort, limit)?)
        }
        Some(effort) if model.model.contains(OPENAIS) => BedrockThinking {
            fields: Some(json!({"reasoning_effort": effort})),
            said: Some(effort.to_owned()),
            is_on: false,
        },
        // The others have no word for it.
        _ => BedrockThinking::default(),
    };
    let format = request
        .reply_format
        .as_ref()
        .filter(|_| capabilities.structured_output == StructuredOutput::JsonSchema);
    let tool_config = format.map(|format| {
        Ok(ToolConfig {
            tools: [json!({"toolSpec": {
                "name": format.name,
                "description": TOOL_DESCRIPTION,
                "inputSchema": {"json": input_schema(format)?},
            }})],
            // A model that thinks cannot be made to use a tool.
            tool_choice: match thinking.is_on {
                false => json!({"tool": {"name": format.name}}),
                true => json!({"auto": {}}),
            },
        })
    });
    let tool_config = tool_config.transpose()?;
    let conversation = Conversation::of(&request.messages);
    let tool_bytes = format.map_or(0, |format| format.json_schema.len());
    let (with_system, kept) = cached(model, &conversation, tool_bytes);
    let body = BedrockBody {
        messages: messages(&conversation, &kept),
        system: conversation
            .system
            .map(|text| blocks(text, with_system))
            .unwrap_or_default(),
        inference_config: InferenceConfig {
            max_tokens: limit.tokens,
            temperature: request
                .temperature
                .filter(|_| capabilities.temperature && !thinking.is_on),
            top_p: request
                .top_p
                .filter(|_| capabilities.top_p && !thinking.is_on)
                .filter(|_| takes_top_p(model, capabilities, request)),
            // Those of white space are refused here; `caller.rs` ends the reply.
            stop_sequences: request
                .stop_sequences
                .iter()
                .filter(|stop| capabilities.stop && !stop.trim().is_empty())
                .cloned()
                .collect(),
        },
        tool_config,
        additional_model_request_fields: thinking.fields,
    };
    let applied = Applied {
        temperature: body.inference_config.temperature,
        top_p: body.inference_config.top_p,
        sampling_seed: None,
        max_output_tokens: Some(limit.tokens),
        reply_format: format.map(|_| match thinking.is_on {
            false => FormatMode::Tool,
            true => FormatMode::OfferedTool,
        }),
        reasoning_effort: thinking.said,
        stop_sequences: !body.inference_config.stop_sequences.is_empty(),
        logprobs: None,
        omitted: Vec::new(),
    };
    let bytes = serde_json::to_vec(&body)
        .map_err(|error| give_up(format!("cannot be written: {error}")))?;
    Ok((bytes, applied))
}

/// How long to think, in the fields for the model alone.
#[derive(Default)]
struct BedrockThinking {
    fields: Option<Value>,
    /// The same in words.
    said: Option<String>,
    /// It goes with no sampling settings and no forced tool.
    is_on: bool,
}

impl BedrockThinking {
    fn of_claude(effort: AnthropicEffort) -> Self {
        let is_on = effort.thinking.is_some();
        let mut fields = json!({});
        if let Some(thinking) = effort.thinking {
            fields["thinking"] = thinking;
        }
        if let Some(output_config) = effort.output_config {
            fields["output_config"] = output_config;
        }
        Self {
            fields: Some(fields).filter(|_| is_on),
            said: effort.said,
            is_on,
        }
    }
}

fn messages(conversation: &Conversation, kept: &[usize]) -> Vec<BodyMessage> {
    let last = conversation.turns.len() - 1;
    let turns = conversation.turns.iter().enumerate();
    let messages = turns.map(|(place, turn)| {
        let text = match turn.by_model && place == last {
            // The beginning of a reply must not end in white space.
            true => turn.text.trim_end(),
            false => &turn.text,
        };
        BodyMessage {
            role: if turn.by_model { "assistant" } else { "user" },
            content: blocks(text.to_owned(), kept.contains(&place)),
        }
    });
    messages.collect()
}

/// A text, and behind it the mark that the conversation up to here is worth keeping.
fn blocks(text: String, is_cached: bool) -> Vec<Value> {
    let mut blocks = vec![json!({"text": text})];
    if is_cached {
        blocks.push(json!({"cachePoint": {"type": "default"}}));
    }
    blocks
}
