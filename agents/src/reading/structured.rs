//! Reads a reply that is, as a whole, the JSON object that was asked for. Mends nothing and
//! searches nothing: any other text is left to the readers that `reading.rs` tries after it.

use agon_engine::Ask;

use super::embedded::Answered;
use super::fields::{self, Rank};
use super::json::Json;
use super::prose::Namer;
use super::{Place, Reading};

/// The answer of a reply that is one JSON object with the ask's field; `None` when it is
/// anything else.
pub(crate) fn read(ask: &Ask, namer: &Namer<'_>, text: &str) -> Option<Answered> {
    let trimmed = text.trim();
    if !trimmed.starts_with('{') {
        return None;
    }
    // The library stops at its own depth limit of 128.
    let object: Json = serde_json::from_str(trimmed).ok()?;
    object.get(&ask.kind)?;
    let (rank, found) = fields::find(ask, namer, &object)?;
    if rank > Rank::Asked {
        return None;
    }
    Some(Answered {
        said: found.said,
        read: found.read.map(|action| Reading {
            action,
            found_in: Place::Structured,
            repairs: Vec::new(),
        }),
        end: text.len(),
    })
}
