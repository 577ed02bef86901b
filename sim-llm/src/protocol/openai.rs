//! OpenAI chat completions, and Azure OpenAI, which differs in its errors and in where key and
//! model stand. Refuses streaming. Source: platform.openai.com, API reference "Chat" and guide
//! "Rate limits"; learn.microsoft.com, "Azure OpenAI in Azure AI Foundry Models REST API".

use std::borrow::Cow;
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{FINGERPRINT, MODEL, NO_STREAM};
use super::{Fault, insert, json_string, whole_seconds, write};
use crate::answer::{Answer, Ask, Message};
use crate::draw::{Digest, Purpose};
use crate::limits::{Headroom, Kind};

/// Answers carry a fixed date, or two equal requests would get different bytes.
pub(crate) const CREATED: u64 = 1_700_000_000;

/// The fields of a chat request that matter; all others count through the body's hash alone.
#[derive(Debug, Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
    response_format: Option<ResponseFormat>,
    max_tokens: Option<u32>,
    max_completion_tokens: Option<u32>,
    logprobs: Option<bool>,
    top_logprobs: Option<u32>,
    stream: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct ResponseFormat {
    json_schema: Option<NamedSchema>,
}

#[derive(Debug, Deserialize)]
struct NamedSchema {
    schema: Option<Value>,
}

/// Reads a body; the error says what a client is told. The deployment of the path, if any,
/// stands before the model of the body.
pub(crate) fn read<'a>(body: &'a [u8], deployment: Option<&'a str>) -> Result<Ask<'a>, String> {
    let request: Request<'a> = serde_json::from_slice(body)
        .map_err(|fault| format!("the request body is not a chat request: {fault}"))?;
    if request.messages.is_empty() {
        return Err("`messages` must not be empty".to_owned());
    }
    if request.stream == Some(true) {
        return Err(NO_STREAM.to_owned());
    }
    let model = deployment.map(Cow::Borrowed).or(request.model);
    let format = request.response_format;
    Ok(Ask {
        model: model.unwrap_or(Cow::Borrowed(MODEL)),
        messages: request.messages,
        schema: format.and_then(|format| format.json_schema?.schema),
        tool: None,
        most_output: request.max_completion_tokens.or(request.max_tokens),
        logprobs: match request.logprobs {
            Some(true) => Some(request.top_logprobs.unwrap_or(0)),
            _ => None,
        },
        plausible: None,
    })
}

