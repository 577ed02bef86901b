//! The store of a single process: one SQLite file in a folder, and a thread that writes it.
//!
//! Every change goes through that thread, which does what has piled up in one transaction and
//! answers when it is on disk: many callers share one flush. Reads use a second connection. A
//! second process on the same folder is refused. Survives `kill -9` at any point.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use agon_service_kit::clock::unix_ms;
use async_trait::async_trait;
use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use super::packed::pack;
use super::{
    Completion, ExperimentEntry, Failure, Granted, LeaseKey, NewExperiment, Progress,
    SessionResult, Store, StoreError, StoreResult, StoredResult, Submitted, Templates,
};

mod reads;
mod schema;
mod turns;
mod writer;

use writer::{Change, Writer};

/// Milliseconds since 1970; tests hand in their own.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

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
        let unusable = |path: &Path| {
            let path = path.display().to_string();
            move |source| StoreError::Folder { path, source }
        };
        std::fs::create_dir_all(folder).map_err(unusable(folder))?;
        let lock_path = folder.join("coordinator.lock");
        let lock = File::create(&lock_path).map_err(unusable(&lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(StoreError::InUse {
                    path: folder.display().to_string(),
                });
            }
            Err(std::fs::TryLockError::Error(source)) => return Err(unusable(&lock_path)(source)),
        }
        let file = folder.join("coordinator.db");
        let writing = schema::open(&file)?;
        let reader = schema::open(&file)?;
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
            .map_err(unusable(folder))?;
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

#[async_trait]
impl Store for EmbeddedStore {
    async fn submit(&self, experiment: NewExperiment) -> StoreResult<Submitted> {
        self.change(|reply| Change::Submit(Box::new(experiment), reply))
            .await
    }

    async fn lease(&self, worker: &str, most: usize, ttl: Duration) -> StoreResult<Vec<Granted>> {
        let worker = worker.to_owned();
        let leased = self.change(|reply| Change::Lease {
            worker,
            most,
            ttl,
            reply,
        });
        let mut granted = leased.await?;
        granted.iter_mut().for_each(Granted::unpack_before);
        Ok(granted)
    }

    async fn renew(
        &self,
        worker: &str,
        leases: &[LeaseKey],
        ttl: Duration,
    ) -> StoreResult<Vec<bool>> {
        let (worker, leases) = (worker.to_owned(), leases.to_vec());
        self.change(|reply| Change::Renew {
            worker,
            leases,
            ttl,
            reply,
        })
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
