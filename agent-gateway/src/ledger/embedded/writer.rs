//! The thread that holds the embedded ledger's file. It answers the reads of a
//! batch, then commits the writes of the batch together, then answers those.
//! Whenever it is woken it also deletes sessions whose grace is over; it never
//! wakes by itself. Started by `embedded.rs`.

use std::sync::Arc;

use agon_service_kit::clock::Clock;
use rusqlite::{Connection, ErrorCode, params};
use tokio::sync::{mpsc, oneshot, watch};

use super::reserve::{BYTES, Reserve, is_about_space};
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

pub(super) type ReplyTo<T> = oneshot::Sender<Result<T, StoreError>>;

/// What the thread is asked to do.
pub(super) enum Job {
    /// To look into the file, for somebody who may then ask a model or not.
    Read {
        asks: bool,
        read: Box<dyn FnOnce(&Connection) + Send>,
    },
    /// To change it.
    Write(Box<dyn Work>),
}

/// Something to do inside a transaction, and what to say when it is over.
pub(super) trait Work: Send {
    fn run(&mut self, transaction: &Connection) -> Result<(), rusqlite::Error>;
    fn committed(self: Box<Self>);
    fn undone(self: Box<Self>, error: &Arc<rusqlite::Error>);
}

/// Work with its result, which is told only after the commit. It is run again when its transaction
/// is.
pub(super) struct Task<T, F> {
    pub(super) operation: &'static str,
    pub(super) work: F,
    pub(super) done: Option<T>,
    pub(super) answer: ReplyTo<T>,
}

impl<T, F> Work for Task<T, F>
where
    T: Send,
    F: FnMut(&Connection) -> Result<T, rusqlite::Error> + Send,
{
    fn run(&mut self, transaction: &Connection) -> Result<(), rusqlite::Error> {
        self.done = Some((self.work)(transaction)?);
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
                    Job::Read { asks, read } => {
                        if asks {
                            self.hold_reserve();
                        }
                        read(&self.connection);
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
    fn commit(&mut self, mut writes: Vec<Box<dyn Work>>) {
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
            Ok(()) => {
                // Before anybody hears: whoever asks again then is not told of a trouble that is over.
                if self.trouble.borrow().is_some() {
                    self.hold_reserve();
                }
                writes.into_iter().for_each(|work| work.committed());
            }
            Err(error) => {
                self.note_trouble(&error);
                let error = Arc::new(error);
                writes.into_iter().for_each(|work| work.undone(&error));
            }
        }
    }

    fn write(&mut self, writes: &mut [Box<dyn Work>]) -> Result<(), rusqlite::Error> {
        let connection = &mut self.connection;
        in_turn(self.turn.as_ref(), || {
            let transaction = connection.transaction()?;
            for work in writes {
                work.run(&transaction)?;
            }
            transaction.commit()
        })
    }

    /// Without the reserve the file can take no more than what is under way: all is well only with
    /// it.
    fn hold_reserve(&mut self) {
        match self.reserve.hold() {
            Ok(()) => {
                self.trouble
                    .send_if_modified(|trouble| trouble.take().is_some());
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
        self.trouble.send_if_modified(|trouble| {
            if trouble.is_some() {
                return false;
            }
            *trouble = Some(reason.to_owned());
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

pub(super) fn failed(operation: &'static str, source: &Arc<rusqlite::Error>) -> StoreError {
    let source = Arc::clone(source) as _;
    StoreError::File { operation, source }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Says, when it hears that it is recorded, which trouble there still is.
    struct Looks {
        troubled: watch::Receiver<Option<String>>,
        seen: mpsc::Sender<Option<String>>,
    }

    impl Work for Looks {
        fn run(&mut self, _: &Connection) -> Result<(), rusqlite::Error> {
            Ok(())
        }

        fn committed(self: Box<Self>) {
            self.seen.send(self.troubled.borrow().clone()).unwrap();
        }

        fn undone(self: Box<Self>, error: &Arc<rusqlite::Error>) {
            panic!("{error}");
        }
    }

    #[test]
    fn trouble_is_over_before_anybody_hears_that_they_are_recorded() {
        let (trouble, troubled) = watch::channel(Some("the disk is full".to_owned()));
        let connection = Connection::open_in_memory().unwrap();
        let reserve = Reserve::new(tempfile::tempfile().unwrap());
        let mut writer = Writer::new(connection, None, reserve, Arc::new(|| 0), trouble);
        let (seen, found) = mpsc::channel();
        writer.commit(vec![Box::new(Looks { troubled, seen })]);
        assert_eq!(found.recv().unwrap(), None);
    }
}
