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

/// What names of fields that hold secrets are made of, in any file of anybody.
const SECRET_NAMES: [&str; 10] = [
    "apikey",
    "token",
    "secret",
    "passw",
    "passphrase",
    "credential",
    "authorization",
    "bearer",
    "keyfile",
    "accesskey",
];

/// Whole words of such names.
const SECRET_WORDS: [&str; 6] = ["key", "keys", "pwd", "pass", "auth", "tokens"];

/// What tokens of models are counted in.
const COUNTED: [&str; 2] = ["max", "memory"];

/// Whether whatever stands behind a field of this name is likely to be a secret: `api_key`, `"x-api-key"`,
/// `tokens`, but not `max_tokens`.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let parts = name.split(|letter: char| !letter.is_ascii_alphabetic());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    if parts.iter().any(|part| COUNTED.contains(part)) {
        return false;
    }
    let joined = parts.concat();
    SECRET_NAMES.iter().any(|known| joined.contains(known))
        || parts.iter().any(|part| SECRET_WORDS.contains(part))
        || joined.ends_with("key")
}

/// Random words of keys are longer than this.
const LONGEST_WORD: usize = 15;

/// Whether a text is one word as generators of keys make them: long, without the dots and slashes of
/// names and paths, with small letters, capitals and digits.
pub fn is_random_word(text: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| text.as_bytes().iter().any(kind);
    text.len() > LONGEST_WORD
        && text.bytes().all(is_of_word)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && has(u8::is_ascii_digit)
}

/// A letter of such words.
pub fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+=~".contains(&byte)
}
