//! The store of a single process: one SQLite file in a folder, and a thread that writes it. It may
//! be that of one experiment, begun with what an older store of several has of it.
//!
//! Every change goes through that thread, which does what has piled up in one transaction and
//! answers when it is on disk: many callers share one flush. Reads use a second connection. A
//! second process on the same folder is refused. Survives `kill -9` at any point.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use agon_outlets::InLine as _;
use agon_service_kit::clock::unix_ms;
use agon_service_kit::folder::Folder;
use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use super::fence::fences;
use super::packed::pack;
use super::{
    Completion, ExperimentEntry, Failure, Granted, LeaseKey, NewExperiment, Progress,
    SessionResult, Store, StoreError, StoreResult, StoredResult, Submitted, Templates,
};

mod carrying;
mod reads;
mod schema;
mod turns;
mod writer;

use writer::{Change, Writer};

/// Milliseconds since 1970; tests hand in their own.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The file of the store, and the one whose lock says that it is in use.
const DATABASE: &str = "coordinator.db";
const LOCK: &str = "coordinator.lock";

/// Changes that wait for the writer; more of them wait outside. Larger than a commit's batch, so
/// that the next batch gathers while one is flushed.
const MAILBOX: usize = 4_096;

/// See the module.
#[derive(Clone)]
pub struct EmbeddedStore {
    changes: mpsc::SyncSender<Change>,
    shared: Arc<Shared>,
}

struct Shared {
    reader: Mutex<Connection>,
    queued: watch::Receiver<u64>,
    troubled: watch::Receiver<Option<String>>,
    writer: Mutex<Option<std::thread::JoinHandle<()>>>,
    closing: AtomicBool,
    clock: Clock,
}

impl EmbeddedStore {
    /// Opens the store in a folder, which is made when it is missing.
    ///
    /// # Errors
    /// The folder cannot be used, or another process uses it.
    pub fn open(folder: &Path) -> StoreResult<Self> {
        Self::open_with_clock(folder, Arc::new(unix_ms))
    }

    /// The same with a clock of one's own.
    ///
    /// # Errors
    /// As [`EmbeddedStore::open`].
    pub fn open_with_clock(folder: &Path, clock: Clock) -> StoreResult<Self> {
        Self::start(&Files::take(folder)?, clock)
    }

    /// Opens the store of one experiment. A new one begins with all that the store in the folder
    /// `older`, if there is one, has of that experiment; the older store keeps it, too.
    ///
    /// # Errors
    /// As [`EmbeddedStore::open`]; the older store cannot be read.
    pub fn open_for(folder: &Path, experiment: &str, older: &Path) -> StoreResult<Self> {
        let files = Files::take(folder)?;
        carrying::carry_over(&files.database, experiment, &older.join(DATABASE))?;
        Self::start(&files, Arc::new(unix_ms))
    }

    /// How far an experiment is in a store that another process may have open; `None` when it is
    /// not known there.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn peek(folder: &Path, experiment: &str) -> StoreResult<Option<Progress>> {
        let file = folder.join(DATABASE);
        if !file.is_file() {
            return Ok(None);
        }
        reads::progress(&schema::open_to_read(&file)?, experiment, unix_ms())
    }

    fn start(files: &Files, clock: Clock) -> StoreResult<Self> {
        let lock = files.lock.try_clone().map_err(files.unusable())?;
        let writing = schema::open(&files.database)?;
        let reader = schema::open(&files.database)?;
        let (announce, queued) = watch::channel(0);
        let (trouble, troubled) = watch::channel(None);
        let (changes, mailbox) = mpsc::sync_channel(MAILBOX);
        let mut writer = Writer::new(writing, clock.clone(), announce, trouble)?;
        let thread = std::thread::Builder::new().name("agon-coordinator-store".to_owned());
        let thread = thread
            .spawn(move || {
                writer.run(&mailbox);
                // The next process may come in only after the last commit.
                drop(lock);
            })
            .map_err(files.unusable())?;
        let shared = Shared {
            reader: Mutex::new(reader),
            queued,
            troubled,
            writer: Mutex::new(Some(thread)),
            closing: AtomicBool::new(false),
            clock,
        };
        Ok(Self {
            changes,
            shared: Arc::new(shared),
        })
    }

    /// Puts every leased session back at once. For a process whose workers are all inside it:
    /// whatever is leased when it starts was leased to workers that died with the last one.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn reclaim(&self) -> StoreResult<u64> {
        self.change(|reply| Change::Reclaim { reply }).await
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
        // A full or closed mailbox is fine too: the writer looks at what comes next.
        let _ = self.changes.send(Change::Close);
        let thread = self
            .shared
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // A panic of the writer has been answered to its callers already.
            let _ = thread.join();
        }
    }

    /// Hands a change to the writer and waits until it is on disk.
    async fn change<T>(
        &self,
        make: impl FnOnce(oneshot::Sender<StoreResult<T>>) -> Change,
    ) -> StoreResult<T> {
        if self.shared.closing.load(Ordering::SeqCst) {
            return Err(StoreError::Stopped);
        }
        let (reply, answer) = oneshot::channel();
        let mut change = make(reply);
        loop {
            match self.changes.try_send(change) {
                Ok(()) => break,
                Err(mpsc::TrySendError::Disconnected(_)) => return Err(StoreError::Stopped),
                Err(mpsc::TrySendError::Full(back)) => change = back,
            }
            // The writer empties a full mailbox within one commit.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        answer.await.map_err(|_| StoreError::Stopped)?
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let shared = self.shared.clone();
        let reading = tokio::task::spawn_blocking(move || {
            read(&shared.reader.lock().unwrap_or_else(PoisonError::into_inner))
        });
        reading.await.map_err(|_| StoreError::Stopped)?
    }
}

