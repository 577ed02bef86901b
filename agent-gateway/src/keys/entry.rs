//! A key as the configuration names it: where it is found, and the account that it belongs to.
//! Limits of providers are often those of an account, however many keys it has; keys of one
//! account are therefore counted under one name. Part of `keys.rs`.

use std::path::PathBuf;

use serde::Deserialize;

use super::KeySource;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct KeyEntry {
    /// Where the key is found.
    pub source: KeySource,
    /// The account whose limits it shares with other keys of the provider; absent: it has limits
    /// of its own.
    pub account: Option<String>,
}

impl From<KeySource> for KeyEntry {
    fn from(source: KeySource) -> Self {
        Self {
            source,
            account: None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    env: Option<String>,
    file: Option<PathBuf>,
    account: Option<String>,
}

impl TryFrom<Written> for KeyEntry {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let source = match (written.env, written.file) {
            (Some(name), None) => KeySource::Env(name),
            (None, Some(path)) => KeySource::File(path),
            _ => return Err("a key is found in an env or in a file"),
        };
        Ok(Self {
            source,
            account: written.account,
        })
    }
}
