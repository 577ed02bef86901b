//! The routes of people who play, below `/api/v1/seats/ID`: an invitation becomes a cookie that is sent
//! to this seat alone, and with it the seat's page is told and answered. Each handler finds out whose
//! request it is, does one thing and answers.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::clock::unix_ms;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::{Stream, stream};
use http::header::{HOST, SET_COOKIE};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::invitations::ClaimError;
use super::limits::{Limits, Rate};
use super::ports::{Asks, Kept, Unanswered};
use super::presence::Following;
use super::seat_state::{SeatState, Stage};
use super::service::{Seats, now};
use super::sitting::{COOKIE_NAME, Known, Shared, Sitting, cookies, timestamp};
use super::table::gone;
use crate::entrance::check_origin;
use crate::refusal::Refusal;

/// Answers to games and questionnaires are short.
const LARGEST_BODY_BYTES: usize = 64 * 1024;

/// The longest answer in a game, in bytes.
const LONGEST_ANSWER: usize = 16_000;

/// The longest value of a link's query that is kept, in bytes.
const LONGEST_VALUE: usize = 200;

/// Links that are tried at one seat: a person tries once or twice.
const CLAIMS: Rate = Rate {
    burst: 10.0,
    per_second: 0.2,
};

/// How often a stream looks at what no door tells: other people, the end.
const LOOK_EVERY: Duration = Duration::from_millis(400);

/// How often a silent stream shows that it lives.
const ALIVE_EVERY: Duration = Duration::from_secs(10);

/// The routes; without seats nobody plays here.
pub(crate) fn router(seats: Option<Arc<Seats>>) -> Router {
    let limits = Arc::new(Limits::default());
    Router::new()
        .route("/{id}", get(state))
        .route("/{id}/events", get(events))
        .route("/{id}/claim", post(claim))
        .route("/{id}/return", post(come_back))
        .route("/{id}/leave", post(leave))
        .route("/{id}/beat", post(beat))
        .route("/{id}/consent", post(consent))
        .route("/{id}/check", post(check))
        .route("/{id}/ready", post(ready))
        .route("/{id}/answer", post(answer))
        .route("/{id}/questions", post(questions))
        .route("/{id}/done", post(done))
        .layer(DefaultBodyLimit::max(LARGEST_BODY_BYTES))
        .with_state(Shared { seats, limits })
}

#[derive(Deserialize)]
struct Claiming {
    /// What stood in the link.
    invite: String,
    /// The link's query: a recruitment service says there whom it sends.
    #[serde(default)]
    query: BTreeMap<String, String>,
}

async fn claim(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Json(claiming): Json<Claiming>,
) -> Result<Response, Refusal> {
    check_origin(&headers)?;
    let unknown = refused(ClaimError::Unknown);
    let seats = shared.seats.ok_or(unknown)?;
    // Names that are no invitation's share an allowance, so that nobody fills the memory with them.
    let is_known = seats.book()?.invitations.iter().any(|one| one.id == id);
    let name = format!("claim {}", if is_known { id.as_str() } else { "" });
    if !shared.limits.take(&name, CLAIMS) {
        return Err(Refusal::TooOften);
    }
    let shown = cookies(&headers, &id);
    let (named, secret) = (id.clone(), claiming.invite);
    let claimed = seats.change(move |book| {
        let claimed = book.claim(&named, &secret, &shown, now())?;
        let seat = book.invitations.iter().find(|one| one.id == named);
        Ok::<_, ClaimError>((claimed, seat.cloned()))
    });
    let (claimed, seat) = claimed.await?.map_err(refused)?;
    let mut response = Json(json!({ "pseudonym": claimed.pseudonym })).into_response();
    if let (Some(cookie), Some(seat)) = (claimed.cookie, seat) {
        seats.tables.lock().remove(&id);
        let mut participant = claiming.query;
        let kept = &seats.people.participant.parameters;
        participant.retain(|name, value| kept.contains(name) && value.len() <= LONGEST_VALUE);
        let person = Kept::Person {
            pseudonym: claimed.pseudonym,
            experiment: seat.experiment,
            door: seat.door,
            participant,
            at: timestamp(),
        };
        seats.keep(person).await?;
        let secure = match is_elsewhere(&headers, &seats) {
            true => "; Secure",
            false => "",
        };
        let lasts = seat.expires.saturating_sub(now());
        let cookie = format!(
            "{COOKIE_NAME}{id}={cookie}; Path=/api/v1/seats/{id}; Max-Age={lasts}; HttpOnly; \
             SameSite=Strict{secure}"
        );
        let value = cookie.parse().map_err(|_| Refusal::NotSeated)?;
        response.headers_mut().insert(SET_COOKIE, value);
    }
    Ok(response)
}

