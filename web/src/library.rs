//! Sessions by id, read through a source and kept while they are looked at: a few parsed records, and
//! the calls of their models made again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agon_engine::record::StoredRecord;
use agon_report::session::Telemetry;
use agon_report::viewing::Viewing;
use agon_service_kit::compute::Pool;
use futures_util::future::BoxFuture;
use parking_lot::{Mutex, RwLock};
use tracing::error;

use crate::answers::Decision;
use crate::index::{Index, Place};
use crate::refusal::Refusal;

/// Parsed records that are kept.
const MOST_RECORDS: usize = 6;

/// Sessions whose calls are kept: each call holds its whole conversation.
const MOST_CALLS: usize = 1;

/// Threads that read sessions and work on them, apart from those that serve. The process does not wait
/// for them when it is told to stop.
static PAGES: Pool = Pool::new("pages");

/// What work on a session comes to.
///
/// # Errors
/// It panicked.
pub(crate) async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    PAGES.run(work).await.map_err(|panicked| {
        error!(%panicked, "a session cannot be shown");
        Refusal::Unreadable("this session cannot be shown; the log says more".to_owned())
    })
}

/// Goes on with a task on the same threads; nobody waits for its end.
pub(crate) fn go_on_beside(task: impl Future<Output = ()> + Send + 'static) {
    PAGES.handle().spawn(task);
}

/// Every call of a session's models, by seat and index.
pub type Calls = Vec<Decision>;

/// Where records come from.
pub trait Source: Send + Sync + 'static {
    /// The line of a record. May block.
    ///
    /// # Errors
    /// It cannot be read; says why.
    fn line(&self, place: Place) -> Result<String, String>;

    /// The sessions of a file, to be read one after the other. Opened when the first one is read.
    fn sessions(&self, file: u32) -> Box<dyn Sessions>;

    /// The calls that a record's models were sent, made again, with what each took.
    fn calls(
        &self,
        place: Place,
        record: Arc<StoredRecord>,
    ) -> BoxFuture<'static, Result<Calls, String>>;
}

/// Sessions of a file that are read in their order.
pub trait Sessions: Send {
    /// The session at a place of this file, with what it cost; those before it are passed over, and none
    /// of them can be had after it. May block.
    ///
    /// # Errors
    /// It cannot be read; says why.
    fn at(&mut self, place: Place) -> Result<(StoredRecord, Telemetry), String>;
}

/// See the module.
pub struct Library {
    /// What is listed.
    pub index: RwLock<Index>,
    source: Arc<dyn Source>,
    viewings: Kept<Viewing>,
    calls: Kept<Calls>,
    /// Calls are made again for one session at a time.
    making: tokio::sync::Mutex<()>,
    cleared: AtomicU64,
}

impl Library {
    /// One of sessions that a source has; nothing is listed yet.
    pub fn new(source: Arc<dyn Source>) -> Self {
        Self {
            index: RwLock::new(Index::default()),
            source,
            viewings: Kept::new(MOST_RECORDS),
            calls: Kept::new(MOST_CALLS),
            making: tokio::sync::Mutex::new(()),
            cleared: AtomicU64::new(0),
        }
    }

    /// Forgets everything that is listed: what was listed is gone where it came from.
    pub fn clear(&self) {
        *self.index.write() = Index::default();
        self.viewings.clear();
        self.calls.clear();
        self.cleared.fetch_add(1, Ordering::Release);
    }

    /// How often it was cleared: what was made of sessions before is of no use after.
    pub(crate) fn cleared(&self) -> u64 {
        self.cleared.load(Ordering::Acquire)
    }

    /// The sessions of a file.
    pub(crate) fn sessions(&self, file: u32) -> Box<dyn Sessions> {
        self.source.sessions(file)
    }

    /// The run of a session and where it lies.
    fn place(&self, session: &str) -> Result<(String, Place), Refusal> {
        let index = self.index.read();
        let (run, place) = index
            .place(session)
            .ok_or_else(|| Refusal::Missing(format!("session {session}")))?;
        Ok((run.to_owned(), place))
    }

    /// A session step by step, and its run.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub async fn viewing(&self, session: &str) -> Result<(String, Arc<Viewing>), Refusal> {
        let (run, place) = self.place(session)?;
        if let Some(known) = self.viewings.get(session) {
            return Ok((run, known));
        }
        let source = Arc::clone(&self.source);
        let read = beside(move || {
            let line = source.line(place)?;
            let record = StoredRecord::from_line(&line).map_err(|error| error.to_string())?;
            Ok::<_, String>(Viewing::new(Arc::new(record)))
        });
        let viewing = Arc::new(read.await?.map_err(Refusal::Unreadable)?);
        self.viewings.put(session, Arc::clone(&viewing));
        Ok((run, viewing))
    }

    /// The line of a session's record.
    ///
    /// # Errors
    /// As [`Library::viewing`].
    pub async fn line(&self, session: &str) -> Result<String, Refusal> {
        let (_, place) = self.place(session)?;
        let source = Arc::clone(&self.source);
        let line = beside(move || source.line(place)).await?;
        line.map_err(Refusal::Unreadable)
    }

    /// The calls of a session's models.
    ///
    /// # Errors
    /// As [`Library::viewing`].
    pub async fn calls(&self, session: &str) -> Result<Arc<Calls>, Refusal> {
        let _one_at_a_time = self.making.lock().await;
        if let Some(known) = self.calls.get(session) {
            return Ok(known);
        }
        let (_, place) = self.place(session)?;
        let (_, viewing) = self.viewing(session).await?;
        let calls = self.source.calls(place, Arc::clone(viewing.record()));
        let calls = Arc::new(calls.await.map_err(Refusal::Unreadable)?);
        self.calls.put(session, Arc::clone(&calls));
        Ok(calls)
    }
}

/// The last few things that were looked at, by session.
struct Kept<T> {
    most: usize,
    /// The one that was looked at last is the last.
    all: Mutex<Vec<(String, Arc<T>)>>,
}

impl<T> Kept<T> {
    fn new(most: usize) -> Self {
        let all = Mutex::new(Vec::new());
        Self { most, all }
    }

    /// One that is kept; it goes last now.
    fn get(&self, session: &str) -> Option<Arc<T>> {
        let mut kept = self.all.lock();
        let at = kept.iter().position(|(known, _)| known == session)?;
        let found = kept.remove(at);
        let value = Arc::clone(&found.1);
        kept.push(found);
        Some(value)
    }

    fn clear(&self) {
        self.all.lock().clear();
    }

    fn put(&self, session: &str, value: Arc<T>) {
        let mut kept = self.all.lock();
        kept.retain(|(known, _)| known != session);
        if kept.len() == self.most {
            kept.remove(0);
        }
        kept.push((session.to_owned(), value));
    }
}
