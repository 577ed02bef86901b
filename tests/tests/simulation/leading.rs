//! The owner's loop: one batch is under way at a time, nobody is answered before it is in the journal,
//! a lost tail is mended, and who was deposed stops.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_coordinator::journal::{JournalError, Place, Snapshot};
use agon_coordinator::owner::state::{Batch, Release};
use agon_proto::v1::journal_entry::Change;
use agon_proto::v1::{JournalBatch, QueueSnapshot};
use bytes::Bytes;
use prost::Message as _;

use crate::Outcome;
use crate::broken::Broken;
use crate::seen::image;
use crate::world::{Event, World};

const TRY_AGAIN: Duration = Duration::from_millis(500);

/// A batch on its way, and what waits for it.
pub struct UnderWay {
    place: Place,
    bytes: Bytes,
    releases: Vec<Release>,
    changes: Vec<Change>,
    image: QueueSnapshot,
    snapshot: Option<(Place, QueueSnapshot, Place)>,
}

/// What came of an append.
#[derive(Debug, Clone, Copy)]
pub enum Appended {
    Done,
    Deposed,
    /// The journal ends here.
    OutOfPlace(Place),
}

impl World {
    /// What the owner's loop does whenever nothing is under way.
    pub fn pump(&mut self, at: usize) -> Outcome {
        loop {
            let snapshot_due = self.chance.once_in(9);
            let Some(owner) = &mut self.coordinators[at].owner else {
                return Ok(());
            };
            if owner.under_way.is_some() {
                return self.collect(at);
            }
            match owner.state.take_batch() {
                Err(releases) if releases.is_empty() => return self.collect(at),
                Err(releases) => self.release(at, releases)?,
                Ok(mut batch) => {
                    let early = match self.broken {
                        Some(Broken::AnswersBeforeItIsDurable) => {
                            std::mem::take(&mut batch.releases)
                        }
                        _ => Vec::new(),
                    };
                    self.send_batch(at, batch, snapshot_due);
                    return self.release(at, early);
                }
            }
        }
    }

    fn send_batch(&mut self, at: usize, batch: Batch, snapshot_due: bool) {
        let delay = match self.chance.once_in(60) {
            true => self.chance.ms(1_000, 14_000),
            false => self.chance.ms(1, 60),
        };
        let term = self.coordinators[at].term;
        let Some(owner) = &mut self.coordinators[at].owner else {
            return;
        };
        let mut changes = changes(&batch.bytes);
        let mut bytes = batch.bytes;
        if self.broken == Some(Broken::JournalsNoPauses) {
            changes.retain(|change| !matches!(change, Change::Paused(_)));
            bytes = encoded(&changes);
        }
        owner.under_way = Some(UnderWay {
            place: batch.place,
            bytes,
            releases: batch.releases,
            changes,
            image: image(owner.state.queue()),
            snapshot: snapshot_due.then(|| owner.state.snapshot()).flatten(),
        });
        self.after(delay, Event::Append(at, term));
    }

    /// The batch reaches the journal.
    pub fn append(&mut self, at: usize) -> Outcome {
        let term = self.coordinators[at].term;
        let lost = !self.calm && self.chance.once_in(12);
        let answer_takes = self.chance.ms(0, 30);
        let Some(owner) = &self.coordinators[at].owner else {
            return Ok(());
        };
        let Some(batch) = &owner.under_way else {
            return Ok(());
        };
        if self.outage_until > self.now {
            self.after(TRY_AGAIN, Event::Append(at, term));
            return Ok(());
        }
        let append = self
            .journal
            .append(owner.epoch, batch.place, batch.bytes.clone());
        let appended = match self.block_on(append) {
            Ok(()) => Appended::Done,
            Err(JournalError::Deposed) => Appended::Deposed,
            Err(JournalError::OutOfPlace { end, .. }) => Appended::OutOfPlace(end),
            Err(error) => return Err(error.to_string()),
        };
        if matches!(appended, Appended::Done) {
            self.invariant_only_the_last_owner_appends(owner.epoch)?;
            self.seen
                .add(batch.place, &batch.changes, batch.image.clone())?;
            self.invariant_pauses_begin_and_end_as_told(&batch.image)?;
        }
        match lost {
            // Nobody knows what happened: it is tried again.
            true => self.after(TRY_AGAIN, Event::Append(at, term)),
            false => self.after(answer_takes, Event::Answered(at, term, appended)),
        }
        Ok(())
    }

