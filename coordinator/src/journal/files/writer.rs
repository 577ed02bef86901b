//! The thread that writes the journal's file.
//!
//! It takes what has piled up, does all of it in one transaction, commits, and only then answers:
//! appends that wait share one flush. When the database refuses (a full disk), nothing of the
//! batch has happened and everybody is told.

use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use tokio::sync::{oneshot, watch};

use super::super::{Claim, Epoch, JournalError, JournalResult, Place, Snapshot};
use super::schema::{database, read, stored};

/// Changes in one transaction: enough to share a flush well, few enough to answer soon.
const MOST_CHANGES: usize = 256;

type Reply<T> = oneshot::Sender<JournalResult<T>>;

/// What the thread is asked to do; see the methods of [`super::super::Journal`].
pub enum Change {
    /// From `claim`: the owner, for how long.
    Claim(String, Duration, Reply<Claim>),
    /// From `renew`.
    Renew(Epoch, Duration, Reply<()>),
    /// From `resign`.
    Resign(Epoch, Reply<()>),
    /// From `append`.
    Append(Epoch, Place, Bytes, Reply<()>),
    /// From `put_snapshot`: up to where batches are dropped comes last.
    PutSnapshot(Epoch, Snapshot, Place, Reply<()>),
    /// From `put_blob`.
    PutBlob(String, Bytes, Reply<()>),
    /// From `delete_blob`.
    DeleteBlob(String, Reply<()>),
    /// From `close`: the last change.
    Close,
}

/// The thread's own things.
pub struct Writer {
    connection: Connection,
    /// Why the database last refused a change.
    trouble: watch::Sender<Option<String>>,
    known: Known,
}

/// What is known without asking the file; put back when a transaction fails.
#[derive(Clone)]
struct Known {
    epoch: Epoch,
    /// Who owns the journal, and until when.
    owner: Option<(String, Instant)>,
    end: Place,
}

/// What one transaction works with.
struct Batch<'a> {
    transaction: Transaction<'a>,
    known: &'a mut Known,
}

/// An answer that waits for the commit.
type Answer = Box<dyn FnOnce(Result<(), JournalError>) + Send>;

impl Writer {
    /// Reads where the journal ends. Whoever owned it is gone: its process has left the file.
    pub fn new(
        connection: Connection,
        trouble: watch::Sender<Option<String>>,
    ) -> JournalResult<Self> {
        let epoch = connection
            .query_row("SELECT epoch FROM owner", [], |row| row.get(0))
            .optional()
            .map_err(database("read the epoch"))?;
        let end = super::end(&connection)?;
        let known = Known {
            epoch: Epoch(epoch.map_or(0, read)),
            owner: None,
            end,
        };
        Ok(Self {
            connection,
            trouble,
            known,
        })
    }

    /// Works until the journal is closed or nobody holds it any more.
    pub fn run(&mut self, mailbox: &Receiver<Change>) {
        while let Ok(first) = mailbox.recv() {
            let more = mailbox.try_iter().take(MOST_CHANGES - 1);
            let mut changes: Vec<Change> = std::iter::once(first).chain(more).collect();
            let close = changes
                .iter()
                .position(|change| matches!(change, Change::Close));
            if let Some(place) = close {
                // What came later is dropped, and its callers are told that the journal stopped.
                changes.truncate(place);
            }
            self.commit(changes);
            if close.is_some() {
                return;
            }
        }
    }

    fn commit(&mut self, changes: Vec<Change>) {
        let before = self.known.clone();
        let mut answers = Vec::with_capacity(changes.len());
        match self.try_commit(changes, &mut answers) {
            Ok(()) => answers.into_iter().for_each(|answer| answer(Ok(()))),
            Err(fault) => {
                self.known = before;
                tracing::error!(%fault, "the coordinator's database refuses a change");
                self.trouble.send_replace(Some(fault.to_string()));
                for answer in answers {
                    answer(Err(database("write")(again(&fault))));
                }
            }
        }
    }

    /// Whatever happens, every change has its answer among `answers` afterwards.
    fn try_commit(
        &mut self,
        changes: Vec<Change>,
        answers: &mut Vec<Answer>,
    ) -> rusqlite::Result<()> {
        let mut fault = None;
        let mut batch = match self.connection.transaction() {
            Ok(transaction) => Batch {
                transaction,
                known: &mut self.known,
            },
            Err(refused) => {
                let waiting = changes.into_iter().filter_map(Change::refused);
                answers.extend(waiting);
                return Err(refused);
            }
        };
        for change in changes {
            if fault.is_some() {
                answers.extend(change.refused());
                continue;
            }
            let (answer, done) = batch.make(change);
            answers.extend(answer);
            fault = done.err();
        }
        match fault {
            Some(fault) => Err(fault),
            None => batch.transaction.commit(),
        }
    }
}

impl Change {
    /// The answer to a change that was not tried.
    fn refused(self) -> Option<Answer> {
        fn untried<T: Send + 'static>(reply: Reply<T>) -> Option<Answer> {
            settle(Ok(Err(JournalError::Stopped)), reply).0
        }
        match self {
            Self::Claim(_, _, reply) => untried(reply),
            Self::Renew(_, _, reply)
            | Self::Resign(_, reply)
            | Self::Append(_, _, _, reply)
            | Self::PutSnapshot(_, _, _, reply)
            | Self::PutBlob(_, _, reply)
            | Self::DeleteBlob(_, reply) => untried(reply),
            Self::Close => None,
        }
    }
}

/// What a change came to: the journal's own answer, or the database's refusal.
type Outcome<T> = rusqlite::Result<JournalResult<T>>;

