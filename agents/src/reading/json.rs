//! JSON as it stands in a reply: objects keep the order of their fields, and every field
//! that is written twice is there twice.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// No value.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A number.
    Number(Number),
    /// Words.
    String(String),
    /// Values in a row.
    Array(Vec<Json>),
    /// Fields in the order of the text.
    Object(Object),
}

/// Fields in the order of the text; a name may occur twice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Object(Vec<(String, Json)>);

impl Json {
    /// The fields, if it is an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The values, if it is an array.
    pub fn as_array(&self) -> Option<&Vec<Json>> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The words, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it is true or false, if it is either.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The last field of a name, if it is an object with one.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.as_object()?.get(name)
    }

    /// What is found in this value, or else in the last value inside it that holds any: models
    /// restate the question first and answer last.
    pub fn find<'a, T>(&'a self, found: &dyn Fn(&'a Self) -> Option<T>) -> Option<T> {
        found(self).or_else(|| match self {
            Self::Object(map) => map.values().rev().find_map(|inner| inner.find(found)),
            Self::Array(items) => items.iter().rev().find_map(|inner| inner.find(found)),
            _ => None,
        })
    }

    /// The object in which any key is one of those that are meant: the value, or inside it.
    pub fn object_with(&self, is_meant: &dyn Fn(&str) -> bool) -> Option<&Object> {
        self.find(&|value| {
            let map = value.as_object()?;
            map.keys().any(|key| is_meant(key)).then_some(map)
        })
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.as_object().is_some()
    }

    /// Whether it is a string.
    pub fn is_string(&self) -> bool {
        self.as_str().is_some()
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// The same as records hold it, without the order of fields.
    pub fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Number(number) => Value::Number(number.clone()),
            Self::String(text) => Value::String(text.clone()),
            Self::Array(items) => items.iter().map(Self::value).collect(),
            Self::Object(object) => Value::Object(object.map()),
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(formatter)
    }
}

impl Object {
    /// Appends a field.
    pub fn push(&mut self, name: String, value: Json) {
        self.0.push((name, value));
    }

    /// The fields as records hold them, without their order; of a name that is there twice,
    /// the last.
    pub fn map(&self) -> serde_json::Map<String, Value> {
        let fields = self.iter();
        fields
            .map(|(name, json)| (name.clone(), json.value()))
            .collect()
    }

    /// The last field of a name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        let mut named = self.0.iter().rev().filter(|(known, _)| known == name);
        named.next().map(|(_, value)| value)
    }

    /// The field that has the first of these names that there is, in letters of any size.
    pub fn field(&self, names: &[&str]) -> Option<&Json> {
        let key = |name: &&str| self.keys().find(|key| key.eq_ignore_ascii_case(name));
        names.iter().find_map(key).and_then(|key| self.get(key))
    }

    /// The fields, in the order of the text.
    pub fn iter(&self) -> std::slice::Iter<'_, (String, Json)> {
        self.0.iter()
    }

    /// The names of the fields.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &String> {
        self.0.iter().map(|(name, _)| name)
    }

    /// The values of the fields.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Json> {
        self.0.iter().map(|(_, value)| value)
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyJson;

        impl<'de> Visitor<'de> for AnyJson {
            type Value = Json;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("JSON")
            }

            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Json, E> {
                Ok(Json::Bool(flag))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
                Ok(Json::Number(number.into()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
                Ok(Json::Number(number.into()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
                Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
            }

            fn visit_str<E>(self, text: &str) -> Result<Json, E> {
                Ok(Json::String(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
                let mut all = Vec::new();
                while let Some(item) = items.next_element()? {
                    all.push(item);
                }
                Ok(Json::Array(all))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
                let mut object = Object::default();
                while let Some((name, value)) = fields.next_entry()? {
                    object.push(name, value);
                }
                Ok(Json::Object(object))
            }
        }

        deserializer.deserialize_any(AnyJson)
    }
}
