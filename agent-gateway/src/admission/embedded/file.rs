//! The limits that several processes of one machine keep together: a SQLite file beside the ledger.
//! Each question is one transaction in this process's turn: what the others have taken is read, the
//! books answer, what came of it is written. Not flushed each time: what a power cut takes from it
//! is at most a burst. What a dead process had under way is charged with the most it may have used.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::clock::unix_ms;
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::scope::Scope;
use super::books::{Books, Domain, KeyState, UnderWay};
use crate::keys::KeyId;
use crate::peers::{Peers, Turn, folder_of};
use crate::store_error::StoreError;

/// Somebody may look at the file with the sqlite3 tool.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS limits (
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        state TEXT NOT NULL,
        PRIMARY KEY (kind, name)
    ) WITHOUT ROWID;";

const READ: &str = "SELECT state FROM limits WHERE kind = ?1 AND name = ?2";

const KEEP: &str = "
    INSERT INTO limits VALUES (?1, ?2, ?3)
    ON CONFLICT (kind, name) DO UPDATE SET state = excluded.state";

/// Where the newest time lies that any process has seen.
const CLOCK: &str = "clock";

/// A clock that differs by more than this, in milliseconds, has been set back.
const SET_BACK_MS: f64 = 60_000.0;

/// The time for all processes on one file, in milliseconds since 1970. It never runs backwards: for a
/// process whose clock is behind, the others' calls would lie in the future, and what has come in
/// since would be counted once more at each turn.
fn common_time(now: f64, newest: f64) -> f64 {
    match newest - now {
        ahead if ahead > SET_BACK_MS => now,
        ahead => now + ahead.max(0.0),
    }
}

/// See the module.
pub(super) struct LimitsFile {
    connection: Mutex<Connection>,
    turn: Turn,
    peers: Arc<Peers>,
}

/// A key as the file has it.
#[derive(Serialize, Deserialize)]
struct StoredKey {
    key_wide: Scope,
    lanes: BTreeMap<String, Scope>,
    under_way: Processes,
}

/// Calls in flight, by process and lane.
type Processes = BTreeMap<String, BTreeMap<String, UnderWay>>;

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

    /// Has `work` done on books that know what all processes have taken of these keys, and keeps
    /// what it makes of them.
    pub fn together<T>(
        &self,
        books: &mut Books,
        keys: &[KeyId],
        domain: &Option<Domain>,
        work: impl FnOnce(&mut Books, f64) -> T,
    ) -> Result<T, StoreError> {
        let together = || -> Result<T, Fault> {
            let mut connection = self.connection.lock();
            let _taken = self.turn.take()?;
            let transaction = connection.transaction()?;
            // Read in one's turn: a process that waited for it would come with an old time.
            let newest = read(&transaction, CLOCK, "")?.unwrap_or(0.0);
            let now = common_time(unix_ms() as f64, newest);
            keep(&transaction, CLOCK, "", &now)?;
            let mut others = Vec::with_capacity(keys.len());
            for key in keys {
                let state = books.keys.entry(key.clone()).or_default();
                others.push(self.load(&transaction, key, state, now)?);
            }
            if let Some(domain) = domain
                && let Some(shares) = read(&transaction, "shares", &share_name(domain))?
            {
                books.shares.insert(domain.clone(), shares);
            }
            let done = work(books, now);
            for (key, others) in keys.iter().zip(others) {
                if let Some(state) = books.keys.get(key) {
                    self.keep(&transaction, key, state, others)?;
                }
            }
            if let Some(domain) = domain
                && let Some(shares) = books.shares.get(domain)
            {
                keep(&transaction, "shares", &share_name(domain), shares)?;
            }
            transaction.commit()?;
            Ok(done)
        };
        together().map_err(StoreError::file(
            "keep limits together with other processes",
        ))
    }

    /// Brings a key up to date. Answers what others have under way.
    fn load(
        &self,
        transaction: &Transaction<'_>,
        key: &KeyId,
        state: &mut KeyState,
        now: f64,
    ) -> Result<Processes, Fault> {
        // Without limits it was this process's own business until now.
        let Some(mut stored) = read::<StoredKey>(transaction, "key", key.as_str())? else {
            return Ok(Processes::new());
        };
        let mut others = std::mem::take(&mut stored.under_way);
        others.remove(self.peers.own());
        others.retain(|process, lanes| {
            let lives = self.peers.is_alive(process);
            if !lives {
                for (lane, lost) in &*lanes {
                    stored.key_wide.correct(&lost.taken, &lost.most, now);
                    let scope = stored.lanes.entry(lane.clone()).or_default();
                    scope.correct(&lost.taken, &lost.most, now);
                }
            }
            lives
        });
        state.key_wide = stored.key_wide;
        for (lane, scope) in stored.lanes {
            state.lanes.entry(lane).or_default().scope = scope;
        }
        state.elsewhere = 0;
        state.lanes.values_mut().for_each(|lane| lane.elsewhere = 0);
        for (lane, under_way) in others.values().flatten() {
            state.elsewhere += under_way.calls;
            state.lanes.entry(lane.clone()).or_default().elsewhere += under_way.calls;
        }
        Ok(others)
    }

    fn keep(
        &self,
        transaction: &Transaction<'_>,
        key: &KeyId,
        state: &KeyState,
        mut under_way: Processes,
    ) -> Result<(), Fault> {
        let lanes = state.lanes.iter();
        let own = lanes.filter(|(_, lane)| lane.under_way.calls > 0);
        let own: BTreeMap<_, _> = own
            .map(|(name, lane)| (name.clone(), lane.under_way))
            .collect();
        if !own.is_empty() {
            under_way.insert(self.peers.own().to_owned(), own);
        }
        let lanes = state.lanes.iter();
        let stored = StoredKey {
            key_wide: state.key_wide.clone(),
            lanes: lanes
                .map(|(name, lane)| (name.clone(), lane.scope.clone()))
                .collect(),
            under_way,
        };
        keep(transaction, "key", key.as_str(), &stored)
    }
}