/// Written by hand: this is the hot path of every load test. Strings go through serde_json.
pub(super) fn answer(digest: Digest, ask: &Ask<'_>, answer: &Answer) -> String {
    let mut body = String::with_capacity(answer.content.len() + 640);
    let (model, content) = (json_string(&ask.model), json_string(&answer.content));
    let (id, usage) = (digest.id(), answer.usage);
    let reason = if answer.cut { "length" } else { "stop" };
    let (input, output) = (usage.input, usage.output);
    let total = input.saturating_add(output);
    let thoughts = match usage.reasoning {
        0 => String::new(),
        tokens => format!(r#","reasoning_content":"{tokens} tokens of simulated thought""#),
    };
    let logprobs = match ask.logprobs {
        None => Value::Null.to_string(),
        Some(top) => logprobs(digest, &answer.content, top).to_string(),
    };
    write(
        &mut body,
        format_args!(
            r#"{{"id":"chatcmpl-{id}","object":"chat.completion","created":{CREATED},"model":{model},"choices":[{{"index":0,"message":{{"role":"assistant","content":{content},"refusal":null{thoughts}}},"logprobs":{logprobs},"finish_reason":"{reason}"}}],"usage":{{"prompt_tokens":{input},"completion_tokens":{output},"total_tokens":{total},"prompt_tokens_details":{{"cached_tokens":{}}},"completion_tokens_details":{{"reasoning_tokens":{}}}}},"system_fingerprint":"{FINGERPRINT}"}}"#,
            usage.cached, usage.reasoning
        ),
    );
    body
}

/// Bytes of a token, about.
const TOKEN_BYTES: usize = 4;

/// How likely the tokens of an answer were, as far as chance says; those in their place are made
/// up.
fn logprobs(digest: Digest, content: &str, top: u32) -> Value {
    let mut tokens = Vec::new();
    let mut rest = content;
    while !rest.is_empty() {
        let least = rest.chars().next().map_or(1, char::len_utf8);
        let (token, after) = rest.split_at(rest.floor_char_boundary(TOKEN_BYTES).max(least));
        rest = after;
        let mut draw = digest.draw(Purpose::Logprobs, tokens.len() as u64);
        let (mut likely, mut left) = (Vec::new(), 1.0_f64);
        for place in 0..top.max(1) {
            let share = left * (0.5 + draw.unit() / 2.0);
            left -= share;
            let word = match place {
                0 => token.to_owned(),
                place => format!("~{place}"),
            };
            likely.push(json!({"token": word, "logprob": share.ln(), "bytes": word.as_bytes()}));
        }
        let mut token = likely[0].clone();
        likely.truncate(top as usize);
        token["top_logprobs"] = Value::from(likely);
        tokens.push(token);
    }
    json!({ "content": tokens, "refusal": null })
}

/// Status and body of a fault, as OpenAI words it.
pub(super) fn fault(fault: &Fault) -> (StatusCode, Value) {
    let limited = "rate_limit_exceeded";
    let (status, kind, code, message) = match fault {
        Fault::Unauthorized => (
            StatusCode::UNAUTHORIZED,
            "invalid_request_error",
            "invalid_api_key",
            "Incorrect API key provided.".to_owned(),
        ),
        Fault::Invalid(reason) => (
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "invalid_request",
            reason.clone(),
        ),
        Fault::Unsupported(parameter) => (
            StatusCode::BAD_REQUEST,
            "invalid_request_error",
            "unsupported_parameter",
            format!("Unsupported parameter: '{parameter}' is not supported with this model."),
        ),
        Fault::UnknownPath(path) => (
            StatusCode::NOT_FOUND,
            "invalid_request_error",
            "unknown_url",
            format!("Unknown request URL: {path}"),
        ),
        Fault::Limited(refusal) => (
            StatusCode::TOO_MANY_REQUESTS,
            quantity(refusal.kind),
            limited,
            format!(
                "Rate limit reached on {}: Limit {}. Please try again in {:.3}s.",
                words(refusal.kind),
                refusal.limit,
                refusal.retry_after.as_secs_f64()
            ),
        ),
        Fault::Storm(wait) => (
            StatusCode::TOO_MANY_REQUESTS,
            "requests",
            limited,
            format!(
                "Rate limit reached. Please try again in {:.3}s.",
                wait.as_secs_f64()
            ),
        ),
        Fault::Dead => (
            StatusCode::TOO_MANY_REQUESTS,
            "insufficient_quota",
            "insufficient_quota",
            "You exceeded your current quota, please check your plan and billing details."
                .to_owned(),
        ),
        Fault::Failed(status) => (
            *status,
            "server_error",
            "server_error",
            "The server had an error while processing your request.".to_owned(),
        ),
        Fault::Stopping => (
            StatusCode::SERVICE_UNAVAILABLE,
            "server_error",
            "server_error",
            "The server is shutting down.".to_owned(),
        ),
    };
    let parameter = match fault {
        Fault::Unsupported(parameter) => Some(parameter),
        _ => None,
    };
    let error = json!({"message": message, "type": kind, "param": parameter, "code": code});
    (status, json!({ "error": error }))
}

/// The same by Azure, which repeats the status as the code. A key without money is told as
/// OpenAI tells it.
pub(super) fn azure_fault(fault: &Fault) -> (StatusCode, Value) {
    let (status, message) = match fault {
        Fault::Unauthorized => (
            StatusCode::UNAUTHORIZED,
            "Access denied due to invalid subscription key or wrong API endpoint.".to_owned(),
        ),
        Fault::UnknownPath(_) => (StatusCode::NOT_FOUND, "Resource not found".to_owned()),
        Fault::Limited(refusal) => {
            let seconds = whole_seconds(refusal.retry_after);
            let rate = match refusal.kind {
                Kind::Requests | Kind::RequestsPerDay | Kind::Concurrency => "call rate limit",
                Kind::Tokens | Kind::InputTokens | Kind::OutputTokens => "token rate limit",
            };
            let message = format!(
                "Requests to the ChatCompletions_Create Operation have exceeded {rate} of your \
                 current pricing tier. Please retry after {seconds} seconds."
            );
            (StatusCode::TOO_MANY_REQUESTS, message)
        }
        Fault::Storm(wait) => {
            let seconds = whole_seconds(*wait);
            let message =
                format!("The service is overloaded. Please retry after {seconds} seconds.");
            (StatusCode::TOO_MANY_REQUESTS, message)
        }
        Fault::Invalid(_)
        | Fault::Unsupported(_)
        | Fault::Dead
        | Fault::Failed(_)
        | Fault::Stopping => {
            return self::fault(fault);
        }
    };
    let error = json!({"code": status.as_str(), "message": message});
    (status, json!({ "error": error }))
}

fn words(kind: Kind) -> &'static str {
    match kind {
        Kind::Requests => "requests per min (RPM)",
        Kind::Tokens => "tokens per min (TPM)",
        Kind::InputTokens => "input tokens per min",
        Kind::OutputTokens => "output tokens per min",
        Kind::RequestsPerDay => "requests per day (RPD)",
        Kind::Concurrency => "concurrent requests",
    }
}

