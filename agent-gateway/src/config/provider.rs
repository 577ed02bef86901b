//! A provider's section checked into a provider. Refuses addresses and limits that cannot work.
//! Called by `config.rs`.

use std::time::Duration;

use super::builtin::{self, DEFAULT_BURST, DEFAULT_TIMEOUT, default_charge};
use super::sections::ProviderSection;
use super::{ConfigError, accounts, cloud, limits, secrecy};
use crate::catalogue::{OutputLimitField, ProviderConfig, ProviderKind, StructuredOutput};
use crate::keys::{KeyEntry, KeyForm};

/// More would leave too little of the limit for steady use.
const LONGEST_BURST: Duration = Duration::from_secs(2);

/// The provider that a section describes.
pub(super) fn check(name: &str, section: ProviderSection) -> Result<ProviderConfig, ConfigError> {
    let wrong = |reason: &str| ConfigError::Provider {
        provider: name.to_owned(),
        reason: reason.into(),
    };
    if name.is_empty() || name.contains('/') {
        return Err(wrong("a provider's name must not be empty or hold a slash"));
    }
    let builtin = builtin::find(name);
    let kind = section
        .kind
        .or(builtin.as_ref().map(|builtin| builtin.kind));
    let kind = kind.unwrap_or_default();
    let cloud = cloud::check(kind, &section).map_err(|reason| wrong(&reason))?;
    let base_url = match (section.base_url, &builtin, cloud.base_url(kind)) {
        (Some(url), ..) => url.trim_end_matches('/').to_owned(),
        (None, _, Some(url)) => url,
        (None, Some(builtin), None) => builtin.base_url.clone(),
        (None, None, None) if kind == ProviderKind::Door => "http://door".to_owned(),
        (None, None, None) => return Err(wrong("base_url is missing, write \"https://host/v1\"")),
    };
    // A key belongs to an address: elsewhere it has to be named again.
    let known_address = builtin
        .as_ref()
        .filter(|builtin| builtin.base_url == base_url);
    let known_keys = known_address.map(|builtin| builtin.keys.clone());
    let host = ["http://", "https://"]
        .iter()
        .find_map(|scheme| base_url.strip_prefix(scheme));
    if host.is_none_or(|host| host.is_empty() || host.starts_with('/')) {
        return Err(wrong(
            "base_url must begin with http:// or https:// and name a host",
        ));
    }
    if host.is_some_and(|host| host.contains('@')) {
        return Err(wrong("base_url must not hold a user or password, use keys"));
    }
    if base_url.contains(['?', '#']) {
        return Err(wrong("base_url must end before any ? or #"));
    }
    let entries = section.keys.as_deref().unwrap_or_default();
    for entry in entries {
        secrecy::check_source("keys", &entry.source).map_err(|reason| wrong(&reason))?;
    }
    accounts::check_entries(entries).map_err(|reason| wrong(&reason))?;
    let mut limits = limits::check(&section.limits).map_err(|reason| wrong(&reason))?;
    if limits.concurrency.is_none() && known_address.is_some_and(|known| known.limits.adaptive) {
        limits.adaptive = true;
    }
    let burst = section.burst.unwrap_or(DEFAULT_BURST);
    if burst.is_zero() || burst > LONGEST_BURST {
        return Err(wrong("burst must be longer than 0s and at most 2s"));
    }
    let timeout_is_stated = section.timeout.is_some();
    let timeout = section.timeout.unwrap_or(DEFAULT_TIMEOUT);
    if timeout.is_zero() {
        return Err(wrong("timeout must be longer than 0s"));
    }
    let endpoint = section.endpoint.unwrap_or_else(|| base_url.clone());
    if endpoint.trim().is_empty() || endpoint.chars().any(char::is_control) {
        return Err(wrong("endpoint must be a name on one line"));
    }
    let defaults = builtin.as_ref();
    Ok(ProviderConfig {
        name: name.to_owned(),
        kind,
        base_url,
        endpoint,
        keys: keys_of(kind, section.keys.or(known_keys)),
        limits,
        charge: section.charge.unwrap_or_else(|| default_charge(name, kind)),
        burst,
        timeout,
        timeout_is_stated,
        api_version: section.api_version,
        cloud,
        // A server that we do not know is believed to take everything; one
        // that does not is asked with less (`providers/capabilities.rs`).
        structured_output: defaults.map_or(StructuredOutput::JsonSchema, |builtin| {
            builtin.structured_output
        }),
        seed: defaults.is_none_or(|builtin| builtin.seed),
        output_limit_field: defaults.map_or(OutputLimitField::MaxTokens, |builtin| {
            builtin.output_limit_field
        }),
    })
}

/// The keys in the form that a protocol wants them in.
fn keys_of(kind: ProviderKind, keys: Option<Vec<KeyEntry>>) -> Vec<KeyEntry> {
    let form = match kind {
        ProviderKind::Vertex => KeyForm::Account,
        _ => KeyForm::Header,
    };
    let keys = keys.unwrap_or_default().into_iter();
    keys.map(|entry| KeyEntry { form, ..entry }).collect()
}
