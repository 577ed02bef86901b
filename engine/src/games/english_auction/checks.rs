//! Which parameters make an auction. Amounts are bounded so that every sum and
//! product of play stays a whole number of 64 bits. Called when a game is built.

use std::collections::BTreeSet;

use super::{EnglishAuctionParams, PerSeat};
use crate::games::prelude::*;

/// Most items of one auction: far more than any published one, and a record that
/// stays in memory.
const MOST_ITEMS: usize = 1000;

/// Largest `max_rounds`; draws are numbered by it (see `state.rs`).
pub(crate) const MOST_ROUNDS: u32 = 9_999;

/// Largest overestimation: eleven times the true value.
const LARGEST_OVERESTIMATE: i64 = 1000;

/// Largest number of discounts; any price is down to 1 long before.
pub(super) const MOST_DISCOUNTS: u32 = 100;

/// Refuses parameters that make no auction.
pub(super) fn check(params: &EnglishAuctionParams) -> Result<(), ParameterError> {
    check_items(params)?;
    let players = params.players;
    each("budget", &params.budget, players, |path, budget| {
        check_within(path, *budget, 0..=LARGEST_AMOUNT)
    })?;
    let percent =
        |path: &str, percent: &i64| check_within(path, *percent, -100..=LARGEST_OVERESTIMATE);
    let overestimates = &params.overestimate_percent;
    each("overestimate_percent", overestimates, players, percent)?;
    each("objective", &params.objective, players, |_, _| Ok(()))?;
    check_personas(params)
}

fn check_items(params: &EnglishAuctionParams) -> Result<(), ParameterError> {
    let items = &params.items;
    let count = items.len();
    let is_count = (1..=MOST_ITEMS).contains(&count);
    require!(
        is_count,
        "items",
        "there must be 1 to {MOST_ITEMS} items, not {count}"
    );
    let mut names = BTreeSet::new();
    for (place, item) in items.iter().enumerate() {
        let path = format!("items[{place}]");
        require!(
            !item.name.trim().is_empty() && names.insert(&item.name),
            format!("{path}.name"),
            "items need different names, \"{}\" will not do",
            item.name
        );
        let start = format!("{path}.starting_price");
        check_within(&start, item.starting_price, 1..=LARGEST_AMOUNT)?;
        let value = format!("{path}.true_value");
        check_within(&value, item.true_value, 0..=LARGEST_AMOUNT)?;
    }
    Ok(())
}

/// Checks the value of every seat, and that there is one for each.
fn each<T>(
    name: &str,
    values: &PerSeat<T>,
    players: usize,
    check: impl Fn(&str, &T) -> Result<(), ParameterError>,
) -> Result<(), ParameterError> {
    let values = match values {
        PerSeat::Same(value) => return check(name, value),
        PerSeat::Each(values) => values,
    };
    check_length(name, values.len(), players)?;
    for (seat, value) in values.iter().enumerate() {
        check(&format!("{name}[{seat}]"), value)?;
    }
    Ok(())
}

fn check_length(name: &str, length: usize, players: usize) -> Result<(), ParameterError> {
    require!(
        length == players,
        name,
        "{name} has {length} entries for {players} players"
    );
    Ok(())
}

fn check_personas(params: &EnglishAuctionParams) -> Result<(), ParameterError> {
    if params.personas.is_empty() {
        return Ok(());
    }
    check_length("personas", params.personas.len(), params.players)
}
