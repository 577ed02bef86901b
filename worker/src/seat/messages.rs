//! What a seat actor is told, and what it tells its session. Sent by the session
//! through `handle.rs`; a seat never hears of other seats.

use agon_agents::{MindError, Note, Verdict};
use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Foul, Seat};

/// What a seat actor is told.
pub(super) enum SeatMessage {
    /// From the session, when the game asks this seat, or asks again after a foul.
    Act {
        /// How the ask before this one ended, if there was one; none where this one is
        /// put again.
        verdict: Option<Verdict>,
        /// What the seat may see and has not been shown yet.
        events: Vec<SeenEvent>,
        /// What is asked.
        ask: Ask,
        /// Why the answer just before was refused, if it was.
        refused: Option<Foul>,
    },
    /// From the session, when the game has ended: the last events.
    Close {
        /// How the last ask ended, if there was one.
        verdict: Option<Verdict>,
        /// What the seat may see and has not been shown yet.
        events: Vec<SeenEvent>,
    },
}

/// What a seat tells its session.
#[derive(Debug)]
pub struct Reported {
    /// Which seat.
    pub seat: Seat,
    /// What came of the work it was given.
    pub report: SeatReport,
}

/// What came of a seat's work.
#[derive(Debug)]
pub enum SeatReport {
    /// An answer, or the foul that reading one ended in.
    Answered {
        /// What the agent concluded from how the ask before this one ended.
        settled: Vec<Note>,
        /// The answer.
        offer: Result<Action, Foul>,
        /// What the agent concluded on the way.
        notes: Vec<Note>,
    },
    /// The agent has seen the last events.
    Closed {
        /// What it concluded from how its last ask ended.
        settled: Vec<Note>,
        /// What it concluded from the events.
        notes: Vec<Note>,
    },
    /// The model could not be called.
    Failed(MindError),
    /// The agent panicked.
    Crashed(String),
}
