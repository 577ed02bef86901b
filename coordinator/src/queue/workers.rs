//! Workers and what they hold: promises in memory, which a coordinator that has just taken over
//! learns from its workers. Knows no experiment beyond the place of a session. Called by the queue.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use agon_proto::v1::{ExperimentSubmitted, Requirement};

use super::messages::{SessionKey, StreamId};

/// A worker: one incarnation of one process, over whichever stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkerKey(pub u64);

/// What a worker can play: versions by what they are of.
pub type Capabilities = BTreeMap<String, BTreeSet<String>>;

/// What a worker says of itself when it connects.
#[derive(Debug, Clone, Default)]
pub struct Introduction {
    /// Unique per worker process.
    pub id: String,
    /// Drawn when its process started.
    pub incarnation: u64,
    /// Sessions that it plays at the same time.
    pub places: usize,
    /// What it can play.
    pub capabilities: Capabilities,
}

/// A session held by a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// The session, where it stands now.
    pub session: SessionKey,
    /// Who holds it.
    pub worker: WorkerKey,
    /// A worker was lost with it, so it is played alone.
    pub suspect: bool,
}

#[derive(Debug)]
struct Worker {
    introduction: Introduction,
    stream: Option<StreamId>,
    /// It is lost when nothing is heard of it until then.
    deadline: Duration,
    draining: bool,
    holds: BTreeSet<u64>,
    suspects: usize,
    /// When it was served last.
    served: u64,
    /// Experiments of which it could not play a session that it was granted, and why.
    cannot: BTreeMap<u32, String>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Workers {
    workers: BTreeMap<WorkerKey, Worker>,
    streams: BTreeMap<StreamId, WorkerKey>,
    leases: BTreeMap<u64, Lease>,
    by_session: BTreeMap<SessionKey, u64>,
    last_worker: u64,
    turns: u64,
}

impl Workers {
    /// A worker has connected. Another incarnation of it is told, so that what that held can be
    /// taken from it.
    pub fn enter(
        &mut self,
        introduction: Introduction,
        stream: StreamId,
        deadline: Duration,
    ) -> (WorkerKey, Option<WorkerKey>) {
        let named = |worker: &&WorkerKey| self.workers[*worker].introduction.id == introduction.id;
        let before = self.workers.keys().find(named).copied();
        let same = before.filter(|worker| {
            self.workers[worker].introduction.incarnation == introduction.incarnation
        });
        let key = same.unwrap_or_else(|| {
            self.last_worker += 1;
            WorkerKey(self.last_worker)
        });
        let worker = self.workers.entry(key).or_insert_with(|| Worker {
            introduction: introduction.clone(),
            stream: None,
            deadline,
            draining: false,
            holds: BTreeSet::new(),
            suspects: 0,
            served: 0,
            cannot: BTreeMap::new(),
        });
        worker.introduction = introduction;
        worker.deadline = deadline;
        worker.draining = false;
        if let Some(old) = worker.stream.replace(stream) {
            self.streams.remove(&old);
        }
        self.streams.insert(stream, key);
        (key, before.filter(|before| *before != key))
    }

    /// Its stream has ended; it may come back.
    pub fn leave(&mut self, stream: StreamId) {
        let Some(key) = self.streams.remove(&stream) else {
            return;
        };
        if let Some(worker) = self.workers.get_mut(&key) {
            worker.stream = None;
            if worker.draining && worker.holds.is_empty() {
                self.workers.remove(&key);
            }
        }
    }

    /// The worker of a stream.
    pub fn of(&self, stream: StreamId) -> Option<WorkerKey> {
        self.streams.get(&stream).copied()
    }

    /// The stream to a worker, while there is one.
    pub fn stream(&self, worker: WorkerKey) -> Option<StreamId> {
        self.workers.get(&worker)?.stream
    }

    /// Something was heard of it.
    pub fn heard(&mut self, worker: WorkerKey, deadline: Duration) {
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.deadline = deadline;
        }
    }

