//! The tables of the journal's file, and how it is opened. Keeping other processes out is left to
//! `FileJournal`, which opens the file twice: for the writer and for reads.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::super::{JournalError, JournalResult};

/// `owner` and `snapshot` have at most one row. Who owns the journal until when is in the memory of
/// the process: no other process can open the file while it lives.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS owner (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS batches (
    place INTEGER PRIMARY KEY,
    batch BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS snapshot (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    upto INTEGER NOT NULL,
    bytes BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS blobs (
    name TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;
";

/// Opens the file and makes the tables that are missing.
pub fn open(file: &Path) -> JournalResult<Connection> {
    let prepare = || -> rusqlite::Result<Connection> {
        // No link in the place of the file is followed.
        let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        // Full: what was acknowledged survives a power cut, too. Commits are shared.
        // What a large snapshot needed beside the file is given back.
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             PRAGMA journal_size_limit = 67108864;",
        )?;
        connection.execute_batch(TABLES)?;
        Ok(connection)
    };
    prepare().map_err(database("open the file"))
}

/// Turns a refusal of the database into the journal's error.
pub fn database(operation: &'static str) -> impl FnOnce(rusqlite::Error) -> JournalError {
    move |source| JournalError::Database { operation, source }
}

/// A number as SQLite keeps it; none of ours comes near the end.
pub fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The opposite; SQLite holds nothing below 0 that we wrote.
pub fn read(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
