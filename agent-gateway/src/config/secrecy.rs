//! What a fault of the configuration file may say. A secret in the wrong place is a common fault,
//! and faults are read aloud: in terminals, logs and reports. So no line of the file is ever quoted,
//! nothing that stands where secrets belong, and no value that is long enough to be one. Called by
//! `config.rs`.

use agon_service_kit::config as files;
use agon_service_kit::config::discreet::{shown, without_long_end};
use agon_service_kit::secret_source::SecretSource;

/// Fields that name secrets by where they are found.
const SECRET_FIELDS: [&str; 2] = ["keys", "tokens"];

/// Parts of names that people give to keys.
pub(super) const KEY_WORDS: [&str; 6] = ["key", "secret", "token", "auth", "password", "bearer"];

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

/// What is wrong with where a key is said to be.
pub(super) fn check_source(field: &str, source: &SecretSource) -> Result<(), String> {
    let fault = source
        .fault()
        .map(|fault| format!("{fault}; {}", instead(field)));
    fault.map_or(Ok(()), Err)
}

fn unknown_field(message: &str) -> Option<String> {
    let (name, _) = message.strip_prefix("unknown field `")?.split_once('`')?;
    Some(name.to_lowercase())
}
