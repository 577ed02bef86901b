//! The thread that writes the embedded store.
//!
//! It takes what has piled up, does all of it in one transaction, commits, and only then answers.
//! When the database refuses (a full disk), nothing of the batch has happened, everybody is told,
//! and the queues are read again from the file.

use std::sync::mpsc::Receiver;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use tokio::sync::{oneshot, watch};

use super::Clock;
use super::schema::database;
use super::turns::Turns;
use crate::store::packed::Packed;
use crate::store::{
    Completion, Failure, Granted, LeaseKey, NewExperiment, StoreError, StoreResult, Submitted,
};

mod experiments;
mod leases;
mod series;

/// Changes in one transaction: enough to share a flush well, few enough to answer soon.
const BATCH: usize = 256;

type Reply<T> = oneshot::Sender<StoreResult<T>>;

/// What the thread is asked to do; see the methods of [`crate::store::Store`].
pub enum Change {
    /// From `submit`.
    Submit(Box<NewExperiment>, Reply<Submitted>),
    /// From `lease`.
    Lease {
        /// Who leases.
        worker: String,
        /// A fence for each session that it may get.
        fences: Vec<u64>,
        /// For how long.
        ttl: Duration,
        /// The answer.
        reply: Reply<Vec<Granted>>,
    },
    /// From `renew`.
    Renew {
        /// What.
        leases: Vec<LeaseKey>,
        /// For how long from now.
        ttl: Duration,
        /// The answer.
        reply: Reply<Vec<bool>>,
    },
    /// From `complete`.
    Complete {
        /// The lease.
        lease: LeaseKey,
        /// The result.
        packed: Box<Packed>,
        /// The answer.
        reply: Reply<Completion>,
    },
    /// From `fail`.
    Fail {
        /// The lease.
        lease: LeaseKey,
        /// What kind of failure.
        failure: Failure,
        /// Why, for people.
        reason: String,
        /// The answer.
        reply: Reply<bool>,
    },
    /// From `release`.
    Release {
        /// The leases.
        leases: Vec<LeaseKey>,
        /// The answer.
        reply: Reply<()>,
    },
    /// From `expire`.
    Expire {
        /// The answer.
        reply: Reply<u64>,
    },
    /// From `reclaim`.
    Reclaim {
        /// The answer.
        reply: Reply<u64>,
    },
    /// From `cancel`.
    Cancel {
        /// The experiment.
        experiment: String,
        /// The answer.
        reply: Reply<bool>,
    },
    /// From `retry`.
    Retry {
        /// The experiment.
        experiment: String,
        /// The sessions; all that are set aside when empty.
        sessions: Vec<String>,
        /// The answer.
        reply: Reply<Option<u64>>,
    },
    /// From `resume`.
    Resume {
        /// The experiment.
        experiment: String,
        /// Its budget from now on; that which it has when absent.
        budget: Option<u64>,
        /// The answer.
        reply: Reply<bool>,
    },
    /// From `greet`.
    Greet {
        /// The worker.
        worker: String,
        /// How long it counts as there.
        ttl: Duration,
        /// The answer.
        reply: Reply<()>,
    },
    /// From `close`: the last change.
    Close,
}

/// The thread's own things.
pub struct Writer {
    connection: Connection,
    clock: Clock,
    announce: watch::Sender<u64>,
    /// Why the database last refused a change.
    trouble: watch::Sender<Option<String>>,
    turns: Turns,
    counters: Counters,
}

/// Numbers that only grow: leases given, under the name that they had when they were fences, and
/// places in queues.
#[derive(Debug, Clone, Copy)]
struct Counters {
    fence: i64,
    rank: i64,
}

/// What one transaction works with.
struct Batch<'a> {
    transaction: Transaction<'a>,
    now_ms: i64,
    turns: &'a mut Turns,
    counters: Counters,
    /// Whether sessions became free to lease.
    queued: bool,
}

/// An answer that waits for the commit.
type Answer = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

impl Writer {
    /// Reads the queues from the file.
    pub fn new(
        connection: Connection,
        clock: Clock,
        announce: watch::Sender<u64>,
        trouble: watch::Sender<Option<String>>,
    ) -> StoreResult<Self> {
        let counters = Counters { fence: 0, rank: 0 };
        let turns = Turns::default();
        let mut writer = Self {
            connection,
            clock,
            announce,
            trouble,
            turns,
            counters,
        };
        writer.recall().map_err(database("read the queue"))?;
        Ok(writer)
    }

