//! What an onlooker knows: every batch that became durable and the queue as it was then, what follows
//! from the batches when they are read one by one, and what lies in the archive. Only compared, by the
//! invariants; nothing of it flows back.

use std::collections::{BTreeMap, BTreeSet};

use agon_coordinator::archive::Entry;
use agon_coordinator::journal::Place;
use agon_coordinator::queue::Queue;
use agon_coordinator::queue::sessions::State;
use agon_proto::v1::QueueSnapshot;
use agon_proto::v1::journal_entry::Change;
use bytes::Bytes;

use crate::Outcome;

/// A session, whatever grid it stands in: the experiment's number and the session's id.
pub type SessionName = (u32, String);

/// A batch that is in the journal, with the queue after it.
struct Durable {
    changes: Vec<Change>,
    image: QueueSnapshot,
}

#[derive(Default)]
pub struct Seen {
    history: BTreeMap<Place, Durable>,
    pub facts: Facts,
    /// Reasons of spent budgets that workers have given.
    pub spent: BTreeSet<String>,
    /// Segments with the names of their experiments.
    pub archive: BTreeMap<(String, u32), Vec<Entry>>,
    /// Experiments that were deleted, with their records. A lost tail brings them back without.
    pub removed: BTreeSet<u32>,
    /// The highest epoch that was granted.
    pub last_epoch: u64,
}

/// What follows from the journal.
#[derive(Default)]
pub struct Facts {
    /// Digest and record of each finished session.
    pub done: BTreeMap<SessionName, (u64, Bytes)>,
    pub names: BTreeMap<u32, String>,
    /// The document of each experiment.
    pub documents: BTreeMap<u32, String>,
    pub paused: BTreeSet<u32>,
    pub cancelled: BTreeSet<u32>,
    /// Experiments with determinism faults.
    pub faults: BTreeSet<u32>,
}

impl Seen {
    /// A batch is in the journal.
    pub fn add(&mut self, place: Place, changes: &[Change], image: QueueSnapshot) -> Outcome {
        if self.history.contains_key(&place) {
            return Ok(());
        }
        for change in changes {
            self.facts.take(change, &self.spent)?;
        }
        let changes = changes.to_vec();
        self.history.insert(place, Durable { changes, image });
        Ok(())
    }

    /// The journal was mended at a place: what the batch there changed is in the snapshot, whether or
    /// not it was in the journal before, and so is what was to come after it.
    pub fn mended(
        &mut self,
        place: Place,
        batch: &[Change],
        more: &[Change],
        image: &QueueSnapshot,
    ) -> Outcome {
        self.add(place, batch, image.clone())?;
        for change in more {
            self.facts.take(change, &self.spent)?;
        }
        if let Some(durable) = self.history.get_mut(&place) {
            durable.changes.extend_from_slice(more);
            durable.image = image.clone();
        }
        Ok(())
    }

    /// Somebody reads the journal, which ends here: what was behind is lost.
    pub fn ends_at(&mut self, end: Place) -> Outcome {
        if self.history.split_off(&end.next()).is_empty() {
            return Ok(());
        }
        let mut facts = Facts::default();
        for durable in self.history.values() {
            for change in &durable.changes {
                facts.take(change, &self.spent)?;
            }
        }
        self.facts = facts;
        Ok(())
    }

    /// The queue after the last batch.
    pub fn image(&self) -> Option<&QueueSnapshot> {
        self.history
            .last_key_value()
            .map(|(_, durable)| &durable.image)
    }
}

impl Facts {
    fn take(&mut self, change: &Change, spent: &BTreeSet<String>) -> Outcome {
        match change {
            Change::Submitted(submitted) => {
                let key = submitted.experiment;
                self.names.insert(key, submitted.name.clone());
                self.documents.insert(key, submitted.document.clone());
                self.cancelled.remove(&key);
            }
            Change::Done(done) => {
                let key = done
                    .session
                    .map(|session| session.experiment)
                    .unwrap_or_default();
                let session = (key, done.session_id.clone());
                let new = (done.digest, done.record.clone());
                let first = self.done.entry(session).or_insert_with(|| new.clone());
                if *first != new {
                    return Err(format!(
                        "invariant_no_session_is_done_twice: {} has a second record",
                        done.session_id
                    ));
                }
            }
            Change::Fault(fault) => {
                let key = fault.session.map(|session| session.experiment);
                self.faults.extend(key);
            }
            Change::Paused(paused) => {
                if !spent.contains(&paused.reason) {
                    return Err(format!(
                        "invariant_pauses_begin_and_end_as_told: {:?} is nobody's reason",
                        paused.reason
                    ));
                }
                self.paused.insert(paused.experiment);
            }
            Change::Resumed(resumed) => drop(self.paused.remove(&resumed.experiment)),
            Change::Retried(retried) => drop(self.cancelled.remove(&retried.experiment)),
            Change::Cancelled(cancelled) => {
                self.paused.remove(&cancelled.experiment);
                self.cancelled.insert(cancelled.experiment);
            }
            Change::Deleted(deleted) => self.forget(deleted.experiment),
            _ => {}
        }
        Ok(())
    }

    fn forget(&mut self, key: u32) {
        self.names.remove(&key);
        self.documents.remove(&key);
        self.paused.remove(&key);
        self.cancelled.remove(&key);
        self.faults.remove(&key);
        self.done.retain(|(of, _), _| *of != key);
    }

    pub fn key(&self, name: &str) -> Option<u32> {
        let found = self.names.iter().find(|(_, known)| *known == name);
        found.map(|(key, _)| *key)
    }
}

/// What of a queue follows from the journal alone: not who is first among those that are ready, which
/// depends on leases.
pub fn image(queue: &Queue) -> QueueSnapshot {
    let mut snapshot = queue.snapshot();
    for experiment in &mut snapshot.experiments {
        let ready = [State::Fresh as u8, State::Returned as u8, State::Last as u8];
        let states = experiment.states.iter();
        let states = states.map(|state| {
            if ready.contains(state) {
                ready[0]
            } else {
                *state
            }
        });
        experiment.states = states.collect::<Vec<u8>>().into();
        experiment.last_in_line.clear();
        // Numbers that the archive knows are passed over.
        experiment.open_segment = 0;
        experiment.open_entries = 0;
    }
    snapshot
}
