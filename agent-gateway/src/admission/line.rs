//! The waiting line of one lane in one replica. Callers wait in a fair queue;
//! one asker submits its heads to the limiter, sleeps as long as it is told or
//! until something is settled, and so nobody polls and nobody is refused for lack
//! of quota. Called by `line/lane.rs`; the asker runs as a task of `routes.rs`.

pub(crate) mod accounts;
mod asker;
mod heads;
pub(crate) mod lane;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_service_kit::complaint::Complaint;
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use super::charging::Charges;
use super::messages::settlement;
use super::{Charge, Limiter, Reservation};
use crate::fairness::queue::{FairQueue, Place};
use crate::health::Permit;
use crate::keys::KeyId;
use crate::outbox::{Outbox, OutboxMessage};
use crate::store_error::StoreError;

use crate::limits::Signals;
use lane::LaneKey;

/// A hold or a change of another replica's making is noticed this soon even when
/// the limiter promised a longer wait, and teams that wait are heard of often
/// enough to keep their share.
const LONGEST_SLEEP: Duration = Duration::from_millis(200);

/// What a caller wants from its line.
#[derive(Clone, Debug)]
pub struct Want {
    /// Names the attempt among all replicas.
    pub attempt: String,
    /// What the call takes.
    pub charges: Charges,
    /// When it counts as lost.
    pub lasts: Duration,
    /// Keys that have been tried in vain.
    pub except: Vec<KeyId>,
    /// There is another model to go to: do not wait for a circuit to close, nor for quota for
    /// longer than patience lasts.
    pub has_alternative: bool,
    /// How much longer to wait while every key's circuit is open, or where there is an
    /// alternative.
    pub patience: Duration,
    /// Only if it can be had at once.
    pub only_now: bool,
    /// Do not wait for a store that is away.
    pub leaves_without_store: bool,
}

/// A place that nobody here waits for is given back with the next question to the store, which saves
/// every other trip to it; or after so long, since other replicas may wait.
const SETTLED_WITHIN: Duration = Duration::from_millis(5);

/// How waiting ended.
pub enum Admitted {
    /// The call may be made with this key.
    Granted(Box<Grant>),
    /// Every key is out of use.
    NoKeyLeft,
    /// Every key that is left has been tried in vain.
    NoOtherKey,
    /// Every key's circuit is open, and the caller has an alternative.
    CircuitOpen,
    /// Every key's circuit was open for as long as the caller is patient.
    PatienceOver,
    /// There is no quota for so long, and the caller has an alternative.
    QuotaLater(Duration),
    /// It cannot be had at once.
    NotNow,
    /// The store of the limits is away, and the caller does not wait for it.
    StoreAway(StoreError),
    /// The model is no longer configured.
    Closed,
}

/// A call that may be made.
pub struct Grant {
    /// What was taken for it.
    pub reservation: Reservation,
    /// The key to use.
    pub key: LaneKey,
    /// Its turn at the key; to be told how it ended.
    pub turn: Permit,
}

/// Callers that wait, and what wakes their asker.
pub struct Line {
    queue: Mutex<FairQueue<Waiter>>,
    arrived: Notify,
    freed: Arc<Notify>,
    /// Nobody may wait here any more.
    closed: AtomicBool,
    limiter: Arc<Limiter>,
    outbox: Outbox,
    store_away: Complaint,
    down: Mutex<Down>,
}

/// How long every key's server was down while somebody waited. That time is the
/// provider's failure, unlike other waiting.
#[derive(Default)]
struct Down {
    since_look: Option<Instant>,
    total: Duration,
}

struct Waiter {
    want: Box<Want>,
    /// It was asked for and the answer was lost: what may have been granted, on whichever key.
    perhaps: Option<Reservation>,
    since: Instant,
    down_before: Duration,
    answer: oneshot::Sender<Admitted>,
}

impl Line {
    /// A line in which nobody waits yet.
    pub fn new(limiter: Arc<Limiter>, outbox: Outbox) -> Self {
        Self {
            queue: Mutex::default(),
            arrived: Notify::new(),
            freed: Arc::default(),
            closed: AtomicBool::new(false),
            limiter,
            outbox,
            store_away: Complaint::default(),
            down: Mutex::default(),
        }
    }

