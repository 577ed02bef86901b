//! Reads an answer from words.
//!
//! First what is marked as the answer (alone on the last line, in bold type, in a
//! box), then what is stated as one ("I choose 33", "my bid is $40", "final
//! answer: 7"), then the only thing in the last sentence that can be meant. The
//! later statement wins over the earlier; two at once are a foul.

use std::ops::Range;

use agon_engine::{Action, Ask, Form, Foul, FoulKind, Seat};

mod bids;
mod division;
mod mentions;
mod stated;
mod tokens;

use mentions::{Mention, mentions};
pub(crate) use stated::Stated;
use tokens::{Token, tokenize};

/// Words of sentences that talk about others or about the past: a number in them
/// is hardly the answer.
const ABOUT_OTHERS: &[&str] = &[
    "average",
    "mean",
    "last",
    "previous",
    "winning",
    "others",
    "everyone",
    "everybody",
    "they",
    "opponents",
    "was",
    "were",
    "range",
    "maximum",
    "minimum",
    "if",
    "unless",
    "suppose",
    "bids",
    "bidders",
];

/// The answer in a text.
///
/// # Errors
/// There is none, or more than one.
pub fn read(ask: &Ask, text: &str) -> Result<Action, Foul> {
    let text = tokens::simplify(text);
    if is_page(&text) {
        return Err(unreadable(ask));
    }
    if let Form::Division { parts, .. } = &ask.form {
        let found = division::read(&text, *parts, ask.seat);
        return found.map(Action::Division).ok_or_else(|| unreadable(ask));
    }
    if let Some(action) = marked(ask, &text) {
        return settle(ask, action);
    }
    match in_sentences(ask, &tokenize(&text)) {
        Stated::One(action) => settle(ask, action),
        Stated::Several => Err(ambiguous(ask)),
        Stated::None => Err(unreadable(ask)),
    }
}

/// Whether a text is a whole web page: somebody's error message, and no answer.
fn is_page(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with("<html") || start.starts_with("<!doctype html")
}

