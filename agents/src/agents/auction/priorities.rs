//! Reads priority lists from plans: a number from 1 to 3 for every item that is
//! still to come (arXiv 2310.05746, section 3.3). Items that are over are left
//! out and reported, because models plan for them, too. A list that cannot be
//! read comes with a reason that says what to mend.

use crate::forms::{TEXT, object_schema};
use crate::mind::Reply;
use crate::reading::json::{Json, Object};
use crate::reading::{embedded, in_quotes, is_cut_off, said, same, whole_number};

/// Priorities: 1 (give it up if needed), 2 (bid if the budget allows), 3 (above
/// all others).
pub const RANGE: std::ops::RangeInclusive<i64> = 1..=3;

/// The longest strategy that is kept of a plan, in letters: what a page holds.
/// It is put into every later call of the seat.
const LONGEST_STRATEGY: usize = 3_000;

/// A plan as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Priorities {
    /// What the plan says besides the list; none when it says nothing.
    pub strategy: Option<String>,
    /// One priority per item that was asked for, in that order.
    pub of: Vec<i64>,
    /// Names of items that are over and got a priority all the same.
    pub past: Vec<String>,
}

/// Reads the priorities of `wanted` items; `past` are items that are over.
///
/// # Errors
/// What is wrong with the list, and what would be right.
pub fn read(reply: &Reply, wanted: &[&str], past: &[&str]) -> Result<Priorities, String> {
    let text = said(reply);
    if text.is_empty() {
        return Err("the reply was empty; give a JSON object with a priority per item".to_owned());
    }
    let values = embedded::values(text);
    let mut best: Option<Object> = None;
    for value in &values {
        let mut lists = lists_in(value, wanted);
        if lists.windows(2).any(|pair| pair[0].map() != pair[1].map()) {
            return Err("the reply holds more than one list of priorities; give one".to_owned());
        }
        // Models restate an example first and answer last.
        best = lists.pop().or(best);
    }
    let strategy = strategy(text, &values);
    let past_of = |list: &Object| {
        let names = list.keys();
        let over = |name: &&String| past.iter().any(|item| same(item, name));
        names.filter(over).cloned().collect()
    };
    match best {
        Some(list) => Ok(Priorities {
            of: complete(&list, wanted, past)?,
            past: past_of(&list),
            strategy,
        }),
        None => match in_words(text, wanted) {
            Some(of) => Ok(Priorities {
                of,
                past: Vec::new(),
                strategy,
            }),
            None if is_cut_off(reply) => Err(format!(
                "the reply was cut off before its JSON was complete; be brief, and name {}",
                in_quotes(wanted)
            )),
            None => Err(format!(
                "no JSON object with a priority per item was found; its keys are {}",
                in_quotes(wanted)
            )),
        },
    }
}

/// The schema of a plan: the strategy in words, then a priority per item.
pub fn schema(wanted: &[&str]) -> String {
    let priority = r#"{"type":"integer","enum":[1,2,3]}"#;
    let priorities = object_schema(wanted.iter().map(|item| (item, priority)));
    object_schema([("strategy", TEXT), ("priorities", &priorities)])
}

