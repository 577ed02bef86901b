//! One experiment of the queue: what was submitted, its sessions, its pause, and what its cells left
//! that are not part of it any more. Everything here follows from the journal. Called by the queue.

use std::collections::{BTreeMap, BTreeSet};

use agon_proto::v1::{
    ExperimentSnapshot, ExperimentSubmitted, GridShape, LeftSnapshot, SessionPlace,
    SessionSetAside, TriesSnapshot,
};
use bytes::Bytes;

use super::sessions::kept::{self, Kept};
use super::sessions::{Finished, Sessions, Shape, State, Tries};

/// Bytes of a cell's key.
pub const CELL_KEY: usize = 16;

/// Bytes of a finished session in a snapshot.
const FINISHED: usize = 16;

/// A session that has left: the key of its cell, its repeat, its place in the series.
type LeftKey = ([u8; CELL_KEY], u32, u32);

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// As last submitted.
    pub submitted: ExperimentSubmitted,
    /// The budget that counts.
    pub budget: Option<u64>,
    /// Its sessions.
    pub sessions: Sessions,
    /// What `grid_of` names its grid; a lease of another one names other sessions.
    pub grid: u64,
    /// Why nothing of it is played at present; empty unless it pauses.
    pub paused: String,
    /// Whether somebody paused it, so that a budget does not end that.
    pub paused_by_hand: bool,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// Leases up to this one cannot pause it.
    pub resumed_after: u64,
    /// Sessions that were finished twice with different records.
    pub faults: BTreeSet<u32>,
    left: BTreeMap<LeftKey, Finished>,
    /// The segment that is filled.
    open_segment: u32,
    open_entries: u32,
    /// Counts its changes.
    pub version: u64,
    /// In memory only: why it cannot be played by this program; empty when it can.
    pub outdated: String,
    /// In memory only: nothing of it is granted before.
    pub held_back_until: Option<std::time::Duration>,
}

impl Experiment {
    /// A new one.
    pub fn new(submitted: ExperimentSubmitted) -> Self {
        let first_segment = submitted.first_segment.max(1);
        Self {
            budget: submitted.budget_nanodollars,
            sessions: Sessions::new(shape_of(&submitted)),
            grid: grid_of(&submitted),
            submitted,
            paused: String::new(),
            paused_by_hand: false,
            cancelled: false,
            resumed_after: 0,
            faults: BTreeSet::new(),
            left: BTreeMap::new(),
            open_segment: first_segment,
            open_entries: 0,
            version: 1,
            outdated: String::new(),
            held_back_until: None,
        }
    }

    /// Takes in another submission; says where its sessions are now, unless they are where they
    /// were. A budget that changed in the document counts from now on, and a higher one ends a pause.
    pub fn resubmit(
        &mut self,
        submitted: ExperimentSubmitted,
        lease: u64,
    ) -> Option<BTreeMap<u32, u32>> {
        self.set_budget(&submitted, lease);
        self.cancelled = false;
        self.outdated.clear();
        let shape = shape_of(&submitted);
        if submitted.cells == self.submitted.cells && shape == self.sessions.shape() {
            self.sessions.reopen();
            self.submitted = submitted;
            return None;
        }
        self.grid = grid_of(&submitted);
        let old_shape = self.sessions.shape();
        let old_cells = std::mem::take(&mut self.submitted.cells);
        let old: BTreeMap<&[u8], u32> = cells(&old_cells).zip(0..).collect();
        let new: Vec<&[u8]> = cells(&submitted.cells).collect();
        let left = &mut self.left;
        let moved = self.sessions.resubmit(
            shape,
            |cell| old.get(new.get(cell as usize)?).copied(),
            |position, finished| {
                let (cell, repeat, place) = old_shape.parts(position);
                if let (Some(finished), Some(key)) = (finished, key_of(&old_cells, cell)) {
                    left.insert((key, repeat, place), finished);
                }
            },
        );
        self.faults = self
            .faults
            .iter()
            .filter_map(|at| moved.get(at).copied())
            .collect();
        self.submitted = submitted;
        self.bring_back();
        Some(moved)
    }

    /// Finished sessions that had left and are part of the grid again.
    fn bring_back(&mut self) {
        let shape = self.sessions.shape();
        if self.left.is_empty() {
            return;
        }
        for cell in 0..shape.cells {
            let Some(key) = key_of(&self.submitted.cells, cell) else {
                return;
            };
            let range = (key, 0, 0)..=(key, u32::MAX, u32::MAX);
            let found: Vec<LeftKey> = self.left.range(range).map(|(key, _)| *key).collect();
            for (key, repeat, place) in found {
                if repeat >= shape.repeats || place >= shape.series_length {
                    continue;
                }
                let position = shape.position(cell, repeat, place);
                if let Some(finished) = self.left.remove(&(key, repeat, place)) {
                    self.sessions.finish(position, finished);
                }
            }
        }
    }

