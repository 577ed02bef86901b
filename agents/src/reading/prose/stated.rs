//! Finds the answer that a text states as such: "I choose 33", "my bid is $40",
//! "final answer: 7". A statement is a subject, filling words that carry no
//! meaning of their own, and a mention; any other word in between breaks it.

use agon_engine::{Action, Ask, Form};

use super::mentions::Mention;
use super::tokens::Token;

/// What a text states.
#[derive(Debug, Clone, PartialEq)]
pub enum Stated {
    /// One answer.
    One(Action),
    /// Several at once ("33 or 34").
    Several,
    /// Nothing.
    None,
}

/// Words that may stand between a subject and its answer.
const FILLING: &[&str] = &[
    // being and intending
    "is",
    "be",
    "will",
    "would",
    "shall",
    "am",
    "'ll",
    "have",
    "has",
    "should",
    "must",
    "want",
    "wish",
    "decide",
    "decided",
    "going",
    "to",
    "prefer",
    "rather",
    "like",
    "intend",
    "plan",
    "opt",
    "opted",
    "hereby",
    "therefore",
    "thus",
    "simply",
    "just",
    "now",
    "again",
    "still",
    "definitely",
    "intentionally",
    "deliberately",
    "also",
    "only",
    "then",
    "so",
    "it",
    "that",
    // choosing
    "choose",
    "chose",
    "chosen",
    "pick",
    "picked",
    "select",
    "selected",
    "guess",
    "say",
    "bid",
    "go",
    "with",
    "for",
    "contribute",
    "give",
    "put",
    "offer",
    "submit",
    "play",
    "take",
    "claim",
    "request",
    "ask",
    "answer",
    "vote",
    "order",
    "ordering",
    "voting",
    "choosing",
    "bidding",
    "picking",
    "guessing",
    "contributing",
    "selecting",
    "submitting",
    "shoot",
    "shooting",
    "fire",
    "firing",
    "aim",
    "aiming",
    "target",
    "targeting",
    "attack",
    "eliminate",
    "at",
    "make",
    "set",
    "enter",
    "propose",
    "settle",
    "stick",
    "name",
    "call",
    "on",
    "in",
    "into",
    "suggest",
    // what is chosen, and when
    "a",
    "an",
    "the",
    "my",
    "this",
    "of",
    "number",
    "value",
    "integer",
    "whole",
    "round",
    "turn",
    "final",
    "amount",
    "exactly",
    "all",
    "option",
    "dish",
    "item",
    "choice",
    "decision",
    "contribution",
    "tokens",
    "gold",
    "coins",
    "dollars",
    "shot",
    "player",
    "time",
    "as",
    "home",
    "proposal",
    "plan",
    "down",
    "by",
];

/// Subjects that speak for the player.
const SELF: &[&str] = &["i", "i'll", "i'd", "i'm", "i've", "let's"];

/// Nouns for an answer of any kind; with "the" or "my" before them, or nothing.
const NOUNS: &[&str] = &[
    "answer",
    "choice",
    "decision",
    "response",
    "selection",
    "pick",
    "action",
];

/// Nouns for numbers; only with "my" or "final" before them, or nothing.
const NUMBER_NOUNS: &[&str] = &[
    "guess",
    "bid",
    "number",
    "contribution",
    "offer",
    "amount",
    "claim",
];

/// Nouns for targets.
const TARGET_NOUNS: &[&str] = &["target", "shot"];

/// Before a subject, these make it a thought and no statement.
const SUPPOSING: &[&str] = &[
    "if", "when", "suppose", "whether", "unless", "assuming", "should",
];

/// Behind an answer, these make it one of the past.
const PAST: &[&str] = &[
    "yesterday",
    "last",
    "previous",
    "previously",
    "earlier",
    "before",
];

/// How far behind an answer a word of the past counts.
const PAST_REACH: usize = 3;

