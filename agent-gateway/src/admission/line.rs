//! The waiting line of one lane in one replica. Callers wait in a fair queue;
//! one asker submits its heads to the limiter, sleeps as long as it is told or
//! until something is settled, and so nobody polls and nobody is refused for lack
//! of quota. Who comes when nobody waits or asks submits himself, which saves him
//! the way over the asker. Called by `lanes.rs`; the asker runs as a task of
//! `routes.rs`.

mod heads;
mod returns;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::tasks::with_causes;
use parking_lot::Mutex;
use tokio::sync::{MutexGuard, Notify, oneshot};

use super::charging::Charges;
use super::{Ask, Batch, Reservation, Verdict};
use crate::complaint::Complaint;
use crate::fairness::queue::{Entry, FairQueue, Place};
use crate::health::Turn;
use crate::keys::KeyId;
use crate::lanes::{Lane, LaneKey};
use heads::{Asked, Heads};
use returns::Returns;

/// A hold or a change of another replica's making is noticed this soon even when
/// the limiter promised a longer wait, and teams that wait are heard of often
/// enough to keep their share.
const LONGEST_SLEEP: Duration = Duration::from_millis(200);

/// After a denial nobody is asked again sooner, however much is settled.
const SHORTEST_SLEEP: Duration = Duration::from_millis(1);

/// Between asks while the limiter's store is away; its callers wait.
const STORE_DELAYS: DelayPolicy = DelayPolicy {
    initial: Duration::from_millis(50),
    factor: 2.0,
    cap: Duration::from_secs(1),
    jitter: 0.2,
    give_up_after: None,
};

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
    /// There is another model to go to: do not wait for a circuit to close.
    pub has_alternative: bool,
    /// How much longer to wait while every key's circuit is open.
    pub patience: Duration,
    /// Only if it can be had at once.
    pub only_now: bool,
}

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
    /// It cannot be had at once.
    NotNow,
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
    pub turn: Turn,
}

/// Callers that wait, and what wakes their asker.
#[derive(Default)]
pub struct Line {
    queue: Mutex<FairQueue<Waiter>>,
    arrived: Notify,
    freed: Notify,
    /// Nobody may wait here any more.
    closed: AtomicBool,
    /// Held by who submits heads: one at a time, so that they keep their order.
    desk: tokio::sync::Mutex<()>,
    /// Granted, or perhaps granted, to callers that had gone.
    returns: Returns,
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
    /// It was asked for and the answer was lost.
    doubtful: bool,
    since: Instant,
    down_before: Duration,
    answer: oneshot::Sender<Admitted>,
}

