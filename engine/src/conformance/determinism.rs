//! Properties of records: they follow from luck and answers alone. How games end is
//! left to `outcomes.rs`. Called through the list in `conformance.rs`.

use serde_json::json;

use super::table::{Manners, Table};
use super::{Case, causes, ensure, record_line};
use crate::ask::Ask;
use crate::chance::{BOUNDS, Draw, ORDERS, SUPPLIES, VALUATIONS};
use crate::record::{Record, StoredRecord};
use crate::session;
use crate::spec::Settings;

/// Seats that foul now and then.
const CLUMSY: Manners = Manners {
    fouls: 20,
    forfeits: 5,
};

/// Plays the same answers in several orders.
pub(super) fn same_answers_same_bytes(case: &Case<'_>) -> Result<(), String> {
    let forward = |_: u32, _: &mut Vec<Ask>| {};
    let backward = |_: u32, asks: &mut Vec<Ask>| asks.reverse();
    let rotated = |turn: u32, asks: &mut Vec<Ask>| {
        let middle = turn as usize % asks.len();
        asks.rotate_left(middle);
    };
    let first = played(case, forward)?;
    for (order, line) in [
        ("the same order", played(case, forward)?),
        ("the opposite order", played(case, backward)?),
        ("another order", played(case, rotated)?),
    ] {
        let is_same = line == first;
        ensure!(is_same, "the record differs with answers in {order}");
    }
    Ok(())
}

fn played(case: &Case<'_>, arrange: impl Fn(u32, &mut Vec<Ask>)) -> Result<String, String> {
    let mut table = Table::open(case, CLUMSY, 3);
    table.finish(arrange)?;
    record_line(case.outside_spec(), table.play)
}

/// Writes a record, reads it, plays it again and writes it again.
pub(super) fn record_plays_again(case: &Case<'_>) -> Result<(), String> {
    let line = played(case, |_, _| {})?;
    check_again(case, &line)?;
    let (spec, play) = case.ruled("random", &Settings::new())?;
    check_again(case, &record_line(spec, play)?)
}

fn check_again(case: &Case<'_>, line: &str) -> Result<(), String> {
    let stored = StoredRecord::from_line(line).map_err(|error| causes(&error))?;
    let mut play = case.open(&stored.spec)?;
    session::feed(&mut play, &stored).map_err(|error| causes(&error))?;
    let is_same = play.measures() == stored.measures;
    ensure!(is_same, "the measures changed on the way");
    let record = Record::new(stored.spec, play, stored.decisions, stored.notes);
    let again = record.to_line().map_err(|error| error.to_string())?;
    let is_same = again == line;
    ensure!(
        is_same,
        "the record differs when played again:\n{line}\n{again}"
    );
    Ok(())
}

/// Compares the draws of seats' private values and of the table's circumstances
/// across courses of play and lengths of the game.
pub(super) fn private_draws_stay_the_same(case: &Case<'_>) -> Result<(), String> {
    let first = draws(case, 0)?;
    let unrelated = [
        ("answers", draws(case, 1)?),
        ("rounds", with(case, "rounds", json!(40))?),
        ("foul_allowance", with(case, "foul_allowance", json!(1))?),
        ("lenient", with(case, "lenient", json!(true))?),
    ];
    for (what, others) in unrelated {
        for draw in &first {
            let same = |other: &&Draw| other.stream == draw.stream && other.at == draw.at;
            let other = others.iter().find(same);
            let is_same = other.is_none_or(|other| other.value == draw.value);
            let Draw { stream, at, .. } = draw;
            ensure!(is_same, "other {what} change the draw of {stream} at {at}");
        }
    }
    Ok(())
}

fn with(case: &Case<'_>, name: &str, value: serde_json::Value) -> Result<Vec<Draw>, String> {
    case.with(name, value)
        .map_or(Ok(Vec::new()), |changed| draws(&changed, 0))
}

fn draws(case: &Case<'_>, course: u64) -> Result<Vec<Draw>, String> {
    let table = Table::played(case, Manners::default(), course)?;
    let streams = [VALUATIONS.0, SUPPLIES.0, BOUNDS.0, ORDERS.0];
    let mut draws = table.play.chance().draws().to_vec();
    draws.retain(|draw| streams.contains(&&*draw.stream));
    Ok(draws)
}
