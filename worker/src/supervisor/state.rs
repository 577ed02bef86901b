//! What the supervisor decides: which leases it holds, what it owes the
//! coordinator, what to start and stop. Synchronous; the stream and the sessions
//! are the actor's business.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_proto::v1::work_sessions_request::Message as ToCoordinator;
use agon_proto::v1::work_sessions_response::Message as FromCoordinator;
use agon_proto::v1::{
    CompleteSession, FailSession, FailureKind, FreePlaces, Lease, LeaseRef, ReleaseLeases,
    RenewLeases, Settlement, WorkerHello,
};
use tracing::{error, warn};

use super::messages::SupervisorStatus;

/// A third of the coordinator's default lease.
const LONGEST_BETWEEN_RENEWALS: Duration = Duration::from_secs(3);

/// However short a lease is, a worker does not flood its coordinator.
const SHORTEST_BETWEEN_RENEWALS: Duration = Duration::from_millis(100);

/// What the actor must do.
#[derive(Debug, PartialEq)]
pub(super) enum Effect {
    /// Say this to the coordinator.
    Send(ToCoordinator),
    /// Play this session.
    Start(Box<Lease>),
    /// Give this session up: the lease is lost, or the worker stops.
    Stop {
        /// Which.
        lease: LeaseRef,
        /// Whether somebody else has it now.
        lost: bool,
    },
}

/// How a session ended, ready to be told.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// With a record.
    Finished { record: Vec<u8>, telemetry: Vec<u8> },
    /// Without one.
    Failed { kind: FailureKind, reason: String },
    /// It was told to stop.
    GivenUp,
}

/// A lease is known by session and fence: the same session may come back under
/// another fence while the old try is still ending.
type Key = (String, u64);

pub(super) struct SupervisorState {
    worker_id: String,
    version: &'static str,
    places: usize,
    connected: bool,
    draining: bool,
    /// The shortest time between renewals that any lease so far wanted.
    renew_every: Duration,
    /// Leases that came over this stream.
    received: u64,
    playing: BTreeMap<Key, ()>,
    /// Results that the coordinator has not acknowledged.
    unsettled: BTreeMap<Key, ToCoordinator>,
}

impl SupervisorState {
    pub(super) fn new(worker_id: String, version: &'static str, places: usize) -> Self {
        Self {
            worker_id,
            version,
            places,
            connected: false,
            draining: false,
            renew_every: LONGEST_BETWEEN_RENEWALS,
            received: 0,
            playing: BTreeMap::new(),
            unsettled: BTreeMap::new(),
        }
    }

    /// The stream is open: say who we are, what we hold, what we owe, and how
    /// much more we can take.
    pub(super) fn on_connected(&mut self) -> Vec<Effect> {
        self.connected = true;
        self.received = 0;
        let hello = WorkerHello {
            worker_id: self.worker_id.clone(),
            version: self.version.to_owned(),
        };
        let mut effects = vec![Effect::Send(ToCoordinator::Hello(hello))];
        effects.extend(self.on_renewal_due());
        effects.extend(self.unsettled.values().cloned().map(Effect::Send));
        effects.push(self.free_places());
        effects
    }

    /// The stream broke. What is being played is played on.
    pub(super) fn on_disconnected(&mut self) {
        self.connected = false;
    }

    /// Time to renew what is held.
    pub(super) fn on_renewal_due(&self) -> Vec<Effect> {
        if self.playing.is_empty() {
            return Vec::new();
        }
        let leases = self.playing.keys().map(lease_ref).collect();
        vec![Effect::Send(ToCoordinator::Renew(RenewLeases { leases }))]
    }

    /// The coordinator said something.
    pub(super) fn on_message(&mut self, message: FromCoordinator) -> Vec<Effect> {
        match message {
            FromCoordinator::Granted(granted) => {
                self.received += granted.leases.len() as u64;
                let leases = granted.leases.into_iter();
                leases.filter_map(|lease| self.take(lease)).collect()
            }
            FromCoordinator::Renewed(renewed) => {
                let held = |lease: &LeaseRef| self.playing.contains_key(&key(lease));
                let lost = renewed.lost.into_iter().filter(held);
                lost.map(|lease| Effect::Stop { lease, lost: true })
                    .collect()
            }
            FromCoordinator::Settled(settled) => {
                let settlement = settled.settlement();
                if let Some(lease) = settled.lease {
                    self.unsettled.remove(&key(&lease));
                    report(&lease, settlement, &settled.reason);
                }
                Vec::new()
            }
            // The stream will end by itself, and the actor opens another.
            FromCoordinator::Stopping(_) => Vec::new(),
        }
    }

