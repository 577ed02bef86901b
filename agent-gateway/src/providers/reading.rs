//! What all replies have in common: numbers of tokens that can be believed,
//! reasons to stop in one set of words, and what to do with a body that holds
//! no answer. An answer that was paid for is never lost over a field nobody
//! needs. Called by the providers.

use serde_json::Value;

use super::http::Incoming;
use super::{Arrived, Refusal, Remedy, Reply};
use crate::decision::TokenLogprob;

/// No call uses more; a larger number is a mistake that would upset all sums.
const MOST_TOKENS: u64 = 1_000_000_000;

/// The reasons that servers give, in the words of OpenAI, which most share.
/// What is not in here stays as it is, in lower case.
const FINISH_REASONS: [(&str, &[&str]); 3] = [
    (
        "stop",
        &[
            "stop",
            "end_turn",
            "stop_sequence",
            "tool_use",
            "eos",
            "eos_token",
        ],
    ),
    (
        "length",
        &[
            "length",
            "max_tokens",
            "model_length",
            "model_context_window_exceeded",
        ],
    ),
    (
        "content_filter",
        &[
            "content_filter",
            "refusal",
            "safety",
            "recitation",
            "blocklist",
            "prohibited_content",
            "spii",
            "image_safety",
            "language",
            "guardrail_intervened",
            "content_filtered",
        ],
    ),
];

/// How models that think aloud begin and end their thoughts.
const THOUGHTS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// A count of tokens, unless it is none.
pub(super) fn tokens(value: &Value) -> Option<u64> {
    value.as_u64().filter(|tokens| *tokens <= MOST_TOKENS)
}

/// A token and how likely it was, unless it is none.
pub(super) fn token_logprob(
    token: &Value,
    logprob: &Value,
    top: Vec<TokenLogprob>,
) -> Option<TokenLogprob> {
    Some(TokenLogprob {
        token: token.as_str()?.to_owned(),
        logprob: logprob.as_f64().filter(|number| number.is_finite())?,
        top,
    })
}

/// Why a model stopped, in one set of words for all providers.
pub(super) fn finish_reason(said: &str) -> String {
    let said = said.to_lowercase();
    FINISH_REASONS
        .iter()
        .find(|(_, names)| names.contains(&said.as_str()))
        .map_or(said.clone(), |(reason, _)| (*reason).to_owned())
}

/// Whether a reply was cut off before its model had begun to answer. Thoughts
/// stand beside the answer, or before it in tags of their own.
pub(super) fn is_cut_off_thinking(reply: &Reply) -> bool {
    let thought = reply.usage.map_or(0, |usage| usage.reasoning_tokens) > 0;
    let text = reply.text.trim();
    let in_tags = THOUGHTS
        .iter()
        .any(|(open, close)| text.starts_with(open) && !text.contains(close));
    let nothing_else = text.is_empty() && (thought || !reply.reasoning.is_empty());
    reply.finish_reason == "length" && (nothing_else || in_tags)
}

/// The body as JSON.
pub(super) fn json(incoming: &Incoming) -> Result<Value, Refusal> {
    serde_json::from_slice(&incoming.body)
        .map_err(|error| unreadable(format!("the reply is not JSON: {error}")))
}

/// Success, but no answer in it.
pub(super) fn unreadable(reason: impl Into<String>) -> Refusal {
    Refusal {
        arrived: Arrived::PerhapsDone,
        ..Refusal::new(Remedy::RetryUnreadable, reason)
    }
}

/// A request that cannot be said in a protocol.
pub(super) fn give_up(reason: impl Into<String>) -> Refusal {
    Refusal::new(Remedy::GiveUp, reason)
}
