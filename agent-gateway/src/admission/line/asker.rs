//! The one asker of a line, who asks the limiter for everybody who waits. Owns what
//! becomes of an answer, and of callers for whom waiting is in vain. Part of
//! `admission/line.rs`.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::tasks::with_causes;

use super::accounts::{self, candidates};
use super::heads::{self, Heads};
use super::lane::{Lane, LaneKey, LaneTerms};
use super::{Admitted, Grant, LONGEST_SLEEP, Line, Waiter, Want};
use crate::admission::{Ask, Batch, Reservation, Verdict};
use crate::fairness::queue::Entry;

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

impl Line {
    /// Serves the line until it is closed.
    pub async fn serve(&self, lane: &Lane) {
        let mut store_delays = Delays::new(STORE_DELAYS);
        loop {
            if self.closed.load(Ordering::Relaxed) {
                // Those who were being asked for when it was closed.
                return self.close();
            }
            if self.queue.lock().is_empty() {
                tokio::select! {
                    () = self.arrived.notified() => {}
                    () = self.freed.notified() => {}
                }
                continue;
            }
            match self.ask(lane).await {
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

    /// Submits the heads once.
    async fn ask(&self, lane: &Lane) -> Next {
        let Heads { waiting, entries } = Heads::next(&mut self.queue.lock());
        let now = Instant::now();
        let terms = lane.terms();
        let usable: Vec<&LaneKey> = terms.usable_keys(now).collect();
        let ready: Vec<&LaneKey> = usable
            .iter()
            .copied()
            .filter(|key| key.room(now) != Some(0))
            .collect();
        let open = self.answer_hopeless(entries, &usable, ready.is_empty(), now);
        if open.is_empty() {
            return Next::Now;
        }
        if ready.is_empty() {
            self.queue.lock().put_back(open);
            let look = usable.iter().filter_map(|key| key.next_look(now)).min();
            return Next::After(look.map_or(LONGEST_SLEEP, |at| at.saturating_duration_since(now)));
        }
        let (mut open, held_back) = heads::submitted(open);
        let asks: Vec<Ask> = open
            .iter()
            .map(|entry| entry.call.ask(&entry.place, &ready))
            .collect();
        let candidates = candidates(&ready, now);
        let batch = Batch {
            pool: &lane.pool,
            lane: &lane.name,
            asker: &lane.asker,
            burst: terms.burst,
            candidates: &candidates,
            asks: &asks,
            waiting: &waiting,
        };
        match self.limiter.reserve(&batch).await {
            Ok(verdict) => self.hand_out(open, held_back, verdict, &ready, &terms),
            Err(error) => {
                if let Some(failures) = self.store_away.note() {
                    let error = with_causes(&error);
                    tracing::warn!(error, failures, "limits cannot be taken, callers wait");
                }
                // Nobody knows with what result they were asked for.
                for (entry, ask) in open.iter_mut().zip(&asks) {
                    let on_any = candidates.first();
                    entry.call.perhaps = on_any.map(|key| batch.reservation(ask, key));
                }
                let (leaving, staying): (Vec<_>, Vec<_>) = open
                    .into_iter()
                    .partition(|entry| entry.call.want.leaves_without_store);
                for entry in leaving {
                    self.queue.lock().correct(&entry.place, entry.cost, 0);
                    self.turn_away(entry.call, Admitted::StoreAway(error.clone()));
                }
                heads::put_back(&mut self.queue.lock(), staying, held_back);
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
                self.turn_away(entry.call, Admitted::Closed);
                continue;
            }
            let except = &entry.call.want.except;
            let is_tried = |key: &&LaneKey| except.contains(&key.key.id);
            let is_dead = |key: &&LaneKey| is_tried(key) && key.key.quarantine().is_some();
            let hopeless = if usable.iter().all(is_dead) {
                Some(Admitted::NoKeyLeft)
            } else if usable.iter().all(is_tried) {
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
                    self.turn_away(entry.call, answer);
                }
            }
        }
        open
    }

    fn hand_out(
        &self,
        open: Vec<Entry<Waiter>>,
        held_back: Vec<Entry<Waiter>>,
        verdict: Verdict,
        ready: &[&LaneKey],
        terms: &LaneTerms,
    ) -> Next {
        let mut denied = Vec::new();
        for (mut entry, granted) in open.into_iter().zip(verdict.granted) {
            entry.call.perhaps = None;
            let Some(reservation) = granted else {
                if let Some(answer) = entry.call.want.unless_soon(verdict.wait) {
                    self.queue.lock().correct(&entry.place, entry.cost, 0);
                    let _ = entry.call.answer.send(answer);
                } else {
                    denied.push(entry);
                }
                continue;
            };
            let except = &entry.call.want.except;
            let keys = accounts::keys_of(ready, &reservation, except);
            let key = keys
                .into_iter()
                .find(|key| key.key.take_turn(&terms.dead_key_probes, Instant::now()));
            let Some(key) = key else {
                self.give_back(reservation);
                denied.push(entry);
                continue;
            };
            let (place, counted) = (entry.place.clone(), entry.cost);
            if let Some(unwanted) = entry.grant(reservation, key) {
                self.correct(&place, counted, 0);
                self.give_back(unwanted);
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

impl Want {
    /// How a caller that is not granted anything now leaves the line, if it does not wait so long.
    fn unless_soon(&self, wait: Duration) -> Option<Admitted> {
        if self.only_now {
            return Some(Admitted::NotNow);
        }
        let is_late = self.has_alternative && wait > self.patience;
        is_late.then_some(Admitted::QuotaLater(wait))
    }
}

impl Entry<Waiter> {
    /// Tells the caller. What it does not want any more comes back.
    fn grant(self, reservation: Reservation, key: &LaneKey) -> Option<Reservation> {
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

/// What the asker does next.
enum Next {
    Now,
    After(Duration),
    StoreAway,
}
