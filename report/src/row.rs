//! A row of measures: names with their values, in the order in which programs read them. What
//! tables show and what the JSON holds is the same row.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::basis::Basis;
use crate::statistics::{Interval, Quartiles};

/// Names with their values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row(Vec<(Cow<'static, str>, Value)>);

/// A value of a row; what is not defined is `Null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Not defined.
    Null,
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Count(i64),
    /// Any other number.
    Number(f64),
    /// A name.
    Word(String),
    /// Several values.
    List(Vec<Value>),
    /// Rows below this one.
    Rows(Vec<Row>),
    /// A row inside this one.
    Row(Row),
    /// What numbers rest on.
    Basis(Box<Basis>),
}

impl Row {
    /// The same row with one more value.
    pub(crate) fn with(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<Value>,
    ) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }

    /// The same row with the values of another one behind its own.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Its first values, and the others.
    pub(crate) fn split(mut self, at: usize) -> (Self, Self) {
        let rest = self.0.split_off(at.min(self.0.len()));
        (self, Self(rest))
    }

    /// A value; `Null` where the row has none of this name.
    pub(crate) fn get(&self, name: &str) -> &Value {
        let mut values = self.0.iter();
        let found = values.find(|(known, _)| *known == name);
        found.map_or(&Value::Null, |(_, value)| value)
    }

    /// A number, whole or not; `None` where it is not defined.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name).number()
    }

    /// A whole number; 0 where there is none.
    pub(crate) fn count(&self, name: &str) -> u64 {
        match self.get(name) {
            Value::Count(count) => u64::try_from(*count).unwrap_or(0),
            _ => 0,
        }
    }

    /// A name; empty where there is none.
    pub(crate) fn word(&self, name: &str) -> &str {
        match self.get(name) {
            Value::Word(word) => word,
            _ => "",
        }
    }

    /// Whether something is so.
    pub(crate) fn flag(&self, name: &str) -> bool {
        *self.get(name) == Value::Flag(true)
    }

    /// Several values; none where there is no list.
    pub(crate) fn list(&self, name: &str) -> &[Value] {
        match self.get(name) {
            Value::List(values) => values,
            _ => &[],
        }
    }

    /// Names.
    pub(crate) fn words(&self, name: &str) -> Vec<&str> {
        let words = self.list(name).iter().map(|value| match value {
            Value::Word(word) => &**word,
            _ => "",
        });
        words.collect()
    }

    /// The rows below it; none where there are none of this name.
    pub(crate) fn rows(&self, name: &str) -> &[Row] {
        match self.get(name) {
            Value::Rows(rows) => rows,
            _ => &[],
        }
    }

    /// The same, to change them.
    pub(crate) fn rows_mut(&mut self, name: &str) -> Option<&mut Vec<Row>> {
        let mut values = self.0.iter_mut();
        match values.find(|(known, _)| *known == name)? {
            (_, Value::Rows(rows)) => Some(rows),
            _ => None,
        }
    }

    /// What numbers rest on; nothing where it does not say.
    pub(crate) fn basis(&self, name: &str) -> Basis {
        match self.get(name) {
            Value::Basis(basis) => (**basis).clone(),
            _ => Basis::default(),
        }
    }

    /// A row inside it; an empty one where there is none.
    pub(crate) fn inner(&self, name: &str) -> Self {
        match self.get(name) {
            Value::Row(row) => row.clone(),
            _ => Self::default(),
        }
    }
}

impl Value {
    /// A number, whole or not.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Count(count) => Some(*count as f64),
            _ => None,
        }
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// How one kind of value is made.
macro_rules! from {
    ($($of:ty, $value:ident => $made:expr;)+) => {
        $(impl From<$of> for Value {
            fn from($value: $of) -> Self {
                $made
            }
        })+
    };
}

from! {
    bool, flag => Self::Flag(flag);
    u64, count => Self::Count(i64::try_from(count).unwrap_or(i64::MAX));
    u32, count => Self::Count(count.into());
    i64, count => Self::Count(count);
    f64, number => Self::Number(number);
    &str, word => Self::Word(word.to_owned());
    String, word => Self::Word(word);
    Row, row => Self::Row(row);
    Vec<Row>, rows => Self::Rows(rows);
    Basis, basis => Self::Basis(Box::new(basis));
    Quartiles, of => Self::Row(of.into());
    Interval, of => Self::Row(Row::default().with("low", of.low).with("high", of.high));
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Several values of one kind.
pub(crate) fn list<T: Into<Value>>(values: impl IntoIterator<Item = T>) -> Value {
    Value::List(values.into_iter().map(Into::into).collect())
}

impl From<Quartiles> for Row {
    fn from(of: Quartiles) -> Self {
        Self::default()
            .with("least", of.least)
            .with("lower", of.lower)
            .with("median", of.median)
            .with("upper", of.upper)
            .with("most", of.most)
    }
}
