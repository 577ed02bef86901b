//! The protocols that the simulated provider speaks: where each carries its key and its ask, and
//! how each words answers, refusals and limits. One file each; what they share is here. Called by
//! `http.rs`, which knows none of the words.

pub(super) mod anthropic;
pub(super) mod gemini;
pub(super) mod openai;

use std::fmt;
use std::time::Duration;

use agon_proto::simulated::SIMULATED_HEADER;
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;

use super::answer::{Answer, Ask};
use super::draw::Digest;
use super::limits::{Headroom, Refusal};

/// The only model it serves by name; any other name is answered as well.
pub(crate) const MODEL: &str = "agon-sim";

/// The `system_fingerprint` of answers in OpenAI's form, by which results made with it are
/// marked.
pub(crate) const FINGERPRINT: &str = "agon-sim-llm";

/// What is said to whoever wants a stream, in every protocol.
pub(super) const NO_STREAM: &str = "this simulated provider does not stream";

/// A protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    OpenAi,
    Azure,
    Anthropic,
    Gemini,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// The key is not known.
    Unauthorized,
    /// The request is wrong; for people.
    Invalid(String),
    /// The model does not take this parameter; its name.
    Unsupported(String),
    /// There is nothing here; the path.
    UnknownPath(String),
    /// A limit.
    Limited(Refusal),
    /// Too much for no limit's sake.
    Storm(Duration),
    /// The key has no money left.
    Dead,
    /// The server failed, with this status.
    Failed(StatusCode),
    /// The server is being stopped.
    Stopping,
}

impl Protocol {
    /// The key of a request, empty when there is none.
    pub(super) fn key(self, headers: &HeaderMap) -> &str {
        let header = |name| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.unwrap_or("").trim()
        };
        let bearer = || {
            let value = header("authorization");
            value.strip_prefix("Bearer ").unwrap_or(value).trim()
        };
        match self {
            Self::OpenAi => bearer(),
            Self::Azure => match header("api-key") {
                "" => bearer(),
                key => key,
            },
            Self::Anthropic => header("x-api-key"),
            Self::Gemini => header("x-goog-api-key"),
        }
    }

    /// Reads a request; the error is for the client. `model` is what the path says.
    pub(super) fn read<'a>(
        self,
        headers: &HeaderMap,
        model: Option<&'a str>,
        body: &'a [u8],
    ) -> Result<Ask<'a>, String> {
        match self {
            Self::OpenAi | Self::Azure => openai::read(body, model),
            Self::Anthropic => anthropic::read(headers, body),
            Self::Gemini => gemini::read(body, model.unwrap_or_default()),
        }
    }

    /// An answer on the wire.
    pub(super) fn answer(self, digest: Digest, ask: &Ask<'_>, answer: &Answer) -> Response {
        let body = match self {
            Self::OpenAi | Self::Azure => openai::answer(digest, ask, answer),
            Self::Anthropic => anthropic::answer(digest, ask, answer),
            Self::Gemini => gemini::answer(digest, ask, answer),
        };
        reply(StatusCode::OK, body)
    }

    /// A fault on the wire, with the headers that belong to it.
    pub(super) fn fault(self, fault: &Fault) -> Response {
        let (status, body) = match self {
            Self::OpenAi => openai::fault(fault),
            Self::Azure => openai::azure_fault(fault),
            Self::Anthropic => anthropic::fault(fault),
            Self::Gemini => gemini::fault(fault),
        };
        let mut response = reply(status, body.to_string());
        let wait = match fault {
            Fault::Limited(refusal) => Some(refusal.retry_after),
            Fault::Storm(wait) => Some(*wait),
            _ => None,
        };
        if let Some(wait) = wait
            && self != Self::Gemini
        {
            let headers = response.headers_mut();
            headers.insert(RETRY_AFTER, HeaderValue::from(whole_seconds(wait)));
            if self != Self::Anthropic {
                // The finer header that OpenAI's clients prefer.
                let millis = wait.as_nanos().div_ceil(1_000_000) as u64;
                let name = HeaderName::from_static("retry-after-ms");
                headers.insert(name, HeaderValue::from(millis));
            }
        }
        response
    }

    /// Says what is left of the limits, in the protocol's headers.
    pub(super) fn tell_room(self, response: &mut Response, room: &[Headroom], lying: bool) {
        for headroom in room {
            let mut headroom = *headroom;
            if lying {
                headroom.remaining = headroom.limit;
                headroom.reset = Duration::ZERO;
            }
            match self {
                Self::OpenAi | Self::Azure => openai::tell_room(response.headers_mut(), &headroom),
                Self::Anthropic => anthropic::tell_room(response.headers_mut(), &headroom),
                // Gemini says nothing but `RetryInfo`.
                Self::Gemini => {}
            }
        }
    }
}

/// A marked reply of JSON.
pub(super) fn reply(status: StatusCode, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(
        HeaderName::from_static(SIMULATED_HEADER),
        HeaderValue::from_static("true"),
    );
    response
}

/// Inserts three headers of one limit.
fn insert(headers: &mut HeaderMap, names: [&'static str; 3], room: &Headroom, reset: &str) {
    let [limit, remaining, resets] = names.map(HeaderName::from_static);
    headers.insert(limit, HeaderValue::from(room.limit));
    headers.insert(remaining, HeaderValue::from(room.remaining));
    if let Ok(reset) = HeaderValue::from_str(reset) {
        headers.insert(resets, reset);
    }
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

/// Writing to a string cannot fail; the result is dropped here and nowhere else.
fn write(out: &mut String, arguments: fmt::Arguments<'_>) {
    let written = fmt::write(out, arguments);
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}
