//! Carries an experiment over from a store of several experiments into one of its own: its document,
//! its sessions with their states, and every record. The older store is left as it is. Called when
//! the store of an experiment is opened.

use std::path::Path;

use rusqlite::Connection;

use super::schema::{self, database};
use crate::store::StoreResult;

/// What is carried over, with `?1` for the experiment. Columns are named, because those of files
/// that grew stand in another order.
const COPIES: [&str; 7] = [
    "INSERT INTO experiments (id, team, document, traceparent, cancelled, priority, budget,
         file_budget, content_cache, paused, resumed_fence)
     SELECT id, team, document, traceparent, cancelled, priority, budget, file_budget,
         content_cache, paused, resumed_fence FROM older.experiments WHERE id = ?1",
    "INSERT INTO sessions (id, experiment, position, state, rank, fence, worker, expires_ms,
         crashes, losses, reason, fault, follows, lease_number, alone, lost_alone)
     SELECT id, experiment, position, state, rank, fence, worker, expires_ms, crashes, losses,
         reason, fault, follows, lease_number, alone, lost_alone FROM older.sessions
     WHERE experiment = ?1",
    "INSERT INTO lost_leases (session, fence, worker)
     SELECT session, fence, worker FROM older.lost_leases
     WHERE session IN (SELECT id FROM older.sessions WHERE experiment = ?1)",
    "INSERT INTO specs (session, spec) SELECT session, spec FROM older.specs
     WHERE session IN (SELECT id FROM older.sessions WHERE experiment = ?1)",
    "INSERT INTO results (session, digest, record, telemetry)
     SELECT session, digest, record, telemetry FROM older.results
     WHERE session IN (SELECT id FROM older.sessions WHERE experiment = ?1)",
    "INSERT OR IGNORE INTO bundles (digest, templates) SELECT digest, templates FROM older.bundles
     WHERE ?1 IS NOT NULL",
    "INSERT INTO counters (name, value) SELECT name, value FROM older.counters
     WHERE ?1 IS NOT NULL
     ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
];

/// Carries an experiment over from the file `older` unless `file` knows it already.
pub fn carry_over(file: &Path, experiment: &str, older: &Path) -> StoreResult<()> {
    let Ok(older) = older.canonicalize() else {
        return Ok(());
    };
    let known = |connection: &Connection| {
        connection
            .prepare("SELECT 1 FROM experiments WHERE id = ?1")?
            .exists([experiment])
    };
    let mut connection = schema::open(file)?;
    if known(&connection).map_err(database("read the file"))? {
        return Ok(());
    }
    // Its file may lack columns of later versions.
    let has_it = known(&schema::open(&older)?).map_err(database("read the older file"))?;
    if !has_it {
        return Ok(());
    }
    let copied = (|| -> rusqlite::Result<()> {
        let older = older.to_string_lossy();
        let _ = connection.execute("ATTACH DATABASE ?1 AS older", [older.as_ref()])?;
        let transaction = connection.transaction()?;
        for copy in COPIES {
            let _ = transaction.execute(copy, [experiment])?;
        }
        transaction.commit()
    })();
    copied.map_err(database("carry the experiment over from the older file"))?;
    tracing::info!(
        experiment_id = experiment,
        "carried over from the older store"
    );
    Ok(())
}
