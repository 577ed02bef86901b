//! What the owner decides: messages go to the queue, and what comes of them waits here until the
//! batch that it belongs to is in the journal. Synchronous; batches and replies are carried out by
//! the actor.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use agon_proto::v1::journal_entry::Change;
use agon_proto::v1::{JournalBatch, JournalEntry, QueueSnapshot};
use bytes::Bytes;
use prost::Message as _;
use tokio::sync::{mpsc, oneshot};

use super::messages::{FinishedPage, Grant, Located, Message, Status, ToStream, Whereabouts};
use super::removals::Removals;
use super::segments::{SegmentKey, Segments};
use crate::archive::Entry;
use crate::journal::Place;
use crate::metrics;
use crate::queue::{Effect, Granted, LeaseId, Outcome, Queue, Refusal, Settled, StreamId, entry};
use crate::specs::{Specs, ledger_session};

mod commands;
mod losing;

/// With more bytes of records that are neither in the archive nor thrown away, nothing is granted.
const MOST_UNWRITTEN: usize = 512 * 1024 * 1024;

/// How long nothing is granted of an experiment whose records cannot be read: long enough that a broken
/// archive is not asked all the time, short enough that nobody notices when it is back.
const HELD_BACK: Duration = Duration::from_secs(5);

/// Segments that are written at the same time.
const MOST_WRITING: usize = 2;

/// Something that is done once the batch before it is in the journal.
pub enum Release {
    /// Tell a stream.
    Send(StreamId, ToStream),
    /// Answer a command.
    Reply(Box<dyn FnOnce() + Send>),
    /// These sessions' ledgers are of no use any more.
    Stored(Vec<String>),
    /// This segment can be written: what it holds is settled, whoever owns the journal.
    Closed(SegmentKey),
}

/// A batch for the journal, and what waits for it.
pub struct Batch {
    pub place: Place,
    pub bytes: Bytes,
    pub releases: Vec<Release>,
}

/// See the module.
pub struct OwnerState {
    queue: Queue,
    segments: Segments,
    specs: Specs,
    /// Segments that the archive has, where it may lose them with the journal's end; `None` where it may not.
    archived: Option<BTreeSet<SegmentKey>>,
    outboxes: BTreeMap<StreamId, mpsc::Sender<ToStream>>,
    last_stream: u64,
    removals: Removals,
    /// Where the next batch goes.
    next: Place,
    pending: Vec<JournalEntry>,
    pending_bytes: usize,
    releases: Vec<Release>,
    now: Duration,
    snapshot_bytes: usize,
}

impl OwnerState {
    pub fn new(queue: Queue, segments: Segments, specs: Specs, next: Place) -> Self {
        Self {
            queue,
            segments,
            specs,
            archived: None,
            outboxes: BTreeMap::new(),
            last_stream: 0,
            removals: Removals::default(),
            next,
            pending: Vec::new(),
            pending_bytes: 0,
            releases: Vec::new(),
            now: Duration::ZERO,
            snapshot_bytes: 0,
        }
    }

    /// The time that counts from now on.
    pub fn set_now(&mut self, now: Duration) {
        self.now = now;
    }

    pub fn on_message(&mut self, message: Message) {
        let now = self.now;
        match message {
            Message::Register {
                introduction,
                held,
                outbox,
                reply,
            } => {
                self.last_stream += 1;
                let stream = StreamId(self.last_stream);
                self.outboxes.insert(stream, outbox);
                let lost = self.queue.register(introduction, stream, &held, now);
                self.reply(move || reply.send((stream, lost)).is_ok());
            }
            Message::Heartbeat {
                stream,
                number,
                progressed,
            } => {
                if self.queue.heartbeat(stream, &progressed, now) {
                    self.send(stream, ToStream::Heard(number));
                } else {
                    // Its worker was lost meanwhile: over another stream it is one again.
                    self.outboxes.remove(&stream);
                }
            }
            Message::HandIn { stream, outcomes } => self.on_hand_in(stream, outcomes),
            Message::Release { stream, leases } => {
                self.queue.release(stream, &leases);
                self.queue.grant(now);
            }
            Message::Postpone { stream, leases } => {
                self.queue.release(stream, &leases);
                for lease in &leases {
                    let key = lease.session.experiment;
                    self.queue.hold_back(key, now + HELD_BACK);
                }
                self.queue.grant(now);
            }
            Message::DrainWorker { stream } => self.queue.drain_worker(stream),
            Message::Leave { stream } => {
                self.outboxes.remove(&stream);
                self.queue.leave(stream);
            }
            Message::Status { reply } => {
                let status = Status {
                    workers: self.queue.workers(),
                    unwritten: self.segments.entries(),
                };
                self.reply(move || reply.send(status).is_ok());
            }
            Message::AwaitWrites { experiment, reply } => {
                self.removals.wait(experiment, reply);
                self.answer_removals();
            }
            Message::Drain => self.queue.drain(),
            command => self.on_command(command),
        }
        self.collect();
    }

