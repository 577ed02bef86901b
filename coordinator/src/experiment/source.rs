//! From TOML text to a plain tree, and back from a path of that tree to its place in the text.
//!
//! Knows TOML and nothing about experiments, except that grids may be written with or without
//! quotes (`"params.ratio" = [..]` or `params.ratio = [..]`): both become one flat key. Places
//! are looked up when something is wrong there, so a good file pays nothing for them.

use std::collections::BTreeMap;
use std::ops::Range;

use agon_engine::extent::{self, Extent, TooLarge};
use agon_service_kit::config::ConfigError;
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml_parser::lexer::TokenKind;

use super::limits::{DOCUMENT, MOST_TOKENS};
use super::path::{Step, TreePath};

/// More than anybody mends at once.
const MOST_ERRORS: usize = 50;

/// Of a longer text only the first error is told: parsers list the others by the million.
const LONGEST_WITH_ALL_ERRORS: usize = 64 * 1024;

/// A parsed file.
#[derive(Debug, Clone)]
pub struct Source {
    /// What it says.
    pub tree: Value,
    /// What does not stand in the file.
    pub flags: Flags,
}

/// The values that come from flags of the command line, as the user wrote them.
#[derive(Debug, Clone, Default)]
pub struct Flags(BTreeMap<TreePath, String>);

impl Flags {
    /// Notes that a value, and everything inside it, comes from a flag.
    pub fn set(&mut self, path: TreePath, flag: &str) {
        self.0.retain(|held, _| held.after(&path).is_none());
        self.0.insert(path, flag.to_owned());
    }

    /// The flag that a value comes from.
    pub fn find(&self, path: &TreePath) -> Option<&str> {
        let mut path = path.clone();
        loop {
            if let Some(flag) = self.0.get(&path) {
                return Some(flag);
            }
            path = path.parent()?;
        }
    }
}

/// Where one value, or the nearest thing around it, stands in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// What stands there.
    pub path: TreePath,
    /// The bytes of the key; empty for the whole file.
    pub key: Range<usize>,
    /// The bytes of the value.
    pub value: Range<usize>,
}

/// A text in which places are looked up.
pub struct Places<'a>(DeTable<'a>);

impl<'a> Places<'a> {
    /// Reads a text that was parsed before.
    pub fn of(text: &'a str) -> Self {
        let document = DeTable::parse(text).map(Spanned::into_inner);
        Self(document.unwrap_or_default())
    }

    /// The place of a value, or of the nearest thing around it.
    pub fn find(&self, path: &TreePath) -> Place {
        let mut place = Place::default();
        let mut here = Node::Table(&self.0);
        for step in path.steps() {
            let Some((key, value)) = here.step(step, is_grid(&place.path)) else {
                break;
            };
            place = Place {
                path: place.path.join(std::slice::from_ref(step)),
                key,
                value: value.span(),
            };
            here = match value.get_ref() {
                DeValue::Table(table) => Node::Table(table),
                other => Node::Value(other),
            };
        }
        place
    }
}

/// What a step leads from.
enum Node<'d, 'a> {
    Table(&'d DeTable<'a>),
    Value(&'d DeValue<'a>),
}

/// The bytes of a key, and the value there.
type Entry<'d, 'a> = (Range<usize>, &'d Spanned<DeValue<'a>>);

impl<'d, 'a> Node<'d, 'a> {
    fn step(&self, step: &Step, is_grid: bool) -> Option<Entry<'d, 'a>> {
        match (self, step) {
            (Self::Table(table), Step::Key(name)) if is_grid => axis(table, name),
            (Self::Table(table), Step::Key(name)) => entry(table, name),
            (Self::Value(DeValue::Array(list)), Step::Index(index)) => {
                let entry = list.get(*index)?;
                Some((entry.span(), entry))
            }
            _ => None,
        }
    }
}

fn entry<'d, 'a>(table: &'d DeTable<'a>, name: &str) -> Option<Entry<'d, 'a>> {
    let mut entries = table.iter();
    let (key, value) = entries.find(|(key, _)| key.get_ref() == name)?;
    Some((key.span(), value))
}

/// An entry of a grid, whose name may be that of nested tables joined with dots.
fn axis<'d, 'a>(table: &'d DeTable<'a>, name: &str) -> Option<Entry<'d, 'a>> {
    let nested = table.iter().find_map(|(key, value)| {
        let inside = name
            .strip_prefix(key.get_ref().as_ref())?
            .strip_prefix('.')?;
        match value.get_ref() {
            DeValue::Table(further) => axis(further, inside),
            _ => None,
        }
    });
    nested.or_else(|| entry(table, name))
}

/// How much a text holds. A table is made by every part of a dotted key and by every bracket that
/// a line begins with.
///
/// # Errors
/// It has more tokens than a parser should be given.
fn extent(text: &str) -> Result<Extent, TooLarge> {
    let mut extent = Extent::default();
    let mut tokens = 0u64;
    // Whether a key or a number with a fraction has them shows at its end.
    let mut dots = 0;
    let mut begins_line = true;
    for token in toml_parser::Source::new(text).lex() {
        tokens += 1;
        let kind = token.kind();
        match kind {
            TokenKind::Whitespace | TokenKind::Comment => continue,
            TokenKind::Newline => {
                (dots, begins_line) = (0, true);
                continue;
            }
            TokenKind::Dot => dots += 1,
            TokenKind::Equals | TokenKind::RightSquareBracket => {
                extent.values += 1;
                extent.tables += std::mem::take(&mut dots);
            }
            TokenKind::Comma => {
                extent.values += 1;
                dots = 0;
            }
            TokenKind::LeftCurlyBracket => extent.tables += 1,
            TokenKind::LeftSquareBracket => extent.tables += u64::from(begins_line),
            _ => {}
        }
        begins_line = false;
        extent.bytes += token.span().len() as u64;
    }
    extent::check("words, signs and gaps", tokens, MOST_TOKENS)?;
    Ok(extent)
}

