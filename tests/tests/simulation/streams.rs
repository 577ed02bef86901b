//! The network between workers and coordinators. Messages of one stream keep their order; streams
//! overtake each other, break, and lose what is on its way.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use agon_coordinator::owner::ToStream;
use agon_coordinator::owner::messages::Message;
use agon_coordinator::queue::{LeaseId, StreamId};
use agon_proto::v1::LeaseRef;
use agon_proto::v1::work_sessions_request::Message as ToCoordinator;
use agon_proto::v1::work_sessions_response::Message as FromCoordinator;
use tokio::sync::{mpsc, oneshot};

use crate::Outcome;
use crate::world::{Event, World};

pub struct Stream {
    pub worker: usize,
    life: u64,
    pub coordinator: usize,
    /// The owner's term in which it began; 0 before.
    pub term: u64,
    up: Way<ToCoordinator>,
    down: Way<FromCoordinator>,
    /// Nothing arrives any more; the two ends notice at different times.
    is_cut: bool,
    worker_end: bool,
    pub owner_end: bool,
    pub id: Option<StreamId>,
    pub registering: Option<oneshot::Receiver<(StreamId, Vec<LeaseId>)>>,
    pub strange: Vec<LeaseRef>,
    pub outbox: Option<mpsc::Receiver<ToStream>>,
    /// What the worker said before it was registered.
    pub early: VecDeque<ToCoordinator>,
    pub refs: BTreeMap<u64, LeaseRef>,
    /// What was handed in and not answered yet.
    pub handed_in: BTreeMap<u64, LeaseRef>,
    /// Digests of the results that it handed in, by grant.
    pub digests: BTreeMap<u64, u64>,
}

/// One direction of a stream.
struct Way<T> {
    sent: VecDeque<T>,
    /// Nothing sent from now on arrives earlier.
    busy_until: Duration,
}

impl<T> Default for Way<T> {
    fn default() -> Self {
        Self {
            sent: VecDeque::new(),
            busy_until: Duration::ZERO,
        }
    }
}

impl<T> Way<T> {
    /// Sends a message; answers when it arrives.
    fn send(&mut self, message: T, at: Duration) -> Duration {
        self.sent.push_back(message);
        self.busy_until = self.busy_until.max(at);
        self.busy_until
    }
}

impl World {
    pub fn open_stream(&mut self, worker: usize) {
        self.last_stream += 1;
        let number = self.last_stream;
        let known = &mut self.workers[worker];
        known.stream = Some(number);
        let stream = Stream {
            worker,
            life: known.life,
            coordinator: known.at,
            term: 0,
            up: Way::default(),
            down: Way::default(),
            is_cut: false,
            worker_end: true,
            owner_end: true,
            id: None,
            registering: None,
            strange: Vec::new(),
            outbox: None,
            early: VecDeque::new(),
            refs: BTreeMap::new(),
            handed_in: BTreeMap::new(),
            digests: BTreeMap::new(),
        };
        self.streams.insert(number, stream);
    }

    pub fn send_up(&mut self, number: u64, message: ToCoordinator) {
        let at = self.now + self.delay();
        if let Some(stream) = self.whole(number) {
            let at = stream.up.send(message, at);
            self.at(at, Event::Up(number));
        }
    }

    pub fn send_down(&mut self, number: u64, message: FromCoordinator) {
        let at = self.now + self.delay();
        if let Some(stream) = self.whole(number) {
            let at = stream.down.send(message, at);
            self.at(at, Event::Down(number));
        }
    }

    /// A stream over which something still arrives.
    fn whole(&mut self, number: u64) -> Option<&mut Stream> {
        let stream = self.streams.get_mut(&number);
        stream.filter(|stream| !stream.is_cut)
    }

    fn delay(&mut self) -> Duration {
        match self.chance.once_in(40) {
            true => self.chance.ms(100, 4_000),
            false => self.chance.ms(1, 40),
        }
    }

    /// Nothing arrives any more, apart from some of what is on its way. One end may be gone already.
    pub fn cut(&mut self, number: u64, worker_is_gone: bool) {
        let keep = self.chance.below(4) as usize;
        let Some(stream) = self.streams.get_mut(&number) else {
            return;
        };
        stream.up.sent.truncate(keep);
        stream.down.sent.truncate(keep);
        stream.is_cut = true;
        stream.worker_end &= !worker_is_gone;
        let worker_notices = self.chance.ms(0, 20_000);
        let owner_notices = self.chance.ms(0, 20_000);
        self.after(worker_notices, Event::WorkerNotices(number, false));
        self.after(owner_notices, Event::OwnerNotices(number));
    }

    /// The coordinator's end is gone: the process has died or is in charge no longer.
    pub fn hang_up(&mut self, number: u64, refused: bool) {
        let soon = self.chance.ms(1, 300);
        if let Some(stream) = self.streams.get_mut(&number) {
            stream.owner_end = false;
            self.after(soon, Event::WorkerNotices(number, refused));
        }
    }

    pub fn worker_notices(&mut self, number: u64, refused: bool) {
        let Some(stream) = self.streams.get_mut(&number) else {
            return;
        };
        let (worker, is_there) = (stream.worker, stream.worker_end);
        stream.worker_end = false;
        let current = self.workers[worker].stream == Some(number);
        if is_there && current && self.workers[worker].up {
            self.disconnect(worker, refused);
        }
        self.forget(number);
    }

    pub fn owner_notices(&mut self, number: u64) -> Outcome {
        let Some(stream) = self.streams.get_mut(&number) else {
            return Ok(());
        };
        let (is_there, coordinator, term) = (stream.owner_end, stream.coordinator, stream.term);
        stream.owner_end = false;
        let id = stream.id;
        self.forget(number);
        match id.filter(|_| is_there && self.coordinators[coordinator].term == term) {
            Some(stream) => self.tell(coordinator, Message::Leave { stream }),
            None => Ok(()),
        }
    }

    fn forget(&mut self, number: u64) {
        let gone = |stream: &Stream| !stream.worker_end && !stream.owner_end;
        if self.streams.get(&number).is_some_and(gone) {
            self.streams.remove(&number);
        }
    }

    /// The worker hears what is first on its way down.
    pub fn deliver_down(&mut self, number: u64) {
        let Some(stream) = self.streams.get_mut(&number) else {
            return;
        };
        let (worker, life) = (stream.worker, stream.life);
        let message = stream.down.sent.pop_front().filter(|_| stream.worker_end);
        let known = &self.workers[worker];
        if let Some(message) = message
            && known.up
            && known.life == life
            && known.stream == Some(number)
        {
            self.hear(worker, message);
        }
    }

    /// The coordinator hears what is first on its way up.
    pub fn deliver_up(&mut self, number: u64) -> Outcome {
        let Some(stream) = self.streams.get_mut(&number) else {
            return Ok(());
        };
        let coordinator = stream.coordinator;
        let Some(message) = stream.up.sent.pop_front().filter(|_| stream.owner_end) else {
            return Ok(());
        };
        let known = &self.coordinators[coordinator];
        let in_charge = known.up && known.owner.is_some();
        if !in_charge || (stream.term != 0 && stream.term != known.term) {
            self.hang_up(number, true);
            return Ok(());
        }
        stream.term = known.term;
        if stream.id.is_none() && stream.registering.is_some() {
            stream.early.push_back(message);
            return Ok(());
        }
        let twice = matches!(message, ToCoordinator::HandIn(_)) && self.chance.once_in(8);
        if twice {
            self.on_said(number, message.clone())?;
        }
        self.on_said(number, message)
    }
}
