//! How much a text holds, and how much it may hold, counted before it is parsed: a parsed value
//! takes up to a hundred times the memory of its text. Whoever reads JSON that others wrote checks
//! it against [`Bounds`] first: recorded games, session records, documents of experiments.

use std::fmt;

/// Bytes, values and tables of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extent {
    /// Bytes, without the blanks between values.
    pub bytes: u64,
    /// Values: entries of lists and of tables.
    pub values: u64,
    /// Tables: each takes some 600 bytes once it is parsed, however little it holds.
    pub tables: u64,
}

/// The most that a text may hold.
pub type Bounds = Extent;

/// The most that the record of one session may hold: whoever plays one stops there, and nobody
/// reads a longer one. 100 MiB are tens of thousands of long replies; parsed, text takes its own
/// length again, values and tables some hundred megabytes at most.
pub const RECORD: Bounds = Bounds {
    bytes: 100 * 1024 * 1024,
    values: 2_000_000,
    tables: 300_000,
};

/// A bound that a text exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct TooLarge {
    /// What there is too much of.
    what: &'static str,
    /// How much of it there is, as far as was counted.
    found: u64,
    /// How much there may be.
    most: u64,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, found, most } = self;
        write!(out, "it has {found} {what}, and {most} are the most")
    }
}

impl TooLarge {
    /// How much of it was found before the count ended.
    pub fn found(&self) -> u64 {
        self.found
    }
}

impl Extent {
    /// How much a JSON text holds. Of a text that is no JSON, at least as much as a parser reads
    /// before it notices.
    pub fn of_json(text: &[u8]) -> Self {
        let mut extent = Self::default();
        let mut rest = text;
        while let Some((byte, behind)) = rest.split_first() {
            rest = behind;
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => continue,
                b'"' => {
                    let passed = rest_of_string(rest);
                    extent.bytes += passed as u64;
                    rest = &rest[passed..];
                }
                b'[' | b',' => extent.values += 1,
                b'{' => {
                    extent.values += 1;
                    extent.tables += 1;
                }
                _ => {}
            }
            extent.bytes += 1;
        }
        extent
    }

    /// Whether a JSON text holds no more than the bounds allow. A text with no more bytes than the
    /// smallest bound is not counted, since each value takes at least one byte.
    ///
    /// # Errors
    /// As [`Extent::within`].
    pub fn check_json(text: &[u8], bounds: &Bounds) -> Result<(), TooLarge> {
        let fewest = bounds.bytes.min(bounds.values).min(bounds.tables);
        match text.len() as u64 <= fewest {
            true => Ok(()),
            false => Self::of_json(text).within(bounds),
        }
    }

    /// # Errors
    /// It is more than the bounds allow; names the first of them.
    pub fn within(&self, bounds: &Bounds) -> Result<(), TooLarge> {
        check("bytes", self.bytes, bounds.bytes)?;
        check("values", self.values, bounds.values)?;
        check("tables", self.tables, bounds.tables)
    }
}

/// Compares one number with its bound.
///
/// # Errors
/// It is more.
pub fn check(what: &'static str, found: u64, most: u64) -> Result<(), TooLarge> {
    if found <= most {
        return Ok(());
    }
    Err(TooLarge { what, found, most })
}

/// The bytes of a string behind its opening quote, with the closing one.
fn rest_of_string(text: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += plain_bytes(&text[at..]);
        match text.get(at) {
            Some(b'"') => return at + 1,
            // What is escaped ends nothing.
            Some(_) => at = (at + 2).min(text.len()),
            None => return at,
        }
    }
}

/// Bytes in front of the first quote or backslash, found eight at a time: most of a long record is
/// text, and every reader of one counts it.
fn plain_bytes(text: &[u8]) -> usize {
    const WORD: usize = size_of::<u64>();
    const EACH: u64 = u64::from_ne_bytes([1; WORD]);
    const HIGHEST: u64 = EACH << 7;
    // Of the bytes that are 0 at least the lowest has its highest bit set in this.
    let zeros = |word: u64| word.wrapping_sub(EACH) & !word & HIGHEST;
    let quotes = EACH * u64::from(b'"');
    let backslashes = EACH * u64::from(b'\\');
    let (words, rest) = text.as_chunks::<WORD>();
    for (place, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ quotes) | zeros(word ^ backslashes);
        if found != 0 {
            return place * WORD + found.trailing_zeros() as usize / 8;
        }
    }
    let ends = |byte: &u8| matches!(byte, b'"' | b'\\');
    let passed = rest.iter().position(ends);
    words.len() * WORD + passed.unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_tables_are_counted_outside_of_strings_and_blanks_are_not() {
        let counted = |text: &str| {
            let extent = Extent::of_json(text.as_bytes());
            (extent.bytes, extent.values, extent.tables)
        };
        assert_eq!(counted(r#"{"a":1}"#), (7, 1, 1));
        assert_eq!(counted("{ \"a\" : [ 1,\n 2 ] }"), (11, 3, 1));
        assert_eq!(counted(r#"["{\"[,{","\\",1]"#), (17, 3, 0));
        assert_eq!(counted(r#""never ends, [{"#), (15, 0, 0));
        assert_eq!(counted(r#""ends with a backslash\"#), (23, 0, 0));
    }

    #[test]
    fn strings_of_any_length_end_where_their_quote_is() {
        for length in 0..40 {
            let text = "[\u{e9}".repeat(length);
            for escaped in ["", r#"\""#, r"\\", r#"\\\""#] {
                let whole = format!("[\"{text}{escaped}{text}\",2]");
                let extent = Extent::of_json(whole.as_bytes());
                assert_eq!(extent.bytes, whole.len() as u64, "{whole}");
                assert_eq!(extent.values, 2, "{whole}");
            }
        }
    }

    #[test]
    fn the_first_bound_that_is_exceeded_is_named_with_both_numbers() {
        let bounds = Bounds {
            bytes: 100,
            values: 2,
            tables: 1,
        };
        assert_eq!(Extent::of_json(b"[1,2]").within(&bounds), Ok(()));
        let error = Extent::of_json(b"[1,2,3]").within(&bounds).unwrap_err();
        assert_eq!(error.to_string(), "it has 3 values, and 2 are the most");
        let error = Extent::of_json(b"{\"a\":{}}").within(&bounds).unwrap_err();
        assert_eq!(error.to_string(), "it has 2 tables, and 1 are the most");
    }

    #[test]
    fn a_text_is_refused_as_soon_as_it_can_hold_more_than_it_may() {
        let bounds = Bounds {
            bytes: 9,
            values: 9,
            tables: 3,
        };
        for (text, refused) in [
            ("{}", None),
            ("[{}]", None),
            ("[{},{},{},{}]", Some("it has 13 bytes, and 9 are the most")),
            ("[ {},  {} ]", None),
            ("{{{{", Some("it has 4 tables, and 3 are the most")),
        ] {
            let checked = Extent::check_json(text.as_bytes(), &bounds);
            assert_eq!(checked, Extent::of_json(text.as_bytes()).within(&bounds));
            assert_eq!(
                checked.err().map(|error| error.to_string()).as_deref(),
                refused
            );
        }
    }
}