    pub fn answered(&mut self, at: usize, appended: Appended) -> Outcome {
        let Some(owner) = &mut self.coordinators[at].owner else {
            return Ok(());
        };
        let Some(batch) = owner.under_way.take() else {
            return Ok(());
        };
        match appended {
            Appended::Done => {}
            Appended::OutOfPlace(end) if end < batch.place => {
                return self.mend(at, batch);
            }
            Appended::Deposed | Appended::OutOfPlace(_) => {
                self.count("deposed owner");
                self.end_term(at);
                return Ok(());
            }
        }
        let epoch = owner.epoch;
        self.release(at, batch.releases)?;
        if let Some((upto, snapshot, trim_to)) = batch.snapshot {
            let bytes = snapshot.encode_to_vec().into();
            let snapshot = Snapshot { upto, bytes };
            // Without it the journal is longer, and nothing else.
            let _ = self.block_on(self.journal.put_snapshot(epoch, snapshot, trim_to));
            self.count("snapshot");
        }
        self.pump(at)
    }

    /// Puts the state in place of a journal that has lost its end.
    fn mend(&mut self, at: usize, batch: UnderWay) -> Outcome {
        let Some(owner) = &mut self.coordinators[at].owner else {
            return Ok(());
        };
        let (epoch, place) = (owner.epoch, batch.place);
        let (mut more, mut releases) = (Vec::new(), batch.releases);
        // What is pending is part of the snapshot as well.
        match owner.state.take_batch() {
            Ok(pending) => {
                more = changes(&pending.bytes);
                releases.extend(pending.releases);
            }
            Err(pending) => releases.extend(pending),
        }
        let snapshot = owner.state.replace_journal(place, &BTreeMap::new());
        let image = image(owner.state.queue());
        let bytes = snapshot.encode_to_vec().into();
        let snapshot = Snapshot { upto: place, bytes };
        let put = self.block_on(self.journal.put_snapshot(epoch, snapshot, place));
        if put.is_err() {
            self.end_term(at);
            return Ok(());
        }
        self.note(format!("c{at} mends the journal at batch {}", place.0));
        self.count("mended journal");
        self.seen.mended(place, &batch.changes, &more, &image)?;
        self.release(at, releases)?;
        self.pump(at)
    }

    fn release(&mut self, at: usize, releases: Vec<Release>) -> Outcome {
        for release in releases {
            let Some(owner) = &mut self.coordinators[at].owner else {
                return Ok(());
            };
            match release {
                Release::Send(stream, message) => {
                    let sent = owner
                        .state
                        .outbox(stream)
                        .map(|outbox| outbox.try_send(message));
                    if let Some(Err(_)) = sent {
                        owner.state.on_undelivered(stream);
                    }
                }
                Release::Reply(reply) => reply(),
                Release::Closed(key) => owner.state.on_segment_closed(key),
                Release::Stored(_) => {}
            }
        }
        self.collect(at)?;
        self.collect_commands(at)
    }
}

fn changes(batch: &Bytes) -> Vec<Change> {
    let batch = JournalBatch::decode(batch.clone()).expect("a batch of our own");
    batch
        .entries
        .into_iter()
        .filter_map(|entry| entry.change)
        .collect()
}

fn encoded(changes: &[Change]) -> Bytes {
    let entries = changes.iter().cloned().map(agon_coordinator::queue::entry);
    let batch = JournalBatch {
        entries: entries.collect(),
    };
    batch.encode_to_vec().into()
}
