//! The routes: what is answered under `/api/v1`, who is let in, and the front end under everything
//! else. Each handler looks up and answers; what is shown comes from the index and from `report`.

mod results;
mod signing_in;

use std::sync::Arc;

use agon_engine::Seat;
use agon_report::viewing::Hits;
use axum::extract::{DefaultBodyLimit, Extension, Path, Query, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::header::{CONTENT_TYPE, SET_COOKIE};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::access::{Access, AccessHolder};
use crate::answers::{SessionHead, Steps};
use crate::entrance::{self, Entrance};
use crate::index::{Run, RunHead, SessionPage};
use crate::library::beside;
use crate::query::{SessionQuery, StepQuery, TextQuery};
use crate::refusal::{self, Refusal};
use crate::seats::Seats;
use crate::sweeps::{Action, Sweep};
use crate::{assets, headers, seats, sweeps};

/// Most hits of a search that are named; how many there are is told.
const MOST_HITS: usize = 1_000;

/// A token in JSON, with much room.
const LARGEST_BODY_BYTES: usize = 64 * 1024;

/// Streams that are open at once, of all pages.
const MOST_STREAMS: usize = 256;

/// What handlers share besides what whoever asks may see, which is an [`Access`] beside the request.
#[derive(Clone)]
struct Shared {
    entrance: Arc<Entrance>,
    /// Streams that may be open at once.
    streams: Arc<Semaphore>,
}

type Answer<T> = Result<Json<T>, Refusal>;

/// What whoever asks may see.
type Allowed = Extension<Arc<Access>>;

/// All routes. Without `seats` nobody is invited to play.
pub fn router(entrance: Arc<Entrance>, seats: Option<Arc<Seats>>) -> Router {
    let is_for_others = entrance.doorkeeper().serves_others();
    let shared = Shared {
        entrance,
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
        .route("/holder", get(holder))
        .route_layer(from_fn_with_state(shared.clone(), admit));
    let api = inside
        .route("/entrance", get(entrance_told))
        .route("/enter", post(enter))
        .route("/leave", post(leave))
        .nest("/sign-in", signing_in::routes())
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
        .layer(from_fn_with_state((is_for_others, host), called_rightly))
        .layer(from_fn(headers::add))
}

/// Pages of one machine are called by a name of this machine alone; those on which people play, and what
/// they are made of, by the address at which people were invited, too.
async fn called_rightly(
    State((is_for_others, host)): State<(bool, Option<Arc<str>>)>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let is_for_people = is_for_people(request.uri().path());
    let is_invited = host.is_some_and(|host| is_for_people && entrance::is_called(headers, &host));
    let checked = match is_for_others || is_invited {
        true => Ok(()),
        false => entrance::check_host(headers),
    };
    match checked {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

fn is_for_people(path: &str) -> bool {
    let below = ["/seat/", "/api/v1/seats/", "/assets/"];
    ["/seat", "/favicon.svg"].contains(&path) || below.iter().any(|one| path.starts_with(one))
}

async fn admit(State(shared): State<Shared>, mut request: Request, next: Next) -> Response {
    match shared.entrance.admit(request.headers()) {
        Ok(access) => {
            request.extensions_mut().insert(access);
            next.run(request).await
        }
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
    let cookie = shared.entrance.enter(&entering.token).await?;
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]).into_response())
}

async fn leave(
    State(shared): State<Shared>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Refusal> {
    entrance::check_origin(&headers)?;
    let cookie = shared.entrance.leave(&headers);
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]))
}

#[derive(Serialize)]
struct EntranceTold {
    hint: &'static str,
    /// The provider at which people sign in; null where they do not.
    provider: Option<String>,
}

async fn entrance_told(State(shared): State<Shared>) -> Json<EntranceTold> {
    let hint = shared.entrance.doorkeeper().hint();
    let provider = shared.entrance.provider().ok();
    let provider = provider.and_then(|provider| provider.name());
    Json(EntranceTold { hint, provider })
}

#[derive(Serialize)]
struct HolderTold {
    /// Null where there is one token for all.
    holder: Option<AccessHolder>,
}

