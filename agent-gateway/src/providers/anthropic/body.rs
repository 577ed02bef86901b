//! The body of a message to Anthropic. A reply format becomes a tool that the
//! model is made to use, because that works on all models; the length of
//! thinking becomes a budget or an effort, whichever the model knows. Refuses
//! what the protocol cannot say. Called by `anthropic.rs`.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::Refusal;
use super::super::capabilities::Capabilities;
use super::super::conversation::Conversation;
use super::super::reading::give_up;
use crate::catalogue::{OutputLimit, ResolvedModel, StructuredOutput, ThinkingForm};
use crate::decision::{ReplyFormat, Request};
use crate::parameters::{Applied, FormatMode};

/// Where a reply stands whose schema is not that of an object, which is what a
/// tool's input has to be.
pub(in super::super) const WRAPPED_IN: &str = "value";

/// Sent to the model with the tool that carries its reply.
pub(in super::super) const TOOL_DESCRIPTION: &str =
    "Gives the answer. Call it exactly once, with the whole answer.";

/// The least that Anthropic lets a model think.
const SMALLEST_BUDGET: u32 = 1_024;

/// What is left for the answer at the least: a move and a sentence.
const SMALLEST_ANSWER: u32 = 256;

/// Thinking is part of what the model writes. Where the configuration says what
/// thoughts and answer may take together, an effort is a share of it in percent;
/// elsewhere the budget is the room that was added for thoughts.
const SHARES: [(&str, u32); 6] = [
    ("minimal", 0),
    ("low", 25),
    ("medium", 50),
    ("high", 80),
    ("xhigh", 80),
    ("max", 80),
];

/// Models that know a budget and no effort; all later ones know an effort.
const KNOW_BUDGETS: [&str; 9] = [
    "claude-3",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2025",
    "claude-sonnet-4-5",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-2025",
    "claude-opus-4-5",
    "claude-haiku-4-5",
];

/// Models that take a temperature and `top_p` together; all later ones refuse the call.
const TAKE_BOTH: [&str; 6] = [
    "claude-2",
    "claude-3",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2025",
    "claude-opus-4-0",
    "claude-opus-4-2025",
];

#[derive(Serialize)]
struct AnthropicBody<'a> {
    model: &'a str,
    max_tokens: u32,
    messages: Vec<AnthropicMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<AnthropicContent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Value; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
}

#[derive(Serialize)]
struct AnthropicMessage {
    role: &'static str,
    content: AnthropicContent,
}

/// A text, or the same as a block, which alone can say that the conversation up to here is worth
/// keeping in the provider's cache.
#[derive(Serialize)]
#[serde(untagged)]
enum AnthropicContent {
    Text(String),
    Blocks([AnthropicBlock; 1]),
}

#[derive(Serialize)]
struct AnthropicBlock {
    r#type: &'static str,
    text: String,
    cache_control: Value,
}

impl AnthropicContent {
    fn new(text: String, is_cached: bool) -> Self {
        match is_cached {
            false => Self::Text(text),
            true => Self::Blocks([AnthropicBlock {
                r#type: "text",
                text,
                cache_control: json!({"type": "ephemeral"}),
            }]),
        }
    }
}

/// The shortest beginning of a conversation that any model keeps ("Prompt caching"); what is
/// shorter is billed as ever, marked or not.
const SHORTEST_CACHED_TOKENS: usize = 1_024;
/// As English has it; a beginning that is thought too long is not kept, and costs nothing.
const BYTES_PER_TOKEN: usize = 4;

/// Ends of the conversation's past that are kept: where it ended in this call, for the next, and
/// where it ended in the call before, to be found. With the instructions these are three of the
/// four marks that there may be.
const KEPT_ENDS: usize = 2;

