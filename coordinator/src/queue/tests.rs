//! Claims of the queue, on a bench: a queue, a time, workers that remember what they were granted, and
//! the journal that was written, from which the queue can be made again at any point. After every
//! call the bench checks what must always hold.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_proto::v1::journal_entry::Change;
use agon_proto::v1::{ExperimentSubmitted, GridShape, JournalBatch, QueueSnapshot, Requirement};
use prost::Message as _;

use super::sessions::State;
use super::{
    CELL_KEY, Capabilities, Effect, Failure, Granted, Introduction, LeaseId, Outcome, Progress,
    Queue, Refusal, SessionKey, SessionResult, Settled, StreamId, entry,
};

mod budgets;
mod failures;
mod leasing;
mod random;
mod replaying;
mod series;
mod submissions;
mod suspects;
mod workers;

/// How long a worker holds what it was granted without being heard of.
const LEASE: Duration = Duration::from_secs(10);

/// See the module.
struct Bench {
    queue: Queue,
    now: Duration,
    epoch: u64,
    /// Every change, as it is stored.
    journal: Vec<u8>,
    /// Workers that are connected.
    workers: BTreeMap<String, Connected>,
    last_stream: u64,
    revoked: Vec<LeaseId>,
}

/// A worker as it sees itself.
struct Connected {
    stream: StreamId,
    /// Granted and not asked for yet.
    granted: Vec<Granted>,
}

impl Bench {
    fn new() -> Self {
        Self {
            queue: Queue::new(1, LEASE),
            now: Duration::from_secs(1),
            epoch: 1,
            journal: Vec::new(),
            workers: BTreeMap::new(),
            last_stream: 0,
            revoked: Vec::new(),
        }
    }

    /// Submits an experiment of these cells.
    fn submit(&mut self, name: &str, team: &str, cells: &[&str], repeats: u32, length: u32) -> u32 {
        let submitted = experiment(name, team, cells, repeats, length);
        self.submit_as(submitted).unwrap()
    }

    /// The same, with terms of its own.
    fn submit_as(&mut self, submitted: ExperimentSubmitted) -> Result<u32, Refusal> {
        let key = self.queue.submit(submitted, false, None, self.now);
        self.carry_out();
        key
    }

    /// The same, pausing at once.
    fn submit_paused(&mut self, submitted: ExperimentSubmitted, reason: &str) {
        let now = self.now;
        let submitted = self.queue.submit(submitted, false, Some(reason), now);
        submitted.unwrap();
        self.carry_out();
    }

    /// One cell with so many repeats, of team red.
    fn sessions(&mut self, name: &str, repeats: u32) -> u32 {
        self.submit(name, "red", &["cell"], repeats, 1)
    }

    /// A worker connects for the first time.
    fn worker(&mut self, name: &str, places: usize) {
        let lost = self.register(name, places, 1, Capabilities::new(), &[]);
        assert!(lost.is_empty());
    }

    /// The same process connects again, and says what it holds; answers what is lost.
    fn back(&mut self, name: &str, places: usize, held: &[LeaseId]) -> Vec<LeaseId> {
        self.register(name, places, 1, Capabilities::new(), held)
    }

    fn register(
        &mut self,
        name: &str,
        places: usize,
        incarnation: u64,
        capabilities: Capabilities,
        held: &[LeaseId],
    ) -> Vec<LeaseId> {
        self.last_stream += 1;
        let stream = StreamId(self.last_stream);
        let worker = Connected {
            stream,
            granted: Vec::new(),
        };
        self.workers.insert(name.to_owned(), worker);
        let introduction = Introduction {
            id: name.to_owned(),
            incarnation,
            places,
            capabilities,
        };
        let lost = self.queue.register(introduction, stream, held, self.now);
        self.carry_out();
        lost
    }

    /// What a worker was granted since it was asked last.
    fn granted(&mut self, worker: &str) -> Vec<Granted> {
        let worker = self.workers.get_mut(worker).expect("it is connected");
        std::mem::take(&mut worker.granted)
    }

    /// The one lease that a worker was granted.
    fn one(&mut self, worker: &str) -> Granted {
        let granted = self.granted(worker);
        assert_eq!(granted.len(), 1, "{worker} was granted {granted:?}");
        granted.into_iter().next().unwrap()
    }

    /// Positions of what a worker was granted since it was asked last.
    fn positions(&mut self, worker: &str) -> Vec<u32> {
        positions(&self.granted(worker))
    }

    fn stream(&self, worker: &str) -> StreamId {
        // A stream that the queue never heard of.
        let nobody = StreamId(u64::MAX);
        self.workers
            .get(worker)
            .map_or(nobody, |worker| worker.stream)
    }

