//! The agent that states its understanding and its beliefs beside its answer: it asks
//! for one JSON object whose fields lead to the answer, other ones from the second
//! round on. What the fields say is noted beside what is true, so that misunderstandings
//! can be counted.
//!
//! Source: EconArena (Guo et al. 2024), appendix B; the wording is ours.

use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Foul};
use async_trait::async_trait;

use crate::agent::{Agent, Note, Verdict};
use crate::dialogue::{Dialogue, Thinking};
use crate::mind::{Mind, MindError};
use crate::turn::{self, Turn};

pub mod fields;

/// An agent whose model states beliefs and reasons in fields of their own.
#[derive(Debug)]
pub struct Elicitation {
    dialogue: Dialogue,
}

impl Elicitation {
    /// An eliciting agent with a conversation of its own.
    pub fn new(dialogue: Dialogue) -> Self {
        Self { dialogue }
    }
}

#[async_trait]
impl Agent for Elicitation {
    async fn observe(&mut self, events: &[SeenEvent], _mind: &dyn Mind) -> Result<(), MindError> {
        self.dialogue.hear(events)
    }

    async fn act(
        &mut self,
        ask: &Ask,
        refused: Option<&Foul>,
        mind: &dyn Mind,
    ) -> Result<Result<Action, Foul>, MindError> {
        let turn = Turn {
            thinking: Thinking::Stated(self.dialogue.fields(ask)),
            ..Turn::plain(ask, refused)
        };
        turn::take(&mut self.dialogue, turn, mind).await
    }

    fn settle(&mut self, verdict: &Verdict) {
        self.dialogue.settle(verdict);
    }

    fn take_notes(&mut self) -> Vec<Note> {
        self.dialogue.take_notes()
    }
}
