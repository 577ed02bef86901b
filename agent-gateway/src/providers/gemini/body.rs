//! The body of a generateContent request, from the model's settings and what it
//! is known to take. Refuses a reply format that is no JSON. Called by
//! `gemini.rs`.

use serde::Serialize;
use serde_json::{Value, json};

use super::super::Refusal;
use super::super::abilities::{Ability, Thinking};
use super::super::conversation::Conversation;
use super::super::reading::give_up;
use super::schema;
use crate::config::{ResolvedModel, StructuredOutput};
use crate::decision::Request;

/// Seeds are signed 32-bit numbers here; a longer one is folded by this.
const SEED_BITS: u64 = 0x7fff_ffff;

/// Budgets for an effort, as Google's own compatible server translates it.
const BUDGETS: [(&str, u32); 5] = [
    ("none", 0),
    ("minimal", 1_024),
    ("low", 1_024),
    ("medium", 8_192),
    ("high", 24_576),
];

/// Thinking counts as output; so much of it in percent stays for the answer.
const SHARE_OF_THE_ANSWER: u32 = 20;

/// How the names of models that know a budget begin; later ones know a level.
const KNOWS_BUDGETS: &str = "gemini-2";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    contents: Vec<Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content>,
    generation_config: GenerationConfig,
}

#[derive(Serialize)]
struct Content {
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
}

/// The body as JSON.
pub(super) fn build(
    model: &ResolvedModel,
    ability: Ability,
    request: &Request,
) -> Result<Vec<u8>, Refusal> {
    let conversation = Conversation::of(&request.messages);
    let format = request.reply_format.as_ref();
    let schema = format
        .filter(|_| ability.structured_output == StructuredOutput::JsonSchema)
        .map(|format| schema::acceptable(&format.json_schema))
        .transpose()
        .map_err(|error| give_up(format!("the reply format is not JSON: {error}")))?;
    let json_wanted = format.is_some() && ability.structured_output != StructuredOutput::None;
    let max_output_tokens = request.max_output_tokens.unwrap_or(model.max_output_tokens);
    let effort = request.reasoning_effort.as_deref();
    let generation_config = GenerationConfig {
        temperature: request.temperature.filter(|_| ability.temperature),
        top_p: request.top_p.filter(|_| ability.top_p),
        max_output_tokens,
        stop_sequences: match ability.stop {
            true => request.stop_sequences.clone(),
            false => Vec::new(),
        },
        seed: request
            .sampling_seed
            .filter(|_| ability.seed)
            .map(|seed| (seed ^ (seed >> 31)) & SEED_BITS),
        response_mime_type: json_wanted.then_some("application/json"),
        response_json_schema: schema,
        thinking_config: match effort {
            Some(effort) => thinking(&model.model, ability.thinking, effort, max_output_tokens)?,
            None => None,
        },
    };
    let body = Body {
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
    serde_json::to_vec(&body).map_err(|error| give_up(format!("cannot be written: {error}")))
}

fn content(role: Option<&'static str>, text: String) -> Content {
    Content {
        role,
        parts: [Part { text }],
    }
}

/// `thinkingConfig` for an effort. A budget or a level, never both: that is
/// refused. With a level any word goes to the server, which knows its own.
fn thinking(model: &str, how: Thinking, effort: &str, most: u32) -> Result<Option<Value>, Refusal> {
    if how == Thinking::Untold {
        return Ok(None);
    }
    let knows_budgets = model.contains(KNOWS_BUDGETS);
    if knows_budgets != (how == Thinking::UsualWay) {
        let level = if effort == "none" { "minimal" } else { effort };
        return Ok(Some(json!({"thinkingLevel": level})));
    }
    let Some((_, budget)) = BUDGETS.iter().find(|(name, _)| *name == effort) else {
        let reason =
            format!("{model} knows no reasoning_effort {effort:?}, only low, medium, high");
        return Err(give_up(reason));
    };
    let room = most / 100 * (100 - SHARE_OF_THE_ANSWER);
    Ok(Some(json!({"thinkingBudget": (*budget).min(room)})))
}