/// Whether the page was called by the address of the file, over TLS.
fn is_elsewhere(headers: &HeaderMap, seats: &Seats) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let address = seats.people.address.as_deref().unwrap_or_default();
    address.starts_with("https://") && host.is_some() && host == seats.host()
}

async fn state(sitting: Known) -> Result<Json<Told>, Refusal> {
    let Known(Sitting { seats, seat, .. }) = sitting;
    let state = seats.state(&seat).await?;
    Ok(Json(Told::now(state)))
}

/// A state, and the server's clock with it: deadlines are told by that.
#[derive(Serialize)]
struct Told {
    now: u64,
    #[serde(flatten)]
    state: SeatState,
}

impl Told {
    fn now(state: SeatState) -> Self {
        Self {
            now: unix_ms(),
            state,
        }
    }
}

async fn events(
    Known(sitting): Known,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let follower = Follower {
        cookies: cookies(&headers, &sitting.seat.id),
        asks: sitting.seats.asks(&sitting.seat),
        bell: sitting.seats.bell(),
        before: None,
        _place: sitting.seats.follow(&sitting.seat.id)?,
        sitting,
    };
    let told = stream::unfold(follower, Follower::next);
    Ok(Sse::new(told).keep_alive(KeepAlive::new().interval(ALIVE_EVERY)))
}

/// A page that follows its seat.
struct Follower {
    sitting: Sitting,
    cookies: Vec<String>,
    asks: watch::Receiver<Asks>,
    bell: watch::Receiver<()>,
    before: Option<SeatState>,
    _place: Following,
}

impl Follower {
    /// Waits for a state that differs from the one before; ends when the seat is no longer theirs.
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        let mut is_first = self.before.is_none();
        loop {
            if !is_first {
                tokio::select! {
                    changed = self.asks.changed() => changed.ok()?,
                    rung = self.bell.changed() => rung.ok()?,
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                }
            }
            is_first = false;
            let Sitting { seats, seat, .. } = &self.sitting;
            // Somebody may have taken the invitation back meanwhile.
            let book = seats.book().ok()?;
            let seat = book.admit(&seat.id, &self.cookies, now())?;
            let state = seats.state(seat).await.ok()?;
            if self.before.as_ref() != Some(&state) {
                let told = Told::now(state);
                let event = Event::default().event("seat").json_data(&told);
                self.before = Some(told.state);
                return Some((Ok(event.unwrap_or_default()), self));
            }
        }
    }
}

/// A page says that it lives, which is known by now.
async fn beat(_: Sitting) -> StatusCode {
    StatusCode::NO_CONTENT
}

