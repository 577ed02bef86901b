//! Everything in a text that could be an answer to the ask, and whether what stands beside it
//! says that it is none: a number of days or units, a rate, a bound, one end of a range, an
//! operand, what somebody has, earns or loses, what another player does, what is only
//! supposed.

use agon_engine::numerals::Sort;
use agon_engine::{Action, Ask, AskRole, Form};

use super::beside::{Beside, WhyNot};
use super::lexicon::Class;
use super::phrases::{self, Manner};
use super::tokens::{Kind, Token};
use super::vocabulary::Vocabulary;

/// A possible answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// Its first token.
    pub start: usize,
    /// The token behind it, and behind its unit.
    pub end: usize,
    /// What it says.
    pub action: Action,
    /// How it answers, if it is a word.
    pub manner: Manner,
    /// Why it is no answer, if what stands beside it says so.
    pub why_not: Option<WhyNot>,
}

/// The mentions of a sentence, in order; places are those in the sentence.
pub fn mentions(ask: &Ask, vocabulary: &Vocabulary, tokens: &[Token<'_>]) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((action, manner, end)) = mention_at(ask, vocabulary, tokens, at) else {
            at += 1;
            continue;
        };
        let end = behind_unit(tokens, end);
        if manner == Manner::Alone && !stands_alone(tokens, at, end) {
            at = end;
            continue;
        }
        let action = match is_excepted(tokens, at) {
            true => other_option(ask, &action).unwrap_or(action),
            false => action,
        };
        let beside = Beside::new(tokens, at, end, ask);
        let is_number = matches!(action, Action::Integer(_) | Action::Number(_));
        let why_not = match is_number {
            true if ask.role == AskRole::Contribution && is_for_me(tokens, end) => {
                Some(WhyNot::Had)
            }
            true if has_other_sort(ask, tokens[at]) => Some(WhyNot::OtherSort),
            true => beside.why_no_number(),
            false => beside.why_no_option(),
        };
        found.push(Mention {
            start: at,
            end,
            action,
            manner,
            why_not,
        });
        at = end.max(at + 1);
    }
    share_reasons(&mut found, tokens);
    found
}

/// The same mentions for a part that begins so many tokens earlier.
pub fn shifted(mentions: &[Mention], by: usize) -> Vec<Mention> {
    let shift = |mention: &Mention| Mention {
        start: mention.start + by,
        end: mention.end + by,
        ..mention.clone()
    };
    mentions.iter().map(shift).collect()
}

