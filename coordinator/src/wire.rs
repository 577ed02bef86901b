//! Between the contracts of `agon.v1` and the coordinator's own types. Nothing else in the crate
//! takes protocol messages of workers and the command line apart.

use std::collections::BTreeMap;

use agon_engine::spec::Origin;
use agon_proto::v1::{
    FailedSession, FailureKind, ModelOrigin, RegisterWorker, SetAsideSession, Settlement,
    WatchExperimentResponse,
};
use agon_service_kit::status::{ErrorClass, to_status};
use agon_service_kit::tasks::with_causes;
use tonic::Status;

use crate::journal::JournalError;
use crate::queue::{Failure, Introduction, Progress, Refusal, SetAside, Settled};

/// Bytes of a failure's reason that are kept: every one of them is listed with the experiment.
const LONGEST_REASON: usize = 4 * 1024;

/// What a worker is told that speaks of a lease which is not its own.
pub const NOT_HELD: &str = "this worker does not hold the session under this lease: it was leased \
                            again, settled or cancelled, or never leased to it";

/// Where models are, by their names.
pub fn origins(wire: &[ModelOrigin]) -> BTreeMap<String, Origin> {
    let origins = wire.iter().map(|origin| {
        let known = Origin {
            provider_kind: origin.provider_kind.clone(),
            endpoint: origin.endpoint.clone(),
            provider_model: origin.provider_model.clone(),
            additions: origin.additions.clone(),
        };
        (origin.model.clone(), known)
    });
    origins.collect()
}

/// A worker as it introduces itself.
pub fn introduction(register: &RegisterWorker) -> Introduction {
    let capabilities = register.capabilities.iter().map(|capability| {
        let versions = capability.versions.iter().cloned().collect();
        (capability.name.clone(), versions)
    });
    Introduction {
        id: register.worker_id.clone(),
        incarnation: register.incarnation,
        places: register.places as usize,
        capabilities: capabilities.collect(),
    }
}

/// A failure and its reason.
pub fn failed(failed: FailedSession) -> (Failure, String) {
    let failure = match failed.kind() {
        FailureKind::Parked => Failure::Parked,
        FailureKind::BudgetSpent => Failure::BudgetSpent,
        FailureKind::Impossible => Failure::Impossible,
        FailureKind::Unplayable => Failure::Unplayable,
        // Unspecified comes from somebody newer: trying again does no harm.
        FailureKind::Crashed | FailureKind::Unspecified => Failure::Crashed,
    };
    (failure, shortened(failed.reason))
}

/// What became of an outcome.
pub fn settlement(settled: Settled) -> Settlement {
    match settled {
        Settled::Stored => Settlement::Stored,
        Settled::Same => Settlement::Same,
        Settled::Different => Settlement::Different,
        Settled::Fenced => Settlement::Fenced,
        Settled::Noted => Settlement::Noted,
    }
}

/// How far an experiment is; `id` says which session stands at a position.
pub fn progress(progress: Progress, id: impl Fn(u32) -> String) -> WatchExperimentResponse {
    let aside = |list: Vec<SetAside>| {
        let sessions = list.into_iter().map(|aside| SetAsideSession {
            session_id: id(aside.position),
            reason: aside.reason,
            attempts: aside.attempts,
        });
        sessions.collect()
    };
    WatchExperimentResponse {
        sessions: progress.sessions.into(),
        queued: progress.queued.into(),
        running: progress.running.into(),
        done: progress.done.into(),
        parked: aside(progress.parked),
        dead: aside(progress.dead),
        determinism_faults: progress.determinism_faults.into_iter().map(&id).collect(),
        workers: progress.workers as u64,
        cancelled: progress.cancelled,
        paused: progress.paused,
        paused_by_hand: progress.paused_by_hand,
        waiting: progress.waiting.into(),
        stopped: progress.stopped.into(),
        unplayable: progress.unplayable,
    }
}

/// A refusal of the queue as callers see it.
pub fn refused(refusal: &Refusal) -> Status {
    let class = match refusal {
        Refusal::Unknown(_) => ErrorClass::NotFound,
        Refusal::OtherTeam { .. } => ErrorClass::Forbidden,
        Refusal::OtherVersions { .. } => ErrorClass::Exists,
        Refusal::NotOver(_)
        | Refusal::NothingLeft(_)
        | Refusal::Cancelled(_)
        | Refusal::NotPausedFor { .. } => ErrorClass::Conflict,
        Refusal::BeingRemoved(_) => ErrorClass::Unavailable,
    };
    to_status(class, refusal.to_string())
}

/// An error of the journal as callers see it.
pub fn status(error: &JournalError) -> Status {
    let class = match error {
        JournalError::Corrupt { .. } => ErrorClass::Internal,
        _ => ErrorClass::Unavailable,
    };
    to_status(class, with_causes(error))
}

/// A reason as it is kept.
pub fn shortened(mut reason: String) -> String {
    if reason.len() > LONGEST_REASON {
        reason.truncate(reason.floor_char_boundary(LONGEST_REASON));
        reason.push_str(" ...");
    }
    reason
}
