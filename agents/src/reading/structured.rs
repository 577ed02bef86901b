//! Reads a reply that is, as a whole, the JSON object that was asked for.
//! Mends nothing and searches nothing: any other text is left to the readers that
//! `reading.rs` tries after this one.

use agon_engine::{Ask, Foul};
use serde_json::Value;

use super::{Place, Reading, read_value};

/// The answer of a reply that is one JSON object with the ask's field; `None`
/// when it is anything else.
pub fn read(ask: &Ask, text: &str) -> Option<Result<Reading, Foul>> {
    let trimmed = text.trim();
    if !trimmed.starts_with('{') {
        return None;
    }
    // The library stops at its own depth limit of 128.
    let object: Value = serde_json::from_str(trimmed).ok()?;
    let value = object.get(ask.kind)?;
    let read = read_value(ask, value);
    Some(read.map(|action| Reading {
        action,
        found_in: Place::Structured,
        repairs: Vec::new(),
    }))
}
