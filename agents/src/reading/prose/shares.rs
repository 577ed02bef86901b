//! Contributions that are told by what they leave: "I keep 5 and the rest goes into the pot",
//! "Private account: 7. Group account: 13.", "half of my tokens", "my whole endowment". The
//! most that can be given is all that there is. Called by `heard.rs`.

use agon_engine::{Action, Ask, AskRole, Form};

use super::lexicon::Class;
use super::naming;
use super::parts::Parts;
use super::statements;
use super::tokens::{Kind, Token};
use super::verdict::{Claim, Firmness, Stated};
use super::voice;

/// Says that an amount stays with the speaker.
const KEPT: &str = "keep|keeps|keeping|kept|retain|retaining|hold|holding|private|personal|myself|me|save|pocket|reserve";

/// Says that an amount goes to everybody.
const GIVEN: &str = "pot|pool|project|public|group|common|commons|community|fund|contribute|\
    contributing|contribution|put|putting|give|giving|invest|investing|donate|throw|add|share|goes";

/// Gives, with everything or a share of it behind it.
const GIVING: &str = "put|puts|putting|give|gives|giving|throw|throwing|commit|committing|hand|handing|\
    spend|stake|staking|allocate|allocating|devote|send|going|go|goes|offer|offering";

/// What is left.
const REST: &str = "rest|remainder|others|balance";

/// How far from an amount stands what says where it goes, in tokens.
const NEAR: usize = 6;

/// All that the speaker can give, if that is what he is asked.
fn whole(ask: &Ask) -> Option<i64> {
    match ask.form {
        Form::Integer { max, .. } if ask.role == AskRole::Contribution => max,
        _ => None,
    }
}

/// What a sentence gives of everything there is.
pub fn of_sentence(parts: Parts<'_, '_>) -> Option<Claim> {
    let whole = whole(parts.ask)?;
    let claim = |amount: i64, firmness: Firmness, at: usize| {
        Claim::new(Stated::One(Action::Integer(amount)), firmness, at)
    };
    if parts.condition().is_some() {
        return None;
    }
    for at in 0..parts.tokens.len() {
        let keeps = parts.word(at, "keep|keeping|retain|retaining");
        if !keeps && !parts.is(at, Class::Verb) && !parts.word(at, GIVING) {
            continue;
        }
        let voice = voice::of(parts, at).filter(|voice| !voice.is_denied && !voice.is_supposed);
        let Some(voice) = voice else {
            continue;
        };
        let given = match keeps {
            true => left(parts, at + 1, whole),
            false => share(parts, at + 1, whole)
                .filter(|_| !parts.mentions.iter().any(|mention| mention.start > at)),
        };
        let is_said = !statements::is_of_another_day(parts, at, at + 1, voice.firmness);
        if let Some(given) = given.filter(|_| is_said) {
            return Some(claim(given, voice.firmness, at));
        }
    }
    // "My entire endowment goes into the pot".
    let goes = (2..NEAR).find(|at| parts.word(*at, "goes|go"));
    let is_given = |goes: usize| (goes..goes + NEAR).any(|at| parts.word(at, GIVEN));
    if goes.is_some_and(is_given) && parts.mentions.is_empty() && parts.word(0, "my|so") {
        let all = share(parts, 0, whole).filter(|all| *all == whole);
        return all.map(|all| claim(all, Firmness::Committed, 0));
    }
    let is_all = |token: &Token<'_>| {
        token.is(Class::MoneyHad)
            || token.is(Class::Unit)
            || token.is_word(ALL)
            || token.is(Class::Aside)
    };
    let is_bare = parts
        .tokens
        .iter()
        .all(|token| token.kind != Kind::Word || is_all(token));
    let given = (0..parts.tokens.len().min(NEAR)).find_map(|at| share(parts, at, whole));
    given
        .filter(|_| is_bare)
        .map(|given| claim(given, Firmness::Bare, 0))
}

/// Words that say everything.
const ALL: &str =
    "everything|all|whole|entire|full|maximum|half|my|the|of|it|that|amount|endowment|possible";

/// The share of everything that is named at a place.
fn share(parts: Parts<'_, '_>, from: usize, whole: i64) -> Option<i64> {
    let leads = |at: &usize| parts.word(*at, "in|my|the|exactly|just|only|about|a|with|for|be");
    let at = (from..from + 3).find(|at| !leads(at)).unwrap_or(from + 3);
    let is_number = |at: usize| parts.mention_at(at).is_some();
    let of_it = |at: usize| {
        let next = parts.tokens.get(at);
        next.is_none_or(|next| {
            next.kind != Kind::Word
                || next.is_any(&[Class::Unit, Class::MoneyHad, Class::Now, Class::Time])
                || next
                    .is_word("of|my|the|it|to|in|into|i|this|endowment|amount|again|possible|and")
        })
    };
    if parts.word(at, "half") && of_it(at + 1) && !parts.word(at + 1, "of what|that|their|his|her")
    {
        return (whole % 2 == 0).then_some(whole / 2);
    }
    let is_all = parts.word(at, "everything")
        || parts.word(at, "all")
            && of_it(at + 1)
            && !is_number(at + 1)
            && !parts.word(at + 1, "the|my others")
        || parts.word(at, "whole|entire|full")
            && (parts.is(at + 1, Class::MoneyHad) || parts.word(at + 1, "amount|endowment"))
        || parts.word(at, "maximum");
    is_all.then_some(whole)
}

