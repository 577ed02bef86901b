//! Reads the lessons that a bidder writes down after an auction: a list in JSON,
//! or numbered lines. Their sense is not judged.

use serde_json::Value;

use crate::mind::Reply;
use crate::reading::json::Json;
use crate::reading::{embedded, said};

/// The kind of the note that holds them; a series carries it from one auction to
/// the next ([`agon_engine::series::CARRIED_NOTES`]).
pub const NOTE: &str = "tips";

/// Most lessons that are kept; they stand in every call of the next auction.
const MOST: usize = 10;

/// Longest lesson, in letters.
const LONGEST: usize = 500;

/// The form that is asked for.
pub const SCHEMA: &str = r#"{"type":"object","properties":{"tips":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":10}},"required":["tips"],"additionalProperties":false}"#;

/// The lessons in a note of the auction before.
pub fn carried(body: &Value) -> Option<Vec<String>> {
    let rows = body.get("tips")?.as_array()?.iter();
    rows.map(|row| row.as_str().map(str::to_owned)).collect()
}

/// The lessons in a reply.
///
/// # Errors
/// There are none.
pub fn read(reply: &Reply) -> Result<Vec<String>, String> {
    let text = said(reply);
    let listed = embedded::values(text).iter().rev().find_map(in_json);
    let tips = listed.unwrap_or_else(|| numbered(text)).into_iter();
    let tips = tips.map(|tip| tip.trim().chars().take(LONGEST).collect::<String>());
    let tips: Vec<String> = tips.filter(|tip| !tip.is_empty()).take(MOST).collect();
    if tips.is_empty() {
        return Err("it holds no numbered lesson".to_owned());
    }
    Ok(tips)
}

fn in_json(value: &Json) -> Option<Vec<String>> {
    let rows = match value {
        Json::Object(map) => map.get("tips").or_else(|| map.get("lessons"))?.as_array()?,
        rows => rows.as_array()?,
    };
    let texts = rows.iter().filter_map(Json::as_str).map(str::to_owned);
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then_some(texts)
}

/// Lines that begin with a number or a bullet.
fn numbered(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix(['-', '*', '•']) {
            return Some(rest.trim_start_matches('*').to_owned());
        }
        let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        if rest.len() == line.len() {
            return None;
        }
        rest.strip_prefix(['.', ')', ':']).map(str::to_owned)
    });
    lines.collect()
}

#[cfg(test)]
mod tests;
