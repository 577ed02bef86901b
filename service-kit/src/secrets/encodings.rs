//! How a secret may be written: the forms that are looked for as they are (Base64, hexadecimal), the
//! escapes that are undone before one looks (JSON and its like, percent, HTML), also one within another,
//! and what may stand between its parts (line breaks, signs that are not seen, colons between digits).

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// What of a secret is looked for where Base64 and hexadecimal are undone nowhere: its encodings, and
/// the encodings of these.
pub(super) fn encoded(secret: &[u8]) -> Encoded {
    let mut forms = Encoded {
        hex: hex(secret).to_vec(),
        base64: base64(secret),
    };
    let once: Vec<Vec<u8>> = forms.hex.iter().chain(&forms.base64).cloned().collect();
    for form in &once {
        forms.hex.extend(hex(form));
        forms.base64.extend(base64(form));
    }
    forms
}

/// The forms of a secret by the alphabet that they are written in at last.
pub(super) struct Encoded {
    pub(super) hex: Vec<Vec<u8>>,
    pub(super) base64: Vec<Vec<u8>>,
}

/// In hexadecimal.
fn hex(secret: &[u8]) -> [Vec<u8>; 2] {
    let of = |digits: &[u8; 16]| -> Vec<u8> {
        let pairs = secret.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        pairs.map(|digit| digits[usize::from(digit)]).collect()
    };
    [of(b"0123456789abcdef"), of(b"0123456789ABCDEF")]
}

