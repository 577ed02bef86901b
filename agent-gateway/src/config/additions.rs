//! Checks what the configuration adds to every request to a model. Refuses what is the gateway's
//! own to say, and secrets in clear. Called by `config.rs`.

use std::collections::BTreeMap;

use agon_service_kit::secrets::without_what_looks_like_keys;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::GatewayConfig;
use super::secrecy::{self, KEY_WORDS};
use crate::catalogue::{Additions, HeaderText};
use agon_service_kit::secret_source::SecretSource;

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

/// What a section adds.
///
/// # Errors
/// It is not for a section to say; says what would be right.
pub(super) fn check(
    body: Option<&Map<String, Value>>,
    headers: &BTreeMap<String, HeaderText>,
) -> Result<Additions, String> {
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
    Ok(Additions::new(body, checked))
}

impl GatewayConfig {
    /// Where the values of headers are found that are added to requests.
    pub fn header_sources(&self) -> impl Iterator<Item = &SecretSource> {
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
    use crate::catalogue::ResolvedModel;
    use crate::config::GatewayConfig;

    fn resolved(model: &str) -> Result<ResolvedModel, String> {
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
        assert!(all.iter().all(|digest| digest.len() == 16));
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
