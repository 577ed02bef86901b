//! Where a secret is found: an environment variable or a file, never the secret itself. What is read
//! is registered, so that no output shows it. Called by whoever reads keys and tokens from
//! configuration.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use agon_outlets::InLine as _;
use secrecy::SecretString;
use serde::Deserialize;

use crate::config::discreet::LONGEST_VALUE;
use crate::files::read_whole;
use crate::secrets::{self, is_random_word, without_what_looks_like_keys};

/// Keys have some hundred characters, tokens of clouds some thousand.
const MOST_BYTES: u64 = 1 << 16;

/// Where a secret is found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretSource {
    /// An environment variable.
    Env(String),
    /// A file whose content, without surrounding white space, is the secret.
    File(PathBuf),
}

impl fmt::Display for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "env {name}"),
            Self::File(path) => write!(f, "file {}", path.in_line()),
        }
    }
}

impl SecretSource {
    /// What is wrong with it before it is looked at: people write secrets where the names of
    /// their places belong.
    pub fn fault(&self) -> Option<&'static str> {
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        match self {
            Self::Env(name) if name.is_empty() || !name.chars().all(is_name) => {
                Some("env is not the name of a variable (letters, digits and underscores)")
            }
            Self::Env(name) if looks_like_a_key(name) => Some("env is not the name of a variable"),
            Self::File(path) if file_looks_like_a_key(path) => Some("file is not a path"),
            Self::Env(_) | Self::File(_) => None,
        }
    }

    /// What stands there, as it is.
    ///
    /// # Errors
    /// The variable is not set, or the file cannot be read as text.
    pub fn text(&self) -> Result<String, SecretSourceError> {
        if let Some(fault) = self.fault() {
            return Err(SecretSourceError::NoPlace(fault));
        }
        Ok(match self {
            Self::Env(name) => {
                std::env::var(name).map_err(|_| SecretSourceError::NotSet { name: name.clone() })?
            }
            Self::File(path) => {
                let read = read_whole(path, MOST_BYTES).and_then(|bytes| {
                    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
                });
                read.map_err(|source| SecretSourceError::Unreadable {
                    path: path.in_line().to_string(),
                    source,
                })?
            }
        })
    }

    /// Reads a secret that can be sent as a header, and registers it.
    ///
    /// # Errors
    /// As [`SecretSource::text`]; or it is empty, or no header can carry it.
    pub fn read(&self) -> Result<SecretString, SecretSourceError> {
        let text = self.text()?;
        let secret = text.trim();
        if secret.is_empty() {
            return Err(SecretSourceError::Empty {
                place: self.to_string(),
            });
        }
        // Found out here, it is told with its source.
        if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SecretSourceError::Malformed {
                place: self.to_string(),
            });
        }
        secrets::keep(secret);
        Ok(SecretString::from(secret.to_owned()))
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
    is_random_word(&text) || without_what_looks_like_keys(&text) != text
}

/// Why a secret could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SecretSourceError {
    /// What stands there may be the secret itself.
    #[error("{0}")]
    NoPlace(&'static str),
    /// The environment variable is not there.
    #[error("environment variable {name} is not set")]
    NotSet {
        /// Its name.
        name: String,
    },
    /// The file is not there or not ours to read.
    #[error("file {path} cannot be read")]
    Unreadable {
        /// Its path.
        path: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("{place} is empty")]
    Empty {
        /// Where it was looked for.
        place: String,
    },
    /// It cannot be sent as a header.
    #[error("{place} holds white space or unprintable characters")]
    Malformed {
        /// Where it was found.
        place: String,
    },
}
