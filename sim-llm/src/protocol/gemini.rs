//! Gemini generateContent, with `responseJsonSchema` or `responseSchema`. Its limits show in
//! refusals only. Refuses streaming. Source: ai.google.dev, API reference
//! "Generating content", guides "Rate limits" and "Troubleshooting"; google.rpc.RetryInfo.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Fault, json_string, write};
use crate::answer::{Answer, Ask, Message};
use crate::draw::Digest;
use crate::limits::{Kind, Refusal};

/// The fields of a request that matter. Protocol buffers' JSON takes both spellings.
#[derive(Debug, Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    contents: Vec<Content<'a>>,
    #[serde(borrow, alias = "system_instruction", rename = "systemInstruction")]
    system: Option<Content<'a>>,
    #[serde(alias = "generation_config", rename = "generationConfig")]
    config: Option<GenerationConfig>,
}

#[derive(Debug, Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parts: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct GenerationConfig {
    #[serde(alias = "response_json_schema", alias = "_responseJsonSchema")]
    #[serde(rename = "responseJsonSchema")]
    json_schema: Option<Value>,
    #[serde(alias = "response_schema", rename = "responseSchema")]
    schema: Option<Value>,
    #[serde(alias = "max_output_tokens", rename = "maxOutputTokens")]
    max_output_tokens: Option<u32>,
}

/// Reads a body; the error says what a client is told.
pub(super) fn read<'a>(body: &'a [u8], model: &'a str) -> Result<Ask<'a>, String> {
    let request: Request<'a> = serde_json::from_slice(body)
        .map_err(|fault| format!("Invalid JSON payload received. {fault}"))?;
    if request.contents.is_empty() {
        return Err("* GenerateContentRequest.contents: contents is not specified".to_owned());
    }
    let message = |content: Content<'a>| Message {
        role: match content.role.as_deref() {
            Some("model") => Cow::Borrowed("assistant"),
            _ => Cow::Borrowed("user"),
        },
        content: content.parts,
    };
    let system = request.system.map(|content| Message {
        role: Cow::Borrowed("system"),
        content: content.parts,
    });
    let contents = request.contents.into_iter().map(message);
    let config = request.config;
    let most_output = config.as_ref().and_then(|config| config.max_output_tokens);
    Ok(Ask {
        model: Cow::Borrowed(model),
        messages: system.into_iter().chain(contents).collect(),
        schema: config.and_then(|config| config.json_schema.or(config.schema)),
        tool: None,
        most_output,
        logprobs: None,
        plausible: None,
    })
}

/// Thoughts are counted apart from what is said.
pub(super) fn answer(digest: Digest, ask: &Ask<'_>, answer: &Answer) -> String {
    let mut body = String::with_capacity(answer.content.len() + 512);
    let (id, model) = (digest.id(), json_string(&ask.model));
    let (text, usage) = (json_string(&answer.content), answer.usage);
    let reason = if answer.cut { "MAX_TOKENS" } else { "STOP" };
    let said = usage.output - usage.reasoning;
    let thoughts = match usage.reasoning {
        tokens if tokens == 0 || !ask.thinks() => String::new(),
        tokens => format!(r#"{{"text":"{tokens} tokens of simulated thought","thought":true}},"#),
    };
    let total = usage.input.saturating_add(usage.output);
    write(
        &mut body,
        format_args!(
            r#"{{"candidates":[{{"content":{{"parts":[{thoughts}{{"text":{text}}}],"role":"model"}},"finishReason":"{reason}","index":0}}],"usageMetadata":{{"promptTokenCount":{},"candidatesTokenCount":{said},"totalTokenCount":{total},"cachedContentTokenCount":{},"thoughtsTokenCount":{}}},"modelVersion":{model},"responseId":"{id}"}}"#,
            usage.input, usage.cached, usage.reasoning
        ),
    );
    body
}

/// Status and body of a fault.
pub(super) fn fault(fault: &Fault) -> (StatusCode, Value) {
    let mut details = Vec::new();
    let (status, name, message) = match fault {
        Fault::Unauthorized => {
            details.push(json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID", "domain": "googleapis.com"}));
            let message = "API key not valid. Please pass a valid API key.";
            let status = StatusCode::BAD_REQUEST;
            (status, "INVALID_ARGUMENT", message.to_owned())
        }
        Fault::Invalid(reason) => (StatusCode::BAD_REQUEST, "INVALID_ARGUMENT", reason.clone()),
        Fault::Unsupported(parameter) => {
            let message = format!("{parameter} is not supported for this model.");
            (StatusCode::BAD_REQUEST, "INVALID_ARGUMENT", message)
        }
        Fault::UnknownPath(path) => {
            let message = format!("Requested entity was not found: {path}");
            (StatusCode::NOT_FOUND, "NOT_FOUND", message)
        }
        Fault::Limited(refusal) => {
            details.push(violation(refusal));
            details.push(retry_info(refusal.retry_after));
            let seconds = refusal.retry_after.as_secs_f64();
            let message = format!(
                "You exceeded your current quota, please check your plan and billing details.\n\
                 Please retry in {seconds:.9}s."
            );
            exhausted(message)
        }
        Fault::Storm(wait) => {
            details.push(retry_info(*wait));
            exhausted("Resource has been exhausted (e.g. check quota).".to_owned())
        }
        Fault::Dead => exhausted("Your prepayment credits are depleted.".to_owned()),
        Fault::Failed(status) => match status.as_u16() {
            503 | 529 => (
                *status,
                "UNAVAILABLE",
                "The model is overloaded. Please try again later.".to_owned(),
            ),
            _ => (
                *status,
                "INTERNAL",
                "Internal error encountered.".to_owned(),
            ),
        },
        Fault::Stopping => (
            StatusCode::SERVICE_UNAVAILABLE,
            "UNAVAILABLE",
            "The server is shutting down.".to_owned(),
        ),
    };
    let mut error = json!({"code": status.as_u16(), "message": message, "status": name});
    if !details.is_empty() {
        error["details"] = Value::from(details);
    }
    (status, json!({ "error": error }))
}

fn exhausted(message: String) -> (StatusCode, &'static str, String) {
    (StatusCode::TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED", message)
}

fn retry_info(wait: Duration) -> Value {
    let delay = format!("{:.9}s", wait.as_secs_f64());
    json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
}

fn violation(refusal: &Refusal) -> Value {
    let (metric, id) = match refusal.kind {
        Kind::Requests => (
            "generate_content_requests",
            "GenerateRequestsPerMinutePerProjectPerModel",
        ),
        Kind::RequestsPerDay => (
            "generate_content_requests",
            "GenerateRequestsPerDayPerProjectPerModel",
        ),
        Kind::Tokens | Kind::InputTokens => (
            "generate_content_input_token_count",
            "GenerateContentInputTokensPerModelPerMinute",
        ),
        Kind::OutputTokens => (
            "generate_content_output_token_count",
            "GenerateContentOutputTokensPerModelPerMinute",
        ),
        Kind::Concurrency => (
            "generate_content_concurrency",
            "GenerateContentConcurrentRequests",
        ),
    };
    let metric = format!("generativelanguage.googleapis.com/{metric}");
    json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{
        "quotaMetric": metric, "quotaId": id,
        "quotaValue": refusal.limit.to_string()}]})
}
