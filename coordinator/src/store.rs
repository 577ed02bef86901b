//! What the coordinator must not lose: experiments, queue, leases, results. One contract, two back
//! ends ([`EmbeddedStore`], one file; [`RedisStore`], shared by replicas). Order and fencing are
//! decided in one step, so anything may be retried. A lease is lost when its session is leased
//! again, settled, cancelled or removed, not when its time is over; the first result wins. Teams
//! take turns, then experiments of one priority; what was given back comes first, what crashed last,
//! what follows another once that is done. Knows no games, no workers' streams, no clock of callers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;

mod embedded;
mod fence;
mod packed;
mod redis;

pub use embedded::{Clock, EmbeddedStore};
pub use redis::RedisStore;

/// Crashes after which a session is set aside as dead.
pub const MOST_CRASHES: u32 = 3;

/// Workers lost while they held a session and nothing else, after which it is set aside as dead. A
/// loss in company does not count, because any of the others may be the cause; but from then on
/// the session is a suspect and leased alone, so that its next losses do.
pub const MOST_LOSSES_ALONE: u32 = 3;

/// Sessions set aside that progress lists with their reasons; counts are always complete.
pub const MOST_LISTED: usize = 10_000;

/// The results of a store's calls.
pub type StoreResult<T> = Result<T, StoreError>;

/// A store of the coordinator.
#[async_trait]
pub trait Store: Send + Sync {
    /// Stores an experiment with its sessions, in their order. Done sessions stay done, those
    /// that wait or run stay as they are, new and cancelled ones are queued, or wait for the one
    /// that they follow; sessions that are
    /// not named any more leave the experiment, their records stay. A submission that was cut off
    /// never makes the experiment look finished; the next one completes it. A budget other than
    /// that of the submission before takes the place of the budget; a higher one resumes.
    async fn submit(&self, experiment: NewExperiment) -> StoreResult<Submitted>;

    /// Leases up to `most` queued sessions to a worker. A suspect, of which a lease was lost, goes
    /// to a worker that holds nothing, which gets nothing else until the suspect has ended. While
    /// suspects wait, one worker at a time gets nothing until it is idle.
    async fn lease(&self, worker: &str, most: usize, ttl: Duration) -> StoreResult<Vec<Granted>>;

    /// Renews all leases that a worker holds; the answers stand in the order of the leases.
    async fn renew(&self, leases: &[LeaseKey], ttl: Duration) -> StoreResult<Vec<bool>>;

    /// Takes in a result from whoever holds the session or held it until the lease ran out; from
    /// anybody else it is not looked at. A session that follows this one is queued in the same step.
    async fn complete(&self, lease: &LeaseKey, result: SessionResult) -> StoreResult<Completion>;

    /// Takes in that a session failed. False when the lease was lost. A spent budget counts as no
    /// try and pauses the experiment, unless it was resumed after the session had been leased. A
    /// session that is set aside stops those that follow it.
    async fn fail(&self, lease: &LeaseKey, failure: Failure, reason: &str) -> StoreResult<bool>;

    /// Puts sessions back at the front of their queues; this counts as no try. Lost leases are
    /// passed over.
    async fn release(&self, leases: &[LeaseKey]) -> StoreResult<()>;

    /// Puts sessions back whose leases have run out; says how many.
    async fn expire(&self) -> StoreResult<u64>;

    /// How far an experiment is; `None` when there is none of this name.
    async fn progress(&self, experiment: &str) -> StoreResult<Option<Progress>>;

    /// Finished sessions in the experiment's order: those after position `after`, at most `most`.
    async fn results(
        &self,
        experiment: &str,
        after: Option<u64>,
        most: usize,
    ) -> StoreResult<Vec<StoredResult>>;

    /// Cancels what is queued and running. False when there is no such experiment.
    async fn cancel(&self, experiment: &str) -> StoreResult<bool>;

    /// Queues parked and dead sessions again, with new tries: the named ones, or all; those that
    /// follow them wait again. `None` when there is no such experiment.
    async fn retry(&self, experiment: &str, sessions: &[String]) -> StoreResult<Option<u64>>;

    /// Ends the pause of an experiment, with another budget if one is given. False when there is
    /// no such experiment.
    async fn resume(&self, experiment: &str, budget: Option<u64>) -> StoreResult<bool>;

