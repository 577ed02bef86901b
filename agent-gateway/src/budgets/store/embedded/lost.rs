//! Holds whose calls nobody will settle: those of dead processes, and those whose time is over. They
//! are charged in full, and may still be corrected for a day. Called by `embedded.rs`.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_service_kit::clock::millis;
use rusqlite::{Connection, params};

use super::{HeldRow, add_lost_to_costs, add_to_totals, scopes, signed};

/// How long a hold that was charged in full may still be corrected.
const CORRECTED_WITHIN: Duration = Duration::from_secs(24 * 3_600);

/// Charges in full what processes hold that are not alive.
pub(super) fn charge_dead(
    connection: &Connection,
    is_alive: &impl Fn(&str) -> bool,
    now_ms: u64,
) -> Result<(), rusqlite::Error> {
    let attempts: Vec<String> = connection
        .prepare_cached("SELECT attempt FROM holds WHERE lost = 0")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut living: BTreeMap<&str, bool> = BTreeMap::new();
    for attempt in &attempts {
        let owner = attempt.rsplit_once('-').map_or("", |(owner, _)| owner);
        if !*living.entry(owner).or_insert_with(|| is_alive(owner)) {
            connection
                .prepare_cached("UPDATE holds SET due_ms = 0 WHERE attempt = ?1")?
                .execute([attempt])?;
        }
    }
    charge_lost(connection, now_ms, now_ms).map(drop)
}

/// Charges in full what is held and was due by then; says how much there was. Such
/// holds may still be corrected for a day.
pub(super) fn charge_lost(
    connection: &Connection,
    due_ms: u64,
    now_ms: u64,
) -> Result<usize, rusqlite::Error> {
    connection
        .prepare_cached("DELETE FROM holds WHERE lost = 1 AND due_ms <= ?1")?
        .execute([signed(now_ms)])?;
    let due: Vec<(String, HeldRow)> = connection
        .prepare_cached(
            "SELECT attempt, day, team, experiment, model, most FROM holds
             WHERE lost = 0 AND due_ms <= ?1",
        )?
        .query_map([signed(due_ms)], |row| {
            let held = HeldRow {
                account: [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?],
                most: row.get(5)?,
                lost: true,
            };
            Ok((row.get(0)?, held))
        })?
        .collect::<Result<_, _>>()?;
    let corrected_until = millis(CORRECTED_WITHIN);
    for (attempt, held) in &due {
        let [_, team, experiment, _] = &held.account;
        add_to_totals(connection, scopes(team, experiment), held.most, -held.most)?;
        add_lost_to_costs(connection, &held.account, 1, held.most)?;
        connection
            .prepare_cached("UPDATE holds SET lost = 1, due_ms = ?2 WHERE attempt = ?1")?
            .execute(params![
                attempt,
                signed(now_ms.saturating_add(corrected_until))
            ])?;
    }
    Ok(due.len())
}