async fn holder(Extension(access): Allowed) -> Json<HolderTold> {
    let holder = access.holder.clone();
    Json(HolderTold { holder })
}

#[derive(Serialize)]
struct Runs {
    runs: Vec<Run>,
}

async fn runs(Extension(access): Allowed) -> Json<Runs> {
    let runs = access.library.index.read().runs();
    Json(Runs { runs })
}

async fn run(Extension(access): Allowed, Path(run): Path<String>) -> Answer<RunHead> {
    let head = access.library.index.read().run(&run);
    head.map(Json)
        .ok_or_else(|| Refusal::Missing(format!("run {run}")))
}

async fn sessions(
    Extension(access): Allowed,
    Path(run): Path<String>,
    Query(query): Query<SessionQuery>,
) -> Answer<SessionPage> {
    let page = access.library.index.read().sessions(&run, &query);
    page.map(Json)
        .ok_or_else(|| Refusal::Missing(format!("run {run}")))
}

async fn session(Extension(access): Allowed, Path(session): Path<String>) -> Answer<SessionHead> {
    let (run, viewing) = access.library.viewing(&session).await?;
    let paired = access.library.index.read().paired(&session);
    let head = beside(move || viewing.head()).await?;
    Ok(Json(SessionHead { run, head, paired }))
}

async fn steps(
    Extension(access): Allowed,
    Path(session): Path<String>,
    Query(query): Query<StepQuery>,
) -> Answer<Steps> {
    let (_, viewing) = access.library.viewing(&session).await?;
    seat_of(&viewing, query.seat)?;
    let total = viewing.steps();
    let steps = beside(move || viewing.from(query.from, query.count(), query.seat)).await?;
    Ok(Json(Steps { steps, total }))
}

async fn search(
    Extension(access): Allowed,
    Path(session): Path<String>,
    Query(query): Query<TextQuery>,
) -> Answer<Hits> {
    let (_, viewing) = access.library.viewing(&session).await?;
    seat_of(&viewing, query.seat)?;
    let hits = beside(move || viewing.search(&query.q, query.seat, MOST_HITS)).await?;
    Ok(Json(hits))
}

async fn decision(
    Extension(access): Allowed,
    Path((session, seat, index)): Path<(String, Seat, u32)>,
) -> Answer<Value> {
    let calls = access.library.calls(&session).await?;
    let mut calls = calls.iter();
    let found = calls.find(|call| call["seat"] == seat && call["index"] == index);
    found
        .cloned()
        .map(Json)
        .ok_or_else(|| Refusal::Missing(format!("decision {seat}/{index} of session {session}")))
}

async fn record(
    Extension(access): Allowed,
    Path(session): Path<String>,
) -> Result<Response, Refusal> {
    let line = access.library.line(&session).await?;
    Ok(([(CONTENT_TYPE, "application/json")], line).into_response())
}

#[derive(Serialize)]
struct Played {
    /// Null where nothing is played.
    sweeps: Option<Vec<Sweep>>,
}

async fn played(Extension(access): Allowed) -> Json<Played> {
    let states = access.sweeps.as_ref().map(|sweeps| sweeps.states());
    let sweeps = states.map(|states| states.borrow().to_vec());
    Json(Played { sweeps })
}

async fn events(
    State(shared): State<Shared>,
    Extension(access): Allowed,
) -> Result<Response, Refusal> {
    let sweeps = access.sweeps.clone().ok_or_else(nothing_is_played)?;
    let place = shared.streams.try_acquire_owned();
    let place = place.map_err(|_| Refusal::Busy)?;
    let told = sweeps::tell(sweeps.states(), access.ended(), (access, place));
    Ok(told.into_response())
}

async fn act(
    Extension(access): Allowed,
    headers: HeaderMap,
    Path((experiment, action)): Path<(String, Action)>,
) -> Result<StatusCode, Refusal> {
    entrance::check_origin(&headers)?;
    let sweeps = access.sweeps.as_ref().ok_or_else(nothing_is_played)?;
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
pub(crate) mod tests;
