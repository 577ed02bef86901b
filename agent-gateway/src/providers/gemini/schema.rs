//! A JSON Schema as Gemini takes it. What it does not know is said in other
//! words where there are some and left out where there are none: the reply may
//! then be looser than asked, never other than asked. Called by `body.rs`.
//!
//! Source: Gemini API reference, `GenerationConfig.responseJsonSchema`.

use serde_json::{Map, Value, json};

/// What Gemini knows, beside what is changed below.
const KNOWN: [&str; 16] = [
    "$id",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "required",
    "propertyOrdering",
    "additionalProperties",
    "items",
];

/// The schema in the words that Gemini knows; an error when it is no JSON.
pub(super) fn acceptable(schema: &str) -> Result<Value, serde_json::Error> {
    Ok(cleaned(&serde_json::from_str(schema)?))
}

fn cleaned(schema: &Value) -> Value {
    let Value::Object(fields) = schema else {
        return schema.clone();
    };
    // Beside a reference nothing else may stand.
    if let Some(Value::String(reference)) = fields.get("$ref") {
        let reference = reference.replace("#/definitions/", "#/$defs/");
        let mut only = Map::from_iter([("$ref".to_owned(), Value::String(reference))]);
        only.extend(definitions(fields));
        return Value::Object(only);
    }
    let mut clean = Map::new();
    for (name, value) in fields {
        let value = match (name.as_str(), value) {
            ("properties", Value::Object(named)) => each(named),
            ("anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => all(list),
            ("enum", Value::Array(list)) if !enumerable(list) => continue,
            (known, value) if KNOWN.contains(&known) => cleaned_if_schema(known, value),
            _ => continue,
        };
        clean.insert(name.clone(), value);
    }
    clean.extend(definitions(fields));
    replace(fields, &mut clean);
    Value::Object(clean)
}

fn cleaned_if_schema(name: &str, value: &Value) -> Value {
    match name {
        "items" | "additionalProperties" => cleaned(value),
        _ => value.clone(),
    }
}

/// What has no name there but can be said.
fn replace(fields: &Map<String, Value>, clean: &mut Map<String, Value>) {
    if let Some(only) = fields.get("const") {
        if enumerable(std::slice::from_ref(only)) {
            clean.insert("enum".to_owned(), json!([only]));
        }
        let of_type = match only {
            Value::String(_) => "string",
            Value::Bool(_) => "boolean",
            Value::Null => "null",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            _ => "object",
        };
        clean.entry("type").or_insert_with(|| json!(of_type));
    }
    // Between whole numbers there is nothing, so that the bound can be moved.
    if fields.get("type").is_some_and(|named| named == "integer") {
        let bound = |name: &str| fields.get(name).and_then(Value::as_i64);
        if let Some(above) = bound("exclusiveMinimum").and_then(|n| n.checked_add(1)) {
            clean.entry("minimum").or_insert_with(|| json!(above));
        }
        if let Some(below) = bound("exclusiveMaximum").and_then(|n| n.checked_sub(1)) {
            clean.entry("maximum").or_insert_with(|| json!(below));
        }
    }
    // All of one thing is that thing.
    if let Some([only]) = fields
        .get("allOf")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        && let Value::Object(inner) = cleaned(only)
    {
        for (name, value) in inner {
            clean.entry(name).or_insert(value);
        }
    }
}

fn definitions(fields: &Map<String, Value>) -> Option<(String, Value)> {
    let named = fields.get("$defs").or_else(|| fields.get("definitions"))?;
    Some(("$defs".to_owned(), each(named.as_object()?)))
}

fn each(named: &Map<String, Value>) -> Value {
    let cleaned = named
        .iter()
        .map(|(name, schema)| (name.clone(), cleaned(schema)));
    Value::Object(cleaned.collect())
}

fn all(list: &[Value]) -> Value {
    Value::Array(list.iter().map(cleaned).collect())
}

/// Only texts and numbers may be listed.
fn enumerable(list: &[Value]) -> bool {
    list.iter()
        .all(|value| value.is_string() || value.is_number())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(schema: Value) -> Value {
        acceptable(&schema.to_string()).unwrap()
    }

    #[test]
    fn what_gemini_knows_stays() {
        let schema = json!({
            "type": "object", "title": "Act", "additionalProperties": false,
            "properties": {
                "pattern": {"type": "string", "enum": ["a", "b"]},
                "n": {"type": "integer", "minimum": 0, "maximum": 9},
                "list": {"type": "array", "items": {"$ref": "#/$defs/x"}, "maxItems": 3},
            },
            "required": ["pattern"], "$defs": {"x": {"anyOf": [{"type": "null"}]}},
        });
        assert_eq!(clean(schema.clone()), schema);
    }

    #[test]
    fn what_it_does_not_know_is_said_otherwise_or_left_out() {
        for (schema, expected) in [
            (
                json!({"$schema": "s", "type": "string", "pattern": "p", "minLength": 1}),
                json!({"type": "string"}),
            ),
            (
                json!({"const": "x"}),
                json!({"type": "string", "enum": ["x"]}),
            ),
            (json!({"const": true}), json!({"type": "boolean"})),
            (json!({"enum": ["a", null]}), json!({})),
            (
                json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 5}),
                json!({"type": "integer", "minimum": 1, "maximum": 4}),
            ),
            (
                json!({"allOf": [{"type": "object", "not": {}}]}),
                json!({"type": "object"}),
            ),
            (
                json!({"$ref": "#/definitions/a", "description": "d",
                    "definitions": {"a": {"type": "number", "multipleOf": 2}}}),
                json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "number"}}}),
            ),
            (json!(true), json!(true)),
        ] {
            assert_eq!(clean(schema.clone()), expected, "{schema}");
        }
    }
}
