//! What a seat actor keeps count of, apart from its agent's own mind. Synchronous;
//! agent and session are the business of `actor.rs`, which calls it.

use super::messages::SeatStatus;

/// Synchronous part of a seat.
#[derive(Debug, Default)]
pub(super) struct SeatState {
    answers: u32,
    closed: bool,
}

impl SeatState {
    /// An answer, legal or not, is on its way to the session.
    pub(super) fn on_answered(&mut self) {
        self.answers += 1;
    }

    /// The game is over for this seat.
    pub(super) fn on_closed(&mut self) {
        self.closed = true;
    }

    /// Whether there is nothing more to do.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Plain data for whoever asks.
    pub(super) fn status(&self) -> SeatStatus {
        SeatStatus {
            answers: self.answers,
            closed: self.closed,
        }
    }
}
