//! Reads what a bidder predicts of its rivals: whether each of them wants the item
//! that is up (Harbor, section 4.5). A rival that is left out is asked for again.

use crate::agents::auction::rows::{Rows, given, is_among, nothing_for};
use crate::forms::{TEXT, object_schema};
use crate::mind::Reply;
use crate::reading::json::Json;
use crate::reading::{embedded, said, snake};

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
    let found = values
        .iter()
        .rev()
        .find_map(|value| value.find(&|inner| rows_in(inner, rivals)));
    let Some(rows) = found else {
        let what = "a prediction per rival";
        return Err(nothing_for(rivals, what, "be brief, and name", reply));
    };
    let of = |rival: &&str| {
        let value = given(&rows, rival).next();
        let value = value.ok_or_else(|| format!("the prediction for {rival} is missing"))?;
        prediction(value).ok_or_else(|| {
            format!(
                "what is said of {rival} does not tell whether it wants the item: true or false"
            )
        })
    };
    rivals.iter().map(of).collect()
}

/// The schema of predictions.
pub fn schema(rivals: &[&str]) -> String {
    let one = object_schema([("detail", TEXT), ("wants", r#"{"type":"boolean"}"#)]);
    let all = object_schema(rivals.iter().map(|name| (name, &one)));
    object_schema([("predictions", all)])
}

/// What is said of rivals, by name: in an object with their names as keys, or in rows that
/// name one each.
fn rows_in(value: &Json, rivals: &[&str]) -> Option<Rows> {
    let row = |row: &Json| {
        let name = NAMES.iter().find_map(|key| row.get(key)?.as_str())?;
        Some((name.to_owned(), row.clone()))
    };
    let rows: Rows = match value {
        Json::Object(map) => map.iter().cloned().collect(),
        Json::Array(list) => list.iter().filter_map(row).collect(),
        _ => return None,
    };
    let is_about = rows.iter().any(|(key, _)| is_among(rivals, key));
    is_about.then_some(rows)
}

/// A prediction as models write it: an object with `wants`, or the answer alone.
fn prediction(value: &Json) -> Option<Prediction> {
    let Json::Object(map) = value else {
        let detail = String::new();
        return answer(value).map(|wants| Prediction { wants, detail });
    };
    let of = |name: &&str| map.iter().find(|(key, _)| snake(key) == **name);
    let field = |names: &[&str]| Some(&names.iter().find_map(of)?.1);
    let detail = field(DETAILS).and_then(Json::as_str).unwrap_or_default();
    Some(Prediction {
        wants: answer(field(WANTS)?)?,
        detail: detail.trim().chars().take(LONGEST_DETAIL).collect(),
    })
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
