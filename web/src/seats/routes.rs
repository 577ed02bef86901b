//! The routes of people who play, below `/api/v1/seats/ID`: an invitation becomes a cookie that is sent
//! to this seat alone, and with it the seat's page is told and answered. Each handler finds out whose
//! request it is, does one thing and answers.

mod following;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::response::{IntoResponse as _, Response};
use http::header::{HOST, SET_COOKIE};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::invitations::{Book, ClaimError};
use super::limits::{Limits, Rate};
use super::ports::{Kept, Unanswered};
use super::seat_state::Stage;
use super::service::{Seats, now};
use super::sitting::{COOKIE_NAME, Known, Shared, Sitting, cookies, timestamp};
use super::table::gone;
use crate::document::{self, Cookie};
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

/// The routes; without seats nobody plays here.
pub(crate) fn router(seats: Option<Arc<Seats>>) -> OpenApiRouter {
    let limits = Arc::new(Limits::default());
    let seated = OpenApiRouter::new()
        .routes(routes!(following::state))
        .routes(routes!(following::events))
        .routes(routes!(come_back))
        .routes(routes!(leave))
        .routes(routes!(beat))
        .routes(routes!(consent))
        .routes(routes!(check))
        .routes(routes!(ready))
        .routes(routes!(answer))
        .routes(routes!(questions))
        .routes(routes!(done));
    document::behind(seated, Cookie::Seat)
        .routes(routes!(claim))
        .layer(DefaultBodyLimit::max(LARGEST_BODY_BYTES))
        .with_state(Shared { seats, limits })
}

#[derive(utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[allow(
    dead_code,
    reason = "whoever sits there is found by it before a handler is called"
)]
struct SeatPath {
    /// The seat's id, the part of its invitation before the full stop.
    id: String,
}

#[derive(Deserialize, ToSchema)]
struct Claiming {
    /// What the link ends in: the seat's id, a full stop and a secret.
    invite: String,
    /// The link's query, by name: recruitment services say there whom they send.
    #[serde(default)]
    query: BTreeMap<String, String>,
}

/// Takes a seat.
///
/// Exchanges an invitation for the cookie of its seat. The first browser that shows an invitation has the seat.
#[utoipa::path(
    post,
    path = "/{id}/claim",
    params(SeatPath),
    request_body = Claiming,
    responses(
        (status = 200, description = "The seat is theirs.", body = Seated,
            headers(("Set-Cookie" = String, description = "The cookie, unless the browser has it already."))),
        (status = 403, description = "There is no such invitation, the server was called by a name that is not \
            its own, or another site sent the request."),
        (status = 409, description = "Somebody else has taken the seat."),
        (status = 410, description = "The invitation was revoked or has expired."),
    ),
)]
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
    let pseudonym = claimed.pseudonym.clone();
    let mut response = Json(Seated { pseudonym }).into_response();
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
        if let Err(refusal) = seats.keep(person).await {
            // Nobody has the cookie: the invitation lets somebody in again.
            let leave = move |book: &mut Book| {
                if let Some(claim) = book.claim_mut(&id) {
                    claim.left = true;
                }
            };
            seats.change(leave).await?;
            return Err(refusal);
        }
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

#[derive(Serialize, ToSchema)]
struct Seated {
    /// What the person is called.
    pseudonym: String,
}

/// Whether the page was called by the address of the file, over TLS.
fn is_elsewhere(headers: &HeaderMap, seats: &Seats) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let address = seats.people.address.as_deref().unwrap_or_default();
    address.starts_with("https://") && host.is_some() && host == seats.host()
}

/// Says that the page is open.
#[utoipa::path(
    post,
    path = "/{id}/beat",
    params(SeatPath),
    responses(
        (status = 204, description = "It is done."),
        (status = 409, description = "The person has left the seat."),
    ),
)]
async fn beat(_: Sitting) -> StatusCode {
    StatusCode::NO_CONTENT
}

