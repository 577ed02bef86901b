//! The fields of a reply that states beliefs and reasons around its answer: which they
//! are, their schema, and what a reply said in them.
//!
//! Source: EconArena (Guo et al. 2024), appendix B.1 and B.5 (without history), B.4 and
//! B.8 (with history), B.3 and B.7 (step by step).

use agon_engine::Ask;
use serde_json::{Map, Value, json};

use super::{object_schema, or_null};
use crate::mind::Reply;
use crate::reading;
use crate::reading::json::Json;

/// Kinds of asks whose right answer lies in the player's own value, not in what most others
/// do: the bids of sealed auctions, and whether to stay in an ascending one. The paper's
/// auctions ask for no popular answer (appendix B.5), and they alone for the previous payoff
/// (appendix B.8).
const OF_OWN_VALUE: [&str; 2] = ["bid", "decision"];

/// Which fields are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fields {
    /// Before there is a past: what the game is about, and what others will answer.
    Opening,
    /// With a past: what the goal is, what the seat answered last, and what it got.
    Reviewing,
    /// What others will answer, and the answer, after thoughts in words.
    StepByStep,
}

/// What a field is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// What the model takes the game for.
    Understanding,
    /// The answer that it expects of most others.
    Popular,
    /// The goal, as it remembers it.
    Goal,
    /// Its own answer to the last ask of this kind.
    PreviousAnswer,
    /// What it got for that.
    PreviousPayoff,
    /// The answer.
    Answer,
    /// Why.
    Reason,
}

impl About {
    /// Its name in templates, and the name of its field in the reply to an ask.
    pub fn names(self, kind: &str) -> (&'static str, String) {
        let name = match self {
            Self::Understanding => "understanding",
            Self::Popular => return ("popular", format!("popular_{kind}")),
            Self::Goal => "goal",
            Self::PreviousAnswer => return ("previous_answer", format!("previous_{kind}")),
            Self::PreviousPayoff => "previous_payoff",
            Self::Answer => return ("answer", kind.to_owned()),
            Self::Reason => "reason",
        };
        (name, name.to_owned())
    }

    /// The name of its field in the reply to an ask.
    pub fn field(self, kind: &str) -> String {
        self.names(kind).1
    }

    fn schema(self, ask: &Ask) -> Value {
        let answer = ask.form.schema();
        match self {
            Self::Popular | Self::Answer => answer,
            Self::PreviousAnswer => or_null(answer),
            Self::PreviousPayoff => or_null(json!({ "type": "number" })),
            Self::Understanding | Self::Goal | Self::Reason => json!({ "type": "string" }),
        }
    }
}

impl Fields {
    /// The fields of a reply, in the order in which they are to be written.
    pub fn of(self, ask: &Ask) -> Vec<About> {
        let mut fields = match self {
            Self::Opening => vec![About::Understanding, About::Popular],
            Self::Reviewing => vec![About::Goal, About::PreviousAnswer, About::PreviousPayoff],
            Self::StepByStep => vec![About::Popular],
        };
        let of_own_value = OF_OWN_VALUE.contains(&&*ask.kind);
        fields.retain(|field| match field {
            About::Popular => !of_own_value,
            About::PreviousPayoff => of_own_value,
            _ => true,
        });
        fields.push(About::Answer);
        if self != Self::StepByStep {
            fields.push(About::Reason);
        }
        fields
    }
}

/// The schema of a reply with these fields. It leaves no room for words around the object, so
/// thoughts get a field of their own.
pub fn schema(ask: &Ask, fields: Fields) -> String {
    let mut list = fields.of(ask);
    if fields == Fields::StepByStep {
        list.insert(0, About::Reason);
    }
    let list = list.into_iter();
    object_schema(list.map(|field| (field.field(&ask.kind), field.schema(ask))))
}

/// What a reply said in the fields around its answer; null where it said nothing. None
/// when it is no object with the answer.
pub fn said(ask: &Ask, fields: Fields, reply: &Reply) -> Option<Map<String, Value>> {
    let objects = reading::embedded::values(reading::said(reply));
    let stated = objects
        .iter()
        .rev()
        .filter_map(Json::as_object)
        .find(|object| object.get(&ask.kind).is_some())?;
    let around = fields.of(ask).into_iter();
    let around = around.filter(|field| *field != About::Answer);
    let found = around.map(|field| {
        let name = field.field(&ask.kind);
        let value = stated.get(&name).map(Json::value).unwrap_or_default();
        (name, value)
    });
    Some(found.collect())
}
