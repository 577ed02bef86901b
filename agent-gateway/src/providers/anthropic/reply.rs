//! Reads a message from Anthropic: the input of the tool that carries a reply,
//! or else its text, and beside it what the model thought. Refuses what holds
//! no answer. Called by `anthropic.rs`.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::http::Incoming;
use super::super::reading::{finish_reason, json, tokens, unreadable};
use super::super::{Refusal, Reply};
use super::body::{self, WRAPPED_IN};
use crate::decision::{CUT_OFF_THINKING, ReplyFormat, Request, Usage};

/// Blocks in which a model thinks, shown or hidden.
const THOUGHTS: [&str; 2] = ["thinking", "redacted_thinking"];

/// The reply in a body that came with success.
pub(super) fn read(request: &Request, incoming: &Incoming) -> Result<Reply, Refusal> {
    let message = json(incoming)?;
    let Some(blocks) = message["content"].as_array() else {
        return Err(unreadable("the reply has no content"));
    };
    let format = request.reply_format.as_ref();
    let used = format.and_then(|format| tool_input(format, blocks, &incoming.body));
    let text = used.unwrap_or_else(|| {
        let texts = blocks.iter().filter(|block| block["type"] == "text");
        texts.filter_map(|block| block["text"].as_str()).collect()
    });
    let thoughts = blocks.iter().filter(|block| block["type"] == "thinking");
    let thoughts: Vec<&str> = thoughts
        .filter_map(|block| block["thinking"].as_str())
        .collect();
    // Thoughts may be hidden: they are blocks without a text that one could read.
    let mut kinds = blocks.iter().filter_map(|block| block["type"].as_str());
    let thought = kinds.any(|kind| THOUGHTS.contains(&kind));
    let mut finish_reason = finish_reason(message["stop_reason"].as_str().unwrap_or_default());
    if finish_reason == "length" && text.is_empty() && thought {
        finish_reason = CUT_OFF_THINKING.to_owned();
    }
    Ok(Reply {
        text,
        reasoning: thoughts.join("\n\n"),
        answered_by: message["model"].as_str().unwrap_or_default().to_owned(),
        finish_reason,
        usage: usage_of(&message["usage"]),
        ..Reply::default()
    })
}

/// What the tool was called with, as the model wrote it: the order of fields
/// may matter to whoever reads it.
fn tool_input(format: &ReplyFormat, blocks: &[Value], body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct ReplyMessage<'a> {
        #[serde(borrow)]
        content: Vec<ReplyBlock<'a>>,
    }
    #[derive(Deserialize)]
    struct ReplyBlock<'a> {
        #[serde(borrow)]
        input: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Wrapped<'a> {
        #[serde(borrow)]
        value: &'a RawValue,
    }
    let at = blocks
        .iter()
        .position(|block| block["type"] == "tool_use" && block["name"] == *format.name)?;
    let wrapped = body::schema(format).is_ok_and(|schema| !body::is_object(&schema));
    if let Ok(message) = serde_json::from_slice::<ReplyMessage<'_>>(body)
        && let Some(input) = message.content.get(at).and_then(|block| block.input)
    {
        if !wrapped {
            return Some(input.get().to_owned());
        }
        if let Ok(Wrapped { value }) = serde_json::from_str(input.get()) {
            return Some(value.get().to_owned());
        }
    }
    let input = &blocks[at]["input"];
    let inner = input.get(WRAPPED_IN).filter(|_| wrapped);
    Some(inner.unwrap_or(input).to_string())
}

/// Three kinds of input are counted apart; together they are what was sent.
fn usage_of(usage: &Value) -> Option<Usage> {
    let part = |name: &str| tokens(&usage[name]).unwrap_or(0);
    let cached_input_tokens = part("cache_read_input_tokens");
    let cache_write_input_tokens = part("cache_creation_input_tokens");
    let fresh = tokens(&usage["input_tokens"])?;
    let output_tokens = tokens(&usage["output_tokens"])?;
    let thought = tokens(&usage["output_tokens_details"]["thinking_tokens"]).unwrap_or(0);
    Some(Usage {
        input_tokens: fresh + cached_input_tokens + cache_write_input_tokens,
        output_tokens,
        cached_input_tokens,
        reasoning_tokens: thought.min(output_tokens),
        estimated: false,
        cache_write_input_tokens,
    })
}