/// What is left for the others if the speaker keeps what stands at a place: "all 20", "5 and
/// the rest goes into the pot".
fn left(parts: Parts<'_, '_>, from: usize, whole: i64) -> Option<i64> {
    let at = (from..from + 3).find(|at| parts.mention_at(*at).is_some());
    let Some(at) = at else {
        return share(parts, from, whole).map(|kept| whole - kept);
    };
    let mention = parts.mention_at(at)?;
    let Action::Integer(kept) = mention.action else {
        return None;
    };
    let is_all = kept == whole;
    let rest = (mention.end..parts.tokens.len()).find(|at| parts.word(*at, REST));
    let is_rest_given = rest.is_some_and(|rest| {
        let is_given = |at: usize| parts.word(at, GIVEN);
        (mention.end..rest + NEAR).any(is_given) && !parts.any(rest, rest + 3, Class::Denying)
    });
    let is_only = parts
        .mentions
        .iter()
        .all(|other| other.start <= at || other.why_not.is_some());
    (is_all || is_rest_given && is_only && kept < whole).then_some(whole - kept)
}

/// Two amounts that make up everything, of which the speaker keeps one: the other is given.
pub fn of_text(ask: &Ask, tokens: &[Token<'_>]) -> Option<Claim> {
    let whole = whole(ask)?;
    let numbers: Vec<(usize, i64)> = (0..tokens.len())
        .filter_map(|at| Some((at, tokens[at].number()?.whole()?)))
        .collect();
    let mut found = numbers.windows(2).filter_map(|pair| {
        let [(first, one), (second, other)] = *pair else {
            return None;
        };
        let is_split = one + other == whole && second - first < 3 * NEAR;
        if !is_split || is_aside(tokens, first, second, ask.seat) {
            return None;
        }
        let given = match (
            is_kept(tokens, first, None),
            is_kept(tokens, second, Some(first)),
        ) {
            (true, false) => (second, other),
            (false, true) => (first, one),
            _ => return None,
        };
        Some(given)
    });
    let (at, amount) = found.next_back()?;
    let stated = Stated::One(Action::Integer(amount));
    Some(Claim::new(stated, Firmness::Committed, at))
}

/// Whether an amount stays with the speaker, by the nearest word that says where it goes.
fn is_kept(tokens: &[Token<'_>], at: usize, after: Option<usize>) -> bool {
    let start = after.map_or(at.saturating_sub(NEAR), |after| after + 1);
    let end = (at + NEAR).min(tokens.len());
    let behind = tokens[at + 1..end]
        .iter()
        .position(|token| token.number().is_some() || token.is_end() || token.is_any_mark(",;"));
    let behind = &tokens[at + 1..behind.map_or(end, |behind| at + 1 + behind)];
    let before = &tokens[start..at];
    let says = |words: &str| {
        let ahead = before.iter().rev().position(|token| token.is_word(words));
        let ahead = ahead.filter(|by| !before[before.len() - by..].iter().any(Token::is_end));
        ahead.or_else(|| {
            behind
                .iter()
                .position(|token| token.is_word(words))
                .map(|by| by + NEAR)
        })
    };
    match (says(KEPT), says(GIVEN)) {
        (Some(kept), Some(given)) => kept < given,
        (kept, _) => kept.is_some(),
    }
}

/// Whether two amounts are of somebody else, of the past or only supposed.
fn is_aside(tokens: &[Token<'_>], first: usize, second: usize, seat: usize) -> bool {
    /// More tokens than a sentence has; bounds the search for its ends.
    const LONGEST: usize = 80;
    let from = first.saturating_sub(LONGEST);
    let until = tokens.len().min(second + LONGEST);
    let start = tokens[from..first].iter().rposition(Token::is_end);
    let start = start.map_or(from, |end| from + end + 1);
    let end = tokens[second..until].iter().position(Token::is_end);
    let end = end.map_or(until, |end| second + end);
    let asides = [Class::Past, Class::ToCome, Class::If, Class::Supposing];
    let is_other = |at: usize| {
        tokens[at].is_any(&asides)
            || naming::is_another(tokens, at, seat)
                && !tokens[at].is_word(REST)
                && !tokens[at].is_word("other|both|everyone|all|group")
    };
    (start..end).any(is_other)
}
