//! Options that a text names before it chooses one of them by its name, its letter, its place
//! in a list or its level: "Plan A: 40. Plan B: 60. I go with plan B", "low (40), medium (77):
//! the medium one". Called by `heard.rs`.

use std::collections::BTreeMap;
use std::ops::Range;

use agon_engine::{Action, Ask};

use super::beside::WhyNot;
use super::lexicon::Class;
use super::mentions::{Mention, other_option};
use super::tokens::{Kind, Token};
use super::verdict::{Claim, Firmness, Stated};

/// What options are called.
const NAMES: &str = "option|plan|alternative|scenario|variant|strategy";

/// More options than these nobody counts.
const MOST_WEIGHED: usize = 4;

/// How options are told apart by their size.
const LEVELS: &str = "low|mid|middle|medium|moderate|high|cautious|safe|conservative|aggressive|balanced|modest|bold|risky|compromise";

/// More tokens than stand between a level and its amount.
const LEVEL_WAY: usize = 8;

/// How options are counted.
const ORDINALS: &str = "first|second|third|last|former|latter|middle|lower|higher";

/// What chooses an option.
const CHOOSING: &str = "prefer|choose|take|pick|decision|choice|seems|like|go|going|answer|select|\
    settle|best|better|sensible|fair|it's|convincing";

/// Options and what they say, as far as a text was read.
#[derive(Debug, Default)]
pub struct References<'a> {
    named: BTreeMap<&'a str, Option<Action>>,
    /// What was named last.
    last: Option<Action>,
    /// Everything that was weighed, each once, in the order of the text.
    weighed: Vec<Action>,
}