    /// All experiments, by name.
    async fn list(&self) -> StoreResult<Vec<ExperimentEntry>>;

    /// The templates of this digest.
    async fn bundle(&self, digest: &str) -> StoreResult<Option<Templates>>;

    /// Notes that a worker is there, for [`Progress::workers`].
    async fn greet(&self, worker: &str, ttl: Duration) -> StoreResult<()>;

    /// Changes whenever sessions may have become free to lease.
    fn queued(&self) -> watch::Receiver<u64>;
}

/// Templates by their path.
pub type Templates = BTreeMap<String, String>;

/// An experiment as it is stored.
#[derive(Debug, Clone, Default)]
pub struct NewExperiment {
    /// Its name, which is its id.
    pub id: String,
    /// Who pays.
    pub team: String,
    /// The document as it was handed in.
    pub document: Vec<u8>,
    /// Trace under which its sessions run; may be empty.
    pub traceparent: String,
    /// On which terms its decisions are asked.
    pub terms: Terms,
    /// Digest and content of the templates that it brings.
    pub bundle: Option<(String, Templates)>,
    /// Its sessions in order. One that follows another stands behind it.
    pub sessions: NewSessions,
}

/// The sessions of an experiment, made one by one as they are stored: all their specs together may
/// be larger than the memory.
#[derive(Clone)]
pub struct NewSessions {
    count: u64,
    make: Arc<dyn Fn() -> MakeSessions + Send + Sync>,
}

/// Makes the sessions of an experiment.
pub type MakeSessions = Box<dyn Iterator<Item = NewSession> + Send>;

impl NewSessions {
    /// So many sessions, made by an iterator that may be asked for more than once.
    pub fn new(count: u64, make: impl Fn() -> MakeSessions + Send + Sync + 'static) -> Self {
        let make = Arc::new(make);
        Self { count, make }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Makes them from the first on.
    pub fn iter(&self) -> MakeSessions {
        (self.make)()
    }
}

impl FromIterator<NewSession> for NewSessions {
    fn from_iter<I: IntoIterator<Item = NewSession>>(sessions: I) -> Self {
        let sessions: Arc<[NewSession]> = sessions.into_iter().collect();
        let make = Arc::clone(&sessions);
        Self::new(sessions.len() as u64, move || {
            let sessions = Arc::clone(&make);
            Box::new((0..sessions.len()).map(move |place| sessions[place].clone()))
        })
    }
}

impl Default for NewSessions {
    fn default() -> Self {
        Self::from_iter([])
    }
}

impl std::fmt::Debug for NewSessions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} sessions", self.count)
    }
}

/// A session as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewSession {
    /// Its id.
    pub id: String,
    /// Its spec.
    pub spec: String,
    /// The session of this experiment that must be done before: the one before it in its series.
    /// No two follow the same.
    pub follows: Option<String>,
}

/// On which terms an experiment's decisions are asked; no part of what its sessions are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terms {
    /// Of the team's experiments those of higher priority are leased first.
    pub priority: i32,
    /// The most that it may cost in all, in nano-dollars.
    pub budget: Option<u64>,
    /// The gateway's content cache may answer.
    pub content_cache: bool,
}

/// What became of a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submitted {
    /// Sessions of the experiment.
    pub sessions: u64,
    /// Of these, done before.
    pub already_done: u64,
}

/// Names a lease.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseKey {
    /// The session.
    pub session: String,
    /// The worker that it was granted to.
    pub worker: String,
    /// Random, so that only this worker knows it.
    pub fence: u64,
}

/// A session leased to a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// The lease.
    pub key: LeaseKey,
    /// The spec as it was handed in.
    pub spec: String,
    /// 1 for the first try.
    pub attempt: u32,
    /// The experiment.
    pub experiment: String,
    /// Who pays.
    pub team: String,
    /// Trace under which it runs; may be empty.
    pub traceparent: String,
    /// On which terms its decisions are asked.
    pub terms: Terms,
    /// Record of the session that it follows.
    pub before: Option<Vec<u8>>,
}

/// A session's record and what was measured beside it, as bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionResult {
    /// The record.
    pub record: Vec<u8>,
    /// Telemetry.
    pub telemetry: Vec<u8>,
}

