//! Amazon Bedrock's Converse, one protocol for the models of many makers; what errors mean is the
//! table below. A request is signed as AWS wants it, or carries one of Bedrock's API keys. There is
//! no seed in this protocol, and no likelihood of tokens. Called by `caller.rs`.
//!
//! Sources: Amazon Bedrock API reference "Converse", "Common errors"; AWS "Signature Version 4".

mod body;
mod reply;
mod signing;

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::caller::Protocol;
use super::capabilities::Capabilities;
use super::error_body::{ErrorBody, shortened};
use super::http::{Http, Incoming, KeyHeader, Outgoing};
use super::judging::{self, Meaning, Rule, Says, rule};
use super::{Call, Refusal, Reply};

use Meaning::{DeadKey, Final, NoQuotaNow, OtherKey, Passing};
use Says::{Anything, Code, Words};
use signing::Signing;

/// Where an error says its name; behind a colon stands more that nobody needs.
const ERROR_TYPE: &str = "x-amzn-errortype";

/// Errors that new credentials mend, once they are there.
const OUT_OF_DATE: [&str; 3] = [
    "ExpiredTokenException",
    "UnrecognizedClientException",
    "InvalidSignatureException",
];

#[rustfmt::skip] // A table reads better in columns.
const RULES: [Rule; 18] = [
    rule(0, Code("ExpiredTokenException"), DeadKey),
    rule(0, Code("UnrecognizedClientException"), DeadKey),
    rule(0, Code("InvalidSignatureException"), DeadKey),
    rule(0, Code("IncompleteSignatureException"), DeadKey),
    rule(0, Code("MissingAuthenticationTokenException"), DeadKey),
    rule(0, Code("OptInRequired"), DeadKey),
    rule(403, Words("authentication failed"), DeadKey),
    // An account may lack the model that another one has.
    rule(0, Code("AccessDeniedException"), OtherKey),
    rule(0, Code("ResourceNotFoundException"), OtherKey),
    rule(0, Code("ThrottlingException"), NoQuotaNow),
    rule(0, Code("ServiceQuotaExceededException"), NoQuotaNow),
    rule(0, Code("ModelNotReadyException"), Passing),
    rule(0, Code("ModelTimeoutException"), Passing),
    rule(0, Code("ModelErrorException"), Passing),
    rule(0, Code("ValidationException"), Final),
    rule(401, Anything, DeadKey),
    rule(403, Anything, OtherKey),
    rule(429, Anything, NoQuotaNow),
];

/// Speaks Converse.
pub(super) struct Bedrock {
    signing: Signing,
}

impl Bedrock {
    pub(super) fn new(http: Http) -> Self {
        Self {
            signing: Signing::new(http),
        }
    }
}

impl Protocol for Bedrock {
    fn write(&self, call: Call<'_>, capabilities: Capabilities) -> Result<Outgoing, Refusal> {
        let (provider, model) = (&call.model.provider, &call.model.model);
        let (body, applied) = body::build(call.model, capabilities, call.request)?;
        Ok(Outgoing {
            url: format!(
                "{}/model/{}/converse",
                provider.base_url,
                model.as_one_part()
            ),
            key_in: KeyHeader::Bearer,
            headers: Vec::new(),
            body,
            applied,
        })
    }

    fn read(&self, call: Call<'_>, incoming: &Incoming) -> Result<Reply, Refusal> {
        reply::read(call.request, incoming)
    }

    fn judge(&self, incoming: &Incoming) -> Result<Reply, Refusal> {
        judging::judge(&RULES, incoming, &said(incoming))
    }

    fn error_inside_success(&self, incoming: &Incoming) -> Option<Refusal> {
        judging::inside_success(&RULES, incoming, said(incoming))
    }

    async fn prove(
        &self,
        call: Call<'_>,
        outgoing: &Outgoing,
    ) -> Result<Option<HeaderMap>, Refusal> {
        match call.key {
            Some(_) => Ok(None),
            None => self
                .signing
                .sign(&call.model.provider, outgoing)
                .await
                .map(Some),
        }
    }

    fn renews_proof(&self, call: Call<'_>, incoming: &Incoming) -> bool {
        let name = error_type(incoming);
        let is_refused = name.is_some_and(|name| OUT_OF_DATE.contains(&&*name));
        is_refused && self.signing.forget(&call.model.provider)
    }
}

/// What an error says: its name stands in a header or in `__type`, its words in `message` or
/// `Message`.
fn said(incoming: &Incoming) -> ErrorBody {
    let body: Value = serde_json::from_slice(&incoming.body).unwrap_or(Value::Null);
    let mut said = match &body["Message"] {
        Value::Null => ErrorBody::read(&incoming.body),
        message => ErrorBody::of(message),
    };
    if let Some(name) = error_type(incoming) {
        said.text = shortened(&format!("{} ({name})", said.text.as_written()));
        said.codes.push(name);
    }
    said
}

fn error_type(incoming: &Incoming) -> Option<String> {
    let header = incoming.headers.get(ERROR_TYPE);
    let in_header = header
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let stated = in_header.or_else(|| {
        let body: Value = serde_json::from_slice(&incoming.body).ok()?;
        Some(body["__type"].as_str()?.to_owned())
    })?;
    let name = stated.split(':').next().unwrap_or_default();
    let name = name.rsplit('#').next().unwrap_or_default();
    Some(name.to_owned())
}
