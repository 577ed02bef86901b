//! The secrets that this process holds, kept out of what it says and stores. Whoever reads a
//! secret registers it here ([`keep`]); every outlet (terminal, log, span, metric, file, reply to a
//! caller) and every text that comes from a server that was sent one passes [`without`], which
//! finds them plain and encoded. It does not keep secrets for anybody: a registered one is only
//! compared. Called by whoever reads configuration, and by the outlets.

mod encodings;
mod shapes;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use aho_corasick::AhoCorasick;

pub use shapes::{is_of_word, is_random_word, is_secret_name, without_what_looks_like_keys};

/// What stands in a secret's place.
pub const INSTEAD: &str = "[key]";

/// Shorter ones are words ("none", "EMPTY", "test"), and other text would be shredded by them;
/// providers' keys have 32 characters or more.
pub const SHORTEST: usize = 8;

/// Longer ones are cut: who holds this much of one that is replaced holds nothing.
const LONGEST: usize = 4096;

/// Bytes of the longest form in which a secret of usual length is looked for at the borders of texts.
const LONGEST_FORM: usize = 4096;

static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);

/// The secrets, and what finds them.
#[derive(Default)]
struct Known {
    secrets: Vec<String>,
    /// Absent before the first secret, and after each until somebody looks.
    finder: Option<Arc<Finder>>,
}

/// What finds all secrets in one pass over a text and one over the same text unescaped.
struct Finder {
    /// As they are and in hexadecimal.
    plain: AhoCorasick,
    base64: AhoCorasick,
}

/// Registers a secret for the rest of this process; one that is shorter than [`SHORTEST`] is not
/// kept, see there.
pub fn keep(secret: &str) {
    let secret = secret.trim();
    let end = secret.floor_char_boundary(LONGEST);
    let secret = &secret[..end];
    if secret.chars().count() < SHORTEST {
        return;
    }
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if !known.secrets.iter().any(|one| one == secret) {
        known.secrets.push(secret.to_owned());
        known.finder = None;
    }
}

/// Registers what an address holds between its scheme and its host: user, password, and both as
/// they are after percent-decoding. Gives the address without them, and without its query.
pub fn keep_address(address: &str) -> String {
    let (_, rest) = address.split_once("://").unwrap_or(("", address));
    // A password may hold what ends an authority elsewhere; so the last @ decides.
    let Some((userinfo, _)) = rest.rsplit_once('@') else {
        return shown_address(address);
    };
    let password = userinfo
        .split_once(':')
        .map_or(userinfo, |(_, password)| password);
    for secret in [userinfo, password] {
        keep(secret);
        for unescaped in encodings::unescaped(secret.as_bytes()) {
            keep(&String::from_utf8_lossy(&unescaped.bytes));
        }
    }
    shown_address(address)
}

/// Registers what of an argument is a secret by its form: user and password of an address, and what
/// stands behind the name of a secret (`--set api_key=...`, `?token=...`). Behind a flag of ours stands
/// where a secret is found (`--key-env=...`), which is none.
pub fn keep_argument(argument: &str) {
    let argument = match argument.strip_prefix("--") {
        Some(flag) => flag.split_once('=').map_or("", |(_, value)| value),
        None => argument,
    };
    if argument
        .split_once("://")
        .is_some_and(|(_, rest)| rest.contains('@'))
    {
        keep_address(argument);
    }
    for part in argument.split(['?', '&', ',']) {
        if let Some((name, value)) = part.split_once('=')
            && is_secret_name(name)
        {
            keep(value.trim_matches(['"', '\'']));
        }
    }
}

/// What is shown in the place of what is no address: it may be a password.
pub const NO_ADDRESS: &str = "[no address]";

/// An address as it may be shown: `redis://user:password@host/0?x` becomes `redis://host/0`. A
/// password may hold what ends the part of an address that it stands in, so whatever stands before
/// the last `@` is left out, and everything where no host or port is left.
pub fn shown_address(address: &str) -> String {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), address),
    };
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let hosts = rest.split('/').next().unwrap_or_default();
    let is_path = hosts.is_empty() && !rest.is_empty();
    match is_path || hosts.split(',').all(is_host) && !is_random_word(rest) {
        true => format!("{scheme}{rest}"),
        false => format!("{scheme}{NO_ADDRESS}"),
    }
}

