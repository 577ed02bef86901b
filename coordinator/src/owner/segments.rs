//! Records that are not in the archive yet, by experiment and segment. They are in the journal until
//! they are, so the journal is kept from the first of them on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use agon_proto::v1::{SessionDone, SessionPlace};

use super::messages::Whereabouts;
use crate::archive::Entry;
use crate::journal::Place;
use crate::queue::sessions::Finished;

/// A segment is closed with so many bytes.
const FULL: usize = 8 * 1024 * 1024;

/// A segment is closed at this age, so that the journal stays short.
const OLD: Duration = Duration::from_secs(10);

/// Where the archive lies in the journal's store, segments are kept so long after they were written: a store
/// that loses its end loses seconds.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// What these may have together, in bytes.
const MOST_KEPT: usize = 64 * 1024 * 1024;

/// Names a segment: experiment and number.
pub type SegmentKey = (u32, u32);

#[derive(Debug)]
struct Unwritten {
    entries: Vec<Entry>,
    bytes: usize,
    since: Duration,
    first: Place,
    /// Records of it are in the last snapshot and nowhere else.
    in_snapshot: bool,
    /// Its end is on its way into the journal.
    closing: bool,
    closed: bool,
    writing: bool,
}

/// A segment that was written.
#[derive(Debug)]
struct Kept {
    key: SegmentKey,
    since: Duration,
    bytes: usize,
    entries: Vec<Entry>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Segments {
    unwritten: BTreeMap<SegmentKey, Unwritten>,
    /// Written of late, oldest first, where the archive may lose them.
    kept: VecDeque<Kept>,
    /// Of experiments that are no more, while somebody still writes them.
    abandoned: BTreeSet<SegmentKey>,
    bytes: usize,
    entries: usize,
}

impl Segments {
    /// Takes a finished session in, whose entry stands in the batch at `place`. Entries of a
    /// segment come in order; one that is there already is passed over.
    pub fn add(&mut self, done: &SessionDone, place: Place, now: Duration) {
        let Some(session) = done.session else { return };
        let key = (session.experiment, done.segment);
        let segment = self.unwritten.entry(key).or_insert_with(|| Unwritten {
            entries: Vec::new(),
            bytes: 0,
            since: now,
            first: place,
            in_snapshot: false,
            closing: false,
            closed: false,
            writing: false,
        });
        if segment.entries.len() != done.entry as usize {
            return;
        }
        let bytes = done.record.len() + done.telemetry.len();
        segment.bytes += bytes;
        self.bytes += bytes;
        self.entries += 1;
        segment.entries.push(Entry {
            position: session.position,
            session: done.session_id.clone(),
            digest: done.digest,
            record: done.record.clone(),
            telemetry: done.telemetry.clone(),
        });
    }

    /// A segment and those before it are to take no further entry. Those before it are open only where
    /// numbers are passed over because the archive has them.
    pub fn begin_closing(&mut self, (experiment, number): SegmentKey) {
        let upto = (experiment, 0)..=(experiment, number);
        for (_, segment) in self.unwritten.range_mut(upto) {
            segment.closing = true;
        }
    }

    /// A segment and those before it take no further entry, and the journal says so.
    pub fn close(&mut self, (experiment, number): SegmentKey) {
        let upto = (experiment, 0)..=(experiment, number);
        for (_, segment) in self.unwritten.range_mut(upto) {
            segment.closed = true;
        }
    }

    /// Segments of an experiment before the one that is filled take no further entry.
    pub fn close_before(&mut self, experiment: u32, open: u32) {
        if let Some(last) = open.checked_sub(1) {
            self.close((experiment, last));
        }
    }

    /// A segment lies in the archive.
    pub fn written(&mut self, key: SegmentKey) {
        self.abandoned.remove(&key);
        if let Some(written) = self.unwritten.remove(&key) {
            self.bytes -= written.bytes;
            self.entries -= written.entries.len();
        }
    }

    /// A segment lies in an archive that may lose it: what it holds is kept for a while.
    pub fn written_and_kept(&mut self, key: SegmentKey, now: Duration) {
        if let Some(written) = self.unwritten.get(&key) {
            self.kept.push_back(Kept {
                key,
                since: now,
                bytes: written.bytes,
                entries: written.entries.clone(),
            });
        }
        self.written(key);
    }

    /// Lets go of what was kept for long enough.
    pub fn let_go(&mut self, now: Duration) {
        let mut bytes: usize = self.kept.iter().map(|one| one.bytes).sum();
        while let Some(oldest) = self.kept.front()
            && (bytes > MOST_KEPT || now.saturating_sub(oldest.since) > KEPT_FOR)
        {
            bytes -= oldest.bytes;
            self.kept.pop_front();
        }
    }

    /// A segment that was written is lost: it is to be written again, as part of a snapshot that stands
    /// for the journal up to `place`. False if what it held is not kept any more.
    pub fn write_again(&mut self, key: SegmentKey, place: Place, now: Duration) -> bool {
        let Some(at) = self.kept.iter().position(|one| one.key == key) else {
            return false;
        };
        let Some(Kept { bytes, entries, .. }) = self.kept.remove(at) else {
            return false;
        };
        self.bytes += bytes;
        self.entries += entries.len();
        let again = Unwritten {
            entries,
            bytes,
            since: now,
            first: place,
            in_snapshot: true,
            closing: true,
            closed: true,
            writing: false,
        };
        self.unwritten.insert(key, again);
        true
    }

