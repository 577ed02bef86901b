//! Reads persona profiles from replies: a weight from -1 to 1 for every persona of
//! the world (Harbor, section 3.4). A profile that cannot be read, or that leaves a
//! persona out, comes with a reason that says what to mend.

use std::collections::BTreeMap;

use agon_engine::numerals::{self, Sort};

use crate::forms::{TEXT, object_schema};
use crate::mind::Reply;
use crate::reading::json::Json;
use crate::reading::{embedded, in_quotes, is_cut_off, said, same};

/// Weights lie in this range.
const RANGE: std::ops::RangeInclusive<f64> = -1.0..=1.0;

/// Weights are kept to this many steps per unit: more digits are noise, and the
/// notes of a record stay short.
const STEPS: f64 = 10_000.0;

/// What one bidder thinks of another: a weight per persona, in the world's order.
pub type Weights = Vec<f64>;

/// Words under which a reply may put a persona, and its weight.
const NAME_KEYS: &[&str] = &["persona", "name", "type", "label"];
const WEIGHT_KEYS: &[&str] = &["weight", "score", "value", "alignment"];

/// Reads the profile of `rival` in terms of `personas`.
///
/// # Errors
/// What is wrong with it, and what would be right.
pub fn read(reply: &Reply, rival: &str, personas: &[&str]) -> Result<Weights, String> {
    let text = said(reply);
    if text.is_empty() {
        return Err("the reply was empty; give a JSON object with a weight per persona".to_owned());
    }
    let values = embedded::values(text);
    // Models restate the old profile first and answer last.
    let mut found = values.iter().rev();
    if let Some(rows) = found.find_map(|value| rows_in(value, rival, personas)) {
        return complete(&rows, personas);
    }
    if let Some(rows) = rows_in_words(text, personas) {
        return complete(&rows, personas);
    }
    let cause = if is_cut_off(reply) {
        "the reply was cut off before its JSON was complete; be brief"
    } else {
        "no JSON object with a weight per persona was found"
    };
    Err(format!("{cause}; its keys are {}", in_quotes(personas)))
}

/// The schema of a profile: reasons, then a weight per persona. `also` are further
/// texts behind them.
pub fn schema(personas: &[&str], also: &[&str]) -> String {
    let weight = r#"{"type":"number","minimum":-1,"maximum":1}"#;
    let weights = object_schema(personas.iter().map(|name| (name, weight)));
    let fields = [("reason", TEXT), ("weights", &*weights)].into_iter();
    object_schema(fields.chain(also.iter().map(|name| (*name, TEXT))))
}

/// A profile for a note: persona to weight.
pub fn by_name(weights: &[f64], personas: &[&str]) -> BTreeMap<String, f64> {
    let pairs = personas.iter().zip(weights);
    pairs
        .map(|(name, weight)| ((*name).to_owned(), *weight))
        .collect()
}

