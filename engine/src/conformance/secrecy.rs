//! Properties of views: a seat knows what it is told and nothing else. Each is
//! checked by non-interference: change what the seat must not know, and its
//! view must stay the same. What games declare to be secret is in `secrets.rs`.

use super::secrets::seen;
use super::table::{Manners, Table};
use super::{Case, ensure};
use crate::ask::Seat;
use crate::event::{Event, Value};

/// What stands in for things that a seat must not see.
const SECRET: &str = "a secret of others";

/// Overwrites everything that a seat may not see, and compares its view.
pub(super) fn view_ignores_what_others_own(case: &Case<'_>) -> Result<(), String> {
    let manners = Manners {
        fouls: 10,
        forfeits: 5,
    };
    let table = Table::played(case, manners, 4)?;
    let events = table.play.log().all();
    for seat in 0..case.game.seats() {
        let before = seen(events, seat);
        let after = seen(&scramble(events, seat), seat);
        let is_same = before == after;
        ensure!(is_same, "seat {seat} sees what belongs to others");
        let of_seat = |event: &&Event| event.audience.includes(seat);
        let (sees, all) = (before.len(), events.iter().filter(of_seat).count());
        ensure!(sees == all, "seat {seat} sees {sees} of {all} events");
    }
    Ok(())
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
pub(super) fn open_answers_are_unseen(case: &Case<'_>) -> Result<(), String> {
    let manners = Manners {
        fouls: 30,
        forfeits: 5,
    };
    let mut table = Table::open(case, manners, 5);
    while !table.play.is_finished() {
        let asks = table.asks();
        let before = table.play.log().clone();
        for (served, ask) in asks.iter().enumerate() {
            table.serve(ask)?;
            let (seat, is_last) = (ask.seat, served + 1 == asks.len());
            ensure!(
                is_last || *table.play.log() == before,
                "the answer of seat {seat} shows while others are asked"
            );
        }
    }
    Ok(())
}
