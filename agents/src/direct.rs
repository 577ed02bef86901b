//! The direct agent: tells the model the rules and what happened, asks once, and
//! takes its answer.
//!
//! Source: the vanilla players of gamma-Bench, arXiv 2403.11807, section 4.

use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Foul};
use async_trait::async_trait;

use crate::agent::{Agent, Note, Verdict};
use crate::dialogue::Dialogue;
use crate::mind::{Mind, MindError};
use crate::turn::{self, Turn};

/// An agent that asks once and takes the answer.
#[derive(Debug)]
pub struct Direct {
    dialogue: Dialogue,
}

impl Direct {
    /// A direct agent with a conversation of its own.
    pub fn new(dialogue: Dialogue) -> Self {
        Self { dialogue }
    }
}

#[async_trait]
impl Agent for Direct {
    async fn observe(&mut self, events: &[SeenEvent], _mind: &dyn Mind) -> Result<(), MindError> {
        self.dialogue.hear(events)
    }

    async fn act(
        &mut self,
        ask: &Ask,
        refused: Option<&Foul>,
        mind: &dyn Mind,
    ) -> Result<Result<Action, Foul>, MindError> {
        turn::take(&mut self.dialogue, Turn::plain(ask, refused), mind).await
    }

    fn settle(&mut self, verdict: &Verdict) {
        self.dialogue.settle(verdict);
    }

    fn take_notes(&mut self) -> Vec<Note> {
        self.dialogue.take_notes()
    }
}
