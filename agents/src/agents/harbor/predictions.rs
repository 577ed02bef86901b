//! Reads what a bidder predicts of its rivals: whether each of them wants the item
//! that is up (Harbor, section 4.5). A rival that is left out is asked for again.

use crate::agents::auction::priorities::same;
use crate::mind::Reply;
use crate::reading::json::{Json, Object};
use crate::reading::{embedded, said};

/// What is expected of one rival.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prediction {
    /// Whether it will want the item; none when that is open.
    pub wants: Option<bool>,
    /// Why, in the bidder's own words.
    pub detail: String,
}

/// Keys under which a reply may say whether a rival wants the item, why, and who
/// it is.
const WANTS: &[&str] = &["wants", "want", "interested", "will_bid", "bids"];
const DETAILS: &[&str] = &["detail", "reason", "reasoning", "why", "explanation"];
const NAMES: &[&str] = &["rival", "player", "bidder", "about", "name"];

/// Longest detail that is kept, in letters; it stands in later prompts.
const LONGEST_DETAIL: usize = 500;

/// Reads one prediction per rival, in their order.
///
/// # Errors
/// What is wrong with them, and what would be right.
pub fn read(reply: &Reply, rivals: &[&str]) -> Result<Vec<Prediction>, String> {
    let values = embedded::values(said(reply));
    let found = values.iter().rev().find_map(|value| rows_in(value, rivals));
    let Some(rows) = found else {
        let rivals = rivals.join(", ");
        return Err(format!(
            "no JSON object with a prediction per rival was found; its keys are {rivals}"
        ));
    };
    let mut predictions = Vec::with_capacity(rivals.len());
    for rival in rivals {
        let row = rows.iter().find(|(name, _)| same(rival, name));
        let (_, value) = row.ok_or_else(|| format!("the prediction for {rival} is missing"))?;
        let prediction = prediction(value).ok_or_else(|| {
            format!(
                "what is said of {rival} does not tell whether it wants the item: true or false"
            )
        })?;
        predictions.push(prediction);
    }
    Ok(predictions)
}

/// The schema of predictions.
pub fn schema(rivals: &[&str]) -> String {
    let one = r#"{"type":"object","properties":{"detail":{"type":"string"},"wants":{"type":"boolean"}},"required":["detail","wants"],"additionalProperties":false}"#;
    let fields: Vec<String> = rivals
        .iter()
        .map(|name| format!(r#""{name}":{one}"#))
        .collect();
    let names: Vec<String> = rivals.iter().map(|name| format!(r#""{name}""#)).collect();
    let (fields, names) = (fields.join(","), names.join(","));
    format!(
        r#"{{"type":"object","properties":{{"predictions":{{"type":"object","properties":{{{fields}}},"required":[{names}],"additionalProperties":false}}}},"required":["predictions"],"additionalProperties":false}}"#
    )
}

fn rows_in(value: &Json, rivals: &[&str]) -> Option<Vec<(String, Json)>> {
    let named = |key: &str| rivals.iter().any(|rival| same(rival, key));
    match value {
        Json::Object(map) => {
            if map.keys().any(|key| named(key)) {
                let rows = map.iter().map(|(key, value)| (key.clone(), value.clone()));
                return Some(rows.collect());
            }
            map.values().rev().find_map(|inner| rows_in(inner, rivals))
        }
        Json::Array(list) => {
            let row = |row: &Json| {
                let name = NAMES.iter().find_map(|key| row.get(key)?.as_str())?;
                Some((name.to_owned(), row.clone()))
            };
            let rows: Vec<(String, Json)> = list.iter().filter_map(row).collect();
            if rows.iter().any(|(name, _)| named(name)) {
                return Some(rows);
            }
            list.iter().rev().find_map(|inner| rows_in(inner, rivals))
        }
        _ => None,
    }
}

/// A prediction as models write it: an object with `wants`, or the answer alone.
fn prediction(value: &Json) -> Option<Prediction> {
    let Json::Object(map) = value else {
        let wants = answer(value)?;
        return Some(Prediction {
            wants,
            detail: String::new(),
        });
    };
    let field = |keys: &[&str]| -> Option<&Json> {
        let found = |key: &&str| map_key(map, key);
        keys.iter().find_map(found)
    };
    let detail = field(DETAILS).and_then(Json::as_str).unwrap_or_default();
    Some(Prediction {
        wants: answer(field(WANTS)?)?,
        detail: detail.trim().chars().take(LONGEST_DETAIL).collect(),
    })
}

fn map_key<'a>(map: &'a Object, name: &str) -> Option<&'a Json> {
    let found = map.iter().find(|(key, _)| {
        let key = key.trim().to_lowercase().replace([' ', '-'], "_");
        key == name
    });
    found.map(|(_, value)| value)
}

/// Yes, no, or open; the outer none is no answer at all.
fn answer(value: &Json) -> Option<Option<bool>> {
    match value {
        Json::Bool(wants) => Some(Some(*wants)),
        Json::Null => Some(None),
        Json::String(text) => {
            let word = text.trim().trim_end_matches(['.', '!']).to_lowercase();
            let first = word.split([',', ' ', ':', ';']).next().unwrap_or_default();
            match first {
                "yes" | "true" | "likely" | "high" => Some(Some(true)),
                "no" | "false" | "unlikely" | "low" => Some(Some(false)),
                "unknown" | "unsure" | "unclear" | "maybe" => Some(None),
                _ => None,
            }
        }
        _ => None,
    }
}
