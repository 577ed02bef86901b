//! Names of facts that a game declares to mean what they mean in every game: they must
//! occur, and say what was declared. Called through the list in `conformance.rs`.

use super::table::{Manners, Table};
use super::{Case, ensure};
use crate::event::{Event, Value};
use crate::names::Name;

/// Plays at random and looks at every fact of a declared name.
pub(super) fn declared_facts_mean_what_they_say(case: &Case<'_>) -> Result<(), String> {
    let table = Table::played(case, Manners::default(), 0)?;
    let (facts, seats) = (&case.registration.info.facts, case.game.seats());
    let events = table.play.log().all();
    let lists = facts.in_play.iter().chain(facts.seat_lists.iter());
    for (event, list) in of_names(events, lists) {
        let listed = list.integers().unwrap_or_default();
        let are_seats = listed.iter().all(|seat| (*seat as usize) < seats);
        ensure!(
            listed.len() == list.len() && are_seats,
            "{} lists {list:?} as seats",
            event.kind
        );
    }
    for (event, names) in of_names(events, facts.seat_names.iter()) {
        let named = (0..seats).all(|seat| names.entry(seat).text().is_some());
        ensure!(
            event.kind == "briefing" && named && names.len() == seats,
            "{} does not name every seat",
            event.kind
        );
    }
    for (own, public) in facts.columns.iter() {
        for (event, column) in of_names(events, std::iter::once(own)) {
            ensure!(
                event.get(public) == Some(column),
                "{}: {own} is not the seat's entry of {public}",
                event.kind
            );
        }
    }
    for (own, list) in facts.flags.iter() {
        for (event, flags) in of_names(events, std::iter::once(own)) {
            let listed = event.integers(list);
            let is_set = |seat: usize| flags.entry(seat).flag() == Some(true);
            ensure!(
                (0..seats).all(|seat| is_set(seat) == listed.contains(&(seat as i64))),
                "{}: {own} is set for others than {list} lists",
                event.kind
            );
        }
    }
    Ok(())
}

/// The facts and columns of these names, wherever they are.
fn of_names<'a>(
    events: &'a [Event],
    names: impl Iterator<Item = &'a Name> + Clone,
) -> impl Iterator<Item = (&'a Event, &'a Value)> {
    events.iter().flat_map(move |event| {
        let found = names.clone().filter_map(|name| event.get(name));
        found.map(move |value| (event, value))
    })
}
