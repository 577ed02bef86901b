//! Which values of a template's expressions are weighed. One step of minijinja compares, cuts or
//! joins values of any size, so every name in a block with such an operator, and every long text,
//! gets a filter behind it that counts the bytes of its value once for each operator. What filters
//! make out of them is counted there. Called by the scan for each block.

use std::ops::Range;

use minijinja::machinery::{Span, Token};

use super::budget::{INDEXED, WEIGHED};

/// A token and the place where it stands.
pub type Placed<'a> = (Token<'a>, Span);

/// A literal this short is not worth weighing.
const SHORT: usize = 64;

/// An include looks for every name of a list, and says so of each that is missing.
const LOOKUPS: usize = 8;

/// Tests that take the same for all values.
const CHEAP_TESTS: [&str; 12] = [
    "defined",
    "undefined",
    "none",
    "true",
    "false",
    "number",
    "integer",
    "string",
    "sequence",
    "mapping",
    "odd",
    "even",
];

/// A text that goes into the source of a template.
pub struct Insertion {
    /// Where, in bytes.
    pub at: usize,
    /// What.
    pub text: String,
}

/// What goes around the operands of these expressions of one block; `tag` is its first word, if it
/// is one of `{% %}`.
pub fn weighed(tag: Option<&str>, expressions: &[&[Placed<'_>]]) -> Vec<Insertion> {
    let lookups = if tag == Some("include") { LOOKUPS } else { 0 };
    let within = expressions.iter().map(|tokens| operators(tokens));
    let times = within.sum::<usize>() + lookups;
    let mut found = Vec::new();
    for tokens in expressions {
        for operand in operands(tokens) {
            let first = tokens[operand.tokens.start].1.start_offset as usize;
            let mut around = |end: usize, filter: String| {
                found.push(Insertion {
                    at: first,
                    text: "(".to_owned(),
                });
                found.push(Insertion {
                    at: tokens[end - 1].1.end_offset as usize,
                    text: format!("|{filter})"),
                });
            };
            for end in operand.indexed {
                around(end, INDEXED.to_owned());
            }
            if times > 0 {
                around(operand.tokens.end, format!("{WEIGHED}({times})"));
            }
        }
    }
    found
}

/// A name with what is looked up in it, or a long text.
struct Operand {
    tokens: Range<usize>,
    /// Where the parts end in which something is looked up by its place.
    indexed: Vec<usize>,
}

/// How many operators there are whose work grows with their operands.
fn operators(tokens: &[Placed<'_>]) -> usize {
    let counted = (0..tokens.len()).filter(|at| match tokens[*at].0 {
        Token::Eq | Token::Ne | Token::Gt | Token::Gte | Token::Lt | Token::Lte => true,
        Token::Tilde | Token::Plus | Token::BraceOpen => true,
        Token::Ident("in") => !follows(tokens, *at, is_part_mark),
        Token::Ident("is") => !follows(tokens, *at, is_part_mark) && !is_cheap_test(tokens, *at),
        // A subscript is looked up, a slice copies, and calls do what they like.
        Token::BracketOpen | Token::ParenOpen => follows(tokens, *at, ends_an_operand),
        _ => false,
    });
    counted.count()
}

/// The operands of an expression, in order of their starts.
fn operands(tokens: &[Placed<'_>]) -> Vec<Operand> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        match &tokens[at].0 {
            Token::Ident(name) if is_variable(name, tokens, at) => {
                found.push(path(tokens, at));
            }
            Token::Str(text) if text.len() > SHORT => found.push(literal(at)),
            Token::String(text) if text.len() > SHORT => found.push(literal(at)),
            _ => {}
        }
    }
    found
}

/// Whether a word names a value: no keyword, filter, test, function or argument.
fn is_variable(name: &str, tokens: &[Placed<'_>], at: usize) -> bool {
    let is_test = follows(tokens, at, |token| matches!(token, Token::Ident("is")))
        || (follows(tokens, at, |token| matches!(token, Token::Ident("not")))
            && follows(tokens, at - 1, |token| matches!(token, Token::Ident("is"))));
    let is_part = follows(tokens, at, is_part_mark);
    let next = tokens.get(at + 1).map(|(token, _)| token);
    let is_other = matches!(next, Some(Token::ParenOpen | Token::Assign));
    !(is_keyword(name) || is_test || is_part || is_other)
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "and"
            | "or"
            | "not"
            | "in"
            | "is"
            | "if"
            | "else"
            | "true"
            | "True"
            | "false"
            | "False"
            | "none"
            | "None"
            | "ignore"
            | "missing"
    )
}

/// Whether a bracket behind it belongs to what it ends.
fn ends_an_operand(token: &Token<'_>) -> bool {
    match token {
        Token::Ident(word) => !is_keyword(word),
        Token::Str(_) | Token::String(_) => true,
        Token::ParenClose | Token::BracketClose | Token::BraceClose => true,
        _ => false,
    }
}

/// What stands before fields and filters.
fn is_part_mark(token: &Token<'_>) -> bool {
    matches!(token, Token::Dot | Token::Pipe)
}

/// Whether this `is` asks something that every value knows of itself.
fn is_cheap_test(tokens: &[Placed<'_>], at: usize) -> bool {
    let mut after = tokens[at + 1..].iter().map(|(token, _)| token);
    let asked = after.find(|token| !matches!(token, Token::Ident("not")));
    matches!(asked, Some(Token::Ident(test)) if CHEAP_TESTS.contains(test))
}

/// Whether the token before this one is such a one.
fn follows(tokens: &[Placed<'_>], at: usize, fits: impl Fn(&Token<'_>) -> bool) -> bool {
    at > 0 && fits(&tokens[at - 1].0)
}

fn literal(at: usize) -> Operand {
    Operand {
        tokens: at..at + 1,
        indexed: Vec::new(),
    }
}

/// A name with its fields and subscripts; a call and a slice do not belong to it.
fn path(tokens: &[Placed<'_>], start: usize) -> Operand {
    let mut end = start + 1;
    let mut indexed = Vec::new();
    let token = |at: usize| tokens.get(at).map(|(token, _)| token);
    loop {
        let after = match token(end) {
            Some(Token::Dot) if end + 1 < tokens.len() => end + 2,
            Some(Token::BracketOpen) => end_of_subscript(tokens, end).unwrap_or(end),
            _ => end,
        };
        let is_called = matches!(token(after), Some(Token::ParenOpen));
        if after == end || is_called {
            return Operand {
                tokens: start..end,
                indexed,
            };
        }
        if !matches!(token(end + 1), Some(Token::Ident(_)))
            || !matches!(token(end), Some(Token::Dot))
        {
            indexed.push(end);
        }
        end = after;
    }
}

/// Behind the bracket that closes this one, unless it holds a slice.
fn end_of_subscript(tokens: &[Placed<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, (token, _)) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::BracketOpen | Token::ParenOpen | Token::BraceOpen => depth += 1,
            Token::BracketClose | Token::ParenClose | Token::BraceClose => {
                depth = depth.checked_sub(1)?;
            }
            Token::Colon if depth == 1 => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}
