//! The prediction chain of thought: in one call the model first predicts what every rival
//! will do, then answers. Only the answer is remembered; predictions are noted.
//!
//! Source: a baseline of K-Level Reasoning, arXiv 2402.01521, section 3.2.

use agon_engine::game::Timing;
use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Form, Foul, Seat, registry};
use async_trait::async_trait;

use crate::agent::{Agent, Note, Verdict};
use crate::dialogue::{Dialogue, Thinking};
use crate::mind::{Mind, MindError};
use crate::prediction::{Predicted, said};
use crate::roster::Seating;
use crate::turn::{self, Turn};

/// The level of its predictions: nobody is put in a rival's place.
const LEVEL: u32 = 0;

/// An agent whose model predicts the others before it answers.
#[derive(Debug)]
pub struct PredictionChainOfThought {
    dialogue: Dialogue,
    /// Whether all who are in play are asked the same at the same time.
    is_simultaneous: bool,
}

impl PredictionChainOfThought {
    /// An agent at its seat.
    pub fn new(seating: &Seating<'_>) -> Self {
        let game = registry::find(seating.game);
        Self {
            dialogue: seating.dialogue(),
            is_simultaneous: game.is_ok_and(|game| game.info.timing == Timing::Simultaneous),
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
impl Agent for PredictionChainOfThought {
    async fn observe(&mut self, events: &[SeenEvent], _mind: &dyn Mind) -> Result<(), MindError> {
        self.dialogue.hear(events)
    }

    async fn act(
        &mut self,
        ask: &Ask,
        refused: Option<&Foul>,
        mind: &dyn Mind,
    ) -> Result<Result<Action, Foul>, MindError> {
        let table = self.dialogue.rivals();
        let rivals = table.others().into_iter();
        let rivals: Vec<(Seat, String)> = rivals.map(|seat| (seat, table.name(seat))).collect();
        if rivals.is_empty() {
            return turn::take(&mut self.dialogue, Turn::plain(ask, refused), mind).await;
        }
        let in_words = self.predicts_in_words(ask);
        let turn = Turn {
            thinking: Thinking::Foreseeing { in_words },
            ..Turn::plain(ask, refused)
        };
        let answer = turn::take(&mut self.dialogue, turn, mind).await?;
        let predicted = self
            .dialogue
            .last_reply()
            .map(|reply| said::predictions(ask, &rivals, in_words, reply));
        let predicted = Predicted {
            round: self.dialogue.round(),
            level: LEVEL,
            depth: LEVEL + 1,
            predicted: predicted.unwrap_or_default(),
            tries: 1,
        };
        self.dialogue.note(predicted.note());
        Ok(answer)
    }

    fn settle(&mut self, verdict: &Verdict) {
        self.dialogue.settle(verdict);
    }

    fn take_notes(&mut self) -> Vec<Note> {
        self.dialogue.take_notes()
    }
}
