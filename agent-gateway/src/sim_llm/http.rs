//! The HTTP side of the simulated provider: routes, keys, refusals and faults in OpenAI's form,
//! and the wire form of an answer. One function walks a request from arrival to reply.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_service_kit::server::Listener;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::answer::{Ask, tokens};
use super::draw::{Digest, Purpose};
use super::limits::Refusal;
use super::stats::{Books, Room, SimStats};
use super::{FINGERPRINT, MODEL, SIMULATED_HEADER, SimOptions};

/// No conversation of ours is longer.
const BODY_LIMIT: usize = 64 << 20;

/// Answers carry a fixed date, or two equal requests would get different bytes.
const CREATED: u64 = 1_700_000_000;

/// Serves until the provider's token is cancelled.
pub(super) async fn serve(listener: Listener, provider: Arc<Provider>) -> std::io::Result<()> {
    let stop = provider.stop.clone();
    let router = Router::new()
        .route("/v1/chat/completions", post(chat))
        .route("/chat/completions", post(chat))
        .route("/v1/models", get(models))
        .route("/models", get(models))
        .route("/stats", get(show_stats))
        .fallback(unknown_path)
        .with_state(provider);
    let socket = listener.into_tokio().tap_io(|stream| {
        // Only costs latency when it fails.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(socket, router)
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
}

/// What all requests share.
#[derive(Debug)]
pub(super) struct Provider {
    options: SimOptions,
    books: Mutex<Books>,
    stop: CancellationToken,
}

impl Provider {
    pub(super) fn new(options: SimOptions, stop: CancellationToken) -> Self {
        Self {
            options,
            books: Mutex::default(),
            stop,
        }
    }

    pub(super) fn stats(&self) -> SimStats {
        self.books().stats()
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        // Counters stay usable whatever happened to whoever held them.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admits(&self, key: &str) -> bool {
        self.options.api_keys.is_empty() || self.options.api_keys.iter().any(|known| known == key)
    }

    fn latency(&self, digest: Digest) -> Duration {
        let share = digest.draw(Purpose::Latency, 0).unit();
        self.options.latency + self.options.latency_jitter.mul_f64(share)
    }
}

async fn chat(State(provider): State<Arc<Provider>>, request: Request) -> Response {
    provider.books().counts.requests += 1;
    let (head, body) = request.into_parts();
    let key = bearer(&head.headers);
    if !provider.admits(key) {
        provider.books().counts.unauthorized += 1;
        return fault(
            StatusCode::UNAUTHORIZED,
            "invalid_api_key",
            "Incorrect API key provided.",
        );
    }
    let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
        provider.books().counts.invalid += 1;
        return invalid("the request body could not be read");
    };
    let ask = match Ask::parse(&body) {
        Ok(ask) => ask,
        Err(reason) => {
            provider.books().counts.invalid += 1;
            return invalid(&reason);
        }
    };
    let digest = Digest::of(provider.options.seed, &body);
    let answer = ask.answer(digest, provider.options.malformed_rate);
    let usage = (ask.prompt_tokens(), tokens(answer.content.len()));
    let entered = provider
        .books()
        .enter(&provider.options, key, digest, usage);
    let (tries_before, room) = match entered {
        (Ok(tries_before), room) => (tries_before, room),
        (Err(refusal), room) => return with_room(refused(&refusal), room),
    };
    let mut admitted = Admitted {
        provider: &provider,
        key,
        over: false,
    };
    let response = match happen(&provider, digest, tries_before).await {
        Ok(()) => {
            provider.books().answered(digest, answer.malformed);
            completion(digest, ask.model(), &answer.content, usage)
        }
        Err(response) => response,
    };
    admitted.over = true;
    drop(admitted);
    with_room(response, room)
}

/// The time that an admitted try takes, and the fault it may end in. Faults are drawn by body and
/// try, so that trying again can help.
async fn happen(provider: &Provider, digest: Digest, tries_before: u32) -> Result<(), Response> {
    let options = &provider.options;
    let salt = u64::from(tries_before);
    let stopped = || {
        fault(
            StatusCode::SERVICE_UNAVAILABLE,
            "server_error",
            "The server is shutting down.",
        )
    };
    if digest
        .draw(Purpose::Hanging, salt)
        .happens(options.timeout_rate)
    {
        provider.books().counts.hung += 1;
        provider.stop.cancelled().await;
        return Err(stopped());
    }
    let latency = provider.latency(digest);
    if !latency.is_zero() {
        let wait = tokio::time::sleep(latency);
        provider
            .stop
            .run_until_cancelled(wait)
            .await
            .ok_or_else(stopped)?;
    }
    if digest
        .draw(Purpose::Failure, salt)
        .happens(options.error_rate)
    {
        provider.books().counts.failed += 1;
        let message = "The server had an error while processing your request.";
        return Err(fault(
            StatusCode::INTERNAL_SERVER_ERROR,
            "server_error",
            message,
        ));
    }
    Ok(())
}

/// Gives an admitted request's place back, also when the client goes away in the middle.
struct Admitted<'a> {
    provider: &'a Provider,
    key: &'a str,
    over: bool,
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        let mut books = self.provider.books();
        books.leave(self.key);
        books.counts.abandoned += u64::from(!self.over);
    }
}

