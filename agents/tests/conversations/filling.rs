//! Replies that keep to the form that is asked for, whatever they say in it. Called where
//! conversations are to grow beyond their bound.

use serde_json::Value;

/// A value that a schema allows, with these words wherever words may stand.
pub fn filled(schema: &Value, words: &str) -> Value {
    if let Some(first) = schema.pointer("/enum/0") {
        return first.clone();
    }
    if let Some(first) = schema.pointer("/anyOf/0") {
        return filled(first, words);
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => {
            let fields = schema.get("properties").and_then(Value::as_object);
            let fields = fields.into_iter().flatten();
            Value::Object(
                fields
                    .map(|(name, of)| (name.clone(), filled(of, words)))
                    .collect(),
            )
        }
        Some("array") => {
            let items = schema.get("items").map(|items| filled(items, words));
            items.into_iter().collect()
        }
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(0.into()),
        Some("boolean") => true.into(),
        Some("string") => words.into(),
        _ => Value::Null,
    }
}
