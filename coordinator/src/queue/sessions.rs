//! The sessions of one experiment: a byte of state each, how often each was tried, what those that
//! ended left, and in which order those that wait are played. Knows no worker, no team and no time.
//! Called by `experiment.rs`.

use std::collections::{BTreeMap, BTreeSet};

pub mod kept;
mod line;

use line::Line;

/// How many sessions a grid has; they stand in order of cell, repeat, place in their series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    /// Settings.
    pub cells: u32,
    /// How often each is played.
    pub repeats: u32,
    /// Sessions that follow each other, in each repeat.
    pub series_length: u32,
}

impl Shape {
    /// Sessions in all.
    pub fn sessions(self) -> u32 {
        let each = self.repeats.saturating_mul(self.series_length);
        self.cells.saturating_mul(each)
    }

    /// Where a session stands.
    pub fn position(self, cell: u32, repeat: u32, place: u32) -> u32 {
        (cell * self.repeats + repeat) * self.series_length + place
    }

    /// Cell, repeat and place in the series of a position.
    pub fn parts(self, position: u32) -> (u32, u32, u32) {
        let length = self.series_length.max(1);
        let series = position / length;
        let repeats = self.repeats.max(1);
        (series / repeats, series % repeats, position % length)
    }

    fn place(self, position: u32) -> u32 {
        position % self.series_length.max(1)
    }
}

/// What a session does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// Waits for its first try, in order of position.
    Fresh = 0,
    /// Waits before all that are fresh: it was given back, or the one before it has ended.
    Returned = 1,
    /// Waits behind all others: it crashed, or is tried again.
    Last = 2,
    /// Waits for a worker of its own, because one was lost with it.
    Suspect = 3,
    /// Its turn in its series has not come.
    Waiting = 4,
    /// One before it in its series was set aside.
    Stopped = 5,
    /// A worker plays it.
    Leased = 6,
    /// Finished.
    Done = 7,
    /// Set aside because the outside did not answer.
    Parked = 8,
    /// Set aside because it failed too often, or can never run.
    Dead = 9,
    /// Not to be played any more.
    Cancelled = 10,
}

/// How many states there are.
const STATES: usize = 11;

impl State {
    const ALL: [Self; STATES] = [
        Self::Fresh,
        Self::Returned,
        Self::Last,
        Self::Suspect,
        Self::Waiting,
        Self::Stopped,
        Self::Leased,
        Self::Done,
        Self::Parked,
        Self::Dead,
        Self::Cancelled,
    ];

    /// The state of this byte in a snapshot.
    pub fn of_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// Whether a worker could take it now.
    pub fn is_queued(self) -> bool {
        matches!(
            self,
            Self::Fresh | Self::Returned | Self::Last | Self::Suspect
        )
    }

    /// Whether it was set aside, so that those behind it are not reached.
    fn stops(self) -> bool {
        matches!(self, Self::Parked | Self::Dead | Self::Stopped)
    }
}

/// Tries that came to nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tries {
    /// The session crashed.
    pub crashes: u32,
    /// Its worker was lost.
    pub losses: u32,
    /// Of these, how often the worker held nothing else.
    pub lost_alone: u32,
}

/// A session that is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Finished {
    /// The beginning of its record's digest.
    pub digest: u64,
    /// The segment of the archive that holds its record, or will.
    pub segment: u32,
    /// Its place there.
    pub entry: u32,
}

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sessions {
    shape: Shape,
    states: Vec<State>,
    counts: [u32; STATES],
    finished: Vec<Finished>,
    tries: BTreeMap<u32, Tries>,
    reasons: BTreeMap<u32, String>,
    /// No session before it is fresh.
    cursor: u32,
    returned: BTreeSet<u32>,
    last: Line,
    suspects: BTreeSet<u32>,
}

impl Sessions {
    /// All of a grid, none of them played.
    pub fn new(shape: Shape) -> Self {
        let count = shape.sessions() as usize;
        let mut sessions = Self {
            shape,
            states: vec![State::Fresh; count],
            finished: vec![Finished::default(); count],
            ..Self::default()
        };
        sessions.counts[State::Fresh as usize] = shape.sessions();
        sessions.begin();
        sessions
    }

    /// The grid.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The state of a session; `None` when there is none at this position.
    pub fn state(&self, position: u32) -> Option<State> {
        self.states.get(position as usize).copied()
    }

    /// How many sessions are in a state.
    pub fn count(&self, state: State) -> u32 {
        self.counts[state as usize]
    }

    /// How many wait for any worker; suspects, which wait for one of their own, are not among them.
    pub fn ready(&self) -> u32 {
        self.count(State::Fresh) + self.count(State::Returned) + self.count(State::Last)
    }

