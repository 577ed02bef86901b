//! Anthropic messages. A forced tool is answered by a `tool_use` block with the structured answer
//! as its input. Refuses streaming. Source: docs.anthropic.com, API reference "Messages",
//! "Errors" and "Rate limits".

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use axum::http::{HeaderMap, StatusCode};
use humantime_serde::re::humantime::format_rfc3339_seconds;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Fault, NO_STREAM, insert, json_string, write};
use crate::answer::{Answer, Ask, Message};
use crate::draw::Digest;
use crate::limits::{Headroom, Kind};

/// The status of an overloaded server, which `http` has no name for.
const OVERLOADED: u16 = 529;

/// The fields of a request that matter.
#[derive(Debug, Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    model: Cow<'a, str>,
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
    #[serde(borrow)]
    system: Option<&'a RawValue>,
    max_tokens: u32,
    #[serde(default)]
    tools: Vec<Tool>,
    tool_choice: Option<ToolChoice>,
    output_format: Option<OutputFormat>,
    output_config: Option<OutputConfig>,
    stream: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct Tool {
    name: String,
    input_schema: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct ToolChoice {
    r#type: String,
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct OutputConfig {
    format: Option<OutputFormat>,
}

#[derive(Debug, Deserialize)]
struct OutputFormat {
    schema: Option<Value>,
}

/// Reads a body; the error says what a client is told.
pub(super) fn read<'a>(headers: &HeaderMap, body: &'a [u8]) -> Result<Ask<'a>, String> {
    if !headers.contains_key("anthropic-version") {
        return Err("anthropic-version: header is required".to_owned());
    }
    let request: Request<'a> = serde_json::from_slice(body)
        .map_err(|fault| format!("the request body is not a messages request: {fault}"))?;
    if request.messages.is_empty() {
        return Err("messages: at least one message is required".to_owned());
    }
    if request.stream == Some(true) {
        return Err(NO_STREAM.to_owned());
    }
    let roles = ["user", "assistant"];
    let wrong = |message: &&Message<'_>| !roles.contains(&message.role.as_ref());
    if let Some(message) = request.messages.iter().find(wrong) {
        let role = &message.role;
        return Err(format!(
            "messages: Unexpected role \"{role}\". Allowed roles are \"user\" or \"assistant\""
        ));
    }
    let (tool, tool_schema) = match forced(request.tools, request.tool_choice)? {
        Some(tool) => (Some(tool.name), tool.input_schema),
        None => (None, None),
    };
    let format = request.output_config.and_then(|config| config.format);
    let format = format.or(request.output_format);
    let system = request.system.map(|content| Message {
        role: Cow::Borrowed("system"),
        content: Some(content),
    });
    Ok(Ask {
        model: request.model,
        messages: system.into_iter().chain(request.messages).collect(),
        schema: tool_schema.or_else(|| format?.schema),
        tool,
        most_output: Some(request.max_tokens),
        logprobs: None,
        plausible: None,
    })
}

/// The tool that has to be called, if any.
fn forced(tools: Vec<Tool>, choice: Option<ToolChoice>) -> Result<Option<Tool>, String> {
    let Some(choice) = choice else {
        return Ok(None);
    };
    let mut tools = tools.into_iter();
    match choice.r#type.as_str() {
        "any" => Ok(tools.next()),
        "tool" => {
            let found = tools.find(|tool| Some(&tool.name) == choice.name.as_ref());
            let missing = || format!("tool_choice: no tool of the name {:?}", choice.name);
            found.ok_or_else(missing).map(Some)
        }
        _ => Ok(None),
    }
}

