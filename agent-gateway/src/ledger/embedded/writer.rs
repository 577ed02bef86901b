//! The thread that holds the embedded ledger's file. It answers the reads of a
//! batch, then commits the writes of the batch together, then answers those.
//! Whenever it is woken it also deletes sessions whose grace is over; it never
//! wakes by itself. Started by `embedded.rs`.

use std::sync::Arc;

use agon_service_kit::clock::Clock;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};
use tokio::sync::{mpsc, oneshot, watch};

use super::reserve::{BYTES, Reserve, is_about_space};
use crate::decision::{Decision, DecisionAddress};
use crate::peers::Turn;
use crate::store_error::StoreError;

/// Bounds the wait of the first writer in a batch; far above what two cores
/// produce while one commit runs.
const BATCH: usize = 512;

/// Nothing waits for the space of a forgotten session; a look a minute is soon
/// enough and costs nothing.
const SWEEP_EVERY_MS: u64 = 60_000;

/// Sessions deleted at once: decisions wait meanwhile, for some milliseconds.
/// When more are due the next wake goes on.
const SWEEP_SESSIONS: usize = 100;

/// Only what is there is worth a note, and a second time may only shorten.
const FORGET: &str = "
    INSERT INTO forgotten
    SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM decisions WHERE session_id = ?1)
    ON CONFLICT (session_id) DO UPDATE SET due_ms = min(due_ms, excluded.due_ms)";

pub(super) type ReplyTo<T> = oneshot::Sender<Result<T, StoreError>>;

/// What the thread is asked to do; see the methods of the ledger.
pub(super) enum Job {
    Find {
        address: DecisionAddress,
        answer: ReplyTo<Option<Decision>>,
    },
    List {
        session_id: String,
        answer: ReplyTo<Vec<(DecisionAddress, Decision)>>,
    },
    Write(Write),
}

/// What changes the file.
pub(super) enum Write {
    Record {
        address: DecisionAddress,
        decision: Box<Decision>,
        answer: ReplyTo<Decision>,
    },
    Forget {
        session_ids: Vec<String>,
        due_ms: u64,
        answer: ReplyTo<()>,
    },
    /// Somebody else's tables.
    Work(Box<dyn Work>),
}

/// Something to do inside a transaction, and what to say when it is over.
pub(super) trait Work: Send {
    fn run(&mut self, transaction: &Connection) -> Result<(), rusqlite::Error>;
    fn committed(self: Box<Self>);
    fn undone(self: Box<Self>, error: &Arc<rusqlite::Error>);
}

/// Work with its result, which is told only after the commit.
pub(super) struct Task<T, F> {
    pub(super) operation: &'static str,
    pub(super) work: Option<F>,
    pub(super) done: Option<T>,
    pub(super) answer: ReplyTo<T>,
}

impl<T, F> Work for Task<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, rusqlite::Error> + Send,
{
    fn run(&mut self, transaction: &Connection) -> Result<(), rusqlite::Error> {
        if let Some(work) = self.work.take() {
            self.done = Some(work(transaction)?);
        }
        Ok(())
    }

    fn committed(self: Box<Self>) {
        if let Some(done) = self.done {
            // A caller that has gone needs no answer.
            let _ = self.answer.send(Ok(done));
        }
    }

    fn undone(self: Box<Self>, error: &Arc<rusqlite::Error>) {
        let _ = self.answer.send(Err(failed(self.operation, error)));
    }
}

/// The thread's own things.
pub(super) struct Writer {
    connection: Connection,
    /// Absent where no other process writes.
    turn: Option<Turn>,
    reserve: Reserve,
    clock: Clock,
    /// Why nothing can be written; absent while all is well.
    trouble: watch::Sender<Option<String>>,
    next_sweep_ms: u64,
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        turn: Option<Turn>,
        reserve: Reserve,
        clock: Clock,
        trouble: watch::Sender<Option<String>>,
    ) -> Self {
        Self {
            connection,
            turn,
            reserve,
            clock,
            trouble,
            next_sweep_ms: 0,
        }
    }

    /// Works until nobody holds the ledger any more.
    pub(super) fn run(mut self, mut inbox: mpsc::Receiver<Job>) {
        self.sweep();
        let mut writes = Vec::new();
        while let Some(job) = inbox.blocking_recv() {
            let mut next = Some(job);
            while let Some(job) = next {
                match job {
                    // A caller that has gone needs no answer, here and below.
                    Job::Find { address, answer } => {
                        // Whoever looks for an answer will ask for one that is not there.
                        self.hold_reserve();
                        let _ = answer.send(find(&self.connection, &address));
                    }
                    Job::List { session_id, answer } => {
                        let _ = answer.send(list(&self.connection, &session_id));
                    }
                    Job::Write(write) => writes.push(write),
                }
                next = if writes.len() < BATCH {
                    inbox.try_recv().ok()
                } else {
                    None
                };
            }
            self.commit(std::mem::take(&mut writes));
            self.sweep();
        }
    }

    /// Runs the writes in one transaction; answers only after the commit. When
    /// the transaction fails, all of it is undone and every writer hears why.
    fn commit(&mut self, mut writes: Vec<Write>) {
        if writes.is_empty() {
            return;
        }
        let mut written = self.write(&mut writes);
        if let Err(error) = &written
            && is_about_space(error)
            && self.reserve.release()
        {
            self.note_trouble(error);
            written = self.write(&mut writes);
        }
        match written {
            Ok(earlier) => {
                answer_all(writes, earlier);
                if self.trouble.borrow().is_some() {
                    self.hold_reserve();
                }
            }
            Err(error) => {
                self.note_trouble(&error);
                refuse_all(writes, &Arc::new(error));
            }
        }
    }

    fn write(&mut self, writes: &mut [Write]) -> Result<Vec<Option<String>>, rusqlite::Error> {
        let connection = &mut self.connection;
        in_turn(self.turn.as_ref(), || write_all(connection, writes))
    }

    /// Without the reserve the file can take no more than what is under way: all is well only with
    /// it.
    fn hold_reserve(&mut self) {
        match self.reserve.hold() {
            Ok(()) => {
                self.trouble.send_if_modified(|said| said.take().is_some());
            }
            Err(error) => self.say_trouble(&format!(
                "no {} MB are left to record answers under way ({error})",
                BYTES >> 20
            )),
        }
    }

    /// Another process that looks at the file is no trouble: it will be done.
    fn note_trouble(&self, error: &rusqlite::Error) {
        let code = error.sqlite_error_code();
        if matches!(
            code,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        ) {
            return;
        }
        self.say_trouble(&error.to_string());
    }

    fn say_trouble(&self, reason: &str) {
        self.trouble.send_if_modified(|said| {
            if said.is_some() {
                return false;
            }
            *said = Some(reason.to_owned());
            true
        });
    }

    /// Deletes sessions whose grace is over, when it is time to look.
    fn sweep(&mut self) {
        let now_ms = (self.clock)();
        if now_ms < self.next_sweep_ms {
            return;
        }
        let connection = &mut self.connection;
        match in_turn(self.turn.as_ref(), || delete_due(connection, now_ms)) {
            Ok(deleted) if deleted == SWEEP_SESSIONS => return,
            Ok(_) => {}
            // They cost space only, and are due again at the next look.
            Err(error) => tracing::warn!(%error, "forgotten sessions not deleted"),
        }
        self.next_sweep_ms = now_ms.saturating_add(SWEEP_EVERY_MS);
    }
}

