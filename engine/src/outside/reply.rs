//! What another process says that a set of answers leads to: plain data, and untrusted. Checked by
//! `outside_game` before anything comes of it.

use serde::{Deserialize, Serialize};

use crate::ask::{Ask, AskRole, Form, FoulKind, Seat};
use crate::chance::Draw;
use crate::event::Event;
use crate::measures::Measures;
use crate::names::Name;

/// What answers lead to; so is the start of a game. Either answers are refused, and nothing else
/// is said, or the game moves on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideReply {
    /// Answers that do not count, for reasons that their forms do not know. Their seats are asked
    /// again, or have forfeited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refusal>,
    /// What happened, in order.
    #[serde(default)]
    pub events: Vec<Event>,
    /// What was drawn for it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub draws: Vec<Draw>,
    /// The open asks now; empty when the game has ended. Their forms are what answers are checked
    /// by.
    #[serde(default)]
    pub asks: Vec<AskGroup>,
    /// Each seat's payoff so far.
    #[serde(default)]
    pub payoffs: Vec<f64>,
    /// Scores and series; with the end of the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures: Option<Measures>,
}

/// The same ask to several seats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskGroup {
    /// Who is asked.
    pub seats: Vec<Seat>,
    /// As in [`Ask`].
    pub kind: Name,
    /// As in [`Ask`].
    pub role: AskRole,
    /// As in [`Ask`].
    pub form: Form,
    /// As in [`Ask`].
    pub foul_allowance: u32,
}

/// An answer that does not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// Whose.
    pub seat: Seat,
    /// The class in which it is counted.
    pub kind: FoulKind,
    /// One sentence to the player: what was wrong and what would be right.
    pub reason: String,
}

impl AskGroup {
    /// Asks in the groups that they fall into, each of neighbours that are asked the same.
    pub fn of(asks: &[Ask]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for ask in asks {
            match groups.last_mut().filter(|group| group.is_of(ask)) {
                Some(group) => group.seats.push(ask.seat),
                None => groups.push(Self {
                    seats: vec![ask.seat],
                    kind: ask.kind.clone(),
                    role: ask.role,
                    form: ask.form.clone(),
                    foul_allowance: ask.foul_allowance,
                }),
            }
        }
        groups
    }

    fn is_of(&self, ask: &Ask) -> bool {
        self.kind == ask.kind
            && self.role == ask.role
            && self.form == ask.form
            && self.foul_allowance == ask.foul_allowance
    }

    /// The asks of groups, in seat order.
    pub(crate) fn asks(groups: &[Self]) -> Vec<Ask> {
        let asks = groups.iter().flat_map(|group| {
            group.seats.iter().map(|seat| Ask {
                seat: *seat,
                kind: group.kind.clone(),
                role: group.role,
                form: group.form.clone(),
                foul_allowance: group.foul_allowance,
            })
        });
        let mut asks: Vec<Ask> = asks.collect();
        asks.sort_by_key(|ask| ask.seat);
        asks
    }
}

/// Options of a choice, and parts of a division.
const MOST_OPTIONS: usize = 1_000;

/// Bytes of an option.
const LONGEST_WORD: usize = 100;

impl Form {
    /// Whether there is something to answer, so that the form can be put and read.
    ///
    /// # Errors
    /// There is not; says why.
    pub(crate) fn check_legal(&self, seats: usize) -> Result<(), String> {
        let wrong = |why: &str| Err(why.to_owned());
        match self {
            Self::Integer { min, max, pass } => match (min, max) {
                (Some(min), Some(max)) if min > max && pass.is_none() => {
                    wrong("no whole number is legal, and nobody may pass")
                }
                _ => Ok(()),
            },
            Self::Amount { min, max } if max.is_some_and(|max| max < *min) => {
                wrong("no amount is legal")
            }
            // Their distance is finite only if both are.
            Self::Number { min, max } if !((max - min).is_finite() && min <= max) => wrong(
                "the ends of a number and their distance must be finite, the smaller end first",
            ),
            Self::Choice { options } if options.len() > MOST_OPTIONS => {
                wrong("a choice has more than a thousand options")
            }
            Self::Choice { options } => {
                let is_word = |option: &Name| {
                    !option.is_empty()
                        && option.len() <= LONGEST_WORD
                        && option.trim() == option
                        && option.to_lowercase() == *option
                };
                match options.iter().all(is_word) && !options.is_empty() {
                    true => Ok(()),
                    false => wrong("the options of a choice must be words in lower case"),
                }
            }
            Self::Target { seats: named, pass } => {
                if named.len() > seats {
                    return wrong("a target must be among seats that exist");
                }
                let exist = named.iter().all(|seat| *seat < seats);
                match exist && (!named.is_empty() || pass.is_some()) {
                    true => Ok(()),
                    false => wrong("a target must be among seats that exist"),
                }
            }
            Self::Division { parts, total }
                if *parts == 0 || *parts > MOST_OPTIONS || *total < 0 =>
            {
                wrong("a division needs 1 to 1000 parts and a total that is not negative")
            }
            Self::Amount { .. } | Self::Number { .. } | Self::Division { .. } => Ok(()),
        }
    }
}
