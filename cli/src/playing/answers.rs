//! What a person typed, as an answer to the question that is open. Reads by the form
//! that goes along with a question; whether an answer is legal is the game's business,
//! so an amount out of range is an answer and a word that means nothing is none.

use serde_json::{Value, json};

/// The form of an open question.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerForm {
    /// What is asked: the field of the answer.
    kind: String,
    /// Words that may be typed.
    words: Vec<String>,
    /// Whether a number may be typed, and which.
    number: Option<Numbers>,
    /// How many numbers make an answer, where it is a list.
    parts: Option<u64>,
    /// What the form says besides, in words.
    description: Option<String>,
}

/// The numbers that are meant.
#[derive(Debug, Clone, PartialEq)]
struct Numbers {
    whole: bool,
    min: Option<Value>,
    max: Option<Value>,
}

impl AnswerForm {
    /// The form of a question of this kind; `None` when its schema says something else.
    pub fn read(kind: &str, schema: &str) -> Option<Self> {
        let schema: Value = serde_json::from_str(schema).ok()?;
        let field = schema.get("properties")?.get(kind)?;
        let mut form = Self {
            kind: kind.to_owned(),
            words: Vec::new(),
            number: None,
            parts: None,
            description: field["description"].as_str().map(str::to_owned),
        };
        let either = field["anyOf"].as_array();
        match either {
            Some(shapes) => shapes.iter().for_each(|shape| form.take(shape)),
            None => form.take(field),
        }
        let knows = !form.words.is_empty() || form.number.is_some() || form.parts.is_some();
        knows.then_some(form)
    }

    fn take(&mut self, shape: &Value) {
        let words = shape["enum"].as_array().into_iter().flatten();
        self.words
            .extend(words.filter_map(|word| word.as_str().map(str::to_owned)));
        let limits = |whole| Numbers {
            whole,
            min: shape.get("minimum").cloned(),
            max: shape.get("maximum").cloned(),
        };
        match shape["type"].as_str() {
            Some("integer") => self.number = Some(limits(true)),
            Some("number") => self.number = Some(limits(false)),
            Some("array") => self.parts = shape["minItems"].as_u64(),
            _ => {}
        }
    }

    /// What can be typed, in words.
    pub fn help(&self) -> String {
        let mut parts = Vec::new();
        if let Some(Numbers { whole, min, max }) = &self.number {
            let what = if *whole { "a whole number" } else { "a number" };
            parts.push(match (min, max) {
                (Some(min), Some(max)) => format!("{what} from {min} to {max}"),
                (Some(min), None) => format!("{what} of at least {min}"),
                (None, Some(max)) => format!("{what} of at most {max}"),
                (None, None) => what.to_owned(),
            });
        }
        if let Some(count) = self.parts {
            let more = self.description.as_deref().unwrap_or_default();
            parts.push(format!(
                "{count} whole numbers, separated by spaces; {more}"
            ));
        }
        parts.extend(self.words.iter().cloned());
        parts.join(", or ")
    }

    /// The reply that says what was typed.
    ///
    /// # Errors
    /// It is no answer to such a question; says what would be one.
    pub fn answer(&self, typed: &str) -> Result<String, String> {
        let value = self.value(typed.trim());
        let value = value.ok_or_else(|| format!("not understood; type {}", self.help()))?;
        Ok(self.reply(&value))
    }

    /// The reply with this answer.
    pub fn reply(&self, value: &Value) -> String {
        json!({ self.kind.as_str(): value }).to_string()
    }

    fn value(&self, typed: &str) -> Option<Value> {
        if let Some(word) = self.word(typed) {
            return Some(json!(word));
        }
        if self.parts.is_some() {
            let bare = typed.trim_matches(['[', ']', '(', ')']);
            let pieces = bare
                .split([',', ' ', ';'])
                .filter(|piece| !piece.is_empty());
            let numbers: Option<Vec<i64>> = pieces.map(|piece| piece.parse().ok()).collect();
            return numbers.filter(|all| !all.is_empty()).map(|all| json!(all));
        }
        let number = self.number.as_ref()?;
        let bare = without_groups(typed.trim_start_matches(['$', '+']))?;
        if let Ok(whole) = bare.parse::<i64>() {
            return Some(json!(whole));
        }
        let real: f64 = bare.parse().ok()?;
        (!number.whole && real.is_finite()).then(|| json!(real))
    }