/// The lists of priorities in a value: objects with names of items as keys, itself
/// or inside, and lists of objects that name an item each.
fn lists_in(value: &Json, wanted: &[&str]) -> Vec<Object> {
    match value {
        Json::Object(map) => {
            let named = |key: &String| wanted.iter().any(|item| same(item, key));
            if map.keys().any(named) {
                return vec![map.clone()];
            }
            let inside = map.values().flat_map(|inner| lists_in(inner, wanted));
            inside.collect()
        }
        Json::Array(rows) => {
            let mut list = Object::default();
            for row in rows {
                match named_row(row) {
                    Some((name, priority)) => {
                        list.push(name.to_owned(), priority.clone());
                    }
                    None => {
                        for (name, priority) in lists_in(row, wanted).iter().flat_map(Object::iter)
                        {
                            list.push(name.clone(), priority.clone());
                        }
                    }
                }
            }
            let found = list
                .keys()
                .any(|key| wanted.iter().any(|item| same(item, key)));
            if found { vec![list] } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

/// A row such as `{"item": "Widget A", "priority": 3}`.
fn named_row(row: &Json) -> Option<(&str, &Json)> {
    let map = row.as_object()?;
    let name = map.field(&["item", "name", "item_name"])?.as_str()?;
    Some((name, map.field(&["priority", "level", "score", "value"])?))
}

fn complete(list: &Object, wanted: &[&str], past: &[&str]) -> Result<Vec<i64>, String> {
    let mut of = Vec::with_capacity(wanted.len());
    let mut missing = Vec::new();
    for item in wanted {
        let said: Vec<&Json> = list
            .iter()
            .filter(|(key, _)| same(item, key))
            .map(|(_, value)| value)
            .collect();
        match &*said {
            [] => missing.push(*item),
            [first, rest @ ..] => {
                let priority = priority(first).ok_or_else(|| {
                    format!("the priority of \"{item}\" is {first}, but must be 1, 2 or 3")
                })?;
                if rest.iter().any(|other| *other != *first) {
                    return Err(format!("\"{item}\" has two different priorities; give one"));
                }
                of.push(priority);
            }
        }
    }
    if missing.is_empty() {
        return Ok(of);
    }
    let known = |key: &String| wanted.iter().chain(past).any(|item| same(item, key));
    let strange = list.keys().find(|key| !known(key));
    let strange = strange.map_or(String::new(), |key| format!("; there is no item \"{key}\""));
    let missing = in_quotes(&missing);
    Err(format!("the priority of {missing} is missing{strange}"))
}

/// A priority as models write it: 3, "3", "three", "3 (top)", {"priority": 3}.
fn priority(value: &Json) -> Option<i64> {
    let number = match value {
        Json::Object(map) => return priority(map.get("priority")?),
        Json::Number(_) => whole_number(value)?,
        Json::String(text) => whole_number(value).or_else(|| {
            let (first, rest) = text.trim().split_at_checked(1)?;
            let ends = rest.starts_with([' ', '-', ':', '(', ',']);
            let only = !rest.contains(|letter: char| letter.is_numeric());
            first.parse().ok().filter(|_| ends && only)
        })?,
        _ => return None,
    };
    RANGE.contains(&number).then_some(number)
}

/// Priorities from lines such as "Widget A: 3" or "- Gadget B (priority 2)": for
/// each item the only line that names it and holds a single number from 1 to 3.
fn in_words(text: &str, wanted: &[&str]) -> Option<Vec<i64>> {
    let lines: Vec<String> = text.lines().map(str::to_lowercase).collect();
    let of = |item: &&str| {
        let name = item.to_lowercase();
        let behind = lines.iter().filter_map(|line| {
            let at = line.find(&name)?;
            Some(&line[at + name.len()..])
        });
        let mut found = behind.filter_map(only_digit);
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    };
    wanted.iter().map(of).collect()
}

/// The only number of a text, when it is a priority.
fn only_digit(text: &str) -> Option<i64> {
    let numbers = text.split(|letter: char| !(letter.is_ascii_digit() || letter == '.'));
    let mut numbers = numbers.map(|number| number.trim_matches('.'));
    let mut numbers = numbers.by_ref().filter(|number| !number.is_empty());
    let only = numbers.next().filter(|_| numbers.next().is_none())?;
    only.parse().ok().filter(|number| RANGE.contains(number))
}

/// What a plan says in words: its field `strategy`, else the text before its
/// first object.
fn strategy(text: &str, values: &[Json]) -> Option<String> {
    let field = values.iter().rev().find_map(|value| {
        let map = value.as_object()?;
        map.get("strategy").or_else(|| map.get("plan"))?.as_str()
    });
    let words = field.unwrap_or_else(|| {
        let start = text.find("```").into_iter().chain(text.find('{')).min();
        &text[..start.unwrap_or(text.len())]
    });
    let words = words.trim();
    let end = words.char_indices().nth(LONGEST_STRATEGY);
    let words = &words[..end.map_or(words.len(), |(at, _)| at)];
    (!words.is_empty()).then(|| words.to_owned())
}
