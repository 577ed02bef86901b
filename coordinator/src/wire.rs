//! Between the contracts of `agon.v1` and the coordinator's own types. Nothing else in the crate
//! takes protocol messages apart.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_engine::Carried;
use agon_engine::spec::Origin;
use agon_proto::v1::work_sessions_response::Message as ToWorker;
use agon_proto::v1::{
    CompleteSession, FailSession, FailureKind, GrantedLeases, Lease, LeaseRef, ModelOrigin,
    SetAsideSession, SettledSession, Settlement, WatchExperimentResponse,
};
use agon_service_kit::clock::millis;
use agon_service_kit::status::{ErrorClass, to_status};
use agon_service_kit::tasks::with_causes;
use tonic::Status;

use crate::store::{
    Completion, Failure, Granted, LeaseKey, Progress, SessionResult, SetAside, StoreError,
};

/// Bytes of a failure's reason that are kept: every one of them is listed with the experiment.
const LONGEST_REASON: usize = 4 * 1024;

/// What a worker is told that speaks of a lease which is not its own.
const NOT_HELD: &str = "this worker does not hold the session under this lease: it was leased \
                        again, settled or cancelled, or never leased to it";

/// Where models are, by their names.
pub fn origins(wire: &[ModelOrigin]) -> BTreeMap<String, Origin> {
    let origins = wire.iter().map(|origin| {
        let known = Origin {
            provider_kind: origin.provider_kind.clone(),
            endpoint: origin.endpoint.clone(),
            provider_model: origin.provider_model.clone(),
        };
        (origin.model.clone(), known)
    });
    origins.collect()
}

/// A lease as this worker names it.
pub fn key(lease: LeaseRef, worker: &str) -> LeaseKey {
    LeaseKey {
        session: lease.session_id,
        worker: worker.to_owned(),
        fence: lease.fence,
    }
}

/// A lease as workers are told it.
pub fn lease_ref(key: LeaseKey) -> LeaseRef {
    LeaseRef {
        session_id: key.session,
        fence: key.fence,
    }
}

/// A batch of leases.
pub fn granted(granted: Vec<Granted>, ttl: Duration) -> ToWorker {
    let ttl_ms = millis(ttl);
    let leases = granted.into_iter().map(|granted| Lease {
        carried: carried(&granted).into(),
        lease: Some(lease_ref(granted.key)),
        spec: granted.spec.into_bytes().into(),
        ttl_ms,
        attempt: granted.attempt,
        experiment_id: granted.experiment,
        team: granted.team,
        traceparent: granted.traceparent,
        priority: granted.terms.priority,
        experiment_budget_nanodollars: granted.terms.budget,
        content_cache: granted.terms.content_cache,
    });
    ToWorker::Granted(GrantedLeases {
        leases: leases.collect(),
    })
}

/// What the players of a session take along from the one before it, as it is told; empty for
/// nothing. Without what a session needs its worker says that it cannot be played, which sets it
/// aside with its reason.
fn carried(granted: &Granted) -> Vec<u8> {
    let Some(before) = &granted.before else {
        return Vec::new();
    };
    let told = Carried::from_record(before)
        .map_err(|error| with_causes(&error))
        .and_then(|carried| serde_json::to_vec(&carried).map_err(|error| error.to_string()));
    told.unwrap_or_else(|error| {
        tracing::error!(
            session_id = granted.key.session,
            error,
            "the record of the session before this one in its series cannot be read"
        );
        Vec::new()
    })
}

/// A result.
pub fn completed(
    complete: CompleteSession,
    worker: &str,
) -> Result<(LeaseKey, SessionResult), Status> {
    let key = named(complete.lease, worker)?;
    let (record, telemetry) = (complete.record.to_vec(), complete.telemetry.to_vec());
    Ok((key, SessionResult { record, telemetry }))
}

/// A failure.
pub fn failed(fail: FailSession, worker: &str) -> Result<(LeaseKey, Failure, String), Status> {
    let failure = match fail.kind() {
        FailureKind::Parked => Failure::Parked,
        FailureKind::BudgetSpent => Failure::BudgetSpent,
        FailureKind::Impossible => Failure::Impossible,
        // Unspecified comes from somebody newer: trying again does no harm.
        FailureKind::Crashed | FailureKind::Unspecified => Failure::Crashed,
    };
    let reason = shortened(fail.reason);
    Ok((named(fail.lease, worker)?, failure, reason))
}

/// What a worker is told about a lease that it handed in.
pub fn settled(key: LeaseKey, settlement: Settlement, reason: &str) -> ToWorker {
    let reason = match (settlement, reason) {
        (Settlement::Fenced, "") => NOT_HELD.to_owned(),
        _ => reason.to_owned(),
    };
    let lease = Some(lease_ref(key));
    ToWorker::Settled(SettledSession {
        lease,
        settlement: settlement.into(),
        reason,
    })
}

/// What became of a result.
pub fn settlement(completion: Completion) -> Settlement {
    match completion {
        Completion::First => Settlement::Stored,
        Completion::Same => Settlement::Same,
        Completion::Different => Settlement::Different,
        Completion::Fenced => Settlement::Fenced,
    }
}

/// How far an experiment is.
pub fn progress(progress: Progress) -> WatchExperimentResponse {
    let aside = |list: Vec<SetAside>| {
        let sessions = list.into_iter().map(|aside| SetAsideSession {
            session_id: aside.session,
            reason: aside.reason,
            attempts: aside.attempts,
        });
        sessions.collect()
    };
    WatchExperimentResponse {
        sessions: progress.sessions,
        queued: progress.queued,
        running: progress.running,
        done: progress.done,
        parked: aside(progress.parked),
        dead: aside(progress.dead),
        determinism_faults: progress.determinism_faults,
        workers: progress.workers,
        cancelled: progress.cancelled,
        paused: progress.paused,
        waiting: progress.waiting,
        stopped: progress.stopped,
    }
}

/// A store's error as callers see it.
pub fn status(error: &StoreError) -> Status {
    let class = match error {
        StoreError::OtherTeam { .. } => ErrorClass::Forbidden,
        StoreError::Overtaken { .. } => ErrorClass::Conflict,
        StoreError::InUse { .. }
        | StoreError::Folder { .. }
        | StoreError::Database { .. }
        | StoreError::Unreachable { .. }
        | StoreError::Redis { .. }
        | StoreError::Randomness(_)
        | StoreError::Stopped => ErrorClass::Unavailable,
        StoreError::Corrupt { .. } => ErrorClass::Internal,
    };
    to_status(class, with_causes(error))
}

fn named(lease: Option<LeaseRef>, worker: &str) -> Result<LeaseKey, Status> {
    lease
        .map(|lease| key(lease, worker))
        .ok_or_else(|| to_status(ErrorClass::Invalid, "the lease is missing"))
}

fn shortened(mut reason: String) -> String {
    if reason.len() > LONGEST_REASON {
        reason.truncate(reason.floor_char_boundary(LONGEST_REASON));
        reason.push_str(" ...");
    }
    reason
}
