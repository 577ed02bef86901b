//! A reply whose JSON is taken out of the way: in the place of every object or array stands
//! one letter that no text uses, so that lines and sentences can be told apart without
//! breaking any of it. Called by `said.rs`.

use crate::reading::embedded;
use crate::reading::json::Json;

/// The first of the letters that stand in: private use, no letter of any word.
const FIRST: u32 = 0xF_0000;

/// As many objects of a reply are looked at; nobody predicts that many players.
const MOST: u32 = 10_000;

/// The word before predictions that were written down.
const LABELS: [&str; 2] = ["predictions", "prediction"];

/// A reply with letters in the place of its objects.
pub struct StandIns {
    /// The text with stand-ins.
    pub text: String,
    /// The objects, in the order of their letters.
    pub objects: Vec<Object>,
}

/// An object or array of a reply.
pub struct Object {
    /// What it holds.
    pub value: Json,
    /// Whether the words before it say that it holds predictions.
    pub is_labelled: bool,
}

/// Whether a letter stands in for an object.
pub fn stands_in(letter: char) -> bool {
    (FIRST..FIRST + MOST).contains(&u32::from(letter))
}

impl StandIns {
    /// A reply without its objects. Where predictions begin in JSON that never ends, the
    /// rest is left out: nothing behind can be told from them.
    pub fn new(reply: &str) -> Self {
        let found = embedded::scan(reply);
        let inside = |at: usize| {
            let before = found.partition_point(|object| object.span.start <= at);
            before > 0 && found[before - 1].span.end > at
        };
        let end = unending(reply).find(|at| !inside(*at));
        let end = end.unwrap_or(reply.len());
        let (mut text, mut objects, mut from) = (String::new(), Vec::new(), 0);
        let before_end = found.into_iter().filter(|object| object.span.end <= end);
        for (letter, object) in (FIRST..FIRST + MOST).zip(before_end) {
            push(&mut text, &reply[from..object.span.start]);
            text.extend(char::from_u32(letter));
            from = object.span.end;
            objects.push(Object {
                is_labelled: label(&reply[..object.span.start]).is_some(),
                value: object.value,
            });
        }
        push(&mut text, &reply[from.min(end)..end]);
        Self { text, objects }
    }

    /// The object that words come to, if they are nothing else.
    pub fn only(&self, words: &str) -> Option<&Object> {
        let mut letters = words
            .chars()
            .filter(|letter| letter.is_alphanumeric() || stands_in(*letter));
        let object = letters.next().and_then(|letter| self.of(letter))?;
        letters.next().is_none().then_some(object)
    }

    fn of(&self, letter: char) -> Option<&Object> {
        let place = u32::from(letter).checked_sub(FIRST)?;
        self.objects.get(usize::try_from(place).ok()?)
    }
}

fn push(text: &mut String, words: &str) {
    text.extend(words.chars().map(|letter| match stands_in(letter) {
        true => ' ',
        false => letter,
    }));
}

/// Where a text ends in a word for predictions and a colon: what stands before the word.
fn label(before: &str) -> Option<&str> {
    let before = before.trim_end().strip_suffix(':')?;
    let before = before.trim_end_matches(['"', '\'', '*', ' ', '\u{201d}']);
    LABELS.iter().find_map(|label| {
        let at = before.len().checked_sub(label.len())?;
        let word = before.get(at..)?;
        word.eq_ignore_ascii_case(label).then(|| &before[..at])
    })
}

/// Places of opening brackets right behind a key for predictions.
fn unending(reply: &str) -> impl Iterator<Item = usize> + '_ {
    let opening = reply.match_indices(['{', '[']);
    let keyed = opening.filter(|(at, _)| {
        let before = label(&reply[..*at]);
        before.is_some_and(|before| {
            let before = before.trim_end();
            before.ends_with(['"', '\'', '\u{201c}', '{', ','])
        })
    });
    keyed.map(|(at, _)| at)
}
