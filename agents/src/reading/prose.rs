//! Reads an answer from words.
//!
//! The text is taken apart into sentences; of each number or option in it is asked whether
//! what stands beside it makes it something else, and of each sentence what it states. What
//! is left comes to one answer, or to a foul.

use agon_engine::numerals::Commas;
use agon_engine::{Action, Ask, Form, Foul, FoulKind};

mod advice;
mod beside;
mod closing;
mod corrections;
mod division;
mod fragments;
mod heard;
mod layout;
mod lexicon;
mod mentions;
mod naming;
mod parts;
mod people;
mod phrases;
mod plain;
mod predicates;
mod references;
mod refusals;
mod senses;
mod shares;
mod stance;
mod statements;
mod tokenizer;
mod tokens;
mod verdict;
mod vocabulary;
mod voice;

use super::ambiguous;
use heard::{Heard, Named};
use lexicon::Class;
pub(crate) use naming::Naming;
use plain::Plain;
use tokens::Token;
pub(crate) use verdict::Stated;
use verdict::{Claim, Firmness};
use vocabulary::Vocabulary;

/// The answer in a text.
///
/// # Errors
/// There is none, or more than one.
pub fn read(ask: &Ask, text: &str) -> Result<Action, Foul> {
    read_among(ask, &[], text)
}

/// The same of somebody who plays among others of these names.
///
/// # Errors
/// As [`read`].
pub fn read_among(ask: &Ask, others: &[String], text: &str) -> Result<Action, Foul> {
    let plain = Plain::new(text);
    if is_page(&plain.text) {
        return Err(unreadable(ask));
    }
    if let Form::Division { parts, .. } = &ask.form {
        let found = division::read(ask, &plain, *parts);
        return found.map(Action::Division).ok_or_else(|| unreadable(ask));
    }
    let vocabulary = Vocabulary::of(ask, others);
    let mut tokens = tokenizer::tokenize(&plain, &vocabulary, Commas::Group);
    people::mark(&mut tokens, ask.seat);
    match stated(ask, &vocabulary, &tokens) {
        Stated::One(action) => settle(ask, action),
        Stated::Several => Err(ambiguous(ask)),
        Stated::None => Err(unreadable(ask)),
    }
}

/// What a text commits to in so many words, whatever else it may be taken to mean.
pub(crate) fn committed(ask: &Ask, others: &[String], text: &str) -> Stated {
    let plain = Plain::new(text);
    let vocabulary = Vocabulary::of(ask, others);
    let tokens = tokenizer::tokenize(&plain, &vocabulary, Commas::Group);
    let heard = Heard::new(ask, &vocabulary, &tokens);
    verdict::of(
        heard
            .claims
            .into_iter()
            .filter(|claim| claim.firmness >= Firmness::Told)
            .collect(),
        heard.ends,
    )
}

/// What the names of fields say.
pub(crate) struct Namer<'a> {
    ask: &'a Ask,
    vocabulary: Vocabulary,
}

impl<'a> Namer<'a> {
    /// The names of fields in a reply to an ask.
    pub fn new(ask: &'a Ask, others: &[String]) -> Self {
        let vocabulary = Vocabulary::of(ask, others);
        Self { ask, vocabulary }
    }

    /// Whether a text is only the beginning of something else, which ends in a value: of
    /// what somebody else does, of the past, of an example.
    pub fn leads_aside(&self, text: &str) -> bool {
        if text
            .trim_end()
            .ends_with(|end: char| end.is_alphanumeric() || ",.}]".contains(end))
        {
            return false;
        }
        let plain = Plain::new(text);
        let tokens = tokenizer::tokenize(&plain, &self.vocabulary, Commas::Group);
        let from = tokens
            .iter()
            .rposition(|token| token.is_end() || token.is_any_mark(",;{["));
        let lead = &tokens[from.map_or(0, |from| from + 1)..];
        let is_label = lead.last().is_some_and(|last| last.is_any_mark(":=-"));
        let name = &lead[..lead.len() - usize::from(is_label)];
        is_label && Naming::of(name, self.ask.seat).is_aside()
    }

