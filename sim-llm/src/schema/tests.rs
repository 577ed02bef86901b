//! Every drawn value is held against the schema by an independent validator.
//! Schemas that contradict themselves or never end must still give some value.

use serde_json::json;

use super::*;
use crate::draw::{Digest, Purpose};

fn drawn(schema: &Value, obedience: Obedience, body: u32) -> Value {
    let mut draw = Digest::of(0, &body.to_le_bytes()).draw(Purpose::Answer, 0);
    let mut out = String::new();
    write_value(schema, obedience, &mut draw, &mut out);
    serde_json::from_str(&out).unwrap_or_else(|fault| panic!("{fault} in {out}"))
}

fn schemas() -> Vec<Value> {
    vec![
        json!({"type": "object", "additionalProperties": false, "required": ["reason", "bid"],
            "properties": {"reason": {"type": "string"}, "note": {"type": "string"},
                "bid": {"type": "integer", "minimum": 0, "maximum": 100}}}),
        json!({"type": "integer", "minimum": -3, "maximum": 3}),
        json!({"type": "integer", "minimum": 5, "maximum": 5}),
        json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 2}),
        json!({"type": "integer", "minimum": 1_000_000}),
        json!({"type": "integer", "maximum": -1_000_000}),
        json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX}),
        json!({"type": "integer", "minimum": 0.5, "maximum": 2.5}),
        json!({"type": "number", "minimum": 0, "maximum": 1}),
        json!({"type": "number", "minimum": 0.001, "maximum": 0.002}),
        json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.02}),
        json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.001}),
        json!({"type": "number", "minimum": 0, "maximum": 10, "multipleOf": 0.5}),
        json!({"type": "number", "minimum": -1e300, "maximum": 1e300}),
        json!({"type": "number", "maximum": 3}),
        json!({"type": "string", "enum": ["accept", "reject"]}),
        json!({"enum": ["pass", 3, null]}),
        json!({"const": {"a": [1, "x"]}}),
        json!({"type": "boolean"}),
        json!({"type": ["integer", "null"], "minimum": 1, "maximum": 9}),
        json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 9}, {"enum": ["pass"]}]}),
        json!({"oneOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
        json!({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 4},
            "minItems": 2, "maxItems": 6}),
        json!({"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 10},
            "minItems": 10, "maxItems": 10, "uniqueItems": true}),
        json!({"type": "array", "items": {"enum": ["x", "y", "z"]}, "minItems": 2, "maxItems": 3,
            "uniqueItems": true}),
        json!({"type": "array", "items": {"type": "integer"}, "maxItems": 0}),
        json!({"type": "string", "minLength": 90, "maxLength": 100}),
        json!({"type": "string", "maxLength": 5}),
        json!({"$defs": {"price": {"type": "integer", "minimum": 1, "maximum": 2}},
            "type": "object", "properties": {"price": {"$ref": "#/$defs/price"}},
            "required": ["price"]}),
        json!({"type": "object", "properties": {"a": {"type": "object", "properties":
            {"b": {"type": "boolean"}}, "required": ["b"]}}, "required": ["a"]}),
    ]
}

#[test]
fn every_drawn_value_satisfies_its_schema() {
    for schema in schemas() {
        let validator = jsonschema::validator_for(&schema).unwrap();
        for body in 0..300 {
            let value = drawn(&schema, Obedience::Legal, body);
            assert!(
                validator.is_valid(&value),
                "{value} does not satisfy {schema}"
            );
        }
    }
}

#[test]
fn choices_spread_over_the_range_and_over_the_alternatives() {
    let choice = json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 2},
        {"enum": ["pass"]}]});
    let seen: std::collections::BTreeSet<String> = (0..200)
        .map(|body| drawn(&choice, Obedience::Legal, body).to_string())
        .collect();
    assert_eq!(Vec::from_iter(seen), ["\"pass\"", "0", "1", "2"]);
}

