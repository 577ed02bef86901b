//! Values in words: numbers without superfluous digits, lists, yes and no, texts on
//! one line. Knows no game. Called by the other files of the story.

use agon_engine::Value;
use agon_outlets::line;
use serde_json::Value as Json;

/// Digits after the point that a reader needs.
const DECIMALS: usize = 4;

/// A number without zeros at its end.
pub fn number(number: f64) -> String {
    if number.fract() == 0.0 {
        return format!("{number:.0}");
    }
    let text = format!("{number:.DECIMALS$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A value of an event.
pub fn value(given: &Value) -> String {
    match given {
        Value::Nothing => "none".to_owned(),
        Value::Flag(flag) => yes_or_no(*flag).to_owned(),
        Value::Integer(whole) => whole.to_string(),
        Value::Number(real) => number(*real),
        Value::Text(text) => one_line(text),
        Value::Integers(_) | Value::Numbers(_) | Value::List(_) => {
            let entries: Vec<String> = (0..given.len())
                .map(|place| value(&given.entry(place)))
                .collect();
            format!("[{}]", entries.join(", "))
        }
    }
}

/// Named values: `players 2, golds 30`.
pub fn facts<'a, N: AsRef<str> + 'a>(facts: impl Iterator<Item = (N, Value)>) -> String {
    let parts: Vec<String> = facts
        .map(|(name, found)| format!("{} {}", name.as_ref().replace('_', " "), value(&found)))
        .collect();
    parts.join(", ")
}

/// A value of JSON without quotation marks; objects as `name value` pairs.
pub fn json(given: &Json) -> String {
    match given {
        Json::Null => "none".to_owned(),
        Json::Bool(flag) => yes_or_no(*flag).to_owned(),
        Json::Number(found) => found.as_f64().map_or_else(|| found.to_string(), number),
        Json::String(text) => one_line(text),
        Json::Array(entries) => {
            let entries: Vec<String> = entries.iter().map(json).collect();
            format!("[{}]", entries.join(", "))
        }
        Json::Object(map) => {
            let pairs: Vec<String> = map
                .iter()
                .map(|(name, found)| match found {
                    Json::Object(_) => format!("{name} ({})", json(found)),
                    _ => format!("{name} {}", json(found)),
                })
                .collect();
            pairs.join(", ")
        }
    }
}

/// A text on one line, in which nothing speaks to a terminal.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    line(&words.join(" ")).to_string()
}

/// `1 item`, `3 items`.
pub fn counted(number: i64, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

fn yes_or_no(flag: bool) -> &'static str {
    if flag { "yes" } else { "no" }
}
