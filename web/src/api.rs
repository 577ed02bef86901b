//! The routes: what is answered under `/api/v1`, who is let in, and the front end under everything
//! else. Each handler looks up and answers; what is shown comes from the index and from `report`.

mod results;

use std::sync::Arc;

use agon_engine::Seat;
use agon_report::viewing::Hits;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::header::{CONTENT_TYPE, SET_COOKIE};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::answers::{SessionHead, Steps};
use crate::entrance::{self, Entrance};
use crate::index::{Run, RunHead, SessionPage};
use crate::library::{Library, beside};
use crate::query::{SessionQuery, StepQuery, TextQuery};
use crate::refusal::{self, Refusal};
use crate::results::Results;
use crate::seats::Seats;
use crate::sweeps::{Action, Sweep, Sweeps};
use crate::{assets, headers, seats, sweeps};

/// Most hits of a search that are named; how many there are is told.
const MOST_HITS: usize = 1_000;

/// A token in JSON, with much room.
const LARGEST_BODY_BYTES: usize = 64 * 1024;

/// Streams that are open at once, of all pages.
const MOST_STREAMS: usize = 256;

/// What handlers share.
#[derive(Clone)]
struct Shared {
    library: Arc<Library>,
    entrance: Arc<Entrance>,
    results: Arc<Results>,
    sweeps: Option<Arc<dyn Sweeps>>,
    /// Streams that may be open at once.
    streams: Arc<Semaphore>,
}

type Answer<T> = Result<Json<T>, Refusal>;

/// All routes, for a server on this machine. Without `sweeps` nothing is being played, and without
/// `seats` nobody is invited to play.
pub fn router(
    library: Arc<Library>,
    entrance: Arc<Entrance>,
    sweeps: Option<Arc<dyn Sweeps>>,
    seats: Option<Arc<Seats>>,
) -> Router {
    let shared = Shared {
        library,
        entrance,
        results: Arc::default(),
        sweeps,
        streams: Arc::new(Semaphore::new(MOST_STREAMS)),
    };
    let inside = Router::new()
        .route("/runs", get(runs))
        .route("/runs/{run}", get(run))
        .route("/runs/{run}/sessions", get(sessions))
        .route("/sessions/{session}", get(session))
        .route("/sessions/{session}/steps", get(steps))
        .route("/sessions/{session}/search", get(search))
        .route(
            "/sessions/{session}/decisions/{seat}/{index}",
            get(decision),
        )
        .route("/sessions/{session}/record", get(record))
        .nest("/results", results::routes())
        .route("/sweeps", get(played))
        .route("/sweeps/events", get(events))
        .route("/sweeps/{experiment}/{action}", post(act))
        .route_layer(from_fn_with_state(shared.clone(), admit));
    let api = inside
        .route("/enter", post(enter))
        .fallback(nothing)
        .layer(from_fn(refusal::in_one_form))
        .with_state(shared);
    let host = seats.as_ref().and_then(|seats| seats.host());
    let host: Option<Arc<str>> = host.map(Arc::from);
    let people = seats::routes::router(seats).layer(from_fn(refusal::in_one_form));
    Router::new()
        .nest("/api/v1/seats", people)
        .nest("/api/v1", api)
        .fallback(assets::serve)
        .layer(DefaultBodyLimit::max(LARGEST_BODY_BYTES))
        .layer(from_fn_with_state(host, called_rightly))
        .layer(from_fn(headers::add))
}

/// Pages are called by a name of this machine alone; those on which people play, and what they are
/// made of, by the address at which people were invited, too.
async fn called_rightly(
    State(host): State<Option<Arc<str>>>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let is_for_people = is_for_people(request.uri().path());
    let is_invited = host.filter(|host| is_for_people && entrance::is_called(headers, host));
    match is_invited.map_or_else(|| entrance::check_host(headers), |_| Ok(())) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

fn is_for_people(path: &str) -> bool {
    let below = ["/seat/", "/api/v1/seats/", "/assets/"];
    ["/seat", "/favicon.svg"].contains(&path) || below.iter().any(|one| path.starts_with(one))
}

async fn admit(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    match shared.entrance.admit(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

async fn nothing() -> Refusal {
    Refusal::Missing("such page".to_owned())
}

#[derive(Deserialize)]
struct Entering {
    token: String,
}

async fn enter(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Json(entering): Json<Entering>,
) -> Result<Response, Refusal> {
    entrance::check_origin(&headers)?;
    let cookie = shared.entrance.enter(&entering.token)?;
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]).into_response())
}

