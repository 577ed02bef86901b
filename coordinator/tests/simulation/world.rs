//! The world of one seed: a real store in a folder, a clock, workers and what they have said. One
//! step is one event; the checks that belong to an answer are made where the answer comes in.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agon_coordinator::store::{
    Completion, EmbeddedStore, Failure, LeaseKey, NewExperiment, NewSession, SessionResult,
    Store as _,
};
use tempfile::TempDir;

use crate::chance::Chance;
use crate::invariants::{self, Told};
use crate::seen::{Row, Seen, Table};
use crate::workers::{Message, Said, Worker};

const TTL: Duration = Duration::from_secs(10);

/// Experiments with their teams and numbers of sessions.
const EXPERIMENTS: [(&str, &str, usize); 4] = [
    ("a", "red", 5),
    ("b", "red", 3),
    ("c", "blue", 6),
    (SERIES, "blue", 7),
];

/// The experiment whose sessions form series, of this length.
const SERIES: &str = "s";
const LENGTH: usize = 4;

const WORKERS: usize = 3;
const PLACES: usize = 3;

/// Steps that a failure shows.
const SHOWN: usize = 25;

type Outcome = Result<(), String>;

pub struct World {
    chance: Chance,
    clock_ms: Arc<AtomicU64>,
    folder: TempDir,
    store: EmbeddedStore,
    table: Table,
    workers: Vec<Worker>,
    /// How many worker processes there have been.
    named: usize,
    network: Vec<Message>,
    seen: Seen,
    steps: Vec<String>,
}

