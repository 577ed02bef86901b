//! Reads what Converse answers: the input of the tool that carries a reply, or else its text, and
//! beside it what the model thought. Refuses what holds no answer. Called by `bedrock.rs`.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::anthropic::body::{WRAPPED_IN, is_object, schema};
use super::super::http::Incoming;
use super::super::reading::{finish_reason, json, tokens, unreadable};
use super::super::{Refusal, Reply};
use crate::decision::{CUT_OFF_THINKING, ReplyFormat, Request, Usage};

/// The reply in a body that came with success.
pub(super) fn read(request: &Request, incoming: &Incoming) -> Result<Reply, Refusal> {
    let body = json(incoming)?;
    let Some(blocks) = body["output"]["message"]["content"].as_array() else {
        return Err(unreadable("the reply has no content"));
    };
    let format = request.reply_format.as_ref();
    let used = format.and_then(|format| tool_input(format, blocks, &incoming.body));
    let text = used.unwrap_or_else(|| {
        let texts = blocks.iter().filter_map(|block| block["text"].as_str());
        texts.collect()
    });
    let mut thoughts = blocks
        .iter()
        .filter(|block| block["reasoningContent"].is_object())
        .peekable();
    let thought = thoughts.peek().is_some();
    let thoughts: Vec<&str> = thoughts
        .filter_map(|block| block["reasoningContent"]["reasoningText"]["text"].as_str())
        .collect();
    let mut finish_reason = finish_reason(body["stopReason"].as_str().unwrap_or_default());
    if finish_reason == "length" && text.is_empty() && thought {
        finish_reason = CUT_OFF_THINKING.to_owned();
    }
    Ok(Reply {
        text,
        reasoning: thoughts.join("\n\n"),
        finish_reason,
        usage: usage_of(&body["usage"]),
        ..Reply::default()
    })
}

/// What the tool was called with, as the model wrote it: the order of fields may matter to whoever
/// reads it.
fn tool_input(format: &ReplyFormat, blocks: &[Value], body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct ConverseReply<'a> {
        #[serde(borrow)]
        output: Output<'a>,
    }
    #[derive(Deserialize)]
    struct Output<'a> {
        #[serde(borrow)]
        message: ConverseMessage<'a>,
    }
    #[derive(Deserialize)]
    struct ConverseMessage<'a> {
        #[serde(borrow)]
        content: Vec<Block<'a>>,
    }
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow, rename = "toolUse")]
        tool_use: Option<ToolUse<'a>>,
    }
    #[derive(Deserialize)]
    struct ToolUse<'a> {
        #[serde(borrow)]
        input: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct WrappedInput<'a> {
        #[serde(borrow)]
        value: &'a RawValue,
    }
    let at = blocks
        .iter()
        .position(|block| block["toolUse"]["name"] == *format.name)?;
    let wrapped = schema(format).is_ok_and(|schema| !is_object(&schema));
    if let Ok(body) = serde_json::from_slice::<ConverseReply<'_>>(body)
        && let Some(block) = body.output.message.content.get(at)
        && let Some(used) = &block.tool_use
    {
        if !wrapped {
            return Some(used.input.get().to_owned());
        }
        if let Ok(WrappedInput { value }) = serde_json::from_str(used.input.get()) {
            return Some(value.get().to_owned());
        }
    }
    let input = &blocks[at]["toolUse"]["input"];
    let inner = input.get(WRAPPED_IN).filter(|_| wrapped);
    Some(inner.unwrap_or(input).to_string())
}

/// Three kinds of input are counted apart; together they are what was sent. Thoughts are part of
/// the output and not counted by themselves.
fn usage_of(usage: &Value) -> Option<Usage> {
    let part = |name: &str| tokens(&usage[name]).unwrap_or(0);
    let cached_input_tokens = part("cacheReadInputTokens");
    let cache_write_input_tokens = part("cacheWriteInputTokens");
    Some(Usage {
        input_tokens: tokens(&usage["inputTokens"])?
            + cached_input_tokens
            + cache_write_input_tokens,
        output_tokens: tokens(&usage["outputTokens"])?,
        cached_input_tokens,
        reasoning_tokens: 0,
        estimated: false,
        cache_write_input_tokens,
    })
}
