//! Words that take back what was said before: "scratch that", "no, wait", "or rather". What
//! stands behind them is a statement of its own. Called by `layout.rs`, `verdict.rs` and
//! `prose.rs`.

use super::lexicon::Class;
use super::tokens::{Kind, Token};

/// Words that take back what stands before them, wherever they stand.
const PHRASES: &[&str] = &[
    "disregard the",
    "ignore the above",
    "scratch that",
    "strike that",
    "cancel that",
    "forget that",
    "make that",
    "make it",
    "take that back",
    "take it back",
    "no wait",
    "wait no",
    "actually no",
    "or rather",
    "or better",
    "i mean",
    "i meant",
    "i misread",
    "hold on",
    "hang on",
    "on second thought",
    "on second thoughts",
    "having second thoughts",
    "on reflection",
    "changed my mind",
    "change my mind",
    "my bad",
    "think again",
    "thinking again",
    "to think",
    "correction",
];

/// How many tokens of words that take back what stands before begin at a place, behind a
/// mark; none if there are none.
pub fn begins(tokens: &[Token<'_>], at: usize) -> usize {
    let is_marked = at == 0 || tokens[at - 1].is_any_mark(",-:(") || tokens[at - 1].is_end();
    let is_lead = |token: &Token<'_>| token.is_word("no|wait|actually|sorry");
    let leads = is_marked && tokens.get(at).is_some_and(is_lead);
    let start = at + usize::from(leads);
    let gap = usize::from(leads && tokens.get(start).is_some_and(|token| token.is_mark(',')));
    // "I make it 860" corrects nobody.
    if at > 0 && tokens[at - 1].is(Class::Speaker) {
        return 0;
    }
    let found = [at, start, start + gap].into_iter().find_map(|from| {
        let length = phrase(tokens, from)?;
        // "Hold on to the 40", "going to make it to day 10".
        let goes_on = tokens[from].is_word("hold|hang|make|to")
            && (!is_marked
                || tokens
                    .get(from + length)
                    .is_some_and(|next| next.is_word("to")));
        let is_said = is_marked || length > 1 && !goes_on;
        is_said.then_some(from + length - at)
    });
    let is_no = leads && gap == 1 && is_marked && at > 0;
    found.unwrap_or(usize::from(is_no))
}

/// How many words a phrase at a place has.
fn phrase(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let first = tokens.get(at)?.text;
    // Most tokens begin none, and every one is asked.
    let mut begun = PHRASES.iter().filter(|phrase| phrase.starts_with(first));
    begun.find_map(|phrase| {
        let mut words = phrase.split(' ').enumerate();
        let stands = words.all(|(by, word)| tokens.get(at + by).is_some_and(|it| it.text == word));
        stands.then(|| phrase.split(' ').count())
    })
}

/// Whether words between two answers take the first one back.
pub fn takes_back(between: &[Token<'_>]) -> bool {
    let is_phrase = |at: usize| phrase(between, at).is_some() || begins(between, at) > 0;
    between.iter().any(|token| token.is(Class::Correcting))
        || (0..between.len()).any(is_phrase)
        || ends_in_no(between)
}

/// "40? No. 50": a denial by itself.
fn ends_in_no(between: &[Token<'_>]) -> bool {
    (0..between.len()).any(|at| {
        let begins = at == 0 || between[at - 1].kind != Kind::Word;
        let ends = between
            .get(at + 1)
            .is_none_or(|next| next.is_mark(',') || next.is_end());
        begins && ends && between[at].is_word("no|nope|rather")
    })
}

/// The place behind the last words of a text that take something back for sure.
pub fn last(tokens: &[Token<'_>]) -> Option<usize> {
    let opens = |at: usize| {
        let begins = at == 0 || tokens[at - 1].kind != Kind::Word;
        begins && tokens[at].is(Class::Correcting)
    };
    (0..tokens.len())
        .rev()
        .find(|at| begins(tokens, *at) > 0 || opens(*at))
}
