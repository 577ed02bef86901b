//! What the page of a seat is told: its state when it asks, and as a stream for as long as the seat is
//! theirs. Called by `routes.rs`.

use std::convert::Infallible;
use std::time::Duration;

use agon_service_kit::clock::unix_ms;
use axum::Json;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, stream};
use http::HeaderMap;
use serde::Serialize;
use tokio::sync::watch;
use utoipa::ToSchema;

use super::SeatPath;
use crate::events;
use crate::refusal::Refusal;
use crate::seats::ports::Asks;
use crate::seats::presence::Following;
use crate::seats::seat_state::SeatState;
use crate::seats::service::now;
use crate::seats::sitting::{Known, Sitting, cookies};

/// How often a stream looks at what no door tells: other people, the end.
const LOOK_EVERY: Duration = Duration::from_millis(400);

/// How often a silent stream shows that it lives.
const ALIVE_EVERY: Duration = Duration::from_secs(10);

/// Shows what there is to see and to do at a seat.
#[utoipa::path(
    get,
    path = "/{id}",
    params(SeatPath),
    responses((status = 200, description = "Stage, games, question and deadline.", body = Told)),
)]
pub(super) async fn state(sitting: Known) -> Result<Json<Told>, Refusal> {
    let Known(Sitting { seats, seat, .. }) = sitting;
    let state = seats.state(&seat).await?;
    Ok(Json(Told::now(state)))
}

/// What is shown at a seat now.
#[derive(Serialize, ToSchema)]
#[schema(as = ToldSeat)]
pub(super) struct Told {
    /// The server's clock, in milliseconds since 1970; deadlines are told by it.
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

/// An event of the stream that follows a seat.
#[derive(Serialize, ToSchema)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub(super) enum SeatEvent {
    /// What is shown at the seat from now on.
    Seat(Told),
}

/// Follows a seat.
///
/// Server-sent events, whose data is JSON. The first event comes at once, others whenever something has
/// changed. The stream ends when the seat is no longer theirs.
#[utoipa::path(
    get,
    path = "/{id}/events",
    params(SeatPath),
    responses(
        (status = 200, description = "The stream; of each event the name, and what its data holds.",
            content_type = "text/event-stream", body = SeatEvent),
        (status = 503, description = "Too many streams are open."),
    ),
)]
pub(super) async fn events(
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
                let told = SeatEvent::Seat(told);
                let event = events::sent(&told);
                let SeatEvent::Seat(told) = told;
                self.before = Some(told.state);
                return Some((Ok(event), self));
            }
        }
    }
}
