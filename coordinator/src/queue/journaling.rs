//! Changes: each entry of the journal carried out, live and when it is read again. What it makes
//! nonsense of is passed over.

use agon_proto::v1::journal_entry::Change;
use agon_proto::v1::{ExperimentSubmitted, JournalEntry, SessionPlace};

use super::Queue;
use super::experiment::Experiment;
use super::messages::SessionKey;
use super::sessions::{Finished, State};

impl Queue {
    pub(super) fn apply(&mut self, change: &Change) {
        let (key, session) = match named(change) {
            Some(named) => named,
            None => return,
        };
        if let Change::Submitted(submitted) = change {
            self.apply_submitted(submitted.clone());
        } else if let Some(experiment) = self.experiments.get_mut(&key) {
            let position = session.map(|session| session.position);
            let known = position.is_none_or(|at| experiment.sessions.state(at).is_some());
            if known {
                apply_to(
                    experiment,
                    change,
                    position.unwrap_or_default(),
                    self.last_grant,
                );
            }
        }
        match change {
            Change::Cancelled(_) => self.revoke_all(key),
            Change::Deleted(_) => self.remove(key),
            _ => {}
        }
        self.changed(key);
    }

    fn apply_submitted(&mut self, submitted: ExperimentSubmitted) {
        let key = submitted.experiment;
        self.workers.may_play(key);
        self.last_experiment = self.last_experiment.max(key);
        self.names.insert(submitted.name.clone(), key);
        let Some(experiment) = self.experiments.get_mut(&key) else {
            let mut experiment = Experiment::new(submitted);
            experiment.resumed_after = self.last_grant;
            self.experiments.insert(key, experiment);
            return;
        };
        let team = experiment.submitted.team.clone();
        self.turns.leave(&team, key);
        let Some(moved) = experiment.resubmit(submitted, self.last_grant) else {
            return;
        };
        for (grant, session) in self.workers.leases_of(key) {
            if !moved.contains_key(&session.position)
                && let Some(held) = self.workers.end(grant)
            {
                self.revoke(held, grant);
            }
        }
        self.workers.move_sessions(key, &moved);
    }

    fn revoke_all(&mut self, key: u32) {
        for (grant, _) in self.workers.leases_of(key) {
            if let Some(held) = self.workers.end(grant) {
                self.revoke(held, grant);
            }
        }
    }

    fn remove(&mut self, key: u32) {
        self.workers.may_play(key);
        if let Some(removed) = self.experiments.remove(&key) {
            self.names.remove(&removed.submitted.name);
            self.turns.leave(&removed.submitted.team, key);
        }
    }
}

/// The experiment that a change is about, and the session.
fn named(change: &Change) -> Option<(u32, Option<SessionPlace>)> {
    let of = |session: &Option<SessionPlace>| {
        let session = (*session)?;
        Some((session.experiment, Some(session)))
    };
    match change {
        Change::Submitted(submitted) => Some((submitted.experiment, None)),
        Change::Done(done) => of(&done.session),
        Change::Crashed(crashed) => of(&crashed.session),
        Change::Lost(lost) => of(&lost.session),
        Change::Progressed(progressed) => of(&progressed.session),
        Change::SetAside(aside) => of(&aside.session),
        Change::Fault(fault) => of(&fault.session),
        Change::Paused(paused) => Some((paused.experiment, None)),
        Change::Resumed(resumed) => Some((resumed.experiment, None)),
        Change::Cancelled(cancelled) => Some((cancelled.experiment, None)),
        Change::Retried(retried) => Some((retried.experiment, None)),
        Change::Deleted(deleted) => Some((deleted.experiment, None)),
        Change::SegmentClosed(closed) => Some((closed.experiment, None)),
        Change::SegmentWritten(written) => Some((written.experiment, None)),
    }
}

/// Carries out a change of one experiment; a position is one of its own. `last_grant` is the last of
/// this owner: its leases from then on can pause what is resumed here.
fn apply_to(experiment: &mut Experiment, change: &Change, position: u32, last_grant: u64) {
    let sessions = &mut experiment.sessions;
    match change {
        Change::Done(done) => {
            if sessions.finished(position).is_none() {
                let finished = Finished {
                    digest: done.digest,
                    segment: done.segment,
                    entry: done.entry,
                };
                experiment.finish(position, finished);
            }
        }
        Change::Crashed(_) => {
            sessions.crash(position);
        }
        Change::Lost(lost) => {
            sessions.lose(position, lost.alone);
        }
        Change::Progressed(_) => sessions.progress(position),
        Change::SetAside(aside) => sessions.put_aside(position, aside.dead, &aside.reason),
        Change::Fault(_) => {
            experiment.faults.insert(position);
        }
        Change::Paused(paused) => {
            experiment.paused.clone_from(&paused.reason);
            experiment.paused_by_hand = paused.by_hand;
        }
        Change::Resumed(resumed) => {
            experiment.resume(resumed.budget_nanodollars, last_grant);
        }
        Change::Cancelled(_) => {
            sessions.cancel();
            experiment.cancelled = true;
            experiment.paused.clear();
            experiment.paused_by_hand = false;
        }
        Change::Retried(retried) => {
            for position in &retried.positions {
                if matches!(sessions.state(*position), Some(State::Parked | State::Dead)) {
                    sessions.retry(*position);
                }
            }
            experiment.cancelled = false;
        }
        Change::SegmentClosed(closed) => experiment.close_segment(closed.segment),
        Change::Submitted(_) | Change::Deleted(_) | Change::SegmentWritten(_) => {}
    }
}

pub(super) fn place(session: SessionKey) -> Option<SessionPlace> {
    Some(SessionPlace {
        experiment: session.experiment,
        position: session.position,
    })
}

/// An entry of the journal.
pub fn entry(change: Change) -> JournalEntry {
    JournalEntry {
        change: Some(change),
    }
}
