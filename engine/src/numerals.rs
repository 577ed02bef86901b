//! Numbers as people and models write them in English: the one place that knows what is a
//! number and what it comes to. Digits with thousands set apart and with a currency,
//! multiples ("2.5k", "3 million"), percentages, ratios, and words ("twelve hundred and
//! fifty dollars"). A number that could be read in two ways ("12,5", "1,2,3") is none.
//! Called by forms, by readers of replies and by whoever takes what a person typed.

mod marks;
mod words;

use marks::{digit_run, grouped_by_blanks};

/// Largest magnitude at which every whole f64 is exact (2^53).
const EXACT_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Signs of currencies. They mean nothing here: there is one currency.
const CURRENCY_SIGNS: [char; 8] = ['$', '€', '£', '¥', '₹', '₽', '₩', '₿'];

/// Names and codes of currencies.
const CURRENCIES: [&str; 16] = [
    "dollars", "dollar", "bucks", "buck", "usd", "eur", "euros", "euro", "gbp", "pounds", "pound",
    "yuan", "cny", "rmb", "yen", "jpy",
];

/// Letters and words that multiply a number in digits, with the power of ten.
const MULTIPLES: [(&str, i32); 6] = [
    ("hundred", 2),
    ("k", 3),
    ("thousand", 3),
    ("grand", 3),
    ("m", 6),
    ("million", 6),
];

/// A number that a text states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Numeral {
    /// What it comes to: the closest f64, always finite; 60 for 60%, 0.5 for 1/2.
    pub value: f64,
    /// What kind of number it is.
    pub sort: Sort,
    /// Whether it is in words.
    pub is_spelled: bool,
}

/// What kind of number a numeral is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A number by itself.
    Plain,
    /// One with a currency.
    Money,
    /// One with a percent sign, or the word.
    Percent,
    /// Two numbers with a stroke between them, divided.
    Ratio,
}

impl Numeral {
    /// The whole number that it is, if it is one that an f64 holds exactly.
    pub fn whole(&self) -> Option<i64> {
        let counts = matches!(self.sort, Sort::Plain | Sort::Money);
        whole(self.value).filter(|_| counts)
    }
}

/// A whole number, if this is one that an f64 holds exactly.
pub fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() <= EXACT_WHOLE).then_some(value as i64)
}

/// What begins at a place of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scanned {
    /// The number; `None` for digits or words that make no single one.
    pub numeral: Option<Numeral>,
    /// The place behind it, in bytes.
    pub end: usize,
}

/// What a comma right between two digits may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commas {
    /// Set thousands apart.
    Group,
    /// Stand between two numbers of a list: "0,100,0".
    Separate,
}

/// The number that a text states and nothing besides: `$1,200`, `1200 USD`, `twelve
/// hundred`, `2.5k`, `(500)` for a loss.
pub fn only(text: &str) -> Option<Numeral> {
    let simple: String = text.trim().chars().flat_map(simplified).collect();
    let text = simple.trim_end_matches(['!', '.', ' ']);
    let inside = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    if let Some(inside) = inside {
        let numeral = only(inside)?;
        let value = -numeral.value.abs();
        return Some(Numeral { value, ..numeral });
    }
    let codes = CURRENCIES.iter();
    let behind_code = codes.filter_map(|code| text.strip_prefix(code)?.strip_prefix(' '));
    let text = behind_code.map(str::trim_start).next().unwrap_or(text);
    let scanned = scan(text, 0, Commas::Group)?;
    let all = scanned.end == text.len();
    scanned.numeral.filter(|_| all)
}

/// The number that begins at a place of a text in simple letters (see [`simplified`]);
/// `None` where none does. Takes time that grows with the length of what it returns.
pub fn scan(text: &str, start: usize, commas: Commas) -> Option<Scanned> {
    let before = text[..start].chars().next_back();
    if before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
        return None;
    }
    let (is_negative, at) = sign(text, start, before);
    let behind_currency = currency_sign(text, at);
    let (is_negative, at, is_money) = match behind_currency {
        Some(behind) => {
            let (also, behind) = sign(text, behind, None);
            (is_negative != also, behind, true)
        }
        None => (is_negative, at, before.is_some_and(is_currency_sign)),
    };
    let (found, is_spelled) = match digit_run(text, at, commas) {
        Some(run) => {
            let grouped = grouped_by_blanks(text, start, at, run.end);
            let grouped = grouped.filter(|_| run.digits.is_some());
            (grouped.unwrap_or(run), false)
        }
        None => (words::spelled(text, at)?, true),
    };
    let Found { digits, end } = found;
    match digits {
        Some(digits) => finish(text, &digits, end, is_spelled, (is_negative, is_money)),
        None => Some(Scanned { numeral: None, end }),
    }
}

