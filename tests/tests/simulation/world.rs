//! The world of one seed: a clock, and what is going to happen. One step is one event; checks that
//! belong to an answer are made where the answer comes in.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use agon_coordinator::archive::{Archive, Entry};
use agon_coordinator::journal::{Epoch, Journal};
use agon_coordinator::lease_token::Sealer;
use agon_coordinator::owner::messages::Message;
use agon_coordinator::owner::segments::SegmentKey;
use agon_proto::v1::LeaseRef;
use tokio::runtime::Runtime;

use crate::Outcome;
use crate::broken::Broken;
use crate::chance::Chance;
use crate::chaos::Command;
use crate::experiments::VERSIONS;
use crate::journal::SimulatedJournal;
use crate::leading::Appended;
use crate::owning::Coordinator;
use crate::seen::Seen;
use crate::streams::Stream;
use crate::worker::Worker;

/// How long a worker holds its sessions without being heard of.
pub const LEASE: Duration = Duration::from_secs(10);

/// How long an owner may stay silent.
pub const OWNERSHIP: Duration = Duration::from_secs(5);

/// How long there is chaos, and how long the world then has to come to rest.
const CHAOS: Duration = Duration::from_secs(60);
const REST: Duration = Duration::from_secs(240);

/// Steps that a failure shows.
const SHOWN: usize = 40;

pub const WORKERS: usize = 3;

/// What is going to happen. Numbers are coordinators or workers, then the life or term that it is
/// about.
pub enum Event {
    Look(usize),
    CoordinatorStarts(usize),
    Tick(usize, u64),
    Renew(usize, u64),
    Tell(usize, u64, Box<Message>),
    Append(usize, u64),
    Answered(usize, u64, Appended),
    Archived(usize, u64, u64, SegmentKey, String, Vec<Entry>),
    Up(u64),
    Down(u64),
    WorkerNotices(u64, bool),
    OwnerNotices(u64),
    Connect(usize, u64),
    Beat(usize, u64),
    Ends(usize, u64, LeaseRef, bool),
    Killed(usize, u64),
    Started(usize, u64),
    Chaos,
    Care,
}

pub struct World {
    pub chance: Chance,
    pub now: Duration,
    events: BTreeMap<(Duration, u64), Event>,
    last_event: u64,
    pub events_later: Vec<(Duration, Event)>,
    runtime: Arc<Runtime>,
    pub journal: Arc<dyn Journal>,
    pub archive: Archive,
    pub simulated: Option<Arc<SimulatedJournal>>,
    /// The epoch that owns the journal, and until when.
    pub claimed: Option<(Epoch, Duration)>,
    pub sealer: Sealer,
    pub coordinators: [Coordinator; 2],
    pub workers: Vec<Worker>,
    pub streams: BTreeMap<u64, Stream>,
    pub last_stream: u64,
    pub commands: Vec<Command>,
    pub seen: Seen,
    /// Faults have stopped.
    pub calm: bool,
    /// Some sessions are played otherwise each time.
    pub flaky: bool,
    pub broken: Option<Broken>,
    pub outage_until: Duration,
    steps: VecDeque<String>,
    /// Ids of sessions, by document and position.
    pub ids: RefCell<BTreeMap<(String, u32), String>>,
    /// How often what happened.
    pub counts: BTreeMap<String, u64>,
}

