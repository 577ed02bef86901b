//! The body of a generateContent request, from the model's settings and what it
//! is known to take. Refuses a reply format that is no JSON. Called by
//! `gemini.rs`.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::Refusal;
use super::super::capabilities::Capabilities;
use super::super::conversation::Conversation;
use super::super::reading::give_up;
use super::schema;
use crate::catalogue::{ResolvedModel, StructuredOutput, ThinkingForm};
use crate::decision::Request;
use crate::parameters::{Applied, FormatMode};

/// Seeds are signed 32-bit numbers here; a longer one is folded by this.
const SEED_BITS: u64 = 0x7fff_ffff;

/// Budgets for an effort, as Google's own compatible server translates it.
const BUDGETS: [(&str, u32); 7] = [
    ("none", 0),
    ("minimal", 1_024),
    ("low", 1_024),
    ("medium", 8_192),
    ("high", 24_576),
    ("xhigh", 24_576),
    ("max", 24_576),
];

/// The least that 2.5 Pro and 2.5 Flash-Lite think, where they think (Google, "Thinking").
const SMALLEST_OF_PRO: u32 = 128;
const SMALLEST_OF_LITE: u32 = 512;

/// Thinking counts as output; so much of it in percent stays for the answer.
const SHARE_OF_THE_ANSWER: u32 = 20;

/// How the names of models that know a budget begin; later ones know a level.
const KNOWS_BUDGETS: &str = "gemini-2";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiBody {
    contents: Vec<GeminiContent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<GeminiContent>,
    generation_config: GenerationConfig,
}

#[derive(Serialize)]
struct GeminiContent {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: [Part; 1],
}

#[derive(Serialize)]
struct Part {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    response_logprobs: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<u32>,
}

/// The body as JSON, and what it holds.
pub(in super::super) fn build(
    model: &ResolvedModel,
    capabilities: Capabilities,
    request: &Request,
) -> Result<(Vec<u8>, Applied), Refusal> {
    let conversation = Conversation::of(&request.messages);
    let format = request.reply_format.as_ref();
    let schema = format
        .filter(|_| capabilities.structured_output == StructuredOutput::JsonSchema)
        .map(|format| schema::acceptable(&format.json_schema))
        .transpose()
        .map_err(|error| give_up(format!("the reply format is not JSON: {error}")))?;
    let json_wanted = format.is_some() && capabilities.structured_output != StructuredOutput::None;
    let max_output_tokens = model
        .output_limit(request.max_output_tokens, request.effort())
        .tokens;
    let effort = request.reasoning_effort.as_deref();
    let effort = effort.filter(|_| capabilities.reasoning_effort);
    let effort = effort
        .map(|effort| thinking(model, effort, max_output_tokens))
        .transpose()?;
    let mut thinking_config = effort.as_ref().map(|(config, _)| config.clone());
    // A server that is asked for thoughts of a model that has none refuses the call.
    if model.thinks_at(request.effort()) && !states_thoughts(model) {
        thinking_config.get_or_insert_with(|| json!({}))["includeThoughts"] = json!(true);
    }
    let logprobs = request.logprobs.filter(|_| capabilities.logprobs);
    let generation_config = GenerationConfig {
        temperature: request.temperature.filter(|_| capabilities.temperature),
        top_p: request.top_p.filter(|_| capabilities.top_p),
        max_output_tokens,
        stop_sequences: match capabilities.stop {
            true => request.stop_sequences.clone(),
            false => Vec::new(),
        },
        seed: request
            .sampling_seed
            .filter(|_| capabilities.seed)
            .map(|seed| (seed ^ (seed >> 31)) & SEED_BITS),
        response_mime_type: json_wanted.then_some("application/json"),
        response_json_schema: schema,
        thinking_config,
        response_logprobs: logprobs.is_some(),
        logprobs,
    };
    let applied = Applied {
        temperature: generation_config.temperature,
        top_p: generation_config.top_p,
        sampling_seed: generation_config.seed,
        max_output_tokens: Some(max_output_tokens),
        reply_format: match &generation_config.response_json_schema {
            Some(_) => Some(FormatMode::JsonSchema),
            None => json_wanted.then_some(FormatMode::JsonObject),
        },
        reasoning_effort: effort.map(|(_, said)| said),
        stop_sequences: !generation_config.stop_sequences.is_empty(),
        logprobs,
        omitted: Vec::new(),
    };
    let body = GeminiBody {
        contents: conversation
            .turns
            .into_iter()
            .map(|turn| {
                let role = if turn.by_model { "model" } else { "user" };
                content(Some(role), turn.text)
            })
            .collect(),
        system_instruction: conversation.system.map(|system| content(None, system)),
        generation_config,
    };
    let bytes = serde_json::to_vec(&body)
        .map_err(|error| give_up(format!("cannot be written: {error}")))?;
    Ok((bytes, applied))
}

fn content(role: Option<&'static str>, text: String) -> GeminiContent {
    GeminiContent {
        role,
        parts: [Part { text }],
    }
}

/// The configuration says itself whether a summary of the thoughts comes with the reply.
fn states_thoughts(model: &ResolvedModel) -> bool {
    let config = model.additions.body().get("generationConfig");
    config.is_some_and(|config| !config["thinkingConfig"]["includeThoughts"].is_null())
}

/// `thinkingConfig` for an effort, and the same in words. A budget or a level, never both: that
/// is refused. With a level any word goes to the server, which knows its own.
fn thinking(model: &ResolvedModel, effort: &str, most: u32) -> Result<(Value, String), Refusal> {
    let by_name = match model.model.contains(KNOWS_BUDGETS) {
        true => ThinkingForm::Budget,
        false => ThinkingForm::Level,
    };
    // Pro cannot do without thinking at all.
    let is_pro = model.model.contains("-pro");
    if model.thinking.unwrap_or(by_name) == ThinkingForm::Level {
        let level = match effort {
            "none" | "minimal" if is_pro => "low",
            "none" => "minimal",
            "xhigh" | "max" => "high",
            other => other,
        };
        return Ok((json!({"thinkingLevel": level}), level.to_owned()));
    }
    let Some((_, budget)) = BUDGETS.iter().find(|(name, _)| *name == effort) else {
        let model = &model.model;
        let reason =
            format!("{model} knows no reasoning_effort {effort:?}, only low, medium, high");
        return Err(give_up(reason));
    };
    let room = most / 100 * (100 - SHARE_OF_THE_ANSWER);
    let smallest = match effort {
        _ if is_pro => SMALLEST_OF_PRO,
        "none" => 0,
        _ if model.model.contains("flash-lite") => SMALLEST_OF_LITE,
        _ => 0,
    };
    let budget = (*budget).min(room).max(smallest);
    Ok((
        json!({"thinkingBudget": budget}),
        format!("budget {budget}"),
    ))
}