/// Input that is not an object cannot be a tool's: then the model only talks, or stops short.
pub(super) fn answer(digest: Digest, ask: &Ask<'_>, answer: &Answer) -> String {
    let mut body = String::with_capacity(answer.content.len() + 512);
    let (id, model, usage) = (digest.id(), json_string(&ask.model), answer.usage);
    let mut reason = if answer.cut { "max_tokens" } else { "end_turn" };
    let content = match &ask.tool {
        Some(tool) if answer.cut || is_object(&answer.content) => {
            let tool = json_string(tool);
            let mut input = "{}";
            if !answer.cut {
                (reason, input) = ("tool_use", answer.content.as_str());
            }
            format!(r#"{{"type":"tool_use","id":"toolu_{id}","name":{tool},"input":{input}}}"#)
        }
        _ => {
            let text = json_string(&answer.content);
            format!(r#"{{"type":"text","text":{text}}}"#)
        }
    };
    let thoughts = match usage.reasoning {
        tokens if tokens == 0 || !ask.thinks() => String::new(),
        tokens => format!(
            r#"{{"type":"thinking","thinking":"{tokens} tokens of simulated thought","signature":"{id}"}}"#
        ),
    };
    // A model that was cut off while it thought says nothing else.
    let content = match thoughts.as_str() {
        "" => content,
        _ if answer.cut && answer.content.is_empty() => thoughts,
        _ => format!("{thoughts},{content}"),
    };
    let uncached = usage.input - usage.cached;
    write(
        &mut body,
        format_args!(
            r#"{{"id":"msg_{id}","type":"message","role":"assistant","model":{model},"content":[{content}],"stop_reason":"{reason}","stop_sequence":null,"usage":{{"input_tokens":{uncached},"cache_creation_input_tokens":0,"cache_read_input_tokens":{},"output_tokens":{}}}}}"#,
            usage.cached, usage.output
        ),
    );
    body
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
}

/// Status and body of a fault.
pub(super) fn fault(fault: &Fault) -> (StatusCode, Value) {
    let (status, kind, message) = match fault {
        Fault::Unauthorized => (
            StatusCode::UNAUTHORIZED,
            "authentication_error",
            "invalid x-api-key".to_owned(),
        ),
        Fault::Invalid(reason) => (
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            reason.clone(),
        ),
        Fault::Unsupported(parameter) => (
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            format!("{parameter}: Extra inputs are not permitted"),
        ),
        Fault::UnknownPath(_) => (
            StatusCode::NOT_FOUND,
            "not_found_error",
            "Not found".to_owned(),
        ),
        Fault::Limited(refusal) => {
            let (limit, words) = (refusal.limit, words(refusal.kind));
            let message = format!("This request would exceed your rate limit of {limit} {words}.");
            (StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", message)
        }
        Fault::Storm(_) => (
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limit_error",
            "Your account has hit a rate limit.".to_owned(),
        ),
        Fault::Dead => (
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & \
             Billing to upgrade or purchase credits."
                .to_owned(),
        ),
        Fault::Failed(status) if status.as_u16() == OVERLOADED => {
            (*status, "overloaded_error", "Overloaded".to_owned())
        }
        Fault::Failed(status) => (*status, "api_error", "Internal server error".to_owned()),
        Fault::Stopping => (
            StatusCode::SERVICE_UNAVAILABLE,
            "api_error",
            "The server is shutting down.".to_owned(),
        ),
    };
    let error = json!({"type": kind, "message": message});
    let body = json!({"type": "error", "error": error, "request_id": "req_simulated"});
    (status, body)
}

fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::Requests => "requests per minute",
        Kind::Tokens => "tokens per minute",
        Kind::InputTokens => "input tokens per minute",
        Kind::OutputTokens => "output tokens per minute",
        Kind::RequestsPerDay => "requests per day",
        Kind::Concurrency => "concurrent connections",
    }
}

/// Resets are times of day, as RFC 3339 writes them.
pub(super) fn tell_room(headers: &mut HeaderMap, room: &Headroom) {
    let names = match room.kind {
        Kind::Requests => [
            "anthropic-ratelimit-requests-limit",
            "anthropic-ratelimit-requests-remaining",
            "anthropic-ratelimit-requests-reset",
        ],
        Kind::Tokens => [
            "anthropic-ratelimit-tokens-limit",
            "anthropic-ratelimit-tokens-remaining",
            "anthropic-ratelimit-tokens-reset",
        ],
        Kind::InputTokens => [
            "anthropic-ratelimit-input-tokens-limit",
            "anthropic-ratelimit-input-tokens-remaining",
            "anthropic-ratelimit-input-tokens-reset",
        ],
        Kind::OutputTokens => [
            "anthropic-ratelimit-output-tokens-limit",
            "anthropic-ratelimit-output-tokens-remaining",
            "anthropic-ratelimit-output-tokens-reset",
        ],
        Kind::RequestsPerDay | Kind::Concurrency => return,
    };
    // Whole seconds, rounded up.
    let reset = room.reset + Duration::from_nanos(999_999_999);
    let time = SystemTime::now().checked_add(reset);
    let time = time.unwrap_or_else(SystemTime::now);
    insert(
        headers,
        names,
        room,
        &format_rfc3339_seconds(time).to_string(),
    );
}
