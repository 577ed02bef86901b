//! The loop of the owner: messages and time go to the state, batches to the journal, and what waited
//! for a batch is done once it is there. One batch is under way at a time; what comes meanwhile is
//! the next. Ends when another has taken over, when it is told to, or when the journal cannot go on.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use agon_proto::v1::QueueSnapshot;
use agon_service_kit::compute;
use agon_service_kit::tasks::{TaskKind, Tasks, with_causes};
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Either, pending};
use prost::Message as _;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use super::loading::{DOCUMENTS, TEMPLATES, segments_of};
use super::messages::{Message, ToStream};
use super::office::Role;
use super::segments::SegmentKey;
use super::state::{Batch, OwnerState, Release};
use super::{OnStored, OwnerOptions, SessionLimits};
use crate::archive::{Archive, ArchiveError, Entry};
use crate::journal::{Epoch, Journal, JournalError, JournalResult, Place, Snapshot};
use crate::lease_token::{SEAL_KEY, Sealer};
use crate::queue::StreamId;

/// Messages that are taken in before a batch is sent: more would only make it late.
const MOST_AT_ONCE: usize = 512;

/// With so many bytes in the batch to come, messages wait.
const MOST_PENDING: usize = 32 * 1024 * 1024;

/// Ticks in a lease's time: a lost worker is noticed a tenth of that late at most.
const TICKS_PER_LEASE: u32 = 10;

/// A journal of fewer bytes is not worth a snapshot.
const SNAPSHOT_AFTER: usize = 16 * 1024 * 1024;

/// The same while nothing is going on, so that little is left in the store.
const SNAPSHOT_AT_REST: usize = 1024 * 1024;

/// How long to wait before something is tried again that failed.
const TRY_AGAIN: Duration = Duration::from_millis(500);

/// How often an owner says that it is there, in the time after which another takes over.
pub(super) const RENEWALS_PER_TERM: u32 = 3;

pub(super) struct OwnerActor {
    pub journal: Arc<dyn Journal>,
    pub archive: Archive,
    pub sealer: Sealer,
    pub epoch: Epoch,
    pub options: OwnerOptions,
    pub tasks: Tasks,
    pub state: OwnerState,
    pub mailbox: mpsc::Receiver<Message>,
    pub on_stored: Option<OnStored>,
    pub session_limits: Option<SessionLimits>,
    /// Told when the store does not confirm that this is the owner, and when it does again.
    pub role: watch::Sender<Role>,
    /// Times count from here.
    pub since: Instant,
    /// Bytes in the journal since the last snapshot.
    pub journaled: usize,
}

/// A batch on its way, and what waits for it.
struct UnderWay {
    append: BoxFuture<'static, JournalResult<()>>,
    place: Place,
    releases: Vec<Release>,
    /// The state after it, to be put in place of the journal.
    snapshot: Option<(Place, QueueSnapshot, Place)>,
}

type Written = (SegmentKey, bool);

impl OwnerActor {
    /// Serves until another owner takes over or `stopping`.
    ///
    /// # Errors
    /// [`JournalError::Deposed`], or the journal cannot go on.
    pub(super) async fn run(mut self, stopping: CancellationToken) -> JournalResult<()> {
        let mut tick = tokio::time::interval(self.options.lease_time / TICKS_PER_LEASE);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (written, mut segments) = mpsc::channel::<Written>(4);
        let mut renewal = self.renewal();
        let mut under_way: Option<UnderWay> = None;
        loop {
            self.state.set_now(self.since.elapsed());
            if under_way.is_none() {
                under_way = self.next_batch();
            }
            let room = self.state.pending_bytes() < MOST_PENDING;
            let appended = match &mut under_way {
                Some(batch) => Either::Left(&mut batch.append),
                None => Either::Right(pending()),
            };
            tokio::select! {
                result = appended => {
                    if let Some(batch) = under_way.take() {
                        under_way = self.on_appended(batch, result).await?;
                    }
                }
                message = self.mailbox.recv(), if room => {
                    let Some(message) = message else { return Ok(()) };
                    self.on_messages(message);
                }
                _ = tick.tick() => {
                    self.state.set_now(self.since.elapsed());
                    if let Some(limits) = &self.session_limits {
                        self.state.limit_teams(limits());
                    }
                    self.state.on_tick();
                    self.write_segments(&written);
                }
                Some((key, done)) = segments.recv() => {
                    self.state.on_segment_written(key, done);
                    self.write_segments(&written);
                }
                renewed = &mut renewal => {
                    self.on_renewed(renewed)?;
                    renewal = self.renewal();
                }
                () = stopping.cancelled() => {
                    return self.finish(under_way).await;
                }
            }
        }
    }

    fn on_messages(&mut self, first: Message) {
        self.state.set_now(self.since.elapsed());
        self.state.on_message(first);
        for _ in 1..MOST_AT_ONCE {
            // A result may be as large as the longest record.
            if self.state.pending_bytes() >= MOST_PENDING {
                return;
            }
            match self.mailbox.try_recv() {
                Ok(message) => self.state.on_message(message),
                Err(_) => return,
            }
        }
    }

