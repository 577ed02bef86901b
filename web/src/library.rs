//! Sessions by id, read through a source and kept while they are looked at: a few parsed records, and
//! the calls of their models made again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use agon_engine::Seat;
use agon_engine::record::StoredRecord;
use agon_report::session::Telemetry;
use agon_report::viewing::Viewing;
use agon_service_kit::compute::Pool;
use futures_util::future::BoxFuture;
use parking_lot::{Mutex, RwLock};
use tokio::sync::OnceCell;
use tracing::error;

use crate::answers::Decision;
use crate::index::{Index, Place};
use crate::refusal::Refusal;

/// Parsed records that are kept.
const MOST_RECORDS: usize = 6;

/// What these may weigh together, in bytes as they are estimated; the one that is looked at may weigh more.
const MOST_BYTES: u64 = 384 * 1024 * 1024;

/// Sessions whose calls are kept: all conversations of a session.
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

/// Every call of a session's models, by seat and index. Each is put together when it is looked at: the
/// conversations of a long session are many times its record.
pub trait Calls: Send + Sync + 'static {
    /// How many there are.
    fn count(&self) -> usize;

    /// Where a call stands among all, if there is one.
    fn find(&self, seat: Seat, index: u32) -> Option<usize>;

    /// The call at a place.
    fn at(&self, place: usize) -> Decision;
}

impl Calls for Vec<Decision> {
    fn count(&self) -> usize {
        self.len()
    }

    fn find(&self, seat: Seat, index: u32) -> Option<usize> {
        let mut calls = self.iter();
        calls.position(|call| call.seat == seat && call.index == index)
    }

    fn at(&self, place: usize) -> Decision {
        self[place].clone()
    }
}

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
    fn calls(&self, place: Place) -> BoxFuture<'static, Result<Arc<dyn Calls>, String>>;
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
    viewings: Kept<OnceCell<Arc<Viewing>>>,
    calls: Kept<dyn Calls>,
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
        self.replace(Index::default());
    }

    /// Lists this instead, because what was listed has changed where it came from.
    pub fn replace(&self, index: Index) {
        *self.index.write() = index;
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
        // Whoever asks for the same session meanwhile waits for it, and does not read it as well.
        let cell = self.viewings.get_or_put(session, Arc::default);
        let source = Arc::clone(&self.source);
        let read = || async {
            let read = beside(move || {
                let line = source.line(place)?;
                Viewing::read(&line).map_err(|error| error.to_string())
            });
            let (viewing, weight) = read.await?.map_err(Refusal::Unreadable)?;
            self.viewings.weigh(session, weight);
            Ok::<_, Refusal>(Arc::new(viewing))
        };
        let viewing = cell.get_or_try_init(read).await?;
        Ok((run, Arc::clone(viewing)))
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
    pub async fn calls(&self, session: &str) -> Result<Arc<dyn Calls>, Refusal> {
        let _one_at_a_time = self.making.lock().await;
        if let Some(known) = self.calls.get(session) {
            return Ok(known);
        }
        let (_, place) = self.place(session)?;
        let calls = self.source.calls(place).await;
        let calls = calls.map_err(Refusal::Unreadable)?;
        Ok(self.calls.get_or_put(session, || calls))
    }
}

/// The last few things that were looked at, by session.
struct Kept<T: ?Sized> {
    most: usize,
    /// The one that was looked at last is the last.
    all: Mutex<Vec<KeptOne<T>>>,
}

struct KeptOne<T: ?Sized> {
    session: String,
    value: Arc<T>,
    /// In bytes; 0 until it is known.
    weight: u64,
}

impl<T: ?Sized> Kept<T> {
    fn new(most: usize) -> Self {
        let all = Mutex::new(Vec::new());
        Self { most, all }
    }

    /// One that is kept; it goes last now.
    fn get(&self, session: &str) -> Option<Arc<T>> {
        Self::found(&mut self.all.lock(), session)
    }

    fn found(kept: &mut Vec<KeptOne<T>>, session: &str) -> Option<Arc<T>> {
        let at = kept.iter().position(|known| known.session == session)?;
        let found = kept.remove(at);
        let value = Arc::clone(&found.value);
        kept.push(found);
        Some(value)
    }

    /// The same, or a new one in place of that which nobody has looked at for the longest time.
    fn get_or_put(&self, session: &str, new: impl FnOnce() -> Arc<T>) -> Arc<T> {
        // Held until it is there, so that two who ask at once get the same.
        let mut kept = self.all.lock();
        if let Some(known) = Self::found(&mut kept, session) {
            return known;
        }
        if kept.len() >= self.most {
            kept.remove(0);
        }
        let value = new();
        kept.push(KeptOne {
            session: session.to_owned(),
            value: Arc::clone(&value),
            weight: 0,
        });
        value
    }

    /// Says what one weighs: others go for it that nobody has looked at for longer.
    fn weigh(&self, session: &str, weight: u64) {
        let mut kept = self.all.lock();
        for one in kept.iter_mut().filter(|one| one.session == session) {
            one.weight = weight;
        }
        let mut sum: u64 = kept.iter().map(|one| one.weight).sum();
        while sum > MOST_BYTES
            && let Some(at) = kept.iter().position(|one| one.session != session)
        {
            sum -= kept.remove(at).weight;
        }
    }

    fn clear(&self) {
        self.all.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_looked_at_for_longest_goes_by_number_and_by_weight() {
        let kept: Kept<u32> = Kept::new(3);
        for (number, session) in ["a", "b", "c"].into_iter().enumerate() {
            kept.get_or_put(session, || Arc::new(number as u32));
            kept.weigh(session, MOST_BYTES / 4);
        }
        assert_eq!(kept.get("a").as_deref(), Some(&0));
        assert_eq!(*kept.get_or_put("d", || Arc::new(3)), 3);
        assert_eq!(kept.get("b"), None, "a was looked at after it");
        kept.weigh("d", MOST_BYTES / 2);
        assert!(kept.get("c").is_some() && kept.get("a").is_some());
        kept.weigh("d", MOST_BYTES * 3 / 4);
        assert_eq!(kept.get("c"), None);
        assert_eq!(kept.get("a").as_deref(), Some(&0));
        kept.weigh("d", MOST_BYTES * 2);
        assert_eq!(kept.get("a"), None);
        assert_eq!(
            kept.get("d").as_deref(),
            Some(&3),
            "what is looked at stays"
        );
    }
}
