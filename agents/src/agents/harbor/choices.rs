//! Reads the choice of the strategic module: one of six actions, whether a profile
//! mattered, and why (Harbor, section 3.5 and table 1). Two different choices in
//! one reply are none.

use std::collections::BTreeSet;

use crate::mind::{CUT_OFF_THINKING, Reply};
use crate::reading::json::{Json, Object};
use crate::reading::{CUT_OFF_IN_THOUGHT, embedded, is_cut_off, said, snake};

/// What a bidder decided before it bids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// `A` to `F`.
    pub letter: char,
    /// Whether it says that what it knows of a rival mattered.
    pub uses_profile: bool,
    /// Its reason, in its own words.
    pub reason: String,
}

/// Choices that raise; the others leave the item.
const RAISES: [char; 3] = ['A', 'B', 'C'];

/// The letters of table 1.
const LETTERS: std::ops::RangeInclusive<char> = 'A'..='F';

/// Keys under which a reply may put its choice.
const KEYS: &[&str] = &[
    "choice",
    "option",
    "action",
    "strategy",
    "decision",
    "answer",
    "strategic_action",
    "selected_option",
    "selected_action",
    "selection",
];

/// Words behind which a letter is a choice in prose.
const MARKERS: &[&str] = &[
    "choice", "choose", "chose", "option", "action", "strategy", "decision", "answer", "pick",
    "select", "selected", "is", "with", "go",
];

/// Words that say yes in place of `true`.
const YES: &[&str] = &["true", "yes", "y"];

/// Longest reason that is kept, in letters; it stands in the note alone.
const LONGEST_REASON: usize = 1_000;

/// The form that is asked for.
pub const SCHEMA: &str = r#"{"type":"object","properties":{"reason":{"type":"string"},"uses_profile":{"type":"boolean"},"choice":{"type":"string","enum":["A","B","C","D","E","F"]}},"required":["reason","uses_profile","choice"],"additionalProperties":false}"#;

impl Choice {
    /// Whether it goes on bidding.
    pub fn raises(&self) -> bool {
        RAISES.contains(&self.letter)
    }
}

/// Reads a choice from a reply.
///
/// # Errors
/// What is wrong with it, and what would be right.
pub fn read(reply: &Reply) -> Result<Choice, String> {
    let text = said(reply);
    if reply.finish_reason == CUT_OFF_THINKING {
        return Err(format!(
            "{CUT_OFF_IN_THOUGHT}; think less and choose one letter from A to F"
        ));
    }
    if text.is_empty() {
        return Err("the reply was empty; choose one letter from A to F".to_owned());
    }
    for value in embedded::values(text).iter().rev() {
        let Some(map) = value.object_with(&is_choice_key) else {
            continue;
        };
        let letter = one_of(letters_in(map))?;
        return Ok(Choice {
            letter,
            uses_profile: uses_profile(map),
            reason: shortened(reason(map).unwrap_or_default()),
        });
    }
    if is_cut_off(reply) {
        return Err("the reply was cut off before it chose; be brief".to_owned());
    }
    let letter = one_of(in_words(text))?;
    Ok(Choice {
        letter,
        uses_profile: false,
        reason: shortened(text),
    })
}

fn is_choice_key(key: &str) -> bool {
    KEYS.contains(&&*snake(key))
}

/// Every letter that the object's fields choose; an empty set when what they hold
/// is none.
fn letters_in(map: &Object) -> BTreeSet<char> {
    let fields = map.iter().filter(|(key, _)| is_choice_key(key));
    let mut letters = BTreeSet::new();
    for (_, value) in fields {
        match value {
            Json::String(text) => letters.extend(letter_of(text)),
            Json::Array(rows) => {
                let rows = rows.iter().filter_map(Json::as_str);
                letters.extend(rows.filter_map(letter_of));
            }
            Json::Object(inner) => letters.extend(letters_in(inner)),
            _ => {}
        }
    }
    letters
}

/// The letter of a field: `B`, `b`, `(B)`, `B. Increase the bid`, `Option B`.
fn letter_of(text: &str) -> Option<char> {
    let text = text.trim().trim_matches(['(', '"', '\'', '*', '[']);
    let upper = text.to_uppercase();
    let mut letters = upper.chars();
    let first = letters.next()?;
    let ends = letters.next().is_none_or(|next| ".):-]*, ".contains(next));
    // "A raise" may be the article; only one letter or a mark behind it is meant.
    let article = first == 'A' && upper.starts_with("A ") && upper.len() > 2;
    if LETTERS.contains(&first) && ends && !article {
        return Some(first);
    }
    one_of(in_words(text)).ok()
}

/// Letters that words choose: behind a marker, or at the start of a line with a
/// mark behind, or as the whole text.
fn in_words(text: &str) -> BTreeSet<char> {
    let mut found = BTreeSet::new();
    let mut before = String::new();
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let letter = single(bare).filter(|_| MARKERS.contains(&before.as_str()));
        // "I go with a small raise" has an article, not a letter.
        found.extend(letter.filter(|_| bare.chars().all(char::is_uppercase)));
        if !matches!(&*bare.to_lowercase(), "" | "the" | "to" | "for") {
            before = bare.to_lowercase();
        }
    }
    if found.is_empty() {
        let starts = text.lines().filter_map(|line| {
            let line = line.trim().trim_matches(['*', '(', '"']);
            let (first, rest) = line.split_at_checked(1)?;
            let marked = rest.is_empty() || rest.starts_with(['.', ')', ':', '*']);
            single(first).filter(|_| marked)
        });
        found.extend(starts);
    }
    found
}

fn single(word: &str) -> Option<char> {
    let letter: char = word.parse().ok()?;
    Some(letter.to_ascii_uppercase()).filter(|letter| LETTERS.contains(letter))
}

fn one_of(letters: BTreeSet<char>) -> Result<char, String> {
    let all: Vec<String> = letters.iter().map(char::to_string).collect();
    match (letters.first(), letters.len()) {
        (Some(letter), 1) => Ok(*letter),
        (None, _) => Err("no choice was found; give a single letter from A to F".to_owned()),
        _ => Err(format!(
            "the reply chooses {}; give a single letter",
            all.join(" and ")
        )),
    }
}

fn uses_profile(map: &Object) -> bool {
    let field = map.iter().find(|(key, _)| {
        let key = snake(key);
        key.contains("profile") && !is_choice_key(&key)
    });
    match field {
        Some((_, Json::Bool(used))) => *used,
        Some((_, Json::String(word))) => YES.contains(&&*word.trim().to_lowercase()),
        _ => false,
    }
}

fn reason(map: &Object) -> Option<&str> {
    let keys = ["reason", "reasoning", "explanation", "justification", "why"];
    keys.iter().find_map(|key| map.get(key)?.as_str())
}

fn shortened(text: &str) -> String {
    text.trim().chars().take(LONGEST_REASON).collect()
}