/// What the file has under a name; nothing when it was written by another version of this program.
fn read<T: DeserializeOwned>(
    transaction: &Transaction<'_>,
    kind: &str,
    name: &str,
) -> Result<Option<T>, Fault> {
    let text: Option<String> = transaction
        .prepare_cached(READ)?
        .query_row([kind, name], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

fn keep(
    transaction: &Transaction<'_>,
    kind: &str,
    name: &str,
    state: &impl Serialize,
) -> Result<(), Fault> {
    let text = serde_json::to_string(state)?;
    transaction
        .prepare_cached(KEEP)?
        .execute([kind, name, &text])?;
    Ok(())
}

fn share_name((pool, lane): &Domain) -> String {
    match lane {
        Some(lane) => format!("{pool}/{lane}"),
        None => pool.clone(),
    }
}

#[cfg(test)]
mod tests {
    use agon_service_kit::folder::Folder;

    use super::*;

    #[test]
    fn time_of_several_processes_never_runs_backwards_and_a_clock_that_was_set_back_is_believed() {
        assert_eq!(common_time(1_000.0, 0.0), 1_000.0);
        assert_eq!(common_time(1_000.0, 31_000.0), 31_000.0);
        assert_eq!(common_time(1_000.0, 3_600_000.0), 1_000.0);
    }

    #[test]
    fn process_whose_clock_is_behind_goes_by_the_time_of_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("limits.sqlite");
        let files = Folder::create(&folder.path().join("processes")).unwrap();
        let peers = Arc::new(Peers::enter(&files, "own").unwrap());
        let file = LimitsFile::open(&path, peers).unwrap();
        let ahead = unix_ms() as f64 + 30_000.0;
        let mut connection = file.connection.lock();
        let transaction = connection.transaction().unwrap();
        keep(&transaction, CLOCK, "", &ahead).unwrap();
        transaction.commit().unwrap();
        drop(connection);
        let time = || file.together(&mut Books::default(), &[], &None, |_, now| now);
        assert_eq!(time().unwrap(), ahead);
        assert!(time().unwrap() >= ahead);
    }
}
