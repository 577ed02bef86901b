//! Finds everything in a text that could be an answer to the ask, and whether it
//! is said or denied. Numbers that name something else (a round, a player, a
//! range, a count of people) are no mentions.

use agon_engine::{Action, Ask, Form};

use super::tokens::{Token, is_word, word};
use crate::reading::numerals;

/// A possible answer in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// Its first token.
    pub start: usize,
    /// The token behind it.
    pub end: usize,
    /// What it says.
    pub action: Action,
    /// Whether it is denied ("not", "rather than").
    pub negated: bool,
}

/// How many tokens back a denial reaches at most.
const REACH: usize = 6;

/// Words that deny what follows in the same clause.
const DENIALS: &[&str] = &[
    "not", "never", "no", "nor", "without", "avoid", "avoiding", "against", "refuse", "refusing",
    "decline", "cannot", "than", "instead",
];

/// Words that begin another clause.
const CLAUSES: &[&str] = &[
    "but", "and", "because", "since", "so", "then", "however", "if", "i",
];

/// A number behind one of these is its label.
const LABELS_BEFORE: &[&str] = &[
    "round", "rounds", "player", "players", "step", "turn", "level", "version", "day", "pirate",
];

/// A number before one of these counts something else.
const COUNTED_AFTER: &[&str] = &[
    "players",
    "rounds",
    "people",
    "others",
    "participants",
    "steps",
    "times",
    "pirates",
    "turns",
    "bidders",
    "opponents",
    "diners",
    "votes",
];

/// Units that make "one" a number and not a pronoun.
const UNITS: &[&str] = &[
    "gold", "golds", "coin", "coins", "token", "tokens", "dollar", "dollars", "point", "points",
];

/// A number behind one of these is below zero.
pub const NEGATING: &[&str] = &["minus", "negative"];