    /// Works until the store is closed or nobody holds it any more.
    pub fn run(&mut self, mailbox: &Receiver<Change>) {
        while let Ok(first) = mailbox.recv() {
            let more = mailbox.try_iter().take(BATCH - 1);
            let mut changes: Vec<Change> = std::iter::once(first).chain(more).collect();
            let close = changes
                .iter()
                .position(|change| matches!(change, Change::Close));
            if let Some(place) = close {
                // What came later is dropped, and its callers are told that the store stopped.
                changes.truncate(place);
            }
            self.commit(changes);
            if close.is_some() {
                return;
            }
        }
    }

    fn commit(&mut self, changes: Vec<Change>) {
        let mut answers = Vec::with_capacity(changes.len());
        let outcome = self.try_commit(changes, &mut answers);
        match outcome {
            Ok(queued) => {
                answers.into_iter().for_each(|answer| answer(Ok(())));
                if queued {
                    self.announce.send_modify(|version| *version += 1);
                }
            }
            Err(fault) => {
                tracing::error!(%fault, "the coordinator's database refuses a change");
                self.trouble.send_replace(Some(fault.to_string()));
                for answer in answers {
                    answer(Err(database("write")(again(&fault))));
                }
                if let Err(fault) = self.recall() {
                    tracing::error!(%fault, "the coordinator's queue cannot be read again");
                }
            }
        }
    }

    fn try_commit(
        &mut self,
        changes: Vec<Change>,
        answers: &mut Vec<Answer>,
    ) -> rusqlite::Result<bool> {
        let now_ms = i64::try_from((self.clock)()).unwrap_or(i64::MAX);
        let mut waiting = changes.into_iter();
        let worked = (|| {
            let mut batch = Batch {
                transaction: self.connection.transaction()?,
                now_ms,
                turns: &mut self.turns,
                counters: self.counters,
                queued: false,
            };
            for change in waiting.by_ref() {
                batch.apply(change, answers)?;
            }
            batch.store_counters()?;
            let Batch {
                transaction,
                counters,
                queued,
                ..
            } = batch;
            transaction.commit()?;
            self.counters = counters;
            Ok(queued)
        })();
        for change in waiting {
            answers.push(change.refuse());
        }
        worked
    }

    /// Reads counters and queues from the file.
    fn recall(&mut self) -> rusqlite::Result<()> {
        let counter = |name: &str| -> rusqlite::Result<i64> {
            let sql = "SELECT value FROM counters WHERE name = ?1";
            let found = self
                .connection
                .query_row(sql, [name], |row| row.get(0))
                .optional()?;
            Ok(found.unwrap_or(0))
        };
        self.counters = Counters {
            fence: counter("fence")?,
            rank: counter("rank")?,
        };
        self.turns = Turns::default();
        let mut marked = self.connection.prepare(
            "SELECT team, id, priority, paused FROM experiments
             WHERE priority <> 0 OR paused <> ''",
        )?;
        let mut rows = marked.query([])?;
        while let Some(row) = rows.next()? {
            let (team, experiment): (String, String) = (row.get(0)?, row.get(1)?);
            self.turns.set_priority(&team, &experiment, row.get(2)?);
            if !row.get::<_, String>(3)?.is_empty() {
                self.turns.pause(&team, &experiment);
            }
        }
        let mut queued = self.connection.prepare(
            "SELECT team, experiment, rank, sessions.id, losses > 0
             FROM sessions JOIN experiments ON experiments.id = experiment WHERE state = 'queued'",
        )?;
        let mut rows = queued.query([])?;
        while let Some(row) = rows.next()? {
            let (team, experiment): (String, String) = (row.get(0)?, row.get(1)?);
            let session: String = row.get(3)?;
            if row.get(4)? {
                self.turns.add_suspect(&experiment, row.get(2)?, &session);
            } else {
                self.turns.add(&team, &experiment, row.get(2)?, &session);
            }
        }
        Ok(())
    }
}