/// Which turns end what is kept, and whether the instructions do. The last turn is the ask, which
/// the next call puts otherwise.
pub(in super::super) fn cached(
    model: &ResolvedModel,
    conversation: &Conversation,
    tool: usize,
) -> (bool, Vec<usize>) {
    if !model.prompt_cache {
        return (false, Vec::new());
    }
    let shortest = SHORTEST_CACHED_TOKENS * BYTES_PER_TOKEN;
    let mut bytes = tool + conversation.system.as_ref().map_or(0, String::len);
    let with_system = bytes >= shortest;
    let mut ends = Vec::new();
    let turns = conversation.turns.iter().enumerate();
    for (place, turn) in turns.take(conversation.turns.len() - 1) {
        bytes += turn.text.len();
        if turn.by_model && bytes >= shortest {
            ends.push(place);
        }
    }
    let from = ends.len().saturating_sub(KEPT_ENDS);
    (with_system, ends.split_off(from))
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
    let max_tokens = limit.tokens;
    let effort = request.reasoning_effort.as_deref();
    let effort = effort.filter(|_| capabilities.reasoning_effort);
    let effort = effort
        .map(|effort| AnthropicEffort::new(model, effort, limit))
        .transpose()?
        .unwrap_or_default();
    // Thinking goes with no sampling settings and no forced tool.
    let thinks = effort.thinking.is_some();
    let format = request
        .reply_format
        .as_ref()
        .filter(|_| capabilities.structured_output == StructuredOutput::JsonSchema);
    let tool = format.map(tool).transpose()?;
    let tool_choice = format.map(|format| match thinks {
        false => json!({"type": "tool", "name": format.name}),
        true => json!({"type": "auto", "disable_parallel_tool_use": true}),
    });
    let conversation = Conversation::of(&request.messages);
    let tool_bytes = format.map_or(0, |format| format.json_schema.len());
    let (with_system, kept) = cached(model, &conversation, tool_bytes);
    let body = AnthropicBody {
        model: &model.model,
        max_tokens,
        messages: messages(&conversation, &kept),
        system: conversation
            .system
            .map(|system| AnthropicContent::new(system, with_system)),
        temperature: request
            .temperature
            .filter(|_| capabilities.temperature && !thinks),
        top_p: request
            .top_p
            .filter(|_| capabilities.top_p && !thinks && takes_top_p(model, capabilities, request)),
        // Those of white space are refused here; `caller.rs` ends the reply.
        stop_sequences: request
            .stop_sequences
            .iter()
            .map(String::as_str)
            .filter(|stop| capabilities.stop && !stop.trim().is_empty())
            .collect(),
        tools: tool.map(|tool| [tool]),
        tool_choice,
        thinking: effort.thinking,
        output_config: effort.output_config,
    };
    let applied = Applied {
        temperature: body.temperature,
        top_p: body.top_p,
        sampling_seed: None,
        max_output_tokens: Some(max_tokens),
        reply_format: format.map(|_| match thinks {
            false => FormatMode::Tool,
            true => FormatMode::OfferedTool,
        }),
        reasoning_effort: effort.said,
        stop_sequences: !body.stop_sequences.is_empty(),
        logprobs: None,
        omitted: Vec::new(),
    };
    let bytes = serde_json::to_vec(&body)
        .map_err(|error| give_up(format!("cannot be written: {error}")))?;
    Ok((bytes, applied))
}

/// Whether `top_p` goes with what else is sent: beside a temperature only where the model takes
/// both, as far as its name or the configuration says.
pub(in super::super) fn takes_top_p(
    model: &ResolvedModel,
    capabilities: Capabilities,
    request: &Request,
) -> bool {
    let name = own_name(&model.model);
    let is_known = name.starts_with("claude-") && !model.takes.top_p.stated;
    let takes_both = TAKE_BOTH.iter().any(|known| name.starts_with(known));
    let is_alone = request.temperature.is_none() || !capabilities.temperature;
    is_alone || takes_both || !is_known
}

/// The name without what clouds put before it ("us.anthropic.").
fn own_name(model: &str) -> &str {
    model
        .rsplit_once("anthropic.")
        .map_or(model, |(_, name)| name)
}

fn messages(conversation: &Conversation, kept: &[usize]) -> Vec<AnthropicMessage> {
    let last = conversation.turns.len() - 1;
    let turns = conversation.turns.iter().enumerate();
    let messages = turns.map(|(place, turn)| {
        let text = match turn.by_model && place == last {
            // The beginning of a reply must not end in white space.
            true => turn.text.trim_end(),
            false => &turn.text,
        };
        AnthropicMessage {
            role: if turn.by_model { "assistant" } else { "user" },
            content: AnthropicContent::new(text.to_owned(), kept.contains(&place)),
        }
    });
    messages.collect()
}

