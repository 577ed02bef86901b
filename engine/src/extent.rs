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
/// reads a longer one. The longest that are played have a few megabytes; parsed, the largest takes
/// some hundred megabytes.
pub const RECORD: Bounds = Bounds {
    bytes: 32 * 1024 * 1024,
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
        let mut rest = text.iter();
        while let Some(byte) = rest.next() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => continue,
                b'"' => extent.bytes += rest_of_string(&mut rest),
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

/// Passes over a string whose opening quote was read; says how many bytes that were.
fn rest_of_string(rest: &mut std::slice::Iter<'_, u8>) -> u64 {
    let mut passed = 0;
    while let Some(byte) = rest.next() {
        passed += 1;
        match byte {
            b'"' => break,
            b'\\' => passed += u64::from(rest.next().is_some()),
            _ => {}
        }
    }
    passed
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
}
