//! The outbox: what a store must be told and could not be told at once, that an
//! attempt is over, that a key is held, that a claim or a hold of money is given
//! back, what a call has cost. One task tries until it works or makes no difference
//! any more. Owns that messages cannot pile up, that each is told once, and that a
//! stopping gateway tells them within its time. Knows no store: a
//! message does. Filled by every part that talks to a store.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::complaint::Complaint;
use agon_service_kit::tasks::{TaskKind, Tasks, with_causes};
use async_trait::async_trait;
use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::store_error::StoreError;

/// More than a gateway has calls under way. What does not fit expires by itself, in the
/// store: an attempt, a hold and a claim each have their time.
const MOST: usize = 10_000;

/// Told at once, in their order over one connection.
const AT_ONCE: usize = 64;

/// Short enough that places and addresses are free soon after the store's return.
const DELAYS: DelayPolicy = DelayPolicy {
    initial: Duration::from_millis(50),
    factor: 2.0,
    cap: Duration::from_millis(250),
    jitter: 0.3,
    give_up_after: None,
};

/// A stopping gateway still waits this long for its store: a Redis that restarts needs
/// no more.
const LAST_CHANCE: Duration = Duration::from_secs(2);

/// Something to be told to a store.
#[async_trait]
pub trait OutboxMessage: Send + Sync {
    /// The kind, worded for the log ("attempt not settled"). When one of a kind fails the
    /// others of the kind are not tried in the same round.
    fn kind(&self) -> &'static str;

    /// With the kind it names the message: a newer one with the same name replaces the one that
    /// waits.
    fn key(&self) -> String;

    /// How long the message is worth sending.
    fn lasts(&self) -> Duration;

    /// Tells it.
    ///
    /// # Errors
    /// The store did not take it.
    async fn tell(&self) -> Result<(), StoreError>;
}

/// How sending ended, for all who wait for it.
type Sent = Result<(), Arc<StoreError>>;

/// The outbox of a gateway. Cheap to clone.
#[derive(Clone)]
pub struct Outbox(Arc<Inner>);

