//! The two back ends as the contract sees them: a store, time that can pass, a crash.
//! Called by `contract.rs` and `series.rs`; claims nothing itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_coordinator::store::{EmbeddedStore, NewExperiment, NewSession, RedisStore, Store, Terms};

use crate::redis_server::RedisServer;

/// How long a test waits for Redis's clock before it says that something is wrong.
const PATIENCE: Duration = Duration::from_secs(10);

/// A lease that no test outlives.
pub const LONG: Duration = Duration::from_secs(600);

/// Makes two tests of every claim, one for each back end.
macro_rules! contract {
    ($($claim:ident),* $(,)?) => {
        mod embedded {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(crate::benches::Bench::embedded().await).await;
            })*
        }
        mod redis {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(crate::benches::Bench::redis().await).await;
            })*
        }
    };
}

pub(crate) use contract;

pub enum Bench {
    Embedded {
        folder: tempfile::TempDir,
        clock_ms: Arc<AtomicU64>,
        store: EmbeddedStore,
    },
    Redis {
        server: RedisServer,
        store: RedisStore,
    },
}

impl Bench {
    pub async fn embedded() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock_ms = Arc::new(AtomicU64::new(1_000_000));
        let store = open(folder.path(), &clock_ms);
        Self::Embedded {
            folder,
            clock_ms,
            store,
        }
    }

    pub async fn redis() -> Self {
        let server = RedisServer::start().await;
        let store = RedisStore::connect(&server.url()).await.unwrap();
        Self::Redis { server, store }
    }

    pub fn store(&self) -> &dyn Store {
        match self {
            Self::Embedded { store, .. } => store,
            Self::Redis { store, .. } => store,
        }
    }

    pub fn shared(&self) -> Arc<dyn Store> {
        match self {
            Self::Embedded { store, .. } => Arc::new(store.clone()),
            Self::Redis { store, .. } => Arc::new(store.clone()),
        }
    }

    /// A lease short enough to run out in a test.
    pub fn short(&self) -> Duration {
        match self {
            Self::Embedded { .. } => Duration::from_secs(10),
            Self::Redis { .. } => Duration::from_millis(20),
        }
    }

    /// Lets short leases run out, and sweeps until so many have.
    pub async fn lose(&self, leases: u64) {
        if let Self::Embedded {
            clock_ms, store, ..
        } = self
        {
            clock_ms.fetch_add(10_000, Ordering::SeqCst);
            assert_eq!(store.expire().await.unwrap(), leases);
            return;
        }
        let began = Instant::now();
        let mut lost = 0;
        while lost < leases {
            assert!(
                began.elapsed() < PATIENCE,
                "{lost} of {leases} leases ran out"
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
            lost += self.store().expire().await.unwrap();
        }
        assert_eq!(lost, leases);
    }

    /// Puts other bytes in the place of a session's packed record, as a careless hand would.
    pub async fn spoil(&self, session: &str, record: &[u8]) {
        match self {
            Self::Embedded { folder, .. } => {
                let file = rusqlite::Connection::open(folder.path().join("coordinator.db"));
                let sql = "UPDATE results SET record = ?2 WHERE session = ?1";
                let spoiled = file
                    .unwrap()
                    .execute(sql, rusqlite::params![session, record]);
                assert_eq!(spoiled.unwrap(), 1);
            }
            Self::Redis { server, .. } => {
                let client = redis::Client::open(server.url()).unwrap();
                let mut connection = client.get_multiplexed_async_connection().await.unwrap();
                let key = format!("{{agon}}:coordinator:v1:s:{session}");
                let mut spoil = redis::cmd("HSET");
                spoil.arg(key).arg("record").arg(record);
                spoil.query_async::<i64>(&mut connection).await.unwrap();
            }
        }
    }

    /// Everything that was not on disk is gone; the store is opened again.
    pub async fn crash(self) -> Self {
        match self {
            Self::Embedded {
                folder,
                clock_ms,
                store,
            } => {
                // What the files hold at this moment is what `kill -9` would have left.
                let copy = tempfile::tempdir().unwrap();
                for entry in std::fs::read_dir(folder.path()).unwrap() {
                    let entry = entry.unwrap();
                    std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
                }
                store.close();
                let store = open(copy.path(), &clock_ms);
                Self::Embedded {
                    folder: copy,
                    clock_ms,
                    store,
                }
            }
            Self::Redis { mut server, .. } => {
                server.crash_and_restart().await;
                let store = RedisStore::connect(&server.url()).await.unwrap();
                Self::Redis { server, store }
            }
        }
    }
}

fn open(folder: &std::path::Path, clock_ms: &Arc<AtomicU64>) -> EmbeddedStore {
    let clock_ms = clock_ms.clone();
    let clock = Arc::new(move || clock_ms.load(Ordering::SeqCst));
    EmbeddedStore::open_with_clock(folder, clock).unwrap()
}

/// An experiment of these sessions.
pub fn experiment(team: &str, id: &str, sessions: &[&str]) -> NewExperiment {
    let spec = |session: &&str| NewSession {
        id: (*session).to_owned(),
        spec: format!("spec of {session}"),
        follows: None,
    };
    NewExperiment {
        id: id.to_owned(),
        team: team.to_owned(),
        document: b"{}".to_vec(),
        traceparent: "00-trace".to_owned(),
        terms: Terms::default(),
        bundle: None,
        sessions: sessions.iter().map(spec).collect(),
    }
}

/// An experiment of one series: each of these sessions follows the one before it.
pub fn series(team: &str, id: &str, sessions: &[&str]) -> NewExperiment {
    let experiment = experiment(team, id, sessions);
    let before = sessions.iter().map(|session| Some((*session).to_owned()));
    let sessions = experiment
        .sessions
        .iter()
        .zip(std::iter::once(None).chain(before));
    let sessions = sessions.map(|(session, follows)| NewSession { follows, ..session });
    NewExperiment {
        sessions: sessions.collect(),
        ..experiment
    }
}
