//! What workers say: they connect, are there, hand in, give back, or are lost. What a session comes to
//! is decided here and recorded.

use std::time::Duration;

use agon_proto::v1::journal_entry::Change;
use agon_proto::v1::{
    DeterminismFault, ExperimentPaused, SessionCrashed, SessionDone, SessionLost,
    SessionProgressed, SessionSetAside,
};

use super::journaling::place;
use super::messages::{
    Effect, Failure, LeaseId, Outcome, SessionKey, SessionResult, Settled, StreamId,
};
use super::sessions::{Sessions, State};
use super::workers::{Introduction, Lease, WorkerKey};
use super::{Queue, granting};

/// Crashes after which a session is set aside as dead.
pub const MOST_CRASHES: u32 = 3;

/// Workers lost while they held a session and nothing else, after which it is set aside as dead. A
/// loss in company does not count, because any of the others may be the cause; but from then on
/// the session is a suspect and leased alone, so that its next losses do.
pub const MOST_LOSSES_ALONE: u32 = 3;

impl Queue {
    /// A worker has connected and says what it holds. Answers what of it is lost.
    pub fn register(
        &mut self,
        introduction: Introduction,
        stream: StreamId,
        held: &[LeaseId],
        now: Duration,
    ) -> Vec<LeaseId> {
        let deadline = now + self.lease_time;
        let (worker, before) = self.workers.enter(introduction, stream, deadline);
        if let Some(before) = before {
            self.lose(before);
        }
        for lease in held {
            self.adopt(worker, *lease);
        }
        // Of two leases of one session, only one is taken over.
        let lost = held.iter().filter(|lease| {
            let kept = self.workers.lease(lease.grant);
            kept.is_none_or(|kept| kept.worker != worker)
        });
        let lost = lost.copied().collect();
        // What was granted over a stream that broke before the worker heard of it.
        let said: std::collections::BTreeSet<u64> = held.iter().map(|lease| lease.grant).collect();
        for grant in self.workers.grants_of(worker) {
            if !said.contains(&grant) {
                self.end(grant);
            }
        }
        self.grant(now);
        lost
    }

    /// Its stream has ended; what it holds it holds until its deadline.
    pub fn leave(&mut self, stream: StreamId) {
        self.workers.leave(stream);
    }

    /// A worker is there, and has come further than before with these. False when nobody is known
    /// under this stream any more: its worker was lost, or goes on over another.
    pub fn heartbeat(&mut self, stream: StreamId, progressed: &[LeaseId], now: Duration) -> bool {
        let Some(worker) = self.workers.of(stream) else {
            return false;
        };
        self.workers.heard(worker, now + self.lease_time);
        for lease in progressed {
            let held = self.workers.lease(lease.grant);
            if let Some(held) = held.filter(|held| held.worker == worker) {
                self.record(Change::Progressed(SessionProgressed {
                    session: place(held.session),
                }));
            }
        }
        true
    }

    /// A session has ended.
    pub fn settle(
        &mut self,
        stream: StreamId,
        lease: LeaseId,
        outcome: Outcome,
        now: Duration,
    ) -> Settled {
        if let Some(worker) = self.workers.of(stream) {
            self.workers.heard(worker, now + self.lease_time);
        }
        match outcome {
            Outcome::Finished(result) => self.finish(lease, result),
            Outcome::Failed(failure, reason) => self.fail(lease, failure, &reason),
        }
    }

    /// Leases are given back unplayed.
    pub fn release(&mut self, stream: StreamId, leases: &[LeaseId]) {
        let worker = self.workers.of(stream);
        for lease in leases {
            let held = self.workers.lease(lease.grant);
            if held.is_some_and(|held| Some(held.worker) == worker) {
                self.end(lease.grant);
            }
        }
    }

    /// Grants nothing of an experiment before: what its sessions take along cannot be read at present.
    pub fn hold_back(&mut self, key: u32, until: Duration) {
        if let Some(experiment) = self.experiments.get_mut(&key) {
            experiment.held_back_until = Some(until);
            self.refresh(key);
        }
    }