fn quantity(kind: Kind) -> &'static str {
    match kind {
        Kind::Tokens | Kind::InputTokens | Kind::OutputTokens => "tokens",
        Kind::Requests | Kind::RequestsPerDay | Kind::Concurrency => "requests",
    }
}

/// OpenAI has headers for requests and tokens only; those for the day are shown where there is
/// no limit per minute.
pub(super) fn tell_room(headers: &mut HeaderMap, room: &Headroom) {
    let names = match room.kind {
        Kind::Requests => REQUESTS,
        Kind::Tokens => TOKENS,
        Kind::RequestsPerDay if !headers.contains_key(REQUESTS[0]) => REQUESTS,
        _ => return,
    };
    insert(headers, names, room, &span(room.reset));
}

const REQUESTS: [&str; 3] = [
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
];

const TOKENS: [&str; 3] = [
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
];

/// As OpenAI writes times: `17ms`, `8.64s`, `6m0s`, `23h59m8.5s`.
fn span(time: Duration) -> String {
    let millis = time.as_nanos().div_ceil(1_000_000) as u64;
    if millis < 1_000 {
        return format!("{millis}ms");
    }
    let (minutes, millis) = (millis / 60_000, millis % 60_000);
    let seconds = millis as f64 / 1_000.0;
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m{seconds}s"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_openai_writes_them() {
        let written = [0, 17, 999, 1_000, 8_640, 60_000, 360_000, 86_348_500]
            .map(|millis| span(Duration::from_millis(millis)));
        let expected = [
            "0ms",
            "17ms",
            "999ms",
            "1s",
            "8.64s",
            "1m0s",
            "6m0s",
            "23h59m8.5s",
        ];
        assert_eq!(written, expected);
    }

    #[test]
    fn deployment_of_the_path_is_the_model() {
        let body = br#"{"model":"x","messages":[{"role":"user","content":"a"}],"max_tokens":7}"#;
        let ask = read(body, Some("deployed")).unwrap();
        assert_eq!((ask.model.as_ref(), ask.most_output), ("deployed", Some(7)));
    }
}
