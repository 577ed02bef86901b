//! Reads persona profiles from replies: a weight from -1 to 1 for every persona of
//! the world (Harbor, section 3.4). A profile that cannot be read, or that leaves a
//! persona out, comes with a reason that says what to mend.

use std::collections::BTreeMap;

use agon_engine::numerals::{self, Sort};

use crate::agents::auction::rows::{Rows, given, is_among, named, nothing_for};
use crate::forms::{TEXT, object_schema};
use crate::mind::Reply;
use crate::reading::json::Json;
use crate::reading::{embedded, in_quotes, said, same};

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
    let values = embedded::values(text);
    // Models restate the old profile first and answer last.
    let mut found = values.iter().rev();
    let rows = found.find_map(|value| rows_in(value, rival, personas));
    let rows = rows.or_else(|| rows_in_words(text, personas));
    let rows = rows.ok_or_else(|| {
        nothing_for(
            personas,
            "a weight per persona",
            "be brief; its keys are",
            reply,
        )
    })?;
    complete(&rows, personas)
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

fn rows_in(value: &Json, rival: &str, personas: &[&str]) -> Option<Rows> {
    match value {
        Json::Object(map) => {
            // A reply about several bidders: only the one that was asked about.
            let own = map.iter().find(|(key, _)| same(rival, key));
            if let Some(rows) = own.and_then(|(_, inner)| rows_in(inner, rival, personas)) {
                return Some(rows);
            }
            if map.keys().any(|key| is_among(personas, key)) {
                return Some(map.iter().cloned().collect());
            }
            let others = map.iter().filter(|(key, _)| !names_a_bidder(key));
            let mut others = others.rev();
            others.find_map(|(_, inner)| rows_in(inner, rival, personas))
        }
        // A bare vector, in the order in which personas were listed.
        Json::Array(list) if list.len() == personas.len() && list.iter().all(Json::is_number) => {
            let names = personas.iter().map(|name| (*name).to_owned());
            Some(names.zip(list.iter().cloned()).collect())
        }
        Json::Array(list) => {
            let rows = list.iter();
            let rows = rows.filter_map(|row| named(row, NAME_KEYS, WEIGHT_KEYS));
            let rows: Rows = rows.collect();
            let is_profile = rows.iter().any(|(name, _)| is_among(personas, name));
            let mut inside = list.iter().rev();
            let inside = || inside.find_map(|inner| rows_in(inner, rival, personas));
            is_profile.then_some(rows).or_else(inside)
        }
        _ => None,
    }
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
        let read = given(rows, persona).map(|value| {
            weight(value).ok_or_else(|| {
                let value = short(value);
                format!("the weight of \"{persona}\" is {value}, but must be from -1 to 1")
            })
        });
        match &*read.collect::<Result<Vec<f64>, String>>()? {
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
            return weight(WEIGHT_KEYS.iter().find_map(|key| map.get(key))?);
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