    /// Of the finished sessions, how many would stay if it were submitted so, and how many would
    /// leave.
    pub fn would_keep(&self, submitted: &ExperimentSubmitted) -> (u32, u32) {
        let (old, new) = (self.sessions.shape(), shape_of(submitted));
        let kept: BTreeSet<&[u8]> = cells(&submitted.cells).collect();
        let mut stays = 0;
        let mut leaves = 0;
        for (position, _) in self.sessions.finished_after(None) {
            let (cell, repeat, place) = old.parts(position);
            let key = key_of(&self.submitted.cells, cell);
            let stands = key.is_some_and(|key| kept.contains(&key[..]));
            match stands && repeat < new.repeats && place < new.series_length {
                true => stays += 1,
                false => leaves += 1,
            }
        }
        (stays, leaves)
    }

    fn set_budget(&mut self, submitted: &ExperimentSubmitted, lease: u64) {
        let budget = submitted.budget_nanodollars;
        if self.submitted.budget_nanodollars == budget {
            return;
        }
        let higher = match (self.budget, budget) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(before), Some(now)) => now > before,
        };
        self.budget = budget;
        if higher && !self.paused_by_hand {
            self.resume(None, lease);
        }
    }

    /// Ends its pause. Leases up to this one cannot begin it again.
    pub fn resume(&mut self, budget: Option<u64>, after_lease: u64) {
        self.paused.clear();
        self.paused_by_hand = false;
        self.resumed_after = after_lease;
        self.budget = budget.or(self.budget);
    }

    /// Where the record of the session that is done next will lie.
    pub fn next_entry(&self) -> (u32, u32) {
        (self.open_segment, self.open_entries)
    }

    /// A session is done.
    pub fn finish(&mut self, position: u32, finished: Finished) {
        self.sessions.finish(position, finished);
        if finished.segment >= self.open_segment {
            self.open_segment = finished.segment;
            self.open_entries = finished.entry + 1;
        }
    }

    /// These segments are lost, and so are their records: their sessions are played again. How many.
    pub fn lose_segments(&mut self, lost: &BTreeSet<u32>) -> usize {
        self.left.retain(|_, one| !lost.contains(&one.segment));
        let finished = self.sessions.finished_after(None);
        let gone = finished.filter(|(_, one)| lost.contains(&one.segment));
        let gone: Vec<u32> = gone.map(|(position, _)| position).collect();
        for position in &gone {
            self.sessions.lose_record(*position, self.cancelled);
            self.faults.remove(position);
        }
        gone.len()
    }

    /// Closes the segment that is filled.
    pub fn close_segment(&mut self, segment: u32) {
        if segment >= self.open_segment {
            self.open_segment = segment + 1;
            self.open_entries = 0;
        }
    }

    /// Whether workers may be given something of it.
    pub fn is_open(&self) -> bool {
        self.paused.is_empty()
            && !self.cancelled
            && self.outdated.is_empty()
            && self.held_back_until.is_none()
    }

    /// Whether nothing of it is left to play.
    pub fn is_over(&self) -> bool {
        let waits = self.sessions.ready() + self.sessions.count(State::Suspect);
        waits == 0 && self.sessions.count(State::Leased) == 0
    }

    /// Whether every session of it is finished.
    pub fn is_finished(&self) -> bool {
        self.sessions.count(State::Done) == self.sessions.shape().sessions()
    }

    /// For a snapshot.
    pub fn keep(&self) -> ExperimentSnapshot {
        let kept = kept::keep(&self.sessions);
        let place = |position| {
            Some(SessionPlace {
                experiment: self.submitted.experiment,
                position,
            })
        };
        let aside = kept
            .reasons
            .into_iter()
            .map(|(position, reason)| SessionSetAside {
                session: place(position),
                dead: self.sessions.state(position) == Some(State::Dead),
                reason,
            });
        let tries = kept
            .tries
            .into_iter()
            .map(|(position, tries)| TriesSnapshot {
                position,
                crashes: tries.crashes,
                losses: tries.losses,
                lost_alone: tries.lost_alone,
            });
        let left = self
            .left
            .iter()
            .map(|((key, repeat, place), finished)| LeftSnapshot {
                key: Bytes::copy_from_slice(key),
                repeat: *repeat,
                place: *place,
                digest: finished.digest,
                segment: finished.segment,
                entry: finished.entry,
            });
        let states: Vec<u8> = kept.states.into_iter().map(|state| state as u8).collect();
        ExperimentSnapshot {
            budget_nanodollars: self.budget,
            states: states.into(),
            finished: packed(&kept.finished).into(),
            tries: tries.collect(),
            set_aside: aside.collect(),
            faults: self.faults.iter().copied().collect(),
            paused: self.paused.clone(),
            paused_by_hand: self.paused_by_hand,
            cancelled: self.cancelled,
            left: left.collect(),
            open_segment: self.open_segment,
            open_entries: self.open_entries,
            last_in_line: kept.last,
            submitted: Some(self.submitted.clone()),
        }
    }

    /// From a snapshot; `None` when that is none.
    pub fn restore(snapshot: ExperimentSnapshot) -> Option<Self> {
        let submitted = snapshot.submitted?;
        let states = snapshot.states.iter().map(|byte| State::of_byte(*byte));
        let finished = snapshot.finished.chunks_exact(FINISHED).map(unpacked);
        let tries = snapshot.tries.into_iter().map(|tries| {
            let kept = Tries {
                crashes: tries.crashes,
                losses: tries.losses,
                lost_alone: tries.lost_alone,
            };
            (tries.position, kept)
        });
        let reasons = snapshot.set_aside.into_iter().map(|aside| {
            let position = aside.session.map(|session| session.position)?;
            Some((position, aside.reason))
        });
        let kept = Kept {
            states: states.collect::<Option<_>>()?,
            finished: finished.collect::<Option<_>>()?,
            tries: tries.collect(),
            reasons: reasons.collect::<Option<_>>()?,
            last: snapshot.last_in_line,
        };
        let left = snapshot.left.into_iter().map(|left| {
            let key = <[u8; CELL_KEY]>::try_from(&left.key[..]).ok()?;
            let finished = Finished {
                digest: left.digest,
                segment: left.segment,
                entry: left.entry,
            };
            Some(((key, left.repeat, left.place), finished))
        });
        Some(Self {
            budget: snapshot.budget_nanodollars,
            sessions: kept::restore(shape_of(&submitted), kept)?,
            grid: grid_of(&submitted),
            paused: snapshot.paused,
            paused_by_hand: snapshot.paused_by_hand,
            cancelled: snapshot.cancelled,
            resumed_after: 0,
            faults: snapshot.faults.into_iter().collect(),
            left: left.collect::<Option<_>>()?,
            open_segment: snapshot.open_segment,
            open_entries: snapshot.open_entries,
            version: 1,
            outdated: String::new(),
            held_back_until: None,
            submitted,
        })
    }
}

