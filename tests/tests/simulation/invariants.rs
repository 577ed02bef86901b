//! What must hold after every step, whatever happened. Each check takes what was seen and what the
//! coordinator in charge has, and says what is broken.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_coordinator::journal::Epoch;
use agon_coordinator::queue::sessions::State;
use agon_coordinator::queue::{Progress, Queue, Settled};
use agon_coordinator::specs::KnownExperiment;
use agon_proto::v1::{ExperimentSnapshot, LeaseRef, QueueSnapshot};
use bytes::Bytes;

use crate::Outcome;
use crate::broken::Broken;
use crate::experiments::LENGTH;
use crate::seen::{SessionName, image};
use crate::serving::digest_of;
use crate::world::World;

/// What whoever watches is told.
pub struct Told(BTreeMap<String, Progress>);

impl Told {
    pub fn of(queue: &Queue) -> Self {
        let list = queue.list().into_iter();
        let told = list.filter_map(|entry| {
            let progress = queue.progress(&entry.name).ok()?;
            Some((entry.name, progress))
        });
        Self(told.collect())
    }
}

fn ensure(holds: bool, broken: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(broken()) }
}

impl World {
    /// After every step of the owner.
    pub fn check(&self, at: usize, before: &Told) -> Outcome {
        let Some(owner) = &self.coordinators[at].owner else {
            return Ok(());
        };
        let now;
        let told = match self.broken {
            Some(Broken::TellsOldCounts) => before,
            _ => {
                now = Told::of(owner.state.queue());
                &now
            }
        };
        let snapshot = owner.state.queue().snapshot();
        self.invariant_every_session_is_in_exactly_one_state(at, &snapshot, told)?;
        self.invariant_series_are_in_order(at, &snapshot)?;
        self.invariant_every_record_can_be_fetched(at)
    }

    /// Whether this coordinator's epoch is the last one.
    fn is_last(&self, at: usize) -> bool {
        let owner = self.coordinators[at].owner.as_ref();
        owner.is_some_and(|owner| owner.epoch.0 == self.seen.last_epoch)
    }

    /// Counts and lists of the progress share the sessions out without rest, and as many are leased
    /// as there are leases.
    fn invariant_every_session_is_in_exactly_one_state(
        &self,
        at: usize,
        snapshot: &QueueSnapshot,
        told: &Told,
    ) -> Outcome {
        let name = "invariant_every_session_is_in_exactly_one_state";
        let mut running = 0;
        for experiment in &snapshot.experiments {
            let id = experiment
                .submitted
                .as_ref()
                .map(|submitted| submitted.name.clone());
            let id = id.unwrap_or_default();
            let Some(progress) = told.0.get(&id) else {
                return Err(format!("{name}: nothing is told of {id}"));
            };
            running += progress.running as usize;
            let queued = [State::Fresh, State::Returned, State::Last, State::Suspect];
            let queued: u32 = queued
                .into_iter()
                .map(|state| count(experiment, state))
                .sum();
            let counted = [
                // In a snapshot, what is leased waits.
                (queued, progress.queued + progress.running),
                (count(experiment, State::Waiting), progress.waiting),
                (count(experiment, State::Stopped), progress.stopped),
                (count(experiment, State::Done), progress.done),
                (
                    count(experiment, State::Parked),
                    progress.parked.len() as u32,
                ),
                (count(experiment, State::Dead), progress.dead.len() as u32),
            ];
            let fits = counted.iter().all(|(kept, told)| kept == told);
            ensure(
                fits && progress.sessions as usize == experiment.states.len(),
                || format!("{name}: of {id} {counted:?} are kept and told"),
            )?;
        }
        let owner = self.coordinators[at].owner.as_ref();
        let leases = owner.map_or(0, |owner| owner.state.queue().load().2);
        ensure(leases == running, || {
            format!("{name}: {running} sessions run under {leases} leases")
        })
    }

    /// A session of a series is played or done only when the one before is done; it waits behind one
    /// that is to come, and is stopped behind one that was set aside.
    fn invariant_series_are_in_order(&self, at: usize, snapshot: &QueueSnapshot) -> Outcome {
        for experiment in &snapshot.experiments {
            let shape = experiment
                .submitted
                .as_ref()
                .and_then(|submitted| submitted.shape);
            let length = shape.map_or(1, |shape| shape.series_length) as usize;
            for (position, byte) in experiment.states.iter().enumerate() {
                if position % length == 0 {
                    continue;
                }
                let state = State::of_byte(*byte);
                let before = State::of_byte(experiment.states[position - 1]);
                let (Some(state), Some(before)) = (state, before) else {
                    return Err(format!("c{at}: {byte} is no state"));
                };
                let fits = match state {
                    State::Waiting => before.is_queued() || before == State::Waiting,
                    State::Stopped => {
                        matches!(before, State::Parked | State::Dead | State::Stopped)
                    }
                    State::Cancelled => true,
                    _ => before == State::Done,
                };
                ensure(fits, || {
                    format!(
                        "invariant_series_are_in_order: {position} is {state:?} behind {before:?}"
                    )
                })?;
            }
        }
        Ok(())
    }

