//! Chat completions: reads a request, lets the gateway decide, writes the answer.
//! A client that goes away while it waits for quota gives up its place; what is
//! paid for is finished and recorded. A stream begins once the answer is there,
//! or with comments that keep the connection alive. Called by `http.rs`.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::tasks::with_causes;
use agon_service_kit::telemetry;
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use futures_util::stream::{self, Stream, StreamExt as _};
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

use super::Door;
use super::agon_headers::{AgonHeaders, FALLBACK};
use super::api_error::ApiError;
use super::auth::Client;
use super::request::{self, ChatRequest};
use super::response::Completion;
use crate::decide_error::DecideError;
use crate::decision::Request;

/// What takes longer gets its headers before its answer, so that no client or
/// proxy thinks nobody is there; what fails sooner gets its status.
const HEADERS_WITHIN: Duration = Duration::from_secs(1);

/// Proxies cut connections that are silent for half a minute or a minute.
const COMMENT_EVERY: Duration = Duration::from_secs(10);

type PendingDecision = Pin<Box<dyn Future<Output = Result<Completion, ApiError>> + Send>>;

/// `POST /v1/chat/completions`.
pub(super) async fn complete(
    State(door): State<Arc<Door>>,
    client: Client,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, ApiError> {
    let body = body.map_err(|rejection| ApiError::of_body(&rejection))?;
    let name = door.decider.unique_name();
    let mut agon = AgonHeaders::read(&headers, &client, &name)?;
    let fallback_models = std::mem::take(&mut agon.fallback_models);
    let asked = request::read(&headers, &body, fallback_models)?;
    drop(body);
    check_fallbacks(&door, &asked.request.fallback_models)?;
    let ChatRequest {
        request,
        stream,
        include_usage,
    } = asked;
    let id = format!("chatcmpl-{name}");
    let deciding: PendingDecision = Box::pin(decide(door, agon, request, headers, id));
    if !stream {
        let completion = deciding.await?;
        return Ok((completion.headers(), Json(completion.whole())).into_response());
    }
    // As a task: a client that does not read its stream must not hold up a call.
    let mut deciding = as_task(deciding);
    match tokio::time::timeout(HEADERS_WITHIN, &mut deciding).await {
        Ok(completion) => {
            let completion = completion?;
            let events = events(&completion, include_usage)
                .into_iter()
                .map(Ok::<_, Infallible>);
            let events = Sse::new(stream::iter(events));
            Ok((completion.headers(), events).into_response())
        }
        Err(_) => {
            let alive = KeepAlive::new().interval(COMMENT_EVERY).text("waiting");
            let events = events_later(deciding, include_usage);
            Ok(Sse::new(events).keep_alive(alive).into_response())
        }
    }
}

/// A name that nobody knows would hide, once its turn comes, why the model before it failed.
fn check_fallbacks(door: &Door, models: &[String]) -> Result<(), ApiError> {
    for model in models {
        door.decider.routes.origin(model).map_err(|error| {
            let message = format!("the header {FALLBACK}: {}", with_causes(&error));
            ApiError::model_not_found(FALLBACK, message)
        })?;
    }
    Ok(())
}

async fn decide(
    door: Arc<Door>,
    agon: AgonHeaders,
    request: Request,
    headers: HeaderMap,
    id: String,
) -> Result<Completion, ApiError> {
    let AgonHeaders {
        address,
        once,
        caller,
        ..
    } = agon;
    let span = tracing::debug_span!(
        "decision",
        experiment_id = caller.experiment_id,
        session_id = address.session_id,
        seat = address.seat,
        decision = address.index,
        team = caller.team,
        purpose = caller.purpose,
    );
    let parent = headers.get("traceparent");
    if let Some(parent) = parent.and_then(|parent| parent.to_str().ok()) {
        telemetry::set_parent(&span, parent);
    }
    let decided = door.decider.decide(address, caller, request, span, once);
    match decided.await {
        Ok(answer) => Ok(Completion::new(id, answer)),
        Err(error) => Err(ApiError::from(error.as_ref())),
    }
}

/// The same as a task, which ends when what is returned is dropped.
fn as_task(deciding: PendingDecision) -> PendingDecision {
    let task = AbortOnDropHandle::new(tokio::spawn(deciding));
    Box::pin(async move {
        let ended = task.await;
        // It neither panics nor is it aborted but at the end of the process.
        ended.unwrap_or_else(|_| Err(ApiError::from(&DecideError::Stopping)))
    })
}

/// A comment, so that the headers are sent, and the events of the answer once it is there. Dropping
/// it leaves the decision.
fn events_later(
    deciding: PendingDecision,
    include_usage: bool,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let answer = deciding.map(move |outcome| match outcome {
        Ok(completion) => events(&completion, include_usage),
        // The status is sent; clients look for an error in a stream, too.
        Err(fault) => vec![data(&fault.body())],
    });
    let comment = Event::default().comment("waiting");
    let answer = stream::once(answer).flat_map(stream::iter);
    stream::iter([comment]).chain(answer).map(Ok)
}

fn events(completion: &Completion, include_usage: bool) -> Vec<Event> {
    let chunks = completion.chunks(include_usage);
    let mut events: Vec<Event> = chunks.iter().map(data).collect();
    events.push(Event::default().data("[DONE]"));
    events
}

fn data(value: &Value) -> Event {
    Event::default().data(value.to_string())
}
