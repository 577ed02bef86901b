//! The parameters of a game that is described elsewhere: what each may be, and how they are
//! checked. As JSON Schema they are shown to people and varied by the conformance kit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::game::ParameterError;
use crate::names::among;
use crate::spec::Settings;

/// A parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// What it is where nothing else is said.
    pub default: Value,
    /// What it means, in one sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub meaning: String,
    /// Whether it may also be left open, which is null.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// What it may be.
    #[serde(flatten)]
    pub kind: ParameterKind,
}

/// What a parameter may be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ParameterKind {
    /// A whole number, both ends included; an end that is not given is open.
    Integer {
        /// Smallest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<i64>,
        /// Largest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<i64>,
    },
    /// A number, both ends included; an end that is not given is open.
    Number {
        /// Smallest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        /// Largest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    /// Yes or no.
    Flag,
    /// One of several words.
    Choice {
        /// The words.
        options: Vec<String>,
    },
    /// Any text.
    Text,
    /// Any number of values of one kind.
    List {
        /// What each may be.
        of: Box<ParameterKind>,
    },
}

impl Parameter {
    fn check(&self, path: &str, value: &Value) -> Result<(), ParameterError> {
        match value {
            Value::Null if self.optional => Ok(()),
            value => self.kind.check(path, value),
        }
    }
}

impl ParameterKind {
    /// Checks a value; `path` is its place.
    fn check(&self, path: &str, value: &Value) -> Result<(), ParameterError> {
        let wrong = |message: String| Err(ParameterError::new(path, message));
        match self {
            Self::Integer { min, max } => {
                let Some(number) = value.as_i64() else {
                    return wrong(format!("must be a whole number, not {value}"));
                };
                let fits =
                    min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max);
                match fits {
                    true => Ok(()),
                    false => wrong(format!("is {number}; must be {}", range(*min, *max))),
                }
            }
            Self::Number { min, max } => {
                let Some(number) = value.as_f64() else {
                    return wrong(format!("must be a number, not {value}"));
                };
                let fits =
                    min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max);
                match fits {
                    true => Ok(()),
                    false => wrong(format!("is {number}; must be {}", range(*min, *max))),
                }
            }
            Self::Flag if value.is_boolean() => Ok(()),
            Self::Flag => wrong(format!("must be true or false, not {value}")),
            Self::Choice { options } => match value.as_str() {
                Some(word) if options.iter().any(|option| option == word) => Ok(()),
                Some(word) => {
                    let known = among(word, options.iter().map(String::as_str));
                    wrong(format!("cannot be \"{word}\"{known}"))
                }
                None => wrong(format!(
                    "must be one of {}, not {value}",
                    options.join(", ")
                )),
            },
            Self::Text if value.is_string() => Ok(()),
            Self::Text => wrong(format!("must be a text, not {value}")),
            Self::List { of } => {
                let Some(values) = value.as_array() else {
                    return wrong(format!("must be a list, not {value}"));
                };
                let mut places = values.iter().enumerate();
                places.try_for_each(|(at, value)| of.check(&format!("{path}[{at}]"), value))
            }
        }
    }

    /// A checked value as specs hold it: 1 where a number is wanted is 1.0, so that both ways to
    /// write it are the same session.
    fn written(&self, value: &Value) -> Value {
        match (self, value) {
            (Self::Number { .. }, Value::Number(number)) => json!(number.as_f64()),
            (Self::List { of }, Value::Array(values)) => {
                values.iter().map(|value| of.written(value)).collect()
            }
            _ => value.clone(),
        }
    }

    fn schema(&self) -> Map<String, Value> {
        let mut schema = Map::new();
        let mut set = |key: &str, value: Value| {
            if !value.is_null() {
                schema.insert(key.to_owned(), value);
            }
        };
        match self {
            Self::Integer { min, max } => {
                set("type", "integer".into());
                set("minimum", json!(min));
                set("maximum", json!(max));
            }
            Self::Number { min, max } => {
                set("type", "number".into());
                set("minimum", json!(min));
                set("maximum", json!(max));
            }
            Self::Flag => set("type", "boolean".into()),
            Self::Choice { options } => {
                set("type", "string".into());
                set("enum", json!(options));
            }
            Self::Text => set("type", "string".into()),
            Self::List { of } => {
                set("type", "array".into());
                set("items", Value::Object(of.schema()));
            }
        }
        schema
    }
}

fn range<T: std::fmt::Display>(min: Option<T>, max: Option<T>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("from {min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, Some(max)) => format!("at most {max}"),
        (None, None) => "finite".to_owned(),
    }
}

/// Parameters that were given, checked and completed with defaults.
///
/// # Errors
/// One is unknown or of another kind.
pub(super) fn complete(
    parameters: &BTreeMap<String, Parameter>,
    given: &Settings,
) -> Result<Settings, ParameterError> {
    for (name, value) in given {
        let Some(parameter) = parameters.get(name) else {
            let known = among(name, parameters.keys().map(String::as_str));
            return Err(ParameterError::new(
                name,
                format!("unknown parameter \"{name}\"{known}"),
            ));
        };
        parameter.check(name, value)?;
    }
    let all = parameters.iter().map(|(name, parameter)| {
        let value = given.get(name).unwrap_or(&parameter.default);
        (name.clone(), parameter.kind.written(value))
    });
    Ok(all.collect())
}

/// Checks the defaults.
///
/// # Errors
/// A default is of another kind than its parameter.
pub(super) fn check_defaults(
    parameters: &BTreeMap<String, Parameter>,
) -> Result<(), ParameterError> {
    let mut all = parameters.iter();
    all.try_for_each(|(name, parameter)| parameter.check(name, &parameter.default))
}

/// Their JSON Schema.
pub(super) fn schema(parameters: &BTreeMap<String, Parameter>) -> Value {
    let properties = parameters.iter().map(|(name, parameter)| {
        let mut schema = parameter.kind.schema();
        schema.insert("default".to_owned(), parameter.default.clone());
        if !parameter.meaning.is_empty() {
            schema.insert("description".to_owned(), json!(parameter.meaning));
        }
        (name.clone(), Value::Object(schema))
    });
    let properties: Map<String, Value> = properties.collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}
