//! Referees: they say what the answers of a turn lead to, in games whose rules are not in this
//! program. [`RemoteReferee`] asks the process that holds the rules, [`RecordedReferee`] reads from
//! a record what it said. Which game is where, the operator says ([`Games`]); no experiment does.
//!
//! `docs/outside-games.md` is the contract with that process.

mod client;
mod games;
mod recorded;
mod remote;
mod wire;

use agon_engine::{Answer, OutsideReply};
use futures_util::future::BoxFuture;

pub use client::GameClient;
pub use games::{Games, GamesError, Named};
pub use recorded::RecordedReferee;
pub use remote::RemoteReferee;

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