    /// What is to be appended next; does at once what waits for nothing.
    fn next_batch(&mut self) -> Option<UnderWay> {
        match self.state.take_batch() {
            Err(releases) => {
                self.release(releases);
                None
            }
            Ok(Batch {
                place,
                bytes,
                releases,
            }) => {
                self.journaled += bytes.len();
                let due = self.is_snapshot_due();
                let snapshot = due.then(|| self.state.snapshot()).flatten();
                Some(UnderWay {
                    append: self.append(place, bytes),
                    place,
                    releases,
                    snapshot,
                })
            }
        }
    }

    fn is_snapshot_due(&self) -> bool {
        let enough = match self.state.is_quiet() {
            true => SNAPSHOT_AT_REST,
            false => SNAPSHOT_AFTER.max(self.state.snapshot_bytes()),
        };
        self.journaled > enough
    }

    /// Appends until it is done or somebody else owns the journal.
    fn append(&self, place: Place, bytes: Bytes) -> BoxFuture<'static, JournalResult<()>> {
        let (journal, epoch) = (Arc::clone(&self.journal), self.epoch);
        let append = move || {
            let (journal, bytes) = (Arc::clone(&journal), bytes.clone());
            async move { journal.append(epoch, place, bytes).await }
        };
        insist("append to the journal", append, is_final).boxed()
    }

    /// What comes of a batch; what is under way in its place when the journal has lost its end.
    async fn on_appended(
        &mut self,
        batch: UnderWay,
        result: JournalResult<()>,
    ) -> JournalResult<Option<UnderWay>> {
        match result {
            Ok(()) => {}
            Err(JournalError::OutOfPlace { end, .. }) if end < batch.place => {
                error!(
                    lost_from = end.0 + 1,
                    "the journal has lost its end; the state in memory takes its place"
                );
                let (archive, named) = (self.archive.clone(), self.state.in_danger());
                let left = segments_of(&archive, &named).await;
                return Ok(Some(self.mend(batch, &left)));
            }
            Err(fatal) => return Err(fatal),
        }
        self.release(batch.releases);
        if let Some((upto, snapshot, trim_to)) = batch.snapshot {
            self.put_snapshot(upto, snapshot, trim_to).await;
        }
        Ok(None)
    }

    /// A snapshot replaces the old one; without it the journal is longer, and nothing else.
    async fn put_snapshot(&mut self, upto: Place, snapshot: QueueSnapshot, trim_to: Place) {
        let encode = move || Bytes::from(snapshot.encode_to_vec());
        let Ok(bytes) = compute::SHORT.run(encode).await else {
            return;
        };
        let size = bytes.len();
        let snapshot = Snapshot { upto, bytes };
        match self
            .journal
            .put_snapshot(self.epoch, snapshot, trim_to)
            .await
        {
            Ok(()) => {
                self.journaled = 0;
                self.state.set_snapshot_bytes(size);
            }
            Err(error) => {
                let error = with_causes(&error);
                warn!(%error, "cannot store a snapshot; the journal goes on without");
            }
        }
    }

    /// Puts the state in place of a journal that has lost its end, in one step, until that is done or
    /// somebody else owns the journal: the state is nowhere else. A snapshot that was due with the
    /// batch is older, so it is not put.
    fn mend(&mut self, batch: UnderWay, left: &BTreeMap<u32, Vec<u32>>) -> UnderWay {
        let (journal, epoch, upto) = (Arc::clone(&self.journal), self.epoch, batch.place);
        let snapshot = self.state.replace_journal(upto, left);
        let mut stored = self.state.stored();
        stored.push((SEAL_KEY.to_owned(), self.sealer.key()));
        self.journaled = 0;
        let mend = async move {
            let encode = move || Bytes::from(snapshot.encode_to_vec());
            let bytes = compute::SHORT.run(encode).await;
            let bytes = bytes.map_err(|_| JournalError::Stopped)?;
            // First what the snapshot names.
            let put_back = || put_back(&*journal, &stored);
            insist("mend what lies beside the journal", put_back, is_final).await?;
            let put = move || {
                let (journal, bytes) = (Arc::clone(&journal), bytes.clone());
                async move {
                    let snapshot = Snapshot { upto, bytes };
                    journal.put_snapshot(epoch, snapshot, upto).await
                }
            };
            // An upload that the store has forgotten is made again, so nothing else is final.
            let is_final = |error: &JournalError| {
                matches!(error, JournalError::Deposed | JournalError::Stopped)
            };
            insist("mend the journal", put, is_final).await
        };
        UnderWay {
            append: mend.boxed(),
            snapshot: None,
            ..batch
        }
    }

    fn release(&mut self, releases: Vec<Release>) {
        for release in releases {
            match release {
                Release::Send(stream, message) => self.send(stream, message),
                Release::Reply(reply) => reply(),
                Release::Closed(key) => self.state.on_segment_closed(key),
                Release::Stored(sessions) => {
                    if let Some(on_stored) = &self.on_stored {
                        on_stored(&sessions);
                    }
                }
            }
        }
    }

    fn send(&mut self, stream: StreamId, message: ToStream) {
        let sent = self
            .state
            .outbox(stream)
            .map(|outbox| outbox.try_send(message));
        // A stream that has left is known to have.
        if let Some(Err(_)) = sent {
            self.state.on_undelivered(stream);
        }
    }

    fn write_segments(&mut self, written: &mpsc::Sender<Written>) {
        for (key, experiment, entries) in self.state.segments_to_write() {
            let (archive, written) = (self.archive.clone(), written.clone());
            let write = async move {
                let done = archived(&archive, &experiment, key.1, &entries).await;
                if let Err(error) = &done {
                    let error = with_causes(error);
                    warn!(%error, %experiment, "cannot write to the archive; trying again");
                    tokio::time::sleep(TRY_AGAIN).await;
                }
                // Without the owner its successor writes it.
                let _ = written.send((key, done.is_ok())).await;
            };
            self.tasks.spawn(TaskKind::UPKEEP, "archive", write);
        }
    }

    fn renewal(&self) -> Pin<Box<dyn Future<Output = JournalResult<()>> + Send>> {
        let (journal, epoch) = (Arc::clone(&self.journal), self.epoch);
        let time = self.options.ownership_time;
        Box::pin(async move {
            tokio::time::sleep(time / RENEWALS_PER_TERM).await;
            journal.renew(epoch, time).await
        })
    }

    fn on_renewed(&mut self, renewed: JournalResult<()>) -> JournalResult<()> {
        self.role
            .send_if_modified(|role| role.confirm(renewed.is_ok()));
        match renewed {
            Ok(()) => Ok(()),
            Err(fatal) if is_final(&fatal) => Err(fatal),
            Err(error) => {
                let error = with_causes(&error);
                warn!(%error, "cannot say that this coordinator is in charge; granting nothing");
                // Longer than until the next answer, which may take as long to fail as this one did.
                let until = self.since.elapsed() + self.options.ownership_time;
                self.state.doubt(until);
                Ok(())
            }
        }
    }

    /// The last batches go into the journal, and another coordinator may take over at once.
    async fn finish(&mut self, mut under_way: Option<UnderWay>) -> JournalResult<()> {
        while let Some(mut batch) = under_way.take().or_else(|| self.next_batch()) {
            // Whoever comes next makes its own.
            batch.snapshot = None;
            let result = (&mut batch.append).await;
            under_way = self.on_appended(batch, result).await?;
        }
        self.journal.resign(self.epoch).await
    }
}

