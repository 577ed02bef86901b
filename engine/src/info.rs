//! What a game says of itself, the same for all parameters: for lists, for experiments,
//! and for agents and reports, which work with any game and go by nothing else.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::names::Name;

/// What kind of game it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameInfo {
    /// Name in experiment files, records and template folders.
    pub name: Name,
    /// Name for people.
    pub title: Name,
    /// One sentence for `agon games`.
    pub summary: Name,
    /// Version of the rules. Part of every session id: raise it whenever the
    /// same answers could lead to another record.
    pub rules_version: u32,
    /// Fewest and most seats.
    pub seats: (usize, usize),
    /// Whether seats move at the same time or one after another.
    pub timing: Timing,
    /// Whether the game draws from [`crate::Chance`].
    pub chance: bool,
    /// Whether a seat may know something that another may not.
    pub hidden_information: bool,
    /// Where rules and measures come from.
    pub source: Name,
    /// Names of facts that mean the same in every game.
    pub facts: FactNames,
}

impl GameInfo {
    /// What most games are, without names.
    pub const USUAL: Self = Self {
        name: Name::Borrowed(""),
        title: Name::Borrowed(""),
        summary: Name::Borrowed(""),
        rules_version: 1,
        seats: (2, 1000),
        timing: Timing::Simultaneous,
        chance: false,
        hidden_information: true,
        source: Name::Borrowed(""),
        facts: FactNames::NONE,
    };
}

/// Who moves when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timing {
    /// All seats are asked at once.
    Simultaneous,
    /// At least some asks wait for the answers of others in the same round.
    Sequential,
}

/// What a game calls facts that mean the same in every game.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FactNames {
    /// The seats that are still in play, in the newest event that has it; `None` where
    /// nobody is ever out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_play: Option<Name>,
    /// In the briefing, what each seat is called; `None` where seats have no names of
    /// their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat_names: Option<Name>,
    /// Further facts that list seats.
    #[serde(skip_serializing_if = "is_empty")]
    pub seat_lists: Cow<'static, [Name]>,
    /// What a seat is told as its own and everybody as a column: the name of its own
    /// fact, and that of the column.
    #[serde(skip_serializing_if = "is_empty")]
    pub columns: Cow<'static, [(Name, Name)]>,
    /// A flag of a seat's own, and the list of the seats for which it is set.
    #[serde(skip_serializing_if = "is_empty")]
    pub flags: Cow<'static, [(Name, Name)]>,
}

impl FactNames {
    /// No such facts.
    pub const NONE: Self = Self {
        in_play: None,
        seat_names: None,
        seat_lists: Cow::Borrowed(&[]),
        columns: Cow::Borrowed(&[]),
        flags: Cow::Borrowed(&[]),
    };

    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }
}

fn is_empty<T>(names: &[T]) -> bool {
    names.is_empty()
}
