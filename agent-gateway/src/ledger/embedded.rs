//! The ledger in one SQLite file, without a server. A thread of its own holds the
//! connection (`embedded/writer.rs`); this is the way to it. WAL with synchronous
//! FULL: neither a killed process nor a power cut loses a decision that was
//! acknowledged, and paid for; a batch shares one flush. One process has the file,
//! or several share it, each for sessions that no other plays.

mod reserve;
mod writer;

use std::error::Error;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_outlets::InLine as _;
use agon_service_kit::clock::{Clock, millis, unix_ms};
use async_trait::async_trait;
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior, params};
use tokio::sync::{mpsc, oneshot, watch};

use super::{Claim, Ledger};
use crate::decision::{Decision, DecisionAddress, RequestDigest};
use crate::peers::{Turn, folder_of};
use crate::store_error::StoreError;

use reserve::Reserve;
use writer::{Job, ReplyTo, Task, Writer, failed};

/// Jobs that wait for the thread; more of them wait outside. Larger than a
/// commit's batch, so that the next batch gathers while one is flushed.
const MAILBOX: usize = 4_096;

/// Another process may hold the file for a moment (somebody looks at it with
/// the sqlite3 tool); longer than this is a mistake worth reporting.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS decisions (
        session_id TEXT NOT NULL,
        seat INTEGER NOT NULL,
        idx INTEGER NOT NULL,
        decision TEXT NOT NULL,
        PRIMARY KEY (session_id, seat, idx)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS forgotten (
        session_id TEXT NOT NULL PRIMARY KEY,
        due_ms INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS forgotten_by_due ON forgotten (due_ms);";

/// Only what is there is worth a note, and a second time may only shorten.
const FORGET: &str = "
    INSERT INTO forgotten
    SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM decisions WHERE session_id = ?1)
    ON CONFLICT (session_id) DO UPDATE SET due_ms = min(due_ms, excluded.due_ms)";

const FIND: &str =
    "SELECT decision FROM decisions WHERE session_id = ?1 AND seat = ?2 AND idx = ?3";

const LIST: &str =
    "SELECT seat, idx, decision FROM decisions WHERE session_id = ?1 ORDER BY seat, idx";

/// A ledger in a file. Claims need no owner here: a session is played by one
/// process, and inside it `single_flight.rs` lets one decision per address be made at a time.
pub struct EmbeddedLedger {
    file: SharedFile,
    troubled: watch::Receiver<Option<String>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl EmbeddedLedger {
    /// Opens or creates the file, for this process alone.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with_clock(path, Arc::new(unix_ms))
    }

    /// The same with a clock of one's own.
    pub fn open_with_clock(path: &Path, clock: Clock) -> Result<Self, StoreError> {
        Self::open_as(path, clock, Users::One)
    }

    /// Opens or creates the file for this process beside others. Each session must be
    /// played by one of them at a time: nobody claims an address against the others.
    pub fn open_shared(path: &Path) -> Result<Self, StoreError> {
        Self::open_as(path, Arc::new(unix_ms), Users::Several)
    }

    fn open_as(path: &Path, clock: Clock, users: Users) -> Result<Self, StoreError> {
        let place = |source: std::io::Error| StoreError::Place {
            path: path.in_line().to_string(),
            source: Arc::new(source),
        };
        let hold = FileHold::take(path, users)?;
        let opened = {
            let _turn = hold.turn.as_ref().map(Turn::take).transpose();
            let _turn = _turn.map_err(place)?;
            open_connection(&hold.file)
        };
        let connection = opened.map_err(|source| StoreError::Open {
            path: path.in_line().to_string(),
            source: Arc::new(source),
        })?;
        let (jobs, inbox) = mpsc::channel(MAILBOX);
        let (trouble, troubled) = watch::channel(None);
        let writer = Writer::new(
            connection,
            hold.turn,
            hold.reserve,
            Arc::clone(&clock),
            trouble,
        );
        let lock = hold.lock;
        let thread = std::thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || {
                writer.run(inbox);
                // The next process may come in only after the last commit.
                drop(lock);
            })
            .map_err(place)?;
        Ok(Self {
            file: SharedFile {
                jobs: Arc::new(Mutex::new(Some(jobs))),
                clock,
            },
            troubled,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// A way into the same file for what else the gateway keeps.
    pub(crate) fn file(&self) -> SharedFile {
        self.file.clone()
    }
}

/// The ledger's file for somebody else's tables: work in it is committed together
/// with the decisions of the moment, under the same flush.
#[derive(Clone)]
pub(crate) struct SharedFile {
    /// The way to the thread; empty once the ledger is closed.
    jobs: Arc<Mutex<Option<mpsc::Sender<Job>>>>,
    clock: Clock,
}

impl SharedFile {
    /// Does some work inside the next transaction and returns its result once that
    /// is on disk. Work that fails undoes the whole batch, so it fails only when
    /// the file does; it is run again if its transaction is undone and tried again.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        operation: &'static str,
        work: impl FnMut(&Connection) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        let job = |answer| {
            Job::Write(Box::new(Task {
                operation,
                work,
                done: None,
                answer,
            }))
        };
        self.ask(job).await
    }

    /// Looks into the file; `asks` says that a model may be asked for what is not there.
    async fn read<T: Send + 'static>(
        &self,
        operation: &'static str,
        asks: bool,
        read: impl FnOnce(&Connection) -> Result<T, rusqlite::Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        let job = |answer: ReplyTo<T>| {
            let read = Box::new(move |connection: &Connection| {
                let found = read(connection).map_err(|error| failed(operation, &Arc::new(error)));
                // A caller that has gone needs no answer.
                let _ = answer.send(found);
            });
            Job::Read { asks, read }
        };
        self.ask(job).await
    }

