//! What agents leave in the record: every kind of note and its body, in one place. Agents write
//! them, records keep them as JSON; `docs/record.md` tells what each of their fields means.

use std::collections::BTreeMap;

use agon_engine::Name;
use agon_engine::Seat;
use serde::Serialize;
use serde_json::{Map, Value};

/// What an agent concluded.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    kind: &'static str,
    body: Value,
}

impl Note {
    /// Its kind, as records name it.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Its content, as records hold it.
    pub fn body(&self) -> Value {
        self.body.clone()
    }

    fn of(kind: &'static str, body: &impl Serialize) -> Self {
        // Names are texts and numbers finite, so that nothing fails.
        let body = serde_json::to_value(body).unwrap_or_default();
        Self { kind, body }
    }
}

/// Defines bodies of notes, each with the kind that records name it by.
macro_rules! notes {
    ($(
        $(#[$about:meta])*
        $name:ident $kind:literal { $($(#[$of:meta])* $field:ident: $type:ty,)* }
    )*) => {
        $(
            $(#[$about])*
            #[derive(Debug, Clone, PartialEq, Serialize)]
            pub(crate) struct $name {
                $($(#[$of])* pub(crate) $field: $type,)*
            }

            impl From<$name> for Note {
                fn from(body: $name) -> Self {
                    Self::of($kind, &body)
                }
            }
        )*
    };
}

notes! {
    /// How a bidder thinks that the auction stands after an item.
    Belief "belief" {
        after_item: usize,
        believed: Status,
        truth: Status,
        errors: Vec<Mistake>,
        checked: usize,
        wrong: usize,
        tries: u32,
        corrected: bool,
        source: Source,
    }

    /// A bid, one note per reply; refused ones are noted as well.
    Bid "bid" {
        item: usize,
        round: u32,
        said: Value,
        read: Value,
        problem: Option<String>,
    }

    /// What a bidder intends.
    Plan "plan" {
        at_item: usize,
        priorities: Vec<Option<i64>>,
        strategy: Option<String>,
        tries: u32,
        source: Source,
        problems: Vec<String>,
        past_items: Vec<String>,
    }

    /// What a bidder thinks of a rival.
    Profile "profile" {
        after_item: usize,
        about: Seat,
        weights: BTreeMap<String, f64>,
        source: Source,
        tries: u32,
    }

    /// A reply that did not keep to the form it was asked for: how often that happens is a
    /// property of the model. So is one that only another model could make out.
    Reading "reading" {
        found_in: &'static str,
        repairs: Vec<&'static str>,
    }

    /// What a reply stated beside its answer.
    Reasons "reasons" {
        round: u32,
        ask: Name,
        said: Map<String, Value>,
        #[serde(rename = "true", skip_serializing_if = "Option::is_none")]
        truth: Option<Map<String, Value>>,
    }

    /// A first answer, what was said to it, and the last one.
    Refinement "refinement" {
        round: u32,
        first: Value,
        last: Value,
        feedback: Vec<Option<String>>,
    }

    /// What a model made of a round that is over.
    Reflection "reflection" {
        round: u32,
        text: Option<String>,
    }

    /// Somebody answered for a person who took too long.
    StandIn "stand_in" {
        ask: Name,
        strategy: String,
        reason: &'static str,
        deadline: String,
    }

    /// What a bidder chose before its bid.
    Strategy "strategy" {
        item: usize,
        round: u32,
        choice: Option<char>,
        uses_profile: bool,
        reason: String,
        tries: u32,
        source: Source,
    }

    /// What became of the oldest part of a conversation that was full.
    Summary "summary" {
        rounds: (u32, u32),
        tries: usize,
        source: Source,
        text: Option<String>,
        problems: Vec<String>,
    }

    /// Lessons for the next auction.
    Tips "tips" {
        tips: Vec<String>,
        source: Source,
    }
}

/// Where what an agent goes on with comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Source {
    Model,
    Kept,
    Auctioneer,
    Start,
    Forgotten,
}

/// How an auction stands for one bidder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Status {
    pub(crate) remaining_budget: Option<i64>,
    pub(crate) total_profits: BTreeMap<String, i64>,
    pub(crate) winning_bids: BTreeMap<String, BTreeMap<String, i64>>,
}

/// Something wrong with a belief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Mistake {
    #[serde(rename = "try")]
    pub(crate) try_number: u32,
    pub(crate) kind: MistakeKind,
    pub(crate) about: About,
    pub(crate) detail: String,
}

/// Kinds of mistakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MistakeKind {
    Shape,
    Budget,
    Profit,
    Wins,
}

/// Whom a mistake is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum About {
    #[serde(rename = "self")]
    Myself,
    Others,
}

/// What others are predicted to do or to think.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Prediction {
    Answers {
        round: u32,
        level: u32,
        depth: u32,
        predicted: BTreeMap<Seat, Value>,
        tries: u32,
    },
    Wants {
        item: usize,
        about: Seat,
        wants: Option<bool>,
        detail: String,
        source: Source,
    },
    Believes {
        item: usize,
        about: Seat,
        believes: BTreeMap<String, f64>,
        detail: Option<String>,
        source: Source,
    },
}

impl From<Prediction> for Note {
    fn from(body: Prediction) -> Self {
        Self::of("prediction", &body)
    }
}
