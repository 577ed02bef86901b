//! Reads what generateContent answers: the text of the first candidate, and its
//! thoughts beside it. A blocked prompt has no candidate and is an answer all the
//! same. Refuses what holds neither. Called by `gemini.rs`.

use serde_json::Value;

use super::super::http::Incoming;
use super::super::reading::{finish_reason, json, token_logprob, tokens, unreadable};
use super::super::{Refusal, Reply};
use crate::decision::{TokenLogprob, Usage};

/// The reply in a body that came with success.
pub(in super::super) fn read(incoming: &Incoming) -> Result<Reply, Refusal> {
    let body = json(incoming)?;
    let candidate = &body["candidates"][0];
    let blocked = body["promptFeedback"]["blockReason"].is_string();
    if !candidate.is_object() && !blocked {
        return Err(unreadable("the reply has no candidates"));
    }
    let said = candidate["finishReason"].as_str().unwrap_or_default();
    Ok(Reply {
        text: text_of(&candidate["content"]["parts"], false),
        reasoning: text_of(&candidate["content"]["parts"], true),
        answered_by: body["modelVersion"].as_str().unwrap_or_default().to_owned(),
        finish_reason: match candidate.is_object() {
            true => finish_reason(said),
            false => "content_filter".to_owned(),
        },
        usage: usage_of(&body["usageMetadata"]),
        logprobs: logprobs_of(&candidate["logprobsResult"]),
        ..Reply::default()
    })
}

/// The parts that are thoughts, or those that are not.
fn text_of(parts: &Value, thoughts: bool) -> String {
    let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
    parts
        .iter()
        .filter(|part| (part["thought"] == true) == thoughts)
        .filter_map(|part| part["text"].as_str())
        .collect()
}

/// The chosen tokens, each with the candidates for its place.
fn logprobs_of(result: &Value) -> Vec<TokenLogprob> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let read = |token: &Value, top| token_logprob(&token["token"], &token["logProbability"], top);
    let mut places = list(&result["topCandidates"]).into_iter();
    let chosen = list(&result["chosenCandidates"]);
    let tokens = chosen.iter().filter_map(|token| {
        let place = places.next().unwrap_or_default();
        let top = list(&place["candidates"]);
        let top = top.iter().filter_map(|token| read(token, Vec::new()));
        read(token, top.collect())
    });
    tokens.collect()
}

/// Google leaves out what is zero, so that a missing number is one as long as
/// the whole is known. Thoughts are billed as output.
fn usage_of(usage: &Value) -> Option<Usage> {
    let part = |name: &str| match &usage[name] {
        Value::Null => Some(0),
        number => tokens(number),
    };
    tokens(&usage["totalTokenCount"])?;
    let input_tokens = tokens(&usage["promptTokenCount"])?;
    let reasoning_tokens = part("thoughtsTokenCount")?;
    let cached = part("cachedContentTokenCount")?;
    Some(Usage {
        input_tokens,
        output_tokens: part("candidatesTokenCount")? + reasoning_tokens,
        cached_input_tokens: cached.min(input_tokens),
        reasoning_tokens,
        estimated: false,
        cache_write_input_tokens: 0,
    })
}
