//! What a reply predicts of others before it answers: predictions stand under `predictions`
//! of a JSON object, under the names of players, or on lines that begin with such a name.
//! They are read leniently: what cannot be read is null, and never a foul. The answer itself
//! is read by [`crate::reading`], which takes nothing for it that is said of others.

use std::collections::BTreeMap;

use agon_engine::{Ask, Form, Seat};
use serde_json::Value;

use crate::mind::Reply;
use crate::reading::json::{Json, Object};
use crate::reading::{self, plain};
use lines::{Told, is_name};
use stand_in::StandIns;

mod lines;
mod stand_in;

/// Parts of the names of fields that hold predictions; the field that is asked for is
/// `predictions`.
const FIELDS: [&str; 3] = ["predictions", "prediction", "predicted"];

/// Names of the field in which a row says whom it is about.
const WHO: [&str; 7] = [
    "player", "name", "rival", "opponent", "bidder", "resident", "seat",
];

/// Of a prediction in words, so many letters are noted.
const NOTED_LETTERS: usize = 200;

/// What a reply predicts of each rival; null where nothing can be read.
pub fn predictions(
    ask: &Ask,
    rivals: &[(Seat, String)],
    in_words: bool,
    reply: &Reply,
) -> BTreeMap<Seat, Value> {
    let names: Vec<String> = rivals.iter().map(|(_, name)| name.clone()).collect();
    let text = reading::said_or_whole(reply);
    let stand_ins = StandIns::new(text);
    let stated = stated(ask, &names, &stand_ins);
    let told = lines::told(&stand_ins.text, &names, ask);
    let found = rivals.iter().enumerate().map(|(at, (rival, name))| {
        let asked = Ask {
            seat: *rival,
            ..ask.clone()
        };
        let read_told = |told: &Told| match stand_ins.only(&told.words) {
            Some(object) => read(&asked, in_words, &object.value),
            None => read_words(&asked, in_words, &told.words, told.is_marked),
        };
        let value = match stated {
            Some(stated) => {
                entry(stated, name, &ask.kind).and_then(|value| read(&asked, in_words, value))
            }
            None => {
                let of_rival = || told.iter().filter(|told| told.rival == at);
                let marked = of_rival().rev().filter(|told| told.is_marked);
                let sentences = of_rival().filter(|told| !told.is_marked);
                marked.chain(sentences).find_map(read_told)
            }
        };
        (*rival, value.unwrap_or(Value::Null))
    });
    found.collect()
}

/// Whether a field holds predictions, by its name.
fn is_field(key: &str) -> bool {
    plain(key).split('_').any(|part| FIELDS.contains(&part))
}

/// Whether what is said under a player's name is said of that player: not in divisions,
/// which give everybody a part.
fn names_speak(ask: &Ask) -> bool {
    !matches!(ask.form, Form::Division { .. })
}

/// Whether an object of a list says that it is about a rival.
fn is_row(row: &Object, is_rival: &dyn Fn(&str) -> bool) -> bool {
    row.iter().any(|(key, value)| {
        WHO.contains(&plain(key).as_str()) && value.as_str().is_some_and(is_rival)
    })
}

/// What a reply states its predictions in, the last that there is: a field of that name,
/// else what gives rivals an entry.
fn stated<'a>(ask: &Ask, rivals: &[String], stand_ins: &'a StandIns) -> Option<&'a Json> {
    let objects = || stand_ins.objects.iter().rev();
    let named = objects().find_map(|object| match object.is_labelled {
        true => Some(&object.value),
        false => field(&object.value),
    });
    let unnamed = || objects().find_map(|object| with_entries(&object.value, rivals));
    named.or_else(|| unnamed().filter(|_| names_speak(ask)))
}

fn field(value: &Json) -> Option<&Json> {
    match value {
        Json::Object(map) => {
            let own = map.iter().rev().find(|(key, _)| is_field(key));
            own.map(|(_, value)| value)
                .or_else(|| map.values().find_map(field))
        }
        Json::Array(items) => items.iter().find_map(field),
        _ => None,
    }
}