    /// Whether a name is that of somebody with whom the speaker plays.
    pub fn plays(&self, name: &str) -> bool {
        self.vocabulary.knows_player(name)
    }

    /// What a name says of its value.
    pub fn naming(&self, name: &str) -> Naming {
        let words = crate::reading::keys::plain(name).replace('_', " ");
        // Names of players are one word.
        let words = words.replace("player ", "player_");
        let plain = Plain::new(&words);
        let tokens = tokenizer::tokenize(&plain, &self.vocabulary, Commas::Group);
        let is_verb = |token: &Token<'_>| {
            token.is(Class::WeakVerb) || self.vocabulary.option_at(&tokens, 0).is_some()
        };
        match Naming::of(&tokens, self.ask.seat) {
            Naming::Unknown if tokens.len() == 1 && tokens.iter().any(is_verb) => Naming::Answer,
            naming => naming,
        }
    }
}

/// Whether a text is a whole web page: somebody's error message, and no answer.
fn is_page(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with("<html") || start.starts_with("<!doctype html")
}

/// What a text states.
fn stated(ask: &Ask, vocabulary: &Vocabulary, tokens: &[Token<'_>]) -> Stated {
    let mut heard = Heard::new(ask, vocabulary, tokens);
    let corrected = corrected(&heard, tokens);
    heard.claims.extend(corrected);
    if heard.claims.is_empty() {
        heard.claims.extend(shares::of_text(ask, tokens));
    }
    match verdict::of(heard.claims, heard.ends) {
        Stated::None => {
            let ends = heard.ends;
            // Where one may leave, what is merely named may be the price.
            let may_name = |sentence: usize| {
                ends.may_name(sentence) && (!vocabulary.may_leave() || ends.sentences == 1)
            };
            heard.open.retain(|named| may_name(named.sentence));
            lone(&heard.open)
        }
        stated => stated,
    }
}

/// The only thing that is named behind words that take back what was claimed before them.
fn corrected(heard: &Heard<'_, '_>, tokens: &[Token<'_>]) -> Option<Claim> {
    let last = heard.claims.last()?;
    let place = corrections::last(tokens).filter(|place| *place > last.at)?;
    let open = &heard.open;
    let behind = open.partition_point(|named| named.mention.start < place);
    let mut rest = tokens[place..].iter().take_while(|token| !token.is_end());
    let stated = match lone(&open[behind..]) {
        // "On second thought, maybe 80": the old answer does not stand.
        Stated::None if rest.any(|token| token.is(Class::Possibly)) => Stated::Several,
        Stated::None => return None,
        stated => stated,
    };
    let mut claim = Claim::new(stated, last.firmness, place);
    claim.corrects = true;
    claim.sentence = open
        .get(behind)
        .map_or(last.sentence, |named| named.sentence);
    Some(claim)
}

/// The only thing in a text that can be meant, where nothing is stated.
fn lone(open: &[Named]) -> Stated {
    let Some((first, rest)) = open.split_first() else {
        return Stated::None;
    };
    let first = &first.mention.action;
    if rest.iter().any(|other| other.mention.action != *first) {
        return Stated::Several;
    }
    Stated::One(first.clone())
}

/// A broken number is the wrong answer where a whole one is asked, not none.
fn settle(ask: &Ask, action: Action) -> Result<Action, Foul> {
    match (&ask.form, &action) {
        (Form::Integer { .. }, Action::Number(_)) => {
            ask.form.check(&action)?;
            Ok(action)
        }
        _ => Ok(action),
    }
}

fn unreadable(ask: &Ask) -> Foul {
    let (kind, range) = (&ask.kind, ask.form.describe());
    let reason = format!("no {kind} could be found in the reply: it must be {range}");
    Foul::new(FoulKind::Unreadable, reason)
}

#[cfg(test)]
mod tests;
