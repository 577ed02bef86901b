//! A parser for the JSON that models write: forgiving where the meaning is plain,
//! and bounded in depth and work, so that no text can exhaust a worker.
//!
//! What it forgives is counted as a [`Repair`]. Objects and arrays keep only what
//! an answer can be read from.

use serde_json::{Map, Number, Value};

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
    pub fn parse_at(&mut self, start: usize) -> Option<(Value, usize, Vec<Repair>)> {
        self.at = start;
        self.depth = 0;
        self.repairs.clear();
        let value = self.value()?;
        self.repairs.sort_unstable();
        self.repairs.dedup();
        Some((value, self.at, self.repairs.clone()))
    }

    fn value(&mut self) -> Option<Value> {
        self.blanks()?;
        match self.peek()? {
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::array),
            b'-' | b'+' | b'.' | b'0'..=b'9' => self.number(),
            _ => match self.string() {
                Some(string) => Some(Value::String(string)),
                None => self.word(),
            },
        }
    }

    fn nested(&mut self, parse: fn(&mut Self) -> Option<Value>) -> Option<Value> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        self.at += 1;
        let value = parse(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Option<Value> {
        let mut map = Map::new();
        loop {
            self.blanks()?;
            if self.take(b'}') {
                self.forgive_if(!map.is_empty(), Repair::TrailingComma);
                return Some(Value::Object(map));
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
            map.insert(key, value);
            self.blanks()?;
            if self.take(b'}') {
                return Some(Value::Object(map));
            }
            if !self.take(b',') {
                return None;
            }
        }
    }

    fn array(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        loop {
            self.blanks()?;
            if self.take(b']') {
                self.forgive_if(!items.is_empty(), Repair::TrailingComma);
                return Some(Value::Array(items));
            }
            items.push(self.value()?);
            self.blanks()?;
            if self.take(b']') {
                return Some(Value::Array(items));
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

    fn number(&mut self) -> Option<Value> {
        let start = self.at;
        while self.peek().is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_')
        }) {
            self.step()?;
            self.at += 1;
        }
        let digits = self.text[start..self.at]
            .trim_start_matches('+')
            .replace('_', "");
        if let Ok(whole) = digits.parse::<i64>() {
            return Some(Value::from(whole));
        }
        // Rust also reads "inf" and "nan"; numbers of JSON are finite.
        Number::from_f64(digits.parse().ok()?).map(Value::Number)
    }

    fn word(&mut self) -> Option<Value> {
        let start = self.at;
        let word = self.bare_word()?;
        Some(match word {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "None" | "True" | "False" => {
                self.repairs.push(Repair::PythonWord);
                match word {
                    "None" => Value::Null,
                    word => Value::Bool(word == "True"),
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

/// The values of an object whose keys are numbered ("player_0", "1", "3rd"),
/// whole numbers all, in the order of those numbers.
pub fn amounts_by_number(map: &Map<String, Value>) -> Option<Vec<i64>> {
    let mut numbered = Vec::with_capacity(map.len());
    for (key, value) in map {
        let digits: String = key
            .chars()
            .skip_while(|letter| !letter.is_ascii_digit())
            .take_while(char::is_ascii_digit)
            .collect();
        numbered.push((digits.parse::<u64>().ok()?, value.as_i64()?));
    }
    numbered.sort_unstable();
    let distinct = numbered.windows(2).all(|pair| pair[0].0 != pair[1].0);
    distinct.then(|| numbered.into_iter().map(|(_, amount)| amount).collect())
}
