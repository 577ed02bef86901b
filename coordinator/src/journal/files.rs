//! The journal of a single process: one SQLite file in a folder, and a thread that writes it.
//!
//! Every change goes through that thread, which does what has piled up in one transaction and
//! answers when it is on disk: many callers share one flush. Reads use a second connection. A
//! second process on the same folder is refused. Survives `kill -9` and a power cut at any point.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use agon_outlets::InLine as _;
use agon_service_kit::folder::Folder;
use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension as _, params};
use tokio::sync::{oneshot, watch};

use super::{Claim, Epoch, Journal, JournalError, JournalResult, Place, Snapshot};

mod schema;
mod writer;

use schema::{database, read, stored};
use writer::{Change, Writer};

/// The file of the journal, and the one whose lock says that the folder is in use. The lock's name
/// is that of older versions, so that they and this one keep each other out.
const DATABASE: &str = "journal.db";
const LOCK: &str = "coordinator.lock";

/// The queue of versions before the journal.
const OLDER: &str = "coordinator.db";

/// Changes that wait for the writer; more of them wait outside. Larger than a commit's batch, so
/// that the next batch gathers while one is flushed.
const MAILBOX: usize = 4_096;

/// See the module.
#[derive(Clone)]
pub struct FileJournal {
    changes: mpsc::SyncSender<Change>,
    shared: Arc<Shared>,
}

struct Shared {
    reader: Mutex<Connection>,
    troubled: watch::Receiver<Option<String>>,
    writer: Mutex<Option<std::thread::JoinHandle<()>>>,
    closing: AtomicBool,
}

impl FileJournal {
    /// Opens the journal in a folder, which is made when it is missing.
    ///
    /// # Errors
    /// The folder cannot be used, another process uses it, or it holds the queue of an older
    /// version ([`JournalError::Older`]).
    pub fn open(folder: &Path) -> JournalResult<Self> {
        let files = Files::take(folder)?;
        let lock = files.lock.try_clone().map_err(files.unusable())?;
        let writing = schema::open(&files.database)?;
        let reader = schema::open(&files.database)?;
        let (trouble, troubled) = watch::channel(None);
        let (changes, mailbox) = mpsc::sync_channel(MAILBOX);
        let mut writer = Writer::new(writing, trouble)?;
        let thread = std::thread::Builder::new().name("agon-journal".to_owned());
        let thread = thread
            .spawn(move || {
                writer.run(&mailbox);
                // The next process may come in only after the last commit.
                drop(lock);
            })
            .map_err(files.unusable())?;
        let shared = Shared {
            reader: Mutex::new(reader),
            troubled,
            writer: Mutex::new(Some(thread)),
            closing: AtomicBool::new(false),
        };
        Ok(Self {
            changes,
            shared: Arc::new(shared),
        })
    }

    /// Resolves with the reason when the database refuses a change (a full disk): from then on
    /// nothing more can be taken in until somebody mends that.
    pub async fn trouble(&self) -> String {
        let mut troubled = self.shared.troubled.clone();
        match troubled.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            // The writer has stopped in order.
            Err(_) => std::future::pending().await,
        }
    }

    /// Writes what is under way and lets the folder go; further calls fail.
    pub fn close(&self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        // A closed mailbox is fine too: the writer has stopped already.
        let _ = self.changes.send(Change::Close);
        let thread = self.shared.writer.lock().take();
        if let Some(thread) = thread {
            // A panic of the writer has been answered to its callers already.
            let _ = thread.join();
        }
    }

    /// Hands a change to the writer and waits until it is on disk.
    async fn change<T>(
        &self,
        make: impl FnOnce(oneshot::Sender<JournalResult<T>>) -> Change,
    ) -> JournalResult<T> {
        if self.shared.closing.load(Ordering::SeqCst) {
            return Err(JournalError::Stopped);
        }
        let (reply, answer) = oneshot::channel();
        let mut change = make(reply);
        loop {
            match self.changes.try_send(change) {
                Ok(()) => break,
                Err(mpsc::TrySendError::Disconnected(_)) => return Err(JournalError::Stopped),
                Err(mpsc::TrySendError::Full(back)) => change = back,
            }
            // The writer empties a full mailbox within one commit.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        answer.await.map_err(|_| JournalError::Stopped)?
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> JournalResult<T> + Send + 'static,
    ) -> JournalResult<T> {
        if self.shared.closing.load(Ordering::SeqCst) {
            return Err(JournalError::Stopped);
        }
        let shared = self.shared.clone();
        let asking = tokio::task::spawn_blocking(move || question(&shared.reader.lock()));
        asking.await.map_err(|_| JournalError::Stopped)?
    }
}

/// The files of a journal, held for this process.
struct Files {
    folder: String,
    /// Free of links.
    database: PathBuf,
    lock: File,
}

