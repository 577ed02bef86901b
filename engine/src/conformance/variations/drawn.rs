//! Changes of draws: another entry for one seat, or another value that nobody knows. New
//! values come from another course of the same game, so that they could have been drawn.

use super::{Way, sampled};
use crate::ask::Seat;
use crate::chance::{Draw, Stream};
use crate::conformance::course::Course;
use crate::event::Value;

/// A draw with one entry per seat: another entry for one seat in every round at once. Where
/// no entry is free, two seats exchange theirs.
pub(super) fn owned(
    stream: Stream,
    seats: usize,
    course: &Course,
    other: &Course,
) -> Result<Vec<Way>, String> {
    let is_ours = |draw: &&Draw| draw.stream == stream.0;
    let ours: Vec<&Draw> = course.draws().iter().filter(is_ours).collect();
    if let Some(strange) = ours.iter().find(|draw| draw.value.len() != seats) {
        let Draw { at, value, .. } = strange;
        return Err(format!(
            "the draw of {} at {at} is declared to belong to seats, but has no entry for each: \
             {value:?}",
            stream.0
        ));
    }
    let pool = other.draws().iter().filter(is_ours);
    let pool: Vec<Value> = pool
        .flat_map(|draw| (0..seats).map(|seat| draw.value.entry(seat)))
        .collect();
    let mut ways = Vec::new();
    for seat in sampled(seats) {
        let replaced = |draw: &Draw| {
            let free = pool.iter().find(|value| !holds(&draw.value, value));
            free.map(|value| with_entry(&draw.value, seat, value))
        };
        let stepped = |draw: &Draw| {
            let number = draw.value.entry(seat).integer()?;
            let near = [number + 1, number - 1].map(Value::Integer);
            let free = near.into_iter().find(|value| !holds(&draw.value, value))?;
            Some(with_entry(&draw.value, seat, &free))
        };
        let next = (seat + 1) % seats;
        let exchanged = |draw: &Draw| {
            let (one, two) = (draw.value.entry(seat), draw.value.entry(next));
            let value = with_entry(&draw.value, seat, &two);
            Some(with_entry(&value, next, &one))
        };
        let own = format!("the draw of {} of seat {seat} is another", stream.0);
        let both = format!(
            "seats {seat} and {next} have exchanged their draws of {}",
            stream.0
        );
        ways.push(changed(stream, course, vec![seat], own.clone(), replaced));
        ways.push(changed(stream, course, vec![seat], own, stepped));
        ways.push(changed(stream, course, vec![seat, next], both, exchanged));
    }
    Ok(ways.into_iter().flatten().collect())
}

/// Another value of every draw, or of the last one alone.
pub(super) fn hidden(stream: Stream, course: &Course, other: &Course) -> Vec<Way> {
    let replaced = |draw: &Draw| {
        let same = |one: &&Draw| one.stream == draw.stream && one.value != draw.value;
        other.draws().iter().find(same).map(|one| one.value.clone())
    };
    let last = course.draws().iter().rfind(|draw| draw.stream == stream.0);
    let what = format!("the draws of {} are others", stream.0);
    let all = changed(stream, course, Vec::new(), what, replaced);
    let what = format!("the last draw of {} is another", stream.0);
    let only = |draw: &Draw| replaced(draw).filter(|_| last == Some(draw));
    let one = changed(stream, course, Vec::new(), what, only);
    all.into_iter().chain(one).collect()
}

/// The course's draws with those of a stream changed, where any can be.
fn changed(
    stream: Stream,
    course: &Course,
    of: Vec<Seat>,
    what: String,
    change: impl Fn(&Draw) -> Option<Value>,
) -> Option<Way> {
    let mut draws = course.draws().to_vec();
    let ours = draws.iter_mut().filter(|draw| draw.stream == stream.0);
    let mut is_changed = false;
    for draw in ours {
        if let Some(value) = change(draw) {
            draw.value = value;
            is_changed = true;
        }
    }
    is_changed.then_some(Way::Draws { of, draws, what })
}

fn holds(column: &Value, value: &Value) -> bool {
    (0..column.len()).any(|place| column.entry(place) == *value)
}

/// A column with another entry for one seat.
fn with_entry(column: &Value, seat: Seat, entry: &Value) -> Value {
    let entries = (0..column.len()).map(|place| match place == seat {
        true => entry.clone(),
        false => column.entry(place),
    });
    let entries: Vec<Value> = entries.collect();
    let integers: Option<Vec<i64>> = entries.iter().map(Value::integer).collect();
    integers.map_or(Value::List(entries), Value::Integers)
}