    /// It takes nothing more.
    pub fn drain(&mut self, worker: WorkerKey) {
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.draining = true;
        }
    }

    /// Nobody could be heard for a while: nobody is lost before this time.
    pub fn extend(&mut self, until: Duration) {
        for worker in self.workers.values_mut() {
            worker.deadline = worker.deadline.max(until);
        }
    }

    /// Those of whom nothing was heard until their deadline.
    pub fn overdue(&self, now: Duration) -> Vec<WorkerKey> {
        let late = self
            .workers
            .iter()
            .filter(|(_, worker)| worker.deadline <= now);
        late.map(|(key, _)| *key).collect()
    }

    /// Removes a worker; says what it held.
    pub fn remove(&mut self, worker: WorkerKey) -> Vec<(u64, Lease)> {
        let Some(removed) = self.workers.remove(&worker) else {
            return Vec::new();
        };
        if let Some(stream) = removed.stream {
            self.streams.remove(&stream);
        }
        let held = removed.holds.into_iter();
        held.filter_map(|grant| Some((grant, self.end(grant)?)))
            .collect()
    }

    /// A worker holds a session from now on.
    pub fn hold(&mut self, grant: u64, lease: Lease) {
        if let Some(worker) = self.workers.get_mut(&lease.worker) {
            worker.holds.insert(grant);
            worker.suspects += usize::from(lease.suspect);
            self.leases.insert(grant, lease);
            self.by_session.insert(lease.session, grant);
        }
    }

    /// A lease has ended; `None` when it had before.
    pub fn end(&mut self, grant: u64) -> Option<Lease> {
        let lease = self.leases.remove(&grant)?;
        self.by_session.remove(&lease.session);
        if let Some(worker) = self.workers.get_mut(&lease.worker) {
            worker.holds.remove(&grant);
            worker.suspects -= usize::from(lease.suspect);
        }
        Some(lease)
    }

    /// A lease that holds.
    pub fn lease(&self, grant: u64) -> Option<Lease> {
        self.leases.get(&grant).copied()
    }

    /// The lease under which a session is played.
    pub fn lease_of(&self, session: SessionKey) -> Option<u64> {
        self.by_session.get(&session).copied()
    }

    /// Leases of an experiment, in order of its sessions.
    pub fn leases_of(&self, experiment: u32) -> Vec<(u64, SessionKey)> {
        let first = SessionKey {
            experiment,
            position: 0,
        };
        let last = SessionKey {
            experiment,
            position: u32::MAX,
        };
        let range = self.by_session.range(first..=last);
        range.map(|(session, grant)| (*grant, *session)).collect()
    }

    /// The sessions of an experiment stand elsewhere; leases of those that do not any more have been
    /// ended.
    pub fn move_sessions(&mut self, experiment: u32, moved: &BTreeMap<u32, u32>) {
        let leases = self.leases_of(experiment);
        for (_, session) in &leases {
            self.by_session.remove(session);
        }
        for (grant, session) in leases {
            let (Some(lease), Some(position)) =
                (self.leases.get_mut(&grant), moved.get(&session.position))
            else {
                continue;
            };
            lease.session.position = *position;
            self.by_session.insert(lease.session, grant);
        }
    }

    /// Workers that can take something, who was served longest ago first, with their free places.
    pub fn hungry(&self) -> Vec<(WorkerKey, usize)> {
        let mut hungry: Vec<(u64, WorkerKey, usize)> = Vec::new();
        for (key, worker) in &self.workers {
            let free = worker
                .introduction
                .places
                .saturating_sub(worker.holds.len());
            if worker.stream.is_some() && !worker.draining && worker.suspects == 0 && free > 0 {
                hungry.push((worker.served, *key, free));
            }
        }
        hungry.sort_unstable();
        let hungry = hungry.into_iter();
        hungry.map(|(_, key, free)| (key, free)).collect()
    }

    /// It was its turn.
    pub fn serve(&mut self, worker: WorkerKey) {
        self.turns += 1;
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.served = self.turns;
        }
    }

    /// The leases that a worker holds.
    pub fn grants_of(&self, worker: WorkerKey) -> Vec<u64> {
        let held = self.workers.get(&worker).map(|worker| &worker.holds);
        held.into_iter().flatten().copied().collect()
    }

    /// How many sessions a worker holds.
    pub fn holds(&self, worker: WorkerKey) -> usize {
        self.workers
            .get(&worker)
            .map_or(0, |worker| worker.holds.len())
    }

    /// Whether a worker is still there.
    pub fn is_there(&self, worker: WorkerKey) -> bool {
        self.workers.contains_key(&worker)
    }

    /// Whether a worker has what an experiment requires, as far as is known.
    pub fn can_play(&self, worker: WorkerKey, of: &ExperimentSubmitted) -> bool {
        let worker = self.workers.get(&worker);
        worker.is_some_and(|worker| lacks(worker, of).is_none())
    }

    /// A worker found that it has not what an experiment requires.
    pub fn cannot_play(&mut self, worker: WorkerKey, experiment: u32, why: &str) {
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.cannot.insert(experiment, why.to_owned());
        }
    }

    /// The experiment was resubmitted or removed: forget who could not play it.
    pub fn may_play(&mut self, experiment: u32) {
        for worker in self.workers.values_mut() {
            worker.cannot.remove(&experiment);
        }
    }

    /// What no connected worker has, if none has all of it; `None` too while there is no worker.
    pub fn missing_everywhere(&self, of: &ExperimentSubmitted) -> Option<String> {
        let mut found = None;
        for worker in self
            .workers
            .values()
            .filter(|worker| worker.stream.is_some())
        {
            found = Some(lacks(worker, of)?);
        }
        found
    }

    /// Workers that are connected, places that they have free, and leases that hold.
    pub fn load(&self) -> (usize, usize, usize) {
        let connected = self
            .workers
            .values()
            .filter(|worker| worker.stream.is_some());
        let free = connected.map(|worker| {
            let places = worker.introduction.places;
            places.saturating_sub(worker.holds.len())
        });
        (self.streams.len(), free.sum(), self.leases.len())
    }

    /// Places of the workers that are connected, free or not.
    pub fn places(&self) -> usize {
        let connected = self.workers.values().filter(|one| one.stream.is_some());
        connected.map(|one| one.introduction.places).sum()
    }

    /// Names of the workers and what each holds.
    pub fn status(&self) -> Vec<(String, usize)> {
        let workers = self.workers.values();
        workers
            .map(|worker| (worker.introduction.id.clone(), worker.holds.len()))
            .collect()
    }
}

/// What a worker lacks of what an experiment requires.
fn lacks(worker: &Worker, of: &ExperimentSubmitted) -> Option<String> {
    let missing = missing(&worker.introduction.capabilities, &of.requirements);
    let missing = missing.map(|missing| format!("{} {}", missing.name, missing.version));
    missing.or_else(|| worker.cannot.get(&of.experiment).cloned())
}

fn missing<'a>(
    capabilities: &Capabilities,
    requirements: &'a [Requirement],
) -> Option<&'a Requirement> {
    requirements.iter().find(|required| {
        let has = |versions: &BTreeSet<String>| versions.contains(&required.version);
        required.of_workers && !capabilities.get(&required.name).is_some_and(has)
    })
}
