//! What an onlooker has seen the store say, and the store's own table as it stands on disk. Both
//! are only compared, by the invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use agon_coordinator::store::LeaseKey;
use rusqlite::Connection;

/// What the store has told anybody.
#[derive(Debug, Default)]
pub struct Seen {
    /// Sessions that each experiment names at present, in order.
    pub placed: BTreeMap<&'static str, Vec<String>>,
    /// The fence last given for each session that is still in the store.
    pub last_fence: BTreeMap<String, u64>,
    /// Every fence given, by its place in their order.
    pub fences: BTreeMap<u64, usize>,
    /// The first result of each finished session.
    pub records: BTreeMap<String, Vec<u8>>,
    /// Sessions of which a second result differed.
    pub faults: BTreeSet<String>,
    /// Experiments that pause.
    pub paused: BTreeSet<String>,
    /// How many fences were given when an experiment's pause was ended last.
    pub resumed: BTreeMap<String, usize>,
}

impl Seen {
    /// A lease is given; false when its fence was given before.
    pub fn grant(&mut self, fence: u64) -> bool {
        self.fences.insert(fence, self.fences.len()).is_none()
    }

    /// A pause ends; leases given until now begin none.
    pub fn resume(&mut self, experiment: &str) {
        self.paused.remove(experiment);
        self.resumed
            .insert(experiment.to_owned(), self.fences.len());
    }

    /// A session under this fence met with a spent budget.
    pub fn spend(&mut self, experiment: &str, fence: u64) {
        if self
            .resumed
            .get(experiment)
            .is_none_or(|resumed| *resumed <= self.fences[&fence])
        {
            self.paused.insert(experiment.to_owned());
        }
    }
}

/// A session's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub experiment: String,
    pub placed: bool,
    pub state: String,
    pub fence: u64,
    pub worker: Option<String>,
    pub crashes: u64,
    pub losses: u64,
    pub follows: Option<String>,
}

impl Row {
    /// Whether this fence holds the session.
    pub fn is_leased_under(&self, lease: &LeaseKey) -> bool {
        self.state == "leased" && self.is_of(lease)
    }

    /// Whether this lease may be renewed: also one that ran out, while nobody else took the session.
    pub fn is_renewable(&self, lease: &LeaseKey) -> bool {
        ["leased", "queued"].contains(&&*self.state) && self.is_of(lease)
    }

    fn is_of(&self, lease: &LeaseKey) -> bool {
        self.fence == lease.fence && self.worker.as_ref() == Some(&lease.worker)
    }
}

/// A second pair of eyes on the file.
pub struct Table(Connection);

impl Table {
    pub fn open(folder: &Path) -> Self {
        Self(Connection::open(folder.join("coordinator.db")).expect("the store's file"))
    }

    /// All rows, by session.
    pub fn rows(&self) -> BTreeMap<String, Row> {
        let sql = "SELECT id, experiment, position IS NOT NULL, state, fence, worker, crashes,
                       follows, losses
                   FROM sessions";
        let mut query = self.0.prepare_cached(sql).expect("the store's table");
        let rows = query.query_map([], |row| {
            let found = Row {
                experiment: row.get(1)?,
                placed: row.get(2)?,
                state: row.get(3)?,
                fence: row.get::<_, i64>(4)?.cast_unsigned(),
                worker: row.get(5)?,
                crashes: u64::try_from(row.get::<_, i64>(6)?).unwrap_or(0),
                follows: row.get(7)?,
                losses: u64::try_from(row.get::<_, i64>(8)?).unwrap_or(0),
            };
            Ok((row.get(0)?, found))
        });
        rows.expect("rows").collect::<Result<_, _>>().expect("rows")
    }
}
