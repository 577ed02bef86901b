//! A parser for the JSON that models write: forgiving where the meaning is plain, and
//! bounded in depth and work, so that no text can exhaust a worker. What it forgives is
//! counted as a [`Repair`].

use agon_engine::numerals;
use serde_json::Number;

use super::json::{Json, Object};

/// Deepest nesting that is followed; answers need three levels.
const DEEPEST: usize = 8;

/// What had to be mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repair {
    /// Strings in single or typographic quotation marks.
    Quotes,
    /// A comma before a closing bracket.
    TrailingComma,
    /// Comments.
    Comment,
    /// `None`, `True`, `False`.
    PythonWord,
    /// Keys without quotation marks.
    BareKey,
}

impl Repair {
    /// Its name in notes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quotes => "quotes",
            Self::TrailingComma => "trailing_comma",
            Self::Comment => "comment",
            Self::PythonWord => "python_word",
            Self::BareKey => "bare_key",
        }
    }
}

/// Parses JSON out of the middle of a text.
pub struct Parser<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    depth: usize,
    /// Steps left for the whole text: parsing starts anew at many places, and
    /// this bounds their sum.
    steps: usize,
    repairs: Vec<Repair>,
}

impl<'a> Parser<'a> {
    /// A parser of a text that may take `steps` steps in all.
    pub fn new(text: &'a str, steps: usize) -> Self {
        Self {
            bytes: text.as_bytes(),
            text,
            at: 0,
            depth: 0,
            steps,
            repairs: Vec::new(),
        }
    }

    /// Parses the object or array that starts at a byte; returns it with the
    /// place behind it and the repairs it took, or nothing.
    pub fn parse_at(&mut self, start: usize) -> Option<(Json, usize, Vec<Repair>)> {
        self.at = start;
        self.depth = 0;
        self.repairs.clear();
        let value = self.value()?;
        self.repairs.sort_unstable();
        self.repairs.dedup();
        Some((value, self.at, self.repairs.clone()))
    }

    fn value(&mut self) -> Option<Json> {
        self.blanks()?;
        match self.peek()? {
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::array),
            b'-' | b'+' | b'.' | b'0'..=b'9' => self.number(),
            _ => match self.string() {
                Some(string) => Some(Json::String(string)),
                None => self.word(),
            },
        }
    }

    fn nested(&mut self, parse: fn(&mut Self) -> Option<Json>) -> Option<Json> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        self.at += 1;
        let value = parse(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Option<Json> {
        let mut object = Object::default();
        loop {
            self.blanks()?;
            if self.take(b'}') {
                self.forgive_if(!object.is_empty(), Repair::TrailingComma);
                return Some(Json::Object(object));
            }
            let key = match self.string() {
                Some(key) => key,
                None => self.bare_key()?,
            };
            self.blanks()?;
            if !self.take(b':') {
                return None;
            }
            let value = self.value()?;
            object.push(key, value);
            self.blanks()?;
            if self.take(b'}') {
                return Some(Json::Object(object));
            }
            if !self.take(b',') {
                return None;
            }
        }
    }

    fn array(&mut self) -> Option<Json> {
        let mut items = Vec::new();
        loop {
            self.blanks()?;
            if self.take(b']') {
                self.forgive_if(!items.is_empty(), Repair::TrailingComma);
                return Some(Json::Array(items));
            }
            items.push(self.value()?);
            self.blanks()?;
            if self.take(b']') {
                return Some(Json::Array(items));
            }
            if !self.take(b',') {
                return None;
            }
        }
    }

    /// A string in any quotation marks; nothing, and no move, when none starts
    /// here or it does not end.
    fn string(&mut self) -> Option<String> {
        let rest = &self.text[self.at..];
        let mark = rest.chars().next()?;
        let closing: &[char] = match mark {
            '"' => &['"'],
            '\'' => &['\''],
            '\u{201c}' | '\u{201d}' => &['\u{201c}', '\u{201d}'],
            '\u{2018}' | '\u{2019}' => &['\u{2018}', '\u{2019}'],
            _ => return None,
        };
        let mut string = String::new();
        let mut letters = rest.char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            self.step()?;
            if closing.contains(&letter) {
                self.at += at + letter.len_utf8();
                self.forgive_if(mark != '"', Repair::Quotes);
                return Some(string);
            }
            if letter != '\\' {
                string.push(letter);
                continue;
            }
            match letters.next()?.1 {
                'n' => string.push('\n'),
                't' => string.push('\t'),
                'r' => string.push('\r'),
                'u' => string.push(unicode(&mut letters)),
                other => string.push(other),
            }
        }
        None
    }

    fn number(&mut self) -> Option<Json> {
        let start = self.at;
        while self.peek().is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_')
        }) {
            self.step()?;
            self.at += 1;
        }
        let digits = self.text[start..self.at].trim_start_matches('+');
        if digits.contains('_') {
            // "1_250", as Python writes thousands.
            let numeral = numerals::only(digits)?;
            return numeral.whole().map(|whole| Json::Number(whole.into()));
        }
        if let Ok(whole) = digits.parse::<i64>() {
            return Some(Json::Number(whole.into()));
        }
        // Rust also reads "inf" and "nan"; numbers of JSON are finite.
        Number::from_f64(digits.parse().ok()?).map(Json::Number)
    }

    fn word(&mut self) -> Option<Json> {
        let start = self.at;
        let word = self.bare_word()?;
        Some(match word {
            "null" => Json::Null,
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            "None" | "True" | "False" => {
                self.repairs.push(Repair::PythonWord);
                match word {
                    "None" => Json::Null,
                    word => Json::Bool(word == "True"),
                }
            }
            _ => {
                self.at = start;
                return None;
            }
        })
    }

    fn bare_key(&mut self) -> Option<String> {
        let key = self.bare_word()?.to_owned();
        self.repairs.push(Repair::BareKey);
        Some(key)
    }

    fn bare_word(&mut self) -> Option<&'a str> {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            self.step()?;
            self.at += 1;
        }
        (self.at > start).then(|| &self.text[start..self.at])
    }

    /// Skips blanks and comments.
    fn blanks(&mut self) -> Option<()> {
        loop {
            self.step()?;
            let rest = &self.text[self.at..];
            let letter = rest.chars().next();
            if let Some(blank) = letter.filter(|letter| letter.is_whitespace()) {
                self.at += blank.len_utf8();
            } else if rest.starts_with("//") || rest.starts_with('#') {
                self.skip(rest.find('\n').unwrap_or(rest.len()))?;
            } else if rest.starts_with("/*") {
                // Looking for an end that is not there is work, too.
                let end = rest.find("*/").map_or(rest.len(), |end| end + 2);
                self.skip(end)?;
            } else {
                return Some(());
            }
        }
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        self.steps = self.steps.checked_sub(length)?;
        self.at += length;
        self.repairs.push(Repair::Comment);
        Some(())
    }

    fn step(&mut self) -> Option<()> {
        self.steps = self.steps.checked_sub(1)?;
        Some(())
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn forgive_if(&mut self, needed: bool, repair: Repair) {
        if needed {
            self.repairs.push(repair);
        }
    }
}

/// The letter of a `\uXXXX`; half of a pair, or nonsense, is shown as such.
fn unicode(letters: &mut impl Iterator<Item = (usize, char)>) -> char {
    let code: String = letters.take(4).map(|(_, digit)| digit).collect();
    let code = u32::from_str_radix(&code, 16).ok();
    code.and_then(char::from_u32)
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}