/// The last statement of a text; "final" ones first.
pub fn latest(ask: &Ask, tokens: &[Token<'_>], mentions: &[Mention]) -> Stated {
    let mut stated = Stated::None;
    let mut finally = Stated::None;
    // Position in `mentions` of the first one not before the subject.
    let mut next = 0;
    for (at, token) in tokens.iter().enumerate() {
        while mentions
            .get(next)
            .is_some_and(|mention| mention.start <= at)
        {
            next += 1;
        }
        let (Token::Word(word), Some(mention)) = (token, mentions.get(next)) else {
            continue;
        };
        if !is_subject(ask, tokens, at, word) || !leads_to(tokens, at + 1, mention.start) {
            continue;
        }
        if mention.negated || is_past(tokens, mention.end) {
            continue;
        }
        let statement = match mentions.get(next + 1) {
            Some(other) if joined(tokens, mention, other) => Stated::Several,
            _ => Stated::One(mention.action.clone()),
        };
        let is_final = previous_word(tokens, at) == Some("final");
        if is_final {
            finally = statement;
        } else {
            stated = statement;
        }
    }
    if finally == Stated::None {
        stated
    } else {
        finally
    }
}

fn is_subject(ask: &Ask, tokens: &[Token<'_>], at: usize, word: &str) -> bool {
    let before = previous_word(tokens, at);
    if SELF.contains(&word) {
        return !before.is_some_and(|before| SUPPOSING.contains(&before));
    }
    let own = matches!(before, None | Some("my" | "final"));
    if NOUNS.contains(&word) {
        return own || matches!(before, Some("the" | "so" | "thus" | "therefore"));
    }
    let special = match ask.form {
        Form::Integer { .. } | Form::Amount { .. } | Form::Number { .. } => NUMBER_NOUNS,
        Form::Target { .. } => TARGET_NOUNS,
        Form::Choice { .. } | Form::Division { .. } => &[],
    };
    own && (word == ask.kind || special.contains(&word))
}

/// The word right before a place; none at the start of a sentence, line or after
/// a mark.
fn previous_word<'a>(tokens: &[Token<'a>], at: usize) -> Option<&'a str> {
    match tokens.get(at.wrapping_sub(1)) {
        Some(Token::Word(word)) => Some(word),
        Some(Token::Number(_) | Token::Percent(_) | Token::Fraction(_)) => Some("number"),
        _ => None,
    }
}

/// Whether only filling words and harmless marks lie between two places. A long
/// way is no statement, which also bounds the walk.
fn leads_to(tokens: &[Token<'_>], from: usize, to: usize) -> bool {
    const LONGEST_WAY: usize = 12;
    if to < from || to - from > LONGEST_WAY {
        return false;
    }
    let mut labelled = false;
    tokens[from..to].iter().all(|token| match token {
        Token::Word(word) => {
            labelled = matches!(*word, "round" | "turn");
            FILLING.contains(word)
        }
        // "For round 3".
        Token::Number(_) => std::mem::take(&mut labelled),
        Token::Mark(mark) => matches!(mark, ':' | '=' | '-' | ',' | '('),
        _ => false,
    })
}

fn is_past(tokens: &[Token<'_>], end: usize) -> bool {
    let after = tokens[end..].iter().take(PAST_REACH);
    let same_sentence = after.take_while(|token| !matches!(token, Token::End(_)));
    let mut words = same_sentence.filter_map(|token| match token {
        Token::Word(word) => Some(*word),
        _ => None,
    });
    words.any(|word| PAST.contains(&word))
}

/// Whether two mentions are offered side by side.
fn joined(tokens: &[Token<'_>], first: &Mention, second: &Mention) -> bool {
    if first.action == second.action || second.negated {
        return false;
    }
    let between: Vec<&Token<'_>> = tokens[first.end..second.start]
        .iter()
        .filter(|token| !matches!(token, Token::Mark(',' | '(')))
        .take(3)
        .collect();
    match &*between {
        [Token::Word(word)] => matches!(*word, "or" | "and" | "to" | "maybe" | "perhaps"),
        [Token::Mark('-' | '/')] => true,
        [Token::Word("or"), Token::Word("maybe" | "perhaps" | "even")] => true,
        _ => false,
    }
}