/// The files of a store, held for this process.
struct Files {
    folder: String,
    /// Free of links.
    database: PathBuf,
    lock: File,
}

impl Files {
    fn take(path: &Path) -> StoreResult<Self> {
        let shown = path.in_line().to_string();
        let unusable = |source| StoreError::Folder {
            path: shown.clone(),
            source,
        };
        let folder = Folder::create(path).map_err(unusable)?;
        let lock = folder.file(LOCK).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse { path: shown }),
            Err(TryLockError::Error(source)) => return Err(unusable(source)),
        }
        let database = folder.real_path().map_err(unusable)?.join(DATABASE);
        Ok(Self {
            folder: shown,
            database,
            lock,
        })
    }

    fn unusable(&self) -> impl Fn(io::Error) -> StoreError + use<> {
        let path = self.folder.clone();
        move |source| StoreError::Folder {
            path: path.clone(),
            source,
        }
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    async fn submit(&self, experiment: NewExperiment) -> StoreResult<Submitted> {
        self.change(|reply| Change::Submit(Box::new(experiment), reply))
            .await
    }

    async fn lease(&self, worker: &str, most: usize, ttl: Duration) -> StoreResult<Vec<Granted>> {
        let (worker, fences) = (worker.to_owned(), fences(most)?);
        let leased = self.change(|reply| Change::Lease {
            worker,
            fences,
            ttl,
            reply,
        });
        let mut granted = leased.await?;
        granted.iter_mut().for_each(Granted::unpack_before);
        Ok(granted)
    }

    async fn renew(&self, leases: &[LeaseKey], ttl: Duration) -> StoreResult<Vec<bool>> {
        let leases = leases.to_vec();
        self.change(|reply| Change::Renew { leases, ttl, reply })
            .await
    }

    async fn complete(&self, lease: &LeaseKey, result: SessionResult) -> StoreResult<Completion> {
        let lease = lease.clone();
        let packed = Box::new(pack(&result));
        self.change(|reply| Change::Complete {
            lease,
            packed,
            reply,
        })
        .await
    }

    async fn fail(&self, lease: &LeaseKey, failure: Failure, reason: &str) -> StoreResult<bool> {
        let (lease, reason) = (lease.clone(), reason.to_owned());
        self.change(|reply| Change::Fail {
            lease,
            failure,
            reason,
            reply,
        })
        .await
    }

    async fn release(&self, leases: &[LeaseKey]) -> StoreResult<()> {
        let leases = leases.to_vec();
        self.change(|reply| Change::Release { leases, reply }).await
    }

    async fn expire(&self) -> StoreResult<u64> {
        self.change(|reply| Change::Expire { reply }).await
    }

    async fn progress(&self, experiment: &str) -> StoreResult<Option<Progress>> {
        let experiment = experiment.to_owned();
        let now_ms = (self.shared.clock)();
        self.read(move |reader| reads::progress(reader, &experiment, now_ms))
            .await
    }

    async fn results(
        &self,
        experiment: &str,
        after: Option<u64>,
        most: usize,
    ) -> StoreResult<Vec<StoredResult>> {
        let experiment = experiment.to_owned();
        self.read(move |reader| reads::results(reader, &experiment, after, most))
            .await
    }

    async fn cancel(&self, experiment: &str) -> StoreResult<bool> {
        let experiment = experiment.to_owned();
        self.change(|reply| Change::Cancel { experiment, reply })
            .await
    }

    async fn retry(&self, experiment: &str, sessions: &[String]) -> StoreResult<Option<u64>> {
        let (experiment, sessions) = (experiment.to_owned(), sessions.to_vec());
        self.change(|reply| Change::Retry {
            experiment,
            sessions,
            reply,
        })
        .await
    }

    async fn resume(&self, experiment: &str, budget: Option<u64>) -> StoreResult<bool> {
        let experiment = experiment.to_owned();
        self.change(|reply| Change::Resume {
            experiment,
            budget,
            reply,
        })
        .await
    }

    async fn list(&self) -> StoreResult<Vec<ExperimentEntry>> {
        self.read(reads::list).await
    }

    async fn bundle(&self, digest: &str) -> StoreResult<Option<Templates>> {
        let digest = digest.to_owned();
        self.read(move |reader| reads::bundle(reader, &digest))
            .await
    }

    async fn greet(&self, worker: &str, ttl: Duration) -> StoreResult<()> {
        let worker = worker.to_owned();
        self.change(|reply| Change::Greet { worker, ttl, reply })
            .await
    }

    fn queued(&self) -> watch::Receiver<u64> {
        self.shared.queued.clone()
    }
}
