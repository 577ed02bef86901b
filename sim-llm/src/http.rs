//! The HTTP side of the simulated provider: routes, and one function that walks a request from
//! arrival to reply, whatever its protocol. It words nothing itself (`protocol.rs`) and counts
//! nothing itself (`books.rs`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_proto::simulated::REPLY_HEADER;
use agon_service_kit::server::Listener;
use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::answer::Ask;
use super::books::{Books, Closed, Visit};
use super::charge::Charge;
use super::draw::{Digest, Purpose};
use super::options::{Parts, SimHeaders, SimOptions};
use super::protocol::{Fault, MODEL, NO_STREAM, Protocol, openai, reply};
use super::stats::SimStats;

/// No conversation of ours is longer.
const BODY_LIMIT: usize = 64 << 20;

/// Serves until the provider's token is cancelled.
pub(super) async fn serve(listener: Listener, provider: Arc<Provider>) -> std::io::Result<()> {
    let stop = provider.stop.clone();
    let router = Router::new()
        .route("/v1/chat/completions", post(openai_chat))
        .route("/chat/completions", post(openai_chat))
        .route("/v1/messages", post(anthropic_messages))
        .route("/v1beta/models/{call}", post(gemini_call))
        .route("/v1/models/{call}", post(gemini_call))
        .route(
            "/openai/deployments/{deployment}/chat/completions",
            post(azure_chat),
        )
        .route("/v1/models", get(models))
        .route("/models", get(models))
        .route("/stats", get(show_stats))
        .route("/stats/mark", post(mark_stats))
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
    parts: Parts,
    books: Mutex<Books>,
    stop: CancellationToken,
}

impl Provider {
    pub(super) fn new(options: SimOptions, stop: CancellationToken) -> Self {
        let parts = Parts::new(options);
        Self {
            books: Mutex::new(Books::new(parts.base.clone(), Instant::now())),
            parts,
            stop,
        }
    }

    pub(super) fn stats(&self) -> SimStats {
        self.books().stats(Instant::now())
    }

    pub(super) fn mark(&self) {
        self.books().mark(Instant::now());
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        // Counters stay usable whatever happened to whoever held them.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admits(&self, key: &str) -> bool {
        let keys = &self.parts.base.api_keys;
        keys.is_empty() || keys.iter().any(|known| known == key)
    }
}

async fn openai_chat(State(provider): State<Arc<Provider>>, request: Request) -> Response {
    serve_ask(&provider, Protocol::OpenAi, None, request).await
}

async fn anthropic_messages(State(provider): State<Arc<Provider>>, request: Request) -> Response {
    serve_ask(&provider, Protocol::Anthropic, None, request).await
}

async fn gemini_call(
    State(provider): State<Arc<Provider>>,
    Path(call): Path<String>,
    request: Request,
) -> Response {
    match call.rsplit_once(':') {
        Some((model, "generateContent")) => {
            serve_ask(&provider, Protocol::Gemini, Some(model), request).await
        }
        Some((_, "streamGenerateContent")) => {
            provider.books().counts.invalid += 1;
            Protocol::Gemini.fault(&Fault::Invalid(NO_STREAM.to_owned()))
        }
        _ => Protocol::Gemini.fault(&Fault::UnknownPath(call)),
    }
}

/// Azure knows no path without its `api-version`.
async fn azure_chat(
    State(provider): State<Arc<Provider>>,
    Path(deployment): Path<String>,
    request: Request,
) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let versioned = query.split('&').any(|pair| {
        pair.strip_prefix("api-version=")
            .is_some_and(|version| !version.is_empty())
    });
    if !versioned {
        return Protocol::Azure.fault(&Fault::UnknownPath(deployment));
    }
    serve_ask(&provider, Protocol::Azure, Some(&deployment), request).await
}

/// A request from arrival to reply. `model` is what the path says.
async fn serve_ask(
    provider: &Provider,
    protocol: Protocol,
    model: Option<&str>,
    request: Request,
) -> Response {
    provider.books().counts.requests += 1;
    let (head, body) = request.into_parts();
    let key = protocol.key(&head.headers);
    if !provider.admits(key) {
        provider.books().counts.unauthorized += 1;
        return protocol.fault(&Fault::Unauthorized);
    }
    let invalid = |reason: String| {
        provider.books().counts.invalid += 1;
        protocol.fault(&Fault::Invalid(reason))
    };
    let Ok(body) = to_bytes(body, BODY_LIMIT).await else {
        return invalid("the request body could not be read".to_owned());
    };
    let plausible = head.headers.get(REPLY_HEADER);
    let plausible = plausible.and_then(|reply| serde_json::from_slice(reply.as_bytes()).ok());
    let ask = match protocol.read(&head.headers, model, &body) {
        Ok(ask) => Ask { plausible, ..ask },
        Err(reason) => return invalid(reason),
    };
    let options = provider.parts.of(&ask.model);
    if let Some(parameter) = refused(&options, &body) {
        provider.books().counts.invalid += 1;
        return protocol.fault(&Fault::Unsupported(parameter));
    }
    let digest = Digest::with_path(provider.parts.base.seed, model.unwrap_or_default(), &body);
    let answer = ask.answer(digest, &options);
    let visit = Visit {
        key,
        model: &ask.model,
        digest,
        usage: answer.usage,
        charge: Charge::new(options.charge, answer.usage, ask.most_output, || {
            ask.characters()
        }),
        options,
    };
    let (tries_before, room) = match let_in(provider, &visit) {
        Ok(entered) => entered,
        Err((fault, room)) => {
            let mut response = protocol.fault(&fault);
            tell_room(&mut response, protocol, &visit.options, &room);
            return response;
        }
    };
    let mut admitted = Admitted {
        provider,
        visit: &visit,
        over: false,
    };
    let mut response = match happen(provider, &visit, tries_before).await {
        Ok(()) => {
            let now = Instant::now();
            provider.books().answered(&visit, answer.malformed, now);
            protocol.answer(digest, &ask, &answer)
        }
        Err(fault) => protocol.fault(&fault),
    };
    admitted.over = true;
    drop(admitted);
    tell_room(&mut response, protocol, &visit.options, &room);
    response
}

