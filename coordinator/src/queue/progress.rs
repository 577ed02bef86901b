//! What is told of an experiment: counts, what was set aside and why, whether it pauses. Kept up to
//! date as the queue changes; nothing is searched for it but what was set aside.

use std::collections::BTreeMap;

use super::experiment::Experiment;
use super::sessions::{Finished, State};
use super::{Queue, Refusal};

/// Sessions set aside that progress lists with their reasons; counts are always complete.
pub const MOST_LISTED: usize = 10_000;

/// How far an experiment is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Its number in the journal.
    pub key: u32,
    /// Sessions of the experiment.
    pub sessions: u32,
    /// Ready to be leased.
    pub queued: u32,
    /// Behind a session of their series that is queued or running.
    pub waiting: u32,
    /// Behind a session of their series that was set aside: not reached until that is retried.
    pub stopped: u32,
    /// Leased.
    pub running: u32,
    /// Finished.
    pub done: u32,
    /// Set aside because the outside did not answer.
    pub parked: Vec<SetAside>,
    /// Set aside because they failed too often.
    pub dead: Vec<SetAside>,
    /// Sessions that were finished twice with different records.
    pub determinism_faults: Vec<u32>,
    /// Workers that are connected.
    pub workers: usize,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// Why nothing of it is leased at present; empty unless it pauses.
    pub paused: String,
    /// Whether somebody paused it.
    pub paused_by_hand: bool,
    /// What no connected worker has that it needs; empty when one has.
    pub unplayable: String,
}

impl Progress {
    /// Whether nothing is left to run. Who waits, waits for one that is queued or running.
    pub fn is_over(&self) -> bool {
        self.queued == 0 && self.running == 0
    }
}

/// A session set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// The session.
    pub position: u32,
    /// Why.
    pub reason: String,
    /// How often it was tried.
    pub attempts: u32,
}

/// An experiment in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentEntry {
    /// Its name.
    pub name: String,
    /// Who pays.
    pub team: String,
    /// Its sessions.
    pub sessions: u32,
    /// Of these, done.
    pub done: u32,
    /// Of these, parked or dead.
    pub set_aside: u32,
    /// Of these, behind one of their series that was set aside.
    pub stopped: u32,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// Why nothing of it is leased at present; empty unless it pauses.
    pub paused: String,
    /// Whether somebody paused it.
    pub paused_by_hand: bool,
}

