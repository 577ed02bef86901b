//! Who gets what: workers take turns in batches, teams and experiments take turns within them. A
//! suspect goes to a worker that holds nothing, which gets nothing else until the suspect has
//! ended; while suspects wait, one worker at a time gets nothing until it is idle. A team gets no more
//! at a time than it may have.

use std::collections::BTreeMap;
use std::time::Duration;

use super::workers::{Lease, WorkerKey};
use super::{Effect, Granted, LeaseId, Queue, SessionKey};
use crate::queue::sessions::State;

/// Sessions that a worker gets at a time; with more, one worker could take a short queue whole.
const BATCH: usize = 64;

/// Grants whatever can be granted.
pub(super) fn grant(queue: &mut Queue, now: Duration) {
    let mut batches: BTreeMap<WorkerKey, Vec<Granted>> = BTreeMap::new();
    let mut room = Room::of(queue);
    loop {
        if !has_work(queue) {
            break;
        }
        let mut any = false;
        for (worker, free) in queue.workers.hungry() {
            let batch = take(queue, &mut room, worker, free.min(BATCH), now);
            if !batch.is_empty() {
                any = true;
                queue.workers.serve(worker);
                batches.entry(worker).or_default().extend(batch);
            }
        }
        if !any {
            break;
        }
    }
    for (worker, batch) in batches {
        if let Some(stream) = queue.workers.stream(worker) {
            queue.effects.push(Effect::Grant(stream, batch));
        }
    }
}

fn has_work(queue: &Queue) -> bool {
    let mut open = queue.experiments.values().filter(|one| one.is_open());
    open.any(|one| one.sessions.ready() > 0 || one.sessions.count(State::Suspect) > 0)
}

/// How many more sessions teams may have at work; of teams without a limit nothing is said.
struct Room(BTreeMap<String, u32>);

impl Room {
    fn of(queue: &Queue) -> Self {
        let mut room = queue.team_limits.clone();
        if !room.is_empty() {
            for experiment in queue.experiments.values() {
                if let Some(left) = room.get_mut(&experiment.submitted.team) {
                    *left = left.saturating_sub(experiment.sessions.count(State::Leased));
                }
            }
        }
        Self(room)
    }

    fn is_left(&self, team: &str) -> bool {
        self.0.get(team).is_none_or(|left| *left > 0)
    }

    fn take(&mut self, queue: &Queue, session: SessionKey) {
        let team = queue.experiments.get(&session.experiment);
        let team = team.map(|experiment| &experiment.submitted.team);
        if let Some(left) = team.and_then(|team| self.0.get_mut(team)) {
            *left = left.saturating_sub(1);
        }
    }
}

fn take(
    queue: &mut Queue,
    room: &mut Room,
    worker: WorkerKey,
    most: usize,
    now: Duration,
) -> Vec<Granted> {
    if let Some(suspect) = next_suspect(queue, room, worker) {
        if queue.workers.holds(worker) == 0 {
            let session = take_suspect(queue, suspect);
            if let Some(session) = session {
                room.take(queue, session);
            }
            return session
                .map(|session| hold(queue, worker, session, true))
                .into_iter()
                .collect();
        }
        if is_emptied(queue, worker, now) {
            return Vec::new();
        }
    }
    let mut batch = Vec::new();
    while batch.len() < most {
        let Some(session) = next(queue, room, worker) else {
            break;
        };
        room.take(queue, session);
        batch.push(hold(queue, worker, session, false));
    }
    batch
}

/// Takes the session whose turn it is among those that the worker can play.
fn next(queue: &mut Queue, room: &Room, worker: WorkerKey) -> Option<SessionKey> {
    loop {
        let (experiments, workers) = (&queue.experiments, &queue.workers);
        let experiment = queue.turns.next(|key| {
            let submitted = experiments.get(&key).map(|one| &one.submitted);
            submitted.is_some_and(|submitted| {
                room.is_left(&submitted.team) && workers.can_play(worker, submitted)
            })
        })?;
        let taken = queue.experiments.get_mut(&experiment)?.sessions.take();
        queue.changed(experiment);
        if let Some(position) = taken {
            return Some(SessionKey {
                experiment,
                position,
            });
        }
    }
}

/// An experiment with a suspect that the worker can play.
fn next_suspect(queue: &Queue, room: &Room, worker: WorkerKey) -> Option<u32> {
    let found = queue.experiments.iter().find(|(_, experiment)| {
        experiment.sessions.count(State::Suspect) > 0
            && experiment.is_open()
            && room.is_left(&experiment.submitted.team)
            && queue.workers.can_play(worker, &experiment.submitted)
    });
    found.map(|(key, _)| *key)
}

fn take_suspect(queue: &mut Queue, experiment: u32) -> Option<SessionKey> {
    let position = queue
        .experiments
        .get_mut(&experiment)?
        .sessions
        .take_suspect()?;
    queue.changed(experiment);
    Some(SessionKey {
        experiment,
        position,
    })
}

/// Whether this worker is the one that is to become idle because suspects wait.
fn is_emptied(queue: &mut Queue, worker: WorkerKey, now: Duration) -> bool {
    match queue.emptied {
        Some((other, until)) if other != worker && until > now && queue.workers.is_there(other) => {
            false
        }
        _ => {
            queue.emptied = Some((worker, now + queue.lease_time));
            true
        }
    }
}

fn hold(queue: &mut Queue, worker: WorkerKey, session: SessionKey, suspect: bool) -> Granted {
    queue.last_grant += 1;
    let grant = queue.last_grant;
    let lease = Lease {
        session,
        worker,
        suspect,
    };
    queue.workers.hold(grant, lease);
    let experiment = queue.experiments.get(&session.experiment);
    let tries = experiment.map(|one| one.sessions.tries(session.position));
    let tries = tries.unwrap_or_default();
    Granted {
        lease: LeaseId {
            session,
            grid: experiment.map_or(0, |one| one.grid),
            grant,
        },
        attempt: tries.crashes + tries.losses + 1,
        suspect,
        budget: experiment.and_then(|one| one.budget),
    }
}