    fn end_holding_back(&mut self, now: Duration) {
        let held_back = self.experiments.iter().filter(|(_, experiment)| {
            let until = experiment.held_back_until;
            until.is_some_and(|until| until <= now)
        });
        let due: Vec<u32> = held_back.map(|(key, _)| *key).collect();
        for key in due {
            if let Some(experiment) = self.experiments.get_mut(&key) {
                experiment.held_back_until = None;
            }
            self.refresh(key);
        }
    }

    /// A worker takes nothing more.
    pub fn drain_worker(&mut self, stream: StreamId) {
        if let Some(worker) = self.workers.of(stream) {
            self.workers.drain(worker);
        }
    }

    /// Time has passed: whoever was not heard of is lost. When this process itself did not run for a
    /// while, nobody could be heard and everybody gets the time of a lease.
    pub fn tick(&mut self, now: Duration) {
        let asleep = now.saturating_sub(self.last_tick);
        if self.last_tick > Duration::ZERO && asleep > self.lease_time / 2 {
            self.workers.extend(now + self.lease_time);
        }
        self.last_tick = now;
        for worker in self.workers.overdue(now) {
            self.lose(worker);
        }
        self.end_holding_back(now);
        self.grant(now);
    }

    /// Grants whatever can be granted. Called after outcomes and releases of one message were all
    /// taken in.
    pub fn grant(&mut self, now: Duration) {
        if !self.draining && now >= self.quiet_until {
            granting::grant(self, now);
        }
    }

    /// Grants nothing from now on.
    pub fn drain(&mut self) {
        self.draining = true;
    }

    /// Whether a lease that a worker says it holds is its own, or may become its own.
    fn keeps(&self, worker: WorkerKey, lease: LeaseId) -> bool {
        if let Some(held) = self.workers.lease(lease.grant) {
            return held.worker == worker;
        }
        let experiment = self.experiments.get(&lease.session.experiment);
        experiment.is_some_and(|experiment| {
            let state = experiment.sessions.state(lease.session.position);
            experiment.grid == lease.grid
                && !experiment.cancelled
                && state.is_some_and(State::is_queued)
        })
    }

    fn adopt(&mut self, worker: WorkerKey, lease: LeaseId) {
        if self.workers.lease(lease.grant).is_some() || !self.keeps(worker, lease) {
            return;
        }
        let Some(experiment) = self.experiments.get_mut(&lease.session.experiment) else {
            return;
        };
        let suspect = experiment.sessions.tries(lease.session.position).losses > 0;
        if experiment.sessions.adopt(lease.session.position) {
            let held = Lease {
                session: lease.session,
                worker,
                suspect,
            };
            self.workers.hold(lease.grant, held);
            self.changed(lease.session.experiment);
        }
    }

    fn finish(&mut self, lease: LeaseId, result: SessionResult) -> Settled {
        let Some(session) = self.located(lease) else {
            return Settled::Fenced;
        };
        let Some(experiment) = self.experiments.get(&session.experiment) else {
            return Settled::Fenced;
        };
        if let Some(finished) = experiment.sessions.finished(session.position) {
            if finished.digest == result.digest {
                return Settled::Same;
            }
            if !experiment.faults.contains(&session.position) {
                self.record(Change::Fault(DeterminismFault {
                    session: place(session),
                }));
            }
            return Settled::Different;
        }
        // Behind one that is to be played (again), it was played with what that one left before.
        let state = experiment.sessions.state(session.position);
        if matches!(
            state,
            Some(State::Cancelled | State::Waiting | State::Stopped)
        ) {
            return Settled::Fenced;
        }
        let (segment, entry) = experiment.next_entry();
        // Whoever else plays it need not go on.
        if let Some(other) = self.workers.lease_of(session)
            && let Some(held) = self.workers.end(other)
            && other != lease.grant
        {
            self.revoke(held, other);
        }
        self.record(Change::Done(SessionDone {
            session: place(session),
            digest: result.digest,
            session_id: result.session_id,
            record: result.record,
            telemetry: result.telemetry,
            segment,
            entry,
        }));
        Settled::Stored
    }

