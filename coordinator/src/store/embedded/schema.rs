//! The tables of the embedded store, and how its file is opened. Keeping other processes out is
//! left to `EmbeddedStore`, which opens the file twice: for the writer and for reads.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::store::{StoreError, StoreResult};

/// `position` is null for sessions that have left their experiment but keep their record.
/// Specs and results stand apart, so that a change of state rewrites a short row.
/// `follows` is the session that must be done before: until then the state is `waiting`, or
/// `stopped` behind one that was set aside. `rank` orders the queue. `fence` and `worker` are those
/// of the last lease, also after it ran out or its result came; `lease_number` orders leases.
/// `alone` says whether its worker holds nothing else; `lost_alone` counts losses of such workers.
/// `lost_leases` keeps leases that ran out before the session was leased again.
/// `budget` (nano-dollars) is the one that counts, `file_budget` the one last handed in;
/// `paused` says why nothing is leased; leases up to the number `resumed_fence` cannot pause it
/// again.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS experiments (
    id TEXT PRIMARY KEY,
    team TEXT NOT NULL,
    document BLOB NOT NULL,
    traceparent TEXT NOT NULL,
    cancelled INTEGER NOT NULL DEFAULT 0,
    priority INTEGER NOT NULL DEFAULT 0,
    budget INTEGER,
    file_budget INTEGER,
    content_cache INTEGER NOT NULL DEFAULT 0,
    paused TEXT NOT NULL DEFAULT '',
    resumed_fence INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY,
    experiment TEXT NOT NULL,
    position INTEGER,
    state TEXT NOT NULL,
    rank INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    expires_ms INTEGER,
    crashes INTEGER NOT NULL DEFAULT 0,
    losses INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '',
    fault INTEGER NOT NULL DEFAULT 0,
    follows TEXT,
    lease_number INTEGER NOT NULL DEFAULT 0,
    alone INTEGER NOT NULL DEFAULT 0,
    lost_alone INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sessions_of_experiment ON sessions (experiment, state, position);
CREATE INDEX IF NOT EXISTS sessions_leased ON sessions (expires_ms) WHERE state = 'leased';
CREATE INDEX IF NOT EXISTS sessions_held ON sessions (worker) WHERE state = 'leased';
CREATE TABLE IF NOT EXISTS lost_leases (
    session TEXT NOT NULL,
    fence INTEGER NOT NULL,
    worker TEXT NOT NULL,
    PRIMARY KEY (session, fence)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS specs (
    session TEXT PRIMARY KEY,
    spec TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS results (
    session TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    record BLOB NOT NULL,
    telemetry BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS bundles (
    digest TEXT PRIMARY KEY,
    templates TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS workers (
    id TEXT PRIMARY KEY,
    gone_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT;
";

/// Columns that files of earlier versions lack, by table.
const LATER_COLUMNS: [(&str, &str, &str); 10] = [
    ("experiments", "priority", "INTEGER NOT NULL DEFAULT 0"),
    ("experiments", "budget", "INTEGER"),
    ("experiments", "file_budget", "INTEGER"),
    ("experiments", "content_cache", "INTEGER NOT NULL DEFAULT 0"),
    ("experiments", "paused", "TEXT NOT NULL DEFAULT ''"),
    ("experiments", "resumed_fence", "INTEGER NOT NULL DEFAULT 0"),
    ("sessions", "follows", "TEXT"),
    ("sessions", "lease_number", "INTEGER NOT NULL DEFAULT 0"),
    ("sessions", "alone", "INTEGER NOT NULL DEFAULT 0"),
    ("sessions", "lost_alone", "INTEGER NOT NULL DEFAULT 0"),
];

/// Indexes over such columns.
const LATER_INDEXES: &str = "
CREATE UNIQUE INDEX IF NOT EXISTS sessions_behind ON sessions (follows) WHERE follows IS NOT NULL;
";

/// Opens the file and makes the tables and columns that are missing.
pub fn open(file: &Path) -> StoreResult<Connection> {
    let prepare = || -> rusqlite::Result<Connection> {
        // No link in the place of the file is followed.
        let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        // Full: what was acknowledged survives a power cut, too. Commits are shared.
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;",
        )?;
        connection.execute_batch(TABLES)?;
        add_later_columns(&connection)?;
        connection.execute_batch(LATER_INDEXES)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    };
    prepare().map_err(database("open the file"))
}

/// Opens the file for a look at what another process may be writing.
pub fn open_to_read(file: &Path) -> StoreResult<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(file, flags).map_err(database("read the file"))
}

fn add_later_columns(connection: &Connection) -> rusqlite::Result<()> {
    for (table, name, kind) in LATER_COLUMNS {
        let there: u32 = connection
            .prepare_cached("SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2")?
            .query_row([table, name], |row| row.get(0))?;
        if there == 0 {
            connection.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {name} {kind}"))?;
        }
    }
    Ok(())
}

/// Turns a refusal of the database into the store's error.
pub fn database(operation: &'static str) -> impl FnOnce(rusqlite::Error) -> StoreError {
    move |source| StoreError::Database { operation, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_of_an_earlier_version_gets_the_columns_it_lacks() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("old.db");
        let old = Connection::open(&file).unwrap();
        old.execute_batch(
            "CREATE TABLE experiments (id TEXT PRIMARY KEY, team TEXT NOT NULL,
                 document BLOB NOT NULL, traceparent TEXT NOT NULL,
                 cancelled INTEGER NOT NULL DEFAULT 0) STRICT;
             INSERT INTO experiments (id, team, document, traceparent) VALUES ('x', 't', x'', '');
             CREATE TABLE sessions (id TEXT PRIMARY KEY, experiment TEXT NOT NULL,
                 position INTEGER, state TEXT NOT NULL, rank INTEGER NOT NULL DEFAULT 0,
                 fence INTEGER NOT NULL DEFAULT 0, worker TEXT, expires_ms INTEGER,
                 crashes INTEGER NOT NULL DEFAULT 0, losses INTEGER NOT NULL DEFAULT 0,
                 reason TEXT NOT NULL DEFAULT '', fault INTEGER NOT NULL DEFAULT 0
             ) STRICT, WITHOUT ROWID;
             INSERT INTO sessions (id, experiment, state) VALUES ('s', 'x', 'queued');",
        )
        .unwrap();
        drop(old);
        for _ in 0..2 {
            let opened = open(&file).unwrap();
            let row = opened.query_row(
                "SELECT priority, budget, paused FROM experiments",
                [],
                |row| {
                    Ok((
                        row.get::<_, i64>(0)?,
                        row.get::<_, Option<i64>>(1)?,
                        row.get::<_, String>(2)?,
                    ))
                },
            );
            assert_eq!(row.unwrap(), (0, None, String::new()));
            let follows: Option<String> = opened
                .query_row("SELECT follows FROM sessions", [], |row| row.get(0))
                .unwrap();
            assert_eq!(follows, None);
        }
    }
}
