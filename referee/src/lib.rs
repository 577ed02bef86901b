//! Referees: they say what the answers of a turn lead to, in games whose rules are not in this
//! program. [`RemoteReferee`] asks the process that holds the rules, [`RecordedReferee`] reads from
//! a record what it said. Which game is where, the operator says ([`Games`]); no experiment does.
//!
//! `docs/outside-games.md` is the contract with that process.

mod client;
mod contract;
mod games;
mod history;
mod kit;
mod recorded;
mod remote;
mod ruling;
mod wire;

pub use client::GameClient;
pub use contract::{CLAUSES, Clause, PLAYS};
pub use games::{Games, GamesError, Named};
pub use kit::TestedGame;
pub use recorded::RecordedReferee;
pub use remote::RemoteReferee;
pub use ruling::{Referee, RefereeError};
