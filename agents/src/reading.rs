//! Reads a model's reply to an ask: as the JSON object it was asked for, else
//! from JSON inside the text, else from prose. Never guesses between two answers:
//! what is ambiguous is a foul, which costs one more call, while a misread answer
//! would spoil the session. Ranges are checked by the game. Takes time linear in
//! the reply's length, whatever is in it.

use agon_engine::{Action, Ask, Form, Foul, FoulKind};

use crate::mind::{CUT_OFF_THINKING, Reply};

pub mod embedded;
mod fields;
pub mod json;
mod keys;
mod parser;
pub mod prose;
mod structured;
mod thoughts;

pub use keys::{plain, same, snake};
pub use parser::Repair;

use json::{Json, Object};
use prose::{Namer, Stated};

/// An answer found in a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The answer; not yet checked for its range.
    pub action: Action,
    /// Where it was found.
    pub found_in: Place,
    /// What had to be mended before it could be read.
    pub repairs: Vec<Repair>,
}

/// Where in a reply an answer was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The whole reply is the object that was asked for.
    Structured,
    /// JSON among other text.
    Embedded,
    /// Words.
    Prose,
    /// Words that only another model could make out.
    Reader,
}

impl Place {
    /// Its name in notes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Structured => "structured",
            Self::Embedded => "embedded",
            Self::Prose => "prose",
            Self::Reader => "reader",
        }
    }
}

impl Reading {
    /// Whether the reply kept to the form that it was asked for.
    pub fn is_clean(&self) -> bool {
        self.found_in == Place::Structured && self.repairs.is_empty()
    }
}

/// Reads a reply.
///
/// # Errors
/// The foul: nothing, or no single answer, could be read.
pub fn read(ask: &Ask, reply: &Reply) -> Result<Reading, Foul> {
    read_among(ask, &[], reply)
}

/// Reads a reply of somebody who plays among others of these names: what is said of them is
/// no answer.
///
/// # Errors
/// As [`read`].
pub fn read_among(ask: &Ask, others: &[String], reply: &Reply) -> Result<Reading, Foul> {
    read_said(ask, others, reply).1
}

/// The same; also what was said, as it stood in the reply's JSON, if an answer or a foul was
/// found there.
pub(crate) fn read_said(
    ask: &Ask,
    others: &[String],
    reply: &Reply,
) -> (Option<Json>, Result<Reading, Foul>) {
    let namer = Namer::new(ask, others);
    if let Some(answered) = structured::read(ask, &namer, &reply.text) {
        return (Some(answered.said), answered.read);
    }
    let text = thoughts::without(&reply.text);
    let candidates = embedded::scan(text);
    if let Some(answered) = embedded::read(ask, &namer, text, &candidates) {
        let read = answered.read.and_then(|reading| {
            // Words behind the object may take it back.
            match prose::committed(ask, others, &text[answered.end..]) {
                Stated::One(action) if action != reading.action => Err(ambiguous(ask)),
                _ => Ok(reading),
            }
        });
        return (Some(answered.said), read);
    }
    // Words that were cut off may lack the part that matters ("33 is too low").
    if text.trim().is_empty() || !is_complete(reply) {
        return (None, Err(no_reply(ask, &reply.finish_reason)));
    }
    let read =
        prose::read_among(ask, others, &embedded::outside(text, &candidates)).map(|action| {
            Reading {
                action,
                found_in: Place::Prose,
                repairs: Vec::new(),
            }
        });
    (None, read)
}

/// Reads a reply that must hold the JSON object that was asked for, with the field as it was
/// named, among whatever else it says. Nothing is mended and no words are read; of several
/// such objects the last counts.
///
/// # Errors
/// The foul: there is no such object, or its field holds no answer.
pub fn read_as_asked(ask: &Ask, reply: &Reply) -> Result<Reading, Foul> {
    let text = thoughts::without(&reply.text);
    if text.trim().is_empty() || !is_complete(reply) {
        return Err(no_reply(ask, &reply.finish_reason));
    }
    let whole = text.trim();
    let mut found = embedded::scan(whole).into_iter().rev();
    let found = found.find_map(|candidate| {
        let value = candidate.value.as_object()?.get(&ask.kind)?.value();
        let is_whole = candidate.span.len() == whole.len();
        candidate.repairs.is_empty().then_some((value, is_whole))
    });
    let Some((value, is_whole)) = found else {
        let kind = &ask.kind;
        let reason = format!("the reply holds no JSON object with the field \"{kind}\"");
        return Err(Foul::new(FoulKind::Unreadable, reason));
    };
    let found_in = match is_whole {
        true => Place::Structured,
        false => Place::Embedded,
    };
    Ok(Reading {
        action: ask.form.read(&value)?,
        found_in,
        repairs: Vec::new(),
    })
}