fn with_entries<'a>(value: &'a Json, rivals: &[String]) -> Option<&'a Json> {
    let is_rival = |key: &str| rivals.iter().any(|name| is_name(key, name));
    let has_entries = match value {
        Json::Object(map) => map.keys().any(|key| is_rival(key)),
        Json::Array(rows) => rows
            .iter()
            .filter_map(Json::as_object)
            .any(|row| is_row(row, &is_rival)),
        _ => return None,
    };
    let inner = || match value {
        Json::Object(map) => map.values().find_map(|one| with_entries(one, rivals)),
        Json::Array(items) => items.iter().find_map(|one| with_entries(one, rivals)),
        _ => None,
    };
    has_entries.then_some(value).or_else(inner)
}

/// The entry of a player in an object by name, or in rows that each name a player.
fn entry<'a>(stated: &'a Json, rival: &str, kind: &str) -> Option<&'a Json> {
    match stated {
        Json::Object(map) => {
            let mut named = map.iter().filter(|(name, _)| is_name(name, rival));
            named.next_back().map(|(_, value)| value)
        }
        Json::Array(rows) => rows.iter().rev().find_map(|row| {
            let row = row.as_object()?;
            let is_about = |value: &Json| value.as_str().is_some_and(|text| is_name(text, rival));
            row.values().any(is_about).then(|| {
                let other = row.values().find(|value| !is_about(value));
                of_kind(row, kind).or(other)
            })?
        }),
        _ => None,
    }
}

fn of_kind<'a>(map: &'a Object, kind: &str) -> Option<&'a Json> {
    let mut fields = map.iter().filter(|(key, _)| plain(key) == kind);
    fields.next_back().map(|(_, value)| value)
}

fn read(ask: &Ask, in_words: bool, value: &Json) -> Option<Value> {
    if let Json::String(words) = value {
        return read_words(ask, in_words, words, true);
    }
    if in_words {
        return (*value != Json::Null).then(|| value.value());
    }
    // {"Bob": {"bid": 30, "reason": ..}}
    let value = value.as_object().map_or(Some(value), |map| {
        let only = map.values().next().filter(|_| map.len() == 1);
        of_kind(map, &ask.kind).or(only)
    })?;
    if let Json::String(words) = value {
        return read_words(ask, in_words, words, true);
    }
    let action = ask.form.read(&value.value()).ok()?;
    ask.form.check(&action).ok()?;
    Some(super::noted(&ask.form, &action))
}

fn read_words(ask: &Ask, in_words: bool, words: &str, is_marked: bool) -> Option<Value> {
    let words = words.trim_start_matches(|letter: char| {
        letter.is_whitespace() || lines::MARKS.contains(&letter) || ['*', '_'].contains(&letter)
    });
    let words = words.trim_end_matches(|letter: char| letter.is_whitespace() || letter == '|');
    if words.is_empty() {
        return None;
    }
    if in_words {
        let noted: String = words.chars().take(NOTED_LETTERS).collect();
        return Some(noted.into());
    }
    // The cells of a table's row, or the words as they are; without what the seat says
    // of itself behind them.
    words.split('|').find_map(|cell| {
        let theirs = match lines::first_person(cell).map(|at| &cell[..at]) {
            Some(theirs) if is_marked && !lines::has_words(theirs) => cell,
            Some(theirs) => theirs,
            None => cell,
        };
        let spoken = theirs.trim();
        let as_a_whole = read_spoken(ask, spoken.to_owned());
        // "has little left, maybe 35": where clauses name one answer, it is that.
        let by_clause = || {
            let clauses = spoken.split(", ").flat_map(|part| part.split("; "));
            let mut found = clauses.filter_map(|clause| read_spoken(ask, clause.to_owned()));
            let first = found.next()?;
            found.all(|other| other == first).then_some(first)
        };
        let of_another = || read_spoken(ask, lines::in_first_person(spoken)?);
        as_a_whole.or_else(of_another).or_else(by_clause)
    })
}

fn read_spoken(ask: &Ask, text: String) -> Option<Value> {
    let finish_reason = "stop".to_owned();
    let reply = Reply {
        text,
        finish_reason,
    };
    let action = super::read(ask, &reply).ok()?;
    Some(super::noted(&ask.form, &action))
}
