//! Takes the blanks out of amounts whose thousands are set apart by them: "$1 200",
//! "1\u{202f}200". Only groups of exactly three digits count. An ordinary blank also
//! stands between two numbers ("in round 1 200 was bid"), so it needs a sign that an
//! amount begins there; what could be two numbers stays two.

use super::amounts::{CURRENCIES, MARKS, is_currency_sign};

/// Blanks that hold the groups of one number together: no-break, figure, thin and
/// narrow no-break space.
const GROUPING: [char; 4] = ['\u{a0}', '\u{2007}', '\u{2009}', '\u{202f}'];

/// Words before an amount.
const BEFORE: &[&str] = &[
    "bid", "bids", "bidding", "offer", "raise", "pay", "to", "is", "at", "of", "just", "exactly",
    "only", "now", "amount", "minus", "or",
];

/// Digits of a group that is not the first.
const GROUP: usize = 3;

/// The letters without blanks inside amounts. Letters are in lower case.
pub(super) fn joined(letters: &[char]) -> Vec<char> {
    let mut out = Vec::with_capacity(letters.len());
    let mut at = 0;
    while at < letters.len() {
        match grouped(letters, at) {
            Some(end) => {
                let digits = letters[at..end].iter().filter(|letter| is_digit(letter));
                out.extend(digits);
                at = end;
            }
            None => {
                out.push(letters[at]);
                at += 1;
            }
        }
    }
    out
}

/// Where the grouped amount that starts here ends; `None` when none does.
fn grouped(letters: &[char], start: usize) -> Option<usize> {
    if !is_digit(letters.get(start)?) || letters[start] == '0' || goes_on_before(letters, start) {
        return None;
    }
    let first = digits_at(letters, start);
    if first > GROUP {
        return None;
    }
    let mut end = start + first;
    let blank = *letters.get(end)?;
    let plain = blank == ' ';
    if !plain && !GROUPING.contains(&blank) {
        return None;
    }
    while letters.get(end) == Some(&blank) && digits_at(letters, end + 1) == GROUP {
        end += 1 + GROUP;
    }
    if end == start + first || goes_on_behind(letters, end, blank) {
        return None;
    }
    (!plain || begins_amount(letters, start) || ends_amount(letters, end)).then_some(end)
}

fn digits_at(letters: &[char], start: usize) -> usize {
    let rest = letters.get(start..).unwrap_or_default();
    rest.iter().take_while(|letter| is_digit(letter)).count()
}

/// Whether the digits are the end of a longer number or of a word ("1,5", "player_1").
fn goes_on_before(letters: &[char], start: usize) -> bool {
    let Some(before) = start.checked_sub(1).map(|at| letters[at]) else {
        return false;
    };
    if before.is_alphanumeric() || before == '_' {
        return true;
    }
    let behind_digit = start > 1 && is_digit(&letters[start - 2]);
    behind_digit && (".,':/-".contains(before) || before == ' ' || GROUPING.contains(&before))
}

/// Whether what follows belongs to the digits, or is a number of its own.
fn goes_on_behind(letters: &[char], end: usize, blank: char) -> bool {
    let next = letters.get(end..).unwrap_or_default();
    match next {
        [letter, ..] if letter.is_alphanumeric() && !is_currency_sign(*letter) => {
            // A currency may hang on its amount ("1 200usd").
            let word: String = next.iter().take_while(|c| c.is_alphabetic()).collect();
            !CURRENCIES.contains(&&*word)
        }
        [mark, digit, ..] if is_digit(digit) => *mark == blank || ",':/".contains(*mark),
        _ => false,
    }
}

/// Whether an amount of money is what begins here: behind a currency, behind a word that
/// leads to one, or at the start of a line.
fn begins_amount(letters: &[char], start: usize) -> bool {
    let skipped = |letter: &char| *letter == ' ' || *letter == '-' || MARKS.contains(letter);
    let before = letters[..start].iter().rposition(|letter| !skipped(letter));
    let Some(last) = before else {
        return true;
    };
    if letters[last] == '\n' || is_currency_sign(letters[last]) {
        return true;
    }
    let word = letters[..=last].iter().rev();
    let mut word: Vec<char> = word.take_while(|c| c.is_alphabetic()).copied().collect();
    word.reverse();
    let word: String = word.into_iter().collect();
    BEFORE.contains(&&*word) || CURRENCIES.contains(&&*word)
}

/// Whether a currency follows.
fn ends_amount(letters: &[char], end: usize) -> bool {
    let rest = letters[end..].iter().skip_while(|letter| **letter == ' ');
    let rest: Vec<char> = rest.copied().collect();
    let word: String = rest.iter().take_while(|c| c.is_alphabetic()).collect();
    rest.first().is_some_and(|first| is_currency_sign(*first)) || CURRENCIES.contains(&&*word)
}

fn is_digit(letter: &char) -> bool {
    letter.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_inside_amounts_go_and_all_others_stay() {
        for (text, expected) in [
            ("i bid $1 200!", "i bid $1200!"),
            ("i bid 1 200!", "i bid 1200!"),
            ("i bid 12 345 678.", "i bid 12345678."),
            ("my bid is **1 200**", "my bid is **1200**"),
            ("1 200 eur it is", "1200 eur it is"),
            ("i go for 1 200€", "i go for 1200€"),
            ("i go for 1 200usd", "i go for 1200usd"),
            ("1 200.50", "1200.50"),
            // Blanks that hold numbers together need no sign.
            ("i go for 1\u{202f}200, no more", "i go for 1200, no more"),
            ("i go for 1\u{2009}200", "i go for 1200"),
            ("i go for 1\u{a0}200", "i go for 1200"),
            // Not groups of three.
            ("i bid $1 20", "i bid $1 20"),
            ("i bid $1 2000", "i bid $1 2000"),
            ("i bid $1200 300", "i bid $1200 300"),
            ("i bid $1  200", "i bid $1  200"),
            ("i bid $0 200", "i bid $0 200"),
            ("i bid $1\n200", "i bid $1\n200"),
            ("i bid $1 200k", "i bid $1 200k"),
            ("i bid $1 200 30", "i bid $1 200 30"),
            ("i bid $1,200 300", "i bid $1,200 300"),
            ("i bid $1 200,300", "i bid $1 200,300"),
            ("1.5 200", "1.5 200"),
            // Two numbers.
            ("in round 1 200 was bid", "in round 1 200 was bid"),
            ("player_1 200", "player_1 200"),
            ("1 200 or 1 300", "1200 or 1300"),
            ("item 3 500 or less", "item 3 500 or less"),
            ("between 1 200 and 1 300", "between 1 200 and 1 300"),
            ("", ""),
        ] {
            let letters: Vec<char> = text.chars().collect();
            let joined: String = joined(&letters).into_iter().collect();
            assert_eq!(joined, expected, "{text}");
        }
    }
}
