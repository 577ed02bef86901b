//! The observations of a town, from what the game wrote down in events and at the end: residents,
//! and day by day what each of them bid, had and felt.

use agon_engine::record::StoredRecord;
use agon_engine::{Event, Seat, Value};

use super::WATER_ALLOCATION;
use crate::observation::{At, SessionObservations};

/// `None` for a record of another game, and for one that lacks what every finished session has.
pub(super) fn observe(record: &StoredRecord) -> Option<SessionObservations<'_>> {
    if record.spec.game != WATER_ALLOCATION {
        return None;
    }
    let briefing = of_kind(record, "briefing").next()?;
    let mut seen = SessionObservations::of(record);
    for end in ["supply_min", "supply_max"] {
        seen.push(At::default(), end, briefing.get(end)?.integer()? as f64);
    }
    let mut survivors = 0;
    for seat in 0..seen.seats() {
        let survived = record.measures.series.get("survived")?.get(seat)? > &0.0;
        survivors += u32::from(survived);
        let overbids = seen.series("overbid_seats").iter();
        let overbids = overbids.filter(|by| **by == seat as f64).count();
        let at = At::seat(seat);
        seen.push(at, "survived", f64::from(u8::from(survived)));
        seen.push(at, "overbids", overbids as f64);
        seen.push_series(at, &["survival_rounds", "days_with_water"]);
    }
    seen.push(At::default(), "survivors", f64::from(survivors));
    let residents = seen.seats().max(1) as f64;
    seen.push(
        At::default(),
        "survivor_share",
        f64::from(survivors) / residents,
    );
    seen.push(At::default(), "rsr_start", seen.part("rsr_start"));
    seen.push(At::default(), "rsr_end", seen.part("rsr_end"));
    seen.push(At::default(), "overbids_in_all", seen.part("overbids"));
    for (place, result) in of_kind(record, "round_result").enumerate() {
        day(&mut seen, place, result);
    }
    Some(seen)
}

/// The names that the game gives its seats; none in records of rules without names.
pub(super) fn names(record: &StoredRecord) -> Vec<String> {
    let briefing = of_kind(record, "briefing").next();
    match briefing.and_then(|briefing| briefing.get("names")) {
        Some(Value::List(names)) => {
            let names = names.iter().map_while(Value::text);
            names.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

fn of_kind<'a>(record: &'a StoredRecord, kind: &'static str) -> impl Iterator<Item = &'a Event> {
    record.events.iter().filter(move |one| one.kind == kind)
}

/// How a day ended for those who lived to see its morning: a bid of 0 for no bid, and none for
/// one above the balance; health at least 0.
fn day(seen: &mut SessionObservations<'_>, place: usize, result: &Event) {
    let day = u32::try_from(place + 1).unwrap_or(u32::MAX);
    let mut living = 0;
    for seat in 0..seen.seats() {
        let Some(health) = entry(result, "health", seat) else {
            continue;
        };
        living += 1;
        let at = At::seat(seat).round(day);
        let bid = entry(result, "bids", seat).unwrap_or(0.0);
        let is_overbid = seen.is_overbid(result.round, seat);
        seen.push(at, "bid", (!is_overbid).then_some(bid));
        seen.push(
            at,
            "balance",
            entry(result, "balances", seat).unwrap_or(0.0),
        );
        seen.push(at, "health", health.max(0.0));
    }
    let at = At::default().round(day);
    let minimum_bid = seen.series("minimum_bid_days").iter();
    let minimum_bid = minimum_bid.zip(seen.series("minimum_bid"));
    let mut minimum_bid = minimum_bid.filter(|(on, _)| **on == f64::from(result.round));
    let minimum_bid = minimum_bid.next().map(|(_, bid)| *bid);
    seen.push(at, "minimum_bid", minimum_bid);
    seen.push(at, "living", f64::from(living));
    seen.push(at, "rsr", seen.number("rsr", place));
}

/// A seat's number in a column of an event.
fn entry(event: &Event, column: &str, seat: Seat) -> Option<f64> {
    event.get(column)?.entry(seat).number()
}
