//! What faults of a file may say where secrets could stand in the wrong place: where the fault is,
//! in numbers, and which key is at fault; no line of the file, nothing that looks like a key and
//! nothing that is long enough to be one. Called by whoever reads such files.

use agon_outlets::line;

use super::ConfigError;
use crate::secrets::{is_of_word, is_random_word, is_secret_name, without_what_looks_like_keys};

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

/// What parsers say of a text that stands where the place of a secret belongs.
const NO_SOURCE: (&str, &str) = ("unknown variant `", "expected `env` or `file`");

/// The message with the type of a value alone.
fn without_value(message: &str) -> String {
    let is_of_secret = message.starts_with(NO_SOURCE.0) && message.ends_with(NO_SOURCE.1);
    let begins = is_of_secret || BEFORE_VALUES.iter().any(|begin| message.starts_with(begin));
    let place = message.find(['"', '`']).filter(|_| begins);
    let Some(start) = place else {
        return message.to_owned();
    };
    // A value may hold the quote that ends it; what is expected comes last.
    let end = message.rfind(", expected").filter(|end| *end > start);
    let end = end.unwrap_or(message.len());
    format!("{}{}", message[..start].trim_end(), &message[end..])
}

/// A line with an asterisk for every character of its random words.
fn without_random_words(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut rest = line;
    while !rest.is_empty() {
        let length = rest.bytes().take_while(|byte| is_of_word(*byte)).count();
        let (word, behind) = rest.split_at(length);
        match is_random_word(word) {
            true => shown.extend(std::iter::repeat_n('*', word.len())),
            false => shown.push_str(word),
        }
        let mut letters = behind.chars();
        shown.extend(letters.next());
        rest = letters.as_str();
    }
    shown
}

/// A line of TOML with an asterisk for every character of a value that stands behind the name of a
/// secret, so that columns stay where they are.
pub(super) fn masked(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut name = String::new();
    let mut quote: Option<char> = None;
    // Whether values are secrets here, and in each table and list around this place.
    let mut is_secret = false;
    let mut around: Vec<(char, bool)> = Vec::new();
    for letter in line.chars() {
        let mut is_form = quote.is_none_or(|quote| quote == letter);
        match (quote, letter) {
            (Some(open), _) => {
                name.push(letter);
                quote = quote.filter(|_| letter != open);
            }
            (None, '"' | '\'') => quote = Some(letter),
            // Of `==` the second has no name before it.
            (None, '=' | ':') if name.trim().is_empty() => {}
            (None, '=' | ':') => {
                let inside = around.last().is_some_and(|(_, secret)| *secret);
                is_secret = inside || is_secret_name(name.trim());
                name.clear();
            }
            (None, '{' | '[') => {
                around.push((letter, is_secret));
                is_secret &= letter == '[';
                name.clear();
            }
            (None, '}' | ']') => is_secret = around.pop().is_some_and(|(_, secret)| secret),
            // In a list the next value follows; anywhere else another name.
            (None, ',') => {
                is_secret &= around.last().is_some_and(|(kind, _)| *kind == '[');
                name.clear();
            }
            _ => {
                is_form = letter.is_whitespace();
                name.push(letter);
            }
        }
        shown.push(if is_secret && !is_form { '*' } else { letter });
    }
    without_random_words(&shown)
}

/// A name or a sentence as it may be shown: one line, nothing that looks like a key, and in quotes
/// nothing long, apart from the names that would have been right.
pub fn shown(text: &str) -> String {
    let (text, known) = text.split_at(known_names(text).unwrap_or(text.len()));
    let text = without_long_values(&without_what_looks_like_keys(&line(text).to_string()));
    format!("{text}{known}")
}

/// What parsers say before a name that is missing: it stands in this program, and in no file.
const BEFORE_MISSING: &str = "missing field `";

/// What parsers say before a name that nobody knows.
const BEFORE_UNKNOWN: [&str; 2] = ["unknown field `", "unknown variant `"];

