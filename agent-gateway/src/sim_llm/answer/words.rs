//! Legal answers that a prompt states in words ("It must be "cheap" or "costly"", "where N is a
//! whole number from 0 to 100") as a JSON Schema, so that one generator serves both. Refuses text
//! that states nothing of the kind. Called by `answer.rs` for requests without a schema.

use serde_json::{Value, json};

use super::{stated_range, whole_numbers};

/// What a prompt asks for, in words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stated {
    /// Schema of the answer, or of the object around it when one is asked for.
    pub(super) schema: Value,
    /// Whether the reply shall be a JSON object.
    pub(super) as_object: bool,
}

/// What introduces the legal answers, the last of which counts.
const INTRODUCTIONS: [&str; 2] = ["must be ", " is "];

/// Reads a prompt.
pub(super) fn stated(text: &str) -> Option<Stated> {
    let (_, last_line) = text.trim_end().rsplit_once('\n').unwrap_or(("", text));
    let found = INTRODUCTIONS
        .iter()
        .filter_map(|words| last_line.rfind(words));
    let legal = &last_line[found.max()?..];
    let answer = answer_schema(legal)?;
    match object_keys(last_line) {
        None => Some(Stated {
            schema: answer,
            as_object: false,
        }),
        Some(keys) => {
            let (last, before) = keys.split_last()?;
            let mut properties = serde_json::Map::new();
            for key in before {
                properties.insert((*key).to_owned(), json!({ "type": "string" }));
            }
            properties.insert((*last).to_owned(), answer);
            let schema = json!({ "type": "object", "properties": properties, "required": keys });
            Some(Stated {
                schema,
                as_object: true,
            })
        }
    }
}

fn answer_schema(legal: &str) -> Option<Value> {
    let numbers: Vec<i64> = whole_numbers(legal).map(|(_, _, number)| number).collect();
    if legal.contains("add up to") {
        let (parts, total) = (numbers.first()?, numbers.last()?);
        return Some(json!({
            "type": "array",
            "items": { "type": "integer", "minimum": 0, "maximum": total },
            "minItems": parts,
            "maxItems": parts,
            "description": format!("add up to {total}"),
        }));
    }
    let options: Vec<&str> = legal.split('"').skip(1).step_by(2).collect();
    if !options.is_empty() && !legal.contains("number") {
        return Some(json!({ "enum": options }));
    }
    match (stated_range(legal), numbers.first()) {
        (Some((low, high)), _) => {
            Some(json!({ "type": "integer", "minimum": low, "maximum": high }))
        }
        (None, Some(least)) if legal.contains("at least") => {
            Some(json!({ "type": "integer", "minimum": least }))
        }
        _ => None,
    }
}

/// The keys of the object that is asked for, when its values are stand-ins and no JSON:
/// `{"reason": TEXT, "vote": WORD}`.
fn object_keys(line: &str) -> Option<Vec<&str>> {
    let (_, after) = line.split_once("JSON object {")?;
    let (inside, _) = after.split_once('}')?;
    let keys = inside.split(',').map(|pair| pair.split('"').nth(1));
    keys.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_lists_become_schemas() {
        let schema = |text: &str| stated(text).map(|stated| stated.schema);
        assert_eq!(
            schema("Say it in one sentence. It must be \"cheap\" or \"costly\"."),
            Some(json!({ "enum": ["cheap", "costly"] }))
        );
        assert_eq!(
            schema("State your guess. It must be a whole number from 0 to 100."),
            Some(json!({ "type": "integer", "minimum": 0, "maximum": 100 }))
        );
        assert_eq!(
            schema("State your bid. It must be a whole number of at least 7."),
            Some(json!({ "type": "integer", "minimum": 7 }))
        );
        let list = "It must be a list of 4 whole numbers, none negative, that add up to 90.";
        assert_eq!(schema(list).unwrap()["minItems"], 4);
        assert_eq!(schema(list).unwrap()["description"], "add up to 90");
        assert_eq!(schema("What a day this is"), None);
    }

    #[test]
    fn an_object_with_stand_ins_is_asked_for_as_one() {
        let text = "Think first.\nReply with a single JSON object {\"reason\": TEXT, \"vote\": WORD}, \
                    where TEXT is your reasoning and WORD is \"accept\" or \"reject\".";
        let stated = stated(text).unwrap();
        assert!(stated.as_object);
        assert_eq!(stated.schema["required"], json!(["reason", "vote"]));
        assert_eq!(
            stated.schema["properties"]["vote"],
            json!({ "enum": ["accept", "reject"] })
        );
    }
}
