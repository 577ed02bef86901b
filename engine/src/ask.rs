//! What a seat is asked, what it may answer, and what makes an answer a foul.
//!
//! An [`Ask`] carries its legal range as a [`Form`]; the same form checks an
//! answer, becomes the JSON Schema a model is shown, and reads JSON back into an
//! [`Action`]. Games add checks of their own in [`crate::State::check`].

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::cents::Cents;
use crate::names::Name;

mod answers;
mod form;
mod read;

/// A place in a game, counted from 0.
pub type Seat = usize;

/// One question to one seat. At most one is open per seat at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// Who is asked.
    pub seat: Seat,
    /// What is asked ("guess", "bid", "vote"); also the name of the answer in
    /// structured replies and of the prompt template.
    pub kind: Name,
    /// What kind of answer it is, in the terms of any game.
    pub role: AskRole,
    /// What may be answered.
    pub form: Form,
    /// How many fouls are forgiven by asking again; one more forfeits the ask.
    pub foul_allowance: u32,
}

/// What an answer is, in the terms of any game: whoever reads or tells answers without
/// knowing the game goes by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskRole {
    /// An amount that is offered or claimed.
    Bid,
    /// A part of one's own means that is given to all.
    Contribution,
    /// A number that is compared with those of others.
    Guess,
    /// A number that says how good something is.
    Rating,
    /// One of several ways to act.
    Choice,
    /// For or against what somebody proposed.
    Vote,
    /// What each player is to get.
    Proposal,
    /// A player to act upon.
    Target,
}

/// The legal answers of an ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "snake_case")]
pub enum Form {
    /// A whole number, both ends included; `None` is open on that side. With
    /// `min` above `max` there is no legal number, and passing is all that is left.
    Integer {
        /// Smallest legal number.
        min: Option<i64>,
        /// Largest legal number.
        max: Option<i64>,
        /// A word that may be said instead of a number ("withdraw"), if any.
        pass: Option<Name>,
    },
    /// An amount of money in dollars and cents, both ends included. A whole amount is
    /// [`Action::Integer`], one with cents [`Action::Number`].
    Amount {
        /// Smallest legal amount, in dollars.
        min: i64,
        /// Largest legal amount, in dollars; `None` is open.
        max: Option<i64>,
    },
    /// A real number, both ends included.
    Number {
        /// Smallest legal number.
        min: f64,
        /// Largest legal number.
        max: f64,
    },
    /// One of several words. Case and surrounding blanks do not matter.
    Choice {
        /// The legal words, lower case.
        options: Cow<'static, [Name]>,
    },
    /// One of several seats, or a deliberate pass.
    Target {
        /// The legal seats, in order.
        seats: Vec<Seat>,
        /// The word for choosing nobody ("miss"), if that is legal.
        pass: Option<Name>,
    },
    /// Whole numbers, one per part, none negative, that add up to a total.
    Division {
        /// How many numbers.
        parts: usize,
        /// Their sum.
        total: i64,
    },
}

/// A seat's answer in the game's own terms.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Action {
    /// For [`Form::Integer`], and for whole amounts of [`Form::Amount`].
    Integer(i64),
    /// For [`Form::Number`], and for amounts with cents of [`Form::Amount`].
    Number(f64),
    /// For [`Form::Choice`].
    Choice(Name),
    /// For [`Form::Division`].
    Division(Vec<i64>),
    /// For [`Form::Target`]: the seat.
    Target(Seat),
    /// The pass word of the form was said. Serialised as `null`.
    Pass,
}

impl Action {
    /// The amount of money that it names, if it names one.
    pub fn amount(&self) -> Option<Cents> {
        match self {
            Self::Integer(dollars) => Some(Cents::dollars(*dollars)),
            Self::Number(dollars) => Cents::of(*dollars),
            _ => None,
        }
    }
}

impl From<Cents> for Action {
    fn from(amount: Cents) -> Self {
        match amount.whole_dollars() {
            Some(dollars) => Self::Integer(dollars),
            None => Self::Number(amount.in_dollars()),
        }
    }
}

/// What a game is handed for an ask.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A checked action.
    Given(Action),
    /// The seat fouled more often than the ask allows; the game's own rules say
    /// what that means.
    Forfeited,
}

impl Answer {
    /// The action, unless the ask was forfeited.
    pub fn action(&self) -> Option<&Action> {
        match self {
            Self::Given(action) => Some(action),
            Self::Forfeited => None,
        }
    }

    /// The whole number answered, if that is what was answered.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Given(Action::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// The number answered, whole or real, if that is what was answered.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Given(Action::Integer(number)) => Some(*number as f64),
            Self::Given(Action::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The word chosen, if that is what was answered.
    pub fn choice(&self) -> Option<&str> {
        match self {
            Self::Given(Action::Choice(word)) => Some(word),
            _ => None,
        }
    }
}

/// Why an answer is not legal. A foul changes nothing in the game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{reason}")]
pub struct Foul {
    /// The class that is counted.
    pub kind: FoulKind,
    /// One sentence to the player: what was wrong and what would be right.
    pub reason: String,
}

/// Classes of fouls, counted apart in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoulKind {
    /// No answer could be read from the reply.
    Unreadable,
    /// An answer of the wrong type (a word where a number was asked).
    WrongType,
    /// A number outside the legal range, or amounts that do not add up.
    OutOfRange,
    /// Not one of the legal options.
    NotAnOption,
    /// The reply was cut off, refused or filtered before an answer came.
    NoReply,
}

impl FoulKind {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::WrongType => "wrong_type",
            Self::OutOfRange => "out_of_range",
            Self::NotAnOption => "not_an_option",
            Self::NoReply => "no_reply",
        }
    }
}

impl Foul {
    /// A foul of a class with its sentence.
    pub fn new(kind: FoulKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
        }
    }
}
