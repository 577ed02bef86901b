//! Digits and the marks that set their thousands apart: commas, points of a fraction,
//! apostrophes, underscores and blanks. Only groups of exactly three digits count; an
//! ordinary blank also stands between two numbers ("in round 1 200 was bid"), so it needs
//! a sign that an amount of money begins or ends there.

use super::{Commas, Found, is_currency, is_currency_sign};

/// Digits of a group that is not the first.
const GROUP: usize = 3;

/// Blanks that hold the groups of one number together: no-break, figure, thin and narrow
/// no-break space.
const GROUPING_BLANKS: [char; 4] = ['\u{a0}', '\u{2007}', '\u{2009}', '\u{202f}'];

/// Words before an amount.
const BEFORE: [&str; 17] = [
    "bid", "bids", "bidding", "offer", "raise", "pay", "to", "is", "at", "of", "just", "exactly",
    "only", "now", "amount", "minus", "or",
];

/// The digits at a place, with the marks between them.
pub(super) fn digit_run(text: &str, start: usize, commas: Commas) -> Option<Found> {
    let bytes = text.as_bytes();
    let starts = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    // ".5" is a half, "...5" is five.
    let is_ellipsis = start > 0 && bytes.get(start - 1) == Some(&b'.');
    let is_fraction = bytes.get(start) == Some(&b'.') && starts(start + 1) && !is_ellipsis;
    let begins = starts(start) || is_fraction;
    if !begins {
        return None;
    }
    let mut end = start;
    loop {
        end += digits_at(bytes, end);
        let mark = text[end..].chars().next();
        let joins = match mark {
            Some(',') => commas == Commas::Group,
            Some('.' | '_' | '\'') => true,
            Some(mark) => GROUPING_BLANKS.contains(&mark),
            None => false,
        };
        let behind = end + mark.map_or(0, char::len_utf8);
        if !joins || !starts(behind) {
            break;
        }
        end = behind;
    }
    let is_part =
        is_in_formula(text, start, end) || commas == Commas::Group && is_behind_comma(text, start);
    let digits = without_marks(&text[start..end]).filter(|_| !is_part);
    Some(Found { digits, end })
}

/// The digits of a run whose marks set thousands apart, or none.
fn without_marks(run: &str) -> Option<String> {
    let (whole, fraction) = run.split_once('.').unwrap_or((run, ""));
    if !fraction.bytes().all(|letter| letter.is_ascii_digit()) {
        return None;
    }
    let mark = whole.chars().find(|letter| !letter.is_ascii_digit());
    let digits = match mark {
        None => whole.to_owned(),
        Some(mark) => {
            let mut groups = whole.split(mark);
            let first = groups.next()?;
            let leads = (1..=GROUP).contains(&first.len()) && !first.starts_with('0');
            let is_group = |group: &str| {
                group.len() == GROUP && group.bytes().all(|letter| letter.is_ascii_digit())
            };
            if !leads || !groups.all(is_group) {
                return None;
            }
            whole.replace(mark, "")
        }
    };
    Some(if fraction.is_empty() {
        digits
    } else {
        format!("{digits}.{fraction}")
    })
}

/// Whether digits are only a part of a number: of a power, a root, a mixed fraction.
fn is_in_formula(text: &str, start: usize, end: usize) -> bool {
    let after = &text[end..];
    let before = text[..start].trim_end_matches(' ');
    let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
    // Stars with a blank on one side only are emphasis.
    let power = after
        .strip_prefix("**")
        .or_else(|| after.strip_prefix(" ** "));
    before.ends_with(['^', '\u{221a}'])
        || after.trim_start_matches(' ').starts_with('^')
        || power.is_some_and(|power| is_digit(power.chars().next()))
        || after.starts_with(is_vulgar_fraction)
}

/// Whether a comma joins digits to other ones before them.
fn is_behind_comma(text: &str, start: usize) -> bool {
    let before = text[..start].strip_suffix(',');
    before.is_some_and(|before| before.ends_with(|letter: char| letter.is_ascii_digit()))
}

/// One half, one quarter and the like as a single letter.
fn is_vulgar_fraction(letter: char) -> bool {
    matches!(letter, '\u{bc}'..='\u{be}' | '\u{2150}'..='\u{215e}')
}

/// The number that begins with the digits from `at` to `end` and whose groups have ordinary
/// blanks between them, and the place behind it. `start` is where its sign or currency
/// begins.
pub(super) fn grouped_by_blanks(text: &str, start: usize, at: usize, end: usize) -> Option<Found> {
    let bytes = text.as_bytes();
    let first = &text[at..end];
    let leads = first.len() <= GROUP && first.bytes().all(|letter| letter.is_ascii_digit());
    if !leads || first.starts_with('0') || follows_number(text, start) {
        return None;
    }
    let mut behind = end;
    while bytes.get(behind) == Some(&b' ') && digits_at(bytes, behind + 1) == GROUP {
        behind += 1 + GROUP;
    }
    if behind == end || goes_on(text, behind) {
        return None;
    }
    let is_money = start < at && text[start..at].contains(is_currency_sign);
    let is_amount = is_money || begins_amount(text, start) || ends_amount(text, behind);
    let fraction = text[behind..]
        .strip_prefix('.')
        .map_or(0, |rest| digits_at(rest.as_bytes(), 0));
    let stop = if fraction > 0 {
        behind + 1 + fraction
    } else {
        behind
    };
    is_amount.then(|| Found {
        digits: Some(text[at..stop].replace(' ', "")),
        end: stop,
    })
}

/// Whether a number stands right before: "1200 300", "1.5 200".
fn follows_number(text: &str, start: usize) -> bool {
    let before = text[..start].strip_suffix([' ', '-', '/', ':', ',']);
    let before = before.and_then(|before| before.chars().next_back());
    before.is_some_and(|letter| letter.is_ascii_digit())
}

/// Whether what follows belongs to the digits, or is a number of its own.
fn goes_on(text: &str, end: usize) -> bool {
    let rest = &text[end..];
    let Some(next) = rest.chars().next() else {
        return false;
    };
    if next.is_alphanumeric() {
        let (word, _) = super::word_at(text, end);
        return !is_currency(word);
    }
    let is_digit = rest[next.len_utf8()..].starts_with(|letter: char| letter.is_ascii_digit());
    is_digit && " ,':/".contains(next)
}

/// Whether an amount of money is what begins here: behind a word that leads to one, or at
/// the start of a line.
fn begins_amount(text: &str, start: usize) -> bool {
    let mut before = text[..start]
        .chars()
        .rev()
        .skip_while(|letter| !letter.is_alphanumeric() && *letter != '\n');
    let word: Vec<char> = before
        .by_ref()
        .take_while(|letter| letter.is_alphanumeric())
        .collect();
    let word: String = word.into_iter().rev().collect();
    word.is_empty() || BEFORE.contains(&&*word) || is_currency(&word)
}

/// Whether a currency follows.
fn ends_amount(text: &str, end: usize) -> bool {
    let from = super::behind_blank(text, end);
    let (word, _) = super::word_at(text, from);
    text[from..].starts_with(is_currency_sign) || is_currency(word)
}

fn digits_at(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}
