//! What a conversation is asked for: an ask, how it is put, and what is said before it. Made by
//! agents for `dialogue.rs`.

use agon_engine::{Ask, Foul};

use crate::forms::Thinking;

/// What a seat is asked, and how.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    /// The ask.
    pub ask: &'a Ask,
    /// The foul of the answer just before, when the ask is put again.
    pub refused: Option<&'a Foul>,
    /// Whether the model is to think aloud before it answers.
    pub thinking: Thinking,
    /// What the model is told just before the ask, this time only; not remembered.
    pub advice: Option<&'a str>,
}

impl<'a> Turn<'a> {
    /// An ask as it is.
    pub const fn plain(ask: &'a Ask, refused: Option<&'a Foul>) -> Self {
        Self {
            ask,
            refused,
            thinking: Thinking::None,
            advice: None,
        }
    }

    /// The same, with the model made to think so before it answers.
    #[must_use]
    pub fn thinking(self, thinking: Thinking) -> Self {
        Self { thinking, ..self }
    }

    /// The same, with something said before the ask.
    #[must_use]
    pub fn advised(self, advice: Option<&'a str>) -> Self {
        Self { advice, ..self }
    }
}
