//! The contract of a game, in playing order: what it is, how it starts, who is
//! asked, what is checked, what moves it on, how it ends and what is measured.
//!
//! A game knows no prompts, models, beliefs or plans. It is a value with checked
//! parameters; its state changes only through [`State::advance`].

use crate::ask::{Action, Answer, Ask, Foul, Seat};
use crate::chance::Chance;
use crate::disclosure::Disclosure;
use crate::event::EventLog;
use crate::measures::Measures;
use crate::moves::Move;
use crate::rule::{Rule, StrategyError};

/// What kind of game it is; the same for all parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameInfo {
    /// Name in experiment files, records and template folders.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// One sentence for `agon games`.
    pub summary: &'static str,
    /// Version of the rules. Part of every session id: raise it whenever the
    /// same answers could lead to another record.
    pub rules_version: u32,
    /// Fewest and most seats.
    pub seats: (usize, usize),
    /// Whether seats move at the same time or one after another.
    pub timing: Timing,
    /// Whether the game draws from [`Chance`].
    pub chance: bool,
    /// Whether a seat may know something that another may not.
    pub hidden_information: bool,
    /// Where rules and measures come from.
    pub source: &'static str,
}

/// Who moves when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    /// All seats are asked at once.
    Simultaneous,
    /// At least some asks wait for the answers of others in the same round.
    Sequential,
}

/// A game with checked parameters.
pub trait Game: Send + Sync {
    /// What kind of game it is.
    fn info(&self) -> &'static GameInfo;

    /// How many seats this instance has.
    fn seats(&self) -> usize;

    /// Most asks that one seat can get in a session, fouls apart; plans of an
    /// experiment multiply it.
    fn asks_per_seat(&self) -> u32;

    /// Asks that one seat gets in a usual session, for what plans expect; the most
    /// unless the game tends to end early.
    fn usual_asks_per_seat(&self) -> u32 {
        self.asks_per_seat()
    }

    /// Smallest and largest payoff that a seat can have at the end, when every
    /// answer was checked.
    fn payoff_bounds(&self) -> (f64, f64);

    /// Who is told what of the parameters and draws: every parameter and every stream
    /// that it draws from stands in exactly one of these.
    fn disclosures(&self) -> &'static [Disclosure];

    /// The first state. Emits at least a `briefing` event with every parameter
    /// that players know, before anybody is asked.
    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State>;

    /// A rule player of this game for one seat. Names that every game knows:
    /// `equilibrium`, `random`, `specified`.
    ///
    /// # Errors
    /// The strategy is unknown or its settings are wrong; says what exists.
    fn rule(
        &self,
        strategy: &str,
        settings: &serde_json::Map<String, serde_json::Value>,
        seat: Seat,
    ) -> Result<Box<dyn Rule>, StrategyError>;

    /// What equilibrium play of all seats leads to.
    fn equilibrium(&self) -> Equilibrium;

    /// Scores and series of a finished session, computed from its events and, for
    /// what a refused answer says of a player, its moves.
    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures;
}

/// A game in progress.
pub trait State: Send {
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
