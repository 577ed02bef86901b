//! The digest of a set of prompt templates: what a spec says of those that replace built-in ones.
//! The command line writes it, the coordinator compares it when templates are submitted, and a
//! worker before it uses them.

/// Digits of the digests: enough to tell any two sets of templates apart.
const DIGEST_DIGITS: usize = 16;

/// Digest of templates, each its path and its text, in the order of paths.
pub fn digest<'a>(templates: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in templates.flat_map(|(path, text)| [path, text]) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..DIGEST_DIGITS].to_owned()
}
