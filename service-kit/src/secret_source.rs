//! Where a secret is found: an environment variable or a file, never the secret itself. What is read
//! is registered, so that no output shows it. Called by whoever reads keys and tokens from
//! configuration.

use std::fmt;
use std::io;
use std::path::PathBuf;

use agon_outlets::InLine as _;
use secrecy::SecretString;
use serde::Deserialize;

use crate::files::read_whole;
use crate::secrets;

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
    /// What stands there, as it is.
    ///
    /// # Errors
    /// The variable is not set, or the file cannot be read as text.
    pub fn text(&self) -> Result<String, SecretSourceError> {
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

/// Why a secret could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SecretSourceError {
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