    async fn ask<T>(&self, job: impl FnOnce(ReplyTo<T>) -> Job) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let jobs = self.jobs.lock().clone().ok_or(StoreError::Closed)?;
        let sent = jobs.send(job(answer)).await;
        sent.map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    /// Milliseconds since 1970, on the ledger's clock.
    pub(crate) fn now_ms(&self) -> u64 {
        (self.clock)()
    }
}

#[async_trait]
impl Ledger for EmbeddedLedger {
    async fn claim(
        &self,
        address: &DecisionAddress,
        digest: &RequestDigest,
        _holder: &str,
    ) -> Result<Claim, StoreError> {
        let found = self.find(address).await?;
        Ok(match found {
            None => Claim::Granted,
            Some(decision) if decision.request_digest == *digest => Claim::Recorded(decision),
            Some(decision) => Claim::Conflict(decision.request_digest),
        })
    }

    async fn renew(&self, _address: &DecisionAddress, _holder: &str) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn record(
        &self,
        address: &DecisionAddress,
        decision: Decision,
    ) -> Result<Decision, StoreError> {
        let text = serde_json::to_string(&decision).map_err(StoreError::damaged(address))?;
        let place = address.clone();
        let recorded = self.file.work("record a decision", move |connection| {
            let inserted = connection
                .prepare_cached("INSERT OR IGNORE INTO decisions VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![place.session_id, place.seat, place.index, text])?;
            match inserted {
                0 => find(connection, &place),
                _ => Ok(None),
            }
        });
        match recorded.await? {
            Some(standing) => read_decision(address, &standing),
            None => Ok(decision),
        }
    }

    async fn release(&self, _address: &DecisionAddress, _holder: &str) -> Result<(), StoreError> {
        Ok(())
    }

    async fn find(&self, address: &DecisionAddress) -> Result<Option<Decision>, StoreError> {
        let place = address.clone();
        let found = self.file.read("find a decision", true, move |connection| {
            find(connection, &place)
        });
        let text = found.await?;
        // Whoever finds nothing will ask a model, whose answer has to be recorded.
        let trouble = self.troubled.borrow().clone().filter(|_| text.is_none());
        if let Some(reason) = trouble {
            return Err(StoreError::File {
                operation: "record further answers",
                source: Arc::from(Box::<dyn Error + Send + Sync>::from(reason)),
            });
        }
        text.map(|text| read_decision(address, &text)).transpose()
    }

    async fn list(&self, session_id: &str) -> Result<Vec<(DecisionAddress, Decision)>, StoreError> {
        let session_id = session_id.to_owned();
        let listed = self.file.read("list a session", false, move |connection| {
            let mut rows = connection.prepare_cached(LIST)?;
            let rows = rows.query_map([&session_id], |row| {
                let address = DecisionAddress {
                    session_id: session_id.clone(),
                    seat: row.get(0)?,
                    index: row.get(1)?,
                };
                Ok((address, row.get(2)?))
            })?;
            rows.collect::<Result<Vec<(_, String)>, _>>()
        });
        let read = |(address, text): (DecisionAddress, String)| {
            let decision = read_decision(&address, &text)?;
            Ok((address, decision))
        };
        listed.await?.into_iter().map(read).collect()
    }

    async fn forget(&self, session_ids: &[String], grace: Duration) -> Result<(), StoreError> {
        let session_ids = session_ids.to_vec();
        let due_ms = self.file.now_ms().saturating_add(millis(grace));
        let due_ms = i64::try_from(due_ms).unwrap_or(i64::MAX);
        let forgotten = self.file.work("forget sessions", move |connection| {
            let mut forget = connection.prepare_cached(FORGET)?;
            for session_id in &session_ids {
                forget.execute(params![session_id, due_ms])?;
            }
            Ok(())
        });
        forgotten.await
    }

    fn renew_every(&self) -> Option<Duration> {
        None
    }

    async fn trouble(&self) -> String {
        let mut troubled = self.troubled.clone();
        let reason = troubled.wait_for(Option::is_some).await;
        let reason = reason.ok().and_then(|reason| reason.clone());
        match reason {
            Some(reason) => reason,
            // The thread has stopped in order.
            None => std::future::pending().await,
        }
    }

    async fn close(&self) {
        drop(self.file.jobs.lock().take());
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            // The thread ends when the last job is committed; a panic in it
            // has already been printed and leaves nothing to save.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

/// How many processes may have the file at once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Users {
    One,
    Several,
}

/// The file, held for this process. A lock of the file itself would keep people
/// from looking into it with other tools.
struct FileHold {
    /// Free of links.
    file: PathBuf,
    lock: File,
    /// Whose turn it is to write; absent where nobody else does.
    turn: Option<Turn>,
    reserve: Reserve,
}

impl FileHold {
    fn take(path: &Path, users: Users) -> Result<Self, StoreError> {
        let shown = || path.in_line().to_string();
        let place = |source: std::io::Error| StoreError::Place {
            path: shown(),
            source: Arc::new(source),
        };
        let (folder, name) = folder_of(path).map_err(place)?;
        let beside = |ending: &str| {
            let name = Path::new(&name).with_extension(ending);
            name.to_string_lossy().into_owned()
        };
        let lock = folder.file(&beside("lock")).map_err(place)?;
        let locked = match users {
            Users::One => lock.try_lock(),
            Users::Several => lock.try_lock_shared(),
        };
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse { path: shown() }),
            Err(TryLockError::Error(source)) => return Err(place(source)),
        }
        let turn = match users {
            Users::One => None,
            Users::Several => Some(Turn::at(&folder, &beside("turn")).map_err(place)?),
        };
        let file = folder.real_path().map_err(place)?.join(&name);
        let reserve = folder.file(&beside("reserve")).map_err(place)?;
        Ok(Self {
            file,
            lock,
            turn,
            reserve: Reserve::new(reserve),
        })
    }
}