/// Puts back what the store has lost beside the journal.
async fn put_back(journal: &dyn Journal, stored: &[(String, Bytes)]) -> JournalResult<()> {
    let mut there = BTreeSet::new();
    for kind in [DOCUMENTS, TEMPLATES] {
        there.extend(journal.blobs(kind).await?);
    }
    for (name, bytes) in stored {
        if !there.contains(name) {
            journal.put_blob(name, bytes.clone()).await?;
        }
    }
    Ok(())
}

/// Tries until it is done, or has failed for good.
async fn insist<F: Future<Output = JournalResult<()>> + Send>(
    operation: &'static str,
    attempt: impl Fn() -> F + Send,
    is_final: fn(&JournalError) -> bool,
) -> JournalResult<()> {
    let mut failed = false;
    loop {
        match attempt().await {
            Ok(()) => {
                if failed {
                    warn!(operation, "the journal takes it again");
                }
                return Ok(());
            }
            Err(fatal) if is_final(&fatal) => return Err(fatal),
            Err(error) => {
                if !failed {
                    let error = with_causes(&error);
                    warn!(operation, %error, "the journal refuses; everything waits for it");
                }
                failed = true;
                tokio::time::sleep(TRY_AGAIN).await;
            }
        }
    }
}

/// Writes a segment, unless it is there. A journal that lost its tail may know only the first of the
/// records that a segment was written with: those are where they should be, too.
async fn archived(
    archive: &Archive,
    experiment: &str,
    number: u32,
    entries: &[Entry],
) -> Result<(), ArchiveError> {
    let taken = match archive.write(experiment, number, entries.to_vec()).await {
        Err(taken @ ArchiveError::Taken { .. }) => taken,
        done => return done,
    };
    let there = archive.read(experiment, number).await?;
    let same = |one: &Entry| (one.position, one.digest);
    let found = there.iter().map(same).take(entries.len());
    match found.eq(entries.iter().map(same)) {
        true => Ok(()),
        false => Err(taken),
    }
}

/// Whether no other try helps.
pub(super) fn is_final(error: &JournalError) -> bool {
    matches!(
        error,
        JournalError::Deposed
            | JournalError::OutOfPlace { .. }
            | JournalError::Corrupt { .. }
            | JournalError::Stopped
    )
}

#[cfg(test)]
mod tests;
