//! The contract of a game, in playing order: what it is, how it starts, who is
//! asked, what is checked, what moves it on, how it ends and what is measured.
//!
//! A game knows no prompts, models, beliefs or plans. It is its parameters, which
//! implement [`Rules`]; its [`State`] changes only through [`State::advance`]. What
//! sessions hold of it is a [`Game`], which every [`Rules`] is.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ask::{Action, Answer, Ask, Foul, Seat};
use crate::chance::Chance;
use crate::disclosure::Disclosure;
use crate::event::{Event, EventLog};
use crate::measures::Measures;
use crate::moves::Move;
use crate::outside::OutsideReply;
use crate::rule_player::Strategy;

pub(crate) mod checks;
mod registration;
mod setup;
mod size;

pub use crate::info::{FactNames, GameInfo, Timing};
pub(crate) use registration::read;
pub use registration::{Blueprint, Built, Game, Registration};
pub use setup::Setup;
pub use size::usual_extent;

/// The parameters of a game: the number of players, `players`, the fouls forgiven per ask,
/// `foul_allowance`, and whatever else there is to set. Games in this crate list theirs in
/// `parameters!` (`games/shared/parameters.rs`), which implements this.
pub trait Parameters:
    Clone + Default + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// Who is told what of them.
    const DISCLOSURES: &'static [Disclosure];

    /// The parameters that games share.
    fn setup(&self) -> Setup;

    /// Checks each parameter by itself.
    ///
    /// # Errors
    /// One is out of its bounds.
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }

    /// Adds to a briefing every parameter that players are told, and hidden those that
    /// nobody is.
    fn brief(&self, briefing: Event) -> Event {
        briefing
    }

    /// The briefing of a game that tells nothing before its parameters.
    fn briefing(&self) -> Event {
        self.brief(self.setup().briefing())
    }
}

/// The rules of a game, implemented by its parameters.
pub trait Rules: Parameters {
    /// What kind of game it is.
    const INFO: &'static GameInfo;

    /// Its rule players: at least `equilibrium`, [`Strategy::RANDOM`] and
    /// [`Strategy::SPECIFIED`].
    const STRATEGIES: &'static [Strategy<Self>];

    /// The game in progress.
    type State: State + 'static;

    /// Checks parameters that depend on each other, and fills in those that follow from
    /// others. Each by itself was checked before.
    ///
    /// # Errors
    /// No game can be played with them.
    fn settle(&mut self) -> Result<(), ParameterError> {
        Ok(())
    }

    /// Who is told what of its draws, and of parameters of which
    /// [`Parameters::DISCLOSURES`] says nothing. Every parameter and every stream that the
    /// game draws from stands in exactly one disclosure.
    fn disclosures(&self) -> Vec<Disclosure> {
        Vec::new()
    }

    /// Most asks that one seat can get in a session, fouls apart; plans of an
    /// experiment multiply it. One per round unless the game says otherwise.
    fn asks_per_seat(&self) -> u32 {
        self.setup().rounds.unwrap_or(1)
    }

    /// Asks that one seat gets in a usual session, for what plans expect; the most
    /// unless the game tends to end early.
    fn usual_asks_per_seat(&self) -> u32 {
        self.asks_per_seat()
    }

    /// About how many values of a record one ask leaves behind, with its part of the events and
    /// draws; rather more than less.
    fn values_per_ask(&self) -> u64 {
        registration::VALUES_PER_ASK
    }

    /// Smallest and largest payoff that a seat can have at the end, when every
    /// answer was checked.
    fn payoff_bounds(&self) -> (f64, f64);

    /// The first state. Emits at least a `briefing` event with every parameter
    /// that players know, before anybody is asked.
    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State;

    /// What equilibrium play of all seats leads to.
    fn equilibrium(&self) -> Equilibrium;

    /// Scores and series of a finished session, computed from its events and, for
    /// what a refused answer says of a player, its moves.
    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures;
}

