//! What this process knows of the limits of one provider: documents as they were read last, the draft
//! that is being made of them, and whether the last change arrived. Called by `limiter.rs`.

use std::collections::HashMap;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::books::{Books, Counts, Drafted, ScopeName, SharesName};
use super::store::{Changed, Document, LimitStore};
use super::subject::{Note, Subject};
use crate::fairness::shares::Shares;
use crate::keys::KeyId;
use crate::store_error::StoreError;

/// A process without calls in flight is remembered for so long, in milliseconds.
const IDLE_STAYS_MS: f64 = 60_000.0;

/// The version of what was never read: that of no document.
const UNREAD: &str = "?";

/// What this process knows of a provider.
pub(super) struct LimiterState {
    scopes: HashMap<ScopeName, Known<Counts>>,
    shares: HashMap<SharesName, Known<Shares>>,
    pub books: Books,
    /// Changes that were sent to the store.
    pub changes: u64,
    /// The change of limits of which it is not known whether it arrived; the books hold it.
    pub in_doubt: Option<u64>,
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

impl LimiterState {
    pub fn of(process: &str) -> Self {
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
    pub fn draft<'a>(
        &mut self,
        subject: &Subject,
        notes: impl Iterator<Item = &'a Note>,
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
        for note in notes {
            let (key, lane) = match note {
                Note::Settled(settled) => {
                    self.draft_shares(&settled.reservation.shares_name(), unlimited);
                    (&settled.reservation.key, &settled.reservation.lane)
                }
                Note::Held { lane, key, .. } => (key, lane),
            };
            self.draft_key(key, lane, unlimited);
            if let Note::Settled(settled) = note {
                self.draft_attempt(&settled.reservation.attempt, unlimited);
            }
        }
        for attempt in &subject.attempts {
            self.draft_attempt(attempt, unlimited);
        }
        for lost in self.books.attempts.lost(now) {
            self.draft_key(&lost.key, &lost.lane, unlimited);
        }
    }

    /// Drafts the key of an attempt that is open. Where the answer to it was lost, that may be
    /// another one than is known.
    fn draft_attempt(&mut self, attempt: &str, shared: bool) {
        if let Some(open) = self.books.attempts.get(attempt) {
            let (key, lane) = (open.key.clone(), open.lane.clone());
            self.draft_key(&key, &lane, shared);
        }
    }

    pub fn draft_key(&mut self, key: &KeyId, lane: &str, shared: bool) {
        self.draft_scope(&(key.clone(), None), shared);
        self.draft_scope(&(key.clone(), Some(lane.to_owned())), shared);
    }

    pub fn draft_scope(&mut self, name: &ScopeName, shared: bool) {
        let drafted = &mut self.books.scopes;
        draft(&mut self.scopes, drafted, name, shared);
    }

    pub fn draft_shares(&mut self, name: &SharesName, shared: bool) {
        let drafted = &mut self.books.shares;
        draft(&mut self.shares, drafted, name, shared);
    }

    /// The newest time that anybody went by who changed what is drafted.
    pub fn newest_ms(&self) -> f64 {
        let times = self.books.scopes.iter();
        let times = times.map(|drafted| drafted.content().changed_ms);
        times.fold(0.0, f64::max)
    }

    /// What is to be exchanged with the store: scopes, then shares, each in the order of the books.
    pub fn documents(&mut self, process: &str, now: f64) -> Vec<Document> {
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
    pub fn keep(&mut self, version: &str) {
        keep(&mut self.scopes, &mut self.books.scopes, version);
        keep(&mut self.shares, &mut self.books.shares, version);
        self.books.attempts.keep();
    }

    /// Nothing of the draft has happened.
    pub fn forget(&mut self) {
        self.books.scopes.clear();
        self.books.shares.clear();
        self.books.attempts.forget();
    }

    /// Takes over what others have made of drafted documents. The calls of this process nobody
    /// knows better.
    pub fn adopt(&mut self, changed: &[Changed], process: &str) {
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
    pub async fn end_doubt(
        &mut self,
        store: &dyn LimitStore,
        pool: &str,
    ) -> Result<(), StoreError> {
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
    pub fn read(&mut self, changed: &Changed) {
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

pub(super) fn version(process: &str, change: u64) -> String {
    format!("{process}-{change}")
}