/// The name of a submission's grid: equal for those whose positions hold the same sessions, in every
/// journal. A number counted up would be given twice by a journal that has lost its end, and a lease
/// of then would stand for whatever session is there now.
pub fn grid_of(submitted: &ExperimentSubmitted) -> u64 {
    let shape = shape_of(submitted);
    let mut hasher = blake3::Hasher::new();
    for number in [shape.cells, shape.repeats, shape.series_length] {
        hasher.update(&number.to_le_bytes());
    }
    hasher.update(&submitted.cells);
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}

/// The shape of a submission's grid.
pub fn shape_of(submitted: &ExperimentSubmitted) -> Shape {
    let GridShape {
        cells,
        repeats,
        series_length,
    } = submitted.shape.unwrap_or_default();
    Shape {
        cells,
        repeats,
        series_length,
    }
}

fn cells(keys: &Bytes) -> impl Iterator<Item = &[u8]> {
    keys.chunks_exact(CELL_KEY)
}

fn key_of(keys: &Bytes, cell: u32) -> Option<[u8; CELL_KEY]> {
    let first = cell as usize * CELL_KEY;
    keys.get(first..first + CELL_KEY)?.try_into().ok()
}

fn packed(finished: &[Finished]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(finished.len() * FINISHED);
    for one in finished {
        bytes.extend(one.digest.to_le_bytes());
        bytes.extend(one.segment.to_le_bytes());
        bytes.extend(one.entry.to_le_bytes());
    }
    bytes
}

fn unpacked(bytes: &[u8]) -> Option<Finished> {
    Some(Finished {
        digest: u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?),
        segment: u32::from_le_bytes(bytes.get(8..12)?.try_into().ok()?),
        entry: u32::from_le_bytes(bytes.get(12..16)?.try_into().ok()?),
    })
}