    /// The word that was meant: itself, its unmistakable beginning, or the number of a
    /// player.
    fn word(&self, typed: &str) -> Option<&str> {
        let typed = typed.trim_matches('"').to_lowercase();
        if typed.is_empty() {
            return None;
        }
        let exact = self.words.iter().find(|word| word.to_lowercase() == typed);
        if let Some(word) = exact {
            return Some(word);
        }
        let player = format!("player_{}", typed.trim_start_matches("player").trim());
        if let Some(word) = self.words.iter().find(|word| **word == player) {
            return Some(word);
        }
        let mut meant = self
            .words
            .iter()
            .filter(|word| word.to_lowercase().starts_with(&typed));
        match (meant.next(), meant.next()) {
            (Some(word), None) => Some(word),
            _ => None,
        }
    }
}

/// A number without the commas that set its thousands apart. One that stands elsewhere
/// ("12,5") means different things to different people, and is none.
fn without_groups(typed: &str) -> Option<String> {
    let bare = typed.replace('_', "");
    let (whole, fraction) = bare.split_once('.').unwrap_or((&bare, ""));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let mut groups = digits.split(',');
    let first = groups.next()?;
    let mut rest = groups.peekable();
    let has_groups = rest.peek().is_some();
    let well_formed = (1..=3).contains(&first.len()) && rest.all(|group| group.len() == 3);
    if has_groups && !well_formed || fraction.contains(',') {
        return None;
    }
    Some(bare.replace(',', ""))
}

#[cfg(test)]
mod tests {
    use agon_engine::Form;

    use super::*;

    fn form(form: &Form) -> AnswerForm {
        let schema = json!({ "type": "object", "properties": { "it": form.schema() } });
        AnswerForm::read("it", &schema.to_string()).unwrap()
    }

    #[track_caller]
    fn reads(form: &AnswerForm, typed: &str, value: Value) {
        let reply: Value = serde_json::from_str(&form.answer(typed).unwrap()).unwrap();
        assert_eq!(reply["it"], value, "{typed}");
    }

    #[test]
    fn amounts_are_read_as_people_write_them_whatever_the_range() {
        let bid = form(&Form::Integer {
            min: Some(1000),
            max: Some(2000),
            pass: Some("withdraw".into()),
        });
        for typed in ["1500", " $1,500 ", "1_500", "+1500"] {
            reads(&bid, typed, json!(1500));
        }
        reads(&bid, "7", json!(7));
        reads(&bid, "-3", json!(-3));
        for typed in ["withdraw", "Withdraw", "w", "\"withdraw\""] {
            reads(&bid, typed, json!("withdraw"));
        }
        for typed in [
            "",
            "1.5",
            "12,5",
            "1,2,3,4",
            "1.234,5",
            "1,5000",
            "much",
            "1500 or so",
            "withdrawn",
        ] {
            let refused = bid.answer(typed).unwrap_err();
            assert!(
                refused.contains("from 1000 to 2000, or withdraw"),
                "{refused}"
            );
        }
    }

    #[test]
    fn words_are_known_by_an_unmistakable_beginning() {
        let choice = form(&Form::one_of(&["go", "stay", "stand"]));
        reads(&choice, "G", json!("go"));
        reads(&choice, "stay", json!("stay"));
        assert!(choice.answer("sta").is_err());
        assert!(choice.answer("3").is_err());
    }

    #[test]
    fn players_are_known_by_their_number() {
        let shot = form(&Form::Target {
            seats: vec![1, 12],
            pass: Some("miss".into()),
        });
        for typed in ["1", "player_1", "player 1", "Player1"] {
            reads(&shot, typed, json!("player_1"));
        }
        reads(&shot, "miss", json!("miss"));
        assert!(shot.answer("2").is_err());
    }

    #[test]
    fn lists_are_read_with_blanks_commas_or_brackets() {
        let plan = form(&Form::Division {
            parts: 3,
            total: 10,
        });
        for typed in ["5 3 2", "5,3,2", "[5, 3, 2]"] {
            reads(&plan, typed, json!([5, 3, 2]));
        }
        assert!(plan.answer("five").is_err());
        assert!(plan.help().contains("add up to 10"), "{}", plan.help());
    }

    #[test]
    fn a_real_number_is_read_where_one_is_asked() {
        let share = form(&Form::Number { min: 0.0, max: 1.0 });
        reads(&share, "0.25", json!(0.25));
        assert!(share.answer("inf").is_err());
    }
}
