//! What looks like a key though nobody registered it: people write keys where names of keys
//! belong, and providers repeat a key that another process holds.

use super::{INSTEAD, without};

/// How the keys of most providers begin: OpenAI's and Anthropic's, Google's, Groq's, xAI's.
const BEGINNINGS: [&str; 4] = ["sk-", "AIza", "gsk_", "xai-"];

/// Shorter ones are words, or no use to anybody.
const SHORTEST_KEY: usize = 12;

/// The text without registered secrets and without anything that looks like a key.
pub fn without_what_looks_like_keys(text: &str) -> String {
    let text = without(text);
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

/// Masked keys (`sk-ab***yz`) count as keys.
fn key_length(text: &str) -> usize {
    text.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_*".contains(letter)))
        .unwrap_or(text.len())
}

fn ends_in_a_word(text: &str) -> bool {
    let mut letters = text.chars().rev();
    letters.next().is_some_and(char::is_alphanumeric) && letters.next() != Some('\\')
}
