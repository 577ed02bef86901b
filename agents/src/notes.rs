//! What agents leave in the record: every kind of note and its body, in one place. Agents write
//! them, records keep them as JSON; `docs/record.md` tells what each of their fields means.

use std::collections::BTreeMap;

use agon_engine::Name;
use agon_engine::Seat;
use serde::Serialize;
use serde_json::{Map, Value};

/// What an agent concluded.
#[derive(Debug, Clone, PartialEq)]
pub struct Note(Body);

impl Note {
    /// Its kind, as records name it.
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// Its content, as records hold it.
    pub fn body(&self) -> Value {
        // Names are texts and numbers finite, so that nothing fails.
        self.0.body().unwrap_or_default()
    }
}

macro_rules! kinds {
    ($($name:ident $kind:literal,)*) => {
        #[derive(Debug, Clone, PartialEq)]
        enum Body {
            $($name($name),)*
        }

        impl Body {
            fn kind(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $kind,)*
                }
            }

            fn body(&self) -> serde_json::Result<Value> {
                match self {
                    $(Self::$name(body) => serde_json::to_value(body),)*
                }
            }
        }

        $(impl From<$name> for Note {
            fn from(body: $name) -> Self {
                Self(Body::$name(body))
            }
        })*
    };
}

kinds! {
    Belief "belief",
    Bid "bid",
    Plan "plan",
    Prediction "prediction",
    Profile "profile",
    Reading "reading",
    Reasons "reasons",
    Refinement "refinement",
    Reflection "reflection",
    StandIn "stand_in",
    Strategy "strategy",
    Summary "summary",
    Tips "tips",
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

/// How a bidder thinks that the auction stands after an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Belief {
    pub(crate) after_item: usize,
    pub(crate) believed: Status,
    pub(crate) truth: Status,
    pub(crate) errors: Vec<Mistake>,
    pub(crate) checked: usize,
    pub(crate) wrong: usize,
    pub(crate) tries: u32,
    pub(crate) corrected: bool,
    pub(crate) source: Source,
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

/// A bid, one note per reply; refused ones are noted as well.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Bid {
    pub(crate) item: usize,
    pub(crate) round: u32,
    pub(crate) said: Value,
    pub(crate) read: Value,
    pub(crate) problem: Option<String>,
}

/// What a bidder intends.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Plan {
    pub(crate) at_item: usize,
    pub(crate) priorities: Vec<Option<i64>>,
    pub(crate) strategy: Option<String>,
    pub(crate) tries: u32,
    pub(crate) source: Source,
    pub(crate) problems: Vec<String>,
    pub(crate) past_items: Vec<String>,
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

/// What a bidder thinks of a rival.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Profile {
    pub(crate) after_item: usize,
    pub(crate) about: Seat,
    pub(crate) weights: BTreeMap<String, f64>,
    pub(crate) source: Source,
    pub(crate) tries: u32,
}

/// A reply that did not keep to the form it was asked for: how often that happens is a
/// property of the model. So is one that only another model could make out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Reading {
    pub(crate) found_in: &'static str,
    pub(crate) repairs: Vec<&'static str>,
}

/// What a reply stated beside its answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Reasons {
    pub(crate) round: u32,
    pub(crate) ask: Name,
    pub(crate) said: Map<String, Value>,
    #[serde(rename = "true", skip_serializing_if = "Option::is_none")]
    pub(crate) truth: Option<Map<String, Value>>,
}

/// A first answer, what was said to it, and the last one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Refinement {
    pub(crate) round: u32,
    pub(crate) first: Value,
    pub(crate) last: Value,
    pub(crate) feedback: Vec<Option<String>>,
}

/// What a model made of a round that is over.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Reflection {
    pub(crate) round: u32,
    pub(crate) text: Option<String>,
}

/// Somebody answered for a person who took too long.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct StandIn {
    pub(crate) ask: Name,
    pub(crate) strategy: String,
    pub(crate) reason: &'static str,
    pub(crate) deadline: String,
}

/// What a bidder chose before its bid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Strategy {
    pub(crate) item: usize,
    pub(crate) round: u32,
    pub(crate) choice: Option<char>,
    pub(crate) uses_profile: bool,
    pub(crate) reason: String,
    pub(crate) tries: u32,
    pub(crate) source: Source,
}

/// What became of the oldest part of a conversation that was full.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Summary {
    pub(crate) rounds: (u32, u32),
    pub(crate) tries: usize,
    pub(crate) source: Source,
    pub(crate) text: Option<String>,
    pub(crate) problems: Vec<String>,
}

/// Lessons for the next auction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Tips {
    pub(crate) tips: Vec<String>,
    pub(crate) source: Source,
}