#[test]
fn divisions_add_up_within_their_ranges() {
    for (parts, low, high, sum) in [
        (5, 0, 100, 100),
        (1, 0, 7, 7),
        (4, 2, 5, 17),
        (3, 0, 10, 30),
        (6, 0, 1_000_000, 3),
        (3, -5, 5, -2),
    ] {
        let schema = json!({"type": "array", "minItems": parts, "maxItems": parts,
            "items": {"type": "integer", "minimum": low, "maximum": high}, "description": format!("the numbers add up to {sum}")});
        for body in 0..300 {
            let value = drawn(&schema, Obedience::Legal, body);
            let amounts: Vec<i64> = serde_json::from_value(value).unwrap();
            assert_eq!(amounts.len(), parts);
            assert_eq!(amounts.iter().sum::<i64>(), sum, "{schema}");
            assert!(
                amounts.iter().all(|amount| (low..=high).contains(amount)),
                "{amounts:?}"
            );
        }
    }
}

#[test]
fn out_of_range_values_break_the_schema() {
    let bounded = schemas().into_iter().filter(|schema| {
        let text = schema.to_string();
        (text.contains("maximum\":1") || text.contains("\"accept\"")) && !text.contains("e300")
    });
    for schema in bounded {
        let validator = jsonschema::validator_for(&schema).unwrap();
        for body in 0..50 {
            let value = drawn(&schema, Obedience::OutOfRange, body);
            let unique = schema.get("uniqueItems").is_some();
            assert!(
                unique || !validator.is_valid(&value),
                "{value} satisfies {schema}"
            );
        }
    }
}

#[test]
fn hostile_schemas_end_in_some_value() {
    let endless = json!({"$ref": "#"});
    drawn(&endless, Obedience::Legal, 0);
    let nested = json!({"properties": {"x": {"$ref": "#"}}, "required": ["x"]});
    drawn(&nested, Obedience::Legal, 0);
    for odd in [
        json!(true),
        json!(null),
        json!([]),
        json!({"enum": []}),
        json!({"type": []}),
        json!({"anyOf": []}),
        json!({"type": "integer", "minimum": 9, "maximum": 1}),
        json!({"type": "array", "minItems": 3, "maxItems": 1, "items": {"type": "null"}}),
    ] {
        drawn(&odd, Obedience::Legal, 0);
        drawn(&odd, Obedience::OutOfRange, 0);
    }
}

#[test]
fn schemas_that_ask_for_more_than_any_model_writes_end_in_whole_json() {
    let nested = (0..20).fold(
        json!({ "type": "integer" }),
        |items, _| json!({ "type": "array", "minItems": 50, "items": items }),
    );
    let itself = json!({ "type": "object", "required": ["a", "b", "c"], "properties": {
        "a": { "$ref": "#" }, "b": { "$ref": "#" }, "c": { "$ref": "#" } } });
    let integer = json!({ "type": "integer" });
    let most = i64::MAX;
    for schema in [
        json!({ "type": "array", "minItems": 4_000_000_000u64, "items": integer }),
        json!({ "type": "array", "minItems": u64::MAX, "maxItems": u64::MAX }),
        json!({ "type": "array", "minItems": 4_000_000_000u64, "description": "add up to 5",
            "items": integer }),
        json!({ "type": "array", "minItems": 9, "description": format!("add up to {most}"),
            "items": { "type": "integer", "minimum": most } }),
        json!({ "type": "array", "minItems": 4_000_000_000u64, "uniqueItems": true,
            "items": { "type": "integer", "minimum": 1, "maximum": 4000 } }),
        json!({ "type": "string", "minLength": 4_000_000_000u64 }),
        json!({ "type": "array", "minItems": 40_000, "items": { "const": "x".repeat(10_000) } }),
        nested,
        itself,
    ] {
        for obedience in [Obedience::Legal, Obedience::OutOfRange] {
            let mut out = String::new();
            let mut draw = Digest::of(0, b"long").draw(Purpose::Answer, 0);
            write_value(&schema, obedience, &mut draw, &mut out);
            assert!(
                out.len() < 2 * LONGEST + 100_000,
                "{} of {schema}",
                out.len()
            );
            assert!(serde_json::from_str::<Value>(&out).is_ok(), "{schema}");
        }
    }
}
