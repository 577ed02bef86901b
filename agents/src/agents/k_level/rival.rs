//! One rival as a `k_level` seat imagines it: a conversation of its own that has heard
//! what the rival saw, and in which the rival's real answers stand as given. Makes no
//! calls; `k_level.rs` does.

use agon_engine::view::SeenEvent;
use agon_engine::{Action, Ask, Seat, Value};

use super::perspective::Perspective;
use crate::dialogue::Dialogue;
use crate::mind::MindError;

/// An imagined rival.
#[derive(Debug)]
pub struct Rival {
    /// Its seat.
    pub seat: Seat,
    dialogue: Dialogue,
    perspective: Perspective,
    /// What it is asked, until it is known what it answered.
    asked: Option<Ask>,
}

impl Rival {
    /// A rival of the seat `own`, with a conversation of its own.
    pub fn new(own: Seat, seat: Seat, dialogue: Dialogue) -> Self {
        Self {
            seat,
            dialogue,
            perspective: Perspective::new(own, seat),
            asked: None,
        }
    }

    /// Hears what the seat that imagines it heard.
    ///
    /// # Errors
    /// A template does not render.
    pub fn hear(&mut self, event: &SeenEvent) -> Result<(), MindError> {
        let Some(seen) = self.perspective.of(event) else {
            return Ok(());
        };
        let told = self.asked.as_ref().and_then(|ask| seen.fact(&ask.kind));
        let answer = told.cloned();
        if let Some(answer) = answer
            && let Some(ask) = self.asked.take()
        {
            let action = given(&ask, &answer);
            self.dialogue.assume(&ask, action);
        }
        self.dialogue.hear(&[seen])
    }

    /// Its conversation, once it is asked this.
    pub fn asked(&mut self, ask: &Ask) -> &mut Dialogue {
        if self.asked.as_ref() != Some(ask) {
            self.asked = Some(ask.clone());
        }
        &mut self.dialogue
    }
}

/// The answer that a public column holds; nothing where the seat gave none.
fn given(ask: &Ask, answer: &Value) -> Option<Action> {
    if *answer == Value::Nothing {
        return None;
    }
    let json = serde_json::to_value(answer).ok()?;
    ask.form.read(&json).ok()
}