impl Batch<'_> {
    /// Makes one change, and says what is to be answered once it is on disk.
    fn make(&mut self, change: Change) -> (Option<Answer>, rusqlite::Result<()>) {
        match change {
            Change::Claim(owner, ttl, reply) => settle(self.claim(owner, ttl), reply),
            Change::Renew(epoch, ttl, reply) => settle(Ok(self.renew(epoch, ttl)), reply),
            Change::Resign(epoch, reply) => {
                // An epoch that has passed has nothing to resign.
                let _ = self.renew(epoch, Duration::ZERO);
                settle(Ok(Ok(())), reply)
            }
            Change::Append(epoch, place, batch, reply) => {
                settle(self.append(epoch, place, &batch), reply)
            }
            Change::PutSnapshot(epoch, snapshot, trim_to, reply) => {
                settle(self.put_snapshot(epoch, &snapshot, trim_to), reply)
            }
            Change::PutBlob(name, bytes, reply) => settle(self.put_blob(&name, &bytes), reply),
            Change::DeleteBlob(name, reply) => settle(self.delete_blob(&name), reply),
            Change::Close => (None, Ok(())),
        }
    }

    fn claim(&mut self, owner: String, ttl: Duration) -> Outcome<Claim> {
        let now = Instant::now();
        if let Some((holder, until)) = &self.known.owner
            && *until > now
        {
            return Ok(Ok(Claim::Held {
                owner: holder.clone(),
                left: *until - now,
            }));
        }
        let epoch = Epoch(self.known.epoch.0 + 1);
        self.transaction
            .prepare_cached(
                "INSERT INTO owner (id, epoch) VALUES (1, ?1)
                 ON CONFLICT (id) DO UPDATE SET epoch = excluded.epoch",
            )?
            .execute([stored(epoch.0)])?;
        self.known.epoch = epoch;
        self.known.owner = Some((owner, now + ttl));
        Ok(Ok(Claim::Granted(epoch)))
    }

    fn renew(&mut self, epoch: Epoch, ttl: Duration) -> JournalResult<()> {
        self.check(epoch)?;
        if let Some((_, until)) = &mut self.known.owner {
            *until = Instant::now() + ttl;
        }
        Ok(())
    }

    fn check(&self, epoch: Epoch) -> JournalResult<()> {
        if self.known.owner.is_some() && self.known.epoch == epoch {
            Ok(())
        } else {
            Err(JournalError::Deposed)
        }
    }

    fn append(&mut self, epoch: Epoch, place: Place, batch: &[u8]) -> Outcome<()> {
        if let Err(deposed) = self.check(epoch) {
            return Ok(Err(deposed));
        }
        let end = self.known.end;
        if place != end.next() {
            let there: Option<Vec<u8>> = self
                .transaction
                .prepare_cached("SELECT batch FROM batches WHERE place = ?1")?
                .query_row([stored(place.0)], |row| row.get(0))
                .optional()?;
            let same = there.is_some_and(|there| there == batch);
            return Ok(if same {
                Ok(())
            } else {
                Err(JournalError::OutOfPlace { place, end })
            });
        }
        self.transaction
            .prepare_cached("INSERT INTO batches (place, batch) VALUES (?1, ?2)")?
            .execute(params![stored(place.0), batch])?;
        self.known.end = place;
        Ok(Ok(()))
    }

    fn put_snapshot(&mut self, epoch: Epoch, snapshot: &Snapshot, trim_to: Place) -> Outcome<()> {
        if let Err(deposed) = self.check(epoch) {
            return Ok(Err(deposed));
        }
        let put = self
            .transaction
            .prepare_cached(
                "INSERT INTO snapshot (id, upto, bytes) VALUES (1, ?1, ?2)
                 ON CONFLICT (id) DO UPDATE SET upto = excluded.upto, bytes = excluded.bytes
                 WHERE excluded.upto >= snapshot.upto",
            )?
            .execute(params![stored(snapshot.upto.0), &*snapshot.bytes])?;
        if put == 0 {
            return Ok(Ok(()));
        }
        let mut drop_to = trim_to;
        if self.known.end < snapshot.upto {
            // The journal lost its tail; there is nothing between its end and the snapshot's.
            drop_to = self.known.end;
            self.known.end = snapshot.upto;
        }
        self.transaction
            .prepare_cached("DELETE FROM batches WHERE place <= ?1")?
            .execute([stored(drop_to.0)])?;
        Ok(Ok(()))
    }

    fn put_blob(&mut self, name: &str, bytes: &[u8]) -> Outcome<()> {
        self.transaction
            .prepare_cached(
                "INSERT INTO blobs (name, bytes) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET bytes = excluded.bytes",
            )?
            .execute(params![name, bytes])?;
        Ok(Ok(()))
    }

    fn delete_blob(&mut self, name: &str) -> Outcome<()> {
        self.transaction
            .prepare_cached("DELETE FROM blobs WHERE name = ?1")?
            .execute([name])?;
        Ok(Ok(()))
    }
}

/// The answer that waits for the commit, and whether the database took the change.
fn settle<T: Send + 'static>(
    outcome: Outcome<T>,
    reply: Reply<T>,
) -> (Option<Answer>, rusqlite::Result<()>) {
    let (value, done) = match outcome {
        Ok(value) => (value, Ok(())),
        Err(fault) => (Err(JournalError::Stopped), Err(fault)),
    };
    let answer = move |committed: Result<(), JournalError>| {
        // Nobody waits for it any more, which is fine.
        let _ = reply.send(committed.and(value));
    };
    (Some(Box::new(answer)), done)
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