#[derive(Serialize)]
struct Runs {
    runs: Vec<Run>,
}

async fn runs(State(shared): State<Shared>) -> Json<Runs> {
    let runs = shared.library.index.read().runs();
    Json(Runs { runs })
}

async fn run(State(shared): State<Shared>, Path(run): Path<String>) -> Answer<RunHead> {
    let head = shared.library.index.read().run(&run);
    head.map(Json)
        .ok_or_else(|| Refusal::Missing(format!("run {run}")))
}

async fn sessions(
    State(shared): State<Shared>,
    Path(run): Path<String>,
    Query(query): Query<SessionQuery>,
) -> Answer<SessionPage> {
    let page = shared.library.index.read().sessions(&run, &query);
    page.map(Json)
        .ok_or_else(|| Refusal::Missing(format!("run {run}")))
}

async fn session(State(shared): State<Shared>, Path(session): Path<String>) -> Answer<SessionHead> {
    let (run, viewing) = shared.library.viewing(&session).await?;
    let paired = shared.library.index.read().paired(&session);
    let head = beside(move || viewing.head()).await?;
    Ok(Json(SessionHead { run, head, paired }))
}

async fn steps(
    State(shared): State<Shared>,
    Path(session): Path<String>,
    Query(query): Query<StepQuery>,
) -> Answer<Steps> {
    let (_, viewing) = shared.library.viewing(&session).await?;
    seat_of(&viewing, query.seat)?;
    let total = viewing.steps();
    let steps = beside(move || viewing.from(query.from, query.count(), query.seat)).await?;
    Ok(Json(Steps { steps, total }))
}

async fn search(
    State(shared): State<Shared>,
    Path(session): Path<String>,
    Query(query): Query<TextQuery>,
) -> Answer<Hits> {
    let (_, viewing) = shared.library.viewing(&session).await?;
    seat_of(&viewing, query.seat)?;
    let hits = beside(move || viewing.search(&query.q, query.seat, MOST_HITS)).await?;
    Ok(Json(hits))
}

async fn decision(
    State(shared): State<Shared>,
    Path((session, seat, index)): Path<(String, Seat, u32)>,
) -> Answer<Value> {
    let calls = shared.library.calls(&session).await?;
    let mut calls = calls.iter();
    let found = calls.find(|call| call["seat"] == seat && call["index"] == index);
    found
        .cloned()
        .map(Json)
        .ok_or_else(|| Refusal::Missing(format!("decision {seat}/{index} of session {session}")))
}

async fn record(
    State(shared): State<Shared>,
    Path(session): Path<String>,
) -> Result<Response, Refusal> {
    let line = shared.library.line(&session).await?;
    Ok(([(CONTENT_TYPE, "application/json")], line).into_response())
}

#[derive(Serialize)]
struct Played {
    /// Null where nothing is played.
    sweeps: Option<Vec<Sweep>>,
}

async fn played(State(shared): State<Shared>) -> Json<Played> {
    let states = shared.sweeps.map(|sweeps| sweeps.states());
    let sweeps = states.map(|states| states.borrow().to_vec());
    Json(Played { sweeps })
}

async fn events(State(shared): State<Shared>) -> Result<Response, Refusal> {
    let sweeps = shared.sweeps.ok_or_else(nothing_is_played)?;
    let place = shared.streams.try_acquire_owned();
    let place = place.map_err(|_| Refusal::Busy)?;
    let told = sweeps::tell(sweeps.states(), place);
    Ok(told.into_response())
}

async fn act(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Path((experiment, action)): Path<(String, Action)>,
) -> Result<StatusCode, Refusal> {
    entrance::check_origin(&headers)?;
    let sweeps = shared.sweeps.ok_or_else(nothing_is_played)?;
    let acted = sweeps.act(experiment, action).await;
    acted.map_err(Refusal::Refused)?;
    Ok(StatusCode::NO_CONTENT)
}

fn nothing_is_played() -> Refusal {
    Refusal::Missing("experiment that is being played".to_owned())
}

/// Refuses a seat that a session does not have.
fn seat_of(viewing: &agon_report::viewing::Viewing, seat: Option<Seat>) -> Result<(), Refusal> {
    let seats = viewing.record().spec.seats.len();
    match seat.filter(|seat| *seat >= seats) {
        None => Ok(()),
        Some(seat) => Err(Refusal::Missing(format!("seat {seat} in this session"))),
    }
}

#[cfg(test)]
mod tests;
