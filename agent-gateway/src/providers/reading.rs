//! What all replies have in common: numbers of tokens that can be believed,
//! reasons to stop in one set of words, and what to do with a body that holds
//! no answer. An answer that was paid for is never lost over a field nobody
//! needs. Called by the providers.

use serde_json::Value;

use super::http::Incoming;
use super::{Refusal, Remedy};

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
        ],
    ),
];

/// A count of tokens, unless it is none.
pub(super) fn tokens(value: &Value) -> Option<u64> {
    value.as_u64().filter(|tokens| *tokens <= MOST_TOKENS)
}

/// Why a model stopped, in one set of words for all providers.
pub(super) fn finish_reason(said: &str) -> String {
    let said = said.to_lowercase();
    FINISH_REASONS
        .iter()
        .find(|(_, names)| names.contains(&said.as_str()))
        .map_or(said.clone(), |(reason, _)| (*reason).to_owned())
}

/// The body as JSON.
pub(super) fn json(incoming: &Incoming) -> Result<Value, Refusal> {
    serde_json::from_slice(&incoming.body)
        .map_err(|error| unreadable(format!("the reply is not JSON: {error}")))
}

/// Success, but no answer in it.
pub(super) fn unreadable(reason: impl Into<String>) -> Refusal {
    Refusal {
        maybe_used: true,
        ..Refusal::new(Remedy::RetryUnreadable, reason)
    }
}

/// A request that cannot be said in a protocol.
pub(super) fn give_up(reason: impl Into<String>) -> Refusal {
    Refusal::new(Remedy::GiveUp, reason)
}
