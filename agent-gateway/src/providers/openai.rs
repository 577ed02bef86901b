//! OpenAI chat completions, on any base URL that speaks them: OpenAI, vLLM,
//! Ollama, DeepInfra, OpenRouter and many more. Builds the request from the
//! model's settings and sends it. Reading replies is in `openai/reply.rs`, what
//! errors mean in `openai/errors.rs`, what a server turned out not to take in
//! `openai/abilities.rs`. Called through the `Provider` contract.

mod abilities;
mod errors;
mod reply;

use async_trait::async_trait;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use secrecy::ExposeSecret;
use serde::Serialize;
use serde_json::value::RawValue;

use super::{Call, Provider, Refusal, Remedy, Reply, Signals};
use crate::config::{OutputLimitField, ResolvedModel, StructuredOutput};
use crate::decision::{ReplyFormat, Request};
use crate::redact;

use abilities::{Abilities, Ability};

/// No model writes this much; a broken server may, until memory ends.
const LARGEST_REPLY_BYTES: usize = 16 * 1024 * 1024;

/// Speaks chat completions.
pub struct OpenAi {
    client: reqwest::Client,
    abilities: Abilities,
}

impl OpenAi {
    /// A client whose connections are kept and shared by all calls.
    pub fn new() -> Result<Self, reqwest::Error> {
        agon_service_kit::server::install_crypto();
        let client = reqwest::Client::builder()
            .user_agent(concat!("agon/", env!("CARGO_PKG_VERSION")))
            // A redirect would carry the key to somebody who was not configured.
            .redirect(reqwest::redirect::Policy::none())
            // HTTP/2 would put all calls on one connection, and providers allow
            // some hundred streams on it; with HTTP/1.1 the limits are ours.
            .http1_only()
            .tcp_nodelay(true)
            .build()?;
        let abilities = Abilities::default();
        Ok(Self { client, abilities })
    }
}

#[async_trait]
impl Provider for OpenAi {
    async fn call(&self, call: Call<'_>) -> Result<Reply, Refusal> {
        let refused = match self.exchange(call).await {
            Ok(reply) => return Ok(reply),
            Err(refused) => refused,
        };
        // The body was cleaned before; now it is read, and no escapes are left.
        let reason = redact::without_keys(&refused.reason, call.key);
        Err(Refusal { reason, ..refused })
    }
}

impl OpenAi {
    async fn exchange(&self, call: Call<'_>) -> Result<Reply, Refusal> {
        let ability = self.abilities.of(call.model);
        let body = Body::build(call.model, ability, call.request)?;
        let provider = &call.model.provider;
        let mut request = self
            .client
            .post(format!("{}/chat/completions", provider.base_url))
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .timeout(provider.timeout)
            .body(body);
        if let Some(key) = call.key {
            request = request.bearer_auth(key.expose_secret());
        }
        let response = request.send().await;
        let mut response = response.map_err(|error| errors::of_transport(&error))?;
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let body = read_body(response).await?;
        if !status.is_success() {
            // Some servers repeat the key in their complaint about it.
            let body = redact::body_without_keys(&body, call.key);
            let refusal = errors::of_status(status, &headers, &body);
            let Call { model, request, .. } = call;
            if refusal.remedy == Remedy::GiveUp
                && self.abilities.learn(model, request, ability, status, &body)
            {
                let remedy = Remedy::AskWithLess;
                return Err(Refusal { remedy, ..refusal });
            }
            return filtered(refusal);
        }
        reply::read(&headers, &body).map_err(|unreadable| {
            // Routers report errors of the server behind them with status 200.
            let body = redact::body_without_keys(&body, call.key);
            errors::inside_success(&headers, &body).unwrap_or(unreadable)
        })
    }
}

/// The whole body, unless it is absurd.
async fn read_body(mut response: reqwest::Response) -> Result<Vec<u8>, Refusal> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await;
        match chunk.map_err(|error| errors::of_transport(&error))? {
            None => return Ok(body),
            Some(chunk) if body.len() + chunk.len() <= LARGEST_REPLY_BYTES => {
                body.extend_from_slice(&chunk);
            }
            Some(_) => {
                return Err(Refusal {
                    remedy: Remedy::Retry(None),
                    reason: format!("the reply is longer than {LARGEST_REPLY_BYTES} bytes"),
                    maybe_used: true,
                    signals: Signals::default(),
                });
            }
        }
    }
}

/// Azure and its kin report a filtered prompt as an error; it is an answer
/// all the same, and would be the same next time.
fn filtered(refusal: Refusal) -> Result<Reply, Refusal> {
    if refusal.remedy == Remedy::GiveUp && refusal.reason.contains("content_filter") {
        return Ok(Reply {
            finish_reason: "content_filter".to_owned(),
            ..Reply::default()
        });
    }
    Err(refusal)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<BodyMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<BodyFormat<'a>>,
}

#[derive(Serialize)]
struct BodyMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BodyFormat<'a> {
    JsonObject,
    JsonSchema { json_schema: BodySchema<'a> },
}

#[derive(Serialize)]
struct BodySchema<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a RawValue,
}

impl Body<'_> {
    fn build(
        model: &ResolvedModel,
        ability: Ability,
        request: &Request,
    ) -> Result<Vec<u8>, Refusal> {
        let limit = Some(request.max_output_tokens.unwrap_or(model.max_output_tokens));
        let (max_tokens, max_completion_tokens) = match model.output_limit_field {
            OutputLimitField::MaxTokens => (limit, None),
            OutputLimitField::MaxCompletionTokens => (None, limit),
        };
        let body = Body {
            model: &model.model,
            messages: request
                .messages
                .iter()
                .map(|message| BodyMessage {
                    role: message.role.name(),
                    content: &message.content,
                })
                .collect(),
            temperature: request.temperature,
            top_p: request.top_p,
            max_tokens,
            max_completion_tokens,
            seed: request.sampling_seed.filter(|_| ability.seed),
            response_format: match &request.reply_format {
                Some(format) => body_format(ability.structured_output, format)?,
                None => None,
            },
        };
        serde_json::to_vec(&body).map_err(|error| give_up(format!("cannot be written: {error}")))
    }
}

fn body_format(
    how: StructuredOutput,
    format: &ReplyFormat,
) -> Result<Option<BodyFormat<'_>>, Refusal> {
    Ok(match how {
        StructuredOutput::None => None,
        StructuredOutput::JsonObject => Some(BodyFormat::JsonObject),
        StructuredOutput::JsonSchema => {
            let schema = serde_json::from_str(&format.json_schema)
                .map_err(|error| give_up(format!("the reply format is not JSON: {error}")))?;
            let json_schema = BodySchema {
                name: &format.name,
                strict: true,
                schema,
            };
            Some(BodyFormat::JsonSchema { json_schema })
        }
    })
}

fn give_up(reason: String) -> Refusal {
    Refusal {
        remedy: Remedy::GiveUp,
        reason,
        maybe_used: false,
        signals: Signals::default(),
    }
}

#[cfg(test)]
mod tests;