    /// An experiment is no more.
    pub fn forget(&mut self, experiment: u32) {
        self.kept.retain(|one| one.key.0 != experiment);
        let segments = self
            .unwritten
            .range((experiment, 0)..=(experiment, u32::MAX));
        let keys: Vec<SegmentKey> = segments.map(|(key, _)| *key).collect();
        for key in keys {
            let is_writing = self.unwritten.get(&key).is_some_and(|one| one.writing);
            self.written(key);
            if is_writing {
                self.abandoned.insert(key);
            }
        }
    }

    /// Whether a segment of an experiment that is no more is still being written.
    pub fn is_abandoned(&self, experiment: u32) -> bool {
        let all = (experiment, 0)..=(experiment, u32::MAX);
        self.abandoned.range(all).next().is_some()
    }

    /// Experiments whose open segment is full or old, or which are `over`.
    pub fn to_close(&self, now: Duration, over: impl Fn(u32) -> bool) -> Vec<u32> {
        let due = self.unwritten.iter().filter(|((experiment, _), segment)| {
            let old = now.saturating_sub(segment.since) >= OLD;
            !segment.closing
                && !segment.closed
                && (segment.bytes >= FULL || old || over(*experiment))
        });
        due.map(|((experiment, _), _)| *experiment).collect()
    }

    /// Experiments whose open segment is full. It is closed at once and not with the next tick: a few
    /// large records more would make a segment that nobody can write.
    pub fn full(&self) -> Vec<u32> {
        let full = self
            .unwritten
            .iter()
            .filter(|(_, segment)| !segment.closing && !segment.closed && segment.bytes >= FULL);
        full.map(|((experiment, _), _)| *experiment).collect()
    }

    /// Closed segments that nobody writes, with their entries; somebody does from now on.
    pub fn take_closed(&mut self, most: usize) -> Vec<(SegmentKey, Vec<Entry>)> {
        let mut found = Vec::new();
        for (key, segment) in &mut self.unwritten {
            if found.len() < most && segment.closed && !segment.writing {
                segment.writing = true;
                found.push((*key, segment.entries.clone()));
            }
        }
        found
    }

    /// A segment could not be written.
    pub fn failed(&mut self, key: SegmentKey) {
        self.abandoned.remove(&key);
        if let Some(segment) = self.unwritten.get_mut(&key) {
            segment.writing = false;
        }
    }

    /// Where a finished session's record is.
    pub fn find(&self, experiment: u32, finished: Finished) -> Whereabouts {
        let Finished { segment, entry, .. } = finished;
        let here = self.unwritten.get(&(experiment, segment));
        match here.and_then(|segment| segment.entries.get(entry as usize)) {
            Some(entry) => Whereabouts::Here {
                session_id: entry.session.clone(),
                record: entry.record.clone(),
                telemetry: entry.telemetry.clone(),
            },
            None => Whereabouts::Archived { segment, entry },
        }
    }

    /// The batch that holds the first record that is not in the archive.
    pub fn first(&self) -> Option<Place> {
        self.unwritten.values().map(|segment| segment.first).min()
    }

    /// All records that are not in the archive, for a snapshot that takes the place of the batches that
    /// hold them. Until they are archived no other snapshot may take its place.
    pub fn put_into_snapshot(&mut self) -> Vec<SessionDone> {
        let mut records = Vec::with_capacity(self.entries);
        for ((experiment, number), segment) in &mut self.unwritten {
            segment.in_snapshot = true;
            let entries = (0..).zip(&segment.entries);
            records.extend(entries.map(|(place, entry)| SessionDone {
                session: Some(SessionPlace {
                    experiment: *experiment,
                    position: entry.position,
                }),
                digest: entry.digest,
                session_id: entry.session.clone(),
                record: entry.record.clone(),
                telemetry: entry.telemetry.clone(),
                segment: *number,
                entry: place,
            }));
        }
        records
    }

    /// Takes the records of such a snapshot back.
    pub fn take_from_snapshot(&mut self, records: &[SessionDone], upto: Place) {
        for done in records {
            self.add(done, upto, Duration::ZERO);
        }
        for segment in self.unwritten.values_mut() {
            segment.in_snapshot = true;
        }
    }

    /// Whether records are in the last snapshot and nowhere else.
    pub fn needs_snapshot(&self) -> bool {
        self.unwritten.values().any(|segment| segment.in_snapshot)
    }

    /// Bytes of records that are not in the archive.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How long the oldest record has been waiting for the archive.
    pub fn oldest(&self, now: Duration) -> Duration {
        let since = self.unwritten.values().map(|segment| segment.since).min();
        since.map_or(Duration::ZERO, |since| now.saturating_sub(since))
    }

    /// How many records are not in the archive.
    pub fn entries(&self) -> usize {
        self.entries
    }
}