    /// A session is told to a worker when the one before it in its series is done, with its record.
    pub fn invariant_session_begins_when_the_one_before_is_done(
        &self,
        at: usize,
        before: SessionName,
        carried: Option<&Bytes>,
    ) -> Outcome {
        if !self.is_last(at) || self.seen.removed.contains(&before.0) {
            return Ok(());
        }
        let first = self.seen.facts.done.get(&before).map(|(_, record)| record);
        ensure(first.is_some() && first == carried, || {
            format!(
                "invariant_session_begins_when_the_one_before_is_done: {before:?} left {first:?}, \
                 and {carried:?} is told of it"
            )
        })
    }

    /// Whatever is done leaves a record that can be fetched, and it is the first that came.
    fn invariant_every_record_can_be_fetched(&self, at: usize) -> Outcome {
        let Some(owner) = self.coordinators[at]
            .owner
            .as_ref()
            .filter(|_| self.is_last(at))
        else {
            return Ok(());
        };
        let name = "invariant_every_record_can_be_fetched";
        for entry in owner.state.queue().list() {
            let Ok(page) = owner.state.finished(&entry.name, None, 1_000) else {
                return Err(format!("{name}: {} is gone", entry.name));
            };
            let key = page.experiment;
            if self.seen.removed.contains(&key) {
                continue;
            }
            let known = owner.specs.get(key);
            for one in page.sessions {
                let session = known.as_ref();
                let session = session.and_then(|known| self.id_of(known, one.position));
                let Some(session) = session else { continue };
                let record = self.record(&entry.name, &one.whereabouts);
                let durable = self.seen.facts.done.get(&(key, session.clone()));
                let fits = match (durable, &record) {
                    (Some((_, first)), Some(record)) => first == record,
                    // It is not durable yet.
                    (None, record) => record.is_some(),
                    (Some(_), None) => false,
                };
                ensure(fits, || {
                    format!("{name}: {session} of {} is {record:?}", entry.name)
                })?;
            }
        }
        Ok(())
    }

    /// Who is told that a result is stored, or what it is compared with, can rely on the journal: the
    /// first record is there, and another one is a fault.
    pub fn invariant_what_is_acknowledged_is_durable(
        &self,
        at: usize,
        session: &SessionName,
        how: Settled,
        digest: u64,
    ) -> Outcome {
        let deleted = !self.seen.facts.names.contains_key(&session.0);
        if !self.is_last(at) || deleted {
            return Ok(());
        }
        let first = self.seen.facts.done.get(session);
        let first = first.map(|(_, record)| digest_of(record));
        let fits = match how {
            Settled::Stored | Settled::Same => first == Some(digest),
            Settled::Different => {
                first.is_some_and(|first| first != digest)
                    && self.seen.facts.faults.contains(&session.0)
            }
            Settled::Fenced | Settled::Noted => true,
        };
        ensure(fits, || {
            format!(
                "invariant_what_is_acknowledged_is_durable: {how:?} is said of {session:?}, whose \
                 first record is {first:?}"
            )
        })
    }

    /// An experiment pauses from a spent budget until somebody resumes or cancels it.
    pub fn invariant_pauses_begin_and_end_as_told(&self, image: &QueueSnapshot) -> Outcome {
        for experiment in &image.experiments {
            let Some(submitted) = &experiment.submitted else {
                continue;
            };
            let expected = self.seen.facts.paused.contains(&submitted.experiment);
            ensure(expected != experiment.paused.is_empty(), || {
                format!(
                    "invariant_pauses_begin_and_end_as_told: {} pauses: {expected}, told: {:?}",
                    submitted.name, experiment.paused
                )
            })?;
        }
        Ok(())
    }

    /// While an experiment pauses, no worker gets anything of it; one that comes back may hold some.
    pub fn invariant_nothing_of_a_pause_is_granted(
        &self,
        at: usize,
        before: &Told,
        registers: bool,
    ) -> Outcome {
        let Some(owner) = self.coordinators[at].owner.as_ref().filter(|_| !registers) else {
            return Ok(());
        };
        for (name, now) in Told::of(owner.state.queue()).0 {
            let Some(was) = before.0.get(&name) else {
                continue;
            };
            let pauses = !was.paused.is_empty() && !now.paused.is_empty();
            ensure(!pauses || now.running <= was.running, || {
                format!("invariant_nothing_of_a_pause_is_granted: {name} pauses and is granted")
            })?;
        }
        Ok(())
    }

