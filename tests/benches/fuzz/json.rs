//! Changes to JSON that stays JSON: other values, keys that are gone or doubled, longer and shorter
//! lists. So parsers are reached behind the first one. Called by the targets whose inputs are JSON.

use serde_json::{Value, json};

use super::draw::Draw;

/// The tree with one to four of its values changed.
pub fn forged(draw: &mut Draw, real: &Value) -> Value {
    let mut forged = real.clone();
    for _ in 0..=draw.below(4) {
        let depth = 1 + draw.below(12);
        change(draw, &mut forged, depth);
    }
    forged
}

/// Goes down at random, and changes what is there.
fn change(draw: &mut Draw, value: &mut Value, depth: usize) {
    if depth > 0 {
        let count = match value {
            Value::Array(list) => list.len(),
            Value::Object(table) => table.len(),
            _ => 0,
        };
        let chosen = draw.below(count);
        let inner = match value {
            Value::Array(list) => list.get_mut(chosen),
            Value::Object(table) => table.values_mut().nth(chosen),
            _ => None,
        };
        if let Some(inner) = inner {
            return change(draw, inner, depth - 1);
        }
    }
    match value {
        Value::Array(list) if !draw.one_in(4) => match draw.below(5) {
            0 => list.clear(),
            1 => drop(list.pop()),
            2 if list.len() < 1_000 => list.extend(list.clone()),
            3 => list.truncate(1),
            _ => list.reverse(),
        },
        Value::Object(table) if !draw.one_in(4) => {
            let chosen = draw.below(table.len());
            if let Some(key) = table.keys().nth(chosen).cloned() {
                let removed = table.remove(&key).unwrap_or_default();
                if draw.one_in(2) {
                    table.insert(format!("{key}x"), removed);
                }
            }
        }
        _ => *value = hostile(draw),
    }
}

/// A value that is seldom expected.
pub fn hostile(draw: &mut Draw) -> Value {
    match draw.below(16) {
        0 => Value::Null,
        1 => json!(draw.one_in(2)),
        2 => json!(draw.below(12)),
        3 => json!(-(draw.below(12) as i64)),
        4 => json!(draw.number()),
        5 => json!(draw.number() as i64),
        6 => json!(f64::from_bits(draw.number())),
        7 => json!(*draw.pick(&[0.5, -0.0, -1e300, 1.7e308, 1e-320, 1e15, 9.007e15])),
        8 => json!(*draw.pick(&[u64::MAX, i64::MAX as u64, 1 << 32, (1 << 32) - 1, 1 << 53])),
        9 => json!(*draw.pick(&[i64::MIN, i64::MIN + 1, i64::from(i32::MIN)])),
        10 => json!(""),
        11 => json!("x".repeat(draw.below(5_000))),
        12 => json!(*draw.pick(&["é\n\u{202e}", "\0", "null", "-1", "1e999", "bob", "../x"])),
        13 => json!([]),
        14 => json!({}),
        _ => (0..draw.below(200)).fold(json!(1), |inner, _| json!([inner])),
    }
}
