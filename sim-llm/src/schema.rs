//! Makes a value that satisfies a JSON Schema, as a player without a thought would: any number of
//! the range, any word of the list. It knows the keywords that our asks and structured outputs
//! use, and one habit of ours: the description of an array of integers may say that they
//! "add up to" a number. What it
//! does not know (patterns, formats, conditions) it does not obey.

use serde_json::Value;

use super::draw::Draw;

/// Deeper schemas than any ask of ours end in null rather than in a full stack.
const DEPTH_LIMIT: usize = 32;

/// How far a range goes on when the schema gives only one end of it, or none.
const OPEN_RANGE: i64 = 100;

/// Up to this many values, a list of different items is drawn without repetition.
const COUNTABLE: i64 = 4096;

/// Characters after which an answer is brought to its end, whatever the schema asks for: more than
/// any model writes. Schemas of arrays inside arrays would make it endless.
const LONGEST: usize = 1024 * 1024;

/// Items of an array whose schema sets no upper end.
const OPEN_ARRAY: usize = 3;

/// What is said where a schema wants free text.
pub(super) const SENTENCES: [&str; 4] = [
    "This seems a reasonable choice.",
    "I take a middle way and watch the others.",
    "Nothing speaks against it this time.",
    "It worked well enough before.",
];

/// Whether the value shall satisfy the schema or break its ranges on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Obedience {
    Legal,
    OutOfRange,
}

/// Writes a value for `schema` as JSON.
pub(super) fn write_value(schema: &Value, obedience: Obedience, draw: &mut Draw, out: &mut String) {
    Writer {
        root: schema,
        obedience,
        draw,
        out,
    }
    .value(schema, 0);
}

struct Writer<'a> {
    root: &'a Value,
    obedience: Obedience,
    draw: &'a mut Draw,
    out: &'a mut String,
}

/// Whether no number is too large for a schema.
fn is_open_above(schema: &Value) -> bool {
    let keywords = ["maximum", "exclusiveMaximum"];
    keywords.iter().all(|keyword| schema.get(keyword).is_none())
}

impl<'a> Writer<'a> {
    fn value(&mut self, schema: &'a Value, depth: usize) {
        let schema = self.resolve(schema);
        if depth > DEPTH_LIMIT || self.is_full() {
            return self.raw("null");
        }
        if let Some(fixed) = schema.get("const") {
            return self.json(fixed);
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return self.one_of(words);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(alternatives) = schema.get(keyword).and_then(Value::as_array)
                && let Some(chosen) = self.prefer_first(alternatives)
            {
                return self.value(chosen, depth + 1);
            }
        }
        if let Some(first) = schema.pointer("/allOf/0") {
            return self.value(first, depth + 1);
        }
        let kind = self.kind(schema);
        // Gemini's own schemas shout their types.
        match kind.to_ascii_lowercase().as_str() {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "integer" => self.integer(schema),
            "number" => self.number(schema),
            "boolean" => {
                let yes = self.draw.below(2) == 1;
                self.raw(if yes { "true" } else { "false" });
            }
            "null" => self.raw("null"),
            _ => self.text(schema),
        }
    }