/// Reads the value of an answer's field. Words inside it are read as prose.
fn read_value(ask: &Ask, value: &Json) -> Result<Action, Foul> {
    let read = ask.form.read(&value.value());
    let settled = match &read {
        // A word that is no option may still contain one ("Go to the bar").
        Ok(action @ Action::Choice(_)) => ask.form.check(action).is_ok(),
        Ok(_) => true,
        Err(_) => false,
    };
    if settled {
        return read;
    }
    match (&ask.form, value) {
        (_, Json::String(words)) => prose::read(ask, &words.replace('_', " ")).or(read),
        (Form::Division { .. }, Json::Object(object)) => amounts_by_number(object)
            .map(Action::Division)
            .map_or(read, Ok),
        _ => read,
    }
}

/// The whole number that a value states, in digits or words.
pub fn whole_number(value: &Json) -> Option<i64> {
    match Form::any_integer().read(&value.value()) {
        Ok(Action::Integer(number)) => Some(number),
        _ => None,
    }
}

/// The values of an object whose keys are numbered ("player_0", "1", "3rd"), whole numbers
/// all, in the order of those numbers.
fn amounts_by_number(object: &Object) -> Option<Vec<i64>> {
    let mut numbered = Vec::with_capacity(object.len());
    for (key, value) in object.iter() {
        let digits: String = key
            .chars()
            .skip_while(|letter| !letter.is_ascii_digit())
            .take_while(char::is_ascii_digit)
            .collect();
        numbered.push((digits.parse::<u64>().ok()?, whole_number(value)?));
    }
    numbered.sort_unstable();
    let distinct = numbered.windows(2).all(|pair| pair[0].0 != pair[1].0);
    distinct.then(|| numbered.into_iter().map(|(_, amount)| amount).collect())
}

/// Reads a reply that may be JSON of numbers and options and nothing else, where words in a
/// field answer nothing; none when it holds no answer.
pub(crate) fn as_json(ask: &Ask, reply: &Reply) -> Option<Result<Reading, Foul>> {
    let namer = Namer::new(ask, &[]);
    let text = thoughts::without(&reply.text);
    structured::read(ask, &namer, &reply.text)
        .or_else(|| embedded::read(ask, &namer, text, &embedded::scan(text)))
        .filter(|answered| {
            !answered.said.is_string() || ask.form.read(&answered.said.value()).is_ok()
        })
        .map(|answered| answered.read)
}

/// Whether a reply is all that the model wanted to say.
pub(crate) fn is_complete(reply: &Reply) -> bool {
    !matches!(
        &*reply.finish_reason,
        "length" | CUT_OFF_THINKING | "content_filter" | "refusal"
    )
}

/// Whether a reply ended before the model had said everything.
pub(crate) fn is_cut_off(reply: &Reply) -> bool {
    matches!(
        &*reply.finish_reason,
        "length" | CUT_OFF_THINKING | "content_filter"
    )
}

/// Names as messages list them.
pub(crate) fn in_quotes(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    quoted.join(", ")
}

/// What a reply says behind the thoughts that some models write first.
pub fn said(reply: &Reply) -> &str {
    thoughts::without(&reply.text).trim()
}

/// The same; a reply that is one object has no thoughts before it, whatever it quotes.
pub(crate) fn said_or_whole(reply: &Reply) -> &str {
    match is_object(&reply.text) {
        true => reply.text.trim(),
        false => said(reply),
    }
}

/// Whether a text is one JSON object and nothing else.
pub(crate) fn is_object(text: &str) -> bool {
    let parsed = serde_json::from_str::<Json>(text.trim());
    parsed.is_ok_and(|value| value.is_object())
}

/// The foul of a reply that names several answers.
pub(crate) fn ambiguous(ask: &Ask) -> Foul {
    let (kind, range) = (&ask.kind, ask.form.describe());
    let reason = format!("the reply names more than one {kind}: say a single one, {range}");
    Foul::new(FoulKind::Unreadable, reason)
}

/// What is said of a reply that is all thoughts.
pub(crate) const CUT_OFF_IN_THOUGHT: &str =
    "the token limit was reached before you finished thinking";

pub(crate) fn no_reply(ask: &Ask, finish_reason: &str) -> Foul {
    let kind = &ask.kind;
    let cause = match finish_reason {
        "length" => format!("the reply was cut off before it stated a {kind}"),
        CUT_OFF_THINKING => format!("{CUT_OFF_IN_THOUGHT}, so there is no {kind}"),
        "content_filter" | "refusal" => format!("the reply was withheld and states no {kind}"),
        _ => "the reply was empty".to_owned(),
    };
    Foul::new(FoulKind::NoReply, cause)
}

#[cfg(test)]
mod tests;
