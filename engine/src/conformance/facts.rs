//! Names of facts that a game declares to mean what they mean in every game: they must
//! occur, and say what was declared. Called through the list in `conformance.rs`.

use super::Case;
use super::table::{Manners, Table};
use crate::event::{Event, Value};
use crate::names::Name;

/// Plays at random and looks at every fact of a declared name.
pub(super) fn declared_facts_mean_what_they_say(case: &Case) -> Result<(), String> {
    let table = Table::played(case, Manners::default(), 0)?;
    let (facts, seats) = (&case.registration.info.facts, case.game.seats());
    let events = table.play.log().all();
    let lists = facts.in_play.iter().chain(facts.seat_lists.iter());
    for (event, list) in of_names(events, lists) {
        let listed = list.integers().unwrap_or_default();
        if listed.len() != list.len() || listed.iter().any(|seat| *seat as usize >= seats) {
            return Err(format!("{} lists {list:?} as seats", event.kind));
        }
    }
    for (event, names) in of_names(events, facts.seat_names.iter()) {
        let named = (0..seats).all(|seat| names.entry(seat).text().is_some());
        if event.kind != "briefing" || !named || names.len() != seats {
            return Err(format!("{} does not name every seat", event.kind));
        }
    }
    for (own, public) in facts.columns.iter() {
        for (event, column) in of_names(events, std::iter::once(own)) {
            if event.get(public) != Some(column) {
                return Err(format!(
                    "{}: {own} is not the seat's entry of {public}",
                    event.kind
                ));
            }
        }
    }
    for (own, list) in facts.flags.iter() {
        for (event, flags) in of_names(events, std::iter::once(own)) {
            let listed = event
                .get(list)
                .and_then(Value::integers)
                .unwrap_or_default();
            let is_set = |seat: usize| flags.entry(seat).flag() == Some(true);
            if (0..seats).any(|seat| is_set(seat) != listed.contains(&(seat as i64))) {
                return Err(format!(
                    "{}: {own} is set for others than {list} lists",
                    event.kind
                ));
            }
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
