//! Answers to calls that put no ask of a game: a summary of what was said, and what somebody
//! else's reply states. Refuses every other call. Called by `answer.rs` before the schema or the
//! words of a request are looked at.

use serde_json::{Value, json};

use super::super::draw::Draw;
use super::super::schema::SENTENCES;

/// What the schema says of a field that is to be read from a quotation.
const QUOTED: &str = "as the quoted reply states it";

/// What begins each line of a quotation.
const MARK: &str = "> ";

/// What introduces the greatest length of a text.
const LENGTH: &str = "in at most ";

/// More sentences than this say nothing more.
const MOST_SENTENCES: i64 = 4;

/// A text of a few sentences, when the last line of a prompt wants one "in at most N words".
pub(super) fn summary(prompt: &str, draw: &mut Draw) -> Option<String> {
    let last_line = prompt.trim_end().lines().next_back()?;
    let (_, after) = last_line.rsplit_once(LENGTH)?;
    let (number, rest) = after.split_once(' ')?;
    let most: usize = number.parse().ok().filter(|_| rest.starts_with("words"))?;
    let count = draw.between(2, MOST_SENTENCES);
    let sentences = (0..count).map(|_| SENTENCES[draw.below(SENTENCES.len())]);
    let sentences: Vec<&str> = sentences.collect();
    let words = sentences.iter().flat_map(|sentence| sentence.split(' '));
    Some(words.take(most).collect::<Vec<_>>().join(" "))
}

/// The answer that a quoted reply states, as the schema wants it: the last option or number that
/// it names, null when there is none.
pub(super) fn reading(schema: &Value, prompt: &str) -> Option<String> {
    let properties = schema.get("properties")?.as_object()?;
    let (name, field) = properties.iter().next()?;
    let description = field.get("description")?.as_str()?;
    if !description.starts_with(QUOTED) {
        return None;
    }
    let reply = quotation(prompt);
    let ways = field.get("anyOf")?.as_array()?;
    let stated = ways.iter().filter_map(|way| stated(way, &reply));
    let last = stated.max_by_key(|(at, _)| *at);
    let value = last.map_or(Value::Null, |(_, value)| value);
    Some(json!({ name: value }).to_string())
}

/// The last quotation of a prompt.
fn quotation(prompt: &str) -> String {
    let lines: Vec<&str> = prompt.lines().collect();
    let quoted = lines
        .iter()
        .rev()
        .skip_while(|line| !line.starts_with(MARK))
        .take_while(|line| line.starts_with(MARK));
    let mut quoted: Vec<&str> = quoted.map(|line| &line[MARK.len()..]).collect();
    quoted.reverse();
    quoted.join("\n")
}

/// The last value of a kind that a text names, and where.
fn stated(way: &Value, text: &str) -> Option<(usize, Value)> {
    if let Some(options) = way.get("enum").and_then(Value::as_array) {
        let found = options.iter().filter_map(|option| {
            let at = text.to_lowercase().rfind(option.as_str()?)?;
            Some((at, option.clone()))
        });
        return found.max_by_key(|(at, _)| *at);
    }
    let is_whole = match way.get("type")?.as_str()? {
        "integer" => true,
        "number" => false,
        _ => return None,
    };
    let end = |keyword: &str| way.get(keyword).and_then(Value::as_f64);
    let legal = |number: &f64| {
        end("minimum").is_none_or(|least| *number >= least)
            && end("maximum").is_none_or(|most| *number <= most)
            && (!is_whole || number.fract() == 0.0)
    };
    let mut last = None;
    let mut at = 0;
    for word in text.split_inclusive(|letter: char| !letter.is_ascii_digit() && letter != '.') {
        let digits = word.trim_matches(|letter: char| !letter.is_ascii_digit());
        if let Some(number) = digits.parse().ok().filter(legal) {
            let value = if is_whole {
                json!(number as i64)
            } else {
                json!(number)
            };
            last = Some((at, value));
        }
        at += word.len();
    }
    last
}

#[cfg(test)]
mod tests {
    use super::super::super::draw::{Digest, Purpose};
    use super::*;

    #[test]
    fn a_text_of_so_many_words_is_prose_of_no_more() {
        let mut draw = Digest::of(1, b"x").draw(Purpose::Answer, 0);
        for most in [5, 12, 100] {
            let prompt = format!("Sum up.\nWrite plain sentences, in at most {most} words.");
            let text = summary(&prompt, &mut draw).unwrap();
            assert!(
                !text.is_empty() && text.split(' ').count() <= most,
                "{text}"
            );
        }
        assert_eq!(summary("In at most 5 words.\nYour bid?", &mut draw), None);
        assert_eq!(summary("in at most five words", &mut draw), None);
    }

    #[test]
    fn a_quoted_reply_is_read_and_nothing_around_it() {
        let schema = |way: Value| {
            json!({ "type": "object", "properties": { "bid": {
                "description": "as the quoted reply states it, or null",
                "anyOf": [way, { "type": "null" }] } } })
        };
        let prompt = |reply: &str| {
            format!("Asked:\n> Bid from 0 to 90?\n\nReplied:\n{reply}\n\nWhich bid of 77?")
        };
        let whole = || schema(json!({ "type": "integer", "minimum": 0, "maximum": 60 }));
        for (reply, expected) in [
            ("> I bid 40 or 50.\n> I have 300.", "{\"bid\":50}"),
            ("> I would rather not say.", "{\"bid\":null}"),
            ("> 12.5", "{\"bid\":null}"),
        ] {
            assert_eq!(
                reading(&whole(), &prompt(reply)).unwrap(),
                expected,
                "{reply}"
            );
        }
        let number = schema(json!({ "type": "number", "minimum": 0.0, "maximum": 60.0 }));
        assert_eq!(
            reading(&number, &prompt("> 12.5.")).unwrap(),
            "{\"bid\":12.5}"
        );
        let word = schema(json!({ "type": "string", "enum": ["stay", "go"] }));
        let said = prompt("> Stay? No, I'd Go, not stay");
        assert_eq!(reading(&word, &said).unwrap(), "{\"bid\":\"stay\"}");
        let list = schema(json!({ "type": "array" }));
        assert_eq!(reading(&list, &prompt("> 1, 2")).unwrap(), "{\"bid\":null}");
        let ask = json!({ "properties": { "bid": { "type": "integer" } } });
        assert_eq!(reading(&ask, &prompt("> 4")), None);
    }
}