    /// A worker hands in the one record that the session has.
    fn finish(&mut self, worker: &str, lease: LeaseId) -> Settled {
        self.finish_with(worker, lease, "record")
    }

    /// The same, with a record of these bytes.
    fn finish_with(&mut self, worker: &str, lease: LeaseId, record: &str) -> Settled {
        let outcome = Outcome::Finished(result(record));
        self.settle(worker, lease, outcome)
    }

    fn fail(&mut self, worker: &str, lease: LeaseId, failure: Failure, reason: &str) -> Settled {
        self.settle(worker, lease, Outcome::Failed(failure, reason.to_owned()))
    }

    fn settle(&mut self, worker: &str, lease: LeaseId, outcome: Outcome) -> Settled {
        let stream = self.stream(worker);
        let settled = self.queue.settle(stream, lease, outcome, self.now);
        self.queue.grant(self.now);
        self.carry_out();
        settled
    }

    fn release(&mut self, worker: &str, leases: &[LeaseId]) {
        let stream = self.stream(worker);
        self.queue.release(stream, leases);
        self.queue.grant(self.now);
        self.carry_out();
    }

    fn heartbeat(&mut self, worker: &str, progressed: &[LeaseId]) {
        let stream = self.stream(worker);
        self.queue.heartbeat(stream, progressed, self.now);
        self.carry_out();
    }

    /// A worker's stream breaks.
    fn leave(&mut self, worker: &str) {
        let worker = self.workers.remove(worker).expect("it is connected");
        self.queue.leave(worker.stream);
        self.carry_out();
    }

    /// A worker falls silent until it is lost, while all others are heard of.
    fn lose(&mut self, worker: &str) {
        self.workers.remove(worker).expect("it is connected");
        self.pass(LEASE + Duration::from_secs(1));
    }

    /// So much time passes, in which everybody who is connected is heard of.
    fn pass(&mut self, time: Duration) {
        let step = Duration::from_secs(1);
        let until = self.now + time;
        while self.now < until {
            self.now = until.min(self.now + step);
            let names: Vec<String> = self.workers.keys().cloned().collect();
            for name in names {
                self.heartbeat(&name, &[]);
            }
            self.tick();
        }
    }

    fn tick(&mut self) {
        self.queue.tick(self.now);
        self.carry_out();
    }

    fn cancel(&mut self, name: &str) {
        self.queue.cancel(name, self.now).unwrap();
        self.carry_out();
    }

    fn retry(&mut self, name: &str, positions: Option<&[u32]>) -> u32 {
        let retried = self.queue.retry(name, positions, self.now).unwrap();
        self.carry_out();
        retried
    }

    fn resume(&mut self, name: &str, budget: Option<u64>) {
        self.queue.resume(name, budget, None, self.now).unwrap();
        self.carry_out();
    }

    fn pause_by_hand(&mut self, name: &str, reason: &str) -> Result<(), Refusal> {
        let paused = self.queue.pause_by_hand(name, reason);
        self.carry_out();
        paused
    }

    fn progress(&self, name: &str) -> Progress {
        self.queue.progress(name).unwrap()
    }

    /// Sessions, queued, running, done.
    fn counts(&self, name: &str) -> (u32, u32, u32, u32) {
        let told = self.progress(name);
        (told.sessions, told.queued, told.running, told.done)
    }

    /// Another coordinator takes over, with the journal. Streams are gone, and nothing that workers
    /// hold is known until they say so.
    fn restart(&mut self) {
        self.carry_out();
        let mut queue = self.next_owner();
        replay(&mut queue, &self.journal);
        self.take_over(queue);
    }

    /// The same, with a snapshot and no journal.
    fn restart_from_snapshot(&mut self) {
        let mut queue = self.next_owner();
        let stored = self.queue.snapshot().encode_to_vec();
        assert!(queue.restore(QueueSnapshot::decode(&stored[..]).unwrap()));
        self.take_over(queue);
    }

    fn next_owner(&mut self) -> Queue {
        // As the epochs of Redis do, it fills more bits than a grant has room for.
        self.epoch += 1_700_000_000_123_457;
        Queue::new(self.epoch, LEASE)
    }

    fn take_over(&mut self, mut queue: Queue) {
        assert!(
            queue
                .effects()
                .iter()
                .all(|effect| matches!(effect, Effect::Append(_)))
        );
        let before = image(&self.queue);
        assert_eq!(
            image(&queue),
            before,
            "what was journaled makes another queue"
        );
        self.queue = queue;
        self.workers.clear();
        check(&self.queue);
    }

