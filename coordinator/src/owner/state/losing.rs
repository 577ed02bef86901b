//! What an archive that lies in the journal's store loses with it. Called by the owner's state when the
//! journal has lost its end.

use std::collections::{BTreeMap, BTreeSet};

use agon_proto::v1::ExperimentSubmitted;

use super::OwnerState;
use crate::journal::Place;
use crate::owner::segments::SegmentKey;

impl OwnerState {
    /// The archive lies in the journal's store and has these segments.
    pub fn with_archive_in_journal(mut self, archived: &BTreeMap<u32, Vec<u32>>) -> Self {
        let keys = archived.iter();
        let keys = keys.flat_map(|(key, numbers)| numbers.iter().map(|number| (*key, *number)));
        self.archived = Some(keys.collect());
        self
    }

    /// Experiments with segments that the archive had, if it may lose them.
    pub fn in_danger(&self) -> Vec<ExperimentSubmitted> {
        let archived = self.archived.iter().flatten();
        let keys: BTreeSet<u32> = archived.map(|(key, _)| *key).collect();
        let submitted = keys.into_iter().filter_map(|key| self.queue.submitted(key));
        submitted.cloned().collect()
    }

    /// Takes in what an archive in the journal's store has lost: segments that are kept are written again,
    /// sessions of others are played again.
    pub(super) fn take_losses_in(&mut self, place: Place, left: &BTreeMap<u32, Vec<u32>>) {
        let is_lost = |(key, number): &SegmentKey| {
            let listed = left.get(key);
            listed.is_some_and(|numbers| !numbers.contains(number))
        };
        let archived = self.archived.iter().flatten();
        let lost: Vec<SegmentKey> = archived.copied().filter(is_lost).collect();
        let mut gone: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for key in lost {
            if let Some(archived) = &mut self.archived {
                archived.remove(&key);
            }
            if !self.segments.write_again(key, place, self.now) {
                gone.entry(key.0).or_default().insert(key.1);
            }
        }
        for (key, segments) in gone {
            let sessions = self.queue.lose_segments(key, &segments);
            let named = self.queue.submitted(key).map(|one| one.name.as_str());
            tracing::error!(
                experiment = named,
                sessions,
                "the store has lost records that were in it alone; their sessions are played again"
            );
        }
    }
}
