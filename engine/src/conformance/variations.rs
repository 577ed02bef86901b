//! Changes of one secret at a time: a parameter or a draw that a game declares to be of one
//! seat alone, or of nobody. Made from the parameters' own schema and from other draws of
//! the same stream; what the game itself refuses is left out.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::Case;
use super::course::Course;
use super::parameters::{resolved, values_of};
use crate::ask::Seat;
use crate::chance::{Draw, Luck};
use crate::disclosure::{Disclosure, Told};
use crate::game::Game;
use crate::spec::Settings;

mod drawn;

/// Seats whose secrets are changed: the first, the last and one between.
fn sampled(seats: usize) -> Vec<Seat> {
    let mut sampled = vec![0, seats / 2, seats.saturating_sub(1)];
    sampled.dedup();
    sampled
}

/// Something that some seats must not know, and ways to change it.
pub struct Secret {
    /// What it is: a path of parameters, or a stream.
    pub name: &'static str,
    /// Who is told what of it.
    pub disclosure: Disclosure,
    /// The ways, the most telling ones first; made as they are asked for.
    ways: Vec<Way>,
}

/// One way to change a secret.
enum Way {
    Parameter {
        of: Vec<Seat>,
        from: Json,
        to: Json,
        whole: Json,
    },
    Draws {
        of: Vec<Seat>,
        draws: Vec<Draw>,
        what: String,
    },
}

/// A game that differs from a case in one secret.
pub struct Variation {
    /// What differs, in words.
    pub what: String,
    /// Whose secret it is; nobody's where no seat may know it.
    pub of: Vec<Seat>,
    /// Complete parameters.
    pub params: Settings,
    /// The game built from them.
    pub game: Arc<dyn Game>,
    /// The draws to play it with.
    pub draws: Vec<Draw>,
}

/// All secrets of a case.
///
/// # Errors
/// A draw that each seat owns an entry of is no list with one entry per seat.
pub fn secrets_of(case: &Case<'_>, course: &Course) -> Result<Vec<Secret>, String> {
    let seats = case.game.seats();
    let schema = case.registration.schema();
    let mut secrets = Vec::new();
    let private = case.game.disclosures().into_iter();
    for disclosure in private.filter(|one| one.told != Told::Everybody) {
        for path in disclosure.parameters {
            let ways = match disclosure.told {
                Told::Owner => owned_parameter(case, &schema, path),
                _ => hidden_parameter(case, &schema, path),
            };
            secrets.push(Secret {
                name: path,
                disclosure,
                ways,
            });
        }
        for stream in disclosure.draws {
            let other = Course::of(&with_luck(case)?, 0)?;
            let ways = match disclosure.told {
                Told::Owner => drawn::owned(*stream, seats, course, &other)?,
                _ => drawn::hidden(*stream, course, &other),
            };
            secrets.push(Secret {
                name: stream.0,
                disclosure,
                ways,
            });
        }
    }
    Ok(secrets)
}

impl Secret {
    /// The variations that the game can be played with.
    pub fn variations<'a>(
        &'a self,
        case: &'a Case<'a>,
        course: &'a Course,
    ) -> impl Iterator<Item = Variation> + 'a {
        let name = self.name;
        self.ways.iter().filter_map(move |way| match way {
            Way::Parameter {
                of,
                from,
                to,
                whole,
            } => {
                let changed = case.with(top(name), whole.clone())?;
                if changed.params == case.params {
                    return None;
                }
                let whose = of
                    .first()
                    .map_or(String::new(), |seat| format!(" of seat {seat}"));
                Some(Variation {
                    what: format!("{name}{whose} is {to} instead of {from}"),
                    of: of.clone(),
                    params: changed.params,
                    game: changed.game,
                    draws: course.draws().to_vec(),
                })
            }
            Way::Draws { of, draws, what } => Some(Variation {
                what: what.clone(),
                of: of.clone(),
                params: case.params.clone(),
                game: Arc::clone(&case.game),
                draws: draws.clone(),
            }),
        })
    }
}

/// The parameter that a path begins with.
fn top(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

fn with_luck<'a>(case: &Case<'a>) -> Result<Case<'a>, String> {
    let luck = Luck::new(case.luck.seed ^ 1, case.luck.repeat);
    let other = Case::new(case.registration, &case.params, luck);
    other.map_err(|error| error.to_string())
}

