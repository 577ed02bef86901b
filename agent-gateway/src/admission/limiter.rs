//! The limiter: `books.rs` answers a question on a draft of what is known, and the draft is kept if no
//! other process has changed anything meanwhile; otherwise the question is answered again. So the
//! arithmetic exists once, whether limits are kept in memory, in a file or in Redis. What a question
//! did counts once, also when the store's answer to it was lost. Called through `admission/line.rs`.

mod attempts;
mod books;
mod clock;
mod file;
mod redis;
mod state;
mod store;
mod subject;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_redis_link::Link;
use agon_service_kit::clock::unix_ms;
use parking_lot::Mutex;
use tokio::sync::oneshot::{self, error::TryRecvError};
use tokio::time::timeout;

use super::{Batch, Candidate, Charge, KeyOutlook, Reservation, Verdict};
use crate::keys::KeyId;
use crate::limits::Signals;
use crate::peers::Peers;
use crate::store_error::StoreError;

use books::Books;
use clock::common_time;
use file::LimitsFile;
use redis::RedisLimits;
use state::{LimiterState, version};
use store::LimitStore;
use subject::{Note, Settled, Subject};

/// Keeps the limits of the keys; see the module. In memory they start full after a restart: what the
/// last process used in the minute before is at most one burst above what the provider has let
/// through. All limits of a key are taken at once or none, a
/// charge is taken before the call and corrected after it, and nobody is refused, only told how long
/// to wait.
pub struct Limiter {
    /// Absent: this process is alone.
    store: Option<Arc<dyn LimitStore>>,
    started: Instant,
    /// Milliseconds since 1970 at the start: no step of the system's clock stops limits in memory.
    started_ms: f64,
    providers: Mutex<HashMap<String, Arc<ProviderLimits>>>,
}

/// The limits of one provider.
struct ProviderLimits {
    state: tokio::sync::Mutex<LimiterState>,
    /// What is to be noted by whoever has the state next.
    notes: Mutex<Vec<(Note, NoteTaken)>>,
}

type NoteTaken = oneshot::Sender<Result<(), StoreError>>;

impl Default for Limiter {
    fn default() -> Self {
        Self::keeping(None)
    }
}

impl Limiter {
    /// Limits that are kept together with those of other processes on the same file.
    ///
    /// # Errors
    /// The file cannot be used.
    pub fn in_file(file: &Path, peers: Arc<Peers>) -> Result<Self, StoreError> {
        Ok(Self::keeping(Some(Arc::new(LimitsFile::open(
            file, peers,
        )?))))
    }

    /// Limits that all replicas on one Redis share; `process` names this one among all, living and
    /// dead.
    pub fn in_redis(link: Link, process: &str) -> Self {
        Self::keeping(Some(Arc::new(RedisLimits::new(link, process))))
    }

    fn keeping(store: Option<Arc<dyn LimitStore>>) -> Self {
        Self {
            store,
            started: Instant::now(),
            started_ms: unix_ms() as f64,
            providers: Mutex::default(),
        }
    }

    /// Grants as many asks as fit, in their order; each takes every limit of
    /// the candidate with most headroom, or nothing.
    ///
    /// # Errors
    /// The store did not answer. What it did is found out by the next question: an attempt that is
    /// asked for again takes nothing twice.
    pub async fn reserve(&self, batch: &Batch<'_>) -> Result<Verdict, StoreError> {
        let subject = Subject::of_batch(batch);
        self.answer(batch.pool, &subject, |books, now| books.reserve(batch, now))
            .await
    }

    /// Ends an attempt: gives its place back and corrects the charge to what
    /// was used, which may be more; a call that was not made has used nothing, not
    /// even the request. Takes note of what the provider says is left. Settling
    /// twice, or too late, corrects nothing.
    ///
    /// # Errors
    /// The store did not answer; settling again is right.
    pub async fn settle(
        &self,
        reservation: &Reservation,
        used: &Charge,
        cost: u64,
        signals: &Signals,
    ) -> Result<(), StoreError> {
        self.settle_within(Duration::ZERO, reservation, used, cost, signals)
            .await
    }

    /// The same, with the next question about this provider's keys if there is one within a time.
    ///
    /// # Errors
    /// As there.
    pub(crate) async fn settle_within(
        &self,
        within: Duration,
        reservation: &Reservation,
        used: &Charge,
        cost: u64,
        signals: &Signals,
    ) -> Result<(), StoreError> {
        let settled = Settled {
            reservation: reservation.clone(),
            used: *used,
            cost,
            signals: *signals,
        };
        let note = Note::Settled(Box::new(settled));
        self.note(&reservation.pool, note, within).await
    }

    /// Lets nobody use a key in a lane for this long; never shortens a hold.
    ///
    /// # Errors
    /// The store did not answer; holding again is right.
    pub async fn hold(
        &self,
        pool: &str,
        lane: &str,
        key: &KeyId,
        hold: Duration,
    ) -> Result<(), StoreError> {
        let (lane, key) = (lane.to_owned(), key.clone());
        let note = Note::Held { lane, key, hold };
        self.note(pool, note, Duration::ZERO).await
    }

