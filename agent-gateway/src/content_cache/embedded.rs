//! The content cache in one SQLite file of its own, beside the ledger's. Made at
//! its first use, because most gateways never need it. What a power cut takes
//! from it costs a call and nothing else, so it is not flushed each time.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::clock::{Clock, millis, unix_ms};
use async_trait::async_trait;
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

use super::{ContentCache, ContentKey, decode, encode};
use crate::decision::Decision;
use crate::peers::{Turn, folder_of};
use crate::store_error::StoreError;

/// Somebody may look at the file with the sqlite3 tool.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Expired entries deleted with each new one: more than come, so that the file
/// does not grow, and few enough to take no time.
const SWEEP: u32 = 20;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS answers (
        key TEXT NOT NULL PRIMARY KEY,
        decision TEXT NOT NULL,
        expires_ms INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS answers_by_expiry ON answers (expires_ms);";

/// Keeps the first answer as long as it is not too old.
const KEEP: &str = "
    INSERT INTO answers VALUES (?1, ?2, ?3)
    ON CONFLICT (key) DO UPDATE
    SET decision = excluded.decision, expires_ms = excluded.expires_ms
    WHERE expires_ms <= ?4";

const DELETE_EXPIRED: &str = "
    DELETE FROM answers WHERE key IN
    (SELECT key FROM answers WHERE expires_ms <= ?1 LIMIT ?2)";

/// A content cache in a file.
pub struct EmbeddedContentCache {
    path: PathBuf,
    clock: Clock,
    connection: Arc<Mutex<Option<Connection>>>,
}

impl EmbeddedContentCache {
    /// A cache that will be in this file.
    pub fn at(path: &Path) -> Self {
        Self::at_with_clock(path, Arc::new(unix_ms))
    }

    /// The same with a clock of one's own.
    pub fn at_with_clock(path: &Path, clock: Clock) -> Self {
        Self {
            path: path.to_owned(),
            clock,
            connection: Arc::default(),
        }
    }

    async fn with<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (path, shared) = (self.path.clone(), Arc::clone(&self.connection));
        let worked = tokio::task::spawn_blocking(move || {
            let mut slot = shared.lock();
            if slot.is_none() {
                *slot = Some(open(&path)?);
            }
            slot.as_ref().map(work).transpose()
        });
        let worked = worked.await.map_err(|_| StoreError::Closed)?;
        let done = worked.map_err(StoreError::file(operation))?;
        done.ok_or(StoreError::Closed)
    }
}

#[async_trait]
impl ContentCache for EmbeddedContentCache {
    async fn find(&self, key: &ContentKey) -> Result<Option<Decision>, StoreError> {
        let (key, now) = (key.to_string(), stored(self.now()));
        let query = "SELECT decision FROM answers WHERE key = ?1 AND expires_ms > ?2";
        let found: Option<String> = self
            .with("look up an answer", move |connection| {
                let mut statement = connection.prepare_cached(query)?;
                statement
                    .query_row(params![key, now], |row| row.get(0))
                    .optional()
            })
            .await?;
        found.as_deref().map(decode).transpose()
    }

    async fn keep(
        &self,
        key: &ContentKey,
        decision: &Decision,
        lasts: Duration,
    ) -> Result<(), StoreError> {
        let (key, text, now) = (key.to_string(), encode(decision)?, self.now());
        let expires = stored(now.saturating_add(millis(lasts)));
        let now = stored(now);
        self.with("keep an answer", move |connection| {
            connection
                .prepare_cached(KEEP)?
                .execute(params![key, text, expires, now])?;
            connection
                .prepare_cached(DELETE_EXPIRED)?
                .execute(params![now, SWEEP])?;
            Ok(())
        })
        .await
    }
}

impl EmbeddedContentCache {
    fn now(&self) -> u64 {
        (self.clock)()
    }
}

fn open(path: &Path) -> Result<Connection, rusqlite::Error> {
    let unusable = |error: io::Error| rusqlite::Error::ToSqlConversionFailure(error.into());
    let (folder, name) = folder_of(path).map_err(unusable)?;
    // Two processes that make the file at the same time would be in each other's way.
    let turn = Turn::at(&folder, &format!("{name}.turn")).map_err(unusable)?;
    let _taken = turn.take().map_err(unusable)?;
    let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let file = folder.real_path().map_err(unusable)?.join(name);
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

/// SQLite's whole numbers are signed.
fn stored(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}
