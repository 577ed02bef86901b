//! Options that a text names before it chooses one of them by its name: "Plan A: 40. Plan B:
//! 60. I go with plan B." Called by `prose.rs`.

use std::collections::BTreeMap;
use std::ops::Range;

use agon_engine::Action;

use super::mentions::Mention;
use super::tokens::{Kind, Token};
use super::verdict::{Claim, Firmness, Stated};

/// What options are called.
const NAMES: &[&str] = &[
    "option",
    "plan",
    "alternative",
    "scenario",
    "variant",
    "strategy",
];

/// Options and what they say, as far as a text was read.
#[derive(Debug, Default)]
pub struct References<'a> {
    named: BTreeMap<&'a str, Option<Action>>,
}

impl<'a> References<'a> {
    /// Learns what options a sentence names, with what it says of them.
    pub fn learn(&mut self, tokens: &[Token<'a>], sentence: &Range<usize>, mentions: &[Mention]) {
        for (at, name) in names(tokens, sentence.clone()) {
            let next = names(tokens, at + 2..sentence.end).next();
            let end = next.map_or(sentence.end, |(next, _)| next) - sentence.start;
            let from = at + 2 - sentence.start;
            let mut of_it = mentions
                .iter()
                .filter(|mention| (from..end).contains(&mention.start));
            let (first, second) = (of_it.next(), of_it.next());
            if let Some(first) = first {
                let action = second.is_none().then(|| first.action.clone());
                self.named.entry(name).or_insert(action);
            }
        }
    }

    /// The option that a sentence without any answer of its own chooses.
    pub fn chosen(&self, tokens: &[Token<'a>], sentence: &Range<usize>) -> Option<Claim> {
        let own = &tokens[sentence.clone()];
        let denies = own
            .iter()
            .any(|token| token.is(super::lexicon::Class::Denying));
        let mut found = names(tokens, sentence.clone());
        let (at, name) = found.next()?;
        if denies || found.any(|(_, other)| other != name) {
            return None;
        }
        let action = self.named.get(name)?.clone()?;
        let chooses = own.iter().any(|token| {
            token.is(super::lexicon::Class::Speaker)
                || token.is_word(&["it", "decision", "choice", "best"])
        });
        let claim = || Claim::new(Stated::One(action), Firmness::Committed, at);
        chooses.then(claim)
    }
}

/// The places of options in a part of a text, and their names.
fn names<'a, 'b>(
    tokens: &'b [Token<'a>],
    part: Range<usize>,
) -> impl Iterator<Item = (usize, &'a str)> + 'b {
    part.clone().filter_map(move |at| {
        let name = tokens.get(at + 1).filter(|_| at + 1 < part.end)?;
        let is_letter = name.kind == Kind::Word && name.text.len() == 1;
        let is_name =
            is_letter || name.number().is_some() || name.is_word(&["one", "two", "three"]);
        (tokens[at].is_word(NAMES) && is_name).then_some((at, name.text))
    })
}
