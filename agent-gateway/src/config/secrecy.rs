//! What a fault of the configuration file may say. A key in the wrong place is
//! a common fault, and faults are read aloud: in terminals, logs and reports.
//! So no line of the file is ever quoted, and nothing that stands where keys
//! belong. Called by `config.rs`.

use std::path::Path;

use agon_service_kit::config as files;

use crate::keys::KeySource;
use crate::redact;

/// What to write instead.
const INSTEAD: &str = "keys are named by where they are found, write \
                       keys = [{ env = \"NAME\" }] or keys = [{ file = \"/path\" }]";

/// Parts of names that people give to keys.
const KEY_WORDS: [&str; 5] = ["key", "secret", "token", "auth", "password"];

/// The fault with its place in numbers only, and without values.
pub(super) fn discreet(fault: files::ConfigError) -> files::ConfigError {
    let file = match &fault.place {
        Some(place) => format!("{}:{}:{}", fault.file, place.line, place.column),
        None => fault.file,
    };
    let among_keys = fault
        .path
        .split('.')
        .any(|part| part == "keys" || part.starts_with("keys["));
    let message = if among_keys {
        INSTEAD.to_owned()
    } else {
        let message = redact::without_keys(&without_string(&fault.message), None);
        match unknown_field(&message) {
            Some(name) if KEY_WORDS.iter().any(|word| name.contains(word)) => {
                format!("{message}; {INSTEAD}")
            }
            _ => message,
        }
    };
    files::ConfigError {
        file,
        place: None,
        path: redact::without_keys(&fault.path, None),
        message,
    }
}

/// What is wrong with where a key is said to be.
pub(super) fn check_source(source: &KeySource) -> Result<(), String> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    match source {
        KeySource::Env(name) if name.is_empty() || !name.chars().all(is_name) => Err(format!(
            "env is not the name of a variable (letters, digits and underscores); {INSTEAD}"
        )),
        KeySource::File(path) if looks_like_a_key(path) => {
            Err(format!("file is not a path; {INSTEAD}"))
        }
        KeySource::Env(_) | KeySource::File(_) => Ok(()),
    }
}

fn looks_like_a_key(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.starts_with("sk-") && redact::without_keys(&text, None) != text
}

/// A string in place of a section may be a key: its type is enough.
fn without_string(message: &str) -> String {
    let start = "invalid type: string \"";
    match (message.strip_prefix(start), message.rfind("\", expected")) {
        (Some(_), Some(end)) => format!("invalid type: string{}", &message[end + 1..]),
        _ => message.to_owned(),
    }
}

fn unknown_field(message: &str) -> Option<String> {
    let (name, _) = message.strip_prefix("unknown field `")?.split_once('`')?;
    Some(name.to_lowercase())
}