/// A game in progress.
pub trait State: CloneState + Send {
    /// The open asks in seat order, at most one per seat. Empty when, and only
    /// when, the game has ended.
    fn asks(&self) -> &[Ask];

    /// Checks an answer without changing anything. Called for an open ask only.
    ///
    /// # Errors
    /// The foul; the same ask may then be answered again.
    fn check(&self, ask: &Ask, action: &Action) -> Result<(), Foul> {
        ask.form.check(action)
    }

    /// Moves on. `answers` has one checked answer per open ask, in the order of
    /// [`State::asks`]; it is not called when there are none. Cannot fail.
    fn advance(&mut self, answers: &[Answer], chance: &mut Chance, log: &mut EventLog);

    /// Each seat's payoff so far; final once [`State::asks`] is empty.
    fn payoffs(&self) -> Vec<f64>;

    /// The legal answers to an open ask among those of its form, where the form allows at
    /// most so many. A lenient game may take others.
    fn answers(&self, ask: &Ask, most: usize) -> Option<Vec<Action>> {
        let mut answers = ask.form.answers(most)?;
        answers.retain(|action| self.check(ask, action).is_ok());
        Some(answers)
    }

    /// Whether the game has begun. Always, unless it is played elsewhere and its start has not
    /// been handed in.
    fn has_begun(&self) -> bool {
        true
    }

    /// Whether it can move on. Always, unless it is played elsewhere and what the answers lead
    /// to has not been handed in.
    fn is_ready(&self) -> bool {
        true
    }

    /// Takes what the answers to all open asks lead to; called only while it is not ready.
    ///
    /// # Errors
    /// No game can go on so; nothing has changed.
    fn hand_in(&mut self, _reply: OutsideReply) -> Result<(), String> {
        Ok(())
    }

    /// What is measured, if the state was told by another process.
    fn measures(&self) -> Option<Measures> {
        None
    }
}

/// Clones a state behind its trait, for whoever tries out what could follow; every
/// [`State`] that is [`Clone`] has it.
pub trait CloneState {
    /// The same state once more.
    fn clone_state(&self) -> Box<dyn State>;
}

impl<S: State + Clone + 'static> CloneState for S {
    fn clone_state(&self) -> Box<dyn State> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn State> {
    fn clone(&self) -> Self {
        (**self).clone_state()
    }
}

/// The equilibrium that the rule player `equilibrium` plays.
#[derive(Debug, Clone, PartialEq)]
pub struct Equilibrium {
    /// What is played, in one sentence.
    pub play: String,
    /// Scores by scheme (`iclr2025`, `arxiv2024`, ...) that it reaches in
    /// expectation, with the tolerance that chance leaves over one session.
    pub scores: Vec<ExpectedScore>,
}

impl Equilibrium {
    /// Play that leads to the same scores in every session.
    pub fn exact<const N: usize>(
        play: impl Into<String>,
        scores: [(&'static str, f64); N],
    ) -> Self {
        let scores = scores
            .map(|(scheme, value)| ExpectedScore::within(scheme, value, ExpectedScore::EXACT));
        Self {
            play: play.into(),
            scores: scores.to_vec(),
        }
    }
}

/// A score that theory predicts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedScore {
    /// Name of the score in [`Measures::scores`].
    pub scheme: &'static str,
    /// Predicted value.
    pub value: f64,
    /// Largest distance that one session may have from it.
    pub tolerance: f64,
}

impl ExpectedScore {
    /// Room for the rounding of scores that are exact in theory.
    pub const EXACT: f64 = 1e-9;

    /// A score up to so far from a value.
    pub const fn within(scheme: &'static str, value: f64, tolerance: f64) -> Self {
        Self {
            scheme,
            value,
            tolerance,
        }
    }
}

/// Why a game cannot be built from its parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParameterError {
    /// Path inside the parameters ("ratio", "costly.cost"); empty when it is
    /// about several of them together.
    pub path: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl ParameterError {
    /// An error about one parameter.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }
}

/// Where the player at a seat is called by name.
pub fn player_name(seat: Seat) -> String {
    format!("player_{seat}")
}
