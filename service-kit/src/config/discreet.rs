//! What faults of a file may say where secrets could stand in the wrong place: where the fault is,
//! in numbers, and which key is at fault; no line of the file, nothing that looks like a key and
//! nothing that is long enough to be one. Called by whoever reads such files.

use agon_outlets::line;

use super::ConfigError;
use crate::secrets::without_what_looks_like_keys;

/// A longer value is not repeated: it may be a secret, and where it stands is said anyway.
pub const LONGEST_VALUE: usize = 20;

/// What parsers say before the value that is not as it should be.
const BEFORE_VALUES: [&str; 2] = ["invalid type: ", "invalid value: "];

impl ConfigError {
    /// The fault without any value of the file.
    #[must_use]
    pub fn without_values(self) -> Self {
        let file = match &self.place {
            Some(place) => format!("{}:{}:{}", self.file, place.line, place.column),
            None => self.file,
        };
        Self {
            file,
            place: None,
            path: without_long_end(&shown(&self.path), &self.message),
            message: shown(&without_value(&self.message)),
        }
    }
}

/// The message with the type of a value alone.
fn without_value(message: &str) -> String {
    let begins = BEFORE_VALUES.iter().any(|begin| message.starts_with(begin));
    let place = message.find(['"', '`']).filter(|_| begins);
    let Some(start) = place else {
        return message.to_owned();
    };
    // A value may hold the quote that ends it; what is expected comes last.
    let end = message.rfind(", expected").filter(|end| *end > start);
    let end = end.unwrap_or(message.len());
    format!("{}{}", message[..start].trim_end(), &message[end..])
}

/// A name or a sentence as it may be shown: one line, nothing that looks like a key, and in quotes
/// nothing long.
pub fn shown(text: &str) -> String {
    without_long_values(&without_what_looks_like_keys(&line(text).to_string()))
}

/// A field that nobody knows may be a secret that stands where a name belongs.
pub fn without_long_end(path: &str, message: &str) -> String {
    let (before, end) = path.rsplit_once('.').unwrap_or(("", path));
    let is_unknown = message.starts_with("unknown field");
    match is_unknown && end.chars().count() > LONGEST_VALUE {
        true => before.to_owned(),
        false => path.to_owned(),
    }
}

/// Values stand in quotes, by every parser and in our own words. A string in the place of a section
/// is named by its type alone, however short.
fn without_long_values(message: &str) -> String {
    let is_string = message.contains("invalid type: string");
    let mut clean = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(start) = rest.find(['"', '`', '\'']) {
        let quote = &rest[start..=start];
        let Some(length) = rest[start + 1..].find(quote) else {
            break;
        };
        let (before, value) = (&rest[..start], &rest[start + 1..start + 1 + length]);
        clean.push_str(before);
        if is_string && before.ends_with("invalid type: string ") {
            clean.truncate(clean.trim_end().len());
        } else if value.chars().count() > LONGEST_VALUE {
            clean.push_str(&format!(
                "({} characters, not shown)",
                value.chars().count()
            ));
        } else {
            clean.push_str(&rest[start..start + length + 2]);
        }
        rest = &rest[start + length + 2..];
    }
    // A quote without its end: the rest may be a value.
    match rest.find(['"', '`']) {
        Some(start) if rest.len() - start > LONGEST_VALUE => clean.push_str(&rest[..start]),
        _ => clean.push_str(rest),
    }
    clean
}
