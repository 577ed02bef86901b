//! Keeps keys out of what people read. Providers repeat keys in their
//! complaints, and people write keys where names of keys belong. Refuses to
//! guess beyond the call's own key and the one shape that most providers use.
//! Called by `config.rs` and `providers/caller.rs`.

use std::borrow::Cow;

use secrecy::{ExposeSecret, SecretString};

/// What stands in a key's place.
const INSTEAD: &str = "[key]";

/// How the keys of most providers begin: OpenAI's and Anthropic's, Google's,
/// Groq's.
const BEGINNINGS: [&str; 3] = ["sk-", "AIza", "gsk_"];

/// Shorter ones are words, or no use to anybody.
const SHORTEST_KEY: usize = 12;

/// A placeholder for a keyless server ("none", "EMPTY") is a word that other
/// words may hold; replaced in JSON it would break what the JSON says.
const SHORTEST_IN_BODY: usize = 8;

/// The text without `own` and without anything that looks like a key.
pub(crate) fn without_keys(text: &str, own: Option<&SecretString>) -> String {
    let text = match own.map(ExposeSecret::expose_secret) {
        Some(own) if !own.is_empty() => Cow::Owned(text.replace(own, INSTEAD)),
        _ => Cow::Borrowed(text),
    };
    let mut clean = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = BEGINNINGS.iter().filter_map(|key| rest.find(key)).min() {
        let length = key_length(&rest[at..]);
        let (before, found) = (&rest[..at], &rest[at..at + length]);
        clean.push_str(before);
        // Of `task-definition` the end is no key; of `\nsk-` in JSON it is.
        if length >= SHORTEST_KEY && !ends_in_a_word(before) {
            clean.push_str(INSTEAD);
        } else {
            clean.push_str(found);
        }
        rest = &rest[at + length..];
    }
    clean.push_str(rest);
    clean
}

/// A text without anything that looks like a key, for whoever keeps what a person typed.
pub fn without_what_looks_like_keys(text: &str) -> String {
    without_keys(text, None)
}

/// A body of a provider without keys. Done before anything is cut short, since
/// half a key would not be recognised.
pub(crate) fn body_without_keys(body: &[u8], own: Option<&SecretString>) -> Vec<u8> {
    let own = own.filter(|own| own.expose_secret().len() >= SHORTEST_IN_BODY);
    without_keys(&String::from_utf8_lossy(body), own).into_bytes()
}

/// Masked keys (`sk-ab***yz`) count as keys.
fn key_length(text: &str) -> usize {
    text.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_*".contains(letter)))
        .unwrap_or(text.len())
}

fn ends_in_a_word(text: &str) -> bool {
    let mut letters = text.chars().rev();
    letters.next().is_some_and(char::is_alphanumeric) && letters.next() != Some('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_key_and_what_looks_like_one_are_replaced() {
        let own = SecretString::from("gsk_own");
        for (text, clean) in [
            ("wrong gsk_own, gsk_own", "wrong [key], [key]"),
            ("key: sk-proj-Ab12_x.", "key: [key]."),
            (r#"{"m":"\nsk-0123456789"}"#, r#"{"m":"\n[key]"}"#),
            ("sk-ab*******yz", "[key]"),
            ("'sk-012345678901', sk-short", "'[key]', sk-short"),
            ("risk-assessment-failed", "risk-assessment-failed"),
            ("größe sk-", "größe sk-"),
            ("AIzaSy0123456789, gsk_0123456789ab", "[key], [key]"),
            ("AIza gsk_short", "AIza gsk_short"),
            ("", ""),
        ] {
            assert_eq!(without_keys(text, Some(&own)), clean);
        }
    }

    #[test]
    fn placeholder_for_a_key_does_not_break_a_body() {
        let own = SecretString::from("code");
        let body = br#"{"code":429}"#;
        assert_eq!(body_without_keys(body, Some(&own)), body);
    }
}
