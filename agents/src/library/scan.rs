//! What a template may look like before it is compiled. The compiler follows nesting with its
//! own stack and knows operators that build texts of any size, so both are bounded here, on the
//! tokens of the compiler itself. Called by the library for every text that it takes in.

use std::mem;
use std::ops::Range;

use minijinja::machinery::{Token, Tokenizer};
use minijinja::syntax::SyntaxConfig;

use super::budget;
use super::operands::{Insertion, Placed, weighed};

/// Longest template, in bytes; the longest built-in one has 2,484.
pub const MOST_BYTES: usize = 32 * 1024;

/// Tokens in one `{{ }}` or `{% %}`. Every level of the compiler's stack takes at least one, so
/// this bounds chains of all kinds; built-in templates stay under 40.
const MOST_TOKENS: usize = 100;

/// Brackets inside brackets: each takes a dozen levels of the stack.
const MOST_BRACKETS: usize = 8;

/// Tags inside tags, where every `elif` is one inside the `if` before it.
const MOST_TAGS: usize = 20;

/// Uses of `~` and `+` in one block: each makes a text anew.
const MOST_JOINS: usize = 6;

/// What is wrong with a template, and the line that it stands in.
#[derive(Debug)]
pub struct Fault {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Checks a template and returns what is to be compiled in its place: the same text, with a
/// count of the bytes that its `set`, `with` and `for` keep and its operators work on.
///
/// # Errors
/// The text is too long, nested too deeply, or uses what is not offered here.
pub fn bounded(source: &str, syntax: &SyntaxConfig) -> Result<String, Fault> {
    if source.len() > MOST_BYTES {
        let message = format!("is longer than {MOST_BYTES} bytes");
        return Err(Fault { line: 1, message });
    }
    let mut tokens = Tokenizer::new(source, "", false, syntax.clone());
    let mut tags = Tags::default();
    let mut inserted = Vec::new();
    let mut block = Vec::new();
    loop {
        let next = tokens.next_token().map_err(|error| Fault {
            line: error.line().unwrap_or(1),
            message: error.detail().unwrap_or("syntax error").to_owned(),
        })?;
        let Some((token, span)) = next else {
            return Ok(with_counts(source, inserted));
        };
        let wrong = |message: String| Fault {
            line: usize::from(span.start_line),
            message,
        };
        match token {
            Token::TemplateData(_) | Token::VariableStart | Token::BlockStart => block.clear(),
            Token::VariableEnd => {
                let block = mem::take(&mut block);
                check_block(&block).map_err(wrong)?;
                inserted.extend(counts(None, &block));
            }
            Token::BlockEnd => {
                let block = mem::take(&mut block);
                check_block(&block).map_err(wrong)?;
                tags.enter(&block).map_err(wrong)?;
                let tag = block.first().and_then(|(token, _)| match token {
                    Token::Ident(tag) => Some(*tag),
                    _ => None,
                });
                inserted.extend(counts(tag, &block));
            }
            token => block.push((token, span)),
        }
        if block.len() > MOST_TOKENS {
            return Err(wrong(format!(
                "a block has more than {MOST_TOKENS} words and signs"
            )));
        }
    }
}

/// How deeply tags are nested.
#[derive(Default)]
struct Tags {
    /// For each open tag how many levels it takes.
    open: Vec<usize>,
}

impl Tags {
    fn enter(&mut self, block: &[Placed<'_>]) -> Result<(), String> {
        let Some((Token::Ident(tag), _)) = block.first() else {
            return Ok(());
        };
        match *tag {
            "for" if matches!(block.last(), Some((Token::Ident("recursive"), _))) => {
                return Err("loops cannot be recursive".to_owned());
            }
            "set" if !block.iter().any(|(token, _)| is_assign(token)) => {
                return Err("`set` needs a value: {% set name = value %}".to_owned());
            }
            "for" | "if" | "with" => self.open.push(1),
            "elif" => self
                .open
                .iter_mut()
                .last()
                .into_iter()
                .for_each(|n| *n += 1),
            "endfor" | "endif" | "endwith" => drop(self.open.pop()),
            "else" | "set" | "include" => {}
            other => return Err(format!("there is no tag `{other}`")),
        }
        if self.open.iter().sum::<usize>() > MOST_TAGS {
            return Err(format!("tags are nested more than {MOST_TAGS} deep"));
        }
        Ok(())
    }
}

fn is_assign(token: &Token<'_>) -> bool {
    matches!(token, Token::Assign)
}

/// How a token changes the number of open brackets.
fn opens(token: &Token<'_>) -> isize {
    match token {
        Token::ParenOpen | Token::BracketOpen | Token::BraceOpen => 1,
        Token::ParenClose | Token::BracketClose | Token::BraceClose => -1,
        _ => 0,
    }
}

fn check_block(block: &[Placed<'_>]) -> Result<(), String> {
    let mut depth = 0_usize;
    let mut joins = 0;
    for (token, _) in block {
        let changed = depth.checked_add_signed(opens(token));
        depth = changed.ok_or_else(|| format!("unexpected {token}"))?;
        if depth > MOST_BRACKETS {
            return Err(format!(
                "brackets are nested more than {MOST_BRACKETS} deep"
            ));
        }
        match token {
            Token::Mul | Token::Pow => {
                return Err(format!(
                    "{token} is not offered; numbers have the filter `times`"
                ));
            }
            Token::Plus | Token::Tilde => joins += 1,
            _ => {}
        }
    }
    if depth > 0 {
        return Err("a bracket is not closed".to_owned());
    }
    if joins > MOST_JOINS {
        return Err(format!("a block has more than {MOST_JOINS} of `~` and `+`"));
    }
    Ok(())
}

/// An expression of a block.
struct Expression {
    /// Its tokens.
    tokens: Range<usize>,
    /// Its value is kept under a name.
    is_kept: bool,
}

/// The expressions of `{{ }}`, or of a tag.
fn expressions(tag: Option<&str>, block: &[Placed<'_>]) -> Vec<Expression> {
    let whole = |start: usize| Expression {
        tokens: start..block.len(),
        is_kept: false,
    };
    match tag {
        None => vec![whole(0)],
        Some(tag @ ("set" | "with" | "for")) => named_expressions(tag, block),
        Some(_) => vec![whole(1)],
    }
}

/// The expressions of a tag that gives names to values, and the condition of a loop.
fn named_expressions(tag: &str, block: &[Placed<'_>]) -> Vec<Expression> {
    let mut found = Vec::new();
    let mut depth = 0;
    let mut start = None;
    let mut is_kept = true;
    for (at, (token, _)) in block.iter().enumerate() {
        depth += opens(token);
        match (token, tag, start) {
            _ if depth > 0 => {}
            (Token::Assign, "set" | "with", None) | (Token::Ident("in"), "for", None) => {
                start = Some(at + 1);
            }
            (Token::Comma, "with", Some(from)) => {
                found.push(Expression {
                    tokens: from..at,
                    is_kept,
                });
                start = None;
            }
            (Token::Ident("if"), "for", Some(from)) if is_kept => {
                found.push(Expression {
                    tokens: from..at,
                    is_kept,
                });
                is_kept = false;
                start = Some(at + 1);
            }
            _ => {}
        }
    }
    found.extend(start.map(|from| Expression {
        tokens: from..block.len(),
        is_kept,
    }));
    found
}

/// What goes into the source of a block: the filters that weigh and count.
fn counts(tag: Option<&str>, block: &[Placed<'_>]) -> Vec<Insertion> {
    let all = expressions(tag, block);
    let all = all.iter().filter_map(|expression| {
        let tokens = block.get(expression.tokens.clone())?;
        Some((tokens, expression.is_kept))
    });
    let (tokens, kept): (Vec<&[Placed<'_>]>, Vec<bool>) = all.unzip();
    let mut found = weighed(tag, &tokens);
    let kept = tokens.iter().zip(kept).filter(|(_, is_kept)| *is_kept);
    for (tokens, _) in kept.filter(|(tokens, _)| tokens.iter().any(|(token, _)| can_make(token))) {
        let (Some((_, first)), Some((_, last))) = (tokens.first(), tokens.last()) else {
            continue;
        };
        found.push(Insertion {
            at: first.start_offset as usize,
            text: "(".to_owned(),
        });
        found.push(Insertion {
            at: last.end_offset as usize,
            text: format!(")|{}", budget::KEPT),
        });
    }
    found
}

/// Whether a token can be part of an expression that makes a new text or list.
fn can_make(token: &Token<'_>) -> bool {
    matches!(
        token,
        Token::Tilde
            | Token::Plus
            | Token::Comma
            | Token::Colon
            | Token::Pipe
            | Token::ParenOpen
            | Token::BracketOpen
            | Token::BraceOpen
    )
}

/// The source with these insertions. Of several at one place those that close come first.
fn with_counts(source: &str, mut insertions: Vec<Insertion>) -> String {
    insertions.sort_by_key(|insertion| (insertion.at, insertion.text == "("));
    let mut text = String::with_capacity(source.len());
    let mut done = 0;
    for insertion in insertions {
        text.push_str(source.get(done..insertion.at).unwrap_or_default());
        text.push_str(&insertion.text);
        done = insertion.at;
    }
    text.push_str(source.get(done..).unwrap_or_default());
    text
}