    /// Waits until the call may be made, or never can. The place in the line is
    /// taken at once, so that the future is small: thousands wait. It may be
    /// dropped at any time: the place is given up, and what was granted meanwhile
    /// is given back.
    pub fn admit<'a>(
        &'a self,
        place: &'a Place,
        want: Box<Want>,
    ) -> impl Future<Output = Admitted> + use<'a> {
        let (answer, answered) = oneshot::channel();
        let cost = want.charges.cost;
        let waiter = Waiter {
            want,
            perhaps: None,
            since: Instant::now(),
            down_before: self.down(),
            answer,
        };
        let ticket = {
            let mut queue = self.queue.lock();
            let open = !self.closed.load(Ordering::Relaxed);
            open.then(|| queue.push(place.clone(), cost, waiter))
        };
        let waiting = ticket.map(|ticket| Waiting {
            line: self,
            place,
            ticket,
            answered,
            over: false,
        });
        self.arrived.notify_one();
        async move {
            let Some(mut waiting) = waiting else {
                return Admitted::Closed;
            };
            let admitted = (&mut waiting.answered).await;
            waiting.over = true;
            // The asker answers every waiter it takes, also when it ends.
            admitted.unwrap_or(Admitted::Closed)
        }
    }

    /// Lets the asker look again: something was settled, held or changed.
    pub fn wake(&self) {
        self.freed.notify_one();
    }

    /// Settles what a call has used, later if that fails now.
    pub(crate) async fn settle(
        &self,
        reservation: &Reservation,
        used: Charge,
        cost: u64,
        signals: Signals,
    ) {
        let settlement = self.settlement(Duration::ZERO, reservation, used, cost, signals);
        // One that fails stays in the outbox.
        let _ = self.outbox.send(settlement).await;
        self.wake();
    }

    /// Settles in the background what a call has used.
    pub(crate) fn settle_later(
        &self,
        reservation: &Reservation,
        used: Charge,
        cost: u64,
        signals: Signals,
    ) {
        // Nobody here waits for the place.
        let within = match self.is_idle() {
            true => SETTLED_WITHIN,
            false => Duration::ZERO,
        };
        let settlement = self.settlement(within, reservation, used, cost, signals);
        self.outbox.post(settlement);
    }

    fn settlement(
        &self,
        within: Duration,
        reservation: &Reservation,
        used: Charge,
        cost: u64,
        signals: Signals,
    ) -> OutboxMessage {
        let (limiter, freed) = (Arc::clone(&self.limiter), Arc::clone(&self.freed));
        let reservation = reservation.clone();
        settlement(limiter, within, reservation, used, cost, signals, freed)
    }

    /// Nobody wants what was granted, or perhaps was. Settling what was not granted does
    /// nothing.
    fn give_back(&self, unused: Reservation) {
        self.settle_later(&unused, Charge::default(), 0, Signals::default());
    }

    /// Tells a caller that he waits in vain.
    fn turn_away(&self, waiter: Waiter, answer: Admitted) {
        if let Some(granted) = waiter.perhaps {
            self.give_back(granted);
        }
        // Whoever has gone needs no answer.
        let _ = waiter.answer.send(answer);
    }

    /// How long every key's server was down while somebody waited, in all.
    pub fn down(&self) -> Duration {
        self.down.lock().total
    }

    /// Nobody waits.
    pub fn is_idle(&self) -> bool {
        self.queue.lock().is_empty()
    }

    /// Counts for a served call what it really took of its shares.
    pub fn correct(&self, place: &Place, counted: u64, really: u64) {
        if counted != really {
            self.queue.lock().correct(place, counted, really);
        }
    }

    /// Teams that wait: name, calls, and the longest wait.
    pub fn waiting(&self) -> Vec<(Arc<str>, u64, Duration)> {
        let queue = self.queue.lock();
        let mut teams: Vec<_> = queue
            .teams()
            .map(|(team, _, calls)| (Arc::clone(team), calls as u64, Duration::ZERO))
            .collect();
        queue.for_each(|entry| {
            let waited = entry.call.since.elapsed();
            if let Some(team) = teams
                .iter_mut()
                .find(|(name, ..)| *name == entry.place.team)
            {
                team.2 = team.2.max(waited);
            }
        });
        teams
    }

    /// Answers everybody who waits or comes later: the model is gone from here.
    pub fn close(&self) {
        let entries = {
            let mut queue = self.queue.lock();
            self.closed.store(true, Ordering::Relaxed);
            queue.take(usize::MAX)
        };
        for entry in entries {
            self.turn_away(entry.call, Admitted::Closed);
        }
        self.wake();
    }
}

impl Down {
    /// Called at each look of the asker; between two that find every key down
    /// they were.
    fn note(&mut self, down: bool, now: Instant) -> Duration {
        let before = self.since_look.replace(now).filter(|_| down);
        if !down {
            self.since_look = None;
        }
        if let Some(before) = before {
            // When nobody waited nobody looked.
            self.total += now.saturating_duration_since(before).min(2 * LONGEST_SLEEP);
        }
        self.total
    }
}

/// Gives up the place of a caller that goes away.
struct Waiting<'a> {
    line: &'a Line,
    place: &'a Place,
    ticket: u64,
    answered: oneshot::Receiver<Admitted>,
    over: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let left = self.line.queue.lock().remove(self.place, self.ticket);
        if let Some(granted) = left.and_then(|waiter| waiter.perhaps) {
            self.line.give_back(granted);
        }
        self.answered.close();
        if let Ok(Admitted::Granted(unwanted)) = self.answered.try_recv() {
            let counted = unwanted.reservation.share.cost;
            self.line.correct(self.place, counted, 0);
            self.line.give_back(unwanted.reservation);
        }
        self.line.wake();
    }
}