    /// A session ended.
    pub(super) fn on_session_ended(&mut self, lease: &LeaseRef, outcome: Outcome) -> Vec<Effect> {
        let key = key(lease);
        self.playing.remove(&key);
        let said = match outcome {
            Outcome::Finished { record, telemetry } => ToCoordinator::Complete(CompleteSession {
                lease: Some(lease.clone()),
                record: record.into(),
                telemetry: telemetry.into(),
            }),
            Outcome::Failed { kind, reason } => ToCoordinator::Fail(FailSession {
                lease: Some(lease.clone()),
                kind: kind.into(),
                reason,
            }),
            Outcome::GivenUp => return vec![self.free_places()],
        };
        self.unsettled.insert(key, said.clone());
        vec![Effect::Send(said), self.free_places()]
    }

    /// The worker stops: nothing new, and everything in hand goes back.
    pub(super) fn on_drain(&mut self) -> Vec<Effect> {
        self.draining = true;
        let held: Vec<LeaseRef> = self.playing.keys().map(lease_ref).collect();
        let mut effects = vec![self.free_places()];
        let stop = |lease| Effect::Stop { lease, lost: false };
        effects.extend(held.iter().cloned().map(stop));
        if !held.is_empty() {
            let release = ReleaseLeases { leases: held };
            effects.push(Effect::Send(ToCoordinator::Release(release)));
        }
        effects
    }

    /// Whether everything handed in was acknowledged and nothing is played.
    pub(super) fn is_idle(&self) -> bool {
        self.playing.is_empty() && self.unsettled.is_empty()
    }

    /// How long to wait between two renewals.
    pub(super) fn renew_every(&self) -> Duration {
        self.renew_every
    }

    pub(super) fn is_connected(&self) -> bool {
        self.connected
    }

    pub(super) fn playing(&self) -> usize {
        self.playing.len()
    }

    /// Plain data for whoever asks.
    pub(super) fn status(&self) -> SupervisorStatus {
        SupervisorStatus {
            connected: self.connected,
            playing: self
                .playing
                .keys()
                .map(|(session, _)| session.clone())
                .collect(),
            unsettled: self
                .unsettled
                .keys()
                .map(|(session, _)| session.clone())
                .collect(),
        }
    }

    fn take(&mut self, lease: Lease) -> Option<Effect> {
        let reference = lease.lease.as_ref()?;
        if self.draining || self.playing.len() >= self.places {
            let release = ReleaseLeases {
                leases: vec![reference.clone()],
            };
            return Some(Effect::Send(ToCoordinator::Release(release)));
        }
        self.renew_every = self.renew_every.min(renewals_of(lease.ttl_ms));
        self.playing.insert(key(reference), ());
        Some(Effect::Start(Box::new(lease)))
    }

    fn free_places(&self) -> Effect {
        let free = if self.draining {
            0
        } else {
            self.places.saturating_sub(self.playing.len())
        };
        Effect::Send(ToCoordinator::FreePlaces(FreePlaces {
            places: free as u32,
            received: Some(self.received),
        }))
    }
}

/// A third of the lease, so that two renewals may fail.
fn renewals_of(ttl_ms: u64) -> Duration {
    Duration::from_millis(ttl_ms / 3).max(SHORTEST_BETWEEN_RENEWALS)
}

fn key(lease: &LeaseRef) -> Key {
    (lease.session_id.clone(), lease.fence)
}

fn lease_ref((session_id, fence): &Key) -> LeaseRef {
    LeaseRef {
        session_id: session_id.clone(),
        fence: *fence,
    }
}

fn report(lease: &LeaseRef, settlement: Settlement, reason: &str) {
    let session_id = &lease.session_id;
    match settlement {
        Settlement::Different => {
            error!(
                session_id,
                "determinism fault: finished before with other bytes"
            );
        }
        Settlement::Fenced => {
            warn!(
                session_id,
                reason, "the lease was lost before the result came in"
            );
        }
        Settlement::Refused => error!(session_id, reason, "the coordinator refused the record"),
        _ => {}
    }
}
