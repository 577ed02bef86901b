//! Properties of views: a seat knows what it is told and nothing else. Each is
//! checked by non-interference: change what the seat must not know, and its
//! view must stay the same. What games declare to be secret is in `secrets.rs`.

use super::Case;
use super::table::{Manners, Table};
use crate::ask::{Ask, Seat};
use crate::event::{Event, EventLog, Value};
use crate::view::{SeenEvent, View};

/// What stands in for things that a seat must not see.
const SECRET: &str = "a secret of others";

/// Overwrites everything that a seat may not see, and compares its view.
pub(super) fn view_ignores_what_others_own(case: &Case) -> Result<(), String> {
    let mut table = Table::open(
        case,
        Manners {
            fouls: 10,
            forfeits: 5,
        },
        4,
    );
    table.finish(|_, _| {})?;
    let events = table.play.log().all();
    for seat in 0..case.game.seats() {
        let before = seen(&View::new(seat, events));
        let scrambled = EventLog::from(scramble(events, seat));
        let after = seen(&View::new(seat, scrambled.all()));
        if before != after {
            return Err(format!("seat {seat} sees what belongs to others"));
        }
        let expected = events
            .iter()
            .filter(|event| event.audience.includes(seat))
            .count();
        if before.len() != expected {
            return Err(format!(
                "seat {seat} sees {} of {expected} events",
                before.len()
            ));
        }
    }
    Ok(())
}

fn seen(view: &View<'_>) -> Vec<SeenEvent> {
    view.sights().map(|sight| sight.to_event()).collect()
}

fn scramble(events: &[Event], seat: Seat) -> Vec<Event> {
    let mut events = events.to_vec();
    for event in &mut events {
        let audience = event.audience.includes(seat);
        for (_, column) in &mut event.own {
            let entries = (0..column.len()).map(|place| match place == seat && audience {
                true => column.entry(place),
                false => SECRET.into(),
            });
            *column = Value::List(entries.collect());
        }
        for (_, value) in &mut event.hidden {
            *value = SECRET.into();
        }
        if !audience {
            event.kind = SECRET.into();
            event
                .facts
                .iter_mut()
                .for_each(|(_, value)| *value = SECRET.into());
        }
    }
    events
}

/// Looks at every seat's view while answers of one turn come in.
pub(super) fn open_answers_are_unseen(case: &Case) -> Result<(), String> {
    let mut table = Table::open(
        case,
        Manners {
            fouls: 30,
            forfeits: 5,
        },
        5,
    );
    while !table.play.is_finished() {
        let asks: Vec<Ask> = table.play.waiting().cloned().collect();
        let before = table.play.log().clone();
        for (served, ask) in asks.iter().enumerate() {
            table.serve(ask)?;
            let still_open = served + 1 < asks.len();
            if still_open && *table.play.log() != before {
                let seat = ask.seat;
                return Err(format!(
                    "the answer of seat {seat} shows while others are asked"
                ));
            }
        }
    }
    Ok(())
}