impl World {
    pub async fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let clock_ms = Arc::new(AtomicU64::new(1_000_000));
        let store = open(folder.path(), &clock_ms);
        let table = Table::open(folder.path());
        let mut world = Self {
            chance: Chance::new(seed),
            clock_ms,
            folder,
            store,
            table,
            workers: Vec::new(),
            named: 0,
            network: Vec::new(),
            seen: Seen::default(),
            steps: Vec::new(),
        };
        for _ in 0..WORKERS {
            let worker = world.new_worker();
            world.workers.push(worker);
        }
        for number in 0..EXPERIMENTS.len() {
            world.submit(number, usize::MAX).await;
        }
        world
    }

    /// What happened last.
    pub fn last_steps(&self) -> &[String] {
        &self.steps[self.steps.len().saturating_sub(SHOWN)..]
    }

    /// One event, and everything that must hold after it.
    pub async fn step(&mut self) -> Outcome {
        let worker = self.chance.index(WORKERS);
        match self.chance.below(100) {
            // Between workers and the network; the store is not asked.
            0..20 => self.end_a_session(worker),
            20..28 => self.renew(worker),
            28..32 => self.pass_time(),
            32..35 => self.crash(worker),
            35..39 => self.stop_or_continue(worker),
            39..41 => self.drain(worker),
            store => {
                self.ask_store(store, worker).await?;
                return self.check().await;
            }
        }
        Ok(())
    }

    async fn ask_store(&mut self, kind: u64, worker: usize) -> Outcome {
        match kind {
            41..62 => self.lease(worker).await?,
            62..86 => self.deliver().await?,
            86..92 => self.expire().await,
            92..95 => self.restart().await,
            95 => self.restart_everything().await,
            96 => self.cancel().await,
            97 => self.retry().await,
            98 => self.resume().await,
            _ => {
                let number = self.chance.index(EXPERIMENTS.len());
                let keep = self.chance.index(EXPERIMENTS[number].2 + 1);
                self.submit(number, keep).await;
            }
        }
        Ok(())
    }

    /// Faults have stopped: what is left is played to its end.
    pub async fn calm_down(&mut self) -> Outcome {
        self.note("faults stop".to_owned());
        while !self.network.is_empty() {
            self.deliver().await?;
        }
        for number in 0..EXPERIMENTS.len() {
            self.submit(number, usize::MAX).await;
        }
        for (experiment, ..) in EXPERIMENTS {
            self.resume_one(experiment).await;
        }
        for worker in 0..WORKERS {
            // Their leases run out.
            self.crash(worker);
        }
        // Beyond any end of a lease, however the clock jumped.
        self.clock_ms.fetch_add(100_000_000, Ordering::SeqCst);
        self.expire().await;
        loop {
            self.lease(0).await?;
            let Some(key) = self.workers[0].playing.first().cloned() else {
                break;
            };
            let message = self.workers[0].ended(&key, Said::Complete(key.clone(), record(&key)));
            self.network.push(message);
            while !self.network.is_empty() {
                self.deliver().await?;
            }
            self.check().await?;
        }
        invariants::invariant_nothing_is_lost(&self.seen, &self.told().await)
    }

    async fn check(&self) -> Outcome {
        invariants::check(&self.seen, &self.table.rows(), &self.told().await)
    }

    async fn told(&self) -> Vec<Told> {
        let mut all = Vec::new();
        for (experiment, ..) in EXPERIMENTS {
            let progress = self.store.progress(experiment).await.expect("progress");
            let results = self.store.results(experiment, None, 100).await;
            all.push(Told {
                experiment,
                progress: progress.expect("it was submitted"),
                results: results.expect("results"),
            });
        }
        all
    }

    fn note(&mut self, step: String) {
        self.steps.push(step);
    }

    fn new_worker(&mut self) -> Worker {
        self.named += 1;
        Worker::new(format!("w{}", self.named))
    }

    async fn lease(&mut self, worker: usize) -> Outcome {
        let worker = &mut self.workers[worker];
        if worker.stopped {
            return Ok(());
        }
        let free = PLACES.saturating_sub(worker.playing.len());
        let before = self.table.rows();
        let granted = self.store.lease(&worker.name, free, TTL).await;
        let granted = granted.expect("the store leases");
        let mut steps = Vec::new();
        let sessions = granted.len();
        for granted in granted {
            let LeaseKey { session, fence, .. } = &granted.key;
            steps.push(format!("{} leases {session} under {fence}", worker.name));
            if before[session].state != "queued" {
                return Err(format!(
                    "{session} was leased while {}",
                    before[session].state
                ));
            }
            let follows = before[session].follows.as_ref();
            if granted.before.as_ref() != follows.map(|follows| &self.seen.records[follows]) {
                return Err(format!(
                    "{session} was handed {:?}, it follows {follows:?}",
                    granted.before
                ));
            }
            if self.seen.paused.contains(&granted.experiment) {
                return Err(format!("{session} was leased while its experiment pauses"));
            }
            if !self.seen.grant(*fence) {
                return Err(format!("fence {fence} of {session} is no new one"));
            }
            self.seen.last_fence.insert(session.clone(), *fence);
            // With a suspect a worker is lost at most once in company.
            let of_worker = |row: &&Row| row.worker.as_ref() == Some(&worker.name);
            let held = before.values().filter(of_worker);
            let held = held.filter(|row| row.state == "leased").count();
            if before[session].losses > 0 && held + sessions > 1 {
                return Err(format!("{session} is a suspect and was not leased alone"));
            }
            worker.playing.insert(granted.key);
        }
        self.steps.extend(steps);
        Ok(())
    }

    fn end_a_session(&mut self, worker: usize) {
        let worker = &mut self.workers[worker];
        if worker.stopped || worker.playing.is_empty() {
            return;
        }
        let chosen = self.chance.index(worker.playing.len());
        let Some(key) = worker.playing.iter().nth(chosen).cloned() else {
            return;
        };
        let said = match self.chance.below(20) {
            0..14 => Said::Complete(key.clone(), record(&key)),
            // A game that is not deterministic.
            14 => Said::Complete(
                key.clone(),
                format!("{{\"fence\":{}}}", key.fence).into_bytes(),
            ),
            15 => Said::Fail(key.clone(), Failure::Parked),
            16 => Said::Fail(key.clone(), Failure::Impossible),
            17 => Said::Fail(key.clone(), Failure::BudgetSpent),
            _ => Said::Fail(key.clone(), Failure::Crashed),
        };
        let message = worker.ended(&key, said);
        self.note(format!("{message:?} is under way"));
        self.network.push(message);
    }

    /// Any message arrives; sometimes it will arrive again, sometimes its answer gets lost.
    async fn deliver(&mut self) -> Outcome {
        if self.network.is_empty() {
            return Ok(());
        }
        let chosen = self.chance.index(self.network.len());
        let message = self.network[chosen].clone();
        let again = self.chance.once_in(5);
        if !again {
            self.network.swap_remove(chosen);
        }
        let answered = !self.chance.once_in(6);
        self.note(format!(
            "{message:?} arrives; again {again}, answered {answered}"
        ));
        self.take_in(&message, answered).await
    }

    async fn take_in(&mut self, message: &Message, answered: bool) -> Outcome {
        let from = &message.from;
        let mut worker = self.workers.iter_mut().find(|worker| worker.name == *from);
        if !answered {
            worker = None;
        }
        let before = self.table.rows();
        match &message.said {
            Said::Renew(keys) => {
                let kept = self.store.renew(keys, TTL).await.expect("renewals");
                for (key, kept) in keys.iter().zip(kept) {
                    let row = before.get(&key.session);
                    let expected = row.is_some_and(|row| row.is_renewable(key));
                    if kept != expected {
                        return Err(format!("renewal of {key:?} is {kept}, not {expected}"));
                    }
                    if let Some(worker) = &mut worker
                        && !kept
                    {
                        worker.playing.remove(key);
                    }
                }
            }
            Said::Complete(key, record) => {
                let result = SessionResult {
                    record: record.clone(),
                    telemetry: b"{}".to_vec(),
                };
                let completion = self.store.complete(key, result).await.expect("results");
                if let Some(worker) = worker {
                    worker.unsettled.remove(key);
                }
                return self.on_completed(key, record, completion);
            }
            Said::Fail(key, failure) => {
                let noted = self
                    .store
                    .fail(key, *failure, "reason")
                    .await
                    .expect("failures");
                let row = before.get(&key.session);
                if noted != row.is_some_and(|row| row.is_leased_under(key)) {
                    return Err(format!("noted {noted} is said of the failure of {key:?}"));
                }
                if let Some(worker) = worker {
                    worker.unsettled.remove(key);
                }
                if let Some(row) = row.filter(|_| noted && *failure == Failure::BudgetSpent) {
                    self.seen.spend(&row.experiment, key.fence);
                    let after = &self.table.rows()[&key.session];
                    if after.state != "queued" || after.crashes != row.crashes {
                        return Err(format!("a spent budget makes {after:?} of {row:?}"));
                    }
                }
            }
            Said::Release(keys) => self.store.release(keys).await.expect("releases"),
        }
        Ok(())
    }

    /// A result is the first one, is compared with it, or is not looked at: nothing else.
    fn on_completed(&mut self, key: &LeaseKey, record: &[u8], completion: Completion) -> Outcome {
        let LeaseKey { session, fence, .. } = key;
        let is_last = self.seen.last_fence.get(session) == Some(fence);
        let fits = match (completion, self.seen.records.get(session)) {
            (Completion::First, None) => is_last,
            (Completion::Same, Some(first)) => first == record,
            (Completion::Different, Some(first)) => first != record,
            (Completion::Fenced, None) => true,
            // It was given up, or lost before the session was submitted anew.
            (Completion::Fenced, Some(_)) => !is_last,
            _ => false,
        };
        if !fits {
            return Err(format!("{completion:?} is said of a result under {key:?}"));
        }
        match completion {
            Completion::First => {
                self.seen.records.insert(session.clone(), record.to_vec());
            }
            Completion::Different => {
                self.seen.faults.insert(session.clone());
            }
            Completion::Same | Completion::Fenced => {}
        }
        Ok(())
    }

    fn renew(&mut self, worker: usize) {
        let worker = &self.workers[worker];
        if !worker.stopped {
            let message = worker.renewal();
            self.network.push(message);
        }
    }

    /// A little, a lot, or back.
    fn pass_time(&mut self) {
        let ms = match self.chance.below(8) {
            0..5 => self.chance.below(4_000),
            5 | 6 => self.chance.below(60_000),
            _ => {
                let back = self.chance.below(30_000);
                self.clock_ms.fetch_sub(back, Ordering::SeqCst);
                return self.note(format!("the clock goes back by {back} ms"));
            }
        };
        self.clock_ms.fetch_add(ms, Ordering::SeqCst);
        self.note(format!("{ms} ms pass"));
    }

    async fn expire(&mut self) {
        let lost = self.store.expire().await.expect("a sweep");
        self.note(format!("{lost} leases have run out"));
    }

    /// Without a word; what it has said may still arrive.
    fn crash(&mut self, worker: usize) {
        let fresh = self.new_worker();
        let gone = std::mem::replace(&mut self.workers[worker], fresh);
        self.note(format!("{} crashes", gone.name));
    }

    fn stop_or_continue(&mut self, worker: usize) {
        let worker = &mut self.workers[worker];
        worker.stopped = !worker.stopped;
        let step = format!("{} stopped: {}", worker.name, worker.stopped);
        self.note(step);
    }

    fn drain(&mut self, worker: usize) {
        let message = self.workers[worker].drained();
        self.note(format!("{message:?} is under way"));
        self.network.push(message);
    }

    /// The coordinator ends in order, or is killed; workers connect again and say what they hold.
    async fn restart(&mut self) {
        let killed = self.chance.once_in(2);
        self.note(format!("the coordinator starts again; killed {killed}"));
        self.reopen(killed);
        let running = self.workers.iter().filter(|worker| !worker.stopped);
        self.network.extend(running.flat_map(Worker::said_again));
    }

    /// One process with everything in it is killed and started again.
    async fn restart_everything(&mut self) {
        self.reopen(true);
        self.network.clear();
        for worker in 0..WORKERS {
            self.crash(worker);
        }
        let held = self.store.reclaim().await.expect("a reclaim");
        self.note(format!(
            "everything starts again; {held} sessions come back"
        ));
    }

    fn reopen(&mut self, killed: bool) {
        if killed {
            // What the files hold at this moment is what `kill -9` leaves.
            let copy = tempfile::tempdir().expect("a scratch folder");
            for entry in std::fs::read_dir(self.folder.path()).expect("the folder") {
                let entry = entry.expect("an entry");
                let to = copy.path().join(entry.file_name());
                std::fs::copy(entry.path(), to).expect("a copy");
            }
            self.store.close();
            self.folder = copy;
        } else {
            self.store.close();
        }
        self.store = open(self.folder.path(), &self.clock_ms);
        self.table = Table::open(self.folder.path());
    }

    async fn cancel(&mut self) {
        let (experiment, ..) = EXPERIMENTS[self.chance.index(EXPERIMENTS.len())];
        self.note(format!("{experiment} is cancelled"));
        assert!(self.store.cancel(experiment).await.expect("a cancellation"));
        self.seen.resume(experiment);
    }

    async fn resume(&mut self) {
        let (experiment, ..) = EXPERIMENTS[self.chance.index(EXPERIMENTS.len())];
        self.resume_one(experiment).await;
    }

    async fn resume_one(&mut self, experiment: &str) {
        self.note(format!("{experiment} is resumed"));
        let resumed = self.store.resume(experiment, None).await;
        assert!(resumed.expect("a resumption"));
        self.seen.resume(experiment);
    }

    async fn retry(&mut self) {
        let (experiment, ..) = EXPERIMENTS[self.chance.index(EXPERIMENTS.len())];
        let queued = self.store.retry(experiment, &[]).await.expect("a retry");
        self.note(format!(
            "{queued:?} sessions of {experiment} are tried again"
        ));
    }

    /// Submits an experiment with the first so many of its sessions.
    async fn submit(&mut self, number: usize, keep: usize) {
        let (experiment, team, sessions) = EXPERIMENTS[number];
        let name = |session| format!("{experiment}{session}");
        let sessions: Vec<NewSession> = (0..sessions.min(keep))
            .map(|session| NewSession {
                id: name(session),
                spec: "{}".to_owned(),
                follows: (experiment == SERIES && session % LENGTH > 0).then(|| name(session - 1)),
            })
            .collect();
        let names: Vec<String> = sessions.iter().map(|session| session.id.clone()).collect();
        self.note(format!("{experiment} is submitted with {}", names.len()));
        let done = names
            .iter()
            .filter(|name| self.seen.records.contains_key(*name));
        let done = done.count() as u64;
        let submitted = self.store.submit(NewExperiment {
            id: experiment.to_owned(),
            team: team.to_owned(),
            sessions: sessions.into_iter().collect(),
            ..NewExperiment::default()
        });
        assert_eq!(submitted.await.expect("a submission").already_done, done);
        // A session that has left and comes back is a new one.
        let before = self.seen.placed.insert(experiment, names.clone());
        for gone in before.unwrap_or_default() {
            if !names.contains(&gone) && !self.seen.records.contains_key(&gone) {
                self.seen.last_fence.remove(&gone);
            }
        }
    }
}

/// What any worker makes of a session.
fn record(key: &LeaseKey) -> Vec<u8> {
    format!("{{\"session\":\"{}\"}}", key.session).into_bytes()
}

fn open(folder: &Path, clock_ms: &Arc<AtomicU64>) -> EmbeddedStore {
    let clock_ms = clock_ms.clone();
    let clock = Arc::new(move || clock_ms.load(Ordering::SeqCst));
    EmbeddedStore::open_with_clock(folder, clock).expect("the store opens")
}