    /// Tries of a session that came to nothing.
    pub fn tries(&self, position: u32) -> Tries {
        self.tries.get(&position).copied().unwrap_or_default()
    }

    /// What a finished session left.
    pub fn finished(&self, position: u32) -> Option<Finished> {
        let done = self.state(position) == Some(State::Done);
        done.then(|| self.finished[position as usize])
    }

    /// Finished sessions behind a position, in order.
    pub fn finished_after(&self, after: Option<u32>) -> impl Iterator<Item = (u32, Finished)> {
        let first = after.map_or(0, |after| after.saturating_add(1));
        (first..self.shape.sessions())
            .filter_map(|position| Some((position, self.finished(position)?)))
    }

    /// Sessions set aside, with their reasons, in order.
    pub fn set_aside(&self) -> impl Iterator<Item = (u32, State, &str)> {
        let named = self.reasons.iter();
        named.filter_map(|(position, reason)| {
            let state = self.state(*position)?;
            matches!(state, State::Parked | State::Dead).then_some((*position, state, &**reason))
        })
    }

    /// Takes the session whose turn it is; it is leased from now on.
    pub fn take(&mut self) -> Option<u32> {
        let next = self.next_ready()?;
        self.set(next, State::Leased);
        Some(next)
    }

    /// Takes the first suspect.
    pub fn take_suspect(&mut self) -> Option<u32> {
        let first = *self.suspects.first()?;
        self.set(first, State::Leased);
        Some(first)
    }

    /// Takes a session that a worker holds already.
    pub fn adopt(&mut self, position: u32) -> bool {
        let free = self.state(position).is_some_and(State::is_queued);
        if free {
            self.set(position, State::Leased);
        }
        free
    }

    /// A leased session is not played: it goes to the front.
    pub fn give_back(&mut self, position: u32) {
        let suspected = self.tries(position).losses > 0;
        let waits = if suspected {
            State::Suspect
        } else {
            State::Returned
        };
        self.set(position, waits);
    }

    /// A session crashed; it goes last.
    pub fn crash(&mut self, position: u32) -> Tries {
        let tries = self.tries.entry(position).or_default();
        tries.crashes += 1;
        let (now, suspected) = (*tries, tries.losses > 0);
        let waits = if suspected {
            State::Suspect
        } else {
            State::Last
        };
        self.set(position, waits);
        now
    }

    /// Its worker was lost.
    pub fn lose(&mut self, position: u32, alone: bool) -> Tries {
        let tries = self.tries.entry(position).or_default();
        tries.losses += 1;
        tries.lost_alone += u32::from(alone);
        let now = *tries;
        self.set(position, State::Suspect);
        now
    }

    /// It has come further than it ever did: workers that were lost with it were not lost by it.
    pub fn progress(&mut self, position: u32) {
        if let Some(tries) = self.tries.get_mut(&position) {
            tries.losses = 0;
            tries.lost_alone = 0;
        }
        if self.state(position) == Some(State::Suspect) {
            self.set(position, State::Returned);
        }
    }

    /// It is set aside, and those behind it in its series are not reached.
    pub fn put_aside(&mut self, position: u32, dead: bool, reason: &str) {
        let state = if dead { State::Dead } else { State::Parked };
        self.set(position, state);
        self.reasons.insert(position, reason.to_owned());
        self.move_behind(position, State::Waiting, State::Stopped);
    }

    /// It is done; the one behind it in its series may begin.
    pub fn finish(&mut self, position: u32, finished: Finished) {
        self.set(position, State::Done);
        self.finished[position as usize] = finished;
        self.tries.remove(&position);
        self.reasons.remove(&position);
        let Some(next) = self.behind(position) else {
            return;
        };
        if matches!(self.state(next), Some(State::Waiting | State::Stopped)) {
            self.set(next, State::Returned);
            self.move_behind(next, State::Stopped, State::Waiting);
        }
    }

    /// What a finished session left is lost: it is played again, unless nothing more is to be.
    pub fn lose_record(&mut self, position: u32, is_cancelled: bool) {
        let waits = match (is_cancelled, self.shape.place(position)) {
            (true, _) => State::Cancelled,
            (false, 0) => State::Returned,
            (false, _) => self.behind_state(position - 1),
        };
        self.set(position, waits);
        // One behind it that is played already goes on; one that waits for its turn waits for this one.
        if let Some(next) = self.behind(position)
            && self.state(next).is_some_and(State::is_queued)
        {
            self.set(next, State::Waiting);
        }
    }

    /// A session that was set aside is tried again, as if for the first time.
    pub fn retry(&mut self, position: u32) {
        self.tries.remove(&position);
        self.reasons.remove(&position);
        self.set(position, State::Last);
        self.move_behind(position, State::Stopped, State::Waiting);
    }

