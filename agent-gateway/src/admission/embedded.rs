//! Limits without a server: in the memory of one process, or, for keys with limits,
//! in a file that several processes share. In memory they start full after a
//! restart: what the last process used in the minute before is at most one burst
//! above what the provider has let through. Called through `admission/line.rs`.

mod books;
mod file;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_service_kit::clock::unix_ms;
use async_trait::async_trait;
use parking_lot::Mutex;

use super::{Batch, Candidate, Charge, KeyOutlook, Limiter, Reservation, Verdict};
use crate::keys::KeyId;
use crate::limits::Signals;
use crate::peers::Peers;
use crate::store_error::StoreError;

use books::{Books, Domain, domain_of, domain_of_batch};
use file::LimitsFile;

/// Limits of this process, or of all processes that share a file.
pub struct EmbeddedLimiter {
    started: Instant,
    /// Milliseconds since 1970 at the start: no step of the system's clock stops this
    /// process's own books. Shared ones go by the time in their file.
    started_ms: f64,
    books: Mutex<Books>,
    file: Option<LimitsFile>,
}

impl Default for EmbeddedLimiter {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            started_ms: unix_ms() as f64,
            books: Mutex::default(),
            file: None,
        }
    }
}

impl EmbeddedLimiter {
    /// Limits that are kept together with those of other processes on the same file.
    ///
    /// # Errors
    /// The file cannot be used.
    pub fn shared(file: &Path, peers: Arc<Peers>) -> Result<Self, StoreError> {
        Ok(Self {
            file: Some(LimitsFile::open(file, peers)?),
            ..Self::default()
        })
    }

    fn now_ms(&self) -> f64 {
        self.started_ms + self.started.elapsed().as_secs_f64() * 1_000.0
    }

    /// Looks into the books, or changes them. Those of shared keys are brought up to
    /// date before and kept afterwards; meanwhile no other process touches them. That
    /// takes a tenth of a millisecond, so it is not worth a thread.
    fn with_books<T>(
        &self,
        of: &Subject<'_>,
        work: impl FnOnce(&mut Books, f64) -> T,
    ) -> Result<T, StoreError> {
        let mut books = self.books.lock();
        let shared = of.shared_keys(&mut books);
        match &self.file {
            Some(file) if !shared.is_empty() => {
                file.together(&mut books, &shared, &of.domain(), work)
            }
            _ => Ok(work(&mut books, self.now_ms())),
        }
    }
}

/// What a question to the limiter is about.
enum Subject<'a> {
    Batch(&'a Batch<'a>),
    Reservation(&'a Reservation),
    Key(&'a KeyId),
    Candidates(&'a [Candidate]),
}

impl Subject<'_> {
    /// The keys among it that have limits. What is found out without any, such as how
    /// long a provider wants to be left alone, each process finds out by itself.
    fn shared_keys(&self, books: &mut Books) -> Vec<KeyId> {
        let candidates = match self {
            Self::Batch(batch) => batch.candidates,
            Self::Candidates(candidates) => candidates,
            Self::Reservation(reservation) => return known_as_shared(books, &reservation.key),
            Self::Key(key) => return known_as_shared(books, key),
        };
        let limited = candidates.iter().filter(|candidate| {
            candidate.limits.limit_anything() || candidate.lane_limits.limit_anything()
        });
        let keys: Vec<KeyId> = limited.map(|candidate| candidate.key.clone()).collect();
        for key in &keys {
            books.keys.entry(key.clone()).or_default().is_shared = true;
        }
        keys
    }

    fn domain(&self) -> Option<Domain> {
        match self {
            Self::Batch(batch) => Some(domain_of_batch(batch)),
            Self::Reservation(reservation) => Some(domain_of(reservation)),
            Self::Key(_) | Self::Candidates(_) => None,
        }
    }
}

fn known_as_shared(books: &Books, key: &KeyId) -> Vec<KeyId> {
    let state = books.keys.get(key);
    let shared = state.is_some_and(|state| state.is_shared);
    shared.then(|| key.clone()).into_iter().collect()
}

#[async_trait]
impl Limiter for EmbeddedLimiter {
    async fn reserve(&self, batch: &Batch<'_>) -> Result<Verdict, StoreError> {
        self.with_books(&Subject::Batch(batch), |books, now| {
            books.reserve(batch, now)
        })
    }

    async fn settle(
        &self,
        reservation: &Reservation,
        used: &Charge,
        cost: u64,
        signals: &Signals,
    ) -> Result<(), StoreError> {
        self.with_books(&Subject::Reservation(reservation), |books, now| {
            books.settle(reservation, used, cost, signals, now);
        })
    }

    async fn hold(
        &self,
        _pool: &str,
        lane: &str,
        key: &KeyId,
        hold: Duration,
    ) -> Result<(), StoreError> {
        self.with_books(&Subject::Key(key), |books, now| {
            books.hold(lane, key, hold, now);
        })
    }

    async fn outlook(
        &self,
        _pool: &str,
        lane: &str,
        keys: &[Candidate],
    ) -> Result<Vec<KeyOutlook>, StoreError> {
        self.with_books(&Subject::Candidates(keys), |books, now| {
            books.outlook(lane, keys, now)
        })
    }
}
