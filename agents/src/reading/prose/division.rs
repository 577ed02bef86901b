//! Reads a division from words: one amount per named player, or a row of exactly as many
//! amounts as are needed. The last complete one counts.

use std::collections::BTreeMap;

use agon_engine::numerals::Commas;
use agon_engine::{Ask, Seat};

use super::plain::Plain;
use super::tokenizer::tokenize;
use super::tokens::{Kind, Token};
use super::vocabulary::Vocabulary;

/// Words between a player's name and its amount, either way round.
const BETWEEN: &str = "gets|get|receives|receive|takes|take|keeps|keep|for|to|will|is|gold|golds|coin|coins|pieces|of|goes|go|the|a|me|myself|i|share";

/// How far a name may be from its amount.
const REACH: usize = 6;

/// The amounts of a division into `parts`.
pub fn read(ask: &Ask, plain: &Plain, parts: usize) -> Option<Vec<i64>> {
    let tokens = tokenize(plain, &Vocabulary::of(ask, &[]), Commas::Separate);
    by_name(&tokens, parts, ask.seat).or_else(|| row(&tokens, parts))
}

/// One amount for each of `parts` players, in seat order; `me` is the seat that "I" means.
fn by_name(tokens: &[Token<'_>], parts: usize, me: Seat) -> Option<Vec<i64>> {
    let mut amounts: BTreeMap<Seat, i64> = BTreeMap::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some((seat, end)) = seat_at(tokens, at, me) else {
            at += 1;
            continue;
        };
        at = end;
        if let Some((amount, behind)) = amount_after(tokens, end) {
            amounts.insert(seat, amount);
            at = behind;
        }
    }
    if amounts.len() != parts {
        amounts = amounts_before_names(tokens, me);
    }
    (amounts.len() == parts && parts > 0).then(|| amounts.into_values().collect())
}

/// "97 for player_0, 0 to player_1".
fn amounts_before_names(tokens: &[Token<'_>], me: Seat) -> BTreeMap<Seat, i64> {
    let mut amounts = BTreeMap::new();
    let mut pending = None;
    let mut distance = 0;
    let mut at = 0;
    while at < tokens.len() {
        if let (Some(amount), Some((seat, end))) = (pending, seat_at(tokens, at, me)) {
            amounts.insert(seat, amount);
            pending = None;
            at = end;
            continue;
        }
        if tokens[at].number().is_some() {
            pending = whole(tokens, at);
            distance = 0;
        } else if tokens[at].is_word(BETWEEN) && distance < REACH {
            distance += 1;
        } else {
            pending = None;
        }
        at += 1;
    }
    amounts
}

fn amount_after(tokens: &[Token<'_>], from: usize) -> Option<(i64, usize)> {
    for at in from..tokens.len().min(from + REACH) {
        let token = &tokens[at];
        if token.number().is_some() {
            return Some((whole(tokens, at)?, at + 1));
        }
        if !token.is_word(BETWEEN) && !token.is_any_mark(":=-(>)|") {
            return None;
        }
    }
    None
}

fn seat_at(tokens: &[Token<'_>], at: usize, me: Seat) -> Option<(Seat, usize)> {
    let token = tokens.get(at).filter(|token| token.kind == Kind::Word)?;
    if token.is_word("i|me|myself|i'll") {
        return Some((me, at + 1));
    }
    let rest = token.text.strip_prefix("player")?.trim_start_matches('_');
    if !rest.is_empty() {
        return Some((rest.parse().ok()?, at + 1));
    }
    let seat = whole(tokens, at + 1)?;
    Some((usize::try_from(seat).ok()?, at + 2))
}

fn whole(tokens: &[Token<'_>], at: usize) -> Option<i64> {
    tokens.get(at)?.number()?.whole()
}

/// The last run of exactly `parts` whole numbers with nothing but separators between them.
fn row(tokens: &[Token<'_>], parts: usize) -> Option<Vec<i64>> {
    let mut latest = None;
    let mut run = Vec::new();
    for at in 0..=tokens.len() {
        let token = tokens.get(at);
        if token.is_some_and(|token| token.number().is_some()) {
            match whole(tokens, at) {
                Some(amount) => run.push(amount),
                None => run.clear(),
            }
            continue;
        }
        if token.is_some_and(|token| token.is_any_mark(",;-/") || token.is_word("and")) {
            continue;
        }
        if run.len() == parts && parts > 0 {
            latest = Some(std::mem::take(&mut run));
        }
        run.clear();
    }
    latest
}
