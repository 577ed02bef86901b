//! Finds what a bidder says outright: "I bid $1,200!", "my bid is 1200", "I'm out!".
//! What is said under a condition, denied, asked or told of the past is no
//! decision: "If it goes higher, I'm out" withdraws nothing. Anything less plain is
//! left to the reader of prose. Called with a text whose amounts are in digits.

use agon_engine::Action;

use crate::reading::prose::Stated;

/// Words for making a bid, before the amount.
const BIDS: &[&[&str]] = &[
    &["i", "bid"],
    &["i'll", "bid"],
    &["i", "will", "bid"],
    &["i", "hereby", "bid"],
    &["i", "raise", "to"],
    &["my", "bid", "is"],
    &["my", "final", "bid", "is"],
];

/// Words that may stand between them and the amount.
const FILLING: &[&str] = &[
    "exactly", "just", "now", "only", "of", "at", "usd", "eur", "gbp",
];

/// Words before a decision, in its sentence, that make it none.
const CONDITIONS: &[&str] = &[
    "if",
    "when",
    "once",
    "unless",
    "until",
    "should",
    "would",
    "could",
    "might",
    "may",
    "suppose",
    "before",
    "not",
    "never",
    "don't",
    "won't",
    "than",
    "last",
    "previous",
    "previously",
    "earlier",
    "already",
    "whether",
    "said",
    "says",
    "had",
];

/// Words that end such a condition.
const CONCLUSIONS: &[&str] = &["so", "therefore", "thus", "hence", "then"];

/// Words behind a bid that tell of the past.
const PAST: &[&str] = &["last", "previously", "earlier", "before"];

/// Words behind an amount that make it one of several.
const ALTERNATIVES: &[&str] = &["or", "to", "-", "through"];

/// What a simplified text says outright: one decision, of several bids the last; or
/// several, when it bids and withdraws or names one of several amounts. `withdrawal` are
/// the words for leaving.
pub fn spoken(text: &str, withdrawal: &[&str]) -> Stated {
    let mut bid = None;
    let mut withdraws = false;
    for sentence in sentences(text) {
        let words: Vec<&str> = sentence
            .split(|letter: char| letter.is_whitespace() || "*\"`,;:()_".contains(letter))
            .filter(|word| !word.is_empty())
            .collect();
        let mut conditional = false;
        for at in 0..words.len() {
            conditional |= CONDITIONS.contains(&words[at]);
            conditional &= !CONCLUSIONS.contains(&words[at]);
            if conditional {
                continue;
            }
            withdraws |= words[at..].starts_with(withdrawal);
            match bid_at(&words[at..]) {
                Some(Stated::One(amount)) => bid = Some(amount),
                Some(other) => return other,
                None => {}
            }
        }
    }
    match (bid, withdraws) {
        (Some(_), true) => Stated::Several,
        (Some(amount), false) => Stated::One(amount),
        (None, true) => Stated::One(Action::Pass),
        (None, false) => Stated::None,
    }
}

/// The bid that is made at the start of some words.
fn bid_at(words: &[&str]) -> Option<Stated> {
    let opening = BIDS.iter().find(|opening| words.starts_with(opening))?;
    let mut at = opening.len();
    while words.get(at).is_some_and(|word| FILLING.contains(word)) {
        at += 1;
    }
    let amount: i64 = words.get(at)?.parse().ok()?;
    let behind = &words[at + 1..];
    if behind.iter().take(3).any(|word| PAST.contains(word)) {
        return None;
    }
    let is_amount = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
    if behind
        .first()
        .is_some_and(|word| ALTERNATIVES.contains(word))
        && behind.get(1).is_some_and(is_amount)
    {
        return Some(Stated::Several);
    }
    Some(Stated::One(Action::Integer(amount)))
}

/// The sentences of a text that are no questions. A point inside a number ends
/// nothing.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = text.char_indices().filter(|(at, letter)| {
        let next = text[at + letter.len_utf8()..].chars().next();
        match letter {
            '\n' | '!' | '?' => true,
            '.' => !next.is_some_and(|next| next.is_ascii_digit()),
            _ => false,
        }
    });
    let whole = (text.len(), ' ');
    let mut start = 0;
    let pieces = ends.chain(std::iter::once(whole)).map(move |(at, letter)| {
        let piece = text.get(start..at).unwrap_or_default();
        start = at + letter.len_utf8();
        (piece, letter)
    });
    pieces
        .filter(|(_, letter)| *letter != '?')
        .map(|(piece, _)| piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_questions_and_the_past_decide_nothing() {
        let bid = |amount| Stated::One(Action::Integer(amount));
        for (text, expected) in [
            ("i bid 1200! if it goes higher, i withdraw.", bid(1200)),
            (
                "if i bid 1200, i may lose. i withdraw!",
                Stated::One(Action::Pass),
            ),
            (
                "last round i bid 1100. i withdraw.",
                Stated::One(Action::Pass),
            ),
            ("i bid 1100 last time. i bid 1300.", bid(1300)),
            ("i bid 1200 for the lamp, which i value at 2200!", bid(1200)),
            (
                "i withdraw! i would only bid 900.",
                Stated::One(Action::Pass),
            ),
            ("i will not withdraw. i bid 1200!", bid(1200)),
            ("if it is cheap i take it, so i bid 1200!", bid(1200)),
            ("should i bid 1200? i withdraw.", Stated::One(Action::Pass)),
            ("i bid 1200. i withdraw.", Stated::Several),
            ("i bid 1200 or 1300!", Stated::Several),
            ("**my bid is 1200.**", bid(1200)),
            ("i bid 1200.5", Stated::None),
            ("i bid a lot", Stated::None),
            ("", Stated::None),
        ] {
            assert_eq!(spoken(text, &["i", "withdraw"]), expected, "{text}");
        }
    }
}