/// A parameter with one entry per seat, or one value for all of them: another entry for one
/// seat, all others as they are.
fn owned_parameter(case: &Case<'_>, schema: &Json, path: &'static str) -> Vec<Way> {
    let seats = case.game.seats();
    let node = &schema["properties"][path];
    let whole = &case.params[path];
    let entries = match whole.as_array() {
        Some(entries) if entries.len() == seats => entries.clone(),
        _ => vec![whole.clone(); seats],
    };
    let mut ways = Vec::new();
    for seat in sampled(seats) {
        for to in others(schema, node, &entries[seat], &case.params) {
            let mut changed = entries.clone();
            let from = std::mem::replace(&mut changed[seat], to.clone());
            let whole = Json::Array(changed);
            ways.push(Way::Parameter {
                of: vec![seat],
                from,
                to,
                whole,
            });
        }
    }
    ways
}

/// A parameter that no seat knows: another value, or another field in one entry of a list.
fn hidden_parameter(case: &Case<'_>, schema: &Json, path: &'static str) -> Vec<Way> {
    let whole = &case.params[top(path)];
    let node = resolved(schema, &schema["properties"][top(path)]);
    let Some((_, field)) = path.split_once('.') else {
        let changed = others(schema, node, whole, &case.params).into_iter();
        let way = |to: Json| Way::Parameter {
            of: Vec::new(),
            from: whole.clone(),
            to: to.clone(),
            whole: to,
        };
        return changed.map(way).collect();
    };
    let node = resolved(schema, &node["items"]);
    let node = &node["properties"][field];
    let entries = whole.as_array().cloned().unwrap_or_default();
    let mut ways = Vec::new();
    for at in sampled(entries.len()).into_iter().rev() {
        let from = entries
            .get(at)
            .map_or(Json::Null, |entry| entry[field].clone());
        for to in others(schema, node, &from, &case.params) {
            let mut changed = entries.clone();
            changed[at][field] = to.clone();
            let whole = Json::Array(changed);
            ways.push(Way::Parameter {
                of: Vec::new(),
                from: from.clone(),
                to,
                whole,
            });
        }
    }
    ways
}

/// Other values of a parameter, far ones first: they leave most answers legal, or show most.
fn others(schema: &Json, node: &Json, value: &Json, params: &Settings) -> Vec<Json> {
    let mut others = Vec::new();
    match value {
        Json::Number(number) if number.is_i64() => {
            let number = number.as_i64().unwrap_or_default();
            let apart = params
                .values()
                .filter_map(Json::as_i64)
                .filter(|apart| *apart > 0);
            let far = [number * 2 + 10, number / 2];
            let near = apart.flat_map(|apart| [number + apart, number - apart]);
            others.extend(
                far.into_iter()
                    .chain([number + 1, number - 1])
                    .chain(near)
                    .map(|n| json!(n)),
            );
        }
        Json::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            others.extend([number * 2.0, number / 2.0, number + 1.0].map(|n| json!(n)));
        }
        Json::Bool(flag) => others.push(json!(!flag)),
        Json::Array(entries) => others.extend(other_lists(schema, node, entries, params)),
        _ => {}
    }
    others.extend(values_of(schema, node, value));
    if let Some(text) = value.as_str() {
        others.push(json!(format!("{text} or other")));
    }
    if value.is_null() {
        others.push(empty(schema, node));
    }
    let mut different: Vec<Json> = Vec::with_capacity(others.len());
    for other in others {
        if other != *value && !different.contains(&other) {
            different.push(other);
        }
    }
    different
}

/// Lists with one entry changed, and one entry more.
fn other_lists(schema: &Json, node: &Json, entries: &[Json], params: &Settings) -> Vec<Json> {
    let node = resolved(schema, &node["items"]);
    let with = |at: usize, entry: Json| {
        let mut changed = entries.to_vec();
        changed[at] = entry;
        Json::Array(changed)
    };
    let mut lists = Vec::new();
    if let Some(last) = entries.len().checked_sub(1) {
        let changed = others(schema, node, &entries[last], params).into_iter();
        lists.extend(changed.take(3).map(|entry| with(last, entry)));
    }
    let one = empty(schema, node);
    let one = match one {
        Json::Array(_) => json!(["somebody"]),
        Json::String(_) => json!("something"),
        other => other,
    };
    let seats = params.get("players").and_then(Json::as_u64).unwrap_or(1);
    let more = entries.iter().cloned().chain([one.clone()]);
    lists.push(Json::Array(more.collect()));
    lists.push(Json::Array((0..seats).map(|_| one.clone()).collect()));
    lists
}

/// The plainest value of a schema.
fn empty(schema: &Json, node: &Json) -> Json {
    let node = resolved(schema, node);
    let kind = match &node["type"] {
        Json::Array(kinds) => kinds.first().and_then(Json::as_str).unwrap_or_default(),
        kind => kind.as_str().unwrap_or_default(),
    };
    match kind {
        "array" => json!(["something"]),
        "integer" => json!(1),
        "number" => json!(1.0),
        "boolean" => json!(true),
        _ => json!("something"),
    }
}
