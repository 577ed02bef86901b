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
    let tips = listed.unwrap_or_else(|| numbered(text));
    let tips: Vec<String> = tips
        .iter()
        .map(|tip| tip.trim().chars().take(LONGEST).collect::<String>())
        .filter(|tip| !tip.is_empty())
        .take(MOST)
        .collect();
    if tips.is_empty() {
        return Err("it holds no numbered lesson".to_owned());
    }
    Ok(tips)
}

fn in_json(value: &Json) -> Option<Vec<String>> {
    let rows = match value {
        Json::Object(map) => map.get("tips").or_else(|| map.get("lessons"))?.as_array()?,
        Json::Array(rows) => rows,
        _ => return None,
    };
    let texts: Vec<String> = rows
        .iter()
        .filter_map(|row| row.as_str().map(str::to_owned))
        .collect();
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
mod tests {
    use super::*;

    fn tips(text: &str) -> Vec<String> {
        let reply = Reply {
            text: text.to_owned(),
            finish_reason: "stop".to_owned(),
        };
        read(&reply).unwrap_or_default()
    }

    #[test]
    fn lessons_come_as_json_or_as_a_list() {
        assert_eq!(tips(r#"{"tips": ["a", " b "]}"#), ["a", "b"]);
        assert_eq!(
            tips("Well:\n1. Save money.\n2) Bid late.\n"),
            ["Save money.", "Bid late."]
        );
        assert_eq!(tips("- one\n* two"), ["one", "two"]);
        assert_eq!(tips("```json\n[\"a\"]\n```"), ["a"]);
    }

    #[test]
    fn a_series_carries_the_note() {
        assert!(agon_engine::series::CARRIED_NOTES.contains(&NOTE));
    }

    #[test]
    fn what_is_no_list_is_none() {
        for text in [
            "",
            "I learned a lot in 2024.",
            r#"{"tips": []}"#,
            r#"{"tips": [3]}"#,
        ] {
            assert!(tips(text).is_empty(), "{text}");
        }
        assert_eq!(tips(&"1. x\n".repeat(99)).len(), MOST);
        assert_eq!(
            tips(&format!("1. {}", "é".repeat(999)))[0].chars().count(),
            LONGEST
        );
    }
}
