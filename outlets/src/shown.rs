//! How text of others is shown, by outlet. What is escaped is the same for all of them; how, is each
//! outlet's own.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::path::Path;

/// One line of a terminal, a log or a message: whatever would not be seen as what it is, line
/// breaks included, is written as in a Rust string (`\n`, `\u{1b}`).
pub fn line(text: &str) -> Line<'_> {
    Line {
        text: text.into(),
        breaks: Breaks::Escaped,
    }
}

/// Text of several lines: as [`line`](line()), but line breaks and tabs stay. For text that Agon
/// composed; foreign parts of it went through [`line`](line()) before.
pub fn lines(text: &str) -> Line<'_> {
    Line {
        text: text.into(),
        breaks: Breaks::Kept,
    }
}

/// What stands in messages and was named by others.
pub trait InLine {
    /// The name as [`line`](line()) shows it.
    fn in_line(&self) -> Line<'_>;
}

impl InLine for Path {
    fn in_line(&self) -> Line<'_> {
        Line {
            text: self.to_string_lossy(),
            breaks: Breaks::Escaped,
        }
    }
}

impl InLine for str {
    fn in_line(&self) -> Line<'_> {
        line(self)
    }
}

/// A line of a file, shown with marks under it: what cannot be seen becomes one sign of the same
/// width. Tabs stay.
pub fn quoted(source_line: &str) -> String {
    let sign = |letter| match letter {
        '\t' => letter,
        letter if is_hidden(letter) => char::REPLACEMENT_CHARACTER,
        letter => letter,
    };
    source_line.chars().map(sign).collect()
}

/// A cell of a CSV file. What a spreadsheet would run as a formula (it begins with `=`, `+`, `-` or
/// `@` and is no negative number) gets an apostrophe before it, which spreadsheets read as "this is
/// text"; the rest is as in [`line`](line()).
pub fn cell(text: &str) -> String {
    let shown = line(text);
    match is_formula(text) {
        true => format!("'{shown}"),
        false => shown.to_string(),
    }
}

/// JSON text, which stays the same JSON: what [`lines`] would escape can only stand inside its
/// strings, and is escaped there as JSON does it.
pub fn json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_kept_out_of_lines) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_kept_out_of_lines(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(letter);
        }
    }
    Cow::Owned(safe)
}

/// Text that is safe to print; see [`line`](line()) and [`lines`].
pub struct Line<'a> {
    text: Cow<'a, str>,
    breaks: Breaks,
}

#[derive(Clone, Copy, PartialEq)]
enum Breaks {
    Escaped,
    Kept,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_hidden = match self.breaks {
            Breaks::Escaped => is_hidden,
            Breaks::Kept => is_kept_out_of_lines,
        };
        let mut rest = &*self.text;
        while let Some(at) = rest.find(is_hidden) {
            let (plain, from) = rest.split_at(at);
            let mut letters = from.chars();
            let hidden = letters.next().map(char::escape_default);
            out.write_str(plain)?;
            hidden
                .into_iter()
                .flatten()
                .try_for_each(|letter| out.write_char(letter))?;
            rest = letters.as_str();
        }
        out.write_str(rest)
    }
}

pub(crate) fn is_kept_out_of_lines(letter: char) -> bool {
    !matches!(letter, '\n' | '\t') && is_hidden(letter)
}

/// Control characters (C0, DEL, C1), and the characters of Unicode's general category Cf that turn
/// the direction of text or cannot be seen. Joiners between letters and emoji stay.
pub(crate) fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Spreadsheets look past white space, and some read full-width signs as signs.
fn is_formula(text: &str) -> bool {
    let trimmed = text.trim_start();
    match trimmed.chars().next() {
        Some('-') => trimmed.parse::<f64>().is_err(),
        Some(first) => "=+@\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}\u{2212}|".contains(first),
        None => false,
    }
}
