//! Who asks the limiter: the one asker of a line for everybody who waits, and the
//! first caller for himself. Owns what becomes of an answer, and of callers for whom
//! waiting is in vain. Part of `admission/line.rs`.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::tasks::with_causes;
use tokio::sync::MutexGuard;

use super::heads::{self, Asked, Heads};
use super::spares::Order;
use super::{Admitted, Grant, LONGEST_SLEEP, Line, Waiter};
use crate::admission::{AdmissionError, Ask, Batch, Reservation, Verdict};
use crate::fairness::queue::Entry;
use crate::lanes::{Lane, LaneKey, LaneTerms};

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

/// The store answers or has failed within this.
const LONGEST_ASK: Duration = Duration::from_secs(6);

impl Line {
    /// Serves the line until it is closed.
    pub async fn serve(&self, lane: &Lane) {
        let limiter = lane.limiter.as_ref();
        let mut store_delays = Delays::new(STORE_DELAYS);
        loop {
            // Also while callers wait, who may not use them.
            self.take_back(self.spares.stale(Instant::now()));
            self.returns.settle(lane, limiter).await;
            if self.closed.load(Ordering::Relaxed) {
                // Those who are being asked for, and what they get and do not want.
                let _desk = tokio::time::timeout(LONGEST_ASK, self.desk.lock()).await;
                self.close();
                return self.returns.settle(lane, limiter).await;
            }
            if self.queue.lock().is_empty() {
                self.fetch_spares(lane).await;
                let owed = (!self.returns.is_empty()).then(|| Instant::now() + STORE_DELAYS.cap);
                tokio::select! {
                    () = self.arrived.notified() => {}
                    () = self.freed.notified() => {}
                    () = sleep_until(self.spares.next_stale()) => {}
                    () = sleep_until(owed) => {}
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
                    // What lies at hand for nobody may be what they wait for.
                    self.recall(None);
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

    /// Submits the heads for a caller who found nobody before him. Whoever is
    /// left over is the asker's.
    pub(super) async fn ask_first(&self, lane: &Lane, desk: MutexGuard<'_, ()>, own: Heads<'_>) {
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
        let asks = asked.open.iter().map(|entry| Ask {
            again: entry.call.doubtful,
            ..Ask::of(&entry.call.want, &entry.place)
        });
        let asks: Vec<Ask> = asks.collect();
        match submit(lane, &terms, &ready, &asks, &waiting).await {
            Ok(verdict) => self.hand_out(asked, verdict, &ready),
            Err(error) => {
                if let Some(failures) = self.store_away.note() {
                    let error = with_causes(&error);
                    tracing::warn!(error, failures, "limits cannot be taken, callers wait");
                }
                self.send_away(asked);
                Next::StoreAway
            }
        }
    }

    /// Fetches the grants that teams should have at hand.
    async fn fetch_spares(&self, lane: &Lane) {
        let now = Instant::now();
        let orders = self.spares.orders(now);
        if orders.is_empty() {
            return;
        }
        let terms = lane.terms();
        // A server that is being tried out gets no more than its callers need.
        let ready: Vec<&LaneKey> = terms
            .usable_keys()
            .filter(|key| key.room(now).is_none())
            .collect();
        let asks: Vec<Ask> = orders.iter().flat_map(Order::asks).collect();
        let waiting: Vec<_> = orders.iter().map(Order::team).collect();
        let granted = if ready.is_empty() {
            Vec::new()
        } else {
            let told = submit(lane, &terms, &ready, &asks, &waiting).await;
            told.map(|verdict| verdict.granted).unwrap_or_else(|_| {
                // Who waits for the store complains of it.
                self.returns.note_lost(asks);
                Vec::new()
            })
        };
        let mut granted = granted.into_iter();
        for order in &orders {
            let mut grants = Vec::with_capacity(order.len());
            for reservation in granted.by_ref().take(order.len()).flatten() {
                match key_of(&ready, &reservation) {
                    Some(key) => grants.push((reservation, key.clone())),
                    None => self.take_back(vec![reservation]),
                }
            }
            self.take_back(self.spares.fetched(order, grants));
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

    /// Answers those who do not wait for the store. The others are asked for again,
    /// since nobody knows with what result they were.
    fn send_away(&self, asked: Asked<'_>) {
        let (open, held_back) = asked.answered();
        let goes = |entry: &Entry<Waiter>| entry.call.want.only_with_store && !entry.call.denied;
        let (gone, open): (Vec<_>, Vec<_>) = open.into_iter().partition(goes);
        for mut entry in gone {
            entry.call.doubtful = true;
            self.queue.lock().correct(&entry.place, entry.cost, 0);
            self.returns.note_doubtful(&entry.call, &entry.place);
            let _ = entry.call.answer.send(Admitted::StoreAway);
        }
        drop(Asked::of(self, (open, held_back)));
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
                    entry.call.denied = true;
                    denied.push(entry);
                }
                continue;
            };
            let Some(key) = key_of(ready, &reservation) else {
                self.returns.add(reservation);
                self.wake();
                denied.push(entry);
                continue;
            };
            let (place, counted) = (entry.place.clone(), entry.cost);
            if let Some(unwanted) = entry.grant(reservation, key) {
                self.correct(&place, counted, 0);
                self.returns.add(unwanted);
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

/// Asks for grants on keys that are ready.
async fn submit(
    lane: &Lane,
    terms: &LaneTerms,
    ready: &[&LaneKey],
    asks: &[Ask],
    waiting: &[(String, f64)],
) -> Result<Verdict, AdmissionError> {
    let now = Instant::now();
    let candidates: Vec<_> = ready.iter().map(|key| key.candidate(now)).collect();
    let batch = Batch {
        pool: &lane.pool,
        lane: &lane.name,
        asker: &lane.asker,
        burst: terms.burst,
        candidates: &candidates,
        asks,
        waiting,
    };
    lane.limiter.reserve(&batch).await
}

/// The key that was granted.
fn key_of<'a>(ready: &[&'a LaneKey], granted: &Reservation) -> Option<&'a LaneKey> {
    let mut ready = ready.iter().copied();
    ready.find(|key| key.key.id == granted.key)
}

impl Entry<Waiter> {
    /// Tells the caller. What it does not want any more comes back.
    pub(super) fn grant(self, reservation: Reservation, key: &LaneKey) -> Option<Reservation> {
        let grant = Grant {
            reservation,
            key: key.clone(),
            turn: key.health.begin(Instant::now()),
        };
        let told = self.call.answer.send(Admitted::Granted(Box::new(grant)));
        match told {
            Err(Admitted::Granted(unwanted)) => Some(unwanted.reservation),
            _ => None,
        }
    }
}

/// Never, when there is no such time.
async fn sleep_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time.into()).await,
        None => std::future::pending().await,
    }
}

/// What the asker does next.
enum Next {
    Now,
    After(Duration),
    StoreAway,
}
