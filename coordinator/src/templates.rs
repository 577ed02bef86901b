//! Templates that an experiment brings with it, as they are stored under their digest.
//! Called when an experiment is submitted, and by the service of workers.

use std::collections::BTreeMap;

use agon_engine::spec::bundle;
use bytes::Bytes;

/// Templates by their path.
pub type Templates = BTreeMap<String, String>;

/// As they are stored.
pub fn pack(templates: &Templates) -> Bytes {
    // A map of strings always serialises.
    serde_json::to_vec(templates).unwrap_or_default().into()
}

/// The opposite; `None` when it is something else.
pub fn unpack(bytes: &[u8]) -> Option<Templates> {
    serde_json::from_slice(bytes).ok()
}

/// The digest of templates, which is also their name in the store: nobody may put other texts
/// under it.
///
/// # Errors
/// It is not the one that is named.
pub fn checked_digest(digest: &str, templates: &Templates) -> Result<String, String> {
    let texts = templates.iter().map(|(path, text)| (&**path, &**text));
    let found = bundle::digest(texts);
    if found == digest {
        return Ok(found);
    }
    Err(format!(
        "prompt_bundle is {digest}, but the digest of the templates is {found}"
    ))
}
