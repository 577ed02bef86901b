//! What the configuration adds to every request to a model: fields of the body and headers that
//! this gateway knows nothing of. Refuses what is the gateway's own to say, and secrets in clear.
//! Part of where a model's answers come from: with other additions it is another model.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use ::secrecy::ExposeSecret;
use agon_service_kit::secrets::without_what_looks_like_keys;
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::GatewayConfig;
use super::secrecy::{self, KEY_WORDS};
use crate::keys::{KeyError, KeySource};

/// Fields that say what is asked and how the answer comes, in any of the protocols.
const OWN_FIELDS: [&str; 14] = [
    "model",
    "messages",
    "contents",
    "system",
    "systemInstruction",
    "system_instruction",
    "stream",
    "n",
    "max_tokens",
    "max_completion_tokens",
    "tools",
    "tool_choice",
    "response_format",
    "anthropic_version",
];

/// Headers that the gateway or its connection writes.
const OWN_HEADERS: [&str; 14] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "content-type",
    "content-length",
    "content-encoding",
    "accept-encoding",
    "transfer-encoding",
    "connection",
    "upgrade",
    "host",
    "cookie",
];

/// Digits of a digest that are told.
const DIGITS: usize = 16;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    body: Map<String, Value>,
    headers: BTreeMap<String, HeaderText>,
    read: ReadOnce,
}

type Headers = Vec<(HeaderName, HeaderValue)>;

/// The headers as they were found. A configuration that is read again finds them again.
#[derive(Clone, Debug, Default)]
struct ReadOnce(Arc<OnceLock<Headers>>);

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
    Found(KeySource),
}

impl Additions {
    /// What a section adds.
    ///
    /// # Errors
    /// It is not for a section to say; says what would be right.
    pub(super) fn check(
        body: Option<&Map<String, Value>>,
        headers: &BTreeMap<String, HeaderText>,
    ) -> Result<Self, String> {
        let body = body.cloned().unwrap_or_default();
        if let Some(own) = body.keys().find(|field| OWN_FIELDS.contains(&&***field)) {
            return Err(format!(
                "extra_body must not hold {own}, which the gateway writes itself"
            ));
        }
        let written = Value::Object(body.clone()).to_string();
        if without_what_looks_like_keys(&written) != written {
            return Err("extra_body holds what looks like a key: keys are not for bodies".into());
        }
        let mut checked = BTreeMap::new();
        for (name, text) in headers {
            let name = check_header(name, text)?;
            checked.insert(name.as_str().to_owned(), text.clone());
        }
        Ok(Self {
            body,
            headers: checked,
            read: ReadOnce::default(),
        })
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

    fn find(&self) -> Result<Headers, KeyError> {
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
        hasher.finalize().to_hex()[..DIGITS].to_owned()
    }
}

impl GatewayConfig {
    /// Where the values of headers are found that are added to requests.
    pub fn header_sources(&self) -> impl Iterator<Item = &KeySource> {
        let models = self.models.values();
        let headers = models.flat_map(|section| section.extra_headers.values());
        headers.filter_map(|text| match text {
            HeaderText::Found(source) => Some(source),
            HeaderText::Plain(_) => None,
        })
    }
}

fn check_header(name: &str, text: &HeaderText) -> Result<HeaderName, String> {
    let parsed = HeaderName::try_from(name.to_ascii_lowercase())
        .map_err(|_| format!("extra_headers: {name:?} is no name of a header"))?;
    let name = parsed.as_str();
    if OWN_HEADERS.contains(&name) {
        return Err(format!(
            "extra_headers must not hold {name}, which the gateway writes itself"
        ));
    }
    match text {
        HeaderText::Plain(text) => {
            let looks_like_one = KEY_WORDS.iter().any(|word| name.contains(word))
                || without_what_looks_like_keys(text) != *text;
            if looks_like_one {
                return Err(format!(
                    "extra_headers: {name} may hold a secret, write {name} = {{ env = \"NAME\" }} \
                     or {name} = {{ file = \"/path\" }}"
                ));
            }
            if HeaderValue::try_from(text.as_str()).is_err() {
                return Err(format!(
                    "extra_headers: {name} holds what no header can carry"
                ));
            }
        }
        HeaderText::Found(source) => secrecy::check_source("keys", source)?,
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(model: &str) -> Result<crate::config::ResolvedModel, String> {
        let text = format!(
            "[providers.p]\nbase_url = 'http://127.0.0.1:9/v1'\n[models.m]\nprovider = 'p'\n{model}"
        );
        let config = GatewayConfig::parse("test.toml", &text);
        let config = config.map_err(|error| error.to_string())?;
        Ok(config.resolve_without_keys("m").unwrap())
    }

    #[test]
    fn other_additions_are_another_origin_and_none_are_the_old_one() {
        let origin = |model: &str| resolved(model).unwrap().origin().additions;
        assert_eq!(origin(""), "");
        let thinks = origin("extra_body = { chat_template_kwargs = { enable_thinking = true } }");
        let not = origin("extra_body = { chat_template_kwargs = { enable_thinking = false } }");
        let header = origin("extra_headers = { x-title = 'a' }");
        let other = origin("extra_headers = { x-title = 'b' }");
        let all = [&thinks, &not, &header, &other];
        assert!(all.iter().all(|digest| digest.len() == DIGITS));
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }

    #[test]
    fn what_is_the_gateways_own_and_secrets_in_clear_are_refused() {
        for (model, reason) in [
            (
                "extra_body = { max_tokens = 5 }",
                "must not hold max_tokens",
            ),
            ("extra_body = { stream = true }", "must not hold stream"),
            (
                "extra_body = { k = 'sk-abcdefghijklmnopqrstuvwxyz0123456789' }",
                "looks like a key",
            ),
            (
                "extra_headers = { Authorization = 'x' }",
                "must not hold authorization",
            ),
            (
                "extra_headers = { Content-Type = 'x' }",
                "must not hold content-type",
            ),
            (
                "extra_headers = { x-portkey-api-key = 'pk' }",
                "may hold a secret",
            ),
            (
                "extra_headers = { x-a = 'sk-abcdefghijklmnopqrstuvwxyz0123456789' }",
                "may hold a secret",
            ),
            ("extra_headers = { 'a b' = 'x' }", "no name of a header"),
        ] {
            let error = resolved(model).unwrap_err();
            assert!(error.contains(reason), "{model}: {error}");
            assert!(!error.contains("sk-abc"), "{error}");
        }
        assert!(resolved("extra_headers = { x-portkey-api-key = { env = 'PORTKEY' } }").is_ok());
    }
}