/// The reply format as the input of a tool.
fn tool(format: &ReplyFormat) -> Result<Value, Refusal> {
    Ok(json!({
        "name": format.name,
        "description": TOOL_DESCRIPTION,
        "input_schema": input_schema(format)?,
    }))
}

/// The schema of a tool whose input is a reply of this format.
pub(in super::super) fn input_schema(format: &ReplyFormat) -> Result<Value, Refusal> {
    let schema = schema(format)?;
    Ok(match is_object(&schema) {
        true => schema,
        false => wrapped(schema),
    })
}

/// The schema of a reply format; a refusal when it is no JSON.
pub(in super::super) fn schema(format: &ReplyFormat) -> Result<Value, Refusal> {
    serde_json::from_str(&format.json_schema)
        .map_err(|error| give_up(format!("the reply format is not JSON: {error}")))
}

/// Whether a tool may have this schema as it is.
pub(in super::super) fn is_object(schema: &Value) -> bool {
    schema["type"] == "object"
}

/// References go from the root, so that definitions stay there.
fn wrapped(mut schema: Value) -> Value {
    let mut outer = json!({"type": "object", "required": [WRAPPED_IN]});
    for definitions in ["$defs", "definitions"] {
        let moved = schema
            .as_object_mut()
            .and_then(|schema| schema.remove(definitions));
        if let Some(moved) = moved {
            outer[definitions] = moved;
        }
    }
    outer["properties"] = json!({WRAPPED_IN: schema});
    outer
}

/// An effort in the fields of the protocol.
#[derive(Default)]
pub(in super::super) struct AnthropicEffort {
    pub(in super::super) thinking: Option<Value>,
    pub(in super::super) output_config: Option<Value>,
    /// The same in words.
    pub(in super::super) said: Option<String>,
}

impl AnthropicEffort {
    pub(in super::super) fn new(
        model: &ResolvedModel,
        effort: &str,
        limit: OutputLimit,
    ) -> Result<Self, Refusal> {
        if effort == "none" {
            return Ok(Self {
                said: Some(effort.to_owned()),
                ..Self::default()
            });
        }
        let by_name = match KNOW_BUDGETS
            .iter()
            .any(|name| own_name(&model.model).starts_with(name))
        {
            true => ThinkingForm::Budget,
            false => ThinkingForm::Level,
        };
        match model.thinking.unwrap_or(by_name) {
            ThinkingForm::Level => Ok(Self::level(effort)),
            ThinkingForm::Budget => Self::budget(&model.model, effort, limit),
        }
    }

    fn level(effort: &str) -> Self {
        let effort = if effort == "minimal" { "low" } else { effort };
        Self {
            thinking: Some(json!({"type": "adaptive"})),
            output_config: Some(json!({"effort": effort})),
            said: Some(effort.to_owned()),
        }
    }

    fn budget(model: &str, effort: &str, limit: OutputLimit) -> Result<Self, Refusal> {
        let max_tokens = limit.tokens;
        let share = SHARES.iter().find(|(name, _)| *name == effort);
        let Some((_, percent)) = share else {
            let reason =
                format!("{model} knows no reasoning_effort {effort:?}, only low, medium, high");
            return Err(give_up(reason));
        };
        // Where room was added for thoughts, the answer has its own.
        let answer = limit.thinking.map_or(SMALLEST_ANSWER, |_| 1);
        if max_tokens < SMALLEST_BUDGET + answer {
            return Err(give_up(format!(
                "thinking needs at least {SMALLEST_BUDGET} tokens and the answer {answer}: raise \
                 max_output_tokens (now {max_tokens}) or leave out reasoning_effort"
            )));
        }
        let share = max_tokens / 100 * percent;
        let budget = limit.thinking.unwrap_or(share).max(SMALLEST_BUDGET);
        let budget = budget.min(max_tokens - answer);
        Ok(Self {
            thinking: Some(json!({"type": "enabled", "budget_tokens": budget})),
            output_config: None,
            said: Some(format!("budget {budget}")),
        })
    }
}
