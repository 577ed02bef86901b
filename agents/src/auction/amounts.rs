//! Reads amounts of money from words: with any currency mark, thousands separated by
//! commas or blanks, "2.5k", "twelve hundred", "one thousand two hundred". What could
//! be two amounts is none. Whether an amount is legal is not known here.

use serde_json::Value;

use super::grouped::joined;
use crate::reading::numerals;

/// Largest magnitude that is read: whole numbers beyond it are not exact in JSON
/// (2^53).
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Currency marks and codes that mean nothing here: there is one currency.
pub(super) const CURRENCIES: &[&str] = &[
    "$", "€", "£", "¥", "₹", "₽", "₩", "₿", "usd", "eur", "gbp", "cny", "rmb", "jpy", "dollars",
    "dollar", "euros", "euro", "pounds", "pound", "yuan", "yen", "bucks", "credits", "coins",
    "money",
];

/// The whole amount that a JSON value states: a number, or a text with one.
pub fn amount_of(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Some(whole),
            None => whole(number.as_f64()?),
        },
        Value::String(text) => only_amount(text),
        _ => None,
    }
}

/// The amount of a text that holds nothing else: `$1,200`, `1200 USD`,
/// `twelve hundred`, `2.5k`, `(500)` for a loss.
pub fn only_amount(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches(['.', '!']);
    let inside = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    if let Some(inside) = inside {
        return only_amount(inside).map(|amount| -amount.abs());
    }
    let plain = plain(text);
    let (negative, words) = match plain.trim().strip_prefix(['-', '+']) {
        Some(rest) => (plain.trim().starts_with('-'), rest),
        None => (
            plain.starts_with("minus "),
            plain.trim_start_matches("minus "),
        ),
    };
    let words: Vec<&str> = words.split_whitespace().collect();
    let (amount, used) = amount_at(&words)?;
    if used != words.len() {
        return None;
    }
    whole(if negative { -amount } else { amount })
}

/// A text in which amounts written in words, with "k" behind them or with a
/// currency mark are written in digits; all else stays, in lower case.
pub fn in_digits(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in plain_keeping_lines(text).split('\n') {
        if !out.is_empty() {
            out.push('\n');
        }
        line_in_digits(line, &mut out);
    }
    out
}

fn line_in_digits(line: &str, out: &mut String) {
    let words: Vec<&str> = line.split(' ').collect();
    let bare: Vec<&str> = words.iter().map(|word| trimmed(word)).collect();
    let mut at = 0;
    while at < words.len() {
        if at > 0 {
            out.push(' ');
        }
        let run = run_length(&words[at..], &bare[at..]);
        let found = amount_at(&bare[at..at + run]);
        // Single small words ("one", "two") may be no numbers at all.
        let worth = |used: usize| used > 1 || bare[at].starts_with(|c: char| c.is_ascii_digit());
        match found {
            Some((amount, used)) if worth(used) && amount.fract() == 0.0 => {
                let first = words[at];
                let last = words[at + used - 1];
                out.push_str(&first[..leading(first)]);
                out.push_str(&format!("{amount}"));
                out.push_str(&last[last.len() - trailing(last)..]);
                at += used;
            }
            _ => {
                out.push_str(words[at]);
                at += 1;
            }
        }
    }
}

/// How many words may belong to one amount: up to the first that ends in a mark.
fn run_length(words: &[&str], bare: &[&str]) -> usize {
    // "two thousand, five hundred" is one amount.
    let goes_on = |at: usize| {
        words[at].ends_with("thousand,") && bare.get(at + 2).is_some_and(|word| *word == "hundred")
    };
    let ends = |at: usize| (trailing(words[at]) > 0 && !goes_on(at)) || bare[at].is_empty();
    let end = (0..words.len().min(MOST_WORDS)).find(|at| ends(*at));
    end.map_or(words.len().min(MOST_WORDS), |end| end + 1)
}

fn leading(word: &str) -> usize {
    word.len() - word.trim_start_matches(MARKS).len()
}

