//! The routes: what is answered under `/api/v1`, who is let in, and the front end under everything
//! else. Each handler looks up and answers; what is shown comes from the index and from `report`.

mod judging;
mod results;
mod signing_in;

use std::sync::Arc;

use agon_report::viewing::Hits;
use axum::extract::{DefaultBodyLimit, Extension, Path, Query, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use http::header::{CONTENT_TYPE, HOST, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use utoipa::{OpenApi as _, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{Access, AccessHolder, SignedIn};
use crate::answers::{Decision, SessionHead, Steps, seat_of};
use crate::document::{self, Base, Cookie, Document};
use crate::entrance::{self, Entrance};
use crate::index::{Run, RunHead, SessionPage};
use crate::library::beside;
use crate::query::{
    ActionPath, DecisionPath, RunPath, SessionPath, SessionQuery, StepQuery, TextQuery,
};
use crate::refusal::{self, Refusal};
use crate::seats::Seats;
use crate::sweeps::{Sweep, SweepsEvent};
use crate::{assets, headers, seats, sweeps};

/// Most hits of a search that are named; how many there are is told.
const MOST_HITS: usize = 1_000;

/// What is sent in JSON, with much room.
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

/// Cancelled once whoever asks may see nothing any more; beside each request.
#[derive(Clone)]
struct Ended(CancellationToken);

/// All routes. Without `seats` nobody is invited to play.
pub fn router(entrance: Arc<Entrance>, seats: Option<Arc<Seats>>) -> Router {
    let shared = Shared {
        entrance: Arc::clone(&entrance),
        streams: Arc::new(Semaphore::new(MOST_STREAMS)),
    };
    let inside = OpenApiRouter::new()
        .routes(routes!(runs))
        .routes(routes!(run))
        .routes(routes!(sessions))
        .routes(routes!(session))
        .routes(routes!(steps))
        .routes(routes!(search))
        .routes(routes!(decision))
        .routes(routes!(record))
        .nest("/results", results::routes())
        .nest("/judging", judging::routes())
        .routes(routes!(played))
        .routes(routes!(events))
        .routes(routes!(act))
        .routes(routes!(holder));
    let inside = document::behind(inside, Cookie::Token)
        .route_layer(from_fn_with_state(shared.clone(), admit));
    let api = inside
        .routes(routes!(entrance_told))
        .routes(routes!(enter))
        .routes(routes!(leave))
        .routes(routes!(described))
        .nest("/sign-in", signing_in::routes())
        .fallback(nothing)
        .layer(from_fn(refusal::in_one_form))
        .with_state(shared);
    let host = seats.as_ref().and_then(|seats| seats.host());
    let host: Option<Arc<str>> = host.map(Arc::from);
    let people = seats::routes::router(seats).layer(from_fn(refusal::in_one_form));
    let (routes, described) = OpenApiRouter::with_openapi(Base::openapi())
        .nest("/api/v1/seats", people)
        .nest("/api/v1", api)
        .split_for_parts();
    routes
        .fallback(assets::serve)
        .layer(Extension(Document::of(described)))
        .layer(DefaultBodyLimit::max(LARGEST_BODY_BYTES))
        .layer(from_fn_with_state((entrance, host), called_rightly))
        .layer(from_fn(headers::add))
        .layer(from_fn(with_host))
}

/// Over HTTP/2 the name that a server is called by stands in the address, where no handler looks for it.
async fn with_host(mut request: Request, next: Next) -> Response {
    let called = request.uri().authority();
    let called = called.and_then(|name| HeaderValue::from_str(name.as_str()).ok());
    if let Some(called) = called
        && !request.headers().contains_key(HOST)
    {
        request.headers_mut().insert(HOST, called);
    }
    next.run(request).await
}

/// Pages of one machine are called by a name of this machine alone; those on which people play, and what
/// they are made of, by the address at which people were invited, too.
async fn called_rightly(
    State((entrance, host)): State<(Arc<Entrance>, Option<Arc<str>>)>,
    request: Request,
    next: Next,
) -> Response {
    if let Some(why) = entrance.doorkeeper().elsewhere() {
        return Refusal::Elsewhere(why).into_response();
    }
    let headers = request.headers();
    let is_for_people = is_for_people(request.uri().path());
    let is_invited = host.is_some_and(|host| is_for_people && entrance::is_called(headers, &host));
    let is_for_others = entrance.doorkeeper().serves_others();
    if !is_for_others
        && !is_invited
        && let Err(refusal) = entrance::check_host(headers)
    {
        return refusal.into_response();
    }
    next.run(request).await
}

fn is_for_people(path: &str) -> bool {
    let below = ["/seat/", "/api/v1/seats/", "/assets/"];
    ["/seat", "/favicon.svg"].contains(&path) || below.iter().any(|one| path.starts_with(one))
}

async fn admit(State(shared): State<Shared>, mut request: Request, next: Next) -> Response {
    match shared.entrance.admit(request.headers()) {
        Ok(SignedIn { access, ended, .. }) => {
            request.extensions_mut().insert(access);
            request.extensions_mut().insert(Ended(ended));
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    }
}

async fn nothing() -> Refusal {
    Refusal::Missing("such page".to_owned())
}

#[derive(Deserialize, ToSchema)]
struct Entering {
    token: String,
}

/// Signs in.
///
/// Exchanges an access token for a cookie.
#[utoipa::path(
    post,
    path = "/enter",
    request_body = Entering,
    responses(
        (status = 204, description = "Signed in.", headers(("Set-Cookie" = String, description = "The cookie."))),
        (status = 403, description = "The token is not accepted, the server was called by a name that is not its \
            own, or another site sent the request."),
        (status = 500, description = "The system gives no randomness for a cookie."),
    ),
)]
async fn enter(
    State(shared): State<Shared>,
    headers: HeaderMap,
    Json(entering): Json<Entering>,
) -> Result<Response, Refusal> {
    entrance::check_origin(&headers)?;
    let cookie = shared.entrance.enter(&entering.token).await?;
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]).into_response())
}