impl World {
    /// On a journal in memory, or on a real one.
    pub fn new(
        seed: u64,
        broken: Option<Broken>,
        runtime: Arc<Runtime>,
        real: Option<Arc<dyn Journal>>,
    ) -> Self {
        let simulated = Arc::new(SimulatedJournal::new(broken == Some(Broken::ChecksNoEpoch)));
        let (journal, simulated): (Arc<dyn Journal>, _) = match real {
            Some(real) => (real, None),
            None => (simulated.clone(), Some(simulated)),
        };
        let mut chance = Chance::new(seed);
        let flaky = chance.once_in(2);
        let mut world = Self {
            chance,
            now: Duration::from_secs(1),
            events: BTreeMap::new(),
            last_event: 0,
            events_later: Vec::new(),
            runtime,
            archive: Archive::in_journal(journal.clone()),
            journal,
            simulated,
            claimed: None,
            sealer: Sealer::new([7; 32]),
            coordinators: [Coordinator::new(), Coordinator::new()],
            workers: Vec::new(),
            streams: BTreeMap::new(),
            last_stream: 0,
            commands: Vec::new(),
            seen: Seen::default(),
            calm: false,
            flaky,
            broken,
            outage_until: Duration::ZERO,
            steps: VecDeque::new(),
            ids: RefCell::default(),
            counts: BTreeMap::new(),
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        for version in VERSIONS.iter().flatten() {
            let name = format!("document:{}", version.submitted.document);
            let put = self.journal.put_blob(&name, version.stored.clone());
            self.block_on(put).expect("documents are stored");
        }
        for coordinator in 0..self.coordinators.len() {
            self.after(Duration::ZERO, Event::Look(coordinator));
        }
        for worker in 0..WORKERS {
            let life = 0;
            let name = format!("w{worker}");
            self.workers.push(Worker::new(name, life, 1));
            self.workers[worker].up = false;
            self.after(Duration::ZERO, Event::Started(worker, life));
        }
        self.after(Duration::from_secs(1), Event::Chaos);
        self.after(Duration::from_secs(2), Event::Care);
    }

    /// Lives through chaos, then comes to rest.
    pub fn run(&mut self) -> Outcome {
        while self.now < CHAOS {
            self.step()?;
        }
        self.calm_down();
        let until = self.now + REST;
        while self.now < until {
            if self.invariant_everything_ends().is_ok() {
                return Ok(());
            }
            let next = self.now + Duration::from_secs(5);
            while self.now < next {
                self.step()?;
            }
        }
        self.invariant_everything_ends()
    }

    fn calm_down(&mut self) {
        self.note("faults stop".to_owned());
        self.calm = true;
        self.outage_until = Duration::ZERO;
        let now = self.now;
        for coordinator in &mut self.coordinators {
            coordinator.stopped_until = now;
        }
        for worker in &mut self.workers {
            worker.stopped_until = now;
        }
    }

    /// What happened last.
    pub fn last_steps(&self) -> String {
        self.steps
            .iter()
            .map(|step| format!("\n  {step}"))
            .collect()
    }

    pub fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    pub fn note(&mut self, step: String) {
        if self.steps.len() == SHOWN {
            self.steps.pop_front();
        }
        self.steps
            .push_back(format!("{:8.3} {step}", self.now.as_secs_f64()));
    }

    pub fn after(&mut self, delay: Duration, event: Event) {
        self.at(self.now + delay, event);
    }

    pub fn at(&mut self, time: Duration, event: Event) {
        self.last_event += 1;
        self.events.insert((time, self.last_event), event);
    }

    /// Journals answer at once; how long that takes is an event of its own.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    fn step(&mut self) -> Outcome {
        let Some(((time, _), event)) = self.events.pop_first() else {
            return Err("nothing happens any more".to_owned());
        };
        self.now = time;
        if let Some(simulated) = &self.simulated {
            simulated.set_now(time);
        }
        if let Some(until) = self.stopped_until(&event).filter(|until| *until > time) {
            self.at(until, event);
            return Ok(());
        }
        self.take(event)
    }

    /// Until when the process is stopped that an event happens in.
    fn stopped_until(&self, event: &Event) -> Option<Duration> {
        let coordinator = match event {
            Event::Look(at)
            | Event::Tick(at, _)
            | Event::Renew(at, _)
            | Event::Tell(at, ..)
            | Event::Append(at, _)
            | Event::Answered(at, ..)
            | Event::Archived(at, ..) => Some(*at),
            Event::Up(stream) | Event::OwnerNotices(stream) => {
                self.streams.get(stream).map(|stream| stream.coordinator)
            }
            _ => None,
        };
        let worker = match event {
            Event::Connect(worker, _)
            | Event::Beat(worker, _)
            | Event::Ends(worker, ..)
            | Event::Killed(worker, _) => Some(*worker),
            Event::Down(stream) | Event::WorkerNotices(stream, _) => {
                self.streams.get(stream).map(|stream| stream.worker)
            }
            _ => None,
        };
        let coordinator = coordinator.map(|at| self.coordinators[at].stopped_until);
        coordinator.or(worker.map(|worker| self.workers[worker].stopped_until))
    }

    fn take(&mut self, event: Event) -> Outcome {
        let in_term = |world: &Self, at: usize, term| world.coordinators[at].term == term;
        let alive = |world: &Self, worker: usize, life| {
            world.workers[worker].up && world.workers[worker].life == life
        };
        match event {
            Event::Look(at) => self.look(at)?,
            Event::CoordinatorStarts(at) => self.coordinators[at].up = true,
            Event::Tick(at, term) if in_term(self, at, term) => self.tick(at)?,
            Event::Renew(at, term) if in_term(self, at, term) => self.renew(at)?,
            Event::Tell(at, term, message) if in_term(self, at, term) => self.tell(at, *message)?,
            Event::Append(at, term) if in_term(self, at, term) => self.append(at)?,
            Event::Answered(at, term, appended) if in_term(self, at, term) => {
                self.answered(at, appended)?;
            }
            Event::Archived(at, life, term, key, name, entries)
                if self.coordinators[at].life == life =>
            {
                self.archived(at, term, key, &name, entries)?;
            }
            Event::Up(stream) => self.deliver_up(stream)?,
            Event::Down(stream) => self.deliver_down(stream),
            Event::WorkerNotices(stream, refused) => self.worker_notices(stream, refused),
            Event::OwnerNotices(stream) => self.owner_notices(stream)?,
            Event::Connect(worker, life) if alive(self, worker, life) => self.connect(worker),
            Event::Beat(worker, life) if alive(self, worker, life) => self.beat(worker)?,
            Event::Ends(worker, life, lease, given_up) if alive(self, worker, life) => {
                self.end_session(worker, &lease, given_up);
            }
            Event::Killed(worker, life) if alive(self, worker, life) => self.kill_worker(worker),
            Event::Started(worker, life) if self.workers[worker].life == life => {
                self.start_worker(worker);
            }
            Event::Chaos if !self.calm => self.chaos()?,
            Event::Care => self.care()?,
            _ => {}
        }
        Ok(())
    }
}

/// What the runtime of a world is: one thread, as everything in the simulation.
pub fn runtime() -> Arc<Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    Arc::new(runtime.expect("a runtime"))
}