/// All mentions, in order.
pub fn mentions(ask: &Ask, tokens: &[Token<'_>]) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match mention_at(ask, tokens, at) {
            Some((action, end)) => {
                let negated = is_negated(tokens, at);
                found.push(Mention {
                    start: at,
                    end,
                    action,
                    negated,
                });
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

fn mention_at(ask: &Ask, tokens: &[Token<'_>], at: usize) -> Option<(Action, usize)> {
    match &ask.form {
        Form::Integer { pass, .. } => {
            let passed = pass.and_then(|pass| option_at(tokens, at, pass));
            passed.map(|end| (Action::Pass, end)).or_else(|| {
                let (value, end) = number_at(tokens, at, 100.0)?;
                Some((action_of(value), end))
            })
        }
        Form::Amount { .. } => {
            let (value, end) = number_at(tokens, at, 100.0)?;
            Some((action_of(value), end))
        }
        Form::Number { max, .. } => {
            let percent = if *max <= 1.0 { 1.0 } else { 100.0 };
            number_at(tokens, at, percent).map(|(value, end)| (Action::Number(value), end))
        }
        Form::Choice { options } => options.iter().find_map(|option| {
            let end = option_at(tokens, at, option)?;
            Some((Action::Choice((*option).into()), end))
        }),
        Form::Target { pass, .. } => seat_at(tokens, at)
            // Nobody is asked to name itself: "I, player_3, ...".
            .filter(|(seat, _)| *seat != ask.seat)
            .map(|(seat, end)| (Action::Target(seat), end))
            .or_else(|| Some((Action::Pass, pass_at(tokens, at, (*pass)?)?))),
        Form::Division { .. } => None,
    }
}

/// The number at a place, unless it names something else. `percent` is what
/// 100% comes to.
fn number_at(tokens: &[Token<'_>], at: usize, percent: f64) -> Option<(f64, usize)> {
    let (value, end) = match tokens.get(at)? {
        Token::Number(value) => (*value, at + 1),
        Token::Percent(value) => (value / 100.0 * percent, at + 1),
        Token::Fraction(value) => (*value, at + 1),
        _ => number_word(tokens, at)?,
    };
    let before = at.wrapping_sub(1);
    let value = if is_word(tokens, before, NEGATING) {
        -value
    } else {
        value
    };
    let labelled = is_word(tokens, before, LABELS_BEFORE);
    let counted = is_word(tokens, end, COUNTED_AFTER);
    let part_of = is_part_of(tokens, at);
    (!labelled && !counted && !part_of && !is_range(tokens, at, end)).then_some((value, end))
}

/// The number of "10 of my 20 tokens" or "10 out of 20" that is not meant.
fn is_part_of(tokens: &[Token<'_>], at: usize) -> bool {
    let mut back = at;
    while back > 0
        && is_word(
            tokens,
            back - 1,
            &["my", "the", "your", "our", "all", "available"],
        )
    {
        back -= 1;
    }
    if back == 0 || !is_word(tokens, back - 1, &["of"]) {
        return false;
    }
    let whole = back.wrapping_sub(2);
    is_word(tokens, whole, &["out", "all", "half", "none", "most"])
        || matches!(
            tokens.get(whole),
            Some(Token::Number(_) | Token::Percent(_) | Token::Fraction(_))
        )
}

/// One end of "0 to 100", "0-100" or "between 0 and 100".
fn is_range(tokens: &[Token<'_>], at: usize, end: usize) -> bool {
    let is_number = |at: usize| matches!(tokens.get(at), Some(Token::Number(_)));
    let joins = |at: usize| {
        matches!(tokens.get(at), Some(Token::Mark('-'))) || is_word(tokens, at, &["to"])
    };
    let ands = |at: usize| is_word(tokens, at, &["and"]);
    let between = |at: usize| is_word(tokens, at, &["between"]);
    let back = |by: usize| at.wrapping_sub(by);
    (joins(end) && is_number(end + 1))
        || (joins(back(1)) && is_number(back(2)))
        || (between(back(1)) && ands(end))
        || (ands(back(1)) && is_number(back(2)) && between(back(3)))
}

/// The number of an answer in an action: whole where it is.
pub fn action_of(value: f64) -> Action {
    // Far inside i64, and exact.
    if value.fract() == 0.0 && value.abs() < 1e15 {
        Action::Integer(value as i64)
    } else {
        Action::Number(value)
    }
}

/// The number from twenty to ninety-nine that begins with a word for tens at a place, and
/// the place behind it.
pub fn tens_at(tokens: &[Token<'_>], at: usize) -> Option<(f64, usize)> {
    let tens = numerals::tens(word(tokens, at)?)?;
    let next = at + 1 + usize::from(tokens.get(at + 1) == Some(&Token::Mark('-')));
    let ones = word(tokens, next).and_then(numerals::ones);
    Some(match ones {
        Some(ones @ 1..=9) => (f64::from(tens + ones), next + 1),
        _ => (f64::from(tens), at + 1),
    })
}

/// A number in words, up to a hundred.
fn number_word(tokens: &[Token<'_>], at: usize) -> Option<(f64, usize)> {
    let first = word(tokens, at)?;
    if matches!(first, "one" | "a") && is_word(tokens, at + 1, &["hundred"]) {
        return Some((100.0, at + 2));
    }
    if let Some(found) = tens_at(tokens, at) {
        return Some(found);
    }
    match first {
        "nothing" => Some((0.0, at + 1)),
        "hundred" => Some((100.0, at + 1)),
        // "The one", "no one": a number only when alone or before a unit.
        "one" if tokens.len() > 2 && !is_word(tokens, at + 1, UNITS) => None,
        _ => {
            let ones = numerals::ones(first)?;
            Some((f64::from(ones), at + 1))
        }
    }
}

/// The end of an option at a place, in any of its usual endings.
fn option_at(tokens: &[Token<'_>], at: usize, option: &str) -> Option<usize> {
    let mut end = at;
    for part in option.split([' ', '_', '-']) {
        let said = word(tokens, end)?;
        let ending = said.strip_prefix(part)?;
        if !matches!(ending, "" | "s" | "es" | "d" | "ed" | "ing") {
            return None;
        }
        end += 1;
    }
    (!is_idiom(tokens, at, end)).then_some(end)
}

/// "Going to stay" is about staying, "go with cheap" about the cheap dish.
fn is_idiom(tokens: &[Token<'_>], at: usize, end: usize) -> bool {
    match word(tokens, at) {
        Some("going") => {
            is_word(tokens, end, &["to"]) && !is_word(tokens, end + 1, &["the", "a", "bar"])
                || is_word(tokens, end, &["with", "for"])
        }
        Some("go") => is_word(tokens, end, &["with", "for"]),
        _ => false,
    }
}

/// The seat named at a place: "player_3", "player 3", "player3".
fn seat_at(tokens: &[Token<'_>], at: usize) -> Option<(usize, usize)> {
    let rest = word(tokens, at)?.strip_prefix("player")?;
    if !rest.is_empty() {
        let digits = rest.trim_start_matches('_').trim_end_matches("'s");
        return Some((digits.parse().ok()?, at + 1));
    }
    match tokens.get(at + 1)? {
        Token::Number(seat) if seat.fract() == 0.0 && (0.0..1e9).contains(seat) => {
            Some((*seat as usize, at + 2))
        }
        _ => None,
    }
}

/// The end of words that mean to choose nobody.
fn pass_at(tokens: &[Token<'_>], at: usize, pass: &str) -> Option<usize> {
    if let Some(end) = option_at(tokens, at, pass) {
        return Some(end);
    }
    let next = |words| is_word(tokens, at + 1, words);
    match word(tokens, at)? {
        "nobody" | "none" | "null" => Some(at + 1),
        "no" if next(&["one", "target"]) => Some(at + 2),
        "hold" | "holding" if next(&["fire"]) => Some(at + 2),
        "hold" | "holding" if next(&["my"]) && is_word(tokens, at + 2, &["fire"]) => Some(at + 3),
        "anyone" | "anybody" if denied_before(tokens, at) => Some(at + 1),
        _ => None,
    }
}

fn is_negated(tokens: &[Token<'_>], at: usize) -> bool {
    !is_word(tokens, at, &["no", "anyone", "anybody"]) && denied_before(tokens, at)
}

/// Whether a denial stands before a place, in the same clause.
fn denied_before(tokens: &[Token<'_>], at: usize) -> bool {
    for token in tokens[..at].iter().rev().take(REACH) {
        match token {
            Token::Word(word) if CLAUSES.contains(word) => return false,
            Token::Word(word) if DENIALS.contains(word) || word.ends_with("n't") => return true,
            Token::Mark(',' | ';' | ':') | Token::End(_) => return false,
            _ => {}
        }
    }
    false
}