/// Where the names begin that a parser knows, which stand in this program: behind the last of these
/// words, as the unknown name may hold them, too.
fn known_names(message: &str) -> Option<usize> {
    let missing = message.strip_prefix(BEFORE_MISSING);
    if let Some(name) = missing.and_then(|name| name.strip_suffix('`'))
        && !name.contains('`')
    {
        return Some(0);
    }
    let is_unknown = BEFORE_UNKNOWN
        .iter()
        .any(|begin| message.starts_with(begin));
    let start = message.rfind("`, expected ").filter(|_| is_unknown)?;
    let names = message[start + "`, expected ".len()..].strip_suffix('`')?;
    let names = names
        .strip_prefix("one of ")
        .unwrap_or(names)
        .strip_prefix('`')?;
    let are_names = names.bytes().all(|byte| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-`, or".contains(&byte)
    });
    are_names.then_some(start + 1)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_be_right_are_shown_whatever_their_length_and_no_other() {
        let long = "a_name_of_more_than_20_letters";
        for (message, expected) in [
            (
                format!("unknown field `minutes`, expected one of `tokens`, `{long}`"),
                format!("unknown field `minutes`, expected one of `tokens`, `{long}`"),
            ),
            (
                format!("unknown field `minutes`, expected `{long}` or `other_{long}`"),
                format!("unknown field `minutes`, expected `{long}` or `other_{long}`"),
            ),
            (
                format!("unknown field `{long}`, expected `{long}`"),
                format!("unknown field (30 characters, not shown), expected `{long}`"),
            ),
            (
                format!("unknown field `a`, expected `{long}`, there are no fields"),
                "unknown field `a`, expected (30 characters, not shown), there are no fields"
                    .to_owned(),
            ),
            (
                format!("missing field `{long}`"),
                format!("missing field `{long}`"),
            ),
            (
                format!("missing field `a` or `{long}`"),
                "missing field `a` or (30 characters, not shown)".to_owned(),
            ),
            (
                format!("wrong: `a`, expected `{long}`"),
                "wrong: `a`, expected (30 characters, not shown)".to_owned(),
            ),
        ] {
            assert_eq!(shown(&message), expected);
        }
    }

    #[test]
    fn values_behind_names_of_secrets_are_masked_and_nothing_moves() {
        for (line, expected) in [
            ("api_key = \"ab, c\"", "api_key = \"*****\""),
            ("model = \"m\"", "model = \"m\""),
            ("OPENAI_API_KEY = 'ab=d'", "OPENAI_API_KEY = '****'"),
            ("\"x-api-key\" = 'a'", "\"x-api-key\" = '*'"),
            ("tokens = ['one', \"two\"]", "tokens = ['***', \"***\"]"),
            (
                "tokens = [{ value = 'a' }, 'b']",
                "tokens = [{ value = '*' }, '*']",
            ),
            ("max_tokens = '12'", "max_tokens = '12'"),
            ("memory_tokens = 12", "memory_tokens = 12"),
            (
                "p = { password = 'p}s', seed = 4 }",
                "p = { password = '***', seed = 4 }",
            ),
            (
                "p = { seed = 4, secret = bare }",
                "p = { seed = 4, secret = **** }",
            ),
            (
                "headers.authorization = 'Bearer'",
                "headers.authorization = '******'",
            ),
            ("secrets.openai = 'a'", "secrets.openai = '*'"),
            ("authToken = 'a'", "authToken = '*'"),
            ("OPENAIKEY = 'a'", "OPENAIKEY = '*'"),
            ("openai_key2 = 'a'", "openai_key2 = '*'"),
            ("pwd = 'a'", "pwd = '*'"),
            ("api_key: 'a'", "api_key: '*'"),
            ("api_key == \"a\"", "api_key == \"*\""),
            ("  \"q7Zp-w9Xk2M_51uhVb83\",", "  \"********************\","),
            (
                "model = 'gpt-4o-mini-2024-07-18'",
                "model = 'gpt-4o-mini-2024-07-18'",
            ),
            ("author = 'a'", "author = 'a'"),
            ("api_key = sk-bare # why", "api_key = ******* * ***"),
            ("[keys.a]", "[keys.a]"),
            ("", ""),
        ] {
            let shown = masked(line);
            assert_eq!(shown, expected);
            assert_eq!(shown.chars().count(), line.chars().count());
        }
    }
}