    /// How keys stand in a lane, in the order asked.
    ///
    /// # Errors
    /// The store did not answer.
    pub async fn outlook(
        &self,
        pool: &str,
        lane: &str,
        keys: &[Candidate],
    ) -> Result<Vec<KeyOutlook>, StoreError> {
        let mut subject = Subject::default();
        for candidate in keys {
            subject.candidate(candidate, lane);
        }
        self.answer(pool, &subject, |books, now| books.outlook(lane, keys, now))
            .await
    }

    fn provider(&self, name: &str) -> Arc<ProviderLimits> {
        let mut providers = self.providers.lock();
        if let Some(provider) = providers.get(name) {
            return Arc::clone(provider);
        }
        let process = self.store.as_ref().map_or("", |store| store.process());
        let provider = Arc::new(ProviderLimits {
            state: tokio::sync::Mutex::new(LimiterState::of(process)),
            notes: Mutex::default(),
        });
        providers.insert(name.to_owned(), Arc::clone(&provider));
        provider
    }

    /// Has a note taken, by whoever has the state within a time, or by this caller: under load one
    /// trip to the store takes many, with a question or without.
    async fn note(&self, pool: &str, note: Note, within: Duration) -> Result<(), StoreError> {
        let provider = self.provider(pool);
        let (taken, mut answer) = oneshot::channel();
        provider.notes.lock().push((note.clone(), taken));
        if self.store.is_some()
            && !within.is_zero()
            && let Ok(Ok(answered)) = timeout(within, &mut answer).await
        {
            return answered;
        }
        let mut state = provider.state.lock().await;
        match answer.try_recv() {
            Ok(answered) => return answered,
            Err(TryRecvError::Empty) => {}
            // Whoever took it went away, perhaps with it. Taking it twice does no harm.
            Err(TryRecvError::Closed) => {
                let (taken, _) = oneshot::channel();
                provider.notes.lock().push((note, taken));
            }
        }
        let nothing = Subject::default();
        self.work(pool, &provider, &mut state, &nothing, |_, _| ())
            .await
    }

    async fn answer<T>(
        &self,
        pool: &str,
        subject: &Subject,
        question: impl FnMut(&mut Books, f64) -> T,
    ) -> Result<T, StoreError> {
        let provider = self.provider(pool);
        let mut state = provider.state.lock().await;
        self.work(pool, &provider, &mut state, subject, question)
            .await
    }

    /// Takes all notes and answers a question, in one change.
    async fn work<T>(
        &self,
        pool: &str,
        provider: &ProviderLimits,
        state: &mut LimiterState,
        subject: &Subject,
        mut question: impl FnMut(&mut Books, f64) -> T,
    ) -> Result<T, StoreError> {
        let notes = std::mem::take(&mut *provider.notes.lock());
        let answered = self
            .change(pool, state, subject, &notes, &mut question)
            .await;
        for (_, taken) in notes {
            // Whoever has gone needs no answer.
            let _ = taken.send(answered.as_ref().map(|_| ()).map_err(StoreError::clone));
        }
        answered
    }

    async fn change<T>(
        &self,
        pool: &str,
        state: &mut LimiterState,
        subject: &Subject,
        notes: &[(Note, NoteTaken)],
        question: &mut impl FnMut(&mut Books, f64) -> T,
    ) -> Result<T, StoreError> {
        let store = self.store.as_deref();
        if let Some(store) = store {
            state.end_doubt(store, pool).await?;
        }
        loop {
            let time = match store {
                Some(store) => store.now_ms(),
                None => self.started_ms + self.started.elapsed().as_secs_f64() * 1_000.0,
            };
            state.draft(subject, notes.iter().map(|(note, _)| note), time, store);
            let now = common_time(time, state.newest_ms());
            state.books.set_back(now);
            if let Some(store) = store {
                let is_lost = |process: &str, calls: &_| store.is_lost(process, calls, now);
                state.books.reclaim(is_lost, now);
            } else {
                state.books.reclaim(|_, _| false, now);
            }
            for (note, _) in notes {
                note.take(&mut state.books, now);
            }
            let answer = question(&mut state.books, now);
            let Some(store) = store else {
                state.keep("");
                return Ok(answer);
            };
            let documents = state.documents(store.process(), now);
            if documents.is_empty() {
                state.keep("");
                return Ok(answer);
            }
            let version = version(store.process(), state.changes);
            let takes_anything = state.books.scopes.iter().any(|drafted| drafted.changed);
            state.in_doubt = takes_anything.then_some(state.changes);
            let changed = store.exchange(pool, &documents, &version).await?;
            state.in_doubt = None;
            if changed.is_empty() {
                state.keep(&version);
                return Ok(answer);
            }
            state.adopt(&changed, store.process());
            state.forget();
        }
    }
}

#[cfg(test)]
mod tests;