    fn fail(&mut self, lease: LeaseId, failure: Failure, reason: &str) -> Settled {
        let Some(held) = self.workers.end(lease.grant) else {
            return Settled::Fenced;
        };
        let session = held.session;
        match failure {
            Failure::Crashed => {
                self.record(Change::Crashed(SessionCrashed {
                    session: place(session),
                }));
                let crashes = self
                    .sessions_of(session)
                    .map(|sessions| sessions.tries(session.position).crashes);
                if crashes.is_some_and(|crashes| crashes >= MOST_CRASHES) {
                    self.set_aside(session, true, reason);
                }
            }
            Failure::Parked => self.set_aside(session, false, reason),
            Failure::Impossible => self.set_aside(session, true, reason),
            Failure::Unplayable => {
                let experiment = session.experiment;
                self.workers.cannot_play(held.worker, experiment, reason);
                self.give_back(session);
            }
            Failure::BudgetSpent => {
                self.give_back(session);
                self.pause(session.experiment, lease.grant, reason);
            }
        }
        Settled::Noted
    }

    /// Nothing of the experiment is granted from now on, because a session met with a spent budget
    /// under this lease. The first reason stays. A lease of the owner before says nothing: the session
    /// is leased again, and meets with the budget as it is now.
    fn pause(&mut self, key: u32, grant: u64, reason: &str) {
        let reason = if reason.is_empty() {
            "a budget is spent"
        } else {
            reason
        };
        let pauses = self.experiments.get(&key).is_some_and(|experiment| {
            let own = grant > experiment.resumed_after && grant <= self.last_grant;
            experiment.paused.is_empty() && own
        });
        if pauses {
            self.record(Change::Paused(ExperimentPaused {
                experiment: key,
                reason: reason.to_owned(),
                by_hand: false,
            }));
        }
    }

    fn set_aside(&mut self, session: SessionKey, dead: bool, reason: &str) {
        self.record(Change::SetAside(SessionSetAside {
            session: place(session),
            dead,
            reason: reason.to_owned(),
        }));
    }

    /// A worker is lost, with all that it held.
    fn lose(&mut self, worker: WorkerKey) {
        let held = self.workers.remove(worker);
        let alone = held.len() == 1;
        for (_, lease) in held {
            let session = lease.session;
            self.record(Change::Lost(SessionLost {
                session: place(session),
                alone,
            }));
            let lost = self
                .sessions_of(session)
                .map(|sessions| sessions.tries(session.position).lost_alone);
            if let Some(lost) = lost.filter(|lost| *lost >= MOST_LOSSES_ALONE) {
                let reason = format!(
                    "{lost} workers were lost while they played this session and nothing else"
                );
                self.set_aside(session, true, &reason);
            }
        }
    }

    /// Ends a lease whose session was not played.
    fn end(&mut self, grant: u64) {
        if let Some(lease) = self.workers.end(grant) {
            self.give_back(lease.session);
        }
    }

    fn give_back(&mut self, session: SessionKey) {
        if let Some(experiment) = self.experiments.get_mut(&session.experiment)
            && experiment.sessions.state(session.position) == Some(State::Leased)
        {
            experiment.sessions.give_back(session.position);
        }
        self.changed(session.experiment);
    }

    pub(super) fn revoke(&mut self, lease: Lease, grant: u64) {
        let experiment = self.experiments.get(&lease.session.experiment);
        let grid = experiment.map_or(0, |of| of.grid);
        if let Some(stream) = self.workers.stream(lease.worker) {
            let lease = LeaseId {
                session: lease.session,
                grid,
                grant,
            };
            self.effects.push(Effect::Revoke(stream, vec![lease]));
        }
    }

    /// Where the session of a lease stands now; `None` when that cannot be told any more.
    fn located(&self, lease: LeaseId) -> Option<SessionKey> {
        if let Some(held) = self.workers.lease(lease.grant) {
            return Some(held.session);
        }
        let experiment = self.experiments.get(&lease.session.experiment)?;
        let stands = experiment.grid == lease.grid;
        let there = experiment.sessions.state(lease.session.position).is_some();
        (stands && there).then_some(lease.session)
    }

    fn sessions_of(&self, session: SessionKey) -> Option<&Sessions> {
        self.experiments
            .get(&session.experiment)
            .map(|experiment| &experiment.sessions)
    }
}