fn trailing(word: &str) -> usize {
    word.trim_start_matches(MARKS).len() - trimmed(word).len()
}

/// Words of the longest amount that is read; keeps reading linear.
const MOST_WORDS: usize = 12;

/// Marks that stand around words.
pub(super) const MARKS: &[char] = &[
    '.', ',', '!', '?', ';', ':', '"', '\'', '(', ')', '*', '`', '[', ']', '{', '}',
];

fn trimmed(word: &str) -> &str {
    word.trim_matches(MARKS)
}

/// Lower case, one kind of dash and blank, without currency marks; a number and
/// the unit that hangs on it are two words.
fn plain(text: &str) -> String {
    plain_keeping_lines(text).replace('\n', " ")
}

fn plain_keeping_lines(text: &str) -> String {
    let simple = |letter: char| match letter {
        '\u{2212}' | '\u{2010}'..='\u{2015}' | '\u{ff0d}' => '-',
        '\u{2018}' | '\u{2019}' | '\u{02bc}' => '\'',
        // Full-width digits are digits.
        wide @ '\u{ff10}'..='\u{ff19}' => {
            char::from_digit(u32::from(wide) - 0xff10, 10).unwrap_or(wide)
        }
        other => other,
    };
    let letters: Vec<char> = text
        .chars()
        .flat_map(char::to_lowercase)
        .map(simple)
        .collect();
    let letters = joined(&letters);
    let mut out = String::with_capacity(text.len());
    for (at, letter) in letters.iter().enumerate() {
        let letter = match *letter {
            '\n' => '\n',
            other if other.is_whitespace() => ' ',
            other => other,
        };
        if is_currency_sign(letter) {
            continue;
        }
        let behind_digit = out.ends_with(|last: char| last.is_ascii_digit());
        if behind_digit && is_unit(&letters[at..]) {
            out.push(' ');
        }
        out.push(letter);
    }
    out
}

/// Whether a letter alone is the mark of a currency.
pub(super) fn is_currency_sign(letter: char) -> bool {
    let sign = |known: &&str| !letter.is_ascii() || letter == '$' && known.starts_with('$');
    let mut signs = CURRENCIES.iter().filter(|known| sign(known));
    signs.any(|known| known.starts_with(letter))
}

/// Whether the word at the start of some letters is a unit that may hang on a
/// number ("2k", "1200usd"); the "rd" of "3rd" is none.
fn is_unit(letters: &[char]) -> bool {
    /// Longer than any unit.
    const LONGEST: usize = 10;
    let word: String = letters
        .iter()
        .take(LONGEST)
        .take_while(|letter| letter.is_ascii_alphabetic())
        .collect();
    multiple(&word).is_some() || CURRENCIES.contains(&&*word)
}

/// The amount at the start of a list of words, and how many words it takes.
fn amount_at(words: &[&str]) -> Option<(f64, usize)> {
    let mut sum = 0.0;
    let mut part: Option<f64> = None;
    let mut used = 0;
    let mut digits = false;
    let mut at = 0;
    while at < words.len() {
        let word = words[at];
        if let Some(number) = number(word) {
            if part.is_some() || used > 0 {
                break;
            }
            part = Some(number);
            digits = true;
        } else if let Some(multiple) = multiple(word) {
            let count = part.take();
            if count.is_none() && used > 0 {
                break;
            }
            let value = count.unwrap_or(1.0) * multiple;
            if multiple == HUNDRED && !digits {
                part = Some(value);
            } else {
                sum += value;
            }
            // "1.5k" is complete; "one thousand" may go on.
            if digits {
                used = at + 1;
                break;
            }
        } else if let Some(value) = small(word).filter(|_| !digits) {
            let room = part.unwrap_or(0.0);
            // "twenty five", "two hundred five", but not "five six".
            let fits = room == 0.0 || (room % 100.0 == 0.0) || (room % 10.0 == 0.0 && value < 10.0);
            if !fits {
                break;
            }
            part = Some(room + value);
        } else if word == "and" && used > 0 && !digits {
            let follows = words.get(at + 1).is_some_and(|next| small(next).is_some());
            if !follows {
                break;
            }
            at += 1;
            continue;
        } else {
            break;
        }
        at += 1;
        used = at;
    }
    if used == 0 {
        return None;
    }
    while used < words.len() && CURRENCIES.contains(&words[used]) {
        used += 1;
    }
    Some((sum + part.unwrap_or(0.0), used))
}

