//! Changes to a text or a file that know nothing of its grammar: flipped bytes, hostile tokens, long
//! runs, deep brackets, and pieces cut out, moved or taken from another file of the corpus.

use std::ops::Range;

use super::draw::Draw;

/// Longest input, unless a run makes it longer.
const LONGEST: usize = 256 * 1024;

/// Lengths of runs and depths of brackets.
const RUNS: [usize; 8] = [2, 17, 64, 129, 300, 1_000, 5_000, 70_000];

const TOKENS: &[&[u8]] = &[
    b"\0",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"\"",
    b"'",
    b"\\",
    b"/",
    b"#",
    b",",
    b":",
    b"=",
    b".",
    b"-",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"null",
    b"true",
    b"false",
    b"nan",
    b"inf",
    b"-inf",
    b"-0",
    b"-1",
    b"0",
    b"1",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"4294967295",
    b"4294967296",
    b"1e308",
    b"1e309",
    b"-1e308",
    b"5e-324",
    b"1e-400",
    b"0.1",
    b"1e9999999999",
    b"999999999999999999999999999999999999999999",
    b"0x7fffffffffffffff",
    b"\\u0000",
    b"\\ud800",
    b"\\udfff\\ud800",
    b"\\u{202e}",
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\x92\xa9",
    b"e\xcc\x81\xcc\x81",
    b"\"\"\"",
    b"'''",
    b"{{",
    b"}}",
    b"{%",
    b"%}",
    b"{#",
    b"../",
    b"%00",
    b"%s%n",
    b"1970-01-01T00:00:00Z",
    b"9999-12-31",
    b"P99999999999Y",
    b"99999999999999999999s",
    b"1ns",
    b"__proto__",
    b"<think>",
    b"</think>",
    b"```json",
    b"```",
];

/// Those of them that are decimal numbers.
const NUMBERS: Range<usize> = 27..45;

const BRACKETS: &[(&[u8], &[u8])] = &[
    (b"[", b"]"),
    (b"{", b"}"),
    (b"(", b")"),
    (b"{\"a\":", b"}"),
    (b"[{\"\":", b"}]"),
    (b"{a=", b"}"),
    (b"{{", b"}}"),
    (b"<a>", b"</a>"),
];

/// One of the corpus, changed up to eight times; as it is now and then.
pub fn changed(draw: &mut Draw, corpus: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut text = draw.pick(corpus).clone();
    if draw.one_in(50) {
        return text;
    }
    for _ in 0..=draw.below(8) {
        change(draw, &mut text, corpus, words);
    }
    text
}

/// Changes it once. `words` are those of the grammar.
pub fn change(draw: &mut Draw, text: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&str]) {
    let at = draw.below(text.len() + 1);
    let most = *draw.pick(&RUNS);
    let piece = at..(at + 1 + draw.below(most)).min(text.len());
    match draw.below(14) {
        0 | 1 if at < text.len() => text[at] ^= 1 << draw.below(8),
        2 if at < text.len() => text[at] = draw.byte(),
        3 | 4 => put(text, at, draw.pick::<&[u8]>(TOKENS)),
        5 if !words.is_empty() => put(text, at, draw.pick(words).as_bytes()),
        6 => drop(text.drain(piece)),
        7 => text.truncate(at),
        8 => {
            let copy = text[piece].to_vec();
            let at = draw.below(text.len() + 1);
            put(text, at, &copy);
        }
        9 => {
            let other = draw.pick(corpus);
            let from = draw.below(other.len() + 1);
            let to = (from + 1 + draw.below(400)).min(other.len());
            put(text, at, &other[from..to]);
        }
        10 => {
            let moved: Vec<u8> = text.drain(piece).collect();
            let at = draw.below(text.len() + 1);
            put(text, at, &moved);
        }
        11 => number(draw, text),
        12 => {
            let times = *draw.pick(&RUNS);
            let run = draw.pick(TOKENS).repeat(times);
            put(text, at, &run);
        }
        13 => {
            let (open, close) = draw.pick(BRACKETS);
            let depth = *draw.pick(&RUNS);
            let mut run = open.repeat(depth);
            if !draw.one_in(3) {
                run.extend(close.repeat(depth));
            }
            put(text, at, &run);
        }
        _ => {
            let token = draw.pick(TOKENS);
            let end = (at + token.len()).min(text.len());
            text.splice(at..end, token.iter().copied());
        }
    }
}

/// Puts another number in the place of one that is there.
fn number(draw: &mut Draw, text: &mut Vec<u8>) {
    let start = draw.below(text.len());
    let Some(from) = text[start..].iter().position(u8::is_ascii_digit) else {
        return;
    };
    let from = start + from;
    let digits = text[from..].iter().take_while(|byte| byte.is_ascii_digit());
    let to = from + digits.count();
    let other = match draw.below(4) {
        0 => draw.below(12).to_string(),
        1 => draw.number().to_string(),
        2 => (draw.number() as i64).to_string(),
        _ => String::from_utf8_lossy(draw.pick::<&[u8]>(&TOKENS[NUMBERS])).into_owned(),
    };
    text.splice(from..to, other.into_bytes());
}

fn put(text: &mut Vec<u8>, at: usize, what: &[u8]) {
    if text.len() + what.len() <= LONGEST {
        text.splice(at..at, what.iter().copied());
    }
}