    /// A worker that was heard of last when its leases began plays nothing once they have run out.
    pub fn invariant_worker_that_is_cut_off_plays_nothing(&self, worker: usize) -> Outcome {
        let known = &self.workers[worker];
        let late = self.now >= known.heard_until && self.now > Duration::ZERO;
        ensure(!late || known.state.playing() == 0, || {
            format!(
                "invariant_worker_that_is_cut_off_plays_nothing: {} plays {} sessions at {:?}, its \
                 leases ended at {:?}",
                known.name,
                known.state.playing(),
                self.now,
                known.heard_until
            )
        })
    }

    /// A token opens for the worker and the session that it was made for, and for nobody else.
    pub fn invariant_token_opens_for_its_holder_only(
        &self,
        holder: &str,
        lease: Option<&LeaseRef>,
    ) -> Outcome {
        let Some(lease) = lease else {
            return Err("a lease without a token".to_owned());
        };
        let opens = |worker: &str, session: &str| {
            let name = self.sealed_for(worker);
            self.sealer.open(name, session, &lease.token).is_some()
        };
        let mut others = self.workers.iter().filter(|worker| worker.name != holder);
        let fits = opens(holder, &lease.session_id)
            && !others.any(|other| opens(&other.name, &lease.session_id))
            && !opens(holder, "another session");
        ensure(fits, || {
            format!("invariant_token_opens_for_its_holder_only: {lease:?} of {holder}")
        })
    }

    /// Only the owner that claimed the journal last writes to it.
    pub fn invariant_only_the_last_owner_appends(&self, epoch: Epoch) -> Outcome {
        ensure(epoch.0 == self.seen.last_epoch, || {
            format!(
                "invariant_only_the_last_owner_appends: epoch {} appends after {} was granted",
                epoch.0, self.seen.last_epoch
            )
        })
    }

    /// Whoever takes over has the queue that the last batch left.
    pub fn invariant_new_owner_has_what_is_durable(&self, queue: &Queue) -> Outcome {
        let loaded = image(queue);
        let durable = self.seen.image().cloned().unwrap_or_default();
        ensure(loaded == durable, || {
            format!(
                "invariant_new_owner_has_what_is_durable: {loaded:?} was loaded, {durable:?} is \
                 durable"
            )
        })
    }

    /// Once faults have stopped and everything that could be played was played: every session is done,
    /// set aside with a reason, behind one of its series that was, or cancelled; no worker is owed an
    /// answer, and every record is in the archive.
    pub fn invariant_everything_ends(&self) -> Outcome {
        let name = "invariant_everything_ends";
        let owner = self.coordinators.iter().find_map(|one| one.owner.as_ref());
        let Some(owner) = owner else {
            return Err(format!("{name}: nobody is in charge"));
        };
        for (id, progress) in Told::of(owner.state.queue()).0 {
            let aside = progress.parked.iter().chain(&progress.dead);
            let reasons = aside.clone().all(|one| !one.reason.is_empty());
            let ended = progress.done + progress.stopped + aside.count() as u32;
            let snapshot = owner.state.queue().snapshot();
            let of_it = snapshot.experiments.iter().find(|one| {
                one.submitted
                    .as_ref()
                    .is_some_and(|submitted| submitted.name == id)
            });
            let cancelled = of_it.map_or(0, |one| count(one, State::Cancelled));
            let all = ended + cancelled == progress.sessions;
            ensure(
                progress.is_over() && progress.waiting == 0 && all && reasons,
                || format!("{name}: {id} does not end: {progress:?}"),
            )?;
        }
        for worker in &self.workers {
            ensure(worker.state.is_idle(), || {
                format!("{name}: {} is not idle", worker.name)
            })?;
        }
        let (connected, ..) = owner.state.queue().load();
        ensure(connected == self.workers.len(), || {
            format!("{name}: only {connected} workers are known")
        })?;
        ensure(owner.state.is_quiet(), || {
            format!("{name}: records are not archived")
        })
    }
}

impl World {
    /// The id of a session. Making it takes long, and documents do not change.
    fn id_of(&self, known: &KnownExperiment, position: u32) -> Option<String> {
        let key = (known.submitted.document.clone(), position);
        let mut ids = self.ids.borrow_mut();
        if let Some(id) = ids.get(&key) {
            return Some(id.clone());
        }
        let id = known.session(position)?.id;
        ids.insert(key, id.clone());
        Some(id)
    }
}

fn count(experiment: &ExperimentSnapshot, state: State) -> u32 {
    let found = experiment
        .states
        .iter()
        .filter(|byte| **byte == state as u8);
    found.count() as u32
}

/// Series in the simulation have more than one session, or their invariants would say nothing.
const _: () = assert!(LENGTH > 1);
