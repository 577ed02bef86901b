//! The contract of a rule player: a seat that the program itself plays. It is a pure
//! function of its settings, its seat's view and its own random stream, so it is played
//! inside the session and never passes the gateway. A game lists its strategies as
//! [`Strategy`] values; those that every game has are beside this file.

use serde_json::{Map, Value};

use crate::ask::{Action, Ask};
use crate::chance::Generator;
use crate::view::View;

mod common;
mod request;

pub use common::{Random, SPECIFIED, Specified};
pub use request::Request;

/// A built-in strategy at one seat.
pub trait RulePlayer: Send + Sync {
    /// The answer to an open ask. Must be legal: a foul of a rule player is a
    /// fault of the program and is treated like any other foul.
    fn act(&mut self, ask: &Ask, view: &View<'_>, luck: &mut Generator) -> Action;
}

/// A rule player that was made, or why it was not.
pub type Made = Result<Box<dyn RulePlayer>, StrategyError>;

/// A strategy of a game whose parameters are `R`.
pub struct Strategy<R> {
    /// Its entry in lists.
    pub info: StrategyInfo,
    make: fn(&R, Request<'_>) -> Made,
}

impl<R> Strategy<R> {
    /// A strategy: its name in experiment files; what it does and which settings it takes,
    /// in one sentence; how a player of it is made. Every setting has a default.
    pub const fn new(
        name: &'static str,
        summary: &'static str,
        make: fn(&R, Request<'_>) -> Made,
    ) -> Self {
        let info = StrategyInfo { name, summary };
        Self { info, make }
    }

    /// Uniformly random answers; in every game's list.
    pub const RANDOM: Self = Self::new(
        "random",
        "random legal answers; where it may pass, it does so half of the time",
        |_, request| request.made(Random),
    );

    /// Fixed answers; in every game's list.
    pub const SPECIFIED: Self = Self::new(
        SPECIFIED,
        "fixed answers, repeated in turn: answers = [..]",
        |_, request| request.made(Specified::new(&request)?),
    );

    /// Makes the player of a seat from a strategy's name and its settings.
    ///
    /// # Errors
    /// No strategy of the list has this name, or a setting is wrong.
    pub fn seat(strategies: &[Self], game: &str, rules: &R, request: Request<'_>) -> Made {
        let name = request.strategy;
        let names = strategies.iter().map(|strategy| strategy.info.name);
        let Some(place) = names.clone().position(|known| known == name) else {
            return Err(StrategyError::Unknown {
                name: name.to_owned(),
                game: game.to_owned(),
                known: names.collect::<Vec<&str>>().join(", "),
            });
        };
        (strategies[place].make)(rules, request)
    }
}

/// A strategy as lists of games show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StrategyInfo {
    /// Name in experiment files.
    pub name: &'static str,
    /// What it does and which settings it takes, in one sentence.
    pub summary: &'static str,
}

/// The settings of a strategy in an experiment file.
pub type StrategySettings = Map<String, Value>;

/// Why a rule player cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StrategyError {
    /// The game has no strategy of this name.
    #[error("no strategy \"{name}\" in {game}; expected one of: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The game.
        game: String,
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