/// What became of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// It is the session's record now.
    First,
    /// The session was done, with the same record.
    Same,
    /// The session was done, with another record: a determinism fault, noted.
    Different,
    /// The lease was lost or never given; nothing was looked at.
    Fenced,
}

/// Why a session failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// It crashed; [`MOST_CRASHES`] make it dead.
    Crashed,
    /// The outside did not answer in time.
    Parked,
    /// It can never run as it is written.
    Impossible,
    /// A budget is spent.
    BudgetSpent,
}

/// How far an experiment is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Sessions of the experiment, those still to be stored included.
    pub sessions: u64,
    /// Ready to be leased.
    pub queued: u64,
    /// Behind a session of their series that is queued or running.
    pub waiting: u64,
    /// Behind a session of their series that was set aside: not reached until that is retried.
    pub stopped: u64,
    /// Leased.
    pub running: u64,
    /// Finished.
    pub done: u64,
    /// Set aside because the outside did not answer.
    pub parked: Vec<SetAside>,
    /// Set aside because they failed too often.
    pub dead: Vec<SetAside>,
    /// Sessions that were finished twice with different records.
    pub determinism_faults: Vec<String>,
    /// Workers that are there.
    pub workers: u64,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// Why nothing of it is leased at present; empty unless it pauses.
    pub paused: String,
    /// Whether some of its sessions are still to be stored: a submission is under way, or was
    /// cut off and must be made again.
    pub submitting: bool,
}

impl Progress {
    /// Whether nothing is left to run. Who waits, waits for one that is queued or running.
    pub fn is_over(&self) -> bool {
        self.queued == 0 && self.running == 0 && !self.submitting
    }
}

/// A session set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The session.
    pub session: String,
    /// Why.
    pub reason: String,
    /// How often it was tried.
    pub attempts: u32,
}

/// A finished session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResult {
    /// Place in the experiment.
    pub position: u64,
    /// The session.
    pub session: String,
    /// What it left; an error when that cannot be unpacked. One does not hide the others.
    pub result: Result<SessionResult, String>,
}

/// An experiment in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentEntry {
    /// Its name.
    pub id: String,
    /// Who pays.
    pub team: String,
    /// Its sessions.
    pub sessions: u64,
    /// Of these, done.
    pub done: u64,
    /// Of these, parked or dead.
    pub set_aside: u64,
    /// Of these, behind one of their series that was set aside.
    pub stopped: u64,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// Why nothing of it is leased at present; empty unless it pauses.
    pub paused: String,
}

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The experiment's name belongs to another team.
    #[error("experiment \"{experiment}\" belongs to team \"{team}\"; give yours another name")]
    OtherTeam {
        /// The experiment.
        experiment: String,
        /// Whose it is.
        team: String,
    },
    /// Somebody else stored the experiment at the same time, or cancelled it.
    #[error("experiment \"{experiment}\" was submitted again or cancelled at the same time")]
    Overtaken {
        /// The experiment.
        experiment: String,
    },
    /// The file of the store is used by another process.
    #[error("{path} is in use by another process")]
    InUse {
        /// The folder.
        path: String,
    },
    /// The store's folder or file cannot be used.
    #[error("cannot use {path}")]
    Folder {
        /// The folder or file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The database refuses.
    #[error("cannot {operation} in the coordinator's database")]
    Database {
        /// What was tried.
        operation: &'static str,
        /// Why.
        #[source]
        source: rusqlite::Error,
    },
    /// The address of Redis makes no sense, or nobody answers there.
    #[error("cannot reach redis at {address}; is it running and reachable from here?")]
    Unreachable {
        /// The address without its password.
        address: String,
        /// Why.
        #[source]
        source: ::redis::RedisError,
    },
    /// Redis does not answer, or refuses.
    #[error("cannot {operation} in redis")]
    Redis {
        /// What was tried.
        operation: &'static str,
        /// Why.
        #[source]
        source: ::redis::RedisError,
    },
    /// What is stored cannot be read; it was written by something else.
    #[error("what is stored as {what} cannot be read")]
    Corrupt {
        /// What.
        what: String,
    },
    /// The operating system gives no random numbers for fences.
    #[error("cannot draw random numbers from the operating system")]
    Randomness(#[source] getrandom::Error),
    /// The store was closed while it was asked.
    #[error("the coordinator's store has stopped")]
    Stopped,
}
