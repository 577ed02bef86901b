//! The limiter: what a question is about is brought up to date, `books.rs` answers it on a draft, and
//! the draft is kept if no other process has changed anything meanwhile; otherwise the question is
//! answered again. So the arithmetic exists once, whether limits are kept in memory, in a file or in
//! Redis. What a question did counts once, also when the store's answer to it was lost.
//!
//! In memory limits start full after a restart: what the last process used in the minute before is at
//! most one burst above what the provider has let through. Called through `admission/line.rs`.

mod attempts;
mod books;
mod file;
mod redis;
mod store;

use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_redis_link::Link;
use agon_service_kit::clock::unix_ms;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot::{self, error::TryRecvError};

use super::{Batch, Candidate, Charge, KeyOutlook, Reservation, Verdict};
use crate::fairness::shares::Shares;
use crate::keys::KeyId;
use crate::limits::Signals;
use crate::peers::Peers;
use crate::store_error::StoreError;

use books::{Books, Counts, Drafted, ScopeName, SharesName};
use file::LimitsFile;
use redis::RedisLimits;
use store::{Changed, Document, LimitStore};

/// A clock that differs by more than this, in milliseconds, has been set back.
const SET_BACK_MS: f64 = 60_000.0;

/// A process without calls in flight is remembered for so long, in milliseconds.
const IDLE_STAYS_MS: f64 = 60_000.0;

/// The version of what was never read: that of no document.
const UNREAD: &str = "?";

/// Keeps the limits of the keys; see the module. All limits of a key are taken at once or none, a
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

/// Something that asks nothing.
#[derive(Clone)]
enum Note {
    Settled(Box<Settled>),
    Held {
        lane: String,
        key: KeyId,
        hold: Duration,
    },
}

#[derive(Clone)]
struct Settled {
    reservation: Reservation,
    used: Charge,
    cost: u64,
    signals: Signals,
}

/// What this process knows of a provider.
struct LimiterState {
    scopes: HashMap<ScopeName, Known<Counts>>,
    shares: HashMap<SharesName, Known<Shares>>,
    books: Books,
    /// Changes that were sent to the store.
    changes: u64,
    /// The change of limits of which it is not known whether it arrived; the books hold it.
    in_doubt: Option<u64>,
}

/// A document as it was read last.
struct Known<T> {
    content: T,
    version: String,
    /// The store keeps it.
    is_shared: bool,
}

impl<T: Default> Default for Known<T> {
    fn default() -> Self {
        Self {
            content: T::default(),
            version: UNREAD.to_owned(),
            is_shared: false,
        }
    }
}

