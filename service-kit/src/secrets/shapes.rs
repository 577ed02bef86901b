//! What looks like a key though nobody registered it: people write keys where names of keys
//! belong, and providers repeat a key that another process holds.

use super::{INSTEAD, without};

/// How the keys of most providers begin: OpenAI's and Anthropic's, Google's, Groq's, xAI's.
const BEGINNINGS: [&str; 5] = ["sk-", "AIza", "gsk_", "xai-", OURS];

/// How our own tokens begin; so do metrics and names of ours, which have no such id behind it.
const OURS: &str = "agon_";

/// Hexadecimal digits of a token's id, which stands behind the beginning, and of its secret.
const OUR_ID: usize = 8;
const OUR_SECRET: usize = 48;

/// Shorter ones are words, or no use to anybody.
const SHORTEST_KEY: usize = 12;

/// The text without registered secrets and without anything that looks like a key.
pub fn without_what_looks_like_keys(text: &str) -> String {
    let text = without(text);
    let mut clean = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = BEGINNINGS.iter().filter_map(|key| rest.find(key)).min() {
        let mut length = key_length(&rest[at..]);
        let mut is_key = length >= SHORTEST_KEY;
        if let Some(behind) = rest[at..at + length].strip_prefix(OURS)
            && !is_rest_of_ours(behind)
        {
            // Behind a name of ours a key may stand.
            (length, is_key) = (OURS.len(), false);
        }
        let (before, found) = (&rest[..at], &rest[at..at + length]);
        clean.push_str(before);
        // Of `task-definition` the end is no key; of `\nsk-` in JSON it is.
        if is_key && !ends_in_a_word(before) {
            clean.push_str(INSTEAD);
        } else {
            clean.push_str(found);
        }
        rest = &rest[at + length..];
    }
    clean.push_str(rest);
    clean
}

/// An id, and more of the secret behind it than can be told to anybody.
fn is_rest_of_ours(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = text.split_once('_');
    parts.is_some_and(|(id, secret)| {
        let digits = secret.bytes().take_while(u8::is_ascii_hexdigit).count();
        id.len() == OUR_ID && is_hex(id) && digits >= OUR_SECRET / 4
    })
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
