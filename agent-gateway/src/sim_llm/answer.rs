//! From a chat request to the text of its answer: by the schema of the request when there is one,
//! else after the last JSON example in the conversation, else as its words say, else in prose with
//! a number. Reads only what that needs; everything else in the body counts through its hash alone.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::draw::{Digest, Draw, Purpose};
use super::schema::{Obedience, SENTENCES, write_value};

mod words;

/// Characters of text per token, about right for English and good enough for a simulation.
const CHARS_PER_TOKEN: usize = 4;

/// Of a text full of braces only so many are tried as the start of a JSON example.
const EXAMPLE_TRIES: usize = 64;

/// The range of a number that nothing says anything about.
const USUAL_RANGE: (i64, i64) = (0, 100);

/// The fields of a chat request that matter.
#[derive(Debug, Deserialize)]
pub(super) struct Ask<'a> {
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
    response_format: Option<ResponseFormat>,
    #[serde(default)]
    stream: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    /// A string, or a list of parts; left as it stands until somebody needs it.
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct ResponseFormat {
    json_schema: Option<NamedSchema>,
}

#[derive(Debug, Deserialize)]
struct NamedSchema {
    schema: Option<Value>,
}

/// An answer, before it is wrapped for the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) content: String,
    pub(super) malformed: bool,
}

impl<'a> Ask<'a> {
    /// Reads a request body; the error says what a client is told.
    pub(super) fn parse(body: &'a [u8]) -> Result<Self, String> {
        let ask: Self = serde_json::from_slice(body)
            .map_err(|fault| format!("the request body is not a chat request: {fault}"))?;
        if ask.messages.is_empty() {
            return Err("`messages` must not be empty".to_owned());
        }
        if ask.stream == Some(true) {
            return Err("this simulated provider does not stream".to_owned());
        }
        Ok(ask)
    }

    pub(super) fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(super::MODEL)
    }

    pub(super) fn prompt_tokens(&self) -> u32 {
        let raw = |message: &Message<'_>| message.content.map_or(0, |content| content.get().len());
        tokens(self.messages.iter().map(raw).sum())
    }

    /// The answer; nonsense for a share of the requests. A re-ask is another body with more
    /// messages, hence another draw.
    pub(super) fn answer(&self, digest: Digest, malformed_rate: f64) -> Answer {
        let mut draw = digest.draw(Purpose::Answer, 0);
        let mut fate = digest.draw(Purpose::Malformed, self.messages.len() as u64);
        let malformed = fate.happens(malformed_rate);
        let content = if malformed {
            self.nonsense(&mut fate, &mut draw)
        } else {
            self.choice(&mut draw)
        };
        Answer { content, malformed }
    }

    fn choice(&self, draw: &mut Draw) -> String {
        if let Some(schema) = self.schema() {
            let mut content = String::with_capacity(128);
            write_value(schema, Obedience::Legal, draw, &mut content);
            return content;
        }
        // What was said last counts most: a re-ask without an example looks back to the ask.
        let said = ["user", "system"].into_iter().flat_map(|role| {
            self.messages
                .iter()
                .rev()
                .filter(move |message| message.role == role)
        });
        let mut range = None;
        for text in said.filter_map(Message::text) {
            range = range.or_else(|| stated_range(&text));
            if let Some(mut example) = last_example(&text) {
                fill(&mut example, range, draw);
                return example.to_string();
            }
        }
        let newest = self
            .messages
            .iter()
            .rev()
            .find(|message| message.role == "user");
        let newest = newest.and_then(Message::text).unwrap_or_default();
        if let Some(stated) = words::stated(&newest) {
            let mut content = String::new();
            write_value(&stated.schema, Obedience::Legal, draw, &mut content);
            if stated.as_object {
                return content;
            }
            return format!("My answer is {content}.");
        }
        let (low, high) = range.unwrap_or(USUAL_RANGE);
        let number = draw.between(low, high);
        let sentence = SENTENCES[draw.below(SENTENCES.len())];
        format!("{sentence} My answer is {number}.")
    }

    fn nonsense(&self, fate: &mut Draw, draw: &mut Draw) -> String {
        match (fate.below(4), self.schema()) {
            (0, _) => String::new(),
            (1, _) => {
                let mut whole = self.choice(draw);
                // Within the first half there is no complete value and, in prose, no number.
                let middle = (0..=whole.len() / 2)
                    .rev()
                    .find(|at| whole.is_char_boundary(*at));
                whole.truncate(middle.unwrap_or(0));
                whole
            }
            (2, Some(schema)) => {
                let mut content = String::new();
                write_value(schema, Obedience::OutOfRange, draw, &mut content);
                content
            }
            _ => "I would rather not say.".to_owned(),
        }
    }

    fn schema(&self) -> Option<&Value> {
        self.response_format
            .as_ref()?
            .json_schema
            .as_ref()?
            .schema
            .as_ref()
    }
}