/// Lower case, one kind of digit, apostrophe and dash; numbers are looked for in text of
/// such letters. Blanks that hold the groups of a number together stay what they are.
pub fn simplified(letter: char) -> impl Iterator<Item = char> {
    letter.to_lowercase().map(|letter| match letter {
        '\u{2018}' | '\u{2019}' | '\u{02bc}' => '\'',
        '\u{2212}' | '\u{2010}'..='\u{2015}' | '\u{ff0d}' => '-',
        wide @ '\u{ff10}'..='\u{ff19}' => {
            char::from_digit(u32::from(wide) - 0xff10, 10).unwrap_or(wide)
        }
        other => other,
    })
}

/// Digits that belong together, or words that stand for them.
struct Found {
    /// Without marks but the point of a fraction; `None` when they make no single number.
    digits: Option<String>,
    /// The place behind them.
    end: usize,
}

/// Reads what follows the digits: a multiple, cents, a currency, a percent sign, a divisor.
fn finish(
    text: &str,
    digits: &str,
    end: usize,
    is_spelled: bool,
    (is_negative, is_money): (bool, bool),
) -> Option<Scanned> {
    // "Two and a half thousand"; other multiples are among the words.
    let is_nothing = !is_spelled && digits.starts_with('0') && !digits.contains('.');
    let may_multiply = (!is_spelled || digits.contains('.')) && !is_nothing;
    let multiple = multiple(text, end).filter(|_| may_multiply);
    let (power, end) = multiple.unwrap_or((0, end));
    // "3rd" and "2x" are words, "12:30" a time.
    let glued = text[end..].chars().next();
    let unit = currency_word(text, end);
    let is_word = glued.is_some_and(|letter| letter.is_alphabetic() || letter == '_');
    if is_word && !is_spelled && unit.is_none() && percent(text, end).is_none() {
        return None;
    }
    let mut numeral = Numeral {
        value: value(digits, power).unwrap_or(f64::INFINITY),
        sort: if is_money || unit.is_some() {
            Sort::Money
        } else {
            Sort::Plain
        },
        is_spelled,
    };
    let mut end = unit.unwrap_or(end);
    if let Some(behind) = percent(text, end) {
        (numeral.sort, end) = (Sort::Percent, behind);
    } else if let Some((divisor, behind)) = divisor(text, end) {
        numeral.value /= divisor;
        (numeral.sort, end) = (Sort::Ratio, behind);
    } else if let Some((parts, behind)) = words::ordinal(text, end).filter(|_| is_spelled) {
        let is_ratio = parts.is_plural || numeral.value == 1.0;
        numeral.value = if is_ratio {
            numeral.value / parts.divisor
        } else {
            f64::INFINITY
        };
        (numeral.sort, end) = (Sort::Ratio, behind);
    } else if let Some(behind) = cents_word(text, end).filter(|_| !is_money && unit.is_none()) {
        numeral.value = value(digits, power - 2).unwrap_or(f64::INFINITY);
        (numeral.sort, end) = (Sort::Money, behind);
    } else if let Some((cents, behind)) = cents_behind(text, end).filter(|_| power == 0) {
        let sum = format!("{digits}.{cents:02}");
        let is_whole = !digits.contains('.');
        numeral.value = value(&sum, 0).filter(|_| is_whole).unwrap_or(f64::INFINITY);
        (numeral.sort, end) = (Sort::Money, behind);
    }
    if is_negative {
        numeral.value = -numeral.value;
    }
    let numeral = Some(numeral).filter(|numeral| numeral.value.is_finite());
    Some(Scanned { numeral, end })
}

/// The closest f64 to digits times a power of ten, if it is finite.
fn value(digits: &str, power: i32) -> Option<f64> {
    let value: f64 = format!("{digits}e{power}").parse().ok()?;
    value.is_finite().then_some(value)
}

/// A sign at a place, as a mark or a word: whether it is one of below zero, and the place
/// behind it.
fn sign(text: &str, at: usize, before: Option<char>) -> (bool, usize) {
    let rest = &text[at..];
    if let Some(length) = ["minus ", "negative "]
        .iter()
        .find_map(|word| rest.starts_with(word).then_some(word.len()))
    {
        return (true, at + length);
    }
    let follows = rest.chars().nth(1);
    let number = |letter: char| letter.is_ascii_digit() || ".$€£¥₹".contains(letter);
    let is_sign = rest.starts_with(['-', '+'])
        && !matches!(before, Some(')' | '%'))
        && follows.is_some_and(number);
    (is_sign && rest.starts_with('-'), at + usize::from(is_sign))
}

