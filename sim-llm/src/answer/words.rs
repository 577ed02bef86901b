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
    /// Who gets a line of its own before the answer, as good as the answer.
    pub(super) lines: Vec<String>,
}

/// What introduces the names of those.
const LINES: &str = "one line for each of ";

/// What introduces the legal answers, the last of which counts.
const INTRODUCTIONS: [&str; 2] = ["must be ", " is "];

/// Stand-ins for the answer.
const ANSWERS: [&str; 4] = ["N", "WORD", "NAME", "LIST"];

/// The stand-in for any amount.
const AMOUNT: &str = "AMOUNT";

/// Reads a prompt.
pub(super) fn stated(text: &str) -> Option<Stated> {
    let (_, last_line) = text.trim_end().rsplit_once('\n').unwrap_or(("", text));
    let found = INTRODUCTIONS
        .iter()
        .filter_map(|words| last_line.rfind(words));
    let legal = &last_line[found.max()?..];
    let answer = answer_schema(legal)?;
    match object_fields(last_line) {
        None => Some(Stated {
            schema: answer,
            as_object: false,
            lines: lines(last_line),
        }),
        Some(fields) => {
            let schema = object_schema(&fields, answer)?;
            Some(Stated {
                schema,
                as_object: true,
                lines: Vec::new(),
            })
        }
    }
}

/// The object around an answer. Where no field has a stand-in for the answer, it is the last.
fn object_schema(fields: &[(&str, &str)], answer: Value) -> Option<Value> {
    let (last, _) = fields.last()?;
    let has_answer = fields
        .iter()
        .any(|(_, stand_in)| ANSWERS.contains(stand_in));
    let mut properties = serde_json::Map::new();
    for (name, stand_in) in fields {
        let is_answer = match has_answer {
            true => ANSWERS.contains(stand_in),
            false => name == last,
        };
        let schema = match (is_answer, *stand_in) {
            (true, _) => answer.clone(),
            (false, AMOUNT) => json!({ "type": "number" }),
            (false, _) => json!({ "type": "string" }),
        };
        properties.insert((*name).to_owned(), schema);
    }
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    Some(json!({ "type": "object", "properties": properties, "required": names }))
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
        // Of a number without a range nothing is known to be legal.
        (None, None) if !options.is_empty() => Some(json!({ "enum": options })),
        _ => None,
    }
}

/// The names in "one line for each of Ann, Bob and Eve: ...".
fn lines(line: &str) -> Vec<String> {
    let names = line
        .split_once(LINES)
        .and_then(|(_, after)| after.split_once(':'));
    let names = names.map_or("", |(names, _)| names);
    let names = names.split(", ").flat_map(|part| part.split(" and "));
    let names = names.map(|name| name.trim().to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

/// The fields of the object that is asked for, when its values are stand-ins and no JSON:
/// `{"reason": TEXT, "vote": WORD}`.
fn object_fields(line: &str) -> Option<Vec<(&str, &str)>> {
    let (_, after) = line.split_once("JSON object {")?;
    let (inside, _) = after.split_once('}')?;
    let fields = inside.split(',').map(|pair| {
        let (_, named) = pair.split_once('"')?;
        let (name, stand_in) = named.split_once('"')?;
        Some((name, stand_in.trim_start_matches(':').trim()))
    });
    fields.collect()
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
        assert_eq!(
            schema("State your bid. It must be a whole number or \"withdraw\"."),
            Some(json!({ "enum": ["withdraw"] }))
        );
        let list = "It must be a list of 4 whole numbers, none negative, that add up to 90.";
        assert_eq!(schema(list).unwrap()["minItems"], 4);
        assert_eq!(schema(list).unwrap()["description"], "add up to 90");
        assert_eq!(schema("What a day this is"), None);
    }

    #[test]
    fn others_get_lines_of_their_own() {
        let text = "Write one line for each of player_1, player_2 and Al: the name, a colon, and your \
                    prediction. Then state your bid. It must be a whole number of at least 0.";
        assert_eq!(stated(text).unwrap().lines, ["player_1", "player_2", "Al"]);
        let text = "State your bid. It must be a whole number of at least 0.";
        assert!(stated(text).unwrap().lines.is_empty());
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

    #[test]
    fn the_answer_stands_in_the_field_with_its_stand_in() {
        let text = "Reply with nothing but a JSON object {\"goal\": TEXT, \"previous_guess\": N, \
                    \"previous_payoff\": AMOUNT, \"guess\": N, \"reason\": TEXT}, where N is a whole \
                    number from 3 to 9.";
        let stated = stated(text).unwrap();
        let of = |name: &str| stated.schema["properties"][name].clone();
        let legal = json!({ "type": "integer", "minimum": 3, "maximum": 9 });
        assert_eq!((of("guess"), of("previous_guess")), (legal.clone(), legal));
        assert_eq!(of("reason"), json!({ "type": "string" }));
        assert_eq!(of("previous_payoff"), json!({ "type": "number" }));
        let order = [
            "goal",
            "previous_guess",
            "previous_payoff",
            "guess",
            "reason",
        ];
        assert_eq!(stated.schema["required"], json!(order));
    }
}