/// Signs out.
///
/// The server forgets the cookie, and has the browser forget it. Nothing happens without a cookie.
#[utoipa::path(
    post,
    path = "/leave",
    responses(
        (status = 204, description = "Signed out.", headers(("Set-Cookie" = String, description = "An expired cookie."))),
    ),
)]
async fn leave(
    State(shared): State<Shared>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Refusal> {
    entrance::check_origin(&headers)?;
    let cookie = shared.entrance.leave(&headers);
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]))
}

#[derive(Serialize, ToSchema)]
struct EntranceTold {
    /// Where an access token comes from.
    hint: &'static str,
    /// The provider at which people sign in; null where they do not.
    provider: Option<String>,
}

/// Tells what people are told where they sign in.
#[utoipa::path(get, path = "/entrance", responses((status = 200, description = "The hint.", body = EntranceTold)))]
async fn entrance_told(State(shared): State<Shared>) -> Json<EntranceTold> {
    let hint = shared.entrance.doorkeeper().hint();
    let provider = shared.entrance.provider().ok();
    let provider = provider.and_then(|provider| provider.name());
    Json(EntranceTold { hint, provider })
}

/// This document.
#[utoipa::path(
    get,
    path = "/openapi.json",
    responses((status = 200, description = "An OpenAPI 3.1 document.", body = Object)),
)]
async fn described(Extension(Document(text)): Extension<Document>) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], text.to_string())
}

#[derive(Serialize, ToSchema)]
struct HolderTold {
    /// Null where there is one token for all.
    holder: Option<AccessHolder>,
}

/// Tells who signed in.
#[utoipa::path(get, path = "/holder", responses((status = 200, description = "The holder.", body = HolderTold)))]
async fn holder(Extension(access): Allowed) -> Json<HolderTold> {
    let holder = access.holder.clone();
    Json(HolderTold { holder })
}

#[derive(Serialize, ToSchema)]
struct Runs {
    /// Runs that have sessions, in the order in which they were found.
    runs: Vec<Run>,
}

