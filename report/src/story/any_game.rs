//! A session of any game, told turn by turn: what each seat answered and what was
//! refused, then what happened. Knows events by their facts only. Called by `story.rs`.

use std::ops::Range;

use agon_engine::{Audience, Event, Value, View};

use super::notes;
use super::teller::Teller;
use super::words::{facts, value};

/// Facts that list seats; told by name where the game has names for its seats.
const LISTS_OF_SEATS: [&str; 3] = ["living", "winners", "eliminated"];

/// Tells everything between heading and ending.
pub fn tell(teller: &mut Teller<'_>) {
    let record = teller.record;
    match teller.turns.as_ref().map(|turns| turns.begin.clone()) {
        Some(begin) => {
            let ends = begin.iter().skip(1).copied();
            let ends: Vec<usize> = ends.chain([record.events.len()]).collect();
            teller.gap();
            events(teller, 0, 0..begin.first().copied().unwrap_or(0));
            for (place, (from, to)) in begin.iter().zip(ends).enumerate() {
                let turn = place as u32 + 1;
                teller.gap();
                teller.line(0, format!("Turn {turn}"));
                notes::tell_of_turns(teller, 1, |made| made == turn);
                moves(teller, turn);
                events(teller, 1, *from..to);
            }
        }
        None => by_kind(teller),
    }
    let last = teller.last_turn();
    notes::tell_of_turns(teller, 0, |made| made > last);
}

/// Events first and moves after them, where nobody can say which turn is whose.
fn by_kind(teller: &mut Teller<'_>) {
    let record = teller.record;
    teller.gap();
    events(teller, 0, 0..record.events.len());
    for turn in 1..=teller.last_turn() {
        teller.gap();
        teller.line(0, format!("Answers of turn {turn}"));
        notes::tell_of_turns(teller, 1, |made| made == turn);
        moves(teller, turn);
    }
}

fn moves(teller: &mut Teller<'_>, turn: u32) {
    for (place, made) in teller.moves_of(turn) {
        if !teller.shows(made.seat) {
            continue;
        }
        teller.tell_fouls(1, place, made);
        let (name, ask) = (teller.name(made.seat), &made.ask);
        let answer = teller.answer(place, made);
        if made.forfeited {
            teller.line(1, format!("{name}: {ask} forfeited"));
        } else {
            let who = teller.stood_in(place, made);
            teller.line(1, format!("{name}: {ask} {answer}{who}"));
            teller.tell_reply(2, place, made);
        }
    }
}

fn events(teller: &mut Teller<'_>, steps: usize, places: Range<usize>) {
    let record = teller.record;
    for (place, event) in places.clone().zip(&record.events[places]) {
        match teller.telling.seat {
            Some(_) if !teller.told.is_empty() => {
                let told = teller.told.get(place).cloned().unwrap_or_default();
                for line in told.lines() {
                    teller.line(steps, line);
                }
            }
            Some(seat) => {
                for sight in View::new(seat, std::slice::from_ref(event)).sights() {
                    let told = named(teller, sight.facts());
                    teller.line(steps, with_kind(event, "", &told));
                }
            }
            None => whole(teller, steps, event),
        }
    }
}

fn whole(teller: &mut Teller<'_>, steps: usize, event: &Event) {
    let to = match &event.audience {
        Audience::Everyone => String::new(),
        Audience::Only(seats) => {
            let everybody = seats.len() == teller.record.spec.seats.len();
            let names = seats.iter().map(|seat| teller.name_in_game(*seat));
            let names: Vec<String> = names.filter(|_| !everybody).collect();
            match everybody {
                true => " (to everybody)".to_owned(),
                false => format!(" (to {})", names.join(", ")),
            }
        }
    };
    let shared = event.facts.iter();
    let shared = named(teller, shared.map(|(name, value)| (&**name, value.clone())));
    teller.line(steps, with_kind(event, &to, &shared));
    if !event.own.is_empty() {
        let columns: Vec<String> = event
            .own
            .iter()
            .map(|(name, column)| format!("{} {}", name.replace('_', " "), entries(column)))
            .collect();
        teller.line(steps + 1, format!("seat by seat: {}", columns.join("; ")));
    }
    if !event.hidden.is_empty() {
        let hidden = event.hidden.iter();
        let hidden = facts(hidden.map(|(name, value)| (name, value.clone())));
        teller.line(steps + 1, format!("seen by nobody: {hidden}"));
    }
}

/// Facts in words, seats by their names.
fn named<'a>(teller: &Teller<'_>, told: impl Iterator<Item = (&'a str, Value)>) -> String {
    let has_names = teller.has_names();
    facts(told.map(|(name, value)| {
        let is_list = has_names && LISTS_OF_SEATS.contains(&name);
        match value.integers().filter(|_| is_list) {
            Some(seats) => {
                let seats = seats.iter().filter_map(|seat| usize::try_from(*seat).ok());
                let names = seats.map(|seat| Value::from(teller.name_in_game(seat)));
                (name, Value::List(names.collect()))
            }
            None => (name, value),
        }
    }))
}

fn with_kind(event: &Event, to: &str, told: &str) -> String {
    let kind = event.kind.replace('_', " ");
    let colon = if told.is_empty() { "" } else { ": " };
    format!("{kind}{to}{colon}{told}")
}

/// The entries of a column, in seat order.
fn entries(column: &Value) -> String {
    let entries: Vec<String> = (0..column.len())
        .map(|seat| value(&column.entry(seat)))
        .collect();
    entries.join(", ")
}
