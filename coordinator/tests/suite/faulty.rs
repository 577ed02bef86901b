//! A journal in files whose calls fail, hang or lose what was appended when a test says so. An archive
//! in it is as slow or broken as its blobs. Called by `faults.rs`.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use agon_coordinator::journal::{
    Claim, Epoch, FileJournal, Journal, JournalError, JournalResult, Place, Snapshot,
};
use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

/// A call of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call<'a> {
    Renew,
    Append,
    PutSnapshot,
    Blob(&'a str),
    PutBlob(&'a str),
    DeleteBlob(&'a str),
    Blobs(&'a str),
}

/// What becomes of a call.
#[derive(Clone)]
pub enum Act {
    Go,
    Fail,
    /// It goes on once the gate is open.
    Wait(Arc<Gate>),
    /// As `Wait`; then the journal has lost its end: what was to be appended has no place.
    LoseEnd(Arc<Gate>),
}

/// Calls wait here until somebody opens it.
pub struct Gate {
    reached: Semaphore,
    open: Semaphore,
}

impl Gate {
    pub fn closed() -> Arc<Self> {
        Arc::new(Self {
            reached: Semaphore::new(0),
            open: Semaphore::new(0),
        })
    }

    /// Resolves once another call waits, or has waited, at the gate.
    pub async fn reached(&self) {
        let reached = tokio::time::timeout(crate::stand::LONG, self.reached.acquire());
        reached.await.expect("a call comes").unwrap().forget();
    }

    pub fn open(&self) {
        self.open.add_permits(Semaphore::MAX_PERMITS / 2);
    }

    async fn pass(&self) {
        self.reached.add_permits(1);
        drop(self.open.acquire().await.unwrap());
    }
}

type Plan = Arc<dyn Fn(Call<'_>) -> Act + Send + Sync>;

/// See the module. Clones are the same journal.
#[derive(Clone)]
pub struct Faulty {
    inner: FileJournal,
    plan: Arc<Mutex<Plan>>,
    _folder: Arc<tempfile::TempDir>,
}

impl Faulty {
    /// One that does as it should.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            inner: FileJournal::open(folder.path()).unwrap(),
            plan: Arc::new(Mutex::new(Arc::new(|_| Act::Go))),
            _folder: Arc::new(folder),
        }
    }

    /// What becomes of calls from now on.
    pub fn plan(&self, plan: impl Fn(Call<'_>) -> Act + Send + Sync + 'static) {
        *self.plan.lock() = Arc::new(plan);
    }

    /// Does as it should from now on.
    pub fn heal(&self) {
        self.plan(|_| Act::Go);
    }

    async fn meet(&self, call: Call<'_>) -> JournalResult<()> {
        let plan = Arc::clone(&*self.plan.lock());
        match plan(call) {
            Act::Go => Ok(()),
            Act::Fail => Err(refused()),
            Act::Wait(gate) | Act::LoseEnd(gate) => {
                gate.pass().await;
                Ok(())
            }
        }
    }
}

fn refused() -> JournalError {
    JournalError::Redis {
        operation: "do as it is told",
        source: io::Error::other("a test says so").into(),
    }
}

#[async_trait]
impl Journal for Faulty {
    async fn claim(&self, owner: &str, ttl: Duration) -> JournalResult<Claim> {
        self.inner.claim(owner, ttl).await
    }

    async fn renew(&self, epoch: Epoch, ttl: Duration) -> JournalResult<()> {
        self.meet(Call::Renew).await?;
        self.inner.renew(epoch, ttl).await
    }

    async fn resign(&self, epoch: Epoch) -> JournalResult<()> {
        self.inner.resign(epoch).await
    }

    async fn append(&self, epoch: Epoch, place: Place, batch: Bytes) -> JournalResult<()> {
        let plan = Arc::clone(&*self.plan.lock());
        let act = plan(Call::Append);
        match &act {
            Act::Go => {}
            Act::Fail => return Err(refused()),
            Act::Wait(gate) | Act::LoseEnd(gate) => gate.pass().await,
        }
        if let Act::LoseEnd(_) = act {
            let end = Place(place.0.saturating_sub(2));
            return Err(JournalError::OutOfPlace { place, end });
        }
        self.inner.append(epoch, place, batch).await
    }

    async fn read(&self, after: Place, most_bytes: usize) -> JournalResult<Vec<(Place, Bytes)>> {
        self.inner.read(after, most_bytes).await
    }

    async fn end(&self) -> JournalResult<Place> {
        self.inner.end().await
    }

    async fn put_snapshot(
        &self,
        epoch: Epoch,
        snapshot: Snapshot,
        trim_to: Place,
    ) -> JournalResult<()> {
        self.meet(Call::PutSnapshot).await?;
        self.inner.put_snapshot(epoch, snapshot, trim_to).await
    }

    async fn snapshot(&self) -> JournalResult<Option<Snapshot>> {
        self.inner.snapshot().await
    }

    async fn put_blob(&self, name: &str, bytes: Bytes) -> JournalResult<()> {
        self.meet(Call::PutBlob(name)).await?;
        self.inner.put_blob(name, bytes).await
    }

    async fn blob(&self, name: &str) -> JournalResult<Option<Bytes>> {
        self.meet(Call::Blob(name)).await?;
        self.inner.blob(name).await
    }

    async fn delete_blob(&self, name: &str) -> JournalResult<()> {
        self.meet(Call::DeleteBlob(name)).await?;
        self.inner.delete_blob(name).await
    }

    async fn blobs(&self, prefix: &str) -> JournalResult<Vec<String>> {
        self.meet(Call::Blobs(prefix)).await?;
        self.inner.blobs(prefix).await
    }
}
