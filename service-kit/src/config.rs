//! Reads TOML files into plain serde structs and says exactly where a file is wrong: file, line,
//! column, path of the field, reason, and the line itself. It validates nothing beyond the types;
//! each section's owner checks its own values and reports them through the same [`ConfigError`].
//! Called by every binary role at start, and by the coordinator for experiment files.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use agon_outlets::{line, quoted};
use serde::de::DeserializeOwned;

use crate::files;

pub mod discreet;

/// No configuration is so long.
pub const MOST_BYTES: u64 = 16 << 20;

/// Longest part of a source line quoted in an error; a file may well be one line of a megabyte.
const QUOTED_LINE_CHARS: usize = 160;

/// Reads and parses the file at `path`. `T` should carry `#[serde(deny_unknown_fields)]`.
pub fn load<T: DeserializeOwned>(path: impl AsRef<Path>) -> Result<T, ConfigError> {
    load_with_text(path).map(|(_, parsed)| parsed)
}

/// The same, with the text for whoever has more to say about places in it.
pub fn load_with_text<T: DeserializeOwned>(
    path: impl AsRef<Path>,
) -> Result<(String, T), ConfigError> {
    let path = path.as_ref();
    let name = path.to_string_lossy().into_owned();
    let bytes = files::read_whole(path, MOST_BYTES).map_err(|source| ConfigError {
        file: name.clone(),
        place: None,
        path: String::new(),
        message: format!("cannot be read: {source}"),
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let start = error.utf8_error().valid_up_to();
        let readable = String::from_utf8_lossy(error.as_bytes());
        let message = "is not UTF-8 text";
        ConfigError::new(&name, &readable, Some(start..start + 1), "", message)
    })?;
    let parsed = parse(&name, &text)?;
    Ok((text, parsed))
}

/// Parses `text`; `name` stands for the file in errors.
pub fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, ConfigError> {
    let document = toml::Deserializer::parse(text)
        .map_err(|fault| ConfigError::new(name, text, fault.span(), "", fault.message()))?;
    serde_path_to_error::deserialize(document).map_err(|fault| {
        let path = match fault.path().to_string() {
            root if root == "." => String::new(),
            // A value that keeps its place (`toml::Spanned`) is no field of its own.
            path => path.replace(".$__serde_spanned_private_value", ""),
        };
        let inner = fault.inner();
        ConfigError::new(name, text, inner.span(), &path, inner.message())
    })
}

/// One fault of a configuration file. Prints as `file:line:column: path.to.field: what is wrong`
/// followed by the source line with the fault underlined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, as the user named it.
    pub file: String,
    /// Where in the file; absent when the file could not be read at all.
    pub place: Option<Place>,
    /// The field, as `players.1.kind`; empty when the fault is not of one field.
    pub path: String,
    /// What is wrong, and where possible what would be right.
    pub message: String,
}

/// A place in a text file, with what stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// How many characters of the line are at fault, at least 1.
    pub width: usize,
    /// The line, shortened when it is very long.
    pub source_line: String,
}

impl ConfigError {
    /// A fault at the bytes `span` of `text`. For values that parse but make no sense: keep them
    /// as `toml::Spanned` to have their span.
    pub fn new(
        file: &str,
        text: &str,
        span: Option<Range<usize>>,
        path: &str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            file: file.to_owned(),
            place: span.map(|span| Place::of(text, span)),
            path: path.to_owned(),
            // Parsers break their messages over lines; the first line must say it all.
            message: in_words(message.into().trim().replace('\n', ", ")),
        }
    }
}

/// A parser's message, with what TOML calls it in place of the name of a type of this program.
fn in_words(message: String) -> String {
    let Some((fault, expected)) = message.rsplit_once(", expected ") else {
        return message;
    };
    let words = match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a map" => "a table",
        "a sequence" => "a list",
        name if name.starts_with("struct ") => "a table",
        _ => return message,
    };
    format!("{fault}, expected {words}")
}

impl Place {
    fn of(text: &str, span: Range<usize>) -> Self {
        let (line, column) = line_column(text, span.start);
        let whole = text
            .split('\n')
            .nth(line - 1)
            .unwrap_or("")
            .trim_end_matches('\r');
        let source_line: String = if whole.chars().count() > QUOTED_LINE_CHARS {
            whole
                .chars()
                .take(QUOTED_LINE_CHARS)
                .chain("...".chars())
                .collect()
        } else {
            whole.to_owned()
        };
        let source_line = quoted(&discreet::masked(&source_line));
        let rest_of_line = source_line.chars().count().saturating_sub(column - 1);
        let (end_line, end_column) = line_column(text, span.end);
        let width = if end_line == line {
            end_column.saturating_sub(column)
        } else {
            rest_of_line
        };
        Self {
            line,
            column,
            width: width.min(rest_of_line).max(1),
            source_line,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            place,
            path,
            message,
        } = self;
        write!(out, "{}:", line(file))?;
        if let Some(Place { line, column, .. }) = place {
            write!(out, "{line}:{column}:")?;
        }
        if !path.is_empty() {
            write!(out, " {}:", line(path))?;
        }
        write!(out, " {}", line(message))?;
        let Some(Place {
            line,
            column,
            width,
            source_line,
        }) = place
        else {
            return Ok(());
        };
        // Tabs stay tabs under the line, or the mark would stand in the wrong place.
        let lead: String = source_line
            .chars()
            .take(column - 1)
            .map(|c| if c == '\t' { c } else { ' ' })
            .collect();
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        let mark = "^".repeat(*width);
        write!(out, "\n  {number} | {source_line}\n  {margin} | ")?;
        if *column <= QUOTED_LINE_CHARS {
            write!(out, "{lead}{mark}")
        } else {
            write!(out, "...")
        }
    }
}

impl std::error::Error for ConfigError {}

/// Line and column (in characters), both counted from 1, of a byte of `text`. An offset past the
/// end means the end; one inside a character means that character.
pub fn line_column(text: &str, byte_offset: usize) -> (usize, usize) {
    let mut offset = byte_offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests;
