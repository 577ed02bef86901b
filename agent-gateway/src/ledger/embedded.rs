//! The ledger in one SQLite file, for one process without a server. A thread
//! of its own holds the connection: it answers the reads of a batch, then
//! commits the writes of the batch together, then answers those. WAL with
//! synchronous FULL: neither a killed process nor a power cut loses a decision
//! that was acknowledged, and paid for; a batch shares one flush.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc as std_mpsc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::oneshot;

use super::{Claim, Ledger, LedgerError};
use crate::decision::{Decision, DecisionAddress, RequestDigest};

/// Bounds the wait of the first writer in a batch; far above what two cores
/// produce while one commit runs.
const BATCH: usize = 512;

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
    ) WITHOUT ROWID;";

/// A ledger in a file. Claims need no owner here: one process owns the file,
/// and inside it `flights.rs` already lets one flight per address take off.
pub struct EmbeddedLedger {
    jobs: Mutex<Option<std_mpsc::Sender<Job>>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl EmbeddedLedger {
    /// Opens or creates the file.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        let shown = || path.display().to_string();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| LedgerError::Place {
                path: shown(),
                source,
            })?;
        }
        let lock = lock_file(path)?;
        let connection = open_connection(path).map_err(|source| LedgerError::Open {
            path: shown(),
            source,
        })?;
        let (jobs, inbox) = std_mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("ledger".to_owned())
            .spawn(move || {
                run(connection, &inbox);
                drop(lock);
            })
            .map_err(|source| LedgerError::Place {
                path: shown(),
                source,
            })?;
        Ok(Self {
            jobs: Mutex::new(Some(jobs)),
            thread: Mutex::new(Some(thread)),
        })
    }

    async fn ask<T>(&self, job: impl FnOnce(Answer<T>) -> Job) -> Result<T, LedgerError> {
        let (answer, answered) = oneshot::channel();
        match self.jobs.lock().as_ref() {
            Some(jobs) => jobs.send(job(answer)).map_err(|_| LedgerError::Closed)?,
            None => return Err(LedgerError::Closed),
        }
        answered.await.map_err(|_| LedgerError::Closed)?
    }
}

#[async_trait]
impl Ledger for EmbeddedLedger {
    async fn claim(
        &self,
        address: &DecisionAddress,
        digest: &RequestDigest,
        _holder: &str,
    ) -> Result<Claim, LedgerError> {
        let address = address.clone();
        let found = self.ask(|answer| Job::Find { address, answer }).await?;
        Ok(match found {
            None => Claim::Granted,
            Some(decision) if decision.request_digest == *digest => Claim::Recorded(decision),
            Some(decision) => Claim::Conflict(decision.request_digest),
        })
    }

    async fn renew(&self, _address: &DecisionAddress, _holder: &str) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn record(
        &self,
        address: &DecisionAddress,
        decision: Decision,
    ) -> Result<Decision, LedgerError> {
        let address = address.clone();
        self.ask(|answer| {
            Job::Write(Write::Record {
                address,
                decision,
                answer,
            })
        })
        .await
    }

    async fn release(&self, _address: &DecisionAddress, _holder: &str) -> Result<(), LedgerError> {
        Ok(())
    }

    async fn list(
        &self,
        session_id: &str,
    ) -> Result<Vec<(DecisionAddress, Decision)>, LedgerError> {
        let session_id = session_id.to_owned();
        self.ask(|answer| Job::List { session_id, answer }).await
    }

    async fn forget(&self, session_ids: &[String]) -> Result<(), LedgerError> {
        let session_ids = session_ids.to_vec();
        self.ask(|answer| {
            Job::Write(Write::Forget {
                session_ids,
                answer,
            })
        })
        .await
    }

    fn renew_every(&self) -> Option<Duration> {
        None
    }

