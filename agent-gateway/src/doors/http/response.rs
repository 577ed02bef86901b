//! An answer in OpenAI's form: whole, or in chunks as if it were being written.
//! What only this gateway knows goes into `x-agon-*` headers, and into `agon` of
//! the chunk that ends a stream, whose headers may be long gone. Called by
//! `chat.rs`.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::deciding::Answer;
use crate::decision::{CUT_OFF_THINKING, Decision, TokenLogprob, Usage};
use crate::money::NanoDollars;
use agon_proto::simulated::SIMULATED_HEADER;

/// About as much as a model writes between two chunks that a reader notices.
const CHUNK_BYTES: usize = 256;

/// One answer under the name it has over HTTP.
pub(super) struct Completion {
    id: String,
    created: u64,
    answer: Answer,
}

impl Completion {
    pub(super) fn new(id: String, answer: Answer) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            id,
            created: since.unwrap_or_default().as_secs(),
            answer,
        }
    }

    /// What `stream: false` gets.
    pub(super) fn whole(&self) -> Value {
        let decision = self.decision();
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": decision.answered_by,
            "choices": [{
                "index": 0,
                "message": { "role": "assistant", "content": decision.reply, "refusal": null },
                "logprobs": logprobs(decision),
                "finish_reason": finish_reason(decision),
            }],
            "usage": usage(&decision.usage),
        })
    }

    /// What `stream: true` gets, without the `[DONE]` at its end.
    pub(super) fn chunks(&self, include_usage: bool) -> Vec<Value> {
        let decision = self.decision();
        let choice = |delta: Value, finish: Value| json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }]);
        let first = json!({ "role": "assistant", "content": "" });
        let mut chunks = vec![self.chunk(choice(first, Value::Null))];
        for piece in pieces(&decision.reply) {
            chunks.push(self.chunk(choice(json!({ "content": piece }), Value::Null)));
        }
        let mut last = self.chunk(choice(json!({}), json!(finish_reason(decision))));
        last["agon"] = json!({
            "from_ledger": self.is_from_ledger(),
            "from_cache": decision.from_content_cache,
            "model": decision.model,
            "cost_dollars": self.cost().map(dollars),
        });
        chunks.push(last);
        if include_usage {
            let mut chunk = self.chunk(json!([]));
            chunk["usage"] = usage(&decision.usage);
            chunks.push(chunk);
        }
        chunks
    }

    /// What only this gateway knows.
    pub(super) fn headers(&self) -> HeaderMap {
        let decision = self.decision();
        let mut pairs = vec![
            ("x-request-id", self.id.clone()),
            ("x-agon-from-ledger", self.is_from_ledger().to_string()),
            ("x-agon-from-cache", decision.from_content_cache.to_string()),
            ("x-agon-model", decision.model.clone()),
        ];
        if let Some(cost) = self.cost() {
            pairs.push(("x-agon-cost-dollars", dollars(cost)));
        }
        if decision.simulated {
            pairs.push((SIMULATED_HEADER, "true".to_owned()));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            // A model may have a name that no header can carry.
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        headers
    }

    /// Another request pays for it, or has.
    fn is_from_ledger(&self) -> bool {
        self.answer.from_ledger || self.answer.joined
    }

    /// What the answer cost. A cached one was copied for nothing.
    fn cost(&self) -> Option<NanoDollars> {
        match self.decision().from_content_cache {
            true => Some(NanoDollars(0)),
            false => self.decision().cost,
        }
    }

    fn decision(&self) -> &Decision {
        &self.answer.decision
    }

    fn chunk(&self, choices: Value) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.decision().answered_by,
            "choices": choices,
        })
    }
}

/// As OpenAI has them, where there are some. A stream goes without.
fn logprobs(decision: &Decision) -> Value {
    fn token(token: &TokenLogprob) -> Value {
        let bytes = token.token.as_bytes();
        json!({ "token": token.token, "logprob": token.logprob, "bytes": bytes })
    }
    let with_top = |one: &TokenLogprob| {
        let mut written = token(one);
        written["top_logprobs"] = one.top.iter().map(token).collect();
        written
    };
    match decision.logprobs() {
        [] => Value::Null,
        tokens => json!({ "content": tokens.iter().map(with_top).collect::<Vec<_>>() }),
    }
}

/// Providers have words of their own; clients know OpenAI's.
fn finish_reason(decision: &Decision) -> &'static str {
    match decision.finish_reason.to_ascii_lowercase().as_str() {
        "length" | CUT_OFF_THINKING | "max_tokens" | "model_context_window_exceeded" => "length",
        "content_filter" | "safety" | "refusal" | "recitation" | "blocklist"
        | "prohibited_content" | "spii" => "content_filter",
        _ => "stop",
    }
}

fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens(),
        "prompt_tokens_details": { "cached_tokens": usage.cached_input_tokens },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning_tokens },
    })
}

fn dollars(cost: NanoDollars) -> String {
    cost.to_string().trim_start_matches('$').to_owned()
}

/// The text in pieces that end between characters.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.ceil_char_boundary(CHUNK_BYTES);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_up_the_text_again() {
        for text in ["", "short", &"ü€𝄞a".repeat(300)] {
            let pieces = pieces(text);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().all(|piece| piece.len() < CHUNK_BYTES + 4));
        }
    }

    #[test]
    fn money_is_written_without_its_sign() {
        assert_eq!(dollars(NanoDollars(1_230_000_000)), "1.230000000");
    }
}
