//! What agents predict of the players around them: what is read from replies, and
//! how a note holds it. Used by `k_level` and by
//! `prediction_chain_of_thought`.

use agon_engine::{Action, Ask, Form, FoulKind};
use serde_json::{Value, json};

use crate::forms::in_words;
use crate::mind::Reply;
use crate::reading;

pub mod said;

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

#[cfg(test)]
mod tests;