const HUNDRED: f64 = 100.0;

fn multiple(word: &str) -> Option<f64> {
    match word {
        "hundred" => Some(HUNDRED),
        "k" | "thousand" | "grand" => Some(1e3),
        "m" | "million" => Some(1e6),
        _ => None,
    }
}

/// A number in digits, thousands separated by commas or not.
fn number(word: &str) -> Option<f64> {
    let word = word.trim_end_matches(",-");
    if !word.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let (whole, rest) = word.split_once('.').unwrap_or((word, ""));
    if !rest.chars().all(|letter| letter.is_ascii_digit()) {
        return None;
    }
    let groups: Vec<&str> = whole.split([',', '_', '\'']).collect();
    let grouped = groups.len() == 1
        || (groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3));
    let digits: String = groups.concat();
    if !grouped || !digits.chars().all(|letter| letter.is_ascii_digit()) {
        return None;
    }
    format!("{digits}.{rest}0").parse().ok()
}

/// A number below a hundred in words.
fn small(word: &str) -> Option<f64> {
    if let Some((tens, ones)) = word.split_once('-') {
        let tens = small(tens).filter(|tens| *tens >= 20.0)?;
        let ones = small(ones).filter(|ones| *ones < 10.0)?;
        return Some(tens + ones);
    }
    let number = numerals::ones(word).or_else(|| numerals::tens(word))?;
    Some(f64::from(number))
}

fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= LARGEST).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_come_in_many_forms() {
        for (text, expected) in [
            ("1200", Some(1200)),
            ("$1,200", Some(1200)),
            ("€ 1,200.00", Some(1200)),
            ("1200 USD", Some(1200)),
            ("1200usd", Some(1200)),
            ("2.5k", Some(2500)),
            ("3K", Some(3000)),
            ("one thousand two hundred", Some(1200)),
            ("twelve hundred", Some(1200)),
            ("twelve hundred and fifty dollars", Some(1250)),
            ("twenty-five hundred", Some(2500)),
            ("two thousand, five hundred", None),
            ("3 thousand", Some(3000)),
            ("-500", Some(-500)),
            ("\u{2212}500", Some(-500)),
            ("minus five hundred", Some(-500)),
            ("(500)", Some(-500)),
            ("１２００", Some(1200)),
            ("1200.", Some(1200)),
            ("1200.5", None),
            ("1.200", None),
            ("1 200", Some(1200)),
            ("$ 1 200", Some(1200)),
            ("-1\u{202f}200", Some(-1200)),
            ("1 200 000", Some(1_200_000)),
            ("1 20", None),
            ("1 2000", None),
            ("1200 300", None),
            ("1 200k", None),
            ("1200 or 1300", None),
            ("2000 - 1100", None),
            ("five six", None),
            ("a lot", None),
            ("", None),
            ("1e999", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(only_amount(text), expected, "{text}");
        }
        assert_eq!(amount_of(&json!(1200.0)), Some(1200));
        assert_eq!(amount_of(&json!(1200.5)), None);
        assert_eq!(amount_of(&json!(true)), None);
        assert_eq!(amount_of(&json!("1,2,3")), None);
    }

    #[test]
    fn words_become_digits_and_the_rest_stays() {
        assert_eq!(
            in_digits("I bid One Thousand two hundred dollars!"),
            "i bid 1200!"
        );
        assert_eq!(
            in_digits("My bid: 2.5k, no more."),
            "my bid: 2500, no more."
        );
        assert_eq!(
            in_digits("No one bid. I bid $1,200!"),
            "no one bid. i bid 1200!"
        );
        assert_eq!(in_digits("a\n\nb £2,000"), "a\n\nb 2000");
    }
}
