//! Makes what workers are told of grants: specs of granted sessions, and what their players take along
//! from the session before, off the threads that serve. Grants for which the archive has to be asked
//! keep nobody waiting but themselves.

use std::collections::VecDeque;
use std::time::Duration;

use agon_engine::Carried;
use agon_proto::packed::unpack;
use agon_proto::v1::Lease;
use agon_service_kit::compute;
use agon_service_kit::tasks::with_causes;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesOrdered, FuturesUnordered};
use futures_util::{FutureExt as _, StreamExt as _};
use tracing::{error, warn};

use crate::archive::{Archive, Archived};
use crate::owner::{Grant, Office, Whereabouts};
use crate::queue::LeaseId;
use crate::specs::{Specs, ledger_session};

/// Bytes of specs in one message.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Records that are read from the archive for one stream at the same time.
const MOST_READING: usize = 8;

/// How long one of them may take: large records come slowly from a distant bucket. Its worker plays
/// its other sessions meanwhile.
const READ_WITHIN: Duration = Duration::from_secs(20);

/// A lease, the session's id, and what is told of it apart from its token.
pub(super) type Told = (LeaseId, String, Lease);

/// What became of grants.
#[derive(Default)]
pub(super) struct Granted {
    /// What the worker is told, up to the tokens: a batch for each message.
    pub(super) batches: Vec<Vec<Told>>,
    /// What it is not told of.
    pub(super) untold: Vec<Untold>,
}

/// A lease that the worker is not told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Untold {
    /// The experiment has another grid by now.
    Moved(LeaseId),
    /// This program makes no session there.
    Impossible(LeaseId),
    /// The archive does not answer.
    Unread(LeaseId),
}

impl Untold {
    pub(super) fn lease(self) -> LeaseId {
        match self {
            Self::Moved(lease) | Self::Impossible(lease) | Self::Unread(lease) => lease,
        }
    }
}

/// A record from the archive; nothing when there is none that can be read. `Err` when it may be there.
type Read = Result<Option<Bytes>, ()>;

/// Grants of one stream that its worker has not been told of yet. There are no more than the worker has
/// places.
pub(super) struct Grants {
    office: Office,
    archive: Archive,
    waiting: VecDeque<(Grant, Archived)>,
    reading: FuturesUnordered<BoxFuture<'static, (Grant, Read)>>,
    making: FuturesOrdered<BoxFuture<'static, Granted>>,
}

impl Grants {
    pub(super) fn new(office: Office, archive: Archive) -> Self {
        Self {
            office,
            archive,
            waiting: VecDeque::new(),
            reading: FuturesUnordered::new(),
            making: FuturesOrdered::new(),
        }
    }

    /// Takes grants in.
    pub(super) fn add(&mut self, grants: Vec<Grant>) {
        let mut ready = Vec::with_capacity(grants.len());
        for grant in grants {
            match &grant.before {
                None => ready.push((grant, None)),
                Some(Whereabouts::Here { record, .. }) => {
                    let record = record.clone();
                    ready.push((grant, Some(record)));
                }
                Some(Whereabouts::Archived { segment, entry }) => {
                    let at = Archived {
                        segment: *segment,
                        entry: *entry,
                    };
                    self.waiting.push_back((grant, at));
                }
            }
        }
        if !ready.is_empty() {
            self.make(ready);
        }
        self.read_more();
    }

    /// What came of those that are ready next; waits while there are none. May be dropped at any time.
    pub(super) async fn next(&mut self) -> Granted {
        loop {
            tokio::select! {
                Some(made) = self.making.next() => return made,
                Some((grant, read)) = self.reading.next() => {
                    self.read_more();
                    match read {
                        Ok(record) => self.make(vec![(grant, record)]),
                        Err(()) => return Granted {
                            untold: vec![Untold::Unread(grant.granted.lease)],
                            ..Granted::default()
                        },
                    }
                }
                else => std::future::pending().await,
            }
        }
    }

    fn read_more(&mut self) {
        while self.reading.len() < MOST_READING {
            let Some((grant, at)) = self.waiting.pop_front() else {
                return;
            };
            let experiment = grant.granted.lease.session.experiment;
            let known = self.office.specs.get(experiment);
            let archive = self.archive.clone();
            let read = async move {
                let record = match known {
                    Some(known) => record(&archive, &known.submitted.name, at).await,
                    None => Ok(None),
                };
                (grant, record)
            };
            self.reading.push(read.boxed());
        }
    }

    fn make(&mut self, grants: Vec<(Grant, Option<Bytes>)>) {
        let specs = self.office.specs.clone();
        let each = grants.iter().map(|(grant, _)| grant.granted.lease);
        let leases: Vec<LeaseId> = each.collect();
        let making = async move {
            let made = compute::SHORT.run(move || {
                let (mut told, mut untold) = (Vec::new(), Vec::new());
                for (grant, record) in grants {
                    match tell(&grant, record, &specs) {
                        Ok(one) => told.push(one),
                        Err(one) => untold.push(one),
                    }
                }
                Granted {
                    batches: batches(told),
                    untold,
                }
            });
            let panicked = |_| Granted {
                untold: leases.into_iter().map(Untold::Impossible).collect(),
                ..Granted::default()
            };
            made.await.unwrap_or_else(panicked)
        };
        self.making.push_back(making.boxed());
    }
}

/// The record of the session before, packed. If there is none, the session's worker says that it cannot
/// be played, which sets it aside with its reason.
async fn record(archive: &Archive, experiment: &str, at: Archived) -> Read {
    match tokio::time::timeout(READ_WITHIN, archive.entry(experiment, at)).await {
        Ok(Ok(entry)) => Ok(entry.map(|entry| entry.record)),
        Ok(Err(error)) if error.may_pass() => {
            let error = with_causes(&error);
            warn!(%error, "cannot read what players take along; trying again");
            Err(())
        }
        Ok(Err(error)) => {
            let error = with_causes(&error);
            error!(%error, "cannot hand on what players take along");
            Ok(None)
        }
        Err(_) => {
            warn!(
                experiment,
                "the archive does not answer in time; trying again"
            );
            Err(())
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