    fn on_hand_in(&mut self, stream: StreamId, outcomes: Vec<(LeaseId, Outcome)>) {
        let mut settled = Vec::with_capacity(outcomes.len());
        let mut stored = Vec::new();
        for (lease, outcome) in outcomes {
            let session_id = match &outcome {
                Outcome::Finished(result) => Some(result.session_id.clone()),
                Outcome::Failed(failure, _) => {
                    metrics::count_failure(*failure);
                    None
                }
            };
            let came = self.queue.settle(stream, lease, outcome, self.now);
            if let Some(session_id) = session_id {
                metrics::count_result(came);
                if matches!(came, Settled::Stored | Settled::Same) {
                    let known = self.specs.get(lease.session.experiment);
                    stored.push(match known {
                        Some(known) => ledger_session(&known.submitted, &session_id),
                        None => session_id,
                    });
                }
            }
            settled.push((lease, came));
        }
        self.queue.grant(self.now);
        self.collect();
        for experiment in self.segments.full() {
            let _ = self.queue.close_segment(experiment);
        }
        self.send(stream, ToStream::Settled(settled));
        if !stored.is_empty() {
            self.releases.push(Release::Stored(stored));
        }
    }

    /// Grants teams no more than so many sessions at a time.
    pub fn limit_teams(&mut self, limits: BTreeMap<String, u32>) {
        self.queue.limit_teams(limits);
    }

    /// Time has passed.
    pub fn on_tick(&mut self) {
        self.queue.tick(self.now);
        self.segments.let_go(self.now);
        let queue = &self.queue;
        let due = self.segments.to_close(self.now, |key| queue.is_over(key));
        for experiment in due {
            self.queue.close_segment(experiment);
        }
        if self.segments.bytes() > MOST_UNWRITTEN {
            self.queue
                .keep_quiet_until(self.now + Duration::from_secs(1));
        }
        self.collect();
        let (workers, free, leases) = self.queue.load();
        metrics::observe_workers(workers, self.queue.places(), free);
        metrics::observe_queue(leases, self.segments.entries());
        metrics::observe_oldest_unwritten(self.segments.oldest(self.now));
        metrics::observe_teams(&self.queue.teams());
    }

    /// Grants nothing for a while: it is not sure that this is still the owner.
    pub fn doubt(&mut self, until: Duration) {
        self.queue.keep_quiet_until(until);
    }

    /// Segments that can be written now, with the names of their experiments.
    pub fn segments_to_write(&mut self) -> Vec<(SegmentKey, String, Vec<Entry>)> {
        let found = self.segments.take_closed(MOST_WRITING).into_iter();
        let named = found.filter_map(|(key, entries)| {
            let submitted = self.queue.submitted(key.0)?;
            Some((key, submitted.name.clone(), entries))
        });
        named.collect()
    }

    /// A segment's end is in the journal.
    pub fn on_segment_closed(&mut self, key: SegmentKey) {
        self.segments.close(key);
    }

    pub fn on_segment_written(&mut self, key: SegmentKey, written: bool) {
        if written {
            self.queue.segment_written(key.0, key.1);
            match &mut self.archived {
                Some(archived) => {
                    archived.insert(key);
                    self.segments.written_and_kept(key, self.now);
                }
                None => self.segments.written(key),
            }
            self.collect();
        } else {
            self.segments.failed(key);
        }
        self.answer_removals();
    }

    fn answer_removals(&mut self) {
        let segments = &self.segments;
        self.removals.answer(|key| segments.is_abandoned(key));
    }

    /// A stream could not be told something; its worker comes back and says what it holds.
    pub fn on_undelivered(&mut self, stream: StreamId) {
        self.outboxes.remove(&stream);
        self.queue.leave(stream);
        self.collect();
    }

    /// The way to a stream.
    pub fn outbox(&self, stream: StreamId) -> Option<&mpsc::Sender<ToStream>> {
        self.outboxes.get(&stream)
    }

    /// What is to be appended, and what waits for it; only what waits when nothing is.
    pub fn take_batch(&mut self) -> Result<Batch, Vec<Release>> {
        let releases = std::mem::take(&mut self.releases);
        if self.pending.is_empty() {
            return Err(releases);
        }
        let batch = JournalBatch {
            entries: std::mem::take(&mut self.pending),
        };
        self.pending_bytes = 0;
        let place = self.next;
        self.next = place.next();
        Ok(Batch {
            place,
            bytes: batch.encode_to_vec().into(),
            releases,
        })
    }

    /// Bytes that wait to be appended.
    pub fn pending_bytes(&self) -> usize {
        self.pending_bytes
    }

    /// The queue as it is, and up to where the journal may be dropped once that is stored: right after
    /// [`OwnerState::take_batch`], the state after that batch. Nothing while the last snapshot holds
    /// records that are nowhere else.
    pub fn snapshot(&self) -> Option<(Place, QueueSnapshot, Place)> {
        if self.segments.needs_snapshot() {
            return None;
        }
        let upto = Place(self.next.0 - 1);
        let first = self.segments.first();
        let trim_to = first.map_or(upto, |first| Place(first.0 - 1).min(upto));
        Some((upto, self.queue.snapshot(), trim_to))
    }

