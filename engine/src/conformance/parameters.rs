//! Sets of parameters for a game, made from its JSON Schema: the defaults, each
//! parameter at values near its edges, and mixtures of those. What the game
//! itself refuses is left out, so a schema need not know every rule.

use serde_json::{Value, json};

use crate::chance::{Chance, Generator, Luck};
use crate::game::Registration;
use crate::spec::Settings;

/// Mixtures of edge values that are tried.
const MIXTURES: usize = 24;

/// Largest number of a parameter that is tried: edges matter, not long games.
const LARGEST: i64 = 1000;

/// Complete, different sets that the game accepts; the defaults first.
pub(super) fn parameter_sets(registration: &Registration) -> Vec<Settings> {
    let mut sets: Vec<Settings> = Vec::new();
    let mut try_set = |settings: &Settings| {
        if let Ok(built) = registration.build(settings)
            && !sets.contains(&built.params)
        {
            sets.push(built.params);
        }
    };
    let defaults = Settings::new();
    try_set(&defaults);
    let schema = registration.schema();
    let parameters = edges(&schema, registration);
    for (name, values) in &parameters {
        for value in values {
            try_set(&Settings::from([(name.clone(), value.clone())]));
        }
    }
    let mut generator = Chance::seeded(Luck::new(0, 0)).for_rule_player(0);
    for _ in 0..MIXTURES {
        try_set(&mixture(&parameters, &mut generator));
    }
    sets
}

/// Each parameter with the values to try.
fn edges(schema: &Value, registration: &Registration) -> Vec<(String, Vec<Value>)> {
    let Some(properties) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let of_one = |(name, node): (&String, &Value)| {
        let values = match name.as_str() {
            "players" => seat_counts(registration),
            _ => values_of(schema, node, &node["default"]),
        };
        (name.clone(), values)
    };
    properties.iter().map(of_one).collect()
}

fn seat_counts(registration: &Registration) -> Vec<Value> {
    let (fewest, most) = registration.info.seats;
    let counts = [fewest, fewest + 1, 5, most.min(13)];
    counts.into_iter().map(|count| json!(count)).collect()
}

/// A node of a schema, or what it refers to.
pub(super) fn resolved<'a>(schema: &'a Value, node: &'a Value) -> &'a Value {
    let target = node["$ref"].as_str();
    let pointer = target.map(|target| target.trim_start_matches('#'));
    let found = pointer.and_then(|pointer| schema.pointer(pointer));
    found.unwrap_or(node)
}

/// Values for a schema node: all words of an enumeration, both flags, numbers
/// around 0, 1 and the default.
pub(super) fn values_of(schema: &Value, node: &Value, default: &Value) -> Vec<Value> {
    let node = resolved(schema, node);
    for key in ["oneOf", "anyOf", "allOf"] {
        if let Some(branches) = node[key].as_array() {
            return branches
                .iter()
                .flat_map(|branch| values_of(schema, branch, default))
                .collect();
        }
    }
    if let Some(words) = node["enum"].as_array() {
        return words.clone();
    }
    if !node["const"].is_null() {
        return vec![node["const"].clone()];
    }
    let is = |kind: &str| match &node["type"] {
        Value::Array(kinds) => kinds.iter().any(|found| found == kind),
        found => found == kind,
    };
    let usual = default.as_f64().unwrap_or(10.0);
    if is("boolean") {
        vec![json!(true), json!(false)]
    } else if is("integer") {
        let usual = (usual as i64).clamp(-LARGEST, LARGEST / 2);
        let values = [
            -5,
            0,
            1,
            2,
            3,
            7,
            usual - 1,
            usual + 1,
            usual / 2,
            usual * 2,
        ];
        values.into_iter().map(|value| json!(value)).collect()
    } else if is("number") {
        let values = [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, usual / 2.0, usual * 2.0];
        values.into_iter().map(|value| json!(value)).collect()
    } else {
        Vec::new()
    }
}

/// Each parameter at its default half of the time, otherwise at an edge.
fn mixture(parameters: &[(String, Vec<Value>)], generator: &mut Generator) -> Settings {
    let mut settings = Settings::new();
    for (name, values) in parameters {
        if values.is_empty() || generator.below(2) == 0 {
            continue;
        }
        let place = generator.below(values.len() as u64) as usize;
        settings.insert(name.clone(), values[place].clone());
    }
    settings
}
