//! The values of facts, and how they are written and read. Records hold little else, so that
//! they are read without JSON values between.

use std::borrow::Cow;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ask::Seat;
use crate::cents::Cents;
use crate::names::Name;

/// A value of a fact. Lists of plain numbers have forms of their own because
/// they are most of what a record holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value (a seat that is out, a shot at nobody).
    Nothing,
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A real number.
    Number(f64),
    /// Words.
    Text(Name),
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Real numbers.
    Numbers(Vec<f64>),
    /// Anything else in a row.
    List(Vec<Value>),
}

impl Value {
    /// The whole number in it, if it is one.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The number in it, whole or real.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The amount of money in it, if it states one.
    pub fn amount(&self) -> Option<Cents> {
        match self {
            Self::Integer(dollars) => Some(Cents::dollars(*dollars)),
            Self::Number(dollars) => Cents::of(*dollars),
            _ => None,
        }
    }

    /// The flag in it.
    pub fn flag(&self) -> Option<bool> {
        match self {
            Self::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The words in it.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole numbers in it, if it is a list of nothing else.
    pub fn integers(&self) -> Option<&[i64]> {
        match self {
            Self::Integers(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The entry of a column that belongs to a seat; `Nothing` past its end.
    pub fn entry(&self, seat: Seat) -> Value {
        match self {
            Self::Integers(_) => self.integer_at(seat).into(),
            Self::Numbers(_) => self.number_at(seat).into(),
            Self::List(values) => values.get(seat).cloned().into(),
            _ => Value::Nothing,
        }
    }

    /// The whole number at a seat's place of a column, if one stands there.
    #[inline]
    pub fn integer_at(&self, seat: Seat) -> Option<i64> {
        match self {
            Self::Integers(numbers) => numbers.get(seat).copied(),
            Self::List(values) => values.get(seat)?.integer(),
            _ => None,
        }
    }

    /// The number at a seat's place of a column, whole or real, if one stands there.
    #[inline]
    pub fn number_at(&self, seat: Seat) -> Option<f64> {
        match self {
            Self::Integers(numbers) => numbers.get(seat).map(|number| *number as f64),
            Self::Numbers(numbers) => numbers.get(seat).copied(),
            Self::List(values) => values.get(seat)?.number(),
            _ => None,
        }
    }

    /// How many entries a column has; 0 for anything that is not a list.
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(numbers) => numbers.len(),
            Self::Numbers(numbers) => numbers.len(),
            Self::List(values) => values.len(),
            _ => 0,
        }
    }

    /// Whether every number in it is finite.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Number(number) => number.is_finite(),
            Self::Numbers(numbers) => numbers.iter().all(|number| number.is_finite()),
            Self::List(values) => values.iter().all(Self::is_finite),
            _ => true,
        }
    }

    /// Whether it is an empty list, or no list at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries of a column as numbers; entries without a number are left out.
    pub fn numbers(&self) -> Vec<f64> {
        (0..self.len())
            .filter_map(|place| self.number_at(place))
            .collect()
    }
}

macro_rules! value_from {
    ($($type:ty => |$value:ident| $make:expr),* $(,)?) => {
        $(impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $make
            }
        })*
    };
}

value_from! {
    bool => |flag| Value::Flag(flag),
    i64 => |number| Value::Integer(number),
    u32 => |number| Value::Integer(i64::from(number)),
    usize => |number| Value::Integer(number as i64),
    f64 => |number| Value::Number(number),
    &'static str => |text| Value::Text(Cow::Borrowed(text)),
    String => |text| Value::Text(Cow::Owned(text)),
    Name => |text| Value::Text(text),
    Vec<i64> => |numbers| Value::Integers(numbers),
    Vec<f64> => |numbers| Value::Numbers(numbers),
    Vec<usize> => |numbers| Value::Integers(numbers.into_iter().map(|n| n as i64).collect()),
    Vec<bool> => |flags| Value::List(flags.into_iter().map(Value::Flag).collect()),
    Vec<Value> => |values| Value::List(values),
    Vec<Name> => |words| Value::List(words.into_iter().map(Value::Text).collect()),
    Vec<String> => |words| Value::List(words.into_iter().map(Value::from).collect()),
    Vec<&'static str> => |words| Value::List(words.into_iter().map(Value::from).collect()),
}

impl From<Cents> for Value {
    fn from(amount: Cents) -> Self {
        match amount.whole_dollars() {
            Some(dollars) => Self::Integer(dollars),
            None => Self::Number(amount.in_dollars()),
        }
    }
}

impl From<Vec<Cents>> for Value {
    fn from(amounts: Vec<Cents>) -> Self {
        row(amounts.into_iter().map(Self::from).collect())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Nothing, Into::into)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nothing => serializer.serialize_none(),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Number(number) => {
                check_finite([number])?;
                serializer.serialize_f64(*number)
            }
            Self::Text(text) => serializer.serialize_str(text),
            Self::Integers(numbers) => numbers.serialize(serializer),
            Self::Numbers(numbers) => {
                check_finite(numbers)?;
                numbers.serialize(serializer)
            }
            Self::List(values) => {
                let mut list = serializer.serialize_seq(Some(values.len()))?;
                for value in values {
                    list.serialize_element(value)?;
                }
                list.end()
            }
        }
    }
}

/// JSON has no infinities; written as null they would pass for "no value".
pub(crate) fn check_finite<'a, E: serde::ser::Error>(
    numbers: impl IntoIterator<Item = &'a f64>,
) -> Result<(), E> {
    if numbers.into_iter().all(|number| number.is_finite()) {
        return Ok(());
    }
    Err(E::custom("a number is not finite"))
}

impl From<&serde_json::Value> for Value {
    fn from(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Nothing,
            serde_json::Value::Bool(flag) => Self::Flag(*flag),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(whole) => Self::Integer(whole),
                None => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
            },
            serde_json::Value::String(text) => Self::Text(Cow::Owned(text.clone())),
            serde_json::Value::Array(items) => row(items.iter().map(Self::from).collect()),
            serde_json::Value::Object(_) => Self::Text(Cow::Owned(json.to_string())),
        }
    }
}

/// Values in a row, in the form of their own where they are numbers of one kind.
fn row(values: Vec<Value>) -> Value {
    let integers: Option<Vec<i64>> = values.iter().map(Value::integer).collect();
    if let Some(integers) = integers {
        return Value::Integers(integers);
    }
    let reals = values.iter().map(|value| match value {
        Value::Number(number) => Some(*number),
        _ => None,
    });
    match reals.collect::<Option<Vec<f64>>>() {
        Some(numbers) => Value::Numbers(numbers),
        None => Value::List(values),
    }
}

impl<'de> Deserialize<'de> for Value {
    /// Without JSON values between: reading a record is mostly reading these.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

/// Reads what [`Value`] is made of, as [`From`] makes it of JSON.
struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a fact")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Integer(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        let whole = i64::try_from(number);
        Ok(whole.map_or(Value::Number(number as f64), Value::Integer))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.visit_string(text.to_owned())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(Cow::Owned(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element()? {
            values.push(value);
        }
        Ok(row(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Value, A::Error> {
        let json = serde_json::Value::deserialize(MapAccessDeserializer::new(entries))?;
        Ok(Value::from(&json))
    }
}
