//! The outbox: messages to a store that it did not take at once, such as that an attempt is over, a
//! key is held, a claim or a hold of money is given back, or what a call has cost. One task tries
//! until the store takes them or they make no difference any more. Owns that messages cannot pile
//! up, that each is sent once, and that a stopping gateway sends them within its time. Knows no
//! store: a message does. Filled by every part that talks to a store.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::complaint::Complaint;
use agon_service_kit::tasks::{TaskKind, Tasks, with_causes};
use futures_util::future::{BoxFuture, join_all};
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

/// Something to be sent to a store.
pub struct OutboxMessage {
    kind: &'static str,
    key: String,
    lasts: Duration,
    send: Box<dyn Fn() -> BoxFuture<'static, Result<(), StoreError>> + Send + Sync>,
}

impl OutboxMessage {
    /// A message of a kind, worded for the log ("attempt not settled"); when one of a kind fails
    /// the others of the kind are not tried in the same round. With the kind the key names the
    /// message: a newer one with the same name replaces the one that waits. It is worth sending as
    /// long as it `lasts`, and is sent with what it holds.
    pub fn new<H, F>(
        kind: &'static str,
        key: impl ToString,
        lasts: Duration,
        holds: H,
        send: impl Fn(H) -> F + Send + Sync + 'static,
    ) -> Self
    where
        H: Clone + Send + Sync + 'static,
        F: Future<Output = Result<(), StoreError>> + Send + 'static,
    {
        Self {
            kind,
            key: key.to_string(),
            lasts,
            send: Box::new(move || Box::pin(send(holds.clone()))),
        }
    }
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
    /// Something was sent or dropped.
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
    message: Arc<OutboxMessage>,
    until: Option<Instant>,
    /// Those who wait until it is sent.
    waiting: Vec<oneshot::Sender<Sent>>,
}

impl Outbox {
    /// Nothing is to be sent yet. Who counts what is dropped hears its kind.
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
    pub fn post(&self, message: OutboxMessage) {
        let kind = message.kind;
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

    /// Sends a message at once, and posts it if that fails.
    ///
    /// # Errors
    /// The store did not take it now.
    pub async fn send(&self, message: OutboxMessage) -> Result<(), StoreError> {
        let sent = (message.send)().await;
        if sent.is_err() {
            self.post(message);
        }
        sent
    }

    /// Takes a message that must not be lost: waits for room, and then until the store
    /// has taken it.
    ///
    /// # Errors
    /// The store will never take it, or has not before the gateway stopped.
    pub async fn deliver(&self, message: OutboxMessage) -> Sent {
        let message = Arc::new(message);
        let sent = loop {
            let room = self.0.room.notified();
            let (done, sent) = oneshot::channel();
            if self.enter(Arc::clone(&message), Some(done)) {
                break sent;
            }
            room.await;
        };
        sent.await
            .unwrap_or_else(|_| Err(Arc::new(StoreError::Closed)))
    }

    pub fn len(&self) -> usize {
        self.0.queue.lock().entries.len()
    }

    /// Whether there was room, or the message is there already.
    fn enter(&self, message: Arc<OutboxMessage>, done: Option<oneshot::Sender<Sent>>) -> bool {
        let mut queue = self.0.queue.lock();
        let key = (message.kind, message.key.clone());
        let mut entry = QueuedMessage {
            until: Instant::now().checked_add(message.lasts),
            message,
            waiting: done.into_iter().collect(),
        };
        // The newest says it, at the place of the first, to all who wait for either.
        if let Some(number) = queue.by_key.get(&key).copied() {
            if let Some(first) = queue.entries.remove(&number) {
                entry.waiting.extend(first.waiting);
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
            if failure.sent_any {
                last_chance = None;
            }
            if stops {
                let now = Instant::now();
                if now >= *last_chance.get_or_insert(now + failure.error.last_chance()) {
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
        let (mut from, mut sent_any) = (0, false);
        loop {
            let some = self.next(from, &failed);
            let Some((last, _)) = some.last() else { break };
            from = last + 1;
            let sending = some.iter().map(|(_, message)| (message.send)());
            for ((number, message), sent) in some.iter().zip(join_all(sending).await) {
                match sent {
                    Ok(()) => {
                        sent_any = true;
                        self.finish(*number, message, Ok(()));
                    }
                    Err(error) if error.may_pass() => {
                        failed.entry(message.kind).or_insert(error);
                    }
                    Err(error) => {
                        let (kind, reason) = (message.kind, with_causes(&error));
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
        Some(Failure { error, sent_any })
    }

    /// The next messages of a round. What makes no difference any more is left out.
    fn next(
        &self,
        from: u64,
        failed: &HashMap<&'static str, StoreError>,
    ) -> Vec<(u64, Arc<OutboxMessage>)> {
        let now = Instant::now();
        let mut queue = self.0.queue.lock();
        let (mut some, mut over) = (Vec::new(), Vec::new());
        for (number, entry) in queue.entries.range(from..) {
            if entry.until.is_some_and(|until| until <= now) {
                over.push(*number);
            } else if !failed.contains_key(entry.message.kind) {
                some.push((*number, Arc::clone(&entry.message)));
            }
            if some.len() == AT_ONCE {
                break;
            }
        }
        let mut dropped = Vec::new();
        for number in over {
            dropped.extend(queue.remove(number).map(|entry| entry.message.kind));
        }
        drop(queue);
        if !dropped.is_empty() {
            dropped.into_iter().for_each(self.0.count_dropped);
            self.0.room.notify_waiters();
        }
        some
    }

    /// A message is sent, or never will be; a newer one in its place stays.
    fn finish(&self, number: u64, message: &Arc<OutboxMessage>, sent: Sent) {
        let mut queue = self.0.queue.lock();
        let entry = queue.entries.get(&number);
        if entry.is_some_and(|entry| Arc::ptr_eq(&entry.message, message))
            && let Some(entry) = queue.remove(number)
        {
            for waiting in entry.waiting {
                // Whoever has gone needs no answer.
                let _ = waiting.send(sent.clone());
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
        let key = (entry.message.kind, entry.message.key.clone());
        self.by_key.remove(&key);
        Some(entry)
    }
}

/// How a round went in which not everything was sent.
struct Failure {
    error: StoreError,
    sent_any: bool,
}

#[cfg(test)]
mod tests;
