//! The body of a chat completion, as OpenAI's API has it, read into a request.
//! What this gateway cannot do is refused by name rather than left out, since
//! the answer would not be the one that was asked for; fields that no version of
//! the API had are ignored. Called by `chat.rs`.

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::api_error::ApiError;
use crate::decision::{Message, ReplyFormat, Request, Role};

/// What was asked, and how the answer should come.
#[derive(Debug)]
pub(super) struct ChatRequest {
    /// For the gateway.
    pub request: Request,
    /// In chunks.
    pub stream: bool,
    /// With a last chunk that tells the usage.
    pub include_usage: bool,
}

#[derive(Deserialize)]
struct ChatBody {
    model: String,
    messages: Vec<ChatMessage>,
    temperature: Option<f64>,
    top_p: Option<f64>,
    max_tokens: Option<u32>,
    max_completion_tokens: Option<u32>,
    seed: Option<i64>,
    stop: Option<Stop>,
    response_format: Option<ChatFormat>,
    reasoning_effort: Option<String>,
    logprobs: Option<bool>,
    top_logprobs: Option<u32>,
    #[serde(default)]
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    #[serde(flatten)]
    others: Others,
}

/// What is accepted only where it changes nothing.
#[derive(Deserialize)]
struct Others {
    n: Option<u64>,
    tools: Option<Value>,
    tool_choice: Option<Value>,
    functions: Option<Value>,
    function_call: Option<Value>,
    logit_bias: Option<Value>,
    frequency_penalty: Option<Value>,
    presence_penalty: Option<Value>,
    audio: Option<Value>,
    modalities: Option<Value>,
    web_search_options: Option<Value>,
}

#[derive(Deserialize)]
struct ChatMessage {
    role: String,
    content: Option<ChatContent>,
    tool_calls: Option<Value>,
    function_call: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ChatContent {
    Text(String),
    Parts(Vec<Value>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Stop {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Deserialize)]
struct ChatFormat {
    r#type: String,
    json_schema: Option<ChatSchema>,
}

#[derive(Deserialize)]
struct ChatSchema {
    name: String,
    schema: Option<Box<RawValue>>,
}

/// Reads a body; `fallback_models` come from a header.
pub(super) fn read(
    headers: &HeaderMap,
    bytes: &Bytes,
    fallback_models: Vec<String>,
) -> Result<ChatRequest, ApiError> {
    let body: ChatBody = read_json(headers, bytes)?;
    body.others.check()?;
    if body.messages.is_empty() {
        return Err(ApiError::invalid(
            "messages",
            "messages is empty, ask something",
        ));
    }
    let mut messages = Vec::with_capacity(body.messages.len());
    for (index, message) in body.messages.into_iter().enumerate() {
        messages.push(read_message(index, message)?);
    }
    let limit = match (body.max_completion_tokens, body.max_tokens) {
        (Some(limit), _) => Some(("max_completion_tokens", limit)),
        (None, limit) => limit.map(|limit| ("max_tokens", limit)),
    };
    if let Some((field, 0)) = limit {
        return Err(ApiError::invalid(
            field,
            format!("{field} must be at least 1"),
        ));
    }
    let stream = body.stream.unwrap_or(false);
    let logprobs = match (body.logprobs.unwrap_or(false), body.top_logprobs) {
        (true, _) if stream => {
            let text = "logprobs come with whole answers only, leave out stream";
            return Err(ApiError::unsupported("logprobs", text));
        }
        (true, top) => Some(top.unwrap_or(0)),
        (false, None | Some(0)) => None,
        (false, Some(_)) => {
            let text = "top_logprobs needs logprobs = true";
            return Err(ApiError::invalid("top_logprobs", text));
        }
    };
    let seed = body.seed.map(u64::try_from).transpose();
    let request = Request {
        model: body.model,
        messages,
        temperature: body.temperature,
        top_p: body.top_p,
        max_output_tokens: limit.map(|(_, limit)| limit),
        sampling_seed: seed.map_err(|_| ApiError::invalid("seed", "seed must not be negative"))?,
        reply_format: match body.response_format {
            Some(format) => read_format(format)?,
            None => None,
        },
        fallback_models,
        reasoning_effort: body.reasoning_effort,
        stop_sequences: match body.stop {
            Some(Stop::One(stop)) => vec![stop],
            Some(Stop::Several(stops)) => stops,
            None => Vec::new(),
        },
        logprobs,
    };
    let options = body.stream_options;
    Ok(ChatRequest {
        request,
        stream,
        include_usage: options.is_some_and(|options| options.include_usage),
    })
}

/// Reads a JSON body. Only what says that it is JSON, which pages of other sites
/// cannot send from a browser without being asked whether they may.
pub(super) fn read_json<T: DeserializeOwned>(
    headers: &HeaderMap,
    bytes: &Bytes,
) -> Result<T, ApiError> {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let essence = kind
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    if !essence.trim().eq_ignore_ascii_case("application/json") {
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "invalid_content_type",
            "send JSON with the header \"content-type: application/json\"",
        ));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner();
        if path == "." {
            ApiError::bad_request(format!("the body cannot be read: {reason}"))
        } else {
            ApiError::invalid(path.clone(), format!("{path}: {reason}"))
        }
    })?;
    match reader.end() {
        Ok(()) => Ok(value),
        Err(reason) => Err(ApiError::bad_request(format!(
            "the body goes on after its end: {reason}"
        ))),
    }
}