    fn carry_out(&mut self) {
        for effect in self.queue.effects() {
            match effect {
                Effect::Append(change) => {
                    let batch = JournalBatch {
                        entries: vec![entry(change)],
                    };
                    self.journal.extend(batch.encode_to_vec());
                }
                Effect::Grant(stream, granted) => {
                    let mut workers = self.workers.values_mut();
                    let worker = workers.find(|worker| worker.stream == stream);
                    // Whoever has gone in silence does not hear of it.
                    if let Some(worker) = worker {
                        worker.granted.extend(granted);
                    }
                }
                Effect::Revoke(_, leases) => self.revoked.extend(leases),
            }
        }
        check(&self.queue);
    }
}

/// A submission of team and cells.
fn experiment(
    name: &str,
    team: &str,
    cells: &[&str],
    repeats: u32,
    series_length: u32,
) -> ExperimentSubmitted {
    let keys = cells.iter().flat_map(|cell| {
        let mut key = [0; CELL_KEY];
        key[..cell.len()].copy_from_slice(cell.as_bytes());
        key
    });
    ExperimentSubmitted {
        name: name.to_owned(),
        team: team.to_owned(),
        document: "document".to_owned(),
        shape: Some(GridShape {
            cells: cells.len() as u32,
            repeats,
            series_length,
        }),
        cells: keys.collect(),
        ..ExperimentSubmitted::default()
    }
}

fn requirement(name: &str, version: &str, of_workers: bool) -> Requirement {
    Requirement {
        name: name.to_owned(),
        version: version.to_owned(),
        of_workers,
    }
}

fn result(record: &str) -> SessionResult {
    let hash = blake3::hash(record.as_bytes());
    SessionResult {
        session_id: "id".to_owned(),
        digest: u64::from_le_bytes(hash.as_bytes()[..8].try_into().unwrap()),
        record: record.to_owned().into(),
        telemetry: "{}".into(),
    }
}

fn positions(granted: &[Granted]) -> Vec<u32> {
    granted
        .iter()
        .map(|granted| granted.lease.session.position)
        .collect()
}

fn leases(granted: &[Granted]) -> Vec<LeaseId> {
    granted.iter().map(|granted| granted.lease).collect()
}

/// The changes of a journal; batches that follow each other make one when they are read together.
fn replay(queue: &mut Queue, journal: &[u8]) {
    for entry in JournalBatch::decode(journal).unwrap().entries {
        queue.replay(&entry.change.unwrap());
    }
}

/// What follows from the journal, however it came there. Which of the ready sessions is first
/// depends on leases, which nobody journals; that is claimed apart.
fn image(queue: &Queue) -> QueueSnapshot {
    let mut snapshot = queue.snapshot();
    for experiment in &mut snapshot.experiments {
        let ready = [State::Fresh as u8, State::Returned as u8, State::Last as u8];
        let states = experiment.states.iter();
        let states = states.map(|state| {
            if ready.contains(state) {
                ready[0]
            } else {
                *state
            }
        });
        experiment.states = states.collect::<Vec<u8>>().into();
        experiment.last_in_line.clear();
        // Leases of the owner before cannot pause anything.
    }
    snapshot
}

/// What holds at any time.
fn check(queue: &Queue) {
    let mut leased = 0;
    for (key, experiment) in &queue.experiments {
        let sessions = &experiment.sessions;
        let mut counted = BTreeMap::<State, u32>::new();
        let length = sessions.shape().series_length;
        for position in 0..sessions.shape().sessions() {
            let state = sessions.state(position).unwrap();
            *counted.entry(state).or_default() += 1;
            let session = SessionKey {
                experiment: *key,
                position,
            };
            let grant = queue.workers.lease_of(session);
            assert_eq!(
                state == State::Leased,
                grant.is_some(),
                "{session:?} is {state:?}"
            );
            if let Some(grant) = grant {
                let held = queue.workers.lease(grant).unwrap();
                assert_eq!(held.session, session);
                assert!(queue.workers.is_there(held.worker));
                assert!(queue.workers.grants_of(held.worker).contains(&grant));
            }
            if position % length > 0 {
                check_order(sessions.state(position - 1).unwrap(), state);
            }
        }
        for (byte, state) in (0..).map_while(|byte| Some((byte, State::of_byte(byte)?))) {
            assert_eq!(state as u8, byte);
            let expected = counted.get(&state).copied().unwrap_or_default();
            assert_eq!(sessions.count(state), expected, "{state:?}");
        }
        leased += sessions.count(State::Leased) as usize;
    }
    assert_eq!(queue.load().2, leased, "a lease without its session");
}

/// A session of a series begins when the one before is done, and waits or is stopped behind others.
fn check_order(before: State, state: State) {
    let fits = match state {
        State::Waiting => before.is_queued() || matches!(before, State::Leased | State::Waiting),
        State::Stopped => matches!(before, State::Parked | State::Dead | State::Stopped),
        State::Cancelled => true,
        _ => before == State::Done,
    };
    assert!(fits, "{state:?} behind {before:?}");
}
