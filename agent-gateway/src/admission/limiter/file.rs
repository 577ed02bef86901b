//! Limits that the processes of one machine share: a SQLite file beside the ledger. Each exchange is
//! one transaction in this process's turn. Not flushed each time: what a power cut takes from it is at
//! most a burst. Called by `limiter.rs`.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::clock::unix_ms;
use async_trait::async_trait;
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior};

use super::books::ProcessCalls;
use super::store::{Changed, Document, LimitStore};
use crate::peers::{Peers, Turn, folder_of};
use crate::store_error::StoreError;

/// Somebody may look at the file with the sqlite3 tool.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS limit_documents (
        name TEXT PRIMARY KEY,
        version TEXT NOT NULL,
        text TEXT NOT NULL
    ) WITHOUT ROWID;";

const READ: &str = "SELECT version, text FROM limit_documents WHERE name = ?1";

const KEEP: &str = "
    INSERT INTO limit_documents VALUES (?1, ?2, ?3)
    ON CONFLICT (name) DO UPDATE SET version = excluded.version, text = excluded.text";

/// See the module.
pub(super) struct LimitsFile {
    connection: Mutex<Connection>,
    turn: Turn,
    peers: Arc<Peers>,
}

type Fault = Box<dyn Error + Send + Sync>;

impl LimitsFile {
    /// Opens or creates the file.
    pub fn open(path: &Path, peers: Arc<Peers>) -> Result<Self, StoreError> {
        let open = || -> Result<Self, Fault> {
            let (folder, name) = folder_of(path)?;
            let turn = Turn::at(&folder, &format!("{name}.turn"))?;
            let connection = {
                let _taken = turn.take()?;
                let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW;
                let file = folder.real_path()?.join(name);
                let mut connection = Connection::open_with_flags(file, flags)?;
                connection.busy_timeout(BUSY_TIMEOUT)?;
                connection.pragma_update(None, "journal_mode", "WAL")?;
                connection.pragma_update(None, "synchronous", "NORMAL")?;
                connection.set_transaction_behavior(TransactionBehavior::Immediate);
                connection.execute_batch(SCHEMA)?;
                connection
            };
            Ok(Self {
                connection: Mutex::new(connection),
                turn,
                peers,
            })
        };
        open().map_err(StoreError::file("open the file of the limits"))
    }

    fn replace(
        &self,
        provider: &str,
        documents: &[Document],
        version: &str,
    ) -> Result<Vec<Changed>, Fault> {
        let mut connection = self.connection.lock();
        let _taken = self.turn.take()?;
        let transaction = connection.transaction()?;
        let name = |document: &Document| format!("{provider}:{}", document.name);
        let mut changed = Vec::new();
        for (index, document) in documents.iter().enumerate() {
            let stored: Option<(String, String)> = transaction
                .prepare_cached(READ)?
                .query_row([name(document)], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let (version, text) = stored.unwrap_or_default();
            if version != document.version {
                changed.push(Changed {
                    index,
                    version,
                    text,
                });
            }
        }
        if changed.is_empty() {
            for document in documents {
                if let Some(text) = &document.text {
                    let mut keep = transaction.prepare_cached(KEEP)?;
                    keep.execute([name(document).as_str(), version, text])?;
                }
            }
            transaction.commit()?;
        }
        Ok(changed)
    }
}

#[async_trait]
impl LimitStore for LimitsFile {
    fn process(&self) -> &str {
        self.peers.own()
    }

    fn now_ms(&self) -> f64 {
        unix_ms() as f64
    }

    /// What is found out without limits, such as how long a provider wants to be left alone, each
    /// process finds out by itself.
    fn keeps_unlimited(&self) -> bool {
        false
    }

    fn is_lost(&self, process: &str, calls: &ProcessCalls, now_ms: f64) -> bool {
        match calls.calls {
            // Nothing is charged with it: no reason to look whether the process lives.
            0 => calls.lost_at_ms <= now_ms,
            _ => !self.peers.is_alive(process),
        }
    }

    /// Takes a tenth of a millisecond, which is not worth a thread.
    async fn exchange(
        &self,
        provider: &str,
        documents: &[Document],
        version: &str,
    ) -> Result<Vec<Changed>, StoreError> {
        let replaced = self.replace(provider, documents, version);
        replaced.map_err(StoreError::file(
            "keep limits together with other processes",
        ))
    }
}
