//! Reads TOML files into plain serde structs and says exactly where a file is wrong: file, line,
//! column, path of the field, reason, and the line itself. It validates nothing beyond the types;
//! each section's owner checks its own values and reports them through the same [`ConfigError`].
//! Called by every binary role at start, and by the coordinator for experiment files.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;

/// Longest part of a source line quoted in an error; a file may well be one line of a megabyte.
const QUOTED_LINE_CHARS: usize = 160;

/// Reads and parses the file at `path`. `T` should carry `#[serde(deny_unknown_fields)]`.
pub fn load<T: DeserializeOwned>(path: impl AsRef<Path>) -> Result<T, ConfigError> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| ConfigError {
        file: name.clone(),
        place: None,
        path: String::new(),
        message: format!("cannot be read: {source}"),
    })?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => parse(&name, text),
        Err(fault) => {
            let start = fault.valid_up_to();
            let readable = String::from_utf8_lossy(&bytes);
            let message = "is not UTF-8 text";
            Err(ConfigError::new(
                &name,
                &readable,
                Some(start..start + 1),
                "",
                message,
            ))
        }
    }
}

/// Parses `text`; `name` stands for the file in errors.
pub fn parse<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, ConfigError> {
    let document = toml::Deserializer::parse(text)
        .map_err(|fault| ConfigError::new(name, text, fault.span(), "", fault.message()))?;
    serde_path_to_error::deserialize(document).map_err(|fault| {
        let path = match fault.path().to_string() {
            root if root == "." => String::new(),
            path => path,
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
            message: message.into().trim().replace('\n', ", "),
        }
    }
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
        write!(out, "{file}:")?;
        if let Some(Place { line, column, .. }) = place {
            write!(out, "{line}:{column}:")?;
        }
        if !path.is_empty() {
            write!(out, " {path}:")?;
        }
        write!(out, " {message}")?;
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
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Experiment {
        repeats: u32,
        #[serde(default)]
        players: Vec<Player>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Player {
        kind: Kind,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Model,
        Rule,
    }

    fn fault(text: &str) -> ConfigError {
        parse::<Experiment>("x.toml", text).expect_err("the text is wrong")
    }

    #[test]
    fn unknown_key_names_place_and_path() {
        let error = fault("repeats = 1\n[[players]]\nkind = \"rule\"\n  colour = 3\n");
        let text = error.to_string();
        let mut lines = text.lines();
        let first = lines.next().unwrap();
        assert!(
            first.starts_with("x.toml:4:3: players[0].colour: unknown field `colour`"),
            "{text}"
        );
        assert_eq!(lines.next().unwrap(), "  4 |   colour = 3");
        assert_eq!(lines.next().unwrap(), "    |   ^^^^^^");
    }

    #[test]
    fn wrong_variant_says_what_would_be_right() {
        let error = fault("repeats = 1\n[[players]]\nkind = \"modl\"\n");
        assert_eq!(error.path, "players[0].kind");
        assert_eq!(
            error.place.as_ref().map(|p| (p.line, p.column, p.width)),
            Some((3, 8, 6))
        );
        assert!(error.message.contains("`model` or `rule`"), "{error}");
    }

    #[test]
    fn wrong_type_and_missing_field_have_a_line() {
        let error = fault("repeats = \"many\"\n");
        assert_eq!(
            (error.path.as_str(), error.place.unwrap().line),
            ("repeats", 1)
        );
        let error = fault("repeats = 1\n[[players]]\n");
        assert!(error.message.contains("missing field `kind`"), "{error}");
        assert_eq!(error.place.unwrap().line, 2);
    }

    #[test]
    fn broken_syntax_is_one_headline_with_its_line() {
        let error = fault("repeats = 1\nplayers = [\n");
        assert!(!error.message.contains('\n'));
        assert!(error.place.is_some(), "{error}");
        assert!(fault("").message.contains("missing field `repeats`"));
    }

    #[test]
    fn unreadable_and_binary_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("none.toml");
        let error = load::<Experiment>(&missing).unwrap_err();
        assert!(
            error.to_string().contains("none.toml: cannot be read: "),
            "{error}"
        );
        let binary = folder.path().join("binary.toml");
        std::fs::write(&binary, b"repeats = 1\nname = \"\xff\"").unwrap();
        let error = load::<Experiment>(&binary).unwrap_err();
        assert_eq!(
            error.place.as_ref().map(|p| (p.line, p.column)),
            Some((2, 9)),
            "{error}"
        );
        std::fs::write(&binary, "repeats = 2").unwrap();
        assert_eq!(
            load::<Experiment>(&binary).unwrap(),
            Experiment {
                repeats: 2,
                players: vec![]
            }
        );
    }

    #[test]
    fn line_column_counts_characters_not_bytes() {
        assert_eq!(line_column("äb\nçd", 0), (1, 1));
        assert_eq!(line_column("äb\nçd", 2), (1, 2));
        assert_eq!(line_column("äb\nçd", 1), (1, 1));
        assert_eq!(line_column("äb\nçd", 6), (2, 2));
        assert_eq!(line_column("äb\nçd", 99), (2, 3));
        assert_eq!(line_column("", 0), (1, 1));
    }

    #[test]
    fn very_long_lines_are_cut() {
        let error = fault(&format!("repeats = \"{}\"\n", "x".repeat(100_000)));
        assert!(
            error.to_string().len() < 100_600,
            "the quoted line is short"
        );
        assert!(error.place.unwrap().source_line.len() < 200);
    }

    #[test]
    fn damaged_text_is_an_error_and_never_a_panic() {
        let whole = "repeats = 3\n[[players]]\nkind = \"rule\" # größer\n";
        assert!(parse::<Experiment>("x.toml", whole).is_ok());
        for cut in (0..whole.len()).filter(|at| whole.is_char_boundary(*at)) {
            let mut tail = whole.len() - cut / 2;
            while !whole.is_char_boundary(tail) {
                tail -= 1;
            }
            for inserted in ["", "\"", "=", "[", "\u{0}", "é\n", "'''"] {
                let text = format!("{}{inserted}{}", &whole[..cut], &whole[tail..]);
                if let Err(error) = parse::<Experiment>("x.toml", &text) {
                    assert!(error.to_string().starts_with("x.toml:"));
                }
            }
        }
        assert!(
            fault(&format!("repeats = {}", "[".repeat(200_000)))
                .place
                .is_some()
        );
    }
}
