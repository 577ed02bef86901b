//! The amount that belongs to a bid: the first sum of money behind it. Numbers of
//! days, units and points, and the starts of changes ("from 60 to 80"), are none.

use agon_engine::Action;

use super::{ADDED, BREAKS, OTHER_UNITS, TIED_TO_NUMBERS, is};
use crate::reading::numerals;
use crate::reading::prose::tokens::Token;

/// What stands behind a bid.
pub(super) enum Named {
    /// One amount.
    One(Action),
    /// A choice or a range of amounts.
    Several,
}

/// The amount that begins at or behind a place, and the place behind it.
pub(super) fn behind(sentence: &[Token<'_>], from: usize) -> Option<(Named, usize)> {
    /// A long way is no statement, which also bounds the walk.
    const LONGEST_WAY: usize = 16;
    let mut at = from;
    while at < sentence.len().min(from + LONGEST_WAY) {
        let Some((value, end)) = number(sentence, at) else {
            if is(sentence, at, BREAKS) {
                return None;
            }
            at += 1;
            continue;
        };
        let tied = at > from && is(sentence, at - 1, TIED_TO_NUMBERS);
        // The first of a numbered list.
        let listed = value == 1.0 && at > 0 && sentence[at - 1] == Token::End('\n');
        if tied || listed || is(sentence, end, OTHER_UNITS) && !is(sentence, end, ADDED) {
            at = end;
            continue;
        }
        if is(sentence, end, ADDED) {
            return None;
        }
        if is_choice(sentence, end) || at > from && is(sentence, at - 1, &["between"]) {
            return Some((Named::Several, end));
        }
        return Some((Named::One(action(value)), end));
    }
    None
}

/// Whether another amount is offered beside the one that ends here.
fn is_choice(sentence: &[Token<'_>], end: usize) -> bool {
    let joins = is(sentence, end, &["or", "to"])
        || matches!(sentence.get(end), Some(Token::Mark('-' | '/')));
    joins && number(sentence, end + 1).is_some()
}

fn action(value: f64) -> Action {
    // Far inside i64, and exact.
    if value.fract() == 0.0 && value.abs() < 1e15 {
        Action::Integer(value as i64)
    } else {
        Action::Number(value)
    }
}

/// The number at a place, in digits or words, and the place behind it.
fn number(sentence: &[Token<'_>], at: usize) -> Option<(f64, usize)> {
    let word = match sentence.get(at)? {
        Token::Number(value) => return Some((*value, at + 1)),
        Token::Word(word) => *word,
        _ => return None,
    };
    let ones_at = |at: usize| match sentence.get(at) {
        Some(Token::Word(word)) => numerals::ones(word).filter(|ones| *ones > 0),
        _ => None,
    };
    if let Some(tens) = numerals::tens(word) {
        let next = at + 1 + usize::from(sentence.get(at + 1) == Some(&Token::Mark('-')));
        return Some(match ones_at(next).filter(|ones| *ones < 10) {
            Some(ones) => (f64::from(tens + ones), next + 1),
            None => (f64::from(tens), at + 1),
        });
    }
    match word {
        "nothing" => Some((0.0, at + 1)),
        // A pronoun more often than a number.
        "one" => None,
        _ => numerals::ones(word).map(|ones| {
            if is(sentence, at + 1, &["hundred"]) {
                (f64::from(ones) * 100.0, at + 2)
            } else {
                (f64::from(ones), at + 1)
            }
        }),
    }
}