/// The place behind the sign of a currency, and a blank, with a number behind it.
fn currency_sign(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let sign = rest.chars().next()?;
    let behind = &rest[sign.len_utf8()..];
    let number = behind.strip_prefix(' ').unwrap_or(behind);
    let is_number =
        number.starts_with(|letter: char| letter.is_ascii_digit() || "-+.".contains(letter));
    (CURRENCY_SIGNS.contains(&sign) && is_number).then(|| at + rest.len() - number.len())
}

/// Whether a letter is the sign of a currency.
pub fn is_currency_sign(letter: char) -> bool {
    CURRENCY_SIGNS.contains(&letter)
}

/// Whether a word is the name or the code of a currency.
pub fn is_currency(word: &str) -> bool {
    CURRENCIES.contains(&word)
}

/// The place behind a currency that follows a number: "40 dollars", "40 usd", "40$".
fn currency_word(text: &str, at: usize) -> Option<usize> {
    let from = behind_blank(text, at);
    let rest = &text[from..];
    let sign = rest.chars().next()?;
    let next = rest[sign.len_utf8()..].chars().next();
    if CURRENCY_SIGNS.contains(&sign) && !next.is_some_and(|next| next.is_ascii_digit()) {
        return Some(from + sign.len_utf8());
    }
    let (word, end) = word_at(text, from);
    if word == "us" {
        let (word, end) = word_at(text, behind_blank(text, end));
        return is_currency(word).then_some(end);
    }
    is_currency(word).then_some(end)
}

/// A power of ten behind a number in digits, and the place behind that.
fn multiple(text: &str, at: usize) -> Option<(i32, usize)> {
    let (word, end) = word_at(text, behind_blank(text, at));
    // "5 m" is five metres to most.
    let glued = end - at == word.len();
    let known = MULTIPLES.iter().find(|(name, _)| *name == word);
    known
        .filter(|(name, _)| glued || name.len() > 1 || *name == "k")
        .map(|(_, power)| (*power, end))
}

fn percent(text: &str, at: usize) -> Option<usize> {
    let from = behind_blank(text, at);
    if text[from..].starts_with('%') {
        return Some(from + 1);
    }
    let (word, end) = word_at(text, from);
    matches!(word, "percent" | "pct" | "percentage").then_some(end)
}

/// A divisor right behind a stroke.
fn divisor(text: &str, at: usize) -> Option<(f64, usize)> {
    let digits = text[at..].strip_prefix('/')?;
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let value: f64 = digits[..length].parse().ok()?;
    (value != 0.0 && value.is_finite()).then_some((value, at + 1 + length))
}

/// The place behind "cents" or its sign.
fn cents_word(text: &str, at: usize) -> Option<usize> {
    if text[at..].starts_with('¢') {
        return Some(at + '¢'.len_utf8());
    }
    let (word, end) = word_at(text, behind_blank(text, at));
    matches!(word, "cents" | "cent").then_some(end)
}

/// "and 50 cents" behind dollars: how many, and the place behind.
fn cents_behind(text: &str, at: usize) -> Option<(u64, usize)> {
    let rest = text.get(at..)?;
    let number = rest
        .strip_prefix(" and ")
        .or_else(|| rest.strip_prefix(", "))?;
    let from = text.len() - number.len();
    let found = digit_run(text, from, Commas::Group).or_else(|| words::spelled(text, from))?;
    let cents: u64 = found.digits?.parse().ok()?;
    let behind = cents_word(text, found.end)?;
    (1..100).contains(&cents).then_some((cents, behind))
}

/// The place behind one blank or hyphen.
fn behind_blank(text: &str, at: usize) -> usize {
    let blank = [' ', '\u{a0}', '\u{202f}', '\u{2009}', '-'];
    let first = text[at..]
        .chars()
        .next()
        .filter(|letter| blank.contains(letter));
    at + first.map_or(0, char::len_utf8)
}

/// The word of letters at a place, and the place behind it; empty where none is.
fn word_at(text: &str, at: usize) -> (&str, usize) {
    let rest = &text[at..];
    let length = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let word = &rest[..length.unwrap_or(rest.len())];
    (word, at + word.len())
}

#[cfg(test)]
mod tests;