impl Others {
    fn check(&self) -> Result<(), ApiError> {
        if self.n.is_some_and(|n| n != 1) {
            return Err(ApiError::unsupported(
                "n",
                "n must be 1: every answer is a decision of its own, send as many requests",
            ));
        }
        let says_something = [
            ("tools", &self.tools),
            ("functions", &self.functions),
            ("function_call", &self.function_call),
            ("logit_bias", &self.logit_bias),
            ("frequency_penalty", &self.frequency_penalty),
            ("presence_penalty", &self.presence_penalty),
            ("audio", &self.audio),
            ("web_search_options", &self.web_search_options),
        ];
        for (field, value) in says_something {
            if value.as_ref().is_some_and(|value| !is_nothing(value)) {
                return Err(not_here(field));
            }
        }
        let usual = [
            ("tool_choice", &self.tool_choice, vec!["none", "auto"]),
            ("modalities", &self.modalities, vec!["text"]),
        ];
        for (field, value, usual) in usual {
            let Some(value) = value else { continue };
            let listed = value
                .as_array()
                .map_or(std::slice::from_ref(value), Vec::as_slice);
            let is_usual = |one: &Value| one.as_str().is_some_and(|one| usual.contains(&one));
            if !is_nothing(value) && !listed.iter().all(is_usual) {
                return Err(not_here(field));
            }
        }
        Ok(())
    }
}

/// A field that asks for what a decision does not have.
fn not_here(field: &str) -> ApiError {
    let message = format!("{field} is not supported by this gateway, leave it out");
    ApiError::unsupported(field, message)
}

/// What a client sends that names every field and means none.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(true) => false,
        Value::String(text) => text == "none",
    }
}

fn read_message(index: usize, message: ChatMessage) -> Result<Message, ApiError> {
    let field = |name: &str| format!("messages[{index}].{name}");
    for (name, value) in [
        ("tool_calls", &message.tool_calls),
        ("function_call", &message.function_call),
    ] {
        if value.as_ref().is_some_and(|value| !is_nothing(value)) {
            return Err(not_here(&field(name)));
        }
    }
    let role = match message.role.as_str() {
        // OpenAI's newer name for the same.
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => {
            let text = format!(
                "{} is {other:?}; this gateway knows system, developer, user and assistant",
                field("role")
            );
            return Err(ApiError::unsupported(field("role"), text));
        }
    };
    let content = match message.content {
        Some(ChatContent::Text(text)) => text,
        Some(ChatContent::Parts(parts)) => read_parts(index, &parts)?,
        None => {
            let text = format!("{} is missing, write a text", field("content"));
            return Err(ApiError::invalid(field("content"), text));
        }
    };
    Ok(Message { role, content })
}

fn read_parts(index: usize, parts: &[Value]) -> Result<String, ApiError> {
    let mut texts = Vec::with_capacity(parts.len());
    for (part, value) in parts.iter().enumerate() {
        let field = format!("messages[{index}].content[{part}]");
        let kind = value.get("type").and_then(Value::as_str);
        match (kind, value.get("text").and_then(Value::as_str)) {
            (Some("text"), Some(text)) => texts.push(text),
            (Some("text"), None) => {
                let message = format!("{field}.text is missing, write a text");
                return Err(ApiError::invalid(field, message));
            }
            (kind, _) => {
                let kind = kind.unwrap_or("unknown");
                let message =
                    format!("{field} is of type {kind:?}; this gateway takes parts of type text");
                return Err(ApiError::unsupported(field, message));
            }
        }
    }
    Ok(texts.join("\n"))
}

fn read_format(format: ChatFormat) -> Result<Option<ReplyFormat>, ApiError> {
    match (format.r#type.as_str(), format.json_schema) {
        ("text", _) => Ok(None),
        ("json_object", _) => Ok(Some(ReplyFormat::any_object())),
        (
            "json_schema",
            Some(ChatSchema {
                name,
                schema: Some(schema),
            }),
        ) => Ok(Some(ReplyFormat {
            name,
            json_schema: schema.get().to_owned(),
        })),
        ("json_schema", _) => Err(ApiError::invalid(
            "response_format.json_schema",
            "response_format.json_schema must have a name and a schema",
        )),
        (other, _) => Err(ApiError::unsupported(
            "response_format.type",
            format!(
                "response_format.type is {other:?}; this gateway knows text, json_object and \
                 json_schema"
            ),
        )),
    }
}

#[cfg(test)]
mod tests;
