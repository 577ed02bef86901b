//! Reads an answer from words.
//!
//! The text is taken apart into sentences; of each number or option in it is asked whether
//! what stands beside it makes it something else, and of each sentence what it states. What
//! is left comes to one answer, or to a foul.

use agon_engine::numerals::Commas;
use agon_engine::{Action, Ask, Form, Foul, FoulKind};

mod beside;
mod corrections;
mod division;
mod fragments;
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
mod statements;
mod tokenizer;
mod tokens;
mod verdict;
mod vocabulary;
mod voice;

use super::ambiguous;
use lexicon::Class;
use mentions::Mention;
pub(crate) use naming::Naming;
use parts::Parts;
use plain::Plain;
use references::References;
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
    let (claims, _) = claims(ask, &vocabulary, &tokens);
    verdict::of(
        claims
            .into_iter()
            .filter(|claim| claim.firmness >= Firmness::Committed)
            .collect(),
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
    let (mut claims, open) = claims(ask, vocabulary, tokens);
    claims.extend(corrected(&claims, &open, tokens));
    match verdict::of(claims) {
        Stated::None => lone(&open),
        stated => stated,
    }
}

/// What a text claims to be the answer, and everything in it that may be.
fn claims(ask: &Ask, vocabulary: &Vocabulary, tokens: &[Token<'_>]) -> (Vec<Claim>, Vec<Mention>) {
    let is_program = speaks_as_program(tokens);
    let mut claims: Vec<Claim> = Vec::new();
    let mut open: Vec<Mention> = Vec::new();
    let mut denied: Vec<Action> = Vec::new();
    let mut behind = 0;
    let mut is_asked = false;
    let mut references = References::default();
    for sentence in &layout::sentences(tokens, ask.seat) {
        let own = &tokens[sentence.range.clone()];
        let found = mentions::mentions(ask, vocabulary, own);
        let parts = Parts {
            ask,
            vocabulary,
            tokens: own,
            mentions: &found,
        };
        let place = layout::with_label(tokens, &sentence.range);
        let offset = sentence.range.start - place.start;
        references.learn(tokens, &place, &mentions::shifted(&found, offset));
        if found.is_empty() {
            let chosen = references.chosen(tokens, &sentence.range);
            claims.extend(chosen);
        }
        let is_aside = sentence.naming.is_some_and(Naming::is_aside);
        let denial = own
            .iter()
            .rposition(|token| token.is(Class::Denying))
            .filter(|_| is_program);
        let answers_another =
            std::mem::replace(&mut is_asked, sentence.is_question && asks_another(parts));
        if is_aside || sentence.is_question || begs_off(own) {
            continue;
        }
        let mut said = statements::of_sentence(parts);
        said.claims.extend(predicates::of_sentence(parts));
        if said
            .claims
            .iter()
            .all(|claim| claim.firmness < Firmness::Bare)
        {
            said.claims
                .extend(fragments::of_sentence(parts, sentence.naming));
        }
        if said.claims.is_empty() && found.is_empty() && predicates::refers_back(parts) {
            let last = open.last().map(|last| Stated::One(last.action.clone()));
            said.claims
                .extend(last.map(|last| Claim::new(last, Firmness::Committed, 0)));
        }
        let condition = parts.condition().unwrap_or(own.len());
        for claim in &mut said.claims {
            if statements::hangs(parts, claim.at, condition) {
                claim.stated = Stated::Several;
            }
        }
        // A program says what it cannot do, and then what it does.
        let from = denial.map_or(0, |denial| clause_behind(own, denial));
        said.claims.retain(|claim| {
            claim.at >= from && !(answers_another && claim.firmness == Firmness::Bare)
        });
        let condition = if answers_another || denial.is_some() {
            0
        } else {
            parts.unresolved()
        };
        let live = found.iter().filter(|mention| mention.why_not.is_none());
        let stands = |mention: &Mention| {
            mention.start < condition && !statements::hangs(parts, mention.start, condition)
        };
        open.extend(
            live.filter(|mention| stands(mention))
                .cloned()
                .map(|mut mention| {
                    mention.start += sentence.range.start;
                    mention.end += sentence.range.start;
                    mention
                }),
        );
        denied.extend(said.denied);
        for mut claim in said.claims {
            claim.at += sentence.range.start;
            claim.corrects = corrections::takes_back(&tokens[behind.min(claim.at)..claim.at]);
            claim.is_quoted = tokens[claim.at].is_quoted;
            behind = claim.at;
            claims.push(claim);
        }
    }
    open.retain(|mention| !denied.contains(&mention.action));
    (claims, open)
}

/// The only thing that is named behind words that take back what was claimed before them.
fn corrected(claims: &[Claim], open: &[Mention], tokens: &[Token<'_>]) -> Option<Claim> {
    let last = claims.last()?;
    let place = corrections::last(tokens).filter(|place| *place > last.at)?;
    let behind = open.partition_point(|mention| mention.start < place);
    let stated = match lone(&open[behind..]) {
        Stated::None => return None,
        stated => stated,
    };
    let mut claim = Claim::new(stated, last.firmness, place);
    claim.corrects = true;
    Some(claim)
}

/// Whether a sentence says that the speaker does not play, rather than what he plays: "I'm
/// sorry, but I can't", "I decline to answer", "on behalf of users".
fn begs_off(sentence: &[Token<'_>]) -> bool {
    let pardon = sentence.iter().position(|token| token.is(Class::Pardon));
    let cannot = |token: &Token<'_>| token.is_word("can't|cannot|unable|able|won't");
    let declines = sentence.windows(3).any(|words| {
        words[0].is(Class::Refraining) && words[1].is_word("to") && words[2].is(Class::Responding)
    });
    let serves = sentence.windows(3).any(|words| {
        let is_behalf = words[0].is_word("behalf") && words[1].is_word("of");
        is_behalf && words[2].is_word("users|others|people|humans|anyone")
    });
    declines || serves || pardon.is_some_and(|pardon| sentence[pardon..].iter().any(cannot))
}

/// Whether a question is about something else than the answer: "What have I got?"
fn asks_another(question: Parts<'_, '_>) -> bool {
    let asks = |token: &Token<'_>| token.is_word("what|how|what's|who|which");
    let is_answer = |token: &Token<'_>| token.is_any(&[Class::Noun, Class::Verb, Class::WeakVerb]);
    let is_about = |token: &Token<'_>| {
        token.is_any(&[
            Class::Owning,
            Class::MoneyHad,
            Class::Property,
            Class::Others,
            Class::Counted,
        ])
    };
    let mut all = question.tokens.iter();
    question.of_numbers()
        && all.clone().any(asks)
        && all.clone().any(is_about)
        && !all.any(is_answer)
}

/// Where the clause begins that follows a place.
fn clause_behind(tokens: &[Token<'_>], at: usize) -> usize {
    let comma = tokens[at..]
        .iter()
        .position(|token| token.is_any_mark(",;:") || token.is_word("but"));
    comma.map_or(tokens.len(), |comma| at + comma + 1)
}

/// Whether the speaker says that it is a program, which cannot go to bars.
fn speaks_as_program(tokens: &[Token<'_>]) -> bool {
    let is_model = |pair: &[Token<'_>]| {
        let kind = pair[0].is_word("language|ai|computer|virtual|text-based")
            && pair[1].is_word("model|models|assistant|program|system");
        kind || pair[0].is_word("an") && pair[1].is_word("ai")
    };
    tokens.windows(2).any(is_model)
}

/// The only thing in a text that can be meant, where nothing is stated.
fn lone(open: &[Mention]) -> Stated {
    let Some((first, rest)) = open.split_first() else {
        return Stated::None;
    };
    if rest.iter().any(|other| other.action != first.action) {
        return Stated::Several;
    }
    Stated::One(first.action.clone())
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
