//! The tokens that a text is cut into: what each is, and what it does in a sentence.
//! `tokenizer.rs` makes them.

use agon_engine::numerals::Numeral;

use super::lexicon::{Class, Classes};

/// A piece of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// As it stands in the simplified text.
    pub text: &'a str,
    /// What it does in a sentence.
    pub classes: Classes,
    /// Whether it begins with a capital letter.
    pub is_capital: bool,
    /// Whether a blank stands before it.
    pub is_apart: bool,
    /// Whether it stands inside quotation marks.
    pub is_quoted: bool,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Letters, digits, `_` and `'`.
    Word,
    /// A number, whatever stands around it.
    Number(Numeral),
    /// Digits that make no single number.
    Broken,
    /// Any other letter that means something.
    Mark(char),
    /// The end of a sentence or line.
    End(char),
}

impl Token<'_> {
    /// Whether it does this in a sentence.
    pub fn is(&self, class: Class) -> bool {
        self.classes.has(class)
    }

    /// Whether it does any of these.
    pub fn is_any(&self, classes: &[Class]) -> bool {
        classes.iter().any(|class| self.is(*class))
    }

    /// Whether it is one of these words, with `|` between them.
    pub fn is_word(&self, words: &str) -> bool {
        self.kind == Kind::Word && words.split('|').any(|word| word == self.text)
    }

    /// Whether it is this mark.
    pub fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }

    /// Whether it is one of these marks.
    pub fn is_any_mark(&self, marks: &str) -> bool {
        matches!(self.kind, Kind::Mark(mark) if marks.contains(mark))
    }

    /// Whether it ends a sentence or line.
    pub fn is_end(&self) -> bool {
        matches!(self.kind, Kind::End(_))
    }

    /// Whether a calculation may go on behind it.
    pub fn is_term(&self) -> bool {
        matches!(self.kind, Kind::Number(_) | Kind::Broken | Kind::Mark(')'))
    }

    /// The number that it is.
    pub fn number(&self) -> Option<Numeral> {
        match self.kind {
            Kind::Number(numeral) => Some(numeral),
            _ => None,
        }
    }
}

/// Whether words stand at a place, one behind the other: "no bid|bids" is "no bid" or "no bids".
pub fn stand(tokens: &[Token<'_>], at: usize, words: &str) -> bool {
    let mut words = words.split(' ').enumerate();
    words.all(|(by, words)| {
        tokens
            .get(at + by)
            .is_some_and(|token| token.is_word(words))
    })
}