/// Writes while no other process does.
fn in_turn<T>(
    turn: Option<&Turn>,
    write: impl FnOnce() -> Result<T, rusqlite::Error>,
) -> Result<T, rusqlite::Error> {
    let taken = turn.map(Turn::take).transpose();
    let _taken = taken.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    write()
}

/// `earlier` is what stood before, for every `Record` in order.
fn answer_all(writes: Vec<Write>, earlier: Vec<Option<String>>) {
    let mut earlier = earlier.into_iter();
    for write in writes {
        match write {
            Write::Record {
                address,
                decision,
                answer,
            } => {
                let standing = match earlier.next().flatten() {
                    Some(text) => read_decision(&address, &text),
                    None => Ok(*decision),
                };
                let _ = answer.send(standing);
            }
            Write::Forget { answer, .. } => drop(answer.send(Ok(()))),
            Write::Work(work) => work.committed(),
        }
    }
}

fn refuse_all(writes: Vec<Write>, error: &Arc<rusqlite::Error>) {
    for write in writes {
        match write {
            Write::Record { answer, .. } => {
                let _ = answer.send(Err(failed("record a decision", error)));
            }
            Write::Forget { answer, .. } => {
                let _ = answer.send(Err(failed("forget sessions", error)));
            }
            Write::Work(work) => work.undone(error),
        }
    }
}

/// Deletes some of the sessions that are due; says how many.
fn delete_due(connection: &mut Connection, now_ms: u64) -> Result<usize, rusqlite::Error> {
    let now_ms = i64::try_from(now_ms).unwrap_or(i64::MAX);
    let due: Vec<String> = connection
        .prepare_cached(
            "SELECT session_id FROM forgotten WHERE due_ms <= ?1 ORDER BY due_ms LIMIT ?2",
        )?
        .query_map(params![now_ms, SWEEP_SESSIONS as i64], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    if due.is_empty() {
        return Ok(0);
    }
    let transaction = connection.transaction()?;
    for session_id in &due {
        for table in ["decisions", "forgotten"] {
            let delete = format!("DELETE FROM {table} WHERE session_id = ?1");
            transaction.prepare_cached(&delete)?.execute([session_id])?;
        }
    }
    transaction.commit()?;
    Ok(due.len())
}

/// For every `Record`, in order: the entry that stood there before, if any.
fn write_all(
    connection: &mut Connection,
    writes: &mut [Write],
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
            Write::Forget {
                session_ids,
                due_ms,
                ..
            } => {
                let due_ms = i64::try_from(*due_ms).unwrap_or(i64::MAX);
                let mut forget = transaction.prepare_cached(FORGET)?;
                for session_id in session_ids.iter() {
                    forget.execute(params![session_id, due_ms])?;
                }
            }
            Write::Work(work) => work.run(&transaction)?,
        }
    }
    transaction.commit()?;
    Ok(earlier)
}

fn find(
    connection: &Connection,
    address: &DecisionAddress,
) -> Result<Option<Decision>, StoreError> {
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
) -> Result<Vec<(DecisionAddress, Decision)>, StoreError> {
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

fn read_decision(address: &DecisionAddress, text: &str) -> Result<Decision, StoreError> {
    serde_json::from_str(text).map_err(StoreError::damaged(address))
}

fn failed(operation: &'static str, source: &Arc<rusqlite::Error>) -> StoreError {
    let source = Arc::clone(source) as _;
    StoreError::File { operation, source }
}