/// The first field of a request that its model does not take.
fn refused(options: &SimOptions, body: &[u8]) -> Option<String> {
    if options.refused_parameters.is_empty() {
        return None;
    }
    let request: Value = serde_json::from_slice(body).ok()?;
    let mut refused = options.refused_parameters.iter();
    refused
        .find(|name| !request[name.as_str()].is_null())
        .cloned()
}

type Room = Vec<super::limits::Headroom>;

fn tell_room(response: &mut Response, protocol: Protocol, options: &SimOptions, room: &Room) {
    let lying = options.headers == SimHeaders::Lying;
    if options.headers != SimHeaders::None {
        protocol.tell_room(response, room, lying);
    }
}

/// Storms come before limits, as at a provider that is itself overrun.
fn let_in(provider: &Provider, visit: &Visit<'_>) -> Result<(u32, Room), (Fault, Room)> {
    let mut books = provider.books();
    // Under the lock, so that the books see time pass in one direction.
    let now = Instant::now();
    let storms = books.arrived(visit, now);
    let mut weather = visit.digest.draw(Purpose::Storm, u64::from(storms));
    if weather.happens(visit.options.storm_rate) {
        books.storm(visit);
        return Err((Fault::Storm(visit.options.storm_retry_after), Vec::new()));
    }
    let (entered, room) = books.enter(visit, now);
    match entered {
        Ok(tries_before) => Ok((tries_before, room)),
        Err(Closed::Limit(refusal)) => Err((Fault::Limited(refusal), room)),
        Err(Closed::Dead) => Err((Fault::Dead, room)),
    }
}

/// The time that an admitted try takes, and the fault it may end in. Faults are drawn by body and
/// try, so that trying again can help.
async fn happen(provider: &Provider, visit: &Visit<'_>, tries_before: u32) -> Result<(), Fault> {
    let (options, digest) = (&visit.options, visit.digest);
    let fate = |purpose| digest.draw(purpose, u64::from(tries_before));
    if fate(Purpose::Hanging).happens(options.timeout_rate) {
        provider.books().counts.hung += 1;
        provider.stop.cancelled().await;
        return Err(Fault::Stopping);
    }
    let latency = latency(provider, visit, tries_before);
    if !latency.is_zero() {
        let wait = tokio::time::sleep(latency);
        let waited = provider.stop.run_until_cancelled(wait).await;
        waited.ok_or(Fault::Stopping)?;
    }
    let mut failure = fate(Purpose::Failure);
    if failure.happens(options.error_rate) {
        provider.books().counts.failed += 1;
        let drawn = options
            .error_statuses
            .get(failure.below(options.error_statuses.len()));
        let status = drawn.and_then(|status| StatusCode::from_u16(*status).ok());
        return Err(Fault::Failed(
            status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        ));
    }
    Ok(())
}

/// The usual time is the request's own, slowness befalls a try.
fn latency(provider: &Provider, visit: &Visit<'_>, tries_before: u32) -> Duration {
    let options = &visit.options;
    let jitter = visit.digest.draw(Purpose::Latency, 0).unit();
    let usual = options.latency + options.latency_jitter.mul_f64(jitter);
    let mut slow = visit.digest.draw(Purpose::Slow, u64::from(tries_before));
    if !slow.happens(options.slow_rate) {
        return usual;
    }
    provider.books().counts.slow += 1;
    usual + options.slow_latency
}

/// Gives an admitted request's place back, also when the client goes away in the middle.
struct Admitted<'a> {
    provider: &'a Provider,
    visit: &'a Visit<'a>,
    over: bool,
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        let mut books = self.provider.books();
        if !self.over {
            books.abandoned(self.visit, Instant::now());
        }
        books.leave(self.visit);
    }
}

async fn models(State(provider): State<Arc<Provider>>, headers: HeaderMap) -> Response {
    if !provider.admits(Protocol::OpenAi.key(&headers)) {
        return Protocol::OpenAi.fault(&Fault::Unauthorized);
    }
    let created = openai::CREATED;
    let model = json!({"id": MODEL, "object": "model", "created": created, "owned_by": "agon"});
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

async fn mark_stats(State(provider): State<Arc<Provider>>) -> Response {
    provider.mark();
    show_stats(State(provider)).await
}

async fn unknown_path(request: Request) -> Response {
    let path = format!("{} {}", request.method(), request.uri().path());
    Protocol::OpenAi.fault(&Fault::UnknownPath(path))
}