async fn come_back(Known(sitting): Known) -> Result<StatusCode, Refusal> {
    let Sitting { seats, seat, .. } = sitting;
    let back = seats.change(move |book| book.come_back(&seat.id, now()));
    back.await?.map_err(refused)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn leave(sitting: Sitting) -> Result<StatusCode, Refusal> {
    sitting.keep("left", Value::Null).await?;
    sitting
        .change(|claim| (claim.left, claim.ready) = (true, false))
        .await
}

#[derive(Deserialize)]
struct Consenting {
    agree: bool,
}

async fn consent(
    sitting: Sitting,
    Json(consenting): Json<Consenting>,
) -> Result<StatusCode, Refusal> {
    if !consenting.agree {
        return Err(Refusal::Wrong("agree, or leave".to_owned()));
    }
    if sitting.claim.consented {
        return Ok(StatusCode::NO_CONTENT);
    }
    sitting.keep("consent", json!({ "agreed": true })).await?;
    sitting.change(|claim| claim.consented = true).await
}

#[derive(Deserialize)]
struct Checking {
    answers: Vec<String>,
}

/// What was answered wrongly, each with its place and what is said to it.
#[derive(Serialize)]
struct Checked {
    wrong: Vec<WrongAnswer>,
}

#[derive(Serialize)]
struct WrongAnswer {
    question: usize,
    explanation: String,
}

async fn check(sitting: Sitting, Json(checking): Json<Checking>) -> Result<Json<Checked>, Refusal> {
    sitting.is_at(Stage::Instructions).await?;
    let asked = &sitting.seats.people.check;
    if checking.answers.len() != asked.len() {
        return Err(Refusal::Wrong("answer every question".to_owned()));
    }
    let wrong = asked.iter().zip(&checking.answers).enumerate();
    let wrong = wrong.filter(|(_, (asked, given))| asked.answer != **given);
    let wrong = wrong.map(|(question, (asked, _))| WrongAnswer {
        question,
        explanation: asked.explanation.clone(),
    });
    let wrong: Vec<WrongAnswer> = wrong.collect();
    if !asked.is_empty() {
        let answers = json!({ "answers": checking.answers, "wrong": wrong.len() });
        sitting.keep("check", answers).await?;
    }
    if wrong.is_empty() {
        sitting.change(|claim| claim.understood = true).await?;
    }
    Ok(Json(Checked { wrong }))
}

#[derive(Deserialize)]
struct Readying {
    ready: bool,
}

async fn ready(sitting: Sitting, Json(readying): Json<Readying>) -> Result<StatusCode, Refusal> {
    sitting
        .change(move |claim| claim.ready = readying.ready)
        .await
}

#[derive(Deserialize)]
struct Answering {
    /// Which question.
    ask: String,
    /// The answer: a number, a word or a list of numbers.
    value: Value,
}

async fn answer(sitting: Sitting, Json(answering): Json<Answering>) -> Result<StatusCode, Refusal> {
    sitting.is_at(Stage::Play).await?;
    let Sitting { seats, seat, claim } = sitting;
    let Some(ask) = seats.open(&seat, &answering.ask) else {
        return Err(Refusal::Refused(
            "this question is no longer open; look at what is asked now".to_owned(),
        ));
    };
    let is_plain = match &answering.value {
        Value::String(_) | Value::Number(_) => true,
        Value::Array(values) => values.iter().all(Value::is_number),
        _ => false,
    };
    let said = match &answering.value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    if !is_plain || said.len() > LONGEST_ANSWER {
        return Err(Refusal::Wrong(
            "an answer is a number, a word or a list of numbers".to_owned(),
        ));
    }
    let reply = match &ask.schema {
        Value::Null => said.clone(),
        _ => json!({ ask.kind.as_str(): answering.value }).to_string(),
    };
    let lost = gone(&ask);
    let doors = Arc::clone(&seats.doors);
    let answered = doors.answer(seat.door.clone(), ask, reply, claim.pseudonym);
    match answered.await {
        Ok(()) => {
            let mut tables = seats.tables.lock();
            let table = tables.entry(seat.id.clone()).or_default();
            table.answered(&answering.ask, said);
            drop(tables);
            seats.ring();
            Ok(StatusCode::NO_CONTENT)
        }
        Err(Unanswered::Gone) => Err(Refusal::Refused(lost)),
        Err(Unanswered::Away(reason)) => {
            tracing::warn!(%reason, "an answer of a person was not taken");
            Err(Refusal::Unreadable(
                "the game does not answer now; try again in a moment".to_owned(),
            ))
        }
    }
}

#[derive(Deserialize)]
struct Questionnaire {
    answers: Value,
}

async fn questions(
    sitting: Sitting,
    Json(given): Json<Questionnaire>,
) -> Result<StatusCode, Refusal> {
    sitting.is_at(Stage::Questions).await?;
    let wrong = sitting.seats.wrong_answers(&given.answers);
    if !wrong.is_empty() {
        let names = wrong.join(", ");
        return Err(Refusal::Wrong(format!("answer these questions: {names}")));
    }
    let asked = sitting.seats.people.questions.iter();
    let asked = asked.map(|one| (one.name.clone(), given.answers[&one.name].clone()));
    let answers = Value::Object(asked.collect());
    sitting.keep("questionnaire", answers).await?;
    sitting.change(|claim| claim.answered = true).await
}

async fn done(sitting: Sitting) -> Result<StatusCode, Refusal> {
    sitting.is_at(Stage::Thanks).await?;
    sitting.change(|claim| claim.finished = true).await
}

fn refused(error: ClaimError) -> Refusal {
    let said = error.to_string();
    match error {
        ClaimError::Unknown => Refusal::Closed(said),
        ClaimError::Revoked | ClaimError::Expired => Refusal::Over(said),
        ClaimError::Taken => Refusal::Refused(said),
    }
}
