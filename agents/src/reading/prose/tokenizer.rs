//! Cuts text into words, numbers, marks and sentence ends, in one pass. What is a number,
//! the engine's `numerals` know; what a word does, `lexicon.rs` and the vocabulary of the
//! ask. Marks of emphasis, quotation and other ornaments are left out.

use agon_engine::numerals::{self, Commas, Numeral, Sort};

use super::lexicon::{Class, Classes};
use super::plain::Plain;
use super::senses;
use super::tokens::{Kind, Token};
use super::vocabulary::Vocabulary;

/// Cuts a text into tokens.
pub fn tokenize<'a>(plain: &'a Plain, vocabulary: &Vocabulary, commas: Commas) -> Vec<Token<'a>> {
    let text = &*plain.text;
    let mut tokens: Vec<Token<'a>> = Vec::new();
    let (mut at, mut is_apart, mut is_quoted) = (0, false, false);
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, end) = if let Some(length) = address_length(rest) {
            (None, at + length)
        } else if let Some((kind, end)) = number(text, at, commas) {
            (Some(kind), end)
        } else if rest.starts_with("->") || rest.starts_with("=>") {
            (Some(Kind::Mark(':')), at + 2)
        } else if let Some((mark, length)) = checkbox(rest) {
            (Some(Kind::Mark(mark)), at + length)
        } else if letter.is_alphanumeric() {
            (Some(Kind::Word), at + word_length(rest))
        } else {
            let behind = at + letter.len_utf8();
            let is_product = letter == '*'
                && tokens.last().is_some_and(Token::is_term)
                && starts_term(&text[behind..]);
            let mark = match is_product {
                true => Some(Kind::Mark('*')),
                false => mark(letter, &text[behind..]),
            };
            (mark, behind)
        };
        if "\"\u{201c}\u{201d}\u{ab}\u{bb}".contains(letter) {
            is_quoted = match letter {
                '"' => !is_quoted,
                _ => matches!(letter, '\u{201c}' | '\u{ab}'),
            };
        }
        if let Some(kind) = kind {
            let piece = match kind {
                Kind::Word => vocabulary.mended(text[at..end].trim_end_matches(['_', '\''])),
                _ => &text[at..end],
            };
            let classes = match kind {
                Kind::Word => vocabulary.classes(piece),
                _ => Classes::default(),
            };
            // "One coin" counts, "one of them" does not.
            if classes.has(Class::Unit)
                && let Some(one) = tokens.last_mut().filter(|last| last.is_word("one"))
            {
                one.kind = Kind::Number(Numeral {
                    value: 1.0,
                    sort: Sort::Plain,
                    is_spelled: true,
                });
            }
            tokens.push(Token {
                kind,
                text: piece,
                classes,
                is_capital: plain.is_capital(at),
                is_apart,
                is_quoted,
            });
            is_apart = false;
        } else {
            is_apart |= letter.is_whitespace();
        }
        is_quoted &= letter != '\n';
        at = end;
    }
    senses::settle(&mut tokens, vocabulary);
    tokens
}

/// Whether a text begins with a part of a calculation, and not with more stars of emphasis.
fn starts_term(text: &str) -> bool {
    text.trim_start_matches(' ')
        .starts_with(|letter: char| letter.is_ascii_digit() || "($".contains(letter))
}

/// The number that begins at a place. "One" by itself is a pronoun more often.
fn number(text: &str, at: usize, commas: Commas) -> Option<(Kind, usize)> {
    let scanned = numerals::scan(text, at, commas)?;
    let Some(numeral) = scanned.numeral else {
        return Some((Kind::Broken, scanned.end));
    };
    let is_pronoun =
        numeral.is_spelled && numeral.sort == Sort::Plain && &text[at..scanned.end] == "one";
    (!is_pronoun).then_some((Kind::Number(numeral), scanned.end))
}

/// A box at the start of a text that is ticked or not, and its length.
fn checkbox(text: &str) -> Option<(char, usize)> {
    let boxes = [
        ("[x]", '✓'),
        ("[ ]", '✗'),
        ("[✓]", '✓'),
        ("(x)", '✓'),
        ("( )", '✗'),
        ("[*]", '✓'),
    ];
    let known = boxes.iter().find(|(known, _)| text.starts_with(known));
    known.map(|(known, mark)| (*mark, known.len()))
}

fn mark(letter: char, after: &str) -> Option<Kind> {
    let next = after.chars().next();
    match letter {
        '\n' | '!' | '?' => Some(Kind::End(letter)),
        // A full stop inside a word or number ends nothing.
        '.' if next.is_none_or(|next| !next.is_alphanumeric()) => Some(Kind::End('.')),
        '\u{3002}' => Some(Kind::End('.')),
        ',' | ';' | ':' | '=' | '-' | '(' | ')' | '[' | ']' | '/' | '%' | '<' | '>' | '+' | '|'
        | '#' | '{' | '}' | '~' | '^' => Some(Kind::Mark(letter)),
        '×' | '·' => Some(Kind::Mark('*')),
        '≈' => Some(Kind::Mark('=')),
        '→' | '⇒' | '➔' | '➡' => Some(Kind::Mark(':')),
        '❌' | '✗' | '✘' | '🚫' | '☐' => Some(Kind::Mark('✗')),
        '✅' | '✓' | '✔' | '☑' | '☒' => Some(Kind::Mark('✓')),
        _ => None,
    }
}

fn word_length(text: &str) -> usize {
    let inside = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '\'';
    let end = text.find(|letter| !inside(letter)).unwrap_or(text.len());
    // "1e-5" is one word, and no number that anybody means.
    let is_power = text[..end].strip_suffix('e').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    });
    let exponent = text[end..].strip_prefix(['-', '+']).filter(|_| is_power);
    exponent.map_or(end, |exponent| {
        let digits = exponent.bytes().take_while(u8::is_ascii_digit).count();
        end + 1 + digits
    })
}

/// The length of a web address at the start of a text; what stands in one is no answer.
fn address_length(text: &str) -> Option<usize> {
    let is_address = ["http://", "https://", "www."]
        .iter()
        .any(|start| text.starts_with(start));
    let ends = |letter: char| letter.is_whitespace() || ")>]\"'".contains(letter);
    is_address.then(|| text.find(ends).unwrap_or(text.len()))
}