fn open_connection(path: &Path) -> Result<Connection, rusqlite::Error> {
    // No link in the place of the file is followed.
    let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // What a transaction read must still be so when it writes.
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

fn find(
    connection: &Connection,
    address: &DecisionAddress,
) -> Result<Option<String>, rusqlite::Error> {
    let mut find = connection.prepare_cached(FIND)?;
    let place = params![address.session_id, address.seat, address.index];
    find.query_row(place, |row| row.get(0)).optional()
}

fn read_decision(address: &DecisionAddress, text: &str) -> Result<Decision, StoreError> {
    serde_json::from_str(text).map_err(StoreError::damaged(address))
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[tokio::test]
    async fn work_is_done_again_when_its_transaction_is() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = EmbeddedLedger::open(&folder.path().join("ledger.db")).unwrap();
        let address = DecisionAddress {
            session_id: "s".to_owned(),
            seat: 0,
            index: 0,
        };
        // Holds the reserve, which is given up once the disk is full.
        assert_eq!(ledger.find(&address).await.unwrap(), None);
        let file = ledger.file();
        // Until both are there, so that one transaction has them.
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let wait = file.read("wait", false, move |_| Ok(gate.recv().ok()));
        let noted = file.work("note", |connection| {
            connection.execute("INSERT INTO forgotten VALUES ('s', ?1)", [i64::MAX])
        });
        let mut tries = 0;
        let fails_once = file.work("fail once", move |_| {
            tries += 1;
            let full = ffi::Error::new(ffi::SQLITE_FULL);
            let full = rusqlite::Error::SqliteFailure(full, None);
            if tries == 1 { Err(full) } else { Ok(tries) }
        });
        let opened = async { open.send(()).unwrap() };
        let (_, noted, tried, ()) = tokio::join!(wait, noted, fails_once, opened);
        assert_eq!((noted.unwrap(), tried.unwrap()), (1, 2));
        let count = "SELECT count(*) FROM forgotten";
        let counted = file.read("count", false, |connection| {
            connection.query_row(count, [], |row| row.get::<_, i64>(0))
        });
        assert_eq!(counted.await.unwrap(), 1);
    }
}