/// Lists all runs.
#[utoipa::path(get, path = "/runs", responses((status = 200, description = "All runs.", body = Runs)))]
async fn runs(Extension(access): Allowed) -> Json<Runs> {
    let runs = access.shelf.library.index.read().runs();
    Json(Runs { runs })
}

/// Shows a run with its grid.
#[utoipa::path(
    get,
    path = "/runs/{run}",
    params(RunPath),
    responses(
        (status = 200, description = "The run, and its cells with means by measure, fouls and forfeits.", body = RunHead),
        (status = 404, description = "There is no such run."),
    ),
)]
async fn run(Extension(access): Allowed, Path(RunPath { run }): Path<RunPath>) -> Answer<RunHead> {
    let head = access.shelf.library.index.read().run(&run);
    head.map(Json)
        .ok_or_else(|| Refusal::Missing(format!("run {run}")))
}

/// Lists sessions of a run.
#[utoipa::path(
    get,
    path = "/runs/{run}/sessions",
    params(RunPath, SessionQuery),
    responses(
        (status = 200, description = "Sessions that fit, in order.", body = SessionPage),
        (status = 404, description = "There is no such run."),
    ),
)]
async fn sessions(
    Extension(access): Allowed,
    Path(RunPath { run }): Path<RunPath>,
    Query(query): Query<SessionQuery>,
) -> Answer<SessionPage> {
    let page = access.shelf.library.index.read().sessions(&run, &query);
    page.map(Json)
        .ok_or_else(|| Refusal::Missing(format!("run {run}")))
}

/// Shows a session without its steps.
#[utoipa::path(
    get,
    path = "/sessions/{session}",
    params(SessionPath),
    responses(
        (status = 200, description = "Its seats, parameters, scores, series, and sessions of the same luck.", body = SessionHead),
        (status = 404, description = "There is no such session."),
        (status = 500, description = "The session cannot be read."),
    ),
)]
async fn session(
    Extension(access): Allowed,
    Path(SessionPath { session }): Path<SessionPath>,
) -> Answer<SessionHead> {
    let (run, viewing) = access.shelf.library.viewing(&session).await?;
    let paired = access.shelf.library.index.read().paired(&session);
    let head = beside(move || viewing.head()).await?;
    Ok(Json(SessionHead { run, head, paired }))
}

/// Shows steps of a session.
///
/// Each step comes with the table after it. What a seat could not see is not in what is shown to it.
#[utoipa::path(
    get,
    path = "/sessions/{session}/steps",
    params(SessionPath, StepQuery),
    responses(
        (status = 200, description = "The steps, in order.", body = Steps),
        (status = 404, description = "There is no such session, or no such seat in it."),
        (status = 500, description = "The session cannot be read."),
    ),
)]
async fn steps(
    Extension(access): Allowed,
    Path(SessionPath { session }): Path<SessionPath>,
    Query(query): Query<StepQuery>,
) -> Answer<Steps> {
    let (_, viewing) = access.shelf.library.viewing(&session).await?;
    seat_of(&viewing, query.seat)?;
    let total = viewing.steps();
    let steps = beside(move || viewing.from(query.from, query.count(), query.seat)).await?;
    Ok(Json(Steps { steps, total }))
}

/// Finds the steps of a session in whose words a text stands.
#[utoipa::path(
    get,
    path = "/sessions/{session}/search",
    params(SessionPath, TextQuery),
    responses(
        (status = 200, description = "How many steps there are, and the places of the first 1,000.", body = Hits),
        (status = 404, description = "There is no such session, or no such seat in it."),
        (status = 500, description = "The session cannot be read."),
    ),
)]
async fn search(
    Extension(access): Allowed,
    Path(SessionPath { session }): Path<SessionPath>,
    Query(query): Query<TextQuery>,
) -> Answer<Hits> {
    let (_, viewing) = access.shelf.library.viewing(&session).await?;
    seat_of(&viewing, query.seat)?;
    let hits = beside(move || viewing.search(&query.q, query.seat, MOST_HITS)).await?;
    Ok(Json(hits))
}

