//! The queue: which sessions wait, who plays which, what was tried, whose turn it is, what pauses. One
//! synchronous state machine: events go in with the time, effects come out, and every change is
//! first an entry of the journal, from which the same queue comes again. It knows no store, no
//! stream, no clock, no spec and no id: a session is an experiment's number and a place in its
//! grid, a few bytes. Reading order: [`messages`], [`sessions`], [`experiment`], [`workers`].

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use agon_proto::v1::journal_entry::Change;
use agon_proto::v1::{QueueSnapshot, SegmentClosed, SegmentWritten};

mod commands;
mod experiment;
mod granting;
mod journaling;
mod messages;
mod progress;
pub mod sessions;
mod settling;
#[cfg(test)]
mod tests;
mod turns;
mod workers;

pub use experiment::{CELL_KEY, grid_of, shape_of};
pub use journaling::entry;
pub use messages::{
    Effect, Failure, Granted, LeaseId, Outcome, Refusal, SessionKey, SessionResult, Settled,
    StreamId,
};
pub use progress::{ExperimentEntry, Progress, SetAside, TeamLoad};
pub use settling::{MOST_CRASHES, MOST_LOSSES_ALONE};
pub use workers::{Capabilities, Introduction, WorkerKey};

use experiment::Experiment;
use turns::Turns;
use workers::Workers;

/// Leases of one owner are told apart by this many bits of their grants, owners by the rest. An epoch
/// may be any number, so only its last bits find room: grants differ, but say nothing of the order
/// of owners.
const GRANT_BITS: u32 = 36;

/// See the module.
#[derive(Debug)]
pub struct Queue {
    experiments: BTreeMap<u32, Experiment>,
    names: BTreeMap<String, u32>,
    last_experiment: u32,
    turns: Turns,
    workers: Workers,
    /// The worker that gets nothing until it is idle, because suspects wait, and until when nobody
    /// else takes its place.
    emptied: Option<(WorkerKey, Duration)>,
    lease_time: Duration,
    last_grant: u64,
    /// Nothing is granted before: workers of the owner before may still hold sessions.
    quiet_until: Duration,
    draining: bool,
    last_tick: Duration,
    /// Sessions that a team may have at work at a time.
    team_limits: BTreeMap<String, u32>,
    effects: Vec<Effect>,
}

impl Queue {
    /// An empty queue of the owner of this epoch. Workers that are not heard of for `lease_time` are
    /// lost.
    pub fn new(epoch: u64, lease_time: Duration) -> Self {
        Self {
            experiments: BTreeMap::new(),
            names: BTreeMap::new(),
            last_experiment: 0,
            turns: Turns::default(),
            workers: Workers::default(),
            emptied: None,
            lease_time,
            last_grant: epoch << GRANT_BITS,
            quiet_until: Duration::ZERO,
            draining: false,
            last_tick: Duration::ZERO,
            team_limits: BTreeMap::new(),
            effects: Vec::new(),
        }
    }

    /// Grants teams no more than so many sessions at a time; teams that are not named have no limit of
    /// their own. What is at work already stays.
    pub fn limit_teams(&mut self, limits: BTreeMap<String, u32>) {
        self.team_limits = limits;
    }

    /// What is to be done since the last call.
    pub fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Takes in a change that was journaled before. What it makes nonsense of is passed over.
    pub fn replay(&mut self, change: &Change) {
        self.apply(change);
    }

    /// The queue after all that was journaled, without leases and workers.
    pub fn snapshot(&self) -> QueueSnapshot {
        QueueSnapshot {
            experiments: self.experiments.values().map(Experiment::keep).collect(),
            last_experiment: self.last_experiment,
            records: Vec::new(),
        }
    }

    /// Puts a snapshot in place of all experiments. False when it cannot be read.
    pub fn restore(&mut self, snapshot: QueueSnapshot) -> bool {
        for kept in snapshot.experiments {
            let Some(experiment) = Experiment::restore(kept) else {
                return false;
            };
            let key = experiment.submitted.experiment;
            let mut experiment = experiment;
            experiment.resumed_after = self.last_grant;
            self.names.insert(experiment.submitted.name.clone(), key);
            self.experiments.insert(key, experiment);
            self.refresh(key);
        }
        self.last_experiment = snapshot.last_experiment;
        true
    }

    /// Grants nothing before: workers that held sessions under another owner say so meanwhile.
    pub fn keep_quiet_until(&mut self, time: Duration) {
        self.quiet_until = self.quiet_until.max(time);
    }

    /// These segments are lost with their records, so their sessions are played again. How many. No entry
    /// of the journal says so: only a snapshot that takes the journal's place may follow.
    pub fn lose_segments(&mut self, key: u32, lost: &BTreeSet<u32>) -> usize {
        let Some(experiment) = self.experiments.get_mut(&key) else {
            return 0;
        };
        let sessions = experiment.lose_segments(lost);
        self.changed(key);
        sessions
    }

    /// Closes the segment that is filled, if it has records; says its number.
    pub fn close_segment(&mut self, key: u32) -> Option<u32> {
        let (segment, entries) = self.experiments.get(&key)?.next_entry();
        (entries > 0).then(|| {
            self.record(Change::SegmentClosed(SegmentClosed {
                experiment: key,
                segment,
            }));
            segment
        })
    }

    /// The archive holds segments of an experiment up to this one, of which the journal knows nothing
    /// because it lost its tail: the next one is filled.
    pub fn skip_segments(&mut self, key: u32, upto: u32) {
        self.record(Change::SegmentClosed(SegmentClosed {
            experiment: key,
            segment: upto,
        }));
    }

    /// A closed segment lies in the archive.
    pub fn segment_written(&mut self, experiment: u32, segment: u32) {
        self.effects
            .push(Effect::Append(Change::SegmentWritten(SegmentWritten {
                experiment,
                segment,
            })));
    }

    fn key(&self, name: &str) -> Result<u32, Refusal> {
        let found = self.names.get(name).copied();
        found.ok_or_else(|| Refusal::Unknown(name.to_owned()))
    }

    fn record(&mut self, change: Change) {
        self.apply(&change);
        self.effects.push(Effect::Append(change));
    }

    /// An experiment has changed: who watches it hears of it, and it has turns if it has something to
    /// offer.
    fn changed(&mut self, key: u32) {
        if let Some(experiment) = self.experiments.get_mut(&key) {
            experiment.version += 1;
        }
        self.refresh(key);
    }

    fn refresh(&mut self, key: u32) {
        let Some(experiment) = self.experiments.get(&key) else {
            return;
        };
        let submitted = &experiment.submitted;
        if experiment.is_open() && experiment.sessions.ready() > 0 {
            self.turns.enter(&submitted.team, key, submitted.priority);
        } else {
            self.turns.leave(&submitted.team, key);
        }
    }
}