fn bearer(headers: &HeaderMap) -> &str {
    let value = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    value.strip_prefix("Bearer ").unwrap_or(value).trim()
}

fn completion(digest: Digest, model: &str, content: &str, usage: (u32, u32)) -> Response {
    let (prompt, answer) = usage;
    let mut body = String::with_capacity(content.len() + 512);
    // Written by hand: this is the hot path of every load test. Strings go through serde_json.
    let (model, content) = (json_string(model), json_string(content));
    let id = digest.id();
    let total = prompt.saturating_add(answer);
    let written = write!(
        body,
        r#"{{"id":"{id}","object":"chat.completion","created":{CREATED},"model":{model},"choices":[{{"index":0,"message":{{"role":"assistant","content":{content},"refusal":null}},"logprobs":null,"finish_reason":"stop"}}],"usage":{{"prompt_tokens":{prompt},"completion_tokens":{answer},"total_tokens":{total}}},"system_fingerprint":"{FINGERPRINT}"}}"#
    );
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
    reply(StatusCode::OK, body)
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn reply(status: StatusCode, body: String) -> Response {
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

fn fault(status: StatusCode, code: &str, message: &str) -> Response {
    let kind = match status {
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
        StatusCode::INTERNAL_SERVER_ERROR | StatusCode::SERVICE_UNAVAILABLE => "server_error",
        _ => "invalid_request_error",
    };
    let error = json!({"message": message, "type": kind, "param": null, "code": code});
    reply(status, json!({ "error": error }).to_string())
}

fn invalid(message: &str) -> Response {
    fault(StatusCode::BAD_REQUEST, "invalid_request", message)
}

fn refused(refusal: &Refusal) -> Response {
    let Refusal {
        what,
        limit,
        retry_after,
    } = refusal;
    let seconds = retry_after.as_secs_f64();
    let message =
        format!("Rate limit reached on {what}: Limit {limit}. Please try again in {seconds:.3}s.");
    let mut response = fault(
        StatusCode::TOO_MANY_REQUESTS,
        "rate_limit_exceeded",
        &message,
    );
    let headers = response.headers_mut();
    // Whole seconds by the standard, and the finer header that OpenAI's clients prefer.
    let whole = retry_after.as_secs() + u64::from(retry_after.subsec_nanos() > 0);
    let millis = retry_after.as_nanos().div_ceil(1_000_000) as u64;
    headers.insert(RETRY_AFTER, HeaderValue::from(whole));
    headers.insert(
        HeaderName::from_static("retry-after-ms"),
        HeaderValue::from(millis),
    );
    response
}

fn with_room(mut response: Response, room: Room) -> Response {
    for (what, headroom) in room {
        let Some(headroom) = headroom else { continue };
        let reset = format!("{:.3}s", headroom.reset.as_secs_f64());
        for (aspect, value) in [
            ("limit", headroom.limit.to_string()),
            ("remaining", headroom.remaining.to_string()),
            ("reset", reset),
        ] {
            let name = HeaderName::try_from(format!("x-ratelimit-{aspect}-{what}"));
            if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
                response.headers_mut().insert(name, value);
            }
        }
    }
    response
}

async fn models(State(provider): State<Arc<Provider>>, headers: HeaderMap) -> Response {
    if !provider.admits(bearer(&headers)) {
        return fault(
            StatusCode::UNAUTHORIZED,
            "invalid_api_key",
            "Incorrect API key provided.",
        );
    }
    let model = json!({"id": MODEL, "object": "model", "created": CREATED, "owned_by": "agon"});
    reply(
        StatusCode::OK,
        json!({"object": "list", "data": [model]}).to_string(),
    )
}

async fn show_stats(State(provider): State<Arc<Provider>>) -> Response {
    match serde_json::to_string(&provider.stats()) {
        Ok(body) => reply(StatusCode::OK, body),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn unknown_path(request: Request) -> Response {
    let message = format!(
        "Unknown request URL: {} {}",
        request.method(),
        request.uri().path()
    );
    fault(StatusCode::NOT_FOUND, "unknown_url", &message)
}