/// What makes the first of several numbers in a row none of the speaker's makes the others
/// none: "the others gave 4, 6 and 5".
fn share_reasons(found: &mut [Mention], tokens: &[Token<'_>]) {
    for at in 1..found.len() {
        let (before, rest) = found.split_at_mut(at);
        let (before, mention) = (&before[at - 1], &mut rest[0]);
        let between = &tokens[before.end..mention.start];
        let joins = |token: &Token<'_>| token.is_mark(',') || token.is_word("and|or");
        let in_row = !between.is_empty() && between.len() < 3 && between.iter().all(joins);
        let is_said = tokens
            .get(mention.end)
            .is_some_and(|next| next.is(Class::Be) || next.is_word("from|go|goes|for|to|into"));
        // "Needs of 10 and 11".
        let is_pair = matches!(between, [and] if and.is_word("and|or"));
        let is_shared = matches!(before.why_not, Some(WhyNot::Theirs | WhyNot::Supposed))
            || is_pair && before.why_not == Some(WhyNot::Had);
        if in_row && is_shared && !is_said && mention.why_not.is_none() {
            mention.why_not = before.why_not;
        }
    }
}

/// Whether everything else than what stands at a place is meant: "anything but the cheap one".
fn is_excepted(tokens: &[Token<'_>], at: usize) -> bool {
    let article = usize::from(at > 0 && tokens[at - 1].is_word("the|a"));
    let lead = &tokens[..at - article];
    matches!(lead, [.., any, but] if but.is_word("but|except") && any.is_word("anything|everything"))
}

/// Of two options, to refuse one is to choose the other.
pub fn other_option(ask: &Ask, refused: &Action) -> Option<Action> {
    let (Form::Choice { options }, Action::Choice(refused)) = (&ask.form, refused) else {
        return None;
    };
    let [first, second] = &**options else {
        return None;
    };
    let other = if refused == first { second } else { first };
    Some(Action::Choice(other.clone()))
}

/// Whether all other words of a sentence change nothing.
fn stands_alone(tokens: &[Token<'_>], start: usize, end: usize) -> bool {
    let mut others = tokens[..start].iter().chain(&tokens[end..]);
    others.all(|token| token.kind != Kind::Word || token.is_word("lol|haha|well|ok|okay|oh|um|hmm"))
}

/// Whether the speaker keeps what stands before a place: "15 for me".
fn is_for_me(tokens: &[Token<'_>], end: usize) -> bool {
    let is = |at: usize, words: &str| {
        let token = tokens.get(at);
        token.is_some_and(|token| token.is_word(words))
    };
    let stays = is(end, "stay|stays|remain|remains") && is(end + 1, "with|for|in|on");
    is(end, "for|to") && is(end + 1, "me|myself") || stays && is(end + 2, "me|my")
}

fn mention_at(
    ask: &Ask,
    vocabulary: &Vocabulary,
    tokens: &[Token<'_>],
    at: usize,
) -> Option<(Action, Manner, usize)> {
    let word = |action: Action, end: usize| (action, Manner::Word, end);
    match &ask.form {
        Form::Integer { .. } | Form::Amount { .. } => {
            // "1.500" may be either of two amounts.
            let cents = tokens[at]
                .text
                .split_once('.')
                .map_or("", |(_, cents)| cents);
            let digits = cents.trim_end_matches(|letter: char| !letter.is_ascii_digit());
            let is_grouped = digits.len() == 3 && digits.ends_with('0');
            let numeral = tokens[at].number().filter(|_| !is_grouped)?;
            let of_most = match numeral.sort {
                Sort::Ratio => of_scale(tokens[at].text, most(ask)),
                _ => None,
            };
            Some(word(action_of(of_most.unwrap_or(numeral.value)), at + 1))
        }
        Form::Number { max, .. } => {
            let numeral = tokens[at].number()?;
            let value = match numeral.sort {
                Sort::Percent if *max <= 1.0 => numeral.value / 100.0,
                Sort::Ratio => of_scale(tokens[at].text, *max).unwrap_or(numeral.value),
                _ => numeral.value,
            };
            Some(word(Action::Number(value), at + 1))
        }
        Form::Choice { .. } => {
            let (option, manner, end) = vocabulary.option_at(tokens, at)?;
            Some((Action::Choice(option.clone()), manner, end))
        }
        Form::Target { pass, .. } => {
            // Nobody is asked to name itself: "I, player_3, ...".
            let seat = seat_at(tokens, at).filter(|(seat, _)| *seat != ask.seat);
            let target = seat.map(|(seat, end)| word(Action::Target(seat), end));
            target.or_else(|| Some(word(Action::Pass, pass_at(tokens, at, pass.as_deref()?)?)))
        }
        Form::Division { .. } => None,
    }
}

/// The answer in "24/100", where 100 is the most that can be answered.
fn of_scale(text: &str, most: f64) -> Option<f64> {
    let (part, whole) = text.split_once('/')?;
    let whole: f64 = whole.trim().parse().ok()?;
    let is_scale = whole == most && most > 1.0;
    part.trim().parse().ok().filter(|_| is_scale)
}

/// The most that can be answered, if there is a bound.
fn most(ask: &Ask) -> f64 {
    match ask.form {
        Form::Number { max, .. } => max,
        Form::Integer { max, .. } => max.map_or(0.0, |max| max as f64),
        _ => 0.0,
    }
}

/// The number of an answer in an action: whole where it is.
fn action_of(value: f64) -> Action {
    // Far inside i64, and exact.
    if value.fract() == 0.0 && value.abs() < 1e15 {
        Action::Integer(value as i64)
    } else {
        Action::Number(value)
    }
}

/// Whether a number is of a sort that answers no such ask: a share of something.
fn has_other_sort(ask: &Ask, token: Token<'_>) -> bool {
    let is_share = matches!(ask.form, Form::Number { max, .. } if max <= 1.0);
    token.number().is_some_and(|numeral| match numeral.sort {
        Sort::Plain | Sort::Money => false,
        Sort::Percent => !is_share && matches!(ask.role, AskRole::Bid | AskRole::Contribution),
        Sort::Ratio => !is_share && of_scale(token.text, most(ask)).is_none(),
    })
}

fn behind_unit(tokens: &[Token<'_>], end: usize) -> usize {
    end + usize::from(tokens.get(end).is_some_and(|token| token.is(Class::Unit)))
}

/// The seat named at a place: "player_3", "player 3", "player3".
fn seat_at(tokens: &[Token<'_>], at: usize) -> Option<(usize, usize)> {
    let token = tokens[at];
    let rest = token
        .text
        .strip_prefix("player")
        .filter(|_| token.kind == Kind::Word)?;
    if !rest.is_empty() {
        let digits = rest.trim_start_matches('_').trim_end_matches("'s");
        return Some((digits.parse().ok()?, at + 1));
    }
    let seat = tokens.get(at + 1)?.number()?.whole()?;
    Some((usize::try_from(seat).ok()?, at + 2))
}

/// The end of words that mean to choose nobody.
fn pass_at(tokens: &[Token<'_>], at: usize, pass: &str) -> Option<usize> {
    /// How far a denial reaches, in tokens.
    const REACH: usize = 6;
    let mut before = tokens[..at].iter().rev().take(REACH);
    let is_anybody = tokens[at].is_word("anyone|anybody");
    if is_anybody && before.any(|token| token.is(Class::Denying)) {
        return Some(at + 1);
    }
    phrases::find(tokens, at, &[pass]).map(|phrase| at + phrase.len())
}