    fn resolve(&self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..DEPTH_LIMIT {
            let Some(pointer) = schema.get("$ref").and_then(Value::as_str) else {
                break;
            };
            match pointer
                .strip_prefix('#')
                .and_then(|pointer| self.root.pointer(pointer))
            {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }

    fn kind(&mut self, schema: &'a Value) -> &'a str {
        match schema.get("type") {
            Some(Value::String(kind)) => kind,
            Some(Value::Array(kinds)) => self
                .prefer_first(kinds)
                .and_then(Value::as_str)
                .unwrap_or("null"),
            _ if schema.get("properties").is_some() => "object",
            _ if schema.get("items").is_some() => "array",
            _ if schema.get("minimum").is_some() || schema.get("maximum").is_some() => "integer",
            _ => "string",
        }
    }

    /// The first alternative is what the ask is about, the others ways out of it (null, a pass):
    /// three times in four the first, else any of the rest.
    fn prefer_first(&mut self, alternatives: &'a [Value]) -> Option<&'a Value> {
        let others = alternatives.len().saturating_sub(1);
        if others == 0 || self.draw.below(4) > 0 {
            return alternatives.first();
        }
        alternatives.get(1 + self.draw.below(others))
    }

    fn one_of(&mut self, words: &'a [Value]) {
        if self.obedience == Obedience::OutOfRange {
            return self.raw("\"none of these\"");
        }
        let chosen = words
            .get(self.draw.below(words.len()))
            .unwrap_or(&Value::Null);
        self.json(chosen);
    }

    fn object(&mut self, schema: &'a Value, depth: usize) {
        let nothing = Value::Null;
        let properties = schema.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = match schema.get("required").and_then(Value::as_array) {
            Some(names) => names.iter().filter_map(Value::as_str).collect(),
            None => properties
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str())
                .collect(),
        };
        self.raw("{");
        for (position, name) in required.into_iter().enumerate() {
            if self.is_full() {
                break;
            }
            self.comma(position);
            self.string(name);
            self.raw(":");
            match properties.and_then(|properties| properties.get(name)) {
                Some(property) => self.value(property, depth + 1),
                None => self.json(&nothing),
            }
        }
        self.raw("}");
    }

    fn array(&mut self, schema: &'a Value, depth: usize) {
        let count = |keyword| {
            schema
                .get(keyword)
                .and_then(Value::as_u64)
                .map(|count| count.min(LONGEST as u64) as usize)
        };
        let fewest = count("minItems").unwrap_or(0);
        let most = count("maxItems")
            .unwrap_or(fewest.max(OPEN_ARRAY))
            .max(fewest);
        let sum = schema
            .get("description")
            .and_then(Value::as_str)
            .and_then(stated_sum);
        // A sum needs the room of all items; else any number of them, but one if that may be.
        let length = match sum {
            Some(_) => most,
            None => self
                .draw
                .between(fewest.max(1).min(most) as i64, most as i64) as usize,
        };
        let items = schema
            .get("items")
            .map_or(&Value::Null, |items| self.resolve(items));
        if let Some(sum) = sum {
            let division = self.division(items, length, sum);
            return self.list(division.into_iter().map(Value::from));
        }
        let unique = schema.get("uniqueItems").and_then(Value::as_bool) == Some(true);
        if unique && let Some(mut values) = countable(items) {
            for position in 0..length.min(values.len()) {
                let other = position + self.draw.below(values.len() - position);
                values.swap(position, other);
            }
            values.truncate(length);
            return self.list(values);
        }
        self.raw("[");
        for position in 0..length {
            if self.is_full() {
                break;
            }
            self.comma(position);
            self.value(items, depth + 1);
        }
        self.raw("]");
    }

    /// Integers within their own range that add up to `sum`, as far as the range allows it.
    fn division(&mut self, items: &Value, parts: usize, sum: i64) -> Vec<i64> {
        let low = bound(items, "minimum").unwrap_or(0);
        let width = bound(items, "maximum")
            .unwrap_or(sum.max(low))
            .saturating_sub(low)
            .max(0);
        let mut left = sum.saturating_sub(low.saturating_mul(parts as i64)).max(0);
        let mut amounts = Vec::with_capacity(parts);
        for position in 0..parts {
            let room_after = width.saturating_mul((parts - position - 1) as i64);
            let fewest = left.saturating_sub(room_after).max(0);
            let amount = self.draw.between(fewest.min(width), width.min(left));
            left -= amount;
            amounts.push(low.saturating_add(amount));
        }
        if self.obedience == Obedience::OutOfRange
            && let Some(first) = amounts.first_mut()
        {
            *first = first.saturating_add(1);
        }
        amounts
    }

    fn integer(&mut self, schema: &Value) {
        let (low, high) = integer_range(schema);
        let drawn = self.draw.between(low, high);
        let beyond = 1 + drawn.rem_euclid(OPEN_RANGE);
        let value = match self.obedience {
            Obedience::Legal => drawn,
            Obedience::OutOfRange if is_open_above(schema) => low.saturating_sub(beyond),
            Obedience::OutOfRange => high.saturating_add(beyond),
        };
        self.raw(&value.to_string());
    }

    fn number(&mut self, schema: &Value) {
        let end = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        let open = OPEN_RANGE as f64;
        let low = end("minimum").or(end("exclusiveMinimum"));
        let high = end("maximum").or(end("exclusiveMaximum"));
        let low = low.unwrap_or(high.map_or(0.0, |high| high - open));
        let high = high.unwrap_or(low + open).max(low);
        if self.obedience == Obedience::OutOfRange {
            let beyond = match is_open_above(schema) {
                true => -(low.abs() * 2.0 + 1.0),
                false => high.abs() * 2.0 + 1.0,
            };
            return self.raw(&beyond.to_string());
        }
        // As people would: two decimals where the range has room for them.
        let step = end("multipleOf").filter(|step| *step > 0.0).unwrap_or(0.01);
        let (mut first, mut last) = ((low / step).ceil(), (high / step).floor());
        first += f64::from(end("exclusiveMinimum").is_some_and(|edge| first * step <= edge));
        last -= f64::from(end("exclusiveMaximum").is_some_and(|edge| last * step >= edge));
        let value = if first <= last && first.abs().max(last.abs()) < 1e15 {
            let steps = self.draw.between(first as i64, last as i64) as f64;
            if step == 0.01 {
                steps / 100.0
            } else {
                steps * step
            }
        } else {
            // Strictly between the ends, whatever is excluded.
            low + (high - low) * (0.25 + self.draw.unit() / 2.0)
        };
        self.raw(&value.clamp(low, high).to_string());
    }

    fn text(&mut self, schema: &Value) {
        let length = |keyword| {
            schema
                .get(keyword)
                .and_then(Value::as_u64)
                .map(|length| length.min(LONGEST as u64) as usize)
        };
        let sentence = SENTENCES[self.draw.below(SENTENCES.len())];
        let fewest = length("minLength").unwrap_or(0);
        let most = length("maxLength").unwrap_or(LONGEST).max(fewest);
        let count = sentence.len().max(fewest).min(most);
        let text: String = sentence
            .chars()
            .chain(" ...".chars().cycle())
            .take(count)
            .collect();
        self.string(&text);
    }

    fn list(&mut self, values: impl IntoIterator<Item = Value>) {
        self.raw("[");
        for (position, value) in values.into_iter().enumerate() {
            if self.is_full() {
                break;
            }
            self.comma(position);
            self.json(&value);
        }
        self.raw("]");
    }

    /// Whether nothing more should be written than what closes what is open.
    fn is_full(&self) -> bool {
        self.out.len() >= LONGEST
    }

    fn comma(&mut self, position: usize) {
        if position > 0 {
            self.raw(",");
        }
    }

    fn raw(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn string(&mut self, text: &str) {
        self.json(&Value::from(text));
    }

    fn json(&mut self, value: &Value) {
        self.out.push_str(&value.to_string());
    }
}

/// Every value the schema allows, when they are few.
fn countable(schema: &Value) -> Option<Vec<Value>> {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return Some(words.clone());
    }
    if !schema
        .get("type")
        .and_then(Value::as_str)
        .is_some_and(|kind| kind.eq_ignore_ascii_case("integer"))
    {
        return None;
    }
    let (low, high) = integer_range(schema);
    (high.saturating_sub(low) < COUNTABLE).then(|| (low..=high).map(Value::from).collect())
}

/// Both ends included. `multipleOf` is not for integers of ours.
fn integer_range(schema: &Value) -> (i64, i64) {
    let low = bound(schema, "minimum")
        .or(bound(schema, "exclusiveMinimum").map(|edge| edge.saturating_add(1)));
    let high = bound(schema, "maximum")
        .or(bound(schema, "exclusiveMaximum").map(|edge| edge.saturating_sub(1)));
    let low = low.unwrap_or(high.map_or(0, |high| high.saturating_sub(OPEN_RANGE)));
    (low, high.unwrap_or(low.saturating_add(OPEN_RANGE)).max(low))
}

/// An end of an integer range, rounded inwards when it is not whole.
fn bound(schema: &Value, keyword: &str) -> Option<i64> {
    let value = schema.get(keyword)?;
    let inwards = |end: f64| {
        if keyword.ends_with("inimum") {
            end.ceil()
        } else {
            end.floor()
        }
    };
    value
        .as_i64()
        .or_else(|| value.as_f64().map(|end| inwards(end) as i64))
}

#[cfg(test)]
mod tests;

/// The number that a description says the entries add up to. There is no keyword
/// for it, and strict providers refuse keywords of one's own.
fn stated_sum(description: &str) -> Option<i64> {
    let (_, number) = description.split_once("add up to ")?;
    number.trim_end_matches('.').parse().ok()
}
