//! What a session actor is told. Sent by its seats through `handle.rs`; giving up
//! is no message: it comes by the token in the session's plan.

use agon_engine::Seat;
use tokio::sync::oneshot;

use crate::seat::SeatReport;

/// What a session actor is told.
pub(super) enum SessionMessage {
    /// From a seat: what came of the work it was given.
    Report {
        /// Which seat.
        seat: Seat,
        /// What came of it.
        report: SeatReport,
    },
    /// From tests and the command line.
    Status(oneshot::Sender<SessionStatus>),
}

/// Where a session stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStatus {
    /// The open turn, from 1.
    pub turn: u32,
    /// Seats whose answer is missing, in order.
    pub waiting_for: Vec<Seat>,
    /// Whether the game has ended.
    pub finished: bool,
}
