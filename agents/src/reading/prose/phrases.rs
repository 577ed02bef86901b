//! Words and set phrases for answers that are words: options, refusals, leaving. The phrases
//! are data in `phrases.txt`; this finds the longest that begins at a place.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::tokens::Token;

/// The phrases by meaning, a few a line.
const PHRASES: &str = include_str!("phrases.txt");

/// How a phrase answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// If somebody says it of oneself: "go".
    Word,
    /// As it stands: "count me in".
    Said,
    /// If nothing else stands beside it: "yes".
    Alone,
}

/// A phrase.
#[derive(Debug)]
pub struct Phrase {
    /// What it means: an option, `refuse` or `leave`.
    pub meaning: &'static str,
    /// How it answers.
    pub manner: Manner,
    /// Its words.
    words: Vec<&'static str>,
}

impl Phrase {
    /// How many words it has.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    fn is_at(&self, tokens: &[Token<'_>], at: usize) -> bool {
        let there = tokens.get(at..at + self.words.len());
        there.is_some_and(|there| {
            let mut pairs = there.iter().zip(&self.words);
            pairs.all(|(token, word)| is_word(token.text, word))
        })
    }
}

/// Whether a word is written so, with or without its apostrophe: "im" for "i'm".
fn is_word(written: &str, word: &str) -> bool {
    let bare = || {
        written
            .bytes()
            .eq(word.bytes().filter(|letter| *letter != b'\''))
    };
    written == word || word.contains('\'') && bare()
}

static BY_FIRST_WORD: LazyLock<HashMap<String, Vec<Phrase>>> = LazyLock::new(|| {
    let mut all: HashMap<String, Vec<Phrase>> = HashMap::new();
    for line in PHRASES.lines().filter(|line| !line.starts_with('#')) {
        let Some((meaning, phrases)) = line.split_once(": ") else {
            continue;
        };
        for text in phrases.split("; ") {
            let (manner, text) = match (text.strip_prefix('!'), text.strip_prefix('=')) {
                (Some(said), _) => (Manner::Said, said),
                (_, Some(alone)) => (Manner::Alone, alone),
                _ => (Manner::Word, text),
            };
            let words: Vec<&str> = text.split(' ').collect();
            let phrase = Phrase {
                meaning,
                manner,
                words,
            };
            let first = phrase.words[0].replace('\'', "");
            all.entry(first).or_default().push(phrase);
        }
    }
    // The longest first.
    for phrases in all.values_mut() {
        phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    }
    all
});

/// The longest phrase at a place that has one of these meanings.
pub fn find(
    tokens: &[Token<'_>],
    at: usize,
    meanings: &[impl AsRef<str>],
) -> Option<&'static Phrase> {
    let first = tokens.get(at)?.text;
    let phrases = match first.contains('\'') {
        true => BY_FIRST_WORD.get(&first.replace('\'', "")),
        false => BY_FIRST_WORD.get(first),
    }?;
    let is_meant = |phrase: &&Phrase| {
        let mut meanings = meanings.iter();
        meanings.any(|meaning| meaning.as_ref() == phrase.meaning)
    };
    phrases
        .iter()
        .filter(is_meant)
        .find(|phrase| phrase.is_at(tokens, at))
}

/// Whether a word stands in any phrase.
pub fn has_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
        let phrases = BY_FIRST_WORD.values().flatten();
        phrases
            .flat_map(|phrase| phrase.words.iter().copied())
            .collect()
    });
    WORDS.contains(word)
}

/// Whether the words of an option are known.
pub fn knows(meaning: &str) -> bool {
    BY_FIRST_WORD
        .values()
        .flatten()
        .any(|phrase| phrase.meaning == meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_phrase_is_listed_twice() {
        let mut listed = HashSet::new();
        for (first, phrases) in BY_FIRST_WORD.iter() {
            for phrase in phrases {
                let is_new = listed.insert((phrase.meaning, phrase.words.clone()));
                assert!(
                    is_new,
                    "{}: {first} ...: {:?}",
                    phrase.meaning, phrase.words
                );
            }
        }
    }
}
