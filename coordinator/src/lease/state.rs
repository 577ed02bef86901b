//! What the lease actor decides: whose turn it is, when to ask the store, when to sweep.
//! Synchronous; the store and the streams are the actor's business.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::messages::{LeaseStatus, StreamId};

/// Sessions in one grant. Small enough that a short queue is spread over several workers, large
/// enough that a long one is handed out quickly.
const BATCH: usize = 16;

/// A worker counts as there for this many greetings' time.
pub(super) const GREETINGS_PER_TTL: u32 = 3;

/// What the actor must do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Lease sessions and send them to a stream, then report how many there were.
    Lease {
        /// The stream.
        stream: StreamId,
        /// Its worker.
        worker: String,
        /// At most so many.
        most: usize,
    },
    /// Put back sessions whose leases have run out.
    Sweep,
    /// Note in the store that these workers are there.
    Greet(Vec<String>),
}

/// What came of a request to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// So many sessions are on their way to the worker.
    Sent(usize),
    /// The worker's stream could not take them; they were given back.
    GivenBack,
    /// The store failed.
    Failed,
}

#[derive(Debug)]
struct Connected {
    worker: String,
    free: usize,
    /// Leases sent over this stream.
    sent: u64,
    /// The store had less for it than it asked for. That may be for others all the same: a worker
    /// that holds a suspect gets nothing.
    dry: bool,
}

/// See the module.
#[derive(Debug)]
pub(super) struct LeaseState {
    streams: BTreeMap<StreamId, Connected>,
    next_stream: u64,
    /// The stream that was served last; the next one's turn is after it.
    served: StreamId,
    /// One request at a time: which stream gets what is decided here, not by the store's speed.
    leasing: bool,
    /// Something was queued while a request was under way that may have come too late for it.
    queued_meanwhile: bool,
    draining: bool,
    greet_every: Duration,
    greeted: Option<Instant>,
}

impl LeaseState {
    pub(super) fn new(greet_every: Duration) -> Self {
        Self {
            streams: BTreeMap::new(),
            next_stream: 1,
            served: StreamId(0),
            leasing: false,
            queued_meanwhile: false,
            draining: false,
            greet_every,
            greeted: None,
        }
    }

    /// A worker has connected.
    pub(super) fn on_entered(&mut self, worker: String) -> (StreamId, Vec<Effect>) {
        let stream = StreamId(self.next_stream);
        self.next_stream += 1;
        self.streams.insert(
            stream,
            Connected {
                worker: worker.clone(),
                free: 0,
                sent: 0,
                dry: false,
            },
        );
        (stream, vec![Effect::Greet(vec![worker])])
    }

    /// A worker said how many places it had free after so many leases had reached it over this
    /// stream. What was on its way to it at that moment takes places, too.
    pub(super) fn on_free_places(
        &mut self,
        stream: StreamId,
        places: usize,
        received: Option<u64>,
    ) -> Vec<Effect> {
        if let Some(connected) = self.streams.get_mut(&stream) {
            let under_way = received.map_or(0, |received| connected.sent.saturating_sub(received));
            let under_way = usize::try_from(under_way).unwrap_or(usize::MAX);
            connected.free = places.saturating_sub(under_way);
        }
        self.next()
    }

    /// A stream has ended.
    pub(super) fn on_left(&mut self, stream: StreamId) {
        self.streams.remove(&stream);
    }

    /// Something may have been queued.
    pub(super) fn on_queued(&mut self) -> Vec<Effect> {
        for connected in self.streams.values_mut() {
            connected.dry = false;
        }
        self.queued_meanwhile = self.leasing;
        self.next()
    }

    /// A request for `asked` sessions has been answered. When the store failed, the next sweep
    /// asks again; a stream that could not take its sessions gets more when its worker says anew
    /// how many places it has.
    pub(super) fn on_leased(
        &mut self,
        stream: StreamId,
        asked: usize,
        answer: Answer,
    ) -> Vec<Effect> {
        self.leasing = false;
        let got_all = match answer {
            Answer::Sent(sessions) => sessions >= asked,
            Answer::GivenBack => true,
            Answer::Failed => false,
        };
        let queued_meanwhile = std::mem::take(&mut self.queued_meanwhile);
        if let Some(connected) = self.streams.get_mut(&stream) {
            match answer {
                Answer::Sent(sessions) => {
                    connected.free = connected.free.saturating_sub(sessions);
                    connected.sent += sessions as u64;
                }
                Answer::GivenBack => connected.free = 0,
                Answer::Failed => {}
            }
            connected.dry = !got_all && !queued_meanwhile;
        }
        self.next()
    }

    /// Time to sweep. Asks the store again, too, in case an announcement was missed.
    pub(super) fn on_sweep_due(&mut self, now: Instant) -> Vec<Effect> {
        let mut effects = vec![Effect::Sweep];
        let greeting_due = self
            .greeted
            .is_none_or(|greeted| now.duration_since(greeted) >= self.greet_every);
        if greeting_due && !self.streams.is_empty() {
            self.greeted = Some(now);
            let workers = self
                .streams
                .values()
                .map(|connected| connected.worker.clone());
            effects.push(Effect::Greet(workers.collect()));
        }
        effects.extend(self.on_queued());
        effects
    }

    /// The coordinator stops: nothing is leased any more.
    pub(super) fn on_drain(&mut self) {
        self.draining = true;
    }

    /// How many workers are connected, and how many places they have free.
    pub(super) fn load(&self) -> (usize, usize) {
        let free = self.streams.values().map(|connected| connected.free).sum();
        (self.streams.len(), free)
    }

    pub(super) fn is_draining(&self) -> bool {
        self.draining
    }

    pub(super) fn status(&self) -> LeaseStatus {
        let workers = self.streams.values();
        LeaseStatus {
            workers: workers
                .map(|connected| (connected.worker.clone(), connected.free))
                .collect(),
            draining: self.draining,
        }
    }

    /// Asks the store for the stream whose turn it is, when there is reason to.
    fn next(&mut self) -> Vec<Effect> {
        if self.draining || self.leasing {
            return Vec::new();
        }
        let later = (
            std::ops::Bound::Excluded(self.served),
            std::ops::Bound::Unbounded,
        );
        let waiting = self
            .streams
            .range(later)
            .chain(self.streams.range(..=self.served));
        let Some((stream, connected)) = waiting
            .into_iter()
            .find(|(_, other)| other.free > 0 && !other.dry)
        else {
            return Vec::new();
        };
        let stream = *stream;
        let most = connected.free.min(BATCH);
        let worker = connected.worker.clone();
        self.leasing = true;
        self.queued_meanwhile = false;
        self.served = stream;
        vec![Effect::Lease {
            stream,
            worker,
            most,
        }]
    }
}