    /// Nothing that has not ended is to be played any more.
    pub fn cancel(&mut self) {
        for position in 0..self.shape.sessions() {
            let state = self.states[position as usize];
            if state.is_queued() || matches!(state, State::Leased | State::Waiting | State::Stopped)
            {
                self.set(position, State::Cancelled);
            }
        }
    }

    /// The experiment is submitted again as it is: what was cancelled begins anew.
    pub fn reopen(&mut self) {
        for position in 0..self.shape.sessions() {
            if self.states[position as usize] == State::Cancelled {
                self.tries.remove(&position);
                self.set(position, State::Fresh);
            }
        }
        self.begin();
    }

    /// The experiment is submitted with another grid: what was cancelled begins anew.
    /// `from` says where the sessions of a cell of this grid were before. What has no place any
    /// more is told to `left`.
    pub fn resubmit(
        &mut self,
        shape: Shape,
        from: impl Fn(u32) -> Option<u32>,
        mut left: impl FnMut(u32, Option<Finished>),
    ) -> BTreeMap<u32, u32> {
        let old = std::mem::replace(self, Self::new(shape));
        let mut moved = BTreeMap::new();
        for cell in 0..shape.cells {
            let Some(before) = from(cell) else { continue };
            for repeat in 0..shape.repeats.min(old.shape.repeats) {
                for place in 0..shape.series_length.min(old.shape.series_length) {
                    let was = old.shape.position(before, repeat, place);
                    let is = shape.position(cell, repeat, place);
                    self.copy(&old, was, is);
                    moved.insert(was, is);
                }
            }
        }
        // They keep their order.
        for was in old.last.in_order() {
            if let Some(is) = moved.get(&was) {
                self.set(*is, State::Last);
            }
        }
        for was in 0..old.shape.sessions() {
            if !moved.contains_key(&was) {
                left(was, old.finished(was));
            }
        }
        self.begin();
        moved
    }

    fn copy(&mut self, old: &Self, was: u32, is: u32) {
        let state = old.states[was as usize];
        if matches!(state, State::Cancelled | State::Waiting | State::Stopped) {
            return;
        }
        self.set(is, state);
        self.finished[is as usize] = old.finished[was as usize];
        if let Some(tries) = old.tries.get(&was) {
            self.tries.insert(is, *tries);
        }
        if let Some(reason) = old.reasons.get(&was) {
            self.reasons.insert(is, reason.clone());
        }
    }

    /// Sessions behind another in their series begin as that one's state says.
    fn begin(&mut self) {
        self.cursor = 0;
        if self.shape.series_length <= 1 {
            return;
        }
        for position in 0..self.shape.sessions() {
            let state = self.states[position as usize];
            let untouched = matches!(state, State::Fresh | State::Waiting | State::Stopped);
            if self.shape.place(position) == 0 || !untouched {
                continue;
            }
            self.set(position, self.behind_state(position - 1));
        }
    }

    /// How the session behind one in its series begins.
    fn behind_state(&self, position: u32) -> State {
        match self.states[position as usize] {
            State::Done => State::Returned,
            before if before.stops() => State::Stopped,
            _ => State::Waiting,
        }
    }

    fn next_ready(&mut self) -> Option<u32> {
        if let Some(first) = self.returned.first() {
            return Some(*first);
        }
        while let Some(state) = self.states.get(self.cursor as usize) {
            if *state == State::Fresh {
                return Some(self.cursor);
            }
            self.cursor += 1;
        }
        self.last.first()
    }

    fn behind(&self, position: u32) -> Option<u32> {
        let next = position + 1;
        (self.shape.place(next) != 0 && next < self.shape.sessions()).then_some(next)
    }

    fn move_behind(&mut self, position: u32, from: State, to: State) {
        let mut last = position;
        while let Some(next) = self.behind(last)
            && self.state(next) == Some(from)
        {
            self.set(next, to);
            last = next;
        }
    }

    fn set(&mut self, position: u32, state: State) {
        let was = std::mem::replace(&mut self.states[position as usize], state);
        self.counts[was as usize] -= 1;
        self.counts[state as usize] += 1;
        match was {
            State::Returned => {
                self.returned.remove(&position);
            }
            State::Suspect => {
                self.suspects.remove(&position);
            }
            State::Last => self.last.leave(position),
            _ => {}
        }
        match state {
            State::Fresh => self.cursor = self.cursor.min(position),
            State::Returned => {
                self.returned.insert(position);
            }
            State::Last => self.last.enter(position),
            State::Suspect => {
                self.suspects.insert(position);
            }
            _ => {}
        }
    }
}
