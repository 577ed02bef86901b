//! What is added to every request to a model: fields of the body and headers that this gateway
//! knows nothing of. Part of where a model's answers come from: with other additions it is another
//! model. Checked by `config/additions.rs`.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use reqwest::header::{HeaderName, HeaderValue};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::keys::KeyError;
use agon_service_kit::secret_source::SecretSource;

/// Length of the digest of additions.
const DIGEST_DIGITS: usize = 16;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    body: Map<String, Value>,
    headers: BTreeMap<String, HeaderText>,
    read: ReadOnce,
}

type ReadHeaders = Vec<(HeaderName, HeaderValue)>;

/// The headers as they were found. A configuration that is read again finds them again.
#[derive(Clone, Debug, Default)]
struct ReadOnce(Arc<OnceLock<ReadHeaders>>);

impl PartialEq for ReadOnce {
    /// What is found says nothing about what is configured.
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for ReadOnce {}

/// What a header says, or where that is found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum HeaderText {
    /// This.
    Plain(String),
    /// What is found there.
    Found(SecretSource),
}

impl Additions {
    /// Additions that have been checked.
    pub(crate) fn new(body: Map<String, Value>, headers: BTreeMap<String, HeaderText>) -> Self {
        Self {
            body,
            headers,
            read: ReadOnce::default(),
        }
    }

    /// Fields of the body.
    pub fn body(&self) -> &Map<String, Value> {
        &self.body
    }

    /// The headers as they are sent: as they were found when they were first asked for.
    ///
    /// # Errors
    /// One of them cannot be found.
    pub fn headers(&self) -> Result<&[(HeaderName, HeaderValue)], KeyError> {
        if let Some(read) = self.read.0.get() {
            return Ok(read);
        }
        let found = self.find()?;
        Ok(self.read.0.get_or_init(|| found))
    }

    fn find(&self) -> Result<ReadHeaders, KeyError> {
        let mut read = Vec::with_capacity(self.headers.len());
        for (name, text) in &self.headers {
            let value = match text {
                HeaderText::Plain(text) => HeaderValue::try_from(text.as_str()).ok(),
                HeaderText::Found(source) => {
                    let secret = source.read()?;
                    let mut value = HeaderValue::try_from(secret.expose_secret()).ok();
                    if let Some(value) = &mut value {
                        value.set_sensitive(true);
                    }
                    value
                }
            };
            // Both were checked: plain ones with the section, the others where they are read.
            read.extend(HeaderName::try_from(name).ok().zip(value));
        }
        Ok(read)
    }

    /// What tells these from others; empty where there are none. Of what is found elsewhere only
    /// the place counts: a key that changes is not another model.
    pub fn digest(&self) -> String {
        if self.body.is_empty() && self.headers.is_empty() {
            return String::new();
        }
        let mut hasher = blake3::Hasher::new_derive_key("agon agent-gateway additions 1");
        let mut part = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        // Its keys are in order.
        part(&Value::Object(self.body.clone()).to_string());
        for (name, text) in &self.headers {
            part(name);
            match text {
                HeaderText::Plain(text) => part(text),
                HeaderText::Found(source) => part(&source.to_string()),
            }
        }
        hasher.finalize().to_hex()[..DIGEST_DIGITS].to_owned()
    }
}
