//! What a bidder intends: a strategy in words, and a priority from 1 to 3 for every item that
//! is still to come (arXiv 2310.05746, section 3.3). Items that are over are left out and
//! reported, because models plan for them, too. A list that cannot be read comes with a reason
//! that says what to mend.

use super::bidder::{Bidder, Bids, Plan};
use super::rows::{given, is_among, named, nothing_for};
use crate::forms::{TEXT, object_schema};
use crate::mind::{Mind, MindError, Reply};
use crate::notes;
use crate::reading::json::{Json, Object};
use crate::reading::{embedded, in_quotes, said, whole_number};

/// The priority of an item that no plan has spoken of: the middle one.
const NO_PRIORITY: i64 = 2;

/// Priorities: 1 (give it up if needed), 2 (bid if the budget allows), 3 (above
/// all others).
pub const RANGE: std::ops::RangeInclusive<i64> = 1..=3;

/// Words under which a row may put an item, and its priority.
const NAME_KEYS: &[&str] = &["item", "name", "item_name"];
const PRIORITY_KEYS: &[&str] = &["priority", "level", "score", "value"];

/// The longest strategy that is kept of a plan, in letters: what a page holds.
/// It is put into every later call of the seat.
const LONGEST_STRATEGY: usize = 3_000;

impl<A: Bids> Bidder<A> {
    /// Plans, or plans again. What cannot be read leaves the plan as it was.
    pub async fn make_plan(
        &mut self,
        purpose: &'static str,
        mind: &dyn Mind,
    ) -> Result<(), MindError> {
        let place = self.picture.place;
        let names = self.picture.items.iter().map(|item| &*item.name);
        let names: Vec<&str> = names.collect();
        let (past, wanted) = names.split_at(place.min(names.len()));
        let format = ("plan", schema(wanted));
        let read = |reply: &Reply| read(reply, wanted, past);
        let answered = self.ask(purpose, format, read, mind).await?;
        let mut plan = self.plan.clone().unwrap_or_else(|| Plan {
            strategy: None,
            priorities: vec![NO_PRIORITY; names.len()],
        });
        let source = answered.source();
        let mut past_items = Vec::new();
        if let Some(found) = answered.found {
            plan.strategy = found.strategy;
            plan.priorities.truncate(place);
            plan.priorities.extend(found.of);
            past_items = found.past;
        }
        let rows = plan.priorities.iter().enumerate();
        self.note(notes::Plan {
            at_item: place,
            priorities: rows
                .map(|(at, priority)| (at >= place).then_some(*priority))
                .collect(),
            strategy: plan.strategy.clone(),
            tries: answered.tries,
            source,
            problems: answered.problems,
            past_items,
        });
        self.plan = Some(plan);
        Ok(())
    }
}

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
    let what = "a priority per item";
    let nothing = || nothing_for(wanted, what, "be brief, and name", reply);
    let (of, past) = match best {
        Some(list) => {
            let over = list.keys().filter(|name| is_among(past, name));
            (complete(&list, wanted, past)?, over.cloned().collect())
        }
        None => (in_words(text, wanted).ok_or_else(nothing)?, Vec::new()),
    };
    let strategy = strategy(text, &values);
    Ok(Priorities { strategy, of, past })
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
    let is_list = |map: &Object| map.keys().any(|key| is_among(wanted, key));
    match value {
        Json::Object(map) if is_list(map) => vec![map.clone()],
        Json::Object(map) => {
            let inside = map.values().flat_map(|inner| lists_in(inner, wanted));
            inside.collect()
        }
        Json::Array(rows) => {
            let mut list = Object::default();
            for row in rows {
                let inside = match named(row, NAME_KEYS, PRIORITY_KEYS) {
                    Some(row) => vec![row],
                    None => {
                        let inside = lists_in(row, wanted);
                        inside.iter().flat_map(Object::iter).cloned().collect()
                    }
                };
                for (name, priority) in inside {
                    list.push(name, priority);
                }
            }
            Some(list).filter(is_list).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn complete(list: &Object, wanted: &[&str], past: &[&str]) -> Result<Vec<i64>, String> {
    let mut of = Vec::with_capacity(wanted.len());
    let mut missing = Vec::new();
    for item in wanted {
        let mut said = given(list.iter(), item);
        let Some(first) = said.next() else {
            missing.push(*item);
            continue;
        };
        of.push(priority(first).ok_or_else(|| {
            format!("the priority of \"{item}\" is {first}, but must be 1, 2 or 3")
        })?);
        if said.any(|other| other != first) {
            return Err(format!("\"{item}\" has two different priorities; give one"));
        }
    }
    if missing.is_empty() {
        return Ok(of);
    }
    let mut strange = list.keys();
    let strange = strange.find(|key| !is_among(wanted, key) && !is_among(past, key));
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
