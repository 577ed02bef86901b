//! Reads a chat completion. Servers agree on where the answer stands and on
//! little else, so that everything beside it is read leniently: an answer that
//! was paid for is never lost over a field nobody needs. Refuses what holds no
//! answer. Called by `openai.rs`.

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::super::{Refusal, Remedy, Reply, Signals};
use crate::decision::Usage;

/// A simulated server says so with this header, and only it does.
const SIMULATED_HEADER: &str = "x-agon-simulated";

/// No call uses more; a larger number is a mistake that would upset all sums.
const MOST_TOKENS: u64 = 1_000_000_000;

/// The reply in a body that came with success.
pub(super) fn read(headers: &HeaderMap, body: &[u8]) -> Result<Reply, Refusal> {
    let completion: Value = serde_json::from_slice(body)
        .map_err(|error| unreadable(format!("the reply is not JSON: {error}")))?;
    let choice = &completion["choices"][0];
    let message = &choice["message"];
    if !message.is_object() {
        return Err(unreadable("the reply has no choices".to_owned()));
    }
    let content = text_of(&message["content"]).or_else(|| text_of(&message["refusal"]));
    Ok(Reply {
        text: content.unwrap_or_default(),
        answered_by: text_of(&completion["model"]).unwrap_or_default(),
        finish_reason: text_of(&choice["finish_reason"]).unwrap_or_default(),
        usage: usage_of(&completion["usage"]),
        simulated: headers
            .get(SIMULATED_HEADER)
            .is_some_and(|value| value == "true"),
        signals: Signals::default(),
    })
}

fn unreadable(reason: String) -> Refusal {
    Refusal {
        remedy: Remedy::RetryUnreadable,
        reason,
        maybe_used: true,
        signals: Signals::default(),
    }
}

/// Nearly everybody sends a string; a few send the parts of one.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            Some(texts.collect())
        }
        _ => None,
    }
}

/// What was used, if both sums are said; half of it would pass for all of it.
fn usage_of(usage: &Value) -> Option<Usage> {
    let details = |of: &str, name: &str| tokens(&usage[of][name]).unwrap_or(0);
    Some(Usage {
        input_tokens: tokens(&usage["prompt_tokens"])?,
        output_tokens: tokens(&usage["completion_tokens"])?,
        cached_input_tokens: details("prompt_tokens_details", "cached_tokens"),
        reasoning_tokens: details("completion_tokens_details", "reasoning_tokens"),
        estimated: false,
        cache_write_input_tokens: 0,
    })
}

fn tokens(value: &Value) -> Option<u64> {
    value.as_u64().filter(|tokens| *tokens <= MOST_TOKENS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_body(body: &str) -> Result<Reply, Refusal> {
        read(&HeaderMap::new(), body.as_bytes())
    }

    #[test]
    fn reply_is_read_with_its_usage() {
        let mut headers = HeaderMap::new();
        headers.insert(SIMULATED_HEADER, "true".parse().unwrap());
        let body = json!({
            "model": "real-name-2026",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "42"},
                "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
                "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": null},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
        });
        let reply = read(&headers, body.to_string().as_bytes()).unwrap();
        let usage = Usage {
            input_tokens: 10,
            output_tokens: 5,
            cached_input_tokens: 4,
            reasoning_tokens: 3,
            estimated: false,
            cache_write_input_tokens: 0,
        };
        assert_eq!(
            (reply.text.as_str(), reply.answered_by.as_str()),
            ("42", "real-name-2026")
        );
        assert_eq!((reply.usage, reply.simulated), (Some(usage), true));
    }

    #[test]
    fn empty_and_filtered_replies_are_replies() {
        let body = r#"{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}"#;
        let reply = read_body(body).unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.finish_reason.as_str()),
            ("", "content_filter")
        );
        assert_eq!((reply.usage, reply.simulated), (None, false));

        let body =
            r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"text":"b"}]}}]}"#;
        assert_eq!(read_body(body).unwrap().text, "ab");
    }

    #[test]
    fn odd_usage_is_unknown_and_costs_no_answer() {
        for usage in [
            json!(null),
            json!("many"),
            json!([1, 2]),
            json!({}),
            json!({"prompt_tokens": null, "completion_tokens": 5}),
            json!({"prompt_tokens": 10}),
            json!({"prompt_tokens": -1, "completion_tokens": 5}),
            json!({"prompt_tokens": 10, "completion_tokens": 5.5}),
            json!({"prompt_tokens": 10, "completion_tokens": u64::MAX}),
            json!({"prompt_tokens": "10", "completion_tokens": "5"}),
        ] {
            let body = json!({"choices": [{"message": {"content": "42"}}], "usage": usage});
            let reply = read_body(&body.to_string()).unwrap();
            assert_eq!((reply.text.as_str(), reply.usage), ("42", None), "{usage}");
        }
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 5,
            "prompt_tokens_details": null, "completion_tokens_details": {"reasoning_tokens": -3}});
        let body = json!({"choices": [{"message": {"content": "42"}}], "usage": usage});
        let usage = read_body(&body.to_string()).unwrap().usage.unwrap();
        assert_eq!((usage.total_tokens(), usage.reasoning_tokens), (15, 0));
    }

    #[test]
    fn odd_fields_beside_an_answer_cost_no_answer() {
        let body = json!({"model": 7, "object": null, "choices": [{"index": "a",
            "finish_reason": {"type": "stop"}, "message": {"content": "42", "refusal": 1}}]});
        let reply = read_body(&body.to_string()).unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.answered_by.as_str()),
            ("42", "")
        );
    }

    #[test]
    fn what_holds_no_answer_is_unreadable() {
        for body in [
            "",
            "<html>",
            "{}",
            "[]",
            "\"hello\"",
            r#"{"choices":[]}"#,
            r#"{"choices":null}"#,
            r#"{"choices":[{"message":null}]}"#,
            r#"{"message":"welcome"}"#,
        ] {
            let refusal = read_body(body).unwrap_err();
            assert_eq!(refusal.remedy, Remedy::RetryUnreadable, "{body}");
        }
    }
}