impl Line {
    /// Waits until the call may be made, or never can. The place in the line is
    /// taken at once, so that the future is small: thousands wait. It may be
    /// dropped at any time: the place is given up, and what was granted meanwhile
    /// is given back.
    pub fn admit<'a>(
        &'a self,
        lane: &'a Lane,
        place: &'a Place,
        want: Box<Want>,
    ) -> impl Future<Output = Admitted> + use<'a> {
        let (answer, answered) = oneshot::channel();
        let cost = want.charges.cost;
        let waiter = Waiter {
            want,
            doubtful: false,
            since: Instant::now(),
            down_before: self.down(),
            answer,
        };
        let taken = {
            let mut queue = self.queue.lock();
            (!self.closed.load(Ordering::Relaxed)).then(|| {
                let desk = self.desk.try_lock().ok().filter(|_| queue.is_empty());
                let ticket = queue.push(place.clone(), cost, waiter);
                (
                    ticket,
                    desk.map(|desk| (desk, Heads::alone(self, &mut queue))),
                )
            })
        };
        let taken = taken.map(|(ticket, desk)| {
            let waiting = Waiting {
                line: self,
                place,
                ticket,
                answered,
                over: false,
            };
            (waiting, desk)
        });
        async move {
            let Some((mut waiting, desk)) = taken else {
                return Admitted::Closed;
            };
            match desk {
                // Boxed, because thousands wait and few ask.
                Some((desk, own)) => Box::pin(self.ask_first(lane, desk, own)).await,
                None => self.arrived.notify_one(),
            }
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

    /// Serves the line until it is closed.
    pub async fn serve(&self, lane: &Lane) {
        let limiter = lane.limiter.as_ref();
        let mut store_delays = Delays::new(STORE_DELAYS);
        loop {
            self.returns.settle(lane, limiter).await;
            if self.closed.load(Ordering::Relaxed) {
                // Those who were being asked for when it was closed.
                self.close();
                return self.returns.settle(lane, limiter).await;
            }
            if self.queue.lock().is_empty() {
                tokio::select! {
                    () = self.arrived.notified() => {}
                    () = self.freed.notified() => {}
                }
                continue;
            }
            // Only for the order: whoever sits at the desk and does not go on must
            // not hold up the others.
            let desk = tokio::time::timeout(LONGEST_SLEEP, self.desk.lock()).await;
            let heads = Heads::next(self, &mut self.queue.lock());
            let next = self.ask(lane, heads).await;
            drop(desk);
            match next {
                Next::Now => store_delays = Delays::new(STORE_DELAYS),
                Next::After(wait) => {
                    store_delays = Delays::new(STORE_DELAYS);
                    let wait = wait.clamp(SHORTEST_SLEEP, LONGEST_SLEEP);
                    tokio::time::sleep(SHORTEST_SLEEP).await;
                    tokio::select! {
                        () = tokio::time::sleep(wait - SHORTEST_SLEEP) => {}
                        () = self.freed.notified() => {}
                    }
                }
                Next::StoreAway => {
                    let delay = store_delays.next_delay().unwrap_or(STORE_DELAYS.cap);
                    tokio::time::sleep(delay).await;
                }
            }
        }
    }

    /// Answers everybody who waits or comes later: the model is gone from here.
    pub fn close(&self) {
        let entries = {
            let mut queue = self.queue.lock();
            self.closed.store(true, Ordering::Relaxed);
            queue.take(usize::MAX)
        };
        for entry in entries {
            let _ = entry.call.answer.send(Admitted::Closed);
        }
        self.wake();
    }

    /// Submits the heads for a caller who found nobody before him. Whoever is
    /// left over is the asker's.
    async fn ask_first(&self, lane: &Lane, desk: MutexGuard<'_, ()>, own: Heads<'_>) {
        let next = self.ask(lane, own).await;
        drop(desk);
        if self.closed.load(Ordering::Relaxed) {
            // Those who were being asked for when it was closed.
            self.close();
        }
        match next {
            Next::Now => {}
            Next::After(_) | Next::StoreAway => self.arrived.notify_one(),
        }
    }

    /// Submits heads once. May be dropped at any time: who was asked for is then
    /// asked for again, since nobody knows with what result.
    async fn ask(&self, lane: &Lane, heads: Heads<'_>) -> Next {
        let now = Instant::now();
        let terms = lane.terms();
        let usable: Vec<&LaneKey> = terms.usable_keys().collect();
        let ready: Vec<&LaneKey> = usable
            .iter()
            .copied()
            .filter(|key| key.room(now) != Some(0))
            .collect();
        let Heads { waiting, asked } = heads;
        let (entries, _) = asked.answered();
        let open = self.answer_hopeless(entries, &usable, ready.is_empty(), now);
        if open.is_empty() {
            return Next::Now;
        }
        if ready.is_empty() {
            self.queue.lock().put_back(open);
            let look = usable.iter().filter_map(|key| key.next_look(now)).min();
            return Next::After(look.map_or(LONGEST_SLEEP, |at| at.saturating_duration_since(now)));
        }
        let asked = Asked::of(self, heads::submitted(open));
        let candidates: Vec<_> = ready.iter().map(|key| key.candidate(now)).collect();
        let asks: Vec<Ask> = asked.open.iter().map(Ask::of).collect();
        let batch = Batch {
            pool: &lane.pool,
            lane: &lane.name,
            asker: &lane.asker,
            burst: terms.burst,
            candidates: &candidates,
            asks: &asks,
            waiting: &waiting,
        };
        match lane.limiter.reserve(&batch).await {
            Ok(verdict) => self.hand_out(asked, verdict, &ready),
            Err(error) => {
                if let Some(failures) = self.store_away.note() {
                    let error = with_causes(&error);
                    tracing::warn!(error, failures, "limits cannot be taken, callers wait");
                }
                drop(asked);
                Next::StoreAway
            }
        }
    }

    /// Answers those for whom waiting is in vain; gives back the others.
    fn answer_hopeless(
        &self,
        entries: Vec<Entry<Waiter>>,
        usable: &[&LaneKey],
        none_ready: bool,
        now: Instant,
    ) -> Vec<Entry<Waiter>> {
        let mut open = Vec::with_capacity(entries.len());
        let down = !usable.is_empty() && usable.iter().all(|key| key.is_down(now));
        let total = self.down.lock().note(down, now);
        for entry in entries {
            // It went away while it was being asked for.
            if entry.call.answer.is_closed() {
                self.queue.lock().correct(&entry.place, entry.cost, 0);
                self.returns.note_doubtful(&entry.call, &entry.place);
                continue;
            }
            let except = &entry.call.want.except;
            let hopeless = if usable.is_empty() {
                Some(Admitted::NoKeyLeft)
            } else if usable.iter().all(|key| except.contains(&key.key.id)) {
                Some(Admitted::NoOtherKey)
            } else if down
                && total.saturating_sub(entry.call.down_before) >= entry.call.want.patience
            {
                Some(Admitted::PatienceOver)
            } else if none_ready && usable.iter().all(|key| key.circuit_is_open(now)) {
                let alternative = entry.call.want.has_alternative;
                alternative.then_some(Admitted::CircuitOpen)
            } else if none_ready && entry.call.want.only_now {
                Some(Admitted::NotNow)
            } else {
                None
            };
            match hopeless {
                None => open.push(entry),
                Some(answer) => {
                    self.queue.lock().correct(&entry.place, entry.cost, 0);
                    self.returns.note_doubtful(&entry.call, &entry.place);
                    let _ = entry.call.answer.send(answer);
                }
            }
        }
        open
    }

    fn hand_out(&self, asked: Asked<'_>, verdict: Verdict, ready: &[&LaneKey]) -> Next {
        let (open, held_back) = asked.answered();
        let mut denied = Vec::new();
        for (mut entry, granted) in open.into_iter().zip(verdict.granted) {
            entry.call.doubtful = false;
            let Some(reservation) = granted else {
                if entry.call.want.only_now {
                    self.queue.lock().correct(&entry.place, entry.cost, 0);
                    let _ = entry.call.answer.send(Admitted::NotNow);
                } else {
                    denied.push(entry);
                }
                continue;
            };
            let Some(key) = ready.iter().find(|key| key.key.id == reservation.key) else {
                self.returns.add(reservation);
                self.wake();
                denied.push(entry);
                continue;
            };
            let grant = Grant {
                reservation,
                key: (*key).clone(),
                turn: key.health.begin(Instant::now()),
            };
            let granted = Admitted::Granted(Box::new(grant));
            if let Err(Admitted::Granted(unwanted)) = entry.call.answer.send(granted) {
                self.returns.add(unwanted.reservation);
                self.wake();
            }
        }
        let next = if denied.is_empty() {
            Next::Now
        } else {
            Next::After(verdict.wait)
        };
        heads::put_back(&mut self.queue.lock(), denied, held_back);
        next
    }
}

/// What the asker does next.
enum Next {
    Now,
    After(Duration),
    StoreAway,
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
        if let Some(waiter) = left {
            self.line.returns.note_doubtful(&waiter, self.place);
        }
        self.answered.close();
        if let Ok(Admitted::Granted(unwanted)) = self.answered.try_recv() {
            self.line.returns.add(unwanted.reservation);
            self.line.wake();
        }
    }
}
