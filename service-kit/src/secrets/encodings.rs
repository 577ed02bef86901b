//! How a secret may be written: the forms that are looked for as they are (Base64, hexadecimal),
//! and the escapes that are undone before one looks (JSON, percent, HTML), also one within another.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// In hexadecimal.
pub(super) fn hex(secret: &[u8]) -> [Vec<u8>; 2] {
    let of = |digits: &[u8; 16]| -> Vec<u8> {
        let pairs = secret.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        pairs.map(|digit| digits[usize::from(digit)]).collect()
    };
    [of(b"0123456789abcdef"), of(b"0123456789ABCDEF")]
}

/// What of a secret's Base64 does not depend on its neighbours.
pub(super) fn base64(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(secret);
        // Only what is made of the secret alone: neighbours share the characters at its borders.
        let from = (before * 8).div_ceil(6);
        let to = bytes.len() * 8 / 6;
        for alphabet in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let text = alphabet.encode(&bytes);
            forms.push(text.as_bytes()[from..to].to_vec());
        }
    }
    forms.sort();
    forms.dedup();
    forms
}

/// The place of a form in Base64 with the characters at its borders that hold a few bits of it,
/// unless such a one ends an escape (`\n`), which must stay one.
pub(super) fn widened(bytes: &[u8], place: Range<usize>) -> Range<usize> {
    let is_of_base64 = |at: usize| {
        let byte = bytes.get(at);
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte))
    };
    let ends_an_escape = place.start > 1 && bytes[place.start - 2] == b'\\';
    let before = place.start > 0 && is_of_base64(place.start - 1) && !ends_an_escape;
    let start = place.start - usize::from(before);
    let end = place.end + usize::from(is_of_base64(place.end));
    start..end
}

/// How often one escapes what is escaped already: a log of JSON that quotes an address, say.
const MOST_LAYERS: usize = 3;

/// Text without escapes, and where each of its bytes came from.
pub(super) struct Unescaped {
    pub(super) bytes: Vec<u8>,
    /// For each byte, where its source begins; and at last where the source ends.
    from: Vec<u32>,
}

impl Unescaped {
    /// Where a part of it came from.
    pub(super) fn source_of(&self, part: Range<usize>) -> Range<usize> {
        let at = |byte: usize| self.from[byte] as usize;
        at(part.start)..at(part.end)
    }

    /// A layer less, unless there is none.
    fn further(&self) -> Option<Self> {
        let mut next = layer_less(&self.bytes)?;
        for from in &mut next.from {
            *from = self.from[*from as usize];
        }
        Some(next)
    }
}

/// The text with its escapes undone once, and again as long as that changes anything; none when it
/// has no escapes.
pub(super) fn unescaped(bytes: &[u8]) -> impl Iterator<Item = Unescaped> {
    std::iter::successors(layer_less(bytes), Unescaped::further).take(MOST_LAYERS)
}

/// Undoes JSON's `\u0041`, `\/` and `\"`, percent-encoding and HTML's numbers, mixed as they may be.
fn layer_less(bytes: &[u8]) -> Option<Unescaped> {
    if !bytes.iter().any(|byte| b"%\\&".contains(byte)) {
        return None;
    }
    let mut undone = Unescaped {
        bytes: Vec::with_capacity(bytes.len()),
        from: Vec::with_capacity(bytes.len() + 1),
    };
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let escape = match rest[0] {
            b'%' => of_percent(rest),
            b'\\' => of_json(rest),
            b'&' => of_html(rest),
            _ => None,
        };
        let (letter, length) = escape.unwrap_or((Letter::Byte(rest[0]), 1));
        let mut buffer = [0; 4];
        let letter = match letter {
            Letter::Byte(byte) => {
                buffer[0] = byte;
                &buffer[..1]
            }
            Letter::Char(letter) => letter.encode_utf8(&mut buffer).as_bytes(),
        };
        for byte in letter {
            undone.bytes.push(*byte);
            undone.from.push(offset(at));
        }
        at += length;
    }
    undone.from.push(offset(bytes.len()));
    (undone.bytes.len() < bytes.len()).then_some(undone)
}

enum Letter {
    Byte(u8),
    Char(char),
}

/// `%41`.
fn of_percent(text: &[u8]) -> Option<(Letter, usize)> {
    let byte = digits(&text[1..], 2)?;
    Some((Letter::Byte(u8::try_from(byte).ok()?), 3))
}

/// `\u0041`, and `\\u0041` where JSON stands in a string of JSON.
fn of_json(text: &[u8]) -> Option<(Letter, usize)> {
    let slashes = text.iter().take_while(|byte| **byte == b'\\').count();
    match text.get(slashes)? {
        b'u' => {
            let code = digits(&text[slashes + 1..], 4)?;
            Some((Letter::Char(char::from_u32(code)?), slashes + 5))
        }
        mark @ (b'/' | b'"' | b'\'') => Some((Letter::Byte(*mark), slashes + 1)),
        // An escaped backslash; what follows is no escape.
        _ => Some((Letter::Byte(b'\\'), slashes)),
    }
}

/// `&#65;`, `&#x41;`, `&amp;` and what else HTML must escape.
fn of_html(text: &[u8]) -> Option<(Letter, usize)> {
    let end = text.iter().take(12).position(|byte| *byte == b';')?;
    let name = std::str::from_utf8(&text[1..end]).ok()?;
    let letter = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((Letter::Char(letter), end + 1))
}

fn digits(text: &[u8], count: usize) -> Option<u32> {
    let digits = text.get(..count)?;
    digits.iter().try_fold(0, |number, digit| {
        Some(number * 16 + char::from(*digit).to_digit(16)?)
    })
}