impl<'a> References<'a> {
    /// Learns what options a sentence names, with what it says of them.
    pub fn learn(&mut self, tokens: &[Token<'a>], sentence: &Range<usize>, mentions: &[Mention]) {
        let is_weighed = |mention: &&Mention| {
            matches!(
                mention.why_not,
                None | Some(WhyNot::Supposed | WhyNot::Range)
            )
        };
        self.last = mentions
            .last()
            .map(|last| last.action.clone())
            .or(self.last.take());
        for mention in mentions.iter().filter(is_weighed) {
            if self.weighed.len() <= MOST_WEIGHED && !self.weighed.contains(&mention.action) {
                self.weighed.push(mention.action.clone());
            }
        }
        self.learn_levels(tokens, sentence, mentions);
        let is_amount = |mention: &&Mention| mention.why_not != Some(WhyNot::OtherSort);
        let is_meant = |mention: &&Mention| mention.why_not.is_none();
        let mut meant = mentions.iter().filter(is_meant);
        let first = meant.next().filter(|_| meant.next().is_none());
        if let Some((item, first)) = item(tokens, sentence.start).zip(first) {
            self.named.entry(item).or_insert(Some(first.action.clone()));
        }
        for (at, name) in names(tokens, sentence.clone()) {
            let next = names(tokens, at + 2..sentence.end).next();
            let end = next.map_or(sentence.end, |(next, _)| next) - sentence.start;
            let from = at + 2 - sentence.start;
            let mut of_it = mentions
                .iter()
                .filter(is_amount)
                .filter(|mention| (from..end).contains(&mention.start));
            let (first, second) = (of_it.next(), of_it.next());
            if let Some(first) = first {
                let action = second.is_none().then(|| first.action.clone());
                self.named.entry(name).or_insert(action);
            }
        }
    }

    /// Learns amounts by the level that stands before each: "low (40), medium (77)".
    fn learn_levels(
        &mut self,
        tokens: &[Token<'a>],
        sentence: &Range<usize>,
        mentions: &[Mention],
    ) {
        for mention in mentions {
            let end = sentence.start + mention.start;
            let start = end.saturating_sub(LEVEL_WAY);
            let ends =
                |token: &Token<'_>| token.kind == Kind::End('\n') || token.number().is_some();
            let from = tokens[start..end].iter().rposition(ends);
            let way = &tokens[start + from.map_or(0, |from| from + 1)..end];
            let level = way.iter().rev().find(|token| token.is_word(LEVELS));
            let is_amount = mention.why_not != Some(WhyNot::OtherSort);
            if let Some(level) = level.filter(|_| is_amount) {
                let action = Some(mention.action.clone());
                self.named.entry(level.text).or_insert(action);
            }
        }
    }

    /// The option that a sentence without any answer of its own chooses.
    pub fn chosen(
        &self,
        ask: &Ask,
        tokens: &[Token<'a>],
        sentence: &Range<usize>,
    ) -> Option<Claim> {
        let own = &tokens[sentence.clone()];
        let denies = own.iter().any(|token| token.is(Class::Denying));
        let level = |at: usize| {
            let is_one = tokens.get(at + 1).is_none_or(|next| {
                next.kind != Kind::Word
                    || next.is(Class::Noun)
                    || next.is_word("one|option|bid|level|way")
            });
            (tokens[at].is_word(LEVELS) && is_one).then_some((at, tokens[at].text))
        };
        let levels = sentence.clone().filter_map(level);
        let levels = levels.filter(|(_, level)| self.named.contains_key(level));
        let mut found = names(tokens, sentence.clone()).chain(levels);
        let Some((at, name)) = found.next() else {
            return self
                .counted(own)
                .or_else(|| self.other(ask, own))
                .filter(|_| !denies)
                .map(|mut claim| {
                    claim.at += sentence.start;
                    claim
                });
        };
        if denies || found.any(|(_, other)| other != name) {
            return None;
        }
        let action = self.named.get(name)?.clone()?;
        let chooses = own.iter().any(|token| {
            token.is_any(&[Class::Speaker, Class::My]) || token.is_word("it|decision|choice|best")
        });
        let is_whole = own
            .iter()
            .all(|token| token.kind != Kind::Word || token.is_word(NAMES) || token.text == name);
        let claim = || Claim::new(Stated::One(action), Firmness::Committed, at);
        (chooses || is_whole).then(claim)
    }
}

impl References<'_> {
    /// What the speaker takes who takes "the other one" of two options.
    fn other(&self, ask: &Ask, sentence: &[Token<'_>]) -> Option<Claim> {
        let at = (1..sentence.len()).find(|at| {
            let ends = sentence.get(at + 1).is_none_or(|next| {
                !(next.kind == Kind::Word || next.number().is_some())
                    || next.is(Class::Noun)
                    || next.is_word("one|dish|option")
            });
            sentence[at - 1].is_word("the") && sentence[*at].is_word("other") && ends
        })?;
        let is_later = sentence.iter().any(|token| token.is(Class::ToCome));
        let speaks = !is_later && sentence[..at].iter().any(|token| token.is(Class::Speaker));
        let action = other_option(ask, self.last.as_ref().filter(|_| speaks)?)?;
        Some(Claim::new(Stated::One(action), Firmness::Committed, at))
    }

    /// What a sentence chooses that counts the options: "I prefer the second."
    fn counted(&self, sentence: &[Token<'_>]) -> Option<Claim> {
        let speaks = sentence
            .iter()
            .any(|token| token.is(Class::Speaker) || token.is(Class::My));
        let closes = matches!(sentence, [.., it, is] if it.is_word("it") && is.is_word("is"));
        let takes = sentence
            .first()
            .is_some_and(|first| first.is_word("going|taking|choosing"));
        let speaks = speaks || closes || takes;
        let chooses = closes || takes || sentence.iter().any(|token| token.is_word(CHOOSING));
        let at = (1..sentence.len()).find(|at| {
            // "The second-highest" counts no options.
            let ends = sentence.get(at + 1).is_none_or(|next| {
                let is_joined = next.is_mark('-') && !next.is_apart;
                let is_mark = next.kind != Kind::Word && !is_joined;
                is_mark || next.is_word("one|option|seems|is|it")
            });
            sentence[at - 1].is_word("the") && sentence[*at].is_word(ORDINALS) && ends
        })?;
        let name = sentence[at].text;
        let weighed = match name {
            "lower" | "higher" | "middle" => sorted(&self.weighed)?,
            _ => self.weighed.clone(),
        };
        let place = match name {
            "first" | "former" | "lower" => 0,
            "second" | "latter" | "middle" => 1,
            "third" => 2,
            _ => weighed.len().checked_sub(1)?,
        };
        let is_complete = match name {
            "former" | "latter" | "lower" | "higher" => weighed.len() == 2,
            "middle" => weighed.len() == 3,
            _ => (2..=MOST_WEIGHED).contains(&weighed.len()),
        };
        let action = weighed
            .get(place)
            .filter(|_| speaks && chooses && is_complete)?;
        Some(Claim::new(
            Stated::One(action.clone()),
            Firmness::Committed,
            at,
        ))
    }
}

/// Amounts in their order; none if there is anything else among them.
fn sorted(weighed: &[Action]) -> Option<Vec<Action>> {
    let value = |action: &Action| match action {
        Action::Integer(number) => Some(*number as f64),
        Action::Number(number) => Some(*number),
        _ => None,
    };
    let mut values = Vec::with_capacity(weighed.len());
    for action in weighed {
        values.push((value(action)?, action.clone()));
    }
    values.sort_by(|one, other| one.0.total_cmp(&other.0));
    Some(values.into_iter().map(|(_, action)| action).collect())
}

/// The number of a list's item before a place: "2. stay".
fn item<'a>(tokens: &[Token<'a>], start: usize) -> Option<&'a str> {
    let [before @ .., number, stop] = &tokens[..start] else {
        return None;
    };
    let begins = before.last().is_none_or(Token::is_end);
    let is_stop = stop.is_end() || stop.is_mark(')');
    (begins && is_stop && number.number().is_some()).then_some(number.text)
}

/// The places of options in a part of a text, and their names.
fn names<'a, 'b>(
    tokens: &'b [Token<'a>],
    part: Range<usize>,
) -> impl Iterator<Item = (usize, &'a str)> + 'b {
    part.clone().filter_map(move |at| {
        let name = tokens.get(at + 1).filter(|_| at + 1 < part.end)?;
        // "(b)", "b) 40".
        let closes =
            name.is_mark(')') && tokens[at].kind == Kind::Word && tokens[at].text.len() == 1;
        if closes {
            return Some((at, tokens[at].text));
        }
        let is_letter = name.kind == Kind::Word && name.text.len() == 1;
        let is_name = is_letter || name.number().is_some() || name.is_word("one|two|three");
        (tokens[at].is_word(NAMES) && is_name).then_some((at, name.text))
    })
}
