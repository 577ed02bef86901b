//! From a request to the text of its answer: by what it is for when it puts no ask, else by the
//! schema of the request when there is one, else
//! after the last JSON example in the conversation, else as its words say, else in prose with a
//! number. Then its length, as options and the request's limit want it, and what it used.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::charge::Usage;
use super::draw::{Digest, Draw, Purpose};
use super::options::SimOptions;
use super::schema::{Obedience, SENTENCES, write_value};

mod aside;
mod words;

/// Characters of text per token, about right for English and good enough for a simulation.
const CHARS_PER_TOKEN: usize = 4;

/// Of a text full of braces only so many are tried as the start of a JSON example.
const EXAMPLE_TRIES: usize = 64;

/// How the names of models begin that think before they answer, whatever the options say.
const THINKS: &str = "thinks";

/// How many tokens these think when the options do not say.
const USUAL_THOUGHTS: (u32, u32) = (100, 400);

/// The share of requests that are answered by chance although a plausible answer is known, and
/// the share that are not answered in the form asked for.
const SLIPS: f64 = 0.02;

/// The range of a number that nothing says anything about.
const USUAL_RANGE: (i64, i64) = (0, 100);

/// What matters of a request, whatever its protocol.
#[derive(Debug)]
pub(super) struct Ask<'a> {
    pub(super) model: Cow<'a, str>,
    pub(super) messages: Vec<Message<'a>>,
    /// What the answer must satisfy.
    pub(super) schema: Option<Value>,
    /// The tool that must be called; the answer is its input.
    pub(super) tool: Option<String>,
    /// The most tokens of the answer, thoughts included.
    pub(super) most_output: Option<u32>,
    /// How many likely tokens are told with each token, where the protocol has that.
    pub(super) logprobs: Option<u32>,
    /// What whoever asks thinks plausible.
    pub(super) plausible: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message<'a> {
    /// `system`, `user` or `assistant`.
    #[serde(borrow)]
    pub(super) role: Cow<'a, str>,
    /// A string, or a list of parts; left as it stands until somebody needs it.
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
}

/// An answer, before it is wrapped for the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) content: String,
    pub(super) malformed: bool,
    /// It ends where the request allows no more tokens.
    pub(super) cut: bool,
    pub(super) usage: Usage,
}