impl Message<'_> {
    fn text(&self) -> Option<String> {
        match serde_json::from_str(self.content?.get()).ok()? {
            Value::String(text) => Some(text),
            Value::Array(parts) => Some(
                parts
                    .iter()
                    .filter_map(|part| part.get("text")?.as_str())
                    .collect(),
            ),
            _ => None,
        }
    }
}

/// About how many tokens so many characters are.
pub(super) fn tokens(chars: usize) -> u32 {
    u32::try_from(chars.div_ceil(CHARS_PER_TOKEN)).unwrap_or(u32::MAX)
}

/// The last JSON object that stands in the text, fenced or not.
fn last_example(text: &str) -> Option<Value> {
    let mut last = None;
    let mut from = 0;
    for _ in 0..EXAMPLE_TRIES {
        let Some(brace) = text[from..].find('{') else {
            break;
        };
        let start = from + brace;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                last = Some(value);
                from = start + values.byte_offset();
            }
            _ => from = start + 1,
        }
    }
    last
}

/// Puts choices of ours into an example: numbers from the stated range, if any, and text of ours
/// where the example has dots.
fn fill(example: &mut Value, range: Option<(i64, i64)>, draw: &mut Draw) {
    match example {
        Value::Number(_) => {
            if let Some((low, high)) = range {
                *example = Value::from(draw.between(low, high));
            }
        }
        Value::String(text) if text.contains("...") || text.contains('…') => {
            *text = SENTENCES[draw.below(SENTENCES.len())].to_owned();
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, range, draw)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| fill(field, range, draw)),
        _ => {}
    }
}

/// The last range of whole numbers that the text states: "between 0 and 100", "from 1 to 9",
/// "0-100", "[3, 7]".
fn stated_range(text: &str) -> Option<(i64, i64)> {
    let mut found = None;
    let mut previous: Option<(usize, usize, i64)> = None;
    for (start, end, value) in whole_numbers(text) {
        if let Some((before, after, low)) = previous {
            let lead = text[..before].trim_end();
            let introduced = ["between", "from", "range", "["].iter().any(|word| {
                lead.get(lead.len().saturating_sub(word.len())..)
                    .is_some_and(|end| end.eq_ignore_ascii_case(word))
            });
            let joined = match text[after..start].trim() {
                "to" | "-" | "–" | "through" => true,
                "and" | "," => introduced,
                _ => false,
            };
            if joined && low <= value {
                found = Some((low, value));
            }
        }
        previous = Some((start, end, value));
    }
    found
}

/// The whole numbers of a text with where they start and end. A minus counts as a sign only after
/// a space, a bracket or nothing; "0-100" is a range.
fn whole_numbers(text: &str) -> impl Iterator<Item = (usize, usize, i64)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let digits = at + bytes.get(at..)?.iter().position(u8::is_ascii_digit)?;
            let length = bytes[digits..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            at = digits + length;
            let signed = digits > 0
                && bytes[digits - 1] == b'-'
                && (digits < 2 || matches!(bytes[digits - 2], b' ' | b'[' | b'(' | b'\n'));
            let start = digits - usize::from(signed);
            // Longer than an i64 is not a range anybody means.
            if let Ok(value) = text[start..at].parse() {
                return Some((start, at, value));
            }
        }
    })
}

#[cfg(test)]
mod tests;