    async fn close(&self) {
        drop(self.jobs.lock().take());
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            // The thread ends when the last job is committed; a panic in it
            // has already been printed and leaves nothing to save.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

type Answer<T> = oneshot::Sender<Result<T, LedgerError>>;

enum Job {
    Find {
        address: DecisionAddress,
        answer: Answer<Option<Decision>>,
    },
    List {
        session_id: String,
        answer: Answer<Vec<(DecisionAddress, Decision)>>,
    },
    Write(Write),
}

enum Write {
    Record {
        address: DecisionAddress,
        decision: Decision,
        answer: Answer<Decision>,
    },
    Forget {
        session_ids: Vec<String>,
        answer: Answer<()>,
    },
}

/// Holds the ledger for this process; a lock of the file itself would keep
/// people from looking into it with other tools.
fn lock_file(path: &Path) -> Result<File, LedgerError> {
    let shown = || path.display().to_string();
    let lock = File::create(path.with_extension("lock")).map_err(|source| LedgerError::Place {
        path: shown(),
        source,
    })?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(LedgerError::InUse { path: shown() }),
        Err(TryLockError::Error(source)) => Err(LedgerError::Place {
            path: shown(),
            source,
        }),
    }
}

fn open_connection(path: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

fn run(mut connection: Connection, inbox: &std_mpsc::Receiver<Job>) {
    let mut writes = Vec::new();
    while let Ok(job) = inbox.recv() {
        let mut next = Some(job);
        while let Some(job) = next {
            match job {
                // A caller that has gone needs no answer, here and below.
                Job::Find { address, answer } => {
                    let _ = answer.send(find(&connection, &address));
                }
                Job::List { session_id, answer } => {
                    let _ = answer.send(list(&connection, &session_id));
                }
                Job::Write(write) => writes.push(write),
            }
            next = if writes.len() < BATCH {
                inbox.try_recv().ok()
            } else {
                None
            };
        }
        commit(&mut connection, std::mem::take(&mut writes));
    }
}

/// Runs the writes in one transaction; answers only after the commit. When the
/// transaction fails, all of it is undone and every writer hears why.
fn commit(connection: &mut Connection, writes: Vec<Write>) {
    if writes.is_empty() {
        return;
    }
    let outcome = write_all(connection, &writes).map_err(Arc::new);
    let mut earlier = outcome.as_ref().map(|earlier| earlier.clone().into_iter());
    for write in writes {
        match (write, &mut earlier) {
            (
                Write::Record {
                    address,
                    decision,
                    answer,
                },
                Ok(earlier),
            ) => {
                let standing = match earlier.next().flatten() {
                    Some(text) => read_decision(&address, &text),
                    None => Ok(decision),
                };
                let _ = answer.send(standing);
            }
            (Write::Forget { answer, .. }, Ok(_)) => drop(answer.send(Ok(()))),
            (Write::Record { answer, .. }, Err(error)) => {
                let _ = answer.send(Err(failed("record a decision", error)));
            }
            (Write::Forget { answer, .. }, Err(error)) => {
                let _ = answer.send(Err(failed("forget sessions", error)));
            }
        }
    }
}

/// For every `Record`, in order: the entry that stood there before, if any.
fn write_all(
    connection: &mut Connection,
    writes: &[Write],
) -> Result<Vec<Option<String>>, rusqlite::Error> {
    let transaction = connection.transaction()?;
    let mut earlier = Vec::new();
    for write in writes {
        match write {
            Write::Record {
                address, decision, ..
            } => {
                let text = serde_json::to_string(decision)
                    .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
                let inserted = transaction
                    .prepare_cached("INSERT OR IGNORE INTO decisions VALUES (?1, ?2, ?3, ?4)")?
                    .execute(params![
                        address.session_id,
                        address.seat,
                        address.index,
                        text
                    ])?;
                earlier.push(match inserted {
                    0 => find_text(&transaction, address)?,
                    _ => None,
                });
            }
            Write::Forget { session_ids, .. } => {
                let mut delete =
                    transaction.prepare_cached("DELETE FROM decisions WHERE session_id = ?1")?;
                for session_id in session_ids {
                    delete.execute([session_id])?;
                }
            }
        }
    }
    transaction.commit()?;
    Ok(earlier)
}

fn find(
    connection: &Connection,
    address: &DecisionAddress,
) -> Result<Option<Decision>, LedgerError> {
    find_text(connection, address)
        .map_err(|error| failed("find a decision", &Arc::new(error)))?
        .map(|text| read_decision(address, &text))
        .transpose()
}

fn find_text(
    connection: &Connection,
    address: &DecisionAddress,
) -> Result<Option<String>, rusqlite::Error> {
    connection
        .prepare_cached(
            "SELECT decision FROM decisions WHERE session_id = ?1 AND seat = ?2 AND idx = ?3",
        )?
        .query_row(
            params![address.session_id, address.seat, address.index],
            |row| row.get(0),
        )
        .optional()
}

fn list(
    connection: &Connection,
    session_id: &str,
) -> Result<Vec<(DecisionAddress, Decision)>, LedgerError> {
    let rows = list_texts(connection, session_id)
        .map_err(|error| failed("list a session", &Arc::new(error)))?;
    rows.into_iter()
        .map(|(seat, index, text)| {
            let address = DecisionAddress {
                session_id: session_id.to_owned(),
                seat,
                index,
            };
            let decision = read_decision(&address, &text)?;
            Ok((address, decision))
        })
        .collect()
}

fn list_texts(
    connection: &Connection,
    session_id: &str,
) -> Result<Vec<(u32, u32, String)>, rusqlite::Error> {
    connection
        .prepare_cached(
            "SELECT seat, idx, decision FROM decisions WHERE session_id = ?1 ORDER BY seat, idx",
        )?
        .query_map([session_id], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect()
}

fn read_decision(address: &DecisionAddress, text: &str) -> Result<Decision, LedgerError> {
    serde_json::from_str(text).map_err(|source| LedgerError::Damaged {
        address: address.to_string(),
        source,
    })
}

fn failed(operation: &'static str, source: &Arc<rusqlite::Error>) -> LedgerError {
    LedgerError::Embedded {
        operation,
        source: Arc::clone(source),
    }
}