/// What a question is about: scopes, shares, and whether they have limits.
#[derive(Default)]
struct Subject {
    scopes: Vec<(ScopeName, bool)>,
    shares: Vec<(SharesName, bool)>,
}

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
        let settled = Settled {
            reservation: reservation.clone(),
            used: *used,
            cost,
            signals: *signals,
        };
        self.note(&reservation.pool, Note::Settled(Box::new(settled)))
            .await
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
        self.note(pool, Note::Held { lane, key, hold }).await
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

    /// Has a note taken, by this caller or by whoever has the state just then: under load one trip
    /// to the store takes many.
    async fn note(&self, pool: &str, note: Note) -> Result<(), StoreError> {
        let provider = self.provider(pool);
        let (taken, mut answer) = oneshot::channel();
        provider.notes.lock().push((note.clone(), taken));
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
            state.draft(subject, notes, time, store);
            let now = common_time(time, state.newest_ms());
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

impl Note {
    fn take(&self, books: &mut Books, now: f64) {
        match self {
            Self::Settled(settled) => {
                let Settled {
                    reservation,
                    used,
                    cost,
                    signals,
                } = &**settled;
                books.settle(reservation, used, *cost, signals, now);
            }
            Self::Held { lane, key, hold } => books.hold(lane, key, *hold, now),
        }
    }
}

impl Subject {
    fn of_batch(batch: &Batch<'_>) -> Self {
        let mut subject = Self::default();
        for candidate in batch.candidates {
            subject.candidate(candidate, batch.lane);
        }
        let limited = subject.scopes.iter().any(|(_, limited)| *limited);
        subject.shares.push((batch.shares_name(), limited));
        subject
    }

    fn candidate(&mut self, candidate: &Candidate, lane: &str) {
        let limited = candidate.limits.limit_anything() || candidate.lane_limits.limit_anything();
        let key = &candidate.key;
        self.scopes.push(((key.clone(), None), limited));
        self.scopes
            .push(((key.clone(), Some(lane.to_owned())), limited));
    }
}

impl LimiterState {
    fn of(process: &str) -> Self {
        Self {
            scopes: HashMap::new(),
            shares: HashMap::new(),
            books: Books::of(process),
            changes: 0,
            in_doubt: None,
        }
    }

    /// Opens a draft of all that a question and the notes are about, and of what lost attempts were
    /// charged to.
    fn draft(
        &mut self,
        subject: &Subject,
        notes: &[(Note, NoteTaken)],
        now: f64,
        store: Option<&dyn LimitStore>,
    ) {
        let unlimited = store.is_some_and(LimitStore::keeps_unlimited);
        let limited = |limited: bool| unlimited || (limited && store.is_some());
        for (name, has_limits) in &subject.scopes {
            self.draft_scope(name, limited(*has_limits));
        }
        for (name, has_limits) in &subject.shares {
            self.draft_shares(name, limited(*has_limits));
        }
        for (note, _) in notes {
            let (key, lane) = match note {
                Note::Settled(settled) => {
                    self.draft_shares(&settled.reservation.shares_name(), unlimited);
                    (&settled.reservation.key, &settled.reservation.lane)
                }
                Note::Held { lane, key, .. } => (key, lane),
            };
            self.draft_key(key, lane, unlimited);
            // It may have been granted on another key, where the answer to it was lost.
            if let Note::Settled(settled) = note
                && let Some(open) = self.books.attempts.get(&settled.reservation.attempt)
                && open.key != *key
            {
                let (key, lane) = (open.key.clone(), open.lane.clone());
                self.draft_key(&key, &lane, unlimited);
            }
        }
        for lost in self.books.attempts.lost(now) {
            self.draft_key(&lost.key, &lost.lane, unlimited);
        }
    }

    fn draft_key(&mut self, key: &KeyId, lane: &str, shared: bool) {
        self.draft_scope(&(key.clone(), None), shared);
        self.draft_scope(&(key.clone(), Some(lane.to_owned())), shared);
    }

    fn draft_scope(&mut self, name: &ScopeName, shared: bool) {
        let drafted = &mut self.books.scopes;
        draft(&mut self.scopes, drafted, name, shared);
    }

    fn draft_shares(&mut self, name: &SharesName, shared: bool) {
        let drafted = &mut self.books.shares;
        draft(&mut self.shares, drafted, name, shared);
    }

    /// The newest time that anybody went by who changed what is drafted.
    fn newest_ms(&self) -> f64 {
        let times = self.books.scopes.iter();
        let times = times.map(|drafted| drafted.content().changed_ms);
        times.fold(0.0, f64::max)
    }

    /// What is to be exchanged with the store: scopes, then shares, each in the order of the books.
    fn documents(&mut self, process: &str, now: f64) -> Vec<Document> {
        self.changes += 1;
        let mut documents = Vec::new();
        for drafted in &mut self.books.scopes {
            let known = &self.scopes[&drafted.name];
            if known.is_shared {
                if drafted.changed {
                    let own = drafted.edit().of_process(process);
                    own.change = self.changes;
                    if own.calls == 0 {
                        own.lost_at_ms = now + IDLE_STAYS_MS;
                    }
                    drafted.edit().changed_ms = now;
                }
                documents.push(document(scope_document(&drafted.name), drafted, known));
            }
        }
        for drafted in &self.books.shares {
            let known = &self.shares[&drafted.name];
            if known.is_shared {
                documents.push(document(shares_document(&drafted.name), drafted, known));
            }
        }
        documents
    }

    /// The draft is what holds from now on.
    fn keep(&mut self, version: &str) {
        keep(&mut self.scopes, &mut self.books.scopes, version);
        keep(&mut self.shares, &mut self.books.shares, version);
        self.books.attempts.keep();
    }

    /// Nothing of the draft has happened.
    fn forget(&mut self) {
        self.books.scopes.clear();
        self.books.shares.clear();
        self.books.attempts.forget();
    }

    /// Takes over what others have made of drafted documents. The calls of this process nobody
    /// knows better.
    fn adopt(&mut self, changed: &[Changed], process: &str) {
        let scopes = self.books.scopes.iter();
        let scopes = scopes.filter(|drafted| self.scopes[&drafted.name].is_shared);
        let scopes: Vec<ScopeName> = scopes.map(|drafted| drafted.name.clone()).collect();
        let shares = self.books.shares.iter();
        let shares = shares.filter(|drafted| self.shares[&drafted.name].is_shared);
        let shares: Vec<SharesName> = shares.map(|drafted| drafted.name.clone()).collect();
        for changed in changed {
            if let Some(name) = scopes.get(changed.index) {
                let known = self.scopes.entry(name.clone()).or_default();
                let own = known.content.in_flight.remove(process);
                known.read(changed);
                if let Some(own) = own {
                    known.content.in_flight.insert(process.to_owned(), own);
                }
            } else if let Some(name) = changed.index.checked_sub(scopes.len())
                && let Some(name) = shares.get(name)
            {
                self.shares.entry(name.clone()).or_default().read(changed);
            }
        }
    }

    /// Finds out whether the change arrived that the store did not answer, and keeps or forgets what
    /// came of it. What was to be replaced is written as it was, so that the change is refused should
    /// it arrive later.
    async fn end_doubt(&mut self, store: &dyn LimitStore, pool: &str) -> Result<(), StoreError> {
        let Some(doubted) = self.in_doubt else {
            // What a look that was not answered notes of teams that wait, the next one notes again.
            self.forget();
            return Ok(());
        };
        let process = store.process();
        let drafted = self.books.scopes.iter();
        let names =
            drafted.filter(|drafted| drafted.changed && self.scopes[&drafted.name].is_shared);
        let names: Vec<ScopeName> = names.map(|drafted| drafted.name.clone()).collect();
        let documents = names.iter().map(|name| {
            let known = &self.scopes[name];
            Document {
                name: scope_document(name),
                version: known.version.clone(),
                text: Some(json(&known.content)),
            }
        });
        let documents: Vec<Document> = documents.collect();
        self.changes += 1;
        let version = version(process, self.changes);
        let changed = store.exchange(pool, &documents, &version).await?;
        let has_arrived = changed.iter().any(|changed| {
            let counts: Option<Counts> = serde_json::from_str(&changed.text).ok();
            let own = counts.and_then(|counts| counts.in_flight.get(process).copied());
            own.is_some_and(|own| own.change == doubted)
        });
        if has_arrived {
            self.keep(&self::version(process, doubted));
        } else {
            if changed.is_empty() {
                for name in names {
                    self.scopes
                        .entry(name)
                        .or_default()
                        .version
                        .clone_from(&version);
                }
            }
            self.forget();
        }
        self.in_doubt = None;
        Ok(())
    }
}

impl<T: Default + DeserializeOwned> Known<T> {
    /// Takes over what somebody else has made of it. What another version of this program has
    /// written begins anew; what is gone goes on as it was known.
    fn read(&mut self, changed: &Changed) {
        self.version.clone_from(&changed.version);
        if !changed.version.is_empty() {
            self.content = serde_json::from_str(&changed.text).unwrap_or_default();
        }
    }
}

/// Adds a document to a draft, once.
fn draft<N: Clone + Eq + Hash, T: Clone + Default>(
    known: &mut HashMap<N, Known<T>>,
    drafted: &mut Vec<Drafted<N, T>>,
    name: &N,
    shared: bool,
) {
    if drafted.iter().any(|drafted| drafted.name == *name) {
        return;
    }
    if !known.contains_key(name) {
        known.insert(name.clone(), Known::default());
    }
    if let Some(known) = known.get_mut(name) {
        known.is_shared |= shared;
        drafted.push(Drafted::new(name.clone(), known.content.clone()));
    }
}

/// Makes a draft what is known.
fn keep<N: Eq + Hash, T>(
    known: &mut HashMap<N, Known<T>>,
    drafted: &mut Vec<Drafted<N, T>>,
    version: &str,
) {
    for drafted in drafted.drain(..) {
        if drafted.changed
            && let Some(known) = known.get_mut(&drafted.name)
        {
            if known.is_shared {
                version.clone_into(&mut known.version);
            }
            known.content = drafted.into_content();
        }
    }
}

fn document<N, T: Serialize>(name: String, drafted: &Drafted<N, T>, known: &Known<T>) -> Document {
    Document {
        name,
        version: known.version.clone(),
        text: drafted.changed.then(|| json(drafted.content())),
    }
}

fn scope_document((key, lane): &ScopeName) -> String {
    match lane {
        None => format!("key:{}", key.as_str()),
        Some(lane) => format!("lane:{}:{lane}", key.as_str()),
    }
}

fn shares_document(lane: &SharesName) -> String {
    match lane {
        None => "shares".to_owned(),
        Some(lane) => format!("shares:{lane}"),
    }
}

/// Numbers and texts of ours always can be written.
fn json(content: &impl Serialize) -> String {
    serde_json::to_string(content).unwrap_or_default()
}

fn version(process: &str, change: u64) -> String {
    format!("{process}-{change}")
}

/// The time to go by when others have gone by `newest` already, both in milliseconds since 1970. It
/// never runs backwards: for a process whose clock is behind, the others' calls would lie in the
/// future, and what has come in since would be counted once more at each question.
fn common_time(now: f64, newest: f64) -> f64 {
    match newest - now {
        ahead if ahead > SET_BACK_MS => now,
        ahead => now + ahead.max(0.0),
    }
}

#[cfg(test)]
mod tests;