/// The bid that a text commits to, else the answer that it states, else the only one
/// that it can mean.
fn in_sentences(ask: &Ask, tokens: &[Token<'_>]) -> Stated {
    let is_free_bid = is_free_bid(ask);
    if is_free_bid {
        let committed = bids::committed(tokens);
        if committed != Stated::None {
            return committed;
        }
    }
    let mut found = mentions(ask, tokens);
    if is_free_bid {
        // "20% more" and "3 health" are no amounts of money.
        found.retain(|mention| {
            let share = matches!(tokens[mention.start], Token::Percent(_));
            !share && !bids::counts_something_else(tokens, mention.end)
        });
    }
    match stated::latest(ask, tokens, &found) {
        Stated::None => only_meant(ask, tokens, &found),
        stated => stated,
    }
}

/// A bid of any amount, or of nothing at all: not to bid is an answer to it.
fn is_free_bid(ask: &Ask) -> bool {
    let open = matches!(
        ask.form,
        Form::Integer {
            max: None,
            pass: None,
            ..
        } | Form::Amount { max: None, .. }
    );
    ask.kind == "bid" && open && ask.form.check(&Action::Integer(0)).is_ok()
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

/// What stands alone: the whole text, a box, the last line, or bold type.
fn marked(ask: &Ask, text: &str) -> Option<Action> {
    let last_line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    let boxed = text.rfind("\\boxed{").and_then(|at| {
        let inside = &text[at + "\\boxed{".len()..];
        bare(ask, &inside[..inside.find('}')?])
    });
    boxed
        .or_else(|| bare(ask, last_line))
        .or_else(|| in_bold(ask, text))
}

/// The answer in bold type, when all bold answers are the same.
fn in_bold(ask: &Ask, text: &str) -> Option<Action> {
    let stars = text.matches("**").count();
    // Every second piece is between two marks; one that is never closed is none.
    let segments = text.split("**").skip(1).step_by(2).take(stars / 2);
    let mut answers = segments.filter_map(|segment| bare(ask, segment));
    let first = answers.next()?;
    answers.all(|other| other == first).then_some(first)
}

/// The answer of a text that holds nothing else.
fn bare(ask: &Ask, text: &str) -> Option<Action> {
    /// More letters than any single answer has.
    const LONGEST: usize = 60;
    if text.len() > LONGEST {
        return None;
    }
    let tokens = tokenize(text);
    let found = mentions(ask, &tokens);
    let [only] = &*found else {
        return None;
    };
    let meaningless = |token: &Token<'_>| {
        matches!(token, Token::End(mark) if *mark != '?')
            || matches!(token, Token::Mark('(' | ')' | '[' | ']' | '=' | ':' | '-'))
    };
    let outside = tokens[..only.start].iter().chain(&tokens[only.end..]);
    outside
        .clone()
        .all(meaningless)
        .then(|| only.action.clone())
}

/// The only answer in the last sentence, or in a text that mentions one at all.
fn only_meant(ask: &Ask, tokens: &[Token<'_>], found: &[Mention]) -> Stated {
    let content = tokens.iter().rposition(|token| !is_end(token)).unwrap_or(0);
    let last = sentence_at(tokens, content);
    let in_last: Vec<&Mention> = found
        .iter()
        .filter(|mention| last.contains(&mention.start))
        .collect();
    let meant = implied(ask, &in_last);
    match (&*meant, found) {
        ([only], _) if speaks_for_itself(ask, tokens, last) => Stated::One(only.clone()),
        ([_], _) => Stated::None,
        ([], [mention]) => {
            let sentence = sentence_at(tokens, mention.start);
            let meant = implied(ask, &[mention]);
            let clear = speaks_for_itself(ask, tokens, sentence);
            meant
                .into_iter()
                .next()
                .filter(|_| clear)
                .map_or(Stated::None, Stated::One)
        }
        ([], _) => Stated::None,
        _ => Stated::Several,
    }
}

/// The different legal answers that mentions come to. Of two options, to refuse
/// one is to choose the other.
fn implied(ask: &Ask, found: &[&Mention]) -> Vec<Action> {
    let mut meant: Vec<Action> = Vec::new();
    for mention in found {
        let action = if mention.negated {
            other_option(ask, &mention.action)
        } else {
            Some(mention.action.clone())
        };
        let legal = action.filter(|action| ask.form.check(action).is_ok());
        if let Some(action) = legal.filter(|action| !meant.contains(action)) {
            meant.push(action);
        }
    }
    meant
}

fn other_option(ask: &Ask, refused: &Action) -> Option<Action> {
    let (Form::Choice { options }, Action::Choice(refused)) = (&ask.form, refused) else {
        return None;
    };
    let [first, second] = &**options else {
        return None;
    };
    Some(Action::Choice(
        (if refused == first { *second } else { *first }).into(),
    ))
}

/// Whether a sentence is a statement about the player's own answer.
fn speaks_for_itself(ask: &Ask, tokens: &[Token<'_>], sentence: Range<usize>) -> bool {
    // Where a number is the answer, a sentence about another player tells of that one's.
    let of_numbers = matches!(
        ask.form,
        Form::Integer { .. } | Form::Amount { .. } | Form::Number { .. }
    );
    let about_others = |token: &Token<'_>| match token {
        Token::Word(word) => {
            ABOUT_OTHERS.contains(word) || of_numbers && names_another(ask.seat, word)
        }
        _ => false,
    };
    let question = tokens.get(sentence.end) == Some(&Token::End('?'));
    let tokens = &tokens[sentence];
    let of_something_else = is_free_bid(ask) && bids::tells_of_something_else(tokens);
    !question && !of_something_else && !tokens.iter().any(about_others)
}

/// Whether a word is the name of a player at another seat.
fn names_another(seat: Seat, word: &str) -> bool {
    let number = word.trim_end_matches("'s").strip_prefix("player_");
    number
        .and_then(|number| number.parse::<Seat>().ok())
        .is_some_and(|other| other != seat)
}

/// The sentence around a token.
fn sentence_at(tokens: &[Token<'_>], at: usize) -> Range<usize> {
    let start = tokens[..at]
        .iter()
        .rposition(is_end)
        .map_or(0, |end| end + 1);
    let length = tokens[at..]
        .iter()
        .position(is_end)
        .unwrap_or(tokens.len() - at);
    start..at + length
}

fn is_end(token: &Token<'_>) -> bool {
    matches!(token, Token::End(_))
}

fn unreadable(ask: &Ask) -> Foul {
    let (kind, range) = (ask.kind, ask.form.describe());
    let reason = format!("no {kind} could be found in the reply: it must be {range}");
    Foul::new(FoulKind::Unreadable, reason)
}

fn ambiguous(ask: &Ask) -> Foul {
    let (kind, range) = (ask.kind, ask.form.describe());
    let reason = format!("the reply names more than one {kind}: say a single one, {range}");
    Foul::new(FoulKind::Unreadable, reason)
}
