//! What an error of a chat completions server means: one table for OpenAI and
//! the servers that are compatible with it, and one of what Azure adds. Called
//! by `openai.rs` and `azure.rs` for everything that is not a reply.

use reqwest::StatusCode;
use serde_json::Value;

use super::super::error_body::ErrorBody;
use super::super::http::Incoming;
use super::super::judging::{self, Meaning, Rule, Says, rule};
use super::super::{Refusal, Reply};

use Meaning::{DeadKey, Filtered, Final, NoQuotaNow, OtherKey, Passing};
use Says::{Anything, Code, Words};

/// How Groq calls an answer that is not the JSON that was asked for.
const FAILED_JSON: &str = "json_validate_failed";

#[rustfmt::skip] // A table reads better in columns.
const RULES: [Rule; 33] = [
    // The account behind the key has no money or quota left; waiting is in vain.
    rule(0, Code("insufficient_quota"), DeadKey),
    rule(0, Code("billing_hard_limit_reached"), DeadKey),
    rule(0, Code("billing_not_active"), DeadKey),
    rule(0, Code("account_deactivated"), DeadKey),
    rule(0, Code("invalid_api_key"), DeadKey),
    rule(400, Words("incorrect api key"), DeadKey), // xAI
    // A prompt that is filtered is an answer, as a reply that is.
    rule(400, Code("content_filter"), Filtered), // Azure
    rule(400, Code("ResponsibleAIPolicyViolation"), Filtered), // Azure
    rule(400, Code("content_policy_violation"), Filtered),
    rule(400, Words("flagged as potentially violating"), Filtered), // OpenAI's reasoning models
    // Another key's account may have the model, or a larger limit.
    rule(403, Code("model_not_found"), OtherKey),
    rule(404, Code("model_not_found"), OtherKey),
    rule(404, Code("model_not_available"), OtherKey),
    rule(404, Words("does not exist or you do not have access"), OtherKey),
    rule(404, Words("no endpoints found"), OtherKey), // OpenRouter: the account's privacy settings
    rule(403, Words("does not have access to model"), OtherKey),
    rule(429, Words("request too large"), OtherKey),
    rule(413, Code("rate_limit_exceeded"), OtherKey), // Groq: larger than a whole minute
    // OpenRouter forbids single prompts that its moderation flags; the key is well.
    rule(403, Words("flagged"), Final),
    rule(403, Code("unsupported_country_region_territory"), Final),
    rule(400, Code("context_length_exceeded"), Final),
    rule(401, Anything, DeadKey),
    rule(402, Anything, DeadKey),
    rule(403, Anything, DeadKey),
    rule(408, Anything, Passing),
    rule(409, Anything, Passing),
    rule(424, Anything, Passing), // Azure: what the model depends on failed
    rule(425, Anything, Passing),
    rule(429, Anything, NoQuotaNow),
    rule(498, Anything, NoQuotaNow), // Groq: capacity of the flexible tier
    rule(501, Anything, Final),
    rule(505, Anything, Final),
    rule(511, Anything, Final),
];

/// The server answered with an error status.
pub(in super::super) fn judge(incoming: &Incoming) -> Result<Reply, Refusal> {
    if let Some(text) = failed_generation(incoming) {
        return Ok(Reply {
            text,
            finish_reason: "stop".to_owned(),
            ..Reply::default()
        });
    }
    judging::judge(&RULES, incoming, &ErrorBody::read(&incoming.body))
}

/// The server said success and put an error inside, or into its only choice.
pub(in super::super) fn inside_success(incoming: &Incoming) -> Option<Refusal> {
    let body: Value = serde_json::from_slice(&incoming.body).unwrap_or(Value::Null);
    let said = match &body["choices"][0]["error"] {
        Value::Null => ErrorBody::read(&incoming.body),
        error => ErrorBody::of(error),
    };
    judging::inside_success(&RULES, incoming, said)
}

/// Groq refuses to hand out an answer that is not the JSON that was asked for,
/// and shows it in its complaint. It is what the model said, so that whoever
/// asked decides what to do about it.
fn failed_generation(incoming: &Incoming) -> Option<String> {
    let body: Value = serde_json::from_slice(&incoming.body).ok()?;
    let error = &body["error"];
    let failed = incoming.status == StatusCode::BAD_REQUEST && error["code"] == FAILED_JSON;
    let text = error["failed_generation"].as_str().filter(|_| failed)?;
    Some(text.to_owned())
}