impl Ask<'_> {
    /// The answer and what it used.
    pub(super) fn answer(&self, digest: Digest, options: &SimOptions) -> Answer {
        let (mut content, malformed) = self.text(digest, options.malformed_rate);
        let most = self.most_output.unwrap_or(u32::MAX);
        let thoughts = options.reasoning_tokens;
        let thinks = self.thinks();
        let thoughts = thoughts.or_else(|| thinks.then_some(USUAL_THOUGHTS));
        let thoughts = thoughts.map_or(0, |range| drawn(range, digest, Purpose::Reasoning));
        let input = self.prompt_tokens();
        let cached = (f64::from(input) * options.cached_share) as u32;
        // Such a model thinks first, and may come to no answer.
        if thinks && thoughts >= most {
            return Answer {
                content: String::new(),
                malformed,
                cut: true,
                usage: Usage {
                    input,
                    cached,
                    output: most,
                    reasoning: most,
                },
            };
        }
        let most = if thinks { most - thoughts } else { most };
        let cut = tokens(content.len()) > most;
        if cut {
            let room = most as usize * CHARS_PER_TOKEN;
            content.truncate(content.floor_char_boundary(room));
        }
        if let Some(range) = options.reply_tokens {
            let wanted = drawn(range, digest, Purpose::Length).min(most);
            lengthen(&mut content, wanted as usize * CHARS_PER_TOKEN);
        }
        let said = tokens(content.len());
        let reasoning = match thinks {
            true => thoughts,
            false => thoughts.min(most - said.min(most)),
        };
        let usage = Usage {
            input,
            cached,
            output: said.saturating_add(reasoning),
            reasoning,
        };
        Answer {
            content,
            malformed,
            cut,
            usage,
        }
    }

    /// Whether its model thinks by its name.
    pub(super) fn thinks(&self) -> bool {
        let name = self.model.rsplit('/').next().unwrap_or_default();
        name.starts_with(THINKS)
    }

    /// Characters of all messages, by which some providers estimate tokens.
    pub(super) fn characters(&self) -> u64 {
        let texts = self.messages.iter().filter_map(Message::text);
        texts.map(|text| text.chars().count() as u64).sum()
    }

    fn prompt_tokens(&self) -> u32 {
        let raw = |message: &Message<'_>| message.content.map_or(0, |content| content.get().len());
        tokens(self.messages.iter().map(raw).sum())
    }

    /// What is said; nonsense for a share of the requests, which the second value tells. A re-ask
    /// is another body with more messages, hence another draw.
    fn text(&self, digest: Digest, malformed_rate: f64) -> (String, bool) {
        let mut draw = digest.draw(Purpose::Answer, 0);
        let mut fate = digest.draw(Purpose::Malformed, self.messages.len() as u64);
        // A simulated player that usually makes sense also slips in its form now and then.
        let slips = self.plausible.is_some() && fate.happens(SLIPS);
        let malformed = slips || fate.happens(malformed_rate);
        let content = if malformed {
            self.nonsense(&mut fate, &mut draw)
        } else {
            self.choice(&mut draw)
        };
        (content, malformed)
    }

    fn choice(&self, draw: &mut Draw) -> String {
        if let Some(plausible) = &self.plausible
            && !draw.happens(SLIPS)
        {
            return plausible.clone();
        }
        self.any_choice(draw)
    }

    /// A choice that nothing but the request speaks for.
    fn any_choice(&self, draw: &mut Draw) -> String {
        let newest = self.newest();
        let aside = match &self.schema {
            Some(schema) => aside::reading(schema, &newest),
            None => aside::summary(&newest, draw),
        };
        if let Some(content) = aside {
            return content;
        }
        if let Some(schema) = &self.schema {
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
        if let Some(stated) = words::stated(&newest) {
            let mut content = String::new();
            write_value(&stated.schema, Obedience::Legal, draw, &mut content);
            if stated.as_object {
                return content;
            }
            let mut said = String::new();
            for name in stated.lines {
                let mut value = String::new();
                write_value(&stated.schema, Obedience::Legal, draw, &mut value);
                said.push_str(&format!("{name}: {value}\n"));
            }
            return format!("{said}My answer is {content}.");
        }
        let (low, high) = range.unwrap_or(USUAL_RANGE);
        let number = draw.between(low, high);
        let sentence = SENTENCES[draw.below(SENTENCES.len())];
        format!("{sentence} My answer is {number}.")
    }

    /// The newest thing that the user said.
    fn newest(&self) -> String {
        let mut said = self.messages.iter().rev();
        let newest = said.find(|message| message.role == "user");
        newest.and_then(Message::text).unwrap_or_default()
    }

    fn nonsense(&self, fate: &mut Draw, draw: &mut Draw) -> String {
        match (fate.below(4), &self.schema) {
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
            (2, None) => self.undecided(draw),
            _ => "I would rather not say.".to_owned(),
        }
    }

    /// Two answers in words, neither of them the speaker's last word.
    fn undecided(&self, draw: &mut Draw) -> String {
        let stated = words::stated(&self.newest());
        let Some(stated) = stated.filter(|stated| !stated.as_object) else {
            return "I would rather not say.".to_owned();
        };
        let [mut one, mut other] = [String::new(), String::new()];
        write_value(&stated.schema, Obedience::Legal, draw, &mut one);
        write_value(&stated.schema, Obedience::Legal, draw, &mut other);
        format!("It could be {one}, and it could be {other}.")
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

fn drawn((least, most): (u32, u32), digest: Digest, purpose: Purpose) -> u32 {
    let drawn = digest
        .draw(purpose, 0)
        .between(i64::from(least), i64::from(most));
    u32::try_from(drawn).unwrap_or(u32::MAX)
}

/// Makes a text so many bytes long without changing what it says: spaces after JSON, idle talk
/// before prose, whose last number counts. Nothing is made of nothing.
fn lengthen(content: &mut String, length: usize) {
    let missing = length.saturating_sub(content.len());
    if missing == 0 || content.is_empty() {
        return;
    }
    if content.starts_with(['{', '[', '"']) {
        content.extend(std::iter::repeat_n(' ', missing));
        return;
    }
    let sentences = SENTENCES.into_iter().flat_map(|said| [said, " "]).cycle();
    let mut talk: String = sentences.flat_map(str::chars).take(missing).collect();
    talk.push_str(content);
    *content = talk;
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
