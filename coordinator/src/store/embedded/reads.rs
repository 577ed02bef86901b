//! What the embedded store answers without changing anything, on its second connection. Queue and
//! leases are never decided from here: that is the writer's. Called by `EmbeddedStore`.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::schema::database;
use crate::store::packed::unpack_result;
use crate::store::{
    ExperimentEntry, MOST_LISTED, Progress, SetAside, StoreError, StoreResult, StoredResult,
    Templates,
};

/// See [`crate::store::Store::progress`].
pub fn progress(
    reader: &Connection,
    experiment: &str,
    now_ms: u64,
) -> StoreResult<Option<Progress>> {
    let read = || -> rusqlite::Result<Option<Progress>> {
        // One view of the file, or counts of different moments would be added up.
        let reader = reader.unchecked_transaction()?;
        let found = reader
            .prepare_cached("SELECT cancelled, paused FROM experiments WHERE id = ?1")?
            .query_row([experiment], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((cancelled, paused)) = found else {
            return Ok(None);
        };
        let mut progress = Progress {
            cancelled,
            paused,
            ..Progress::default()
        };
        count_states(&reader, experiment, &mut progress)?;
        progress.parked = set_aside(&reader, experiment, "parked")?;
        progress.dead = set_aside(&reader, experiment, "dead")?;
        progress.determinism_faults = reader
            .prepare_cached(
                "SELECT id FROM sessions WHERE experiment = ?1 AND state = 'done'
                 AND position IS NOT NULL AND fault = 1 ORDER BY position",
            )?
            .query_map([experiment], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        progress.workers = reader
            .prepare_cached("SELECT count(*) FROM workers WHERE gone_ms > ?1")?
            .query_row([i64::try_from(now_ms).unwrap_or(i64::MAX)], |row| {
                unsigned(row, 0)
            })?;
        Ok(Some(progress))
    };
    read().map_err(database("read progress"))
}

fn count_states(
    reader: &Connection,
    experiment: &str,
    progress: &mut Progress,
) -> rusqlite::Result<()> {
    let mut counts = reader.prepare_cached(
        "SELECT state, count(*) FROM sessions
         WHERE experiment = ?1 AND position IS NOT NULL GROUP BY state",
    )?;
    let mut rows = counts.query([experiment])?;
    while let Some(row) = rows.next()? {
        let (state, count): (String, u64) = (row.get(0)?, unsigned(row, 1)?);
        progress.sessions += count;
        match state.as_str() {
            "queued" => progress.queued = count,
            "waiting" => progress.waiting = count,
            "stopped" => progress.stopped = count,
            "leased" => progress.running = count,
            "done" => progress.done = count,
            _ => {}
        }
    }
    Ok(())
}

fn set_aside(
    reader: &Connection,
    experiment: &str,
    state: &str,
) -> rusqlite::Result<Vec<SetAside>> {
    let mut found = reader.prepare_cached(
        "SELECT id, reason, crashes, losses FROM sessions
         WHERE experiment = ?1 AND state = ?2 AND position IS NOT NULL ORDER BY position LIMIT ?3",
    )?;
    let most = i64::try_from(MOST_LISTED).unwrap_or(i64::MAX);
    let entries = found.query_map(params![experiment, state, most], |row| {
        let (crashes, losses): (u32, u32) = (row.get(2)?, row.get(3)?);
        let attempts = (crashes + losses).max(1);
        Ok(SetAside {
            session: row.get(0)?,
            reason: row.get(1)?,
            attempts,
        })
    })?;
    entries.collect()
}

/// See [`crate::store::Store::results`].
pub fn results(
    reader: &Connection,
    experiment: &str,
    after: Option<u64>,
    most: usize,
) -> StoreResult<Vec<StoredResult>> {
    type Stored = (u64, String, Vec<u8>, Vec<u8>);
    let read = || -> rusqlite::Result<Vec<Stored>> {
        let mut found = reader.prepare_cached(
            "SELECT position, id, record, telemetry FROM sessions JOIN results ON session = id
             WHERE experiment = ?1 AND state = 'done' AND position > ?2 ORDER BY position LIMIT ?3",
        )?;
        let after = after.map_or(-1, |after| i64::try_from(after).unwrap_or(i64::MAX));
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = found.query_map(params![experiment, after, most], |row| {
            Ok((unsigned(row, 0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        rows.collect()
    };
    let rows = read().map_err(database("read results"))?;
    let unpacked = rows
        .into_iter()
        .map(|(position, session, record, telemetry)| StoredResult {
            position,
            result: unpack_result(&record, &telemetry, &session),
            session,
        });
    Ok(unpacked.collect())
}

/// See [`crate::store::Store::list`].
pub fn list(reader: &Connection) -> StoreResult<Vec<ExperimentEntry>> {
    let read = || -> rusqlite::Result<Vec<ExperimentEntry>> {
        let mut found = reader.prepare_cached(
            "SELECT experiments.id, team, count(sessions.id),
                    count(CASE WHEN state = 'done' THEN 1 END),
                    count(CASE WHEN state IN ('parked', 'dead') THEN 1 END), cancelled, paused,
                    count(CASE WHEN state = 'stopped' THEN 1 END)
             FROM experiments LEFT JOIN sessions
                  ON sessions.experiment = experiments.id AND position IS NOT NULL
             GROUP BY experiments.id ORDER BY experiments.id",
        )?;
        let entries = found.query_map([], |row| {
            Ok(ExperimentEntry {
                id: row.get(0)?,
                team: row.get(1)?,
                sessions: unsigned(row, 2)?,
                done: unsigned(row, 3)?,
                set_aside: unsigned(row, 4)?,
                cancelled: row.get(5)?,
                paused: row.get(6)?,
                stopped: unsigned(row, 7)?,
            })
        })?;
        entries.collect()
    };
    read().map_err(database("list experiments"))
}

/// See [`crate::store::Store::bundle`].
pub fn bundle(reader: &Connection, digest: &str) -> StoreResult<Option<Templates>> {
    let read = || -> rusqlite::Result<Option<String>> {
        reader
            .prepare_cached("SELECT templates FROM bundles WHERE digest = ?1")?
            .query_row([digest], |row| row.get(0))
            .optional()
    };
    let Some(json) = read().map_err(database("read templates"))? else {
        return Ok(None);
    };
    let templates = serde_json::from_str(&json);
    let corrupt = |_| StoreError::Corrupt {
        what: format!("templates {digest}"),
    };
    templates.map_err(corrupt).map(Some)
}

/// A number that is never negative; SQLite has signed ones only.
fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    Ok(u64::try_from(number).unwrap_or(0))
}
