//! What a referee is, and why it may have no ruling. Implemented beside this file for processes and
//! for records; asked by sessions.

use agon_engine::{Answer, OutsideReply};
use futures_util::future::BoxFuture;

/// Says what answers lead to, for one session.
pub trait Referee: Send {
    /// What the answers of a turn lead to, in the order of its asks; turn 0 has none and is the
    /// start.
    fn rule(
        &mut self,
        turn: u32,
        answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<OutsideReply, RefereeError>>;
}

/// Why there is no ruling.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RefereeError {
    /// Nobody answers, or nobody can at the moment: worth another try later.
    #[error("{0}")]
    Away(String),
    /// There is something that can never go on.
    #[error("{0}")]
    Impossible(String),
}

impl RefereeError {
    /// The same, with the game that it is about.
    pub(crate) fn of(self, game: &str) -> Self {
        match self {
            Self::Away(why) => Self::Away(format!("the process of {game} does not answer: {why}")),
            other => other,
        }
    }
}
