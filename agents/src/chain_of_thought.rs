//! The chain-of-thought agent: has the model reason first and answer last, in one
//! call. Only the answer is remembered, so conversations stay short.
//!
//! Source: Kojima et al. 2022, as used in gamma-Bench, arXiv 2403.11807, 5.2.

use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Foul};
use async_trait::async_trait;

use crate::agent::{Agent, Note, Verdict};
use crate::dialogue::{Dialogue, Thinking};
use crate::mind::{Mind, MindError};
use crate::turn::{self, Turn};

/// An agent whose model thinks aloud before it answers.
#[derive(Debug)]
pub struct ChainOfThought {
    dialogue: Dialogue,
}

impl ChainOfThought {
    /// A chain-of-thought agent with a conversation of its own.
    pub fn new(dialogue: Dialogue) -> Self {
        Self { dialogue }
    }
}

#[async_trait]
impl Agent for ChainOfThought {
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
            thinking: Thinking::StepByStep,
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
