//! Single values of an experiment: what they are in words, which of them are equal, and a table as
//! settings. Knows no place in a document. Called by whatever reads or checks one.

use agon_engine::spec::Settings;
use serde_json::{Map, Value};

/// What a value is, for people.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Number(_) => "a whole number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}

/// A message about types without the names of Rust's types.
pub fn in_plain_words(message: &str) -> String {
    let Some((before, expected)) = message.rsplit_once("expected ") else {
        return message.to_owned();
    };
    let plain = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or greater",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        other => other,
    };
    format!("{before}expected {plain}")
}

/// A value in which equal numbers are written alike: 1.0 as 1, and -0.0 as 0.
pub fn by_value(value: &Value) -> Value {
    /// 2 to the 63: floats below it and not below its negative are within 64 bits.
    const END: f64 = 9_223_372_036_854_775_808.0;
    match value {
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) if float.fract() == 0.0 && (-END..END).contains(&float) => {
                Value::from(float as i64)
            }
            _ => value.clone(),
        },
        Value::Array(list) => list.iter().map(by_value).collect(),
        Value::Object(table) => table
            .iter()
            .map(|(key, value)| (key.clone(), by_value(value)))
            .collect(),
        _ => value.clone(),
    }
}

/// A table as settings.
pub fn to_settings(table: &Map<String, Value>) -> Settings {
    table
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}