/// Parses a file.
///
/// # Errors
/// It is too large, is no TOML, or holds values that an experiment cannot have (dates, infinite
/// numbers); those are listed.
pub fn parse(file: &str, text: &str) -> Result<Source, Vec<ConfigError>> {
    let extent = extent(text).and_then(|extent| extent.within(&DOCUMENT));
    if let Err(error) = extent {
        let message = format!("{error}; split the experiment into several files");
        return Err(vec![ConfigError {
            file: file.to_owned(),
            place: None,
            path: String::new(),
            message,
        }]);
    }
    let document = DeTable::parse(text).map_err(|error| syntax(file, text, error))?;
    let mut reading = Reading {
        file,
        text,
        errors: Vec::new(),
    };
    let tree = reading.table(document.into_inner(), &TreePath::root());
    if reading.errors.is_empty() {
        Ok(Source {
            tree,
            flags: Flags::default(),
        })
    } else {
        Err(reading.errors)
    }
}

/// All errors of a text of ordinary length.
fn syntax(file: &str, text: &str, first: toml::de::Error) -> Vec<ConfigError> {
    let all = if text.len() <= LONGEST_WITH_ALL_ERRORS {
        DeTable::parse_recoverable(text).1
    } else {
        vec![first]
    };
    let told = all.iter().take(MOST_ERRORS).map(|error| {
        ConfigError::new(
            file,
            text,
            Some(error.span().unwrap_or(0..0)),
            "",
            error.message(),
        )
    });
    told.collect()
}

/// Reads the value of a `--set`: TOML where it is TOML, else text as it stands.
///
/// # Errors
/// It is a date or an infinite number.
pub fn parse_value(text: &str) -> Result<Value, String> {
    let Ok(value) = DeValue::parse(text.trim()) else {
        return Ok(Value::String(text.to_owned()));
    };
    let mut reading = Reading {
        file: "",
        text,
        errors: Vec::new(),
    };
    let span = value.span();
    let read = reading.value(value.into_inner(), span, &TreePath::root());
    match reading.errors.pop() {
        Some(error) => Err(error.message),
        None => Ok(read),
    }
}

struct Reading<'a> {
    file: &'a str,
    text: &'a str,
    errors: Vec<ConfigError>,
}

impl Reading<'_> {
    /// Takes the table apart as it goes, so that text and tree are never held twice.
    fn table(&mut self, table: DeTable<'_>, at: &TreePath) -> Value {
        let mut map = Map::new();
        for (key, value) in table {
            let inside = at.key(key.get_ref().as_ref());
            let span = value.span();
            let read = match value.into_inner() {
                DeValue::Table(axes) if is_grid(&inside) => {
                    let mut flat = Map::new();
                    self.grid(axes, &inside, "", &mut flat);
                    Value::Object(flat)
                }
                other => self.value(other, span, &inside),
            };
            map.insert(key.into_inner().into_owned(), read);
        }
        Value::Object(map)
    }

    /// Reads a grid, joining the names of nested tables with dots.
    fn grid(
        &mut self,
        table: DeTable<'_>,
        at: &TreePath,
        lead: &str,
        flat: &mut Map<String, Value>,
    ) {
        for (key, value) in table {
            let name = format!("{lead}{}", key.get_ref());
            let (key, span) = (key.span(), value.span());
            let value = match value.into_inner() {
                DeValue::Table(further) if !further.is_empty() => {
                    self.grid(further, at, &format!("{name}."), flat);
                    continue;
                }
                other => other,
            };
            let inside = at.key(name.as_str());
            if flat.contains_key(&name) {
                self.error(key, &inside, "stands here twice, with and without quotes");
            }
            let read = self.value(value, span, &inside);
            flat.insert(name, read);
        }
    }

    fn value(&mut self, value: DeValue<'_>, span: Range<usize>, at: &TreePath) -> Value {
        match value {
            DeValue::String(text) => Value::String(text.into_owned()),
            DeValue::Boolean(flag) => Value::Bool(flag),
            DeValue::Integer(digits) => {
                let number = i64::from_str_radix(digits.as_str(), digits.radix());
                number.map_or_else(
                    |_| self.error(span, at, "is a whole number of more than 64 bits"),
                    Value::from,
                )
            }
            DeValue::Float(digits) => {
                let number = digits.as_str().parse().ok().and_then(Number::from_f64);
                number.map_or_else(
                    || self.error(span, at, "must be a finite number"),
                    Value::Number,
                )
            }
            DeValue::Datetime(_) => self.error(
                span,
                at,
                "is a date, and nothing here is one; put it in quotes",
            ),
            DeValue::Table(table) => self.table(table, at),
            DeValue::Array(list) => {
                let entries = list.into_iter().enumerate();
                let read = entries.map(|(index, entry)| {
                    let span = entry.span();
                    self.value(entry.into_inner(), span, &at.index(index))
                });
                Value::Array(read.collect())
            }
        }
    }

    fn error(&mut self, span: Range<usize>, at: &TreePath, message: &str) -> Value {
        if self.errors.len() < MOST_ERRORS {
            let path = at.to_string();
            let (file, text) = (self.file, self.text);
            let error = ConfigError::new(file, text, Some(span), &path, message);
            self.errors.push(error);
        }
        Value::Null
    }
}

fn is_grid(at: &TreePath) -> bool {
    match at.steps() {
        [Step::Key(grid)] => grid == "grid",
        [Step::Key(games), Step::Index(_), Step::Key(grid)] => games == "games" && grid == "grid",
        _ => false,
    }
}
