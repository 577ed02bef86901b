//! Whoever sits at a seat: found by the cookie that came with the request, and by nothing else. What
//! handlers share about them. Called by `routes.rs`.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use http::header::COOKIE;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::invitations::{Claim, Invitation};
use super::limits::{Limits, Rate};
use super::ports::Kept;
use super::seat_state::Stage;
use super::service::{Seats, now};
use crate::entrance::check_origin;
use crate::refusal::Refusal;

/// How names of cookies begin; each seat has its own.
pub const COOKIE_NAME: &str = "agon-seat-";

/// What one person does.
const ACTS: Rate = Rate {
    burst: 30.0,
    per_second: 3.0,
};

/// What all handlers share.
#[derive(Clone)]
pub struct Shared {
    /// None: nobody plays here.
    pub seats: Option<Arc<Seats>>,
    /// What is left of allowances.
    pub limits: Arc<Limits>,
}

/// Whoever has the cookie of the seat that is named, in a request of their own page.
pub struct Sitting {
    /// All seats.
    pub seats: Arc<Seats>,
    /// Their invitation.
    pub seat: Invitation,
    /// Who they are.
    pub claim: Claim,
}

/// The same, wherever they are: who left may come back.
pub struct Known(pub Sitting);

impl FromRequestParts<Shared> for Known {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Refusal> {
        if parts.method != http::Method::GET {
            check_origin(&parts.headers)?;
        }
        let id = Path::<String>::from_request_parts(parts, shared).await;
        let Path(id) = id.map_err(|_| Refusal::NotSeated)?;
        let seats = shared.seats.clone().ok_or(Refusal::NotSeated)?;
        let cookies = cookies(&parts.headers, &id);
        let book = seats.book()?;
        let seat = book.admit(&id, &cookies, now()).cloned();
        let seat = seat.ok_or(Refusal::NotSeated)?;
        let claim = seat.claim.clone().ok_or(Refusal::NotSeated)?;
        if parts.method != http::Method::GET && !shared.limits.take(&seat.id, ACTS) {
            return Err(Refusal::TooOften);
        }
        seats.presence.hear(&seat.id);
        Ok(Self(Sitting { seats, seat, claim }))
    }
}

impl FromRequestParts<Shared> for Sitting {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Refusal> {
        let Known(sitting) = Known::from_request_parts(parts, shared).await?;
        match sitting.claim.left {
            true => Err(Refusal::Left),
            false => Ok(sitting),
        }
    }
}

/// The values of a seat's cookie.
pub fn cookies(headers: &HeaderMap, id: &str) -> Vec<String> {
    let all = headers.get_all(COOKIE).iter();
    let all = all.filter_map(|value| value.to_str().ok());
    let shown = all.flat_map(|value| value.split(';')).filter_map(|one| {
        let (name, value) = one.trim().split_once('=')?;
        let of = name.strip_prefix(COOKIE_NAME)?;
        (of == id).then(|| value.to_owned())
    });
    shown.collect()
}

impl Sitting {
    /// Refuses what belongs to another stage.
    pub async fn is_at(&self, stage: Stage) -> Result<(), Refusal> {
        let state = self.seats.state(&self.seat).await?;
        match state.stage == stage {
            true => Ok(()),
            false => Err(Refusal::Refused(
                "this is not asked of you now; look at what your page shows".to_owned(),
            )),
        }
    }

    /// Changes how far this person is.
    pub async fn change(
        &self,
        change: impl FnOnce(&mut Claim) + Send + 'static,
    ) -> Result<StatusCode, Refusal> {
        let id = self.seat.id.clone();
        self.seats
            .change(move |book| book.claim_mut(&id).map(change))
            .await?;
        Ok(StatusCode::NO_CONTENT)
    }

    /// Keeps what this person said outside the game.
    pub async fn keep(&self, what: &'static str, answers: Value) -> Result<(), Refusal> {
        let kept = Kept::Answers {
            pseudonym: self.claim.pseudonym.clone(),
            experiment: self.seat.experiment.clone(),
            what,
            answers,
            at: timestamp(),
        };
        self.seats.keep(kept).await
    }
}

/// Now, in RFC 3339.
pub fn timestamp() -> String {
    humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string()
}
