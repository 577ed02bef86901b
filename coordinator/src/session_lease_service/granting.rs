//! Makes what workers are told of what the owner sends: specs of granted sessions, and what their
//! players take along from the session before, off the threads that serve.

use agon_engine::Carried;
use agon_proto::packed::unpack;
use agon_proto::v1::Lease;
use agon_service_kit::compute;
use agon_service_kit::tasks::with_causes;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tracing::error;

use super::SessionLeases;
use crate::owner::{Grant, Office, ToStream, Whereabouts};
use crate::queue::{LeaseId, Settled};
use crate::specs::{Specs, ledger_session};

/// Bytes of specs in one message.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// A lease, the session's id, and what is told of it apart from its token.
pub(super) type Told = (LeaseId, String, Lease);

/// What the worker is told, up to the tokens.
pub(super) enum Answer {
    /// A batch for each message, and what cannot be granted.
    Granted(Vec<Vec<Told>>, Vec<Untold>),
    Revoked(Vec<LeaseId>),
    Settled(Vec<(LeaseId, Settled)>),
    Heard(u64),
}

/// A lease that the worker is not told of.
pub(super) enum Untold {
    /// The experiment has another grid by now.
    Moved(LeaseId),
    /// This program makes no session there.
    Impossible(LeaseId),
}

/// Makes the answer of a message.
pub(super) fn grant_messages(
    message: ToStream,
    office: Office,
    service: SessionLeases,
) -> BoxFuture<'static, Answer> {
    async move {
        match message {
            ToStream::Grant(grants) => {
                let (batches, untold) = granted(grants, &office, &service).await;
                Answer::Granted(batches, untold)
            }
            ToStream::Revoke(leases) => Answer::Revoked(leases),
            ToStream::Settled(settled) => Answer::Settled(settled),
            ToStream::Heard(number) => Answer::Heard(number),
        }
    }
    .boxed()
}

async fn granted(
    grants: Vec<Grant>,
    office: &Office,
    service: &SessionLeases,
) -> (Vec<Vec<Told>>, Vec<Untold>) {
    let mut with_records = Vec::with_capacity(grants.len());
    for grant in grants {
        let record = match &grant.before {
            Some(before) => record(&grant, before, office, service).await,
            None => None,
        };
        with_records.push((grant, record));
    }
    let specs = office.specs.clone();
    let leases: Vec<LeaseId> = with_records
        .iter()
        .map(|(grant, _)| grant.granted.lease)
        .collect();
    let made = compute::SHORT.run(move || {
        let (mut told, mut untold) = (Vec::new(), Vec::new());
        for (grant, record) in with_records {
            match tell(&grant, record, &specs) {
                Ok(one) => told.push(one),
                Err(one) => untold.push(one),
            }
        }
        (batches(told), untold)
    });
    let panicked = |_| {
        (
            Vec::new(),
            leases.into_iter().map(Untold::Impossible).collect(),
        )
    };
    made.await.unwrap_or_else(panicked)
}

/// The record of the session before, packed. Without it the session's worker says that it cannot be
/// played, which sets it aside with its reason.
async fn record(
    grant: &Grant,
    before: &Whereabouts,
    office: &Office,
    service: &SessionLeases,
) -> Option<Bytes> {
    let (segment, entry) = match before {
        Whereabouts::Here { record, .. } => return Some(record.clone()),
        Whereabouts::Archived { segment, entry } => (*segment, *entry),
    };
    let known = office.specs.get(grant.granted.lease.session.experiment)?;
    match service.archive.read(&known.submitted.name, segment).await {
        Ok(segment) => segment.entry(entry).map(|stored| stored.record.clone()),
        Err(error) => {
            let error = with_causes(&error);
            error!(%error, "cannot hand on what players take along");
            None
        }
    }
}

fn tell(grant: &Grant, record: Option<Bytes>, specs: &Specs) -> Result<Told, Untold> {
    let lease = grant.granted.lease;
    let known = specs.get(lease.session.experiment);
    let known = known.filter(|known| known.grid == lease.grid);
    let known = known.ok_or(Untold::Moved(lease))?;
    let session = known.session(lease.session.position);
    let session = session.ok_or(Untold::Impossible(lease))?;
    let submitted = &known.submitted;
    let told = Lease {
        lease: None,
        spec: session.spec.into(),
        suspect: grant.granted.suspect,
        attempt: grant.granted.attempt,
        experiment_id: submitted.name.clone(),
        team: submitted.team.clone(),
        traceparent: submitted.traceparent.clone(),
        priority: submitted.priority,
        experiment_budget_nanodollars: grant.granted.budget,
        content_cache: submitted.content_cache,
        ledger_session_id: ledger_session(submitted, &session.id),
        carried: record
            .map(|record| carried(&session.id, &record))
            .unwrap_or_default()
            .into(),
    };
    Ok((lease, session.id, told))
}

/// What the players of a session take along from the one before it, as it is told; empty when that
/// cannot be read.
fn carried(session_id: &str, record: &[u8]) -> Vec<u8> {
    let line = unpack(record).ok_or_else(|| "it is not one line".to_owned());
    let told = line.and_then(|line| {
        let carried = Carried::from_record(line.as_bytes()).map_err(|error| with_causes(&error))?;
        serde_json::to_vec(&carried).map_err(|error| error.to_string())
    });
    told.unwrap_or_else(|error| {
        error!(
            session_id,
            error, "the record of the session before this one in its series cannot be read"
        );
        Vec::new()
    })
}

fn batches(told: Vec<Told>) -> Vec<Vec<Told>> {
    let mut batches = Vec::new();
    let (mut batch, mut bytes) = (Vec::new(), 0);
    for one in told {
        let size = one.2.spec.len() + one.2.carried.len();
        if bytes + size > MOST_BYTES && !batch.is_empty() {
            batches.push(std::mem::take(&mut batch));
            bytes = 0;
        }
        bytes += size;
        batch.push(one);
    }
    if !batch.is_empty() {
        batches.push(batch);
    }
    batches
}
