//! Reads a chat completion. Servers agree on where the answer stands and on
//! little else, so that everything beside it is read leniently. Refuses what
//! holds no answer. Called by `openai.rs` and `azure.rs`.

use serde_json::Value;

use super::super::http::Incoming;
use super::super::reading::{finish_reason, json, token_logprob, tokens, unreadable};
use super::super::{Refusal, Reply};
use crate::decision::{TokenLogprob, Usage};

/// The reply in a body that came with success.
pub(in super::super) fn read(incoming: &Incoming) -> Result<Reply, Refusal> {
    let completion = json(incoming)?;
    let choice = &completion["choices"][0];
    let message = &choice["message"];
    if !message.is_object() {
        return Err(unreadable("the reply has no choices"));
    }
    // OpenRouter: the server behind it broke off; half an answer is none.
    if choice["error"].is_object() {
        return Err(unreadable("the choice holds an error"));
    }
    let content = text_of(&message["content"]).or_else(|| text_of(&message["refusal"]));
    let reason = text_of(&choice["finish_reason"]).unwrap_or_default();
    Ok(Reply {
        text: content.unwrap_or_default(),
        reasoning: reasoning_of(message),
        answered_by: text_of(&completion["model"]).unwrap_or_default(),
        finish_reason: finish_reason(&reason),
        usage: usage_of(&completion["usage"]),
        logprobs: logprobs_of(&choice["logprobs"]["content"]),
        ..Reply::default()
    })
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

/// What the model thought: `reasoning_content` of DeepSeek, vLLM and others, `reasoning` of
/// OpenRouter and Ollama.
fn reasoning_of(message: &Value) -> String {
    ["reasoning_content", "reasoning"]
        .iter()
        .find_map(|field| text_of(&message[*field]).filter(|text| !text.is_empty()))
        .unwrap_or_default()
}

/// How likely the tokens were; what is no token of that kind is left out.
fn logprobs_of(tokens: &Value) -> Vec<TokenLogprob> {
    let tokens = tokens.as_array().map(Vec::as_slice).unwrap_or_default();
    let read = |token: &Value| {
        let top = logprobs_of(&token["top_logprobs"]);
        token_logprob(&token["token"], &token["logprob"], top)
    };
    tokens.iter().filter_map(read).collect()
}

/// What was used, if both sums are said; half of it would pass for all of it.
fn usage_of(usage: &Value) -> Option<Usage> {
    let input_tokens = tokens(&usage["prompt_tokens"])?;
    let said = tokens(&usage["completion_tokens"])?;
    let input = &usage["prompt_tokens_details"];
    let first = |values: [&Value; 3]| values.into_iter().find_map(tokens).unwrap_or(0);
    // DeepSeek and Moonshot have names of their own for what came from a cache.
    let cached = first([
        &input["cached_tokens"],
        &usage["prompt_cache_hit_tokens"],
        &usage["cached_tokens"],
    ]);
    let reasoning = &usage["completion_tokens_details"]["reasoning_tokens"];
    let reasoning = first([reasoning, &usage["reasoning_tokens"], &Value::Null]);
    // xAI leaves reasoning out of the completion, though not out of the bill.
    let with_reasoning = input_tokens + said + reasoning;
    let apart = tokens(&usage["total_tokens"]) == Some(with_reasoning);
    let output_tokens = if apart { said + reasoning } else { said };
    let written = tokens(&input["cache_write_tokens"]).unwrap_or(0);
    let cached_input_tokens = cached.min(input_tokens);
    Some(Usage {
        input_tokens,
        output_tokens,
        cached_input_tokens,
        reasoning_tokens: reasoning.min(output_tokens),
        estimated: false,
        cache_write_input_tokens: written.min(input_tokens - cached_input_tokens),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::Remedy;
    use super::*;

    fn read_body(body: &str) -> Result<Reply, Refusal> {
        read(&Incoming {
            status: reqwest::StatusCode::OK,
            headers: Default::default(),
            body: body.as_bytes().to_vec(),
        })
    }

    #[test]
    fn empty_and_filtered_replies_are_replies() {
        let body = r#"{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}"#;
        let reply = read_body(body).unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.finish_reason.as_str()),
            ("", "content_filter")
        );
        assert_eq!(reply.usage, None);

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
