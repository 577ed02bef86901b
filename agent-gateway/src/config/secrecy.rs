//! What a fault of the configuration file may say. A secret in the wrong place is a common fault,
//! and faults are read aloud: in terminals, logs and reports. So no line of the file is ever quoted,
//! nothing that stands where secrets belong, and no value that is long enough to be one. Called by
//! `config.rs`.

use std::path::Path;

use agon_outlets::line;
use agon_service_kit::config as files;
use agon_service_kit::secrets::without_what_looks_like_keys;

use agon_service_kit::secret_source::SecretSource;

/// Fields that name secrets by where they are found.
const SECRET_FIELDS: [&str; 2] = ["keys", "tokens"];

/// Parts of names that people give to keys.
pub(super) const KEY_WORDS: [&str; 6] = ["key", "secret", "token", "auth", "password", "bearer"];

/// A longer value is not repeated: it may be a secret, and where it stands is said anyway.
const LONGEST_VALUE: usize = 20;

/// What to write instead.
fn instead(field: &str) -> String {
    format!(
        "{field} are named by where they are found, write {field} = [{{ env = \"NAME\" }}] or \
         {field} = [{{ file = \"/path\" }}]"
    )
}

/// The fault with its place in numbers only, and without values that may be secrets.
pub(super) fn discreet(fault: files::ConfigError) -> files::ConfigError {
    let file = match &fault.place {
        Some(place) => format!("{}:{}:{}", fault.file, place.line, place.column),
        None => fault.file,
    };
    let mut parts = fault.path.split(['.', '[']);
    let secret = parts.find_map(|part| SECRET_FIELDS.iter().find(|field| **field == part));
    let message = match secret {
        Some(field) => instead(field),
        None => {
            let message = shown(&fault.message);
            match unknown_field(&message) {
                Some(name) if KEY_WORDS.iter().any(|word| name.contains(word)) => {
                    format!("{message}; {}", instead("keys"))
                }
                _ => message,
            }
        }
    };
    files::ConfigError {
        file,
        place: None,
        path: match secret {
            // What follows may be a secret in the place of a name.
            Some(field) => {
                let end = fault.path.find(field).unwrap_or_default() + field.len();
                shown(&fault.path[..end])
            }
            None => without_long_end(&shown(&fault.path), &fault.message),
        },
        message,
    }
}

/// A name or a sentence as it may be shown: one line, nothing that looks like a key, and in quotes
/// nothing long.
pub(super) fn shown(text: &str) -> String {
    without_long_values(&without_what_looks_like_keys(&line(text).to_string()))
}

/// What is wrong with where a key is said to be.
pub(super) fn check_source(field: &str, source: &SecretSource) -> Result<(), String> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let instead = instead(field);
    match source {
        SecretSource::Env(name) if name.is_empty() || !name.chars().all(is_name) => Err(format!(
            "env is not the name of a variable (letters, digits and underscores); {instead}"
        )),
        SecretSource::Env(name) if looks_like_a_key(name) => {
            Err(format!("env is not the name of a variable; {instead}"))
        }
        SecretSource::File(path) if file_looks_like_a_key(path) => {
            Err(format!("file is not a path; {instead}"))
        }
        SecretSource::Env(_) | SecretSource::File(_) => Ok(()),
    }
}

/// Names of variables are words; what mixes small letters and digits at length is none.
fn looks_like_a_key(text: &str) -> bool {
    let has = |kind: fn(&char) -> bool| text.chars().any(|letter| kind(&letter));
    let is_random =
        text.len() > LONGEST_VALUE && has(char::is_ascii_lowercase) && has(char::is_ascii_digit);
    is_random || without_what_looks_like_keys(text) != text
}

fn file_looks_like_a_key(path: &Path) -> bool {
    let text = path.to_string_lossy();
    without_what_looks_like_keys(&text) != text
}

/// A field that nobody knows may be a secret that stands where a name belongs.
fn without_long_end(path: &str, message: &str) -> String {
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

fn unknown_field(message: &str) -> Option<String> {
    let (name, _) = message.strip_prefix("unknown field `")?.split_once('`')?;
    Some(name.to_lowercase())
}
