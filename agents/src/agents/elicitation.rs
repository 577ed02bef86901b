//! The agent that states its understanding and its beliefs beside its answer: it asks
//! for one JSON object whose fields lead to the answer, other ones from the second
//! round on. What the fields say is noted beside what is true, so that misunderstandings
//! can be counted.
//!
//! Source: EconArena (Guo et al. 2024), appendix B; the wording is ours.

use async_trait::async_trait;

use crate::agent::Answer;
use crate::dialogue::{Dialogue, Turn};
use crate::forms::Thinking;
use crate::info::AgentInfo;
use crate::mind::{Mind, MindError};
use crate::turn::{self, Converses};

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo::conversing(
    "elicitation",
    "has the model state its understanding, beliefs and reasons around its answer, in one call",
    |seating| Ok(Box::new(Elicitation(seating.dialogue()))),
);

/// An agent whose model states beliefs and reasons in fields of their own.
#[derive(Debug)]
struct Elicitation(Dialogue);

#[async_trait]
impl Converses for Elicitation {
    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.0
    }

    async fn answer(&mut self, turn: Turn<'_>, mind: &dyn Mind) -> Result<Answer, MindError> {
        let turn = turn.thinking(Thinking::Stated(self.0.fields(turn.ask)));
        turn::take(&mut self.0, turn, mind).await
    }
}