impl Files {
    fn take(path: &Path) -> JournalResult<Self> {
        let shown = path.in_line().to_string();
        let unusable = |source| JournalError::Folder {
            path: shown.clone(),
            source,
        };
        let folder = Folder::create(path).map_err(unusable)?;
        let lock = folder.file(LOCK).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse { path: shown }),
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
        }
        if folder.kind(OLDER).map_err(unusable)?.is_some() {
            return Err(JournalError::Older {
                place: shown,
                remedy: "give another folder with --data",
            });
        }
        let database = folder.real_path().map_err(unusable)?.join(DATABASE);
        Ok(Self {
            folder: shown,
            database,
            lock,
        })
    }

    fn unusable(&self) -> impl Fn(io::Error) -> JournalError + use<> {
        let path = self.folder.clone();
        move |source| JournalError::Folder {
            path: path.clone(),
            source,
        }
    }
}

#[async_trait]
impl Journal for FileJournal {
    async fn claim(&self, owner: &str, ttl: Duration) -> JournalResult<Claim> {
        let owner = owner.to_owned();
        self.change(|reply| Change::Claim(owner, ttl, reply)).await
    }

    async fn renew(&self, epoch: Epoch, ttl: Duration) -> JournalResult<()> {
        self.change(|reply| Change::Renew(epoch, ttl, reply)).await
    }

    async fn resign(&self, epoch: Epoch) -> JournalResult<()> {
        self.change(|reply| Change::Resign(epoch, reply)).await
    }

    async fn append(&self, epoch: Epoch, place: Place, batch: Bytes) -> JournalResult<()> {
        self.change(|reply| Change::Append(epoch, place, batch, reply))
            .await
    }

    async fn read(&self, after: Place, most_bytes: usize) -> JournalResult<Vec<(Place, Bytes)>> {
        self.ask(move |reader| {
            batches(reader, after, most_bytes).map_err(database("read the journal"))
        })
        .await
    }

    async fn end(&self) -> JournalResult<Place> {
        self.ask(end).await
    }

    async fn put_snapshot(
        &self,
        epoch: Epoch,
        snapshot: Snapshot,
        trim_to: Place,
    ) -> JournalResult<()> {
        self.change(|reply| Change::PutSnapshot(epoch, snapshot, trim_to, reply))
            .await
    }

    async fn snapshot(&self) -> JournalResult<Option<Snapshot>> {
        self.ask(|reader| {
            let row = |row: &rusqlite::Row<'_>| {
                Ok(Snapshot {
                    upto: Place(read(row.get(0)?)),
                    bytes: row.get::<_, Vec<u8>>(1)?.into(),
                })
            };
            reader
                .query_row("SELECT upto, bytes FROM snapshot", [], row)
                .optional()
                .map_err(database("read the snapshot"))
        })
        .await
    }

    async fn put_blob(&self, name: &str, bytes: Bytes) -> JournalResult<()> {
        let name = name.to_owned();
        self.change(|reply| Change::PutBlob(name, bytes, reply))
            .await
    }

    async fn blob(&self, name: &str) -> JournalResult<Option<Bytes>> {
        let name = name.to_owned();
        self.ask(move |reader| {
            let wanted = "SELECT bytes FROM blobs WHERE name = ?1";
            reader
                .query_row(wanted, [name], |row| row.get::<_, Vec<u8>>(0))
                .optional()
                .map(|bytes| bytes.map(Bytes::from))
                .map_err(database("read a blob"))
        })
        .await
    }

    async fn delete_blob(&self, name: &str) -> JournalResult<()> {
        let name = name.to_owned();
        self.change(|reply| Change::DeleteBlob(name, reply)).await
    }

    async fn blobs(&self, prefix: &str) -> JournalResult<Vec<String>> {
        let prefix = prefix.to_owned();
        self.ask(move |reader| names(reader, &prefix).map_err(database("list blobs")))
            .await
    }
}

fn batches(
    reader: &Connection,
    after: Place,
    most_bytes: usize,
) -> rusqlite::Result<Vec<(Place, Bytes)>> {
    let mut statement = reader
        .prepare_cached("SELECT place, batch FROM batches WHERE place > ?1 ORDER BY place")?;
    let mut rows = statement.query([stored(after.0)])?;
    let mut found = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let batch: Vec<u8> = row.get(1)?;
        bytes += batch.len();
        if bytes > most_bytes && !found.is_empty() {
            break;
        }
        found.push((Place(read(row.get(0)?)), batch.into()));
    }
    Ok(found)
}

/// The place of the last batch, or that of the snapshot.
fn end(reader: &Connection) -> JournalResult<Place> {
    let last = "SELECT max(
        coalesce((SELECT max(place) FROM batches), 0),
        coalesce((SELECT upto FROM snapshot), 0))";
    reader
        .query_row(last, [], |row| row.get(0))
        .map(|end| Place(read(end)))
        .map_err(database("read the journal"))
}

fn names(reader: &Connection, prefix: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement =
        reader.prepare_cached("SELECT name FROM blobs WHERE name >= ?1 ORDER BY name")?;
    let mut rows = statement.query(params![prefix])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        if !name.starts_with(prefix) {
            break;
        }
        found.push(name);
    }
    Ok(found)
}