/// A text of the reply besides the weights.
pub fn text_field(reply: &Reply, name: &str) -> Option<String> {
    let values = embedded::values(said(reply));
    let found = values.iter().rev().find_map(|value| value.get(name));
    let text = found.and_then(Json::as_str).map(str::trim);
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Personas as the reply names them, with what it gives each.
type Rows = Vec<(String, Json)>;

fn rows_in(value: &Json, rival: &str, personas: &[&str]) -> Option<Rows> {
    match value {
        Json::Object(map) => {
            // A reply about several bidders: only the one that was asked about.
            let own = map.iter().find(|(key, _)| same(rival, key));
            if let Some(rows) = own.and_then(|(_, inner)| rows_in(inner, rival, personas)) {
                return Some(rows);
            }
            if map.keys().any(|key| is_persona(key, personas)) {
                let rows = map.iter().map(|(key, value)| (key.clone(), value.clone()));
                return Some(rows.collect());
            }
            let others = map.iter().filter(|(key, _)| !names_a_bidder(key));
            others
                .rev()
                .find_map(|(_, inner)| rows_in(inner, rival, personas))
        }
        Json::Array(list) => {
            // A bare vector, in the order in which personas were listed.
            if list.len() == personas.len() && list.iter().all(Json::is_number) {
                let pairs = personas.iter().zip(list);
                return Some(
                    pairs
                        .map(|(name, weight)| ((*name).to_owned(), weight.clone()))
                        .collect(),
                );
            }
            let rows: Rows = list.iter().filter_map(named_row).collect();
            let known = rows.iter().any(|(name, _)| is_persona(name, personas));
            if known {
                return Some(rows);
            }
            list.iter()
                .rev()
                .find_map(|inner| rows_in(inner, rival, personas))
        }
        _ => None,
    }
}

/// A row such as `{"persona": "farmer", "weight": 0.4}`.
fn named_row(row: &Json) -> Option<(String, Json)> {
    let map = row.as_object()?;
    let name = map.field(NAME_KEYS)?.as_str()?;
    Some((name.to_owned(), map.field(WEIGHT_KEYS)?.clone()))
}

fn is_persona(key: &str, personas: &[&str]) -> bool {
    personas.iter().any(|persona| same(persona, key))
}

/// Whether a key names some bidder: its profile is none of the one asked about.
fn names_a_bidder(key: &str) -> bool {
    let key = key.to_lowercase();
    key.starts_with("player_") || key.starts_with("player ")
}

/// Lines such as "- farmer: 0.4": for each persona what stands behind its name on
/// the last line that begins with it. All personas, or it is no profile.
fn rows_in_words(text: &str, personas: &[&str]) -> Option<Rows> {
    let mut rows = Rows::new();
    for persona in personas {
        let weight = text.lines().rev().find_map(|line| {
            let line = line.trim_matches(|letter: char| "-*• \t|".contains(letter));
            let (name, weight) = line.split_once([':', '=', '|'])?;
            same(persona, name).then(|| weight.trim_matches(['*', ' ', '|']).to_owned())
        })?;
        rows.push(((*persona).to_owned(), Json::String(weight)));
    }
    Some(rows)
}

fn complete(rows: &[(String, Json)], personas: &[&str]) -> Result<Weights, String> {
    let mut weights = Weights::with_capacity(personas.len());
    let mut missing = Vec::new();
    for persona in personas {
        let said = rows.iter().filter(|(name, _)| same(persona, name));
        let mut read = Vec::new();
        for (_, value) in said {
            let weight = weight(value).ok_or_else(|| {
                let value = short(value);
                format!("the weight of \"{persona}\" is {value}, but must be from -1 to 1")
            })?;
            read.push(weight);
        }
        match &*read {
            [] => missing.push(*persona),
            [first, rest @ ..] if rest.iter().all(|other| other == first) => weights.push(*first),
            _ => return Err(format!("\"{persona}\" has two different weights; give one")),
        }
    }
    if missing.is_empty() {
        return Ok(weights);
    }
    Err(format!("the weight of {} is missing", in_quotes(&missing)))
}

/// A weight as models write it: 0.8, "0.8", "+0.8", "80%", "minus one",
/// {"weight": 0.8}.
fn weight(value: &Json) -> Option<f64> {
    let number = match value {
        Json::Object(map) => {
            let field = WEIGHT_KEYS.iter().find_map(|key| map.get(key));
            return weight(field?);
        }
        Json::Number(number) => number.as_f64()?,
        Json::String(text) => in_text(text)?,
        _ => return None,
    };
    let rounded = (number * STEPS).round() / STEPS;
    // Adding 0 makes -0 a plain 0, which is written alike everywhere.
    RANGE.contains(&number).then_some(rounded + 0.0)
}

/// The number that a text begins with, if nothing but a remark in brackets follows.
fn in_text(text: &str) -> Option<f64> {
    let text = text.trim();
    let alone = text.split_once('(').map_or(text, |(before, _)| before);
    let numeral = numerals::only(if alone.is_empty() { text } else { alone })?;
    Some(match numeral.sort {
        Sort::Percent => numeral.value / 100.0,
        Sort::Plain => numeral.value,
        Sort::Money | Sort::Ratio => return None,
    })
}

/// The start of a value; replies may hold anything.
fn short(value: &Json) -> String {
    value.to_string().chars().take(40).collect()
}
