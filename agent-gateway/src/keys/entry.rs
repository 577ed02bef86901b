//! A key as the configuration names it: where it is found, and the account that it belongs to.
//! Limits of providers are often those of an account, however many keys it has; keys of one
//! account are therefore counted under one name. Part of `keys.rs`.

use std::path::PathBuf;

use agon_service_kit::secret_source::SecretSource;
use agon_service_kit::secrets;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;

use super::KeyError;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "KeySection")]
pub struct KeyEntry {
    /// Where the key is found.
    pub source: SecretSource,
    /// The account whose limits it shares with other keys of the provider; absent: it has limits
    /// of its own.
    pub account: Option<String>,
    /// What is found there.
    pub form: KeyForm,
}

/// What a key is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyForm {
    /// A word that is sent in a header.
    #[default]
    Header,
    /// A service account of Google's as JSON, with which tokens are got and which is never sent.
    Account,
}

impl KeyEntry {
    /// Reads the key.
    ///
    /// # Errors
    /// It is not there, or is no key of this form.
    pub fn read(&self) -> Result<SecretString, KeyError> {
        match self.form {
            KeyForm::Header => Ok(self.source.read()?),
            KeyForm::Account => self.read_account(),
        }
    }

    /// The account as JSON in one form, so that two files of one account are one key.
    fn read_account(&self) -> Result<SecretString, KeyError> {
        let document: Option<Value> = serde_json::from_str(&self.source.text()?).ok();
        let account = document.filter(|document| {
            let address = document["token_uri"].as_str().unwrap_or_default();
            let is_address = ["https://", "http://"]
                .iter()
                .any(|scheme| address.starts_with(scheme));
            is_address
                && address.parse::<http::Uri>().is_ok()
                && document["private_key"].is_string()
        });
        let account = account.ok_or_else(|| KeyError::NoAccount {
            key_source: self.source.to_string(),
        })?;
        secrets::keep(account["private_key"].as_str().unwrap_or_default());
        let text = account.to_string();
        secrets::keep(&text);
        Ok(SecretString::from(text))
    }
}

impl From<SecretSource> for KeyEntry {
    fn from(source: SecretSource) -> Self {
        Self {
            source,
            account: None,
            form: KeyForm::default(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeySection {
    env: Option<String>,
    file: Option<PathBuf>,
    account: Option<String>,
}

impl TryFrom<KeySection> for KeyEntry {
    type Error = &'static str;

    fn try_from(written: KeySection) -> Result<Self, Self::Error> {
        let source = match (written.env, written.file) {
            (Some(name), None) => SecretSource::Env(name),
            (None, Some(path)) => SecretSource::File(path),
            _ => return Err("a key is found in an env or in a file"),
        };
        Ok(Self {
            source,
            account: written.account,
            form: KeyForm::default(),
        })
    }
}
