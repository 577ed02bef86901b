//! Numbers in English words, up to millions: "fifty-five", "a hundred and five", "twelve
//! hundred", "two and a half thousand", "sixty-seven point two five". Words that name two
//! numbers ("five six") are none. Called by `numerals.rs`.

use super::{Found, word_at};

/// From zero to nineteen.
const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

/// Twenty, thirty, up to ninety.
const TENS: [&str; 8] = [
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];

/// What multiplies everything before it, the largest first.
const SCALES: [(&str, u64); 4] = [
    ("million", 1_000_000),
    ("thousand", 1_000),
    ("grand", 1_000),
    ("k", 1_000),
];

/// Parts of a whole, and how many of them make one. Most are also places in an order.
const PARTS: [(&str, f64); 10] = [
    ("half", 2.0),
    ("third", 3.0),
    ("quarter", 4.0),
    ("fourth", 4.0),
    ("fifth", 5.0),
    ("sixth", 6.0),
    ("seventh", 7.0),
    ("eighth", 8.0),
    ("ninth", 9.0),
    ("tenth", 10.0),
];

/// Words of the longest number that is read, which bounds the walk.
const MOST_WORDS: usize = 14;

/// The number in words at a place.
pub(super) fn spelled(text: &str, start: usize) -> Option<Found> {
    let mut number = Number::default();
    let mut end = None;
    let mut next = start;
    for _ in 0..MOST_WORDS {
        let (word, behind) = word_at(text, next);
        let then = || word_at(text, behind_joint(text, behind)).0;
        let step = number.take(word, then);
        match step {
            Step::Taken => end = Some(behind),
            Step::Joined => {}
            Step::Ends => break,
            Step::Broken => {
                let end = behind;
                return Some(Found { digits: None, end });
            }
        }
        next = behind_joint(text, behind);
        if next == behind {
            break;
        }
    }
    let end = end?;
    let (fraction, end) = fraction(text, end);
    Some(Found {
        digits: Some(format!("{}{fraction}", number.total())),
        end,
    })
}

/// A number word by word.
#[derive(Default)]
struct Number {
    /// What is complete: thousands, millions.
    sum: u64,
    /// The smallest scale so far.
    scale: Option<u64>,
    /// What is being said, below ten thousand.
    part: Option<u64>,
    /// Whether the last word ends a group, so that "and" may follow.
    is_round: bool,
}

enum Step {
    /// The word belongs to the number.
    Taken,
    /// It does if the next one does.
    Joined,
    /// The number ended before it.
    Ends,
    /// It is a number of its own.
    Broken,
}

impl Number {
    fn take<'a>(&mut self, word: &str, then: impl Fn() -> &'a str) -> Step {
        let is_first = self.part.is_none() && self.scale.is_none();
        let part = self.part.unwrap_or(0);
        if let Some(small) = small(word) {
            let fits = match small {
                0 => is_first,
                1..=9 => part.is_multiple_of(10) && part % 100 != 10,
                _ => part.is_multiple_of(100),
            };
            if !fits || self.part == Some(0) {
                return Step::Broken;
            }
            self.part = Some(part + small);
            self.is_round = false;
            return Step::Taken;
        }
        let scale = SCALES.iter().find(|(name, _)| *name == word);
        match word {
            "a" | "an" if is_first && begins_group(then()) => Step::Joined,
            "and" if self.is_round && small(then()).is_some_and(|small| small > 0) => Step::Joined,
            "hundred" if self.part.is_none() || (1..100).contains(&part) => {
                self.part = Some(part.max(1) * 100);
                self.is_round = true;
                Step::Taken
            }
            "dozen" if self.scale.is_none() && part < 100 => {
                self.part = Some(part.max(1) * 12);
                self.is_round = false;
                Step::Taken
            }
            _ => match scale {
                Some((_, scale)) if self.scale.is_none_or(|last| *scale < last) => {
                    if word == "k" && is_first {
                        return Step::Ends;
                    }
                    self.sum += part.max(1) * scale;
                    self.scale = Some(*scale);
                    self.part = None;
                    self.is_round = true;
                    Step::Taken
                }
                _ => Step::Ends,
            },
        }
    }

    fn total(&self) -> u64 {
        self.sum + self.part.unwrap_or(0)
    }
}

/// Whether "a" before a word is "one".
fn begins_group(word: &str) -> bool {
    matches!(word, "hundred" | "thousand" | "million" | "dozen" | "grand")
}

/// A word for a number below a hundred, except for those of two words.
fn small(word: &str) -> Option<u64> {
    let place = |words: &[&str]| words.iter().position(|known| *known == word);
    let tens = place(&TENS).map(|place| (place + 2) * 10);
    place(&ONES).or(tens).map(|number| number as u64)
}

/// Parts of a whole, as words behind a number say them.
pub(super) struct Parts {
    /// Into how many a whole is divided.
    pub divisor: f64,
    /// Whether there are several: "two thirds", not "twenty-third".
    pub is_plural: bool,
}

/// The word for parts behind a number, or for a place in an order, and the place behind it.
pub(super) fn ordinal(text: &str, end: usize) -> Option<(Parts, usize)> {
    let (word, behind) = word_at(text, behind_joint(text, end));
    let singular = word.strip_suffix('s');
    let name = singular.unwrap_or(word);
    let (_, divisor) = PARTS.iter().find(|(known, _)| *known == name)?;
    let parts = Parts {
        divisor: *divisor,
        is_plural: singular.is_some(),
    };
    Some((parts, behind))
}

/// "point two five" or "and a half" behind a number: digits with their point.
fn fraction(text: &str, end: usize) -> (String, usize) {
    if text[end..].starts_with(" and a half") {
        return (".5".to_owned(), end + " and a half".len());
    }
    let mut digits = String::new();
    let mut at = end;
    if let Some(rest) = text[end..].strip_prefix(" point ") {
        let mut next = text.len() - rest.len();
        for _ in 0..MOST_WORDS {
            let (word, behind) = word_at(text, next);
            let Some(digit) = small(word).filter(|digit| *digit < 10) else {
                break;
            };
            digits.push_str(&digit.to_string());
            at = behind;
            next = behind_joint(text, behind);
        }
    }
    if digits.is_empty() {
        return (digits, end);
    }
    (format!(".{digits}"), at)
}

/// The place behind what joins two words of a number: a blank, a hyphen, a comma behind
/// thousands.
fn behind_joint(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let comma = text[..at].ends_with("thousand") && rest.starts_with(", ");
    match rest.chars().next() {
        _ if comma => at + 2,
        Some(' ' | '-') => at + 1,
        _ => at,
    }
}