/// Comes back to a seat that was left.
#[utoipa::path(
    post,
    path = "/{id}/return",
    params(SeatPath),
    responses(
        (status = 204, description = "It is done."),
        (status = 410, description = "The invitation was revoked or has expired."),
    ),
)]
async fn come_back(Known(sitting): Known) -> Result<StatusCode, Refusal> {
    let Sitting { seats, seat, .. } = sitting;
    let back = seats.change(move |book| book.come_back(&seat.id, now()));
    back.await?.map_err(refused)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Leaves the seat; the person may come back.
#[utoipa::path(
    post,
    path = "/{id}/leave",
    params(SeatPath),
    responses(
        (status = 204, description = "It is done."),
        (status = 409, description = "The person has left the seat already."),
    ),
)]
async fn leave(sitting: Sitting) -> Result<StatusCode, Refusal> {
    sitting.keep("left", Value::Null).await?;
    sitting
        .change(|claim| (claim.left, claim.ready) = (true, false))
        .await
}

#[derive(Deserialize, ToSchema)]
struct Consenting {
    /// Has to be true; whoever does not agree leaves.
    agree: bool,
}

/// Agrees to take part.
#[utoipa::path(
    post,
    path = "/{id}/consent",
    params(SeatPath),
    request_body = Consenting,
    responses(
        (status = 204, description = "It is done."),
        (status = 409, description = "The person has left the seat."),
        (status = 422, description = "`agree` is not true, or the body is not what this route takes."),
    ),
)]
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

#[derive(Deserialize, ToSchema)]
struct Checking {
    /// One of the choices for each question, in order.
    answers: Vec<String>,
}

#[derive(Serialize, ToSchema)]
struct Checked {
    /// Empty if the check is passed.
    wrong: Vec<WrongAnswer>,
}

#[derive(Serialize, ToSchema)]
struct WrongAnswer {
    /// The place of the question, from 0.
    question: usize,
    /// What is said to a wrong answer.
    explanation: String,
}

/// Answers the questions about the instructions.
///
/// The stage is over once no answer is wrong.
#[utoipa::path(
    post,
    path = "/{id}/check",
    params(SeatPath),
    request_body = Checking,
    responses(
        (status = 200, description = "Which answers are wrong.", body = Checked),
        (status = 409, description = "This is not asked now, or the person has left the seat."),
        (status = 422, description = "There is not one answer for each question, or the body is not what this route \
            takes."),
    ),
)]
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

#[derive(Deserialize, ToSchema)]
struct Readying {
    /// False takes it back.
    ready: bool,
}

/// Says whether the person is ready for the game to begin.
#[utoipa::path(
    post,
    path = "/{id}/ready",
    params(SeatPath),
    request_body = Readying,
    responses(
        (status = 204, description = "It is done."),
        (status = 409, description = "The person has left the seat."),
    ),
)]
async fn ready(sitting: Sitting, Json(readying): Json<Readying>) -> Result<StatusCode, Refusal> {
    sitting
        .change(move |claim| claim.ready = readying.ready)
        .await
}

#[derive(Deserialize, ToSchema)]
struct Answering {
    /// The id of the question.
    ask: String,
    /// The answer: a number, text or a list of numbers.
    value: Value,
}

/// Answers the open question of a game.
#[utoipa::path(
    post,
    path = "/{id}/answer",
    params(SeatPath),
    request_body = Answering,
    responses(
        (status = 204, description = "It is done."),
        (status = 409, description = "The question is no longer open, no game is played now, or the person has left."),
        (status = 422, description = "It is no number, word or list of numbers, or too long, or the body is not what this \
            route takes."),
    ),
)]
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

#[derive(Deserialize, ToSchema)]
struct Questionnaire {
    /// Answers by the names of their questions; those that may be left out may be missing.
    #[schema(value_type = BTreeMap<String, Value>)]
    answers: Value,
}

/// Answers the questionnaire.
#[utoipa::path(
    post,
    path = "/{id}/questions",
    params(SeatPath),
    request_body = Questionnaire,
    responses(
        (status = 204, description = "It is done."),
        (status = 409, description = "This is not asked now, or the person has left the seat."),
        (status = 422, description = "Some answers are missing or do not fit their questions, or the body is not what \
            this route takes."),
    ),
)]
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

/// Says that the person has seen the end.
#[utoipa::path(
    post,
    path = "/{id}/done",
    params(SeatPath),
    responses(
        (status = 204, description = "It is done."),
        (status = 409, description = "This is not asked now, or the person has left the seat."),
    ),
)]
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