impl Queue {
    /// How far an experiment is.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn progress(&self, name: &str) -> Result<Progress, Refusal> {
        let key = self.key(name)?;
        let experiment = &self.experiments[&key];
        let sessions = &experiment.sessions;
        let (mut parked, mut dead) = (Vec::new(), Vec::new());
        for (position, state, reason) in sessions.set_aside().take(MOST_LISTED) {
            let tries = sessions.tries(position);
            let list = if state == State::Dead {
                &mut dead
            } else {
                &mut parked
            };
            list.push(SetAside {
                position,
                reason: reason.to_owned(),
                attempts: tries.crashes + tries.losses,
            });
        }
        let missing = self.workers.missing_everywhere(&experiment.submitted);
        let unplayable = match experiment.outdated.is_empty() {
            true => missing.unwrap_or_default(),
            false => experiment.outdated.clone(),
        };
        Ok(Progress {
            key,
            sessions: sessions.shape().sessions(),
            queued: sessions.ready() + sessions.count(State::Suspect),
            waiting: sessions.count(State::Waiting),
            stopped: sessions.count(State::Stopped),
            running: sessions.count(State::Leased),
            done: sessions.count(State::Done),
            parked,
            dead,
            determinism_faults: experiment.faults.iter().copied().collect(),
            workers: self.workers.load().0,
            cancelled: experiment.cancelled,
            paused: experiment.paused.clone(),
            paused_by_hand: experiment.paused_by_hand,
            unplayable,
        })
    }

    /// Counts the changes of an experiment; `None` when there is none of this name.
    pub fn version(&self, name: &str) -> Option<u64> {
        let key = self.names.get(name)?;
        Some(self.experiments.get(key)?.version)
    }

    /// All experiments, by name.
    pub fn list(&self) -> Vec<ExperimentEntry> {
        let named = self.names.values();
        let experiments = named.filter_map(|key| self.experiments.get(key));
        experiments.map(listed).collect()
    }

    /// Finished sessions behind a position in the experiment's order, at most so many, with its
    /// number.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn finished(
        &self,
        name: &str,
        after: Option<u32>,
        most: usize,
    ) -> Result<Vec<(u32, Finished)>, Refusal> {
        let key = self.key(name)?;
        let finished = self.experiments[&key].sessions.finished_after(after);
        Ok(finished.take(most).collect())
    }

    /// What a finished session left.
    pub fn finished_at(&self, key: u32, position: u32) -> Option<Finished> {
        self.experiments.get(&key)?.sessions.finished(position)
    }

    /// What was submitted under a number.
    pub fn submitted(&self, key: u32) -> Option<&agon_proto::v1::ExperimentSubmitted> {
        Some(&self.experiments.get(&key)?.submitted)
    }

    /// What [`super::grid_of`] names the grid of an experiment.
    pub fn grid(&self, key: u32) -> Option<u64> {
        Some(self.experiments.get(&key)?.grid)
    }

    /// The segment of the archive that an experiment fills.
    pub fn open_segment(&self, key: u32) -> u32 {
        self.experiments
            .get(&key)
            .map_or(0, |experiment| experiment.next_entry().0)
    }

    /// The number of an experiment.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn number(&self, name: &str) -> Result<u32, Refusal> {
        self.key(name)
    }

    /// Numbers of all experiments.
    pub fn numbers(&self) -> Vec<u32> {
        self.experiments.keys().copied().collect()
    }

    /// Whether nothing of an experiment is left to play.
    pub fn is_over(&self, key: u32) -> bool {
        self.experiments.get(&key).is_none_or(Experiment::is_over)
    }

    /// Workers that are connected, places that they have free, and leases that hold.
    pub fn load(&self) -> (usize, usize, usize) {
        self.workers.load()
    }

    /// Places of the workers that are connected, free or not.
    pub fn places(&self) -> usize {
        self.workers.places()
    }

    /// How teams stand.
    pub fn teams(&self) -> BTreeMap<String, TeamLoad> {
        let mut teams: BTreeMap<String, TeamLoad> = BTreeMap::new();
        for experiment in self.experiments.values() {
            let sessions = &experiment.sessions;
            let team = teams.entry(experiment.submitted.team.clone()).or_default();
            team.running += sessions.count(State::Leased);
            team.set_aside += sessions.count(State::Parked) + sessions.count(State::Dead);
            team.paused += u32::from(!experiment.paused.is_empty());
            if experiment.is_open() {
                team.waiting += sessions.ready() + sessions.count(State::Suspect);
            }
        }
        teams
    }

    /// Names of the workers and what each holds.
    pub fn workers(&self) -> Vec<(String, usize)> {
        self.workers.status()
    }
}

/// What a team has in the queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TeamLoad {
    /// Sessions that could be played now.
    pub waiting: u32,
    /// Sessions that workers play.
    pub running: u32,
    /// Sessions that were parked or are dead.
    pub set_aside: u32,
    /// Experiments that pause.
    pub paused: u32,
}

fn listed(experiment: &Experiment) -> ExperimentEntry {
    let sessions = &experiment.sessions;
    ExperimentEntry {
        name: experiment.submitted.name.clone(),
        team: experiment.submitted.team.clone(),
        sessions: sessions.shape().sessions(),
        done: sessions.count(State::Done),
        set_aside: sessions.count(State::Parked) + sessions.count(State::Dead),
        stopped: sessions.count(State::Stopped),
        cancelled: experiment.cancelled,
        paused: experiment.paused.clone(),
        paused_by_hand: experiment.paused_by_hand,
    }
}