struct Inner {
    tasks: Tasks,
    count_dropped: fn(&'static str),
    queue: Mutex<OutboxQueue>,
    /// Something was told or dropped.
    room: Notify,
    complaint: Complaint,
    dropped: Complaint,
}

#[derive(Default)]
struct OutboxQueue {
    next_number: u64,
    entries: BTreeMap<u64, QueuedMessage>,
    by_key: HashMap<(&'static str, String), u64>,
    is_served: bool,
}

struct QueuedMessage {
    message: Arc<dyn OutboxMessage>,
    until: Option<Instant>,
    /// Those who wait until it is told.
    told: Vec<oneshot::Sender<Sent>>,
}

impl Outbox {
    /// Nothing is to be told yet. Who counts what is dropped hears its kind.
    pub fn new(tasks: Tasks, count_dropped: fn(&'static str)) -> Self {
        Self(Arc::new(Inner {
            tasks,
            count_dropped,
            queue: Mutex::default(),
            room: Notify::new(),
            complaint: Complaint::default(),
            dropped: Complaint::default(),
        }))
    }

    /// Takes a message that may be lost: when the outbox is full it is dropped, which
    /// costs time and no correctness, since what it would end expires by itself.
    pub fn post(&self, message: impl OutboxMessage + 'static) {
        let kind = message.kind();
        if self.enter(Arc::new(message), None) {
            return;
        }
        (self.0.count_dropped)(kind);
        if let Some(messages) = self.0.dropped.note() {
            tracing::warn!(
                kind,
                messages,
                "outbox is full, messages to the store are dropped"
            );
        }
    }

    /// Takes a message that must not be lost: waits for room, and then until the store
    /// has taken it.
    ///
    /// # Errors
    /// The store will never take it, or has not before the gateway stopped.
    pub async fn deliver(&self, message: impl OutboxMessage + 'static) -> Sent {
        let message: Arc<dyn OutboxMessage> = Arc::new(message);
        let told = loop {
            let room = self.0.room.notified();
            let (tell, told) = oneshot::channel();
            if self.enter(Arc::clone(&message), Some(tell)) {
                break told;
            }
            room.await;
        };
        told.await
            .unwrap_or_else(|_| Err(Arc::new(StoreError::Closed)))
    }

    /// What waits to be told.
    pub fn len(&self) -> usize {
        self.0.queue.lock().entries.len()
    }

    /// Whether there was room, or the message is there already.
    fn enter(&self, message: Arc<dyn OutboxMessage>, told: Option<oneshot::Sender<Sent>>) -> bool {
        let mut queue = self.0.queue.lock();
        let key = (message.kind(), message.key());
        let mut entry = QueuedMessage {
            until: Instant::now().checked_add(message.lasts()),
            message,
            told: told.into_iter().collect(),
        };
        // The newest says it, at the place of the first, to all who wait for either.
        if let Some(number) = queue.by_key.get(&key).copied() {
            if let Some(first) = queue.entries.remove(&number) {
                entry.told.extend(first.told);
            }
            queue.entries.insert(number, entry);
            return true;
        }
        if queue.entries.len() >= MOST {
            return false;
        }
        let number = queue.next_number;
        queue.next_number += 1;
        queue.by_key.insert(key, number);
        queue.entries.insert(number, entry);
        if !std::mem::replace(&mut queue.is_served, true) {
            let serve = self.clone().serve();
            self.0.tasks.spawn(TaskKind::WORK, "outbox", serve);
        }
        true
    }

    /// Until nothing is left.
    async fn serve(self) {
        let stopping = self.0.tasks.shutdown_token();
        let mut delays = Delays::new(DELAYS);
        // Once the gateway stops: until when the store may fail.
        let mut last_chance: Option<Instant> = None;
        loop {
            let Some(failure) = self.round().await else {
                delays = Delays::new(DELAYS);
                last_chance = None;
                if self.is_over() {
                    return;
                }
                continue;
            };
            let stops = stopping.is_cancelled();
            if failure.told_any {
                last_chance = None;
            }
            if stops {
                let now = Instant::now();
                if now >= *last_chance.get_or_insert(now + LAST_CHANCE) {
                    return self.give_up(&failure.error);
                }
            }
            tokio::select! {
                () = tokio::time::sleep(delays.next_delay().unwrap_or(DELAYS.cap)) => {}
                () = stopping.cancelled(), if !stops => {}
            }
        }
    }

    /// Tries each message once, in their order; says what went wrong.
    async fn round(&self) -> Option<Failure> {
        let mut failed: HashMap<&'static str, StoreError> = HashMap::new();
        let (mut from, mut told_any) = (0, false);
        loop {
            let some = self.next(from, &failed);
            let Some((last, _)) = some.last() else { break };
            from = last + 1;
            let telling = some.iter().map(|(_, message)| message.tell());
            for ((number, message), told) in some.iter().zip(join_all(telling).await) {
                match told {
                    Ok(()) => {
                        told_any = true;
                        self.finish(*number, message, Ok(()));
                    }
                    Err(error) if error.may_pass() => {
                        failed.entry(message.kind()).or_insert(error);
                    }
                    Err(error) => {
                        let (kind, reason) = (message.kind(), with_causes(&error));
                        tracing::error!(kind, reason, "the store will never take a message");
                        self.finish(*number, message, Err(Arc::new(error)));
                    }
                }
            }
        }
        let (kind, error) = failed.into_iter().next()?;
        if let Some(failures) = self.0.complaint.note() {
            let error = with_causes(&error);
            tracing::warn!(error, failures, "{kind} yet, trying again");
        }
        Some(Failure { error, told_any })
    }

    /// The next messages of a round. What makes no difference any more is left out.
    fn next(
        &self,
        from: u64,
        failed: &HashMap<&'static str, StoreError>,
    ) -> Vec<(u64, Arc<dyn OutboxMessage>)> {
        let now = Instant::now();
        let mut queue = self.0.queue.lock();
        let (mut some, mut over) = (Vec::new(), Vec::new());
        for (number, entry) in queue.entries.range(from..) {
            if entry.until.is_some_and(|until| until <= now) {
                over.push(*number);
            } else if !failed.contains_key(entry.message.kind()) {
                some.push((*number, Arc::clone(&entry.message)));
            }
            if some.len() == AT_ONCE {
                break;
            }
        }
        let mut dropped = Vec::new();
        for number in over {
            dropped.extend(queue.remove(number).map(|entry| entry.message.kind()));
        }
        drop(queue);
        if !dropped.is_empty() {
            dropped.into_iter().for_each(self.0.count_dropped);
            self.0.room.notify_waiters();
        }
        some
    }

    /// A message is told, or never will be; a newer one in its place stays.
    fn finish(&self, number: u64, message: &Arc<dyn OutboxMessage>, told: Sent) {
        let mut queue = self.0.queue.lock();
        let entry = queue.entries.get(&number);
        if entry.is_some_and(|entry| Arc::ptr_eq(&entry.message, message))
            && let Some(entry) = queue.remove(number)
        {
            for waiting in entry.told {
                // Whoever has gone needs no answer.
                let _ = waiting.send(told.clone());
            }
        }
        drop(queue);
        self.0.room.notify_waiters();
    }

    /// Nothing is left; whatever comes next starts the task again.
    fn is_over(&self) -> bool {
        let mut queue = self.0.queue.lock();
        let over = queue.entries.is_empty();
        queue.is_served = !over;
        over
    }

    fn give_up(&self, error: &StoreError) {
        let left = std::mem::take(&mut *self.0.queue.lock());
        let (messages, error) = (left.entries.len(), with_causes(error));
        tracing::warn!(
            messages,
            error,
            "the gateway stopped with unsent messages; charges among them are not recorded"
        );
        self.0.room.notify_waiters();
    }
}

impl OutboxQueue {
    fn remove(&mut self, number: u64) -> Option<QueuedMessage> {
        let entry = self.entries.remove(&number)?;
        let key = (entry.message.kind(), entry.message.key());
        self.by_key.remove(&key);
        Some(entry)
    }
}

/// How a round went in which not everything was told.
struct Failure {
    error: StoreError,
    told_any: bool,
}

#[cfg(test)]
mod tests;
