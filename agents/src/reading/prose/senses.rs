//! Words that do something else beside some words than they usually do: "I suppose" is no
//! mere thought, "next to nothing" is not of a later day. Called by `tokenizer.rs`.

use super::lexicon::Classes;
use super::tokens::{Token, stand};
use super::vocabulary::Vocabulary;

/// A word that means something else between others.
struct Sense {
    /// One of these stands before it; any word if there are none.
    before: &'static str,
    word: &'static str,
    /// These stand behind it; `#` is a number.
    after: &'static str,
    /// The word that does what it does here; none if it does nothing.
    like: &'static str,
}

const fn sense(
    before: &'static str,
    word: &'static str,
    after: &'static str,
    like: &'static str,
) -> Sense {
    Sense {
        before,
        word,
        after,
        like,
    }
}

const SENSES: &[Sense] = &[
    sense("i|we", "suppose", "", "believe"),
    sense("", "we", "all|both|each", "they"),
    sense("", "us", "all|both|each", "them"),
    sense("let", "us", "", "me"),
    sense("", "might|may|could", "as", "will"),
    sense("", "next", "to nothing", ""),
    sense("", "next", "highest|best", ""),
    sense("the", "next", "to", ""),
    sense("a|an|nice|good|even|neat|the", "round", "#", ""),
    // "On the 20th and last day" is today.
    sense("and|this|very|our", "last", "", ""),
    sense("the", "other", "hand", ""),
    sense("", "first", "of|and", ""),
    sense("day|week|round|night", "after", "that|tomorrow", "tomorrow"),
];

/// Gives words the sense that they have beside others.
pub fn settle(tokens: &mut [Token<'_>], vocabulary: &Vocabulary) {
    for at in 0..tokens.len() {
        let Some(sense) = SENSES.iter().find(|sense| sense.fits(tokens, at)) else {
            continue;
        };
        tokens[at].classes = match sense.like {
            "" => Classes::default(),
            like => vocabulary.classes(like),
        };
    }
}

impl Sense {
    fn fits(&self, tokens: &[Token<'_>], at: usize) -> bool {
        let follows = match self.after {
            "" => true,
            "#" => tokens
                .get(at + 1)
                .is_some_and(|next| next.number().is_some()),
            words => stand(tokens, at + 1, words),
        };
        tokens[at].is_word(self.word)
            && (self.before.is_empty() || at > 0 && tokens[at - 1].is_word(self.before))
            && follows
    }
}