    /// The size of the last snapshot.
    pub fn snapshot_bytes(&self) -> usize {
        self.snapshot_bytes
    }

    pub fn set_snapshot_bytes(&mut self, bytes: usize) {
        self.snapshot_bytes = bytes;
    }

    /// What the store holds beside the journal and the archive.
    pub fn stored(&self) -> Vec<(String, Bytes)> {
        self.specs.stored()
    }

    /// The state that takes the place of a journal that has lost its end, up to and with the batch at
    /// `place`. What is still to be appended is part of it, and so are records that are not archived.
    /// `left` are the segments that the archive still has, by experiment, as far as it says: what it lost
    /// is written again, or else played again.
    pub fn replace_journal(
        &mut self,
        place: Place,
        left: &BTreeMap<u32, Vec<u32>>,
    ) -> QueueSnapshot {
        self.take_losses_in(place, left);
        self.pending.clear();
        self.pending_bytes = 0;
        self.next = place.next();
        QueueSnapshot {
            records: self.segments.put_into_snapshot(),
            ..self.queue.snapshot()
        }
    }

    /// The queue, to look at.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Whether all is quiet: nothing waits to be appended or written.
    pub fn is_quiet(&self) -> bool {
        self.pending.is_empty() && self.segments.entries() == 0
    }

    /// Finished sessions behind a position, at most so many.
    ///
    /// # Errors
    /// There is no such experiment.
    pub fn finished(
        &self,
        name: &str,
        after: Option<u32>,
        most: usize,
    ) -> Result<FinishedPage, Refusal> {
        let experiment = self.queue.number(name)?;
        let finished = self.queue.finished(name, after, most)?.into_iter();
        let located = finished.map(|(position, finished)| Located {
            position,
            whereabouts: self.segments.find(experiment, finished),
        });
        Ok(FinishedPage {
            experiment,
            grid: self.queue.grid(experiment).unwrap_or_default(),
            sessions: located.collect(),
        })
    }

    /// Takes what the queue wants done into the batch to come.
    fn collect(&mut self) {
        let mut lost = 0;
        for effect in self.queue.effects() {
            if matches!(effect, Effect::Append(Change::Lost(_))) {
                lost += 1;
            }
            match effect {
                Effect::Append(change) => self.append(change),
                Effect::Grant(stream, granted) => {
                    metrics::count_leased(granted.len());
                    let grants = granted.into_iter().map(|granted| self.order(granted));
                    let grants = grants.collect();
                    self.send(stream, ToStream::Grant(grants));
                }
                Effect::Revoke(stream, leases) => self.send(stream, ToStream::Revoke(leases)),
            }
        }
        if lost > 0 {
            metrics::count_lost(lost);
            tracing::warn!(
                leases = lost,
                "leases ran out; their sessions are queued again"
            );
        }
    }

    fn append(&mut self, change: Change) {
        match &change {
            Change::Done(done) => {
                self.pending_bytes += done.record.len() + done.telemetry.len();
                self.segments.add(done, self.next, self.now);
            }
            Change::SegmentClosed(closed) => {
                let key = (closed.experiment, closed.segment);
                self.segments.begin_closing(key);
                self.releases.push(Release::Closed(key));
            }
            Change::Deleted(deleted) => self.segments.forget(deleted.experiment),
            Change::Fault(fault) => {
                let session = fault.session.unwrap_or_default();
                let known = self.specs.get(session.experiment);
                let session_id = known.and_then(|known| known.session(session.position));
                let session_id = session_id.map(|session| session.id);
                tracing::error!(session_id, "finished twice with different records");
            }
            Change::Paused(paused) => {
                tracing::info!(reason = paused.reason, "an experiment pauses");
            }
            _ => {}
        }
        self.pending.push(entry(change));
    }

    fn order(&self, granted: Granted) -> Grant {
        let session = granted.lease.session;
        let known = self.specs.get(session.experiment);
        let follows = known.is_some_and(|known| known.follows(session.position));
        let before = follows.then(|| self.record_of(session.experiment, session.position - 1));
        Grant {
            granted,
            before: before.flatten(),
        }
    }

    fn record_of(&self, experiment: u32, position: u32) -> Option<Whereabouts> {
        let finished = self.queue.finished_at(experiment, position)?;
        Some(self.segments.find(experiment, finished))
    }

    fn send(&mut self, stream: StreamId, message: ToStream) {
        self.releases.push(Release::Send(stream, message));
    }

    fn answer<T: Send + 'static>(
        &mut self,
        reply: oneshot::Sender<Result<T, Refusal>>,
        answer: Result<T, Refusal>,
    ) {
        self.reply(move || reply.send(answer).is_ok());
    }

    fn reply(&mut self, send: impl FnOnce() -> bool + Send + 'static) {
        // Whoever asked may have gone.
        let reply = move || {
            let _ = send();
        };
        self.releases.push(Release::Reply(Box::new(reply)));
    }
}
