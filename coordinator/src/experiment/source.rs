//! From TOML text to a plain tree, with the place of every key and value.
//!
//! Knows TOML and nothing about experiments, except that grids may be written with or without
//! quotes (`"params.ratio" = [..]` or `params.ratio = [..]`): both become one flat key.

use std::collections::BTreeMap;
use std::ops::Range;

use agon_service_kit::config::ConfigError;
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::path::{Step, TreePath};

/// A parsed file.
#[derive(Debug, Clone)]
pub struct Source {
    /// What it says.
    pub tree: Value,
    /// Where it says it.
    pub places: Places,
}

/// Where the keys and values of a tree come from.
#[derive(Debug, Clone, Default)]
pub struct Places(BTreeMap<TreePath, Place>);

/// Where one value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// From the file: the bytes of the key (empty for list entries) and of the value.
    Text {
        /// The key.
        key: Range<usize>,
        /// The value.
        value: Range<usize>,
    },
    /// From a flag of the command line, as the user wrote it.
    Flag(String),
}

impl Places {
    /// The place of a value, or of the nearest thing around it.
    pub fn find(&self, path: &TreePath) -> Option<(&TreePath, &Place)> {
        let mut path = path.clone();
        loop {
            if let Some(found) = self.0.get_key_value(&path) {
                return Some(found);
            }
            path = path.parent()?;
        }
    }

    /// Notes that a value, and everything inside it, comes from a flag.
    pub fn set_flag(&mut self, path: TreePath, flag: &str) {
        self.forget(&path);
        self.0.insert(path, Place::Flag(flag.to_owned()));
    }

    /// Forgets a value and everything inside it.
    pub fn forget(&mut self, path: &TreePath) {
        self.0.retain(|held, _| held.after(path).is_none());
    }

    fn set(&mut self, path: TreePath, key: Range<usize>, value: Range<usize>) {
        self.0.insert(path, Place::Text { key, value });
    }
}

/// Parses a file.
///
/// # Errors
/// It is no TOML, or holds values that an experiment cannot have (dates, infinite numbers);
/// all of them are listed.
pub fn parse(file: &str, text: &str) -> Result<Source, Vec<ConfigError>> {
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let told = errors.iter().map(|error| {
            ConfigError::new(
                file,
                text,
                Some(error.span().unwrap_or(0..0)),
                "",
                error.message(),
            )
        });
        return Err(told.collect());
    }
    let mut reading = Reading {
        file,
        text,
        places: Places::default(),
        errors: Vec::new(),
    };
    let root = TreePath::root();
    reading.places.set(root.clone(), 0..0, 0..0);
    let tree = reading.table(document.get_ref(), &root);
    if reading.errors.is_empty() {
        Ok(Source {
            tree,
            places: reading.places,
        })
    } else {
        Err(reading.errors)
    }
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
        places: Places::default(),
        errors: Vec::new(),
    };
    let read = reading.value(value.get_ref(), value.span(), &TreePath::root());
    match reading.errors.pop() {
        Some(error) => Err(error.message),
        None => Ok(read),
    }
}

struct Reading<'a> {
    file: &'a str,
    text: &'a str,
    places: Places,
    errors: Vec<ConfigError>,
}

impl Reading<'_> {
    fn table(&mut self, table: &DeTable<'_>, at: &TreePath) -> Value {
        let mut map = Map::new();
        for (key, value) in table.iter() {
            let inside = at.key(key.get_ref().as_ref());
            self.places.set(inside.clone(), key.span(), value.span());
            let read = match value.get_ref() {
                DeValue::Table(axes) if is_grid(&inside) => {
                    let mut flat = Map::new();
                    self.grid(axes, &inside, "", &mut flat);
                    Value::Object(flat)
                }
                other => self.value(other, value.span(), &inside),
            };
            map.insert(key.get_ref().clone().into_owned(), read);
        }
        Value::Object(map)
    }

    /// Reads a grid, joining the names of nested tables with dots.
    fn grid(
        &mut self,
        table: &DeTable<'_>,
        at: &TreePath,
        lead: &str,
        flat: &mut Map<String, Value>,
    ) {
        for (key, value) in table.iter() {
            let name = format!("{lead}{}", key.get_ref());
            if let DeValue::Table(further) = value.get_ref()
                && !further.is_empty()
            {
                self.grid(further, at, &format!("{name}."), flat);
                continue;
            }
            let inside = at.key(name.as_str());
            if flat.contains_key(&name) {
                self.error(
                    key.span(),
                    &inside,
                    "stands here twice, with and without quotes",
                );
            }
            self.places.set(inside.clone(), key.span(), value.span());
            let read = self.value(value.get_ref(), value.span(), &inside);
            flat.insert(name, read);
        }
    }

    fn value(&mut self, value: &DeValue<'_>, span: Range<usize>, at: &TreePath) -> Value {
        match value {
            DeValue::String(text) => Value::String(text.clone().into_owned()),
            DeValue::Boolean(flag) => Value::Bool(*flag),
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
                let mut read = Vec::with_capacity(list.len());
                for (index, entry) in list.iter().enumerate() {
                    let inside = at.index(index);
                    let span = entry.span();
                    self.places.set(inside.clone(), span.clone(), span.clone());
                    read.push(self.value(Spanned::get_ref(entry), span, &inside));
                }
                Value::Array(read)
            }
        }
    }

    fn error(&mut self, span: Range<usize>, at: &TreePath, message: &str) -> Value {
        let path = at.to_string();
        self.errors.push(ConfigError::new(
            self.file,
            self.text,
            Some(span),
            &path,
            message,
        ));
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
