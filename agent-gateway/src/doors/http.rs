//! The HTTP face of the gateway: OpenAI's chat completions for anything that
//! speaks them, and doors for external players. Owns listening, routes and who
//! is let in; decisions are made where those of workers are, under the same
//! keys, fairness and accounting. Started by `gateway.rs`.

mod agon_headers;
mod api_error;
mod asks;
mod auth;
mod chat;
mod models;
mod request;
mod response;

use std::sync::Arc;

use agon_identity::gate::Gate;
use agon_service_kit::http;
use agon_service_kit::server::Listener;
use agon_service_kit::status::ErrorClass;
use agon_service_kit::tasks::{TaskKind, Tasks};
use axum::Router;
use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_LENGTH;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::json;
use tokio::sync::watch;

use crate::deciding::Decider;
use crate::metrics;
use api_error::ApiError;

/// The longest conversations of today's models, several times over. Every body
/// in flight is in memory.
const LARGEST_BODY_BYTES: usize = 16 * 1024 * 1024;

/// What all requests share.
struct Door {
    decider: Arc<Decider>,
    gate: Gate,
    /// Whether the shared store answers now.
    store_answers: watch::Receiver<bool>,
}

/// Serves until shutdown; requests that wait for quota are sent away then.
pub(crate) fn serve(
    tasks: &Tasks,
    decider: Arc<Decider>,
    gate: Gate,
    store_answers: watch::Receiver<bool>,
    listener: Listener,
) {
    let door = Arc::new(Door {
        decider,
        gate,
        store_answers,
    });
    let (name, shutdown) = ("http door", tasks.shutdown_token());
    let kind = TaskKind::WORK;
    let served = http::serve(tasks.clone(), name, kind, listener, router(door), shutdown);
    tasks.spawn(TaskKind::SERVICE, name, served);
}

fn router(door: Arc<Door>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(chat::complete))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*id}", get(models::one))
        .route("/v1/doors/{name}/asks", get(asks::list))
        .route("/v1/doors/{name}/answers", post(asks::answer))
        .route("/health", get(health))
        .route("/live", get(live))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(LARGEST_BODY_BYTES))
        .layer(from_fn(refuse_large))
        .layer(from_fn(count))
        .with_state(door)
}

async fn count(request: Request, next: Next) -> Response {
    // The pattern, not the path: what strangers ask for must not become labels.
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or("unknown", MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    metrics::count_http(&route, response.status().as_u16());
    response
}

/// Before anything is read; what hides its length is cut off while it is read.
async fn refuse_large(request: Request, next: Next) -> Response {
    let length = request.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > LARGEST_BODY_BYTES as u64) {
        return ApiError::too_large().into_response();
    }
    next.run(request).await
}

/// Whether calls are taken: not when the gateway stops or its store is away.
async fn health(axum::extract::State(door): axum::extract::State<Arc<Door>>) -> Response {
    if door.decider.stopping.is_cancelled() {
        return ApiError::stopping().into_response();
    }
    if !*door.store_answers.borrow() {
        let message = "the gateway's store does not answer, come again until it does".to_owned();
        return ApiError::of_class(ErrorClass::Unavailable, message).into_response();
    }
    axum::Json(json!({ "status": "ok" })).into_response()
}

/// Whether the process lives.
async fn live() -> Response {
    axum::Json(json!({ "status": "ok" })).into_response()
}

/// The path is not repeated, since people write tokens there.
async fn unknown_path() -> ApiError {
    let message = "there is nothing at this path; this gateway answers POST /v1/chat/completions, \
                   GET /v1/models, GET /v1/doors/NAME/asks and POST /v1/doors/NAME/answers";
    ApiError::new(StatusCode::NOT_FOUND, "unknown_url", message)
}

async fn wrong_method() -> ApiError {
    let message =
        "this path does not support this method; the header Allow lists those that it does";
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        message,
    )
}
