//! The contract of an agent: the program of one model seat.
//!
//! An agent is shown what its seat may see and asked for actions. It reads from
//! top to bottom as its paper describes it; every call it makes goes through the
//! [`Mind`] it is handed, and nothing else reaches the outside.

use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Foul, Reaction};
use async_trait::async_trait;

use crate::mind::{Mind, MindError};
use crate::notes::Note;

/// What reading an answer came to: an action, not yet checked by the game, or a foul.
pub type Answer = Result<Action, Foul>;

/// The program of one model seat.
#[async_trait]
pub trait Agent: Send {
    /// Shows the seat's new events, oldest first, before the next ask and at
    /// the end of the session. An agent may call its model here.
    ///
    /// # Errors
    /// The model could not be called.
    async fn observe(&mut self, events: &[SeenEvent], mind: &dyn Mind) -> Result<(), MindError>;

    /// Answers an ask: the action read from the model's reply, or the foul that
    /// reading ended in. Whether the answer is legal, the game decides. `refused` is
    /// the foul of the answer just before, when the same ask is put again.
    ///
    /// # Errors
    /// The model could not be called.
    async fn act(
        &mut self,
        ask: &Ask,
        refused: Option<&Foul>,
        mind: &dyn Mind,
    ) -> Result<Answer, MindError>;

    /// Says how the last ask ended, before anything new is shown or asked. An answer
    /// that was refused is no end: the same ask is put again then.
    fn settle(&mut self, verdict: &Verdict);

    /// Hands over what the agent concluded since the last time it was asked, in
    /// order; goes into the record.
    fn take_notes(&mut self) -> Vec<Note> {
        Vec::new()
    }
}

/// How an ask ended: the game's word on the last answer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The answer counts.
    Taken,
    /// It was one foul too many, and the ask was closed without an answer.
    Forfeited(Foul),
}

impl Verdict {
    /// The verdict in what a game did with an answer; none where the ask is still open.
    pub fn of(reaction: &Reaction) -> Option<Self> {
        match reaction {
            Reaction::Taken => Some(Self::Taken),
            Reaction::Forfeited { foul } => Some(Self::Forfeited(foul.clone())),
            Reaction::Refused { .. } | Reaction::NotAsked => None,
        }
    }
}

/// Why an agent cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// A setting of the player is unknown, missing or wrong.
    #[error("player \"{player}\": {message}")]
    Settings {
        /// The player's name.
        player: String,
        /// What is wrong and what would be right.
        message: String,
    },
    /// A template is missing or does not render.
    #[error("template {template}: {message}")]
    Template {
        /// Path inside the template folder.
        template: String,
        /// What is wrong.
        message: String,
    },
}

/// A template that does not render makes a call impossible.
impl From<AgentError> for MindError {
    fn from(error: AgentError) -> Self {
        Self::Impossible(error.to_string())
    }
}