/// What of a secret's Base64 does not depend on its neighbours.
fn base64(secret: &[u8]) -> Vec<Vec<u8>> {
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
const MOST_LAYERS: usize = 5;

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

/// Text without its gaps, and where each of its bytes stood.
pub(super) struct Joined {
    pub(super) bytes: Vec<u8>,
    from: Vec<usize>,
}

impl Joined {
    /// Where a part of it stood, with the gaps inside it.
    pub(super) fn source_of(&self, part: Range<usize>) -> Range<usize> {
        match part.end.checked_sub(1) {
            Some(last) => self.from[part.start]..self.from[last] + 1,
            None => 0..0,
        }
    }
}

/// The text without what may be put between the parts of a secret: white space and what is not seen
/// (Base64 is broken into lines), and without the separators of bytes in hexadecimal as well; none where
/// there is none of it.
pub(super) fn joined(bytes: &[u8]) -> impl Iterator<Item = Joined> {
    let without = [gap as fn(&[u8]) -> usize, separator];
    without.into_iter().filter_map(|of| without_gaps(bytes, of))
}

fn without_gaps(bytes: &[u8], gap: impl Fn(&[u8]) -> usize) -> Option<Joined> {
    let mut joined = Joined {
        bytes: Vec::with_capacity(bytes.len()),
        from: Vec::with_capacity(bytes.len()),
    };
    let mut at = 0;
    while at < bytes.len() {
        match gap(&bytes[at..]) {
            0 => {
                joined.bytes.push(bytes[at]);
                joined.from.push(at);
                at += 1;
            }
            length => at += length,
        }
    }
    (joined.bytes.len() < bytes.len()).then_some(joined)
}

/// Bytes of white space or of a letter that is not seen at the beginning of a text.
fn gap(text: &[u8]) -> usize {
    const UNSEEN: [&str; 7] = [
        "\u{200b}", "\u{200c}", "\u{200d}", "\u{2060}", "\u{feff}", "\u{ad}", "\u{2028}",
    ];
    if text[0].is_ascii_whitespace() {
        return 1;
    }
    if text[0].is_ascii() {
        return 0;
    }
    let mut unseen = UNSEEN.iter();
    let found = unseen.find(|letter| text.starts_with(letter.as_bytes()));
    found.map_or(0, |letter| letter.len())
}

/// The same, or of what stands between bytes in hexadecimal.
fn separator(text: &[u8]) -> usize {
    match text {
        [b':' | b',' | b'-', ..] => 1,
        [b'0' | b'\\', b'x' | b'X', ..] => 2,
        _ => gap(text),
    }
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

/// `\u0041`, and `\\u0041` where JSON stands in a string of JSON; `\x41`, `\u{41}` and `\U00000041` of other
/// languages, `\101` and line breaks.
fn of_json(text: &[u8]) -> Option<(Letter, usize)> {
    let slashes = text.iter().take_while(|byte| **byte == b'\\').count();
    match text.get(slashes)? {
        b'u' => {
            let rest = &text[slashes + 1..];
            let (code, length) = match rest.first()? {
                b'{' => {
                    let length = rest.iter().take(9).position(|byte| *byte == b'}')?;
                    (digits(&rest[1..], length - 1)?, length + 1)
                }
                _ => (digits(rest, 4)?, 4),
            };
            Some((Letter::Char(char::from_u32(code)?), slashes + 1 + length))
        }
        b'U' => {
            let code = digits(&text[slashes + 1..], 8)?;
            Some((Letter::Char(char::from_u32(code)?), slashes + 9))
        }
        b'x' => {
            let byte = digits(&text[slashes + 1..], 2)?;
            Some((Letter::Byte(u8::try_from(byte).ok()?), slashes + 3))
        }
        b'0'..=b'3' => {
            let octal = std::str::from_utf8(text.get(slashes..slashes + 3)?).ok()?;
            let byte = u8::from_str_radix(octal, 8).ok()?;
            Some((Letter::Byte(byte), slashes + 3))
        }
        b'n' | b'r' | b't' => Some((Letter::Byte(b' '), slashes + 1)),
        mark @ (b'/' | b'"' | b'\'') => Some((Letter::Byte(*mark), slashes + 1)),
        // An escaped backslash; what follows is no escape.
        _ => Some((Letter::Byte(b'\\'), slashes)),
    }
}

/// More zeros are put before no number.
const LONGEST_NAME: usize = 40;

/// What HTML must escape, and the names of other signs that keys have.
const NAMED: [(&str, char); 18] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("sol", '/'),
    ("bsol", '\\'),
    ("plus", '+'),
    ("equals", '='),
    ("lowbar", '_'),
    ("period", '.'),
    ("comma", ','),
    ("colon", ':'),
    ("hyphen", '-'),
    ("dash", '-'),
    ("num", '#'),
    ("percnt", '%'),
    ("Tab", '\t'),
];

/// `&#65;`, `&#x41;`, `&amp;` and other names.
fn of_html(text: &[u8]) -> Option<(Letter, usize)> {
    // Browsers read numbers without the semicolon at their end.
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'#';
    let length = text[1..]
        .iter()
        .take(LONGEST_NAME)
        .take_while(|byte| is_of_name(byte));
    let end = 1 + length.count();
    let name = std::str::from_utf8(&text[1..end]).ok()?;
    let is_ended = text.get(end) == Some(&b';');
    if let Some(number) = name.strip_prefix('#') {
        let (radix, before, digits) = match number.strip_prefix(['x', 'X']) {
            Some(digits) => (16, "&#x".len(), digits),
            None => (10, "&#".len(), number),
        };
        let end = digits.find(|letter: char| !letter.is_digit(radix));
        let digits = &digits[..end.unwrap_or(digits.len())];
        let code = u32::from_str_radix(digits, radix).ok()?;
        let read = before + digits.len();
        let semicolon = usize::from(text.get(read) == Some(&b';'));
        return Some((Letter::Char(char::from_u32(code)?), read + semicolon));
    }
    let named = NAMED.iter().find(|(known, _)| *known == name && is_ended);
    named.map(|(_, letter)| (Letter::Char(*letter), end + 1))
}

fn digits(text: &[u8], count: usize) -> Option<u32> {
    let digits = text.get(..count)?;
    digits.iter().try_fold(0, |number, digit| {
        Some(number * 16 + char::from(*digit).to_digit(16)?)
    })
}