impl Batch<'_> {
    fn apply(&mut self, change: Change, answers: &mut Vec<Answer>) -> rusqlite::Result<()> {
        /// Does one thing; its answer waits for the commit, also when it fails.
        fn answer<T: Send + 'static>(
            done: rusqlite::Result<StoreResult<T>>,
            reply: Reply<T>,
            answers: &mut Vec<Answer>,
        ) -> rusqlite::Result<()> {
            let (value, outcome) = match done {
                Ok(value) => (Some(value), Ok(())),
                Err(fault) => (None, Err(fault)),
            };
            answers.push(Box::new(move |committed| {
                let value = value.unwrap_or(Err(StoreError::Stopped));
                // A caller that has gone does not need its answer.
                let _ = reply.send(committed.and(value));
            }));
            outcome
        }
        match change {
            Change::Submit(experiment, reply) => answer(self.submit(&experiment), reply, answers),
            Change::Lease {
                worker,
                fences,
                ttl,
                reply,
            } => answer(self.lease(&worker, &fences, ttl).map(Ok), reply, answers),
            Change::Renew { leases, ttl, reply } => {
                answer(self.renew(&leases, ttl).map(Ok), reply, answers)
            }
            Change::Complete {
                lease,
                packed,
                reply,
            } => answer(self.complete(&lease, &packed).map(Ok), reply, answers),
            Change::Fail {
                lease,
                failure,
                reason,
                reply,
            } => answer(self.fail(&lease, failure, &reason).map(Ok), reply, answers),
            Change::Release { leases, reply } => {
                answer(self.release(&leases).map(Ok), reply, answers)
            }
            Change::Expire { reply } => answer(self.expire().map(Ok), reply, answers),
            Change::Reclaim { reply } => answer(self.reclaim().map(Ok), reply, answers),
            Change::Cancel { experiment, reply } => {
                answer(self.cancel(&experiment).map(Ok), reply, answers)
            }
            Change::Retry {
                experiment,
                sessions,
                reply,
            } => answer(self.retry(&experiment, &sessions).map(Ok), reply, answers),
            Change::Resume {
                experiment,
                budget,
                reply,
            } => answer(self.resume(&experiment, budget).map(Ok), reply, answers),
            Change::Greet { worker, ttl, reply } => {
                answer(self.greet(&worker, ttl).map(Ok), reply, answers)
            }
            Change::Close => Ok(()),
        }
    }

    fn store_counters(&self) -> rusqlite::Result<()> {
        let mut store = self.transaction.prepare_cached(
            "INSERT INTO counters (name, value) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET value = ?2 WHERE value <> ?2",
        )?;
        store.execute(params!["fence", self.counters.fence])?;
        store.execute(params!["rank", self.counters.rank])?;
        Ok(())
    }

    fn next_rank(&mut self) -> i64 {
        self.counters.rank += 1;
        self.counters.rank
    }

    fn until(&self, ttl: Duration) -> i64 {
        let ttl = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
        self.now_ms.saturating_add(ttl)
    }
}

impl Change {
    /// The answer of a change that was never tried because one before it failed.
    fn refuse(self) -> Answer {
        fn tell<T: Send + 'static>(reply: Reply<T>) -> Answer {
            Box::new(move |outcome| {
                let _ = reply.send(outcome.and(Err(StoreError::Stopped)));
            })
        }
        match self {
            Self::Submit(_, reply) => tell(reply),
            Self::Lease { reply, .. } => tell(reply),
            Self::Renew { reply, .. } => tell(reply),
            Self::Complete { reply, .. } => tell(reply),
            Self::Fail { reply, .. } => tell(reply),
            Self::Release { reply, .. } => tell(reply),
            Self::Expire { reply } | Self::Reclaim { reply } => tell(reply),
            Self::Cancel { reply, .. } => tell(reply),
            Self::Retry { reply, .. } => tell(reply),
            Self::Resume { reply, .. } => tell(reply),
            Self::Greet { reply, .. } => tell(reply),
            Self::Close => Box::new(|_| {}),
        }
    }
}

/// The same fault for one more caller.
fn again(fault: &rusqlite::Error) -> rusqlite::Error {
    match fault {
        rusqlite::Error::SqliteFailure(code, text) => {
            rusqlite::Error::SqliteFailure(*code, text.clone())
        }
        other => rusqlite::Error::ToSqlConversionFailure(other.to_string().into()),
    }
}

#[cfg(test)]
mod tests;
