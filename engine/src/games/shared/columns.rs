//! Columns of events, one entry per seat, and the series that measures read from them.
//! Used by games and their measures.

use serde::Serialize;

use crate::ask::Seat;
use crate::event::{EventLog, Value};
use crate::measures::{mean, standard_deviation};

/// A column of what seats answered; a seat that forfeited has no entry. A plain
/// list when nobody is missing.
pub fn column<T>(entries: impl Iterator<Item = Option<T>> + Clone) -> Value
where
    Value: From<Vec<T>> + From<Option<T>>,
{
    let mut all = Vec::with_capacity(entries.size_hint().0);
    for entry in entries.clone() {
        match entry {
            Some(value) => all.push(value),
            None => return Value::List(entries.map(Value::from).collect()),
        }
    }
    all.into()
}

/// A value of the parameters, as JSON writes it; a choice by its name.
pub fn value_of(parameter: impl Serialize) -> Value {
    let written = serde_json::to_value(parameter).unwrap_or_default();
    Value::from(&written)
}

/// The seats for which something holds, given by seat.
pub fn seats_where(holds: impl Iterator<Item = bool>) -> Vec<Seat> {
    let all = holds.enumerate();
    all.filter_map(|(seat, holds)| holds.then_some(seat))
        .collect()
}

/// The sum of amounts; it stops at the ends of the range, which only lenient
/// replays can reach.
pub fn total(amounts: impl Iterator<Item = i64>) -> i64 {
    amounts.fold(0, i64::saturating_add)
}

/// A number from every event of a kind, in order.
pub fn series_of(log: &EventLog, kind: &str, name: &str) -> Vec<f64> {
    log.of_kind(kind)
        .filter_map(|event| event.number(name))
        .collect()
}

/// Mean and standard deviation of a list in each event of a kind; events whose
/// list holds no number are left out.
pub fn spread_of(log: &EventLog, kind: &str, name: &str) -> (Vec<f64>, Vec<f64>) {
    log.of_kind(kind)
        .filter_map(|event| Some(event.get(name)?.numbers()))
        .filter(|numbers| !numbers.is_empty())
        .map(|numbers| (mean(numbers.iter().copied()), standard_deviation(&numbers)))
        .unzip()
}
