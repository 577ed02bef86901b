//! The prediction chain of thought: in one call the model first predicts what every rival
//! will do, then answers. Only the answer is remembered; predictions are noted.
//!
//! Source: a baseline of K-Level Reasoning, arXiv 2402.01521, section 3.2.

use agon_engine::game::Timing;
use agon_engine::{Ask, Form, Seat};
use async_trait::async_trait;

use crate::agent::Answer;
use crate::agents::prediction::said;
use crate::dialogue::{Dialogue, Turn};
use crate::forms::Thinking;
use crate::info::{AgentInfo, Seating};
use crate::mind::{Mind, MindError};
use crate::notes::Prediction;
use crate::turn::{self, Converses};

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo {
    rehearsals: &["{}", r#"{ "reply": "text" }"#],
    ..AgentInfo::conversing(
        "prediction_chain_of_thought",
        "has the model predict every rival before it answers, in one call",
        |seating| Ok(Box::new(PredictionChainOfThought::new(&seating))),
    )
};

/// The level of its predictions: nobody is put in a rival's place.
const LEVEL: u32 = 0;

/// An agent whose model predicts the others before it answers.
#[derive(Debug)]
struct PredictionChainOfThought {
    dialogue: Dialogue,
    /// Whether all who are in play are asked the same at the same time.
    is_simultaneous: bool,
}

impl PredictionChainOfThought {
    fn new(seating: &Seating<'_>) -> Self {
        Self {
            dialogue: seating.dialogue(),
            is_simultaneous: seating.game.timing == Timing::Simultaneous,
        }
    }

    /// Whether others are not asked what this seat is asked, or may answer what it may
    /// not: where an ask has a way out, its range is the seat's own, a budget.
    fn predicts_in_words(&self, ask: &Ask) -> bool {
        let has_way_out = matches!(ask.form, Form::Integer { pass: Some(_), .. });
        has_way_out || !self.is_simultaneous
    }
}

#[async_trait]
impl Converses for PredictionChainOfThought {
    fn dialogue(&mut self) -> &mut Dialogue {
        &mut self.dialogue
    }

    async fn answer(&mut self, turn: Turn<'_>, mind: &dyn Mind) -> Result<Answer, MindError> {
        let table = self.dialogue.rivals();
        let rivals = table.others().into_iter();
        let rivals: Vec<(Seat, String)> = rivals.map(|seat| (seat, table.name(seat))).collect();
        if rivals.is_empty() {
            return turn::take(&mut self.dialogue, turn, mind).await;
        }
        let in_words = self.predicts_in_words(turn.ask);
        let turn = turn.thinking(Thinking::Foreseeing { in_words });
        let answer = turn::take(&mut self.dialogue, turn, mind).await?;
        let predicted = self
            .dialogue
            .last_reply()
            .map(|reply| said::predictions(turn.ask, &rivals, in_words, reply));
        let round = self.dialogue.round();
        self.dialogue.note(Prediction::Answers {
            round,
            level: LEVEL,
            depth: LEVEL + 1,
            predicted: predicted.unwrap_or_default(),
            tries: 1,
        });
        Ok(answer)
    }
}
