//! What agents predict of the players around them: how an answer is told to a model, and
//! the note that lets a report compare it with what came. Used by `k_level` and by
//! `prediction_chain_of_thought`.

use std::collections::BTreeMap;

use agon_engine::{Action, Ask, Form, FoulKind, Seat};
use serde_json::{Value, json};

use crate::agent::Note;
use crate::forms::in_words;
use crate::mind::Reply;
use crate::reading;

pub mod said;

/// The kind of the note.
pub const NOTE: &str = "prediction";

/// The legal answer in a reply to an ask that is put for thinking alone.
///
/// # Errors
/// There is none; says why, as a foul would, but without words of the reply: what a model
/// makes up about others is told to nobody.
pub fn read(ask: &Ask, reply: &Reply) -> Result<Action, String> {
    let read = reading::read(ask, reply).map(|reading| reading.action);
    let legal = read.and_then(|action| ask.form.check(&action).map(|()| action));
    legal.map_err(|foul| match foul.kind {
        FoulKind::WrongType | FoulKind::NotAnOption => {
            format!("its {} is not {}", ask.kind, ask.form.describe())
        }
        _ => foul.reason,
    })
}

/// An answer as notes hold it: a number, a word, a seat, a list of numbers.
pub fn noted(form: &Form, action: &Action) -> Value {
    match action {
        Action::Pass => in_words(form, action).into(),
        action => json!(action),
    }
}

/// What was predicted at once, before one ask.
#[derive(Debug)]
pub struct Predicted {
    /// The round that the ask belongs to.
    pub round: u32,
    /// How deep these predictions are.
    pub level: u32,
    /// The level at which the seat itself answers.
    pub depth: u32,
    /// What each seat is predicted to answer; null where nothing could be read.
    pub predicted: BTreeMap<Seat, Value>,
    /// Calls that it took.
    pub tries: u32,
}

impl Predicted {
    /// The note of it.
    pub fn note(&self) -> Note {
        let predicted = self.predicted.iter();
        let predicted: serde_json::Map<String, Value> = predicted
            .map(|(seat, value)| (seat.to_string(), value.clone()))
            .collect();
        Note {
            kind: NOTE,
            body: json!({
                "round": self.round,
                "level": self.level,
                "depth": self.depth,
                "predicted": predicted,
                "tries": self.tries,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