/// Whether a text may be a host, with or without its port.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':').unwrap_or(rest)),
        None => text.split_once(':').unwrap_or((text, "")),
    };
    !host.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// The text without any registered secret: plain, in Base64 (either alphabet, wherever it begins),
/// in hexadecimal, in one of these two within another, percent-encoded, or escaped as in JSON or HTML,
/// wholly or in part. What a server has changed so that nobody reads the secret in it (turned round,
/// enciphered) is not found: a server that was sent a key can always do that.
pub fn without(text: &str) -> Cow<'_, str> {
    match without_in_bytes(text.as_bytes()) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
    }
}

/// As [`without`], for what may be no text.
pub fn without_in_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    let found = places(bytes);
    if found.is_empty() {
        return Cow::Borrowed(bytes);
    }
    let mut clean = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for place in found {
        clean.extend_from_slice(&bytes[from..place.start]);
        clean.extend_from_slice(INSTEAD.as_bytes());
        from = place.end;
    }
    clean.extend_from_slice(&bytes[from..]);
    Cow::Owned(clean)
}

/// Whether a secret begins at the end of one text and ends at the beginning of the other.
pub fn is_split_over(first: &str, second: &str) -> bool {
    if first.is_empty() || second.is_empty() {
        return false;
    }
    let from = first.len().saturating_sub(LONGEST_FORM);
    let from = first.ceil_char_boundary(from);
    let to = second.floor_char_boundary(LONGEST_FORM);
    let (end, beginning) = (&first[from..], &second[..to]);
    let border = end.len();
    let joint = [end, beginning].concat();
    let mut found = places(joint.as_bytes()).into_iter();
    found.any(|place| place.start < border && border < place.end)
}

/// Where secrets stand, in order, none within another.
fn places(bytes: &[u8]) -> Vec<Range<usize>> {
    let Some(finder) = finder() else {
        return Vec::new();
    };
    let mut found = finder.places(bytes);
    for joined in encodings::joined(bytes) {
        let places = finder.places(&joined.bytes).into_iter();
        found.extend(places.map(|place| joined.source_of(place)));
    }
    for unescaped in encodings::unescaped(bytes) {
        let places = finder.places(&unescaped.bytes).into_iter();
        found.extend(places.map(|place| unescaped.source_of(place)));
        for joined in encodings::joined(&unescaped.bytes) {
            let places = finder.places(&joined.bytes).into_iter();
            let places = places.map(|place| unescaped.source_of(joined.source_of(place)));
            found.extend(places);
        }
    }
    found.sort_by_key(|place| (place.start, place.end));
    found.dedup_by(|next, before| {
        let overlaps = next.start < before.end;
        if overlaps {
            before.end = before.end.max(next.end);
        }
        overlaps
    });
    found
}

impl Finder {
    /// Where secrets stand as they are, in hexadecimal or in Base64.
    fn places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let plain = self.plain.find_iter(bytes).map(|place| place.range());
        let base64 = self.base64.find_iter(bytes);
        let base64 = base64.map(|place| encodings::widened(bytes, place.range()));
        plain.chain(base64).collect()
    }
}

fn finder() -> Option<Arc<Finder>> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if known.secrets.is_empty() || known.finder.is_some() {
        return known.finder.clone();
    }
    drop(known);
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    let (mut plain, mut base64) = (Vec::new(), Vec::new());
    for secret in &known.secrets {
        let encoded = encodings::encoded(secret.as_bytes());
        plain.push(secret.clone().into_bytes());
        plain.extend(encoded.hex);
        base64.extend(encoded.base64);
    }
    let (plain, base64) = (leftmost_longest(plain), leftmost_longest(base64));
    known.finder = plain
        .zip(base64)
        .map(|(plain, base64)| Arc::new(Finder { plain, base64 }));
    known.finder.clone()
}

/// Absent only when there are more patterns than an automaton can number (2^31).
fn leftmost_longest<P: AsRef<[u8]>>(patterns: impl IntoIterator<Item = P>) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .match_kind(aho_corasick::MatchKind::LeftmostLongest)
        .build(patterns)
        .ok()
}

#[cfg(test)]
mod tests;
