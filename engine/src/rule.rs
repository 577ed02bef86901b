//! The contract of a rule player: a seat that the program itself plays.
//!
//! A rule player is a pure function of its settings, its seat's view and its own
//! random stream, so it is played inside the session and never passes the
//! gateway.

use crate::ask::{Action, Ask};
use crate::chance::Generator;
use crate::view::View;

/// A built-in strategy at one seat.
pub trait Rule: Send {
    /// The answer to an open ask. Must be legal: a foul of a rule player is a
    /// fault of the program and is treated like any other foul.
    fn act(&mut self, ask: &Ask, view: &View<'_>, luck: &mut Generator) -> Action;
}

/// Why a rule player cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StrategyError {
    /// The game has no strategy of this name.
    #[error("no strategy \"{name}\" in {game}; expected one of: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The game.
        game: &'static str,
        /// The names that exist, separated by commas.
        known: String,
    },
    /// A setting of the strategy is wrong.
    #[error("strategy \"{name}\": {message}")]
    Settings {
        /// The strategy.
        name: String,
        /// What is wrong and what would be right.
        message: String,
    },
}

/// A strategy's entry in a game's list, for `agon games` and for error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StrategyInfo {
    /// Name in experiment files.
    pub name: &'static str,
    /// What it does and which settings it takes, in one sentence.
    pub summary: &'static str,
}
