//! What pages on which people play need of others: what doors ask, and where invitations and answers
//! to questionnaires are kept. Implemented by the command line.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_engine::{Seat, SeatView};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use utoipa::ToSchema;

use super::invitations::Book;

/// A question that waits at a door.
#[derive(Debug, Clone, PartialEq)]
pub struct DoorAsk {
    /// The experiment.
    pub experiment: String,
    /// The session, as the door names it.
    pub session: String,
    /// The seat that is asked.
    pub seat: Seat,
    /// Which decision of the seat.
    pub index: u32,
    /// Digest of the question; an answer names it.
    pub digest: String,
    /// What is asked ("guess"): the field of the answer.
    pub kind: String,
    /// JSON Schema of the answer; null for words.
    pub schema: Value,
    /// What the seat was told and answered, the rules first.
    pub messages: Vec<Message>,
    /// Until when it waits, in milliseconds since 1970, where a stand-in answers then.
    pub until: Option<u64>,
    /// Who answers then; never what.
    pub stand_in: Option<String>,
    /// What the seat has seen.
    pub seen: Option<Arc<SeatView>>,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Message {
    /// Who said it.
    pub from: Speaker,
    /// The words.
    pub text: String,
}

/// Who says something to a seat, or for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The rules of the game.
    Rules,
    /// The game.
    Game,
    /// Whoever sits there.
    You,
}

/// What waits at a door, oldest first.
pub type Asks = Arc<Vec<DoorAsk>>;

/// Why an answer was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// The question was answered before, by a stand-in too.
    Gone,
    /// The door does not answer; says why.
    Away(String),
}

/// Doors of a gateway.
pub trait Doors: Send + Sync + 'static {
    /// What waits at a door, as it changes.
    fn asks(&self, door: &str) -> watch::Receiver<Asks>;

    /// Answers a question; the first answer counts.
    fn answer(
        &self,
        door: String,
        ask: DoorAsk,
        reply: String,
        answered_by: String,
    ) -> BoxFuture<'static, Result<(), Unanswered>>;

    /// How many games of an experiment ask at a door, where that is known.
    fn games(&self, experiment: &str, door: &str) -> Option<u64>;

    /// The doors at which an experiment asks, where it is known.
    fn doors(&self, experiment: &str) -> Option<BTreeSet<String>>;
}

/// What is kept of people besides invitations.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Kept {
    /// Who somebody is: for the owner of the files alone.
    Person {
        /// What they are called everywhere else.
        pseudonym: String,
        /// The experiment.
        experiment: String,
        /// The door at which they are asked.
        door: String,
        /// What the link says of them, by name.
        participant: std::collections::BTreeMap<String, String>,
        /// When they came, in RFC 3339.
        at: String,
    },
    /// Something that somebody said outside the game.
    Answers {
        /// Who.
        pseudonym: String,
        /// The experiment.
        experiment: String,
        /// `consent`, `check`, `questionnaire` or `left`.
        what: &'static str,
        /// The answers, by name.
        answers: Value,
        /// When, in RFC 3339.
        at: String,
    },
}

/// Where invitations and answers are kept.
pub trait Keeper: Send + Sync + 'static {
    /// All invitations.
    ///
    /// # Errors
    /// They cannot be read; says why.
    fn read(&self) -> Result<Arc<Book>, String>;

    /// Changes them, one change at a time in all processes. What is kept when this returns stays.
    ///
    /// # Errors
    /// They cannot be read or written; says why.
    fn change(&self, change: &mut dyn FnMut(&mut Book)) -> Result<(), String>;

    /// Keeps something of a person.
    ///
    /// # Errors
    /// It cannot be written; says why.
    fn keep(&self, kept: &Kept) -> Result<(), String>;
}