/// Shows a call of a model.
///
/// The calls of a session are made again, up to the model's replies: the first answer takes its time.
#[utoipa::path(
    get,
    path = "/sessions/{session}/decisions/{seat}/{index}",
    params(DecisionPath),
    responses(
        (status = 200, description = "Messages, parameters, reply, how it was read, tokens, cost and time.", body = Decision),
        (status = 404, description = "There is no such session, or no such call in it."),
        (status = 500, description = "The session cannot be read, or its calls cannot be made again."),
    ),
)]
async fn decision(
    Extension(access): Allowed,
    Path(DecisionPath {
        session,
        seat,
        index,
    }): Path<DecisionPath>,
) -> Answer<Decision> {
    let calls = access.shelf.library.calls(&session).await?;
    let missing = || Refusal::Missing(format!("decision {seat}/{index} of session {session}"));
    let place = calls.find(seat, index).ok_or_else(missing)?;
    Ok(Json(beside(move || calls.at(place)).await?))
}

/// Answers with the record of a session, as it was written.
///
/// `docs/record.schema.json` is its JSON Schema.
#[utoipa::path(
    get,
    path = "/sessions/{session}/record",
    params(SessionPath),
    responses(
        (status = 200, description = "The record.", body = Object),
        (status = 404, description = "There is no such session."),
        (status = 500, description = "The session cannot be read."),
    ),
)]
async fn record(
    Extension(access): Allowed,
    Path(SessionPath { session }): Path<SessionPath>,
) -> Result<Response, Refusal> {
    let line = access.shelf.library.line(&session).await?;
    Ok(([(CONTENT_TYPE, "application/json")], line).into_response())
}

#[derive(Serialize, ToSchema)]
struct Played {
    /// Null where nothing is played.
    sweeps: Option<Vec<Sweep>>,
}

/// Lists the experiments that are being played.
#[utoipa::path(get, path = "/sweeps", responses((status = 200, description = "How each stands.", body = Played)))]
async fn played(Extension(access): Allowed) -> Json<Played> {
    let states = access.sweeps.as_ref().map(|sweeps| sweeps.states());
    let sweeps = states.map(|states| states.borrow().to_vec());
    Json(Played { sweeps })
}

/// Follows the experiments that are being played.
///
/// Server-sent events, whose data is JSON. The first event comes at once, others whenever something has
/// changed, at most four a second.
#[utoipa::path(
    get,
    path = "/sweeps/events",
    responses(
        (status = 200, description = "The stream; of each event the name, and what its data holds.",
            content_type = "text/event-stream", body = SweepsEvent),
        (status = 404, description = "Nothing is being played here."),
        (status = 503, description = "Too many streams are open."),
    ),
)]
async fn events(
    State(shared): State<Shared>,
    Extension(access): Allowed,
    Extension(Ended(ended)): Extension<Ended>,
) -> Result<Response, Refusal> {
    let sweeps = access.sweeps.clone().ok_or_else(nothing_is_played)?;
    let own = Arc::clone(&access.streams).try_acquire_owned();
    let own = own.map_err(|_| Refusal::Busy)?;
    let place = shared.streams.try_acquire_owned();
    let place = place.map_err(|_| Refusal::Busy)?;
    let told = sweeps::tell(sweeps.states(), ended, (access, own, place));
    Ok(told.into_response())
}

/// Pauses, resumes, cancels or retries an experiment.
#[utoipa::path(
    post,
    path = "/sweeps/{experiment}/{action}",
    params(ActionPath),
    responses(
        (status = 204, description = "It is done."),
        (status = 404, description = "Nothing is being played here."),
        (status = 409, description = "It is refused; the error is the reason."),
    ),
)]
async fn act(
    Extension(access): Allowed,
    headers: HeaderMap,
    Path(ActionPath { experiment, action }): Path<ActionPath>,
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

#[cfg(test)]
pub(crate) mod tests;
