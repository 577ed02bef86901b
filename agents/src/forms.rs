//! The forms of answers: the schemas that replies are asked for with, and an answer as it
//! stands in a conversation or in a field. Called by `dialogue.rs` and by agents with
//! words of their own.

use std::fmt::Display;

use agon_engine::game::player_name;
use agon_engine::{Action, Ask, Form};
use serde_json::{Map, Value, json};

use crate::settings::ReplyStyle;

pub mod fields;

use fields::Fields;

/// The setting with the number of the wording in which the model is told to think.
pub const WORDING: &str = "wording";

/// How many wordings there are.
const WORDINGS: u64 = 5;

/// The wording in which the model is told to think, from 1; the first where none is set.
///
/// # Errors
/// There is none of this number.
pub fn wording(own: &Map<String, Value>) -> Result<u64, String> {
    let Some(given) = own.get(WORDING) else {
        return Ok(1);
    };
    let wording = given
        .as_u64()
        .filter(|number| (1..=WORDINGS).contains(number));
    wording.ok_or_else(|| format!("wording must be from 1 to {WORDINGS}, not {given}"))
}

/// Whether the model is asked to think aloud before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// The answer alone.
    None,
    /// The answer and the reasons behind it, in one reply.
    Explained,
    /// Reasons first, in the same reply.
    StepByStep,
    /// Beliefs and reasons in fields of their own, around the answer.
    Stated(Fields),
    /// First what every rival who is in play will do, in the same reply.
    Foreseeing {
        /// In words, where rivals are not asked what this seat is asked, or may answer
        /// what it may not; else as answers to the same ask.
        in_words: bool,
    },
}

impl Thinking {
    /// Whether the model is told to think step by step.
    pub fn is_step_by_step(self) -> bool {
        matches!(self, Self::StepByStep | Self::Stated(Fields::StepByStep))
    }

    /// Whether its thoughts stand in words before the object that is asked for.
    pub fn is_aloud(self, reply: ReplyStyle) -> bool {
        self == Self::Stated(Fields::StepByStep) && !reply.has_schema()
    }
}

/// The schema of an object with these fields and no others. Written out because the order of
/// fields is the order in which a model is made to write them.
pub fn object_schema<N: AsRef<str>, S: Display>(
    fields: impl IntoIterator<Item = (N, S)>,
) -> String {
    let fields = fields.into_iter();
    let (names, fields): (Vec<String>, Vec<String>) = fields
        .map(|(name, schema)| {
            let name = Value::from(name.as_ref()).to_string();
            let field = format!("{name}:{schema}");
            (name, field)
        })
        .unzip();
    format!(
        r#"{{"type":"object","properties":{{{}}},"required":[{}],"additionalProperties":false}}"#,
        fields.join(","),
        names.join(",")
    )
}

/// The schema of a text.
pub const TEXT: &str = r#"{"type":"string"}"#;

/// The schema of a reply: an object with the answer, and before it the reasons, beliefs or
/// predictions of these rivals when they are wanted.
pub fn reply_schema(ask: &Ask, thinking: Thinking, rivals: &[String]) -> String {
    let form = ask.form.schema().to_string();
    let answer = (&*ask.kind, &*form);
    match thinking {
        Thinking::None => object_schema([answer]),
        Thinking::Explained | Thinking::StepByStep => object_schema([("reason", TEXT), answer]),
        Thinking::Stated(fields) => fields::schema(ask, fields),
        Thinking::Foreseeing { in_words } => {
            let value = if in_words { TEXT } else { &form };
            let predictions = object_schema(rivals.iter().map(|name| (name, value)));
            object_schema([("predictions", &*predictions), answer])
        }
    }
}

/// A schema that also allows for nothing.
pub(crate) fn or_null(schema: Value) -> Value {
    let mut ways = match schema.get("anyOf").and_then(Value::as_array) {
        Some(ways) => ways.clone(),
        None => vec![schema],
    };
    ways.push(json!({ "type": "null" }));
    json!({ "anyOf": ways })
}

/// An answer in the form that is asked of models.
pub fn structured(kind: &str, form: &Form, action: &Action) -> String {
    let answer = match action {
        Action::Number(number) => number.to_string(),
        Action::Division(amounts) => format!("{amounts:?}"),
        action => answer_value(form, action).to_string(),
    };
    format!("{{\"{kind}\": {answer}}}")
}

/// An answer in words.
pub fn in_words(form: &Form, action: &Action) -> String {
    match action {
        Action::Integer(number) => number.to_string(),
        Action::Number(number) => number.to_string(),
        Action::Choice(word) => word.to_string(),
        Action::Target(seat) => player_name(*seat),
        Action::Division(amounts) => {
            let amounts: Vec<String> = amounts.iter().map(i64::to_string).collect();
            amounts.join(", ")
        }
        Action::Pass => match form {
            Form::Integer { pass, .. } | Form::Target { pass, .. } => pass.as_deref(),
            _ => None,
        }
        .unwrap_or("pass")
        .to_owned(),
    }
}

/// An answer as it stands in the field of a reply.
pub(crate) fn answer_value(form: &Form, action: &Action) -> Value {
    match action {
        Action::Integer(number) => json!(number),
        Action::Number(number) => json!(number),
        Action::Division(amounts) => json!(amounts),
        Action::Choice(_) | Action::Target(_) | Action::Pass => json!(in_words(form, action)),
    }
}
