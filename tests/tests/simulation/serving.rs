//! What the service of a stream does: tokens are opened and sealed, outcomes and answers translated.
//! Everything else is the owner's.

use agon_coordinator::owner::messages::Message;
use agon_coordinator::owner::{Grant, ToStream, Whereabouts};
use agon_coordinator::queue::{
    Failure, Introduction, LeaseId, Outcome as Told, SessionResult, Settled,
};
use agon_proto::v1::session_outcome::Outcome as Said;
use agon_proto::v1::work_sessions_request::Message as ToCoordinator;
use agon_proto::v1::work_sessions_response::Message as FromCoordinator;
use agon_proto::v1::{
    FailureKind, GrantedLeases, HeartbeatHeard, Lease, LeaseRef, RegisterWorker, RegisteredWorker,
    RevokedLeases, SessionOutcome, SettledSession, SettledSessions, Settlement,
};
use bytes::Bytes;
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

use crate::Outcome;
use crate::broken::Broken;
use crate::streams::Stream;
use crate::world::{LEASE, World};

impl World {
    pub fn on_said(&mut self, number: u64, message: ToCoordinator) -> Outcome {
        let Some(stream) = self.streams.get(&number) else {
            return Ok(());
        };
        let coordinator = stream.coordinator;
        let message = match (message, stream.id) {
            (ToCoordinator::Register(register), _) => self.register(number, register),
            (_, None) => return Ok(()),
            (ToCoordinator::Heartbeat(beat), Some(stream)) => Message::Heartbeat {
                stream,
                number: beat.number,
                progressed: self.open(number, beat.progressed).0,
            },
            (ToCoordinator::Release(release), Some(stream)) => Message::Release {
                stream,
                leases: self.open(number, release.leases).0,
            },
            (ToCoordinator::Drain(_), Some(stream)) => Message::DrainWorker { stream },
            (ToCoordinator::HandIn(said), Some(stream)) => Message::HandIn {
                stream,
                outcomes: self.outcomes(number, said.outcomes),
            },
        };
        self.tell(coordinator, message)
    }

    fn register(&mut self, number: u64, register: RegisterWorker) -> Message {
        let capabilities = register.capabilities.iter().map(|capability| {
            let versions = capability.versions.iter().cloned().collect();
            (capability.name.clone(), versions)
        });
        let introduction = Introduction {
            id: register.worker_id.clone(),
            incarnation: register.incarnation,
            places: register.places as usize,
            capabilities: capabilities.collect(),
        };
        let (held, strange) = self.open(number, register.held);
        let (outbox, inbox) = mpsc::channel(1024);
        let (reply, registering) = oneshot::channel();
        if let Some(stream) = self.streams.get_mut(&number) {
            stream.strange = strange;
            stream.outbox = Some(inbox);
            stream.registering = Some(registering);
        }
        Message::Register {
            introduction,
            held,
            outbox,
            reply,
        }
    }

    /// Leases that a worker names, and those that were never granted to it.
    fn open(&mut self, number: u64, references: Vec<LeaseRef>) -> (Vec<LeaseId>, Vec<LeaseRef>) {
        let (mut known, mut strange) = (Vec::new(), Vec::new());
        for reference in references {
            match self.lease(number, &reference) {
                Some(lease) => {
                    if let Some(stream) = self.streams.get_mut(&number) {
                        stream.refs.insert(lease.grant, reference);
                    }
                    known.push(lease);
                }
                None => strange.push(reference),
            }
        }
        (known, strange)
    }

    fn lease(&self, number: u64, reference: &LeaseRef) -> Option<LeaseId> {
        let worker = self.streams.get(&number)?.worker;
        let name = self.sealed_for(&self.workers[worker].name);
        self.sealer
            .open(name, &reference.session_id, &reference.token)
    }

    /// The worker's name, as it is sealed into tokens.
    pub fn sealed_for<'a>(&self, worker: &'a str) -> &'a str {
        match self.broken {
            Some(Broken::SealsForAnybody) => "",
            _ => worker,
        }
    }

    fn outcomes(&mut self, number: u64, said: Vec<SessionOutcome>) -> Vec<(LeaseId, Told)> {
        let mut outcomes = Vec::new();
        for SessionOutcome { lease, outcome } in said {
            let (Some(reference), Some(outcome)) = (lease, outcome) else {
                continue;
            };
            let session_id = reference.session_id.clone();
            let (known, _) = self.open(number, vec![reference.clone()]);
            let Some(lease) = known.first() else { continue };
            if let Some(stream) = self.streams.get_mut(&number) {
                stream.refs.remove(&lease.grant);
                stream.handed_in.insert(lease.grant, reference);
            }
            let told = match outcome {
                Said::Finished(finished) => {
                    let digest = self.digest(&finished.record);
                    let bytes = digest_of(&finished.record);
                    if let Some(stream) = self.streams.get_mut(&number) {
                        stream.digests.insert(lease.grant, bytes);
                    }
                    Told::Finished(SessionResult {
                        session_id,
                        digest,
                        record: finished.record,
                        telemetry: finished.telemetry,
                    })
                }
                Said::Failed(failed) => {
                    let failure = match failed.kind() {
                        FailureKind::Parked => Failure::Parked,
                        FailureKind::BudgetSpent => Failure::BudgetSpent,
                        FailureKind::Impossible => Failure::Impossible,
                        FailureKind::Unplayable => Failure::Unplayable,
                        FailureKind::Crashed | FailureKind::Unspecified => Failure::Crashed,
                    };
                    Told::Failed(failure, failed.reason)
                }
            };
            outcomes.push((*lease, told));
        }
        outcomes
    }

    fn digest(&self, record: &Bytes) -> u64 {
        match self.broken {
            Some(Broken::ComparesNoBytes) => record.len() as u64,
            _ => digest_of(record),
        }
    }

    /// Takes from the owner what it has for the streams of a coordinator.
    pub fn collect(&mut self, coordinator: usize) -> Outcome {
        let of_it = |stream: &Stream| stream.coordinator == coordinator && stream.owner_end;
        let found = self.streams.iter().filter(|(_, stream)| of_it(stream));
        let numbers: Vec<u64> = found.map(|(number, _)| *number).collect();
        for number in numbers {
            self.collect_of(number)?;
        }
        Ok(())
    }

    fn collect_of(&mut self, number: u64) -> Outcome {
        let Some(stream) = self.streams.get_mut(&number) else {
            return Ok(());
        };
        let answer = stream
            .registering
            .as_mut()
            .and_then(|reply| reply.try_recv().ok());
        if let Some((id, lost)) = answer {
            stream.registering = None;
            stream.id = Some(id);
            let lost_some = !lost.is_empty();
            let mut refs: Vec<LeaseRef> = std::mem::take(&mut stream.strange);
            refs.extend(
                lost.iter()
                    .filter_map(|lease| stream.refs.remove(&lease.grant)),
            );
            let early = std::mem::take(&mut stream.early);
            let registered = RegisteredWorker {
                lease_ms: LEASE.as_millis() as u64,
                lost: refs,
            };
            self.send_down(number, FromCoordinator::Registered(registered));
            if lost_some {
                self.count("lease lost on coming back");
            }
            for message in early {
                self.on_said(number, message)?;
            }
        }
        loop {
            let stream = self.streams.get_mut(&number);
            let ready = stream.filter(|stream| stream.id.is_some());
            let outbox = ready.and_then(|stream| stream.outbox.as_mut());
            match outbox.map(mpsc::Receiver::try_recv) {
                Some(Ok(message)) => {
                    if let Some(answer) = self.answer(number, message)? {
                        self.send_down(number, answer);
                    }
                }
                Some(Err(TryRecvError::Disconnected)) => {
                    self.end_by_owner(number);
                    return Ok(());
                }
                Some(Err(TryRecvError::Empty)) | None => return Ok(()),
            }
        }
    }

    /// The owner has ended a stream: it does not know its worker any more.
    fn end_by_owner(&mut self, number: u64) {
        if self.broken == Some(Broken::KeepsStreamsOfLostWorkers) {
            return;
        }
        let Some(stream) = self.streams.get(&number) else {
            return;
        };
        let coordinator = stream.coordinator;
        if let Some(stream) = stream.id {
            self.tell_later(coordinator, Message::Leave { stream });
        }
        self.count("stream ended by the owner");
        self.hang_up(number, false);
    }

    fn answer(
        &mut self,
        number: u64,
        message: ToStream,
    ) -> Result<Option<FromCoordinator>, String> {
        Ok(match message {
            ToStream::Grant(grants) => {
                let mut leases = Vec::new();
                for grant in grants {
                    leases.extend(self.granted(number, grant)?);
                }
                Some(FromCoordinator::Granted(GrantedLeases { leases }))
            }
            ToStream::Heard(number) => Some(FromCoordinator::Heard(HeartbeatHeard { number })),
            ToStream::Revoke(leases) => {
                self.count("revoked");
                let stream = self.streams.get_mut(&number);
                let refs = stream.map(|stream| {
                    let refs = leases
                        .iter()
                        .filter_map(|lease| stream.refs.remove(&lease.grant));
                    refs.collect()
                });
                let leases = refs.unwrap_or_default();
                Some(FromCoordinator::Revoked(RevokedLeases { leases }))
            }
            ToStream::Settled(list) => {
                let mut sessions = Vec::new();
                for (lease, how) in list {
                    sessions.extend(self.settled(number, lease, how)?);
                }
                Some(FromCoordinator::Settled(SettledSessions { sessions }))
            }
        })
    }

    fn granted(&mut self, number: u64, grant: Grant) -> Result<Vec<Lease>, String> {
        let Some(stream) = self.streams.get(&number) else {
            return Ok(Vec::new());
        };
        let (coordinator, worker, id) = (stream.coordinator, stream.worker, stream.id);
        let lease = grant.granted.lease;
        if grant.granted.suspect {
            self.count("suspect");
        }
        let (key, position) = (lease.session.experiment, lease.session.position);
        let specs = self.coordinators[coordinator]
            .owner
            .as_ref()
            .map(|owner| owner.specs.clone());
        let known = specs.and_then(|specs| specs.get(key));
        let known = known.filter(|known| known.grid == lease.grid);
        let Some(session) = known.as_ref().and_then(|known| known.session(position)) else {
            // The experiment has another grid by now.
            self.count("moved grant");
            if let Some(stream) = id {
                let leases = vec![lease];
                self.tell_later(coordinator, Message::Release { stream, leases });
            }
            return Ok(Vec::new());
        };
        let known = known.expect("it has a session");
        let before = known
            .follows(position)
            .then(|| known.session(position - 1))
            .flatten();
        let carried = self.record_before(&known.submitted.name, grant.before.as_ref());
        if let Some(before) = before {
            self.count("session of a series");
            self.invariant_session_begins_when_the_one_before_is_done(
                coordinator,
                (key, before.id),
                carried.as_ref(),
            )?;
        }
        let mut leases = vec![self.sealed(number, &session.id, lease, carried)];
        let next = known
            .session(position + 1)
            .filter(|_| known.follows(position + 1));
        if let Some(next) = next.filter(|_| self.broken == Some(Broken::GrantsTheNextToo)) {
            self.invariant_session_begins_when_the_one_before_is_done(
                coordinator,
                (key, session.id),
                None,
            )?;
            leases.push(self.sealed(number, &next.id, lease, None));
        }
        let name = self.workers[worker].name.clone();
        for lease in &leases {
            self.invariant_token_opens_for_its_holder_only(&name, lease.lease.as_ref())?;
        }
        Ok(leases)
    }

    fn sealed(
        &mut self,
        number: u64,
        session_id: &str,
        lease: LeaseId,
        carried: Option<Bytes>,
    ) -> Lease {
        let stream = self.streams.get_mut(&number).expect("it is there");
        let name = self.workers[stream.worker].name.clone();
        let token = self.sealer.seal(self.sealed_for(&name), session_id, lease);
        let reference = LeaseRef {
            session_id: session_id.to_owned(),
            token,
        };
        let stream = self.streams.get_mut(&number).expect("it is there");
        stream.refs.insert(lease.grant, reference.clone());
        Lease {
            lease: Some(reference),
            carried: carried.unwrap_or_default(),
            ..Lease::default()
        }
    }

    fn record_before(&self, name: &str, before: Option<&Whereabouts>) -> Option<Bytes> {
        self.record(name, before?)
    }

    /// The record that lies there.
    pub fn record(&self, name: &str, whereabouts: &Whereabouts) -> Option<Bytes> {
        match whereabouts {
            Whereabouts::Here { record, .. } => Some(record.clone()),
            Whereabouts::Archived { segment, entry } => {
                let entries = self.seen.archive.get(&(name.to_owned(), *segment))?;
                Some(entries.get(*entry as usize)?.record.clone())
            }
        }
    }

    fn settled(
        &mut self,
        number: u64,
        lease: LeaseId,
        how: Settled,
    ) -> Result<Option<SettledSession>, String> {
        let Some(stream) = self.streams.get_mut(&number) else {
            return Ok(None);
        };
        let coordinator = stream.coordinator;
        let Some(reference) = stream.handed_in.remove(&lease.grant) else {
            return Ok(None);
        };
        let session = (lease.session.experiment, reference.session_id.clone());
        if let Some(digest) = stream.digests.get(&lease.grant).copied() {
            self.invariant_what_is_acknowledged_is_durable(coordinator, &session, how, digest)?;
        }
        self.count(&format!("{how:?}"));
        let settlement = match how {
            Settled::Stored => Settlement::Stored,
            Settled::Same => Settlement::Same,
            Settled::Different => Settlement::Different,
            Settled::Fenced => Settlement::Fenced,
            Settled::Noted => Settlement::Noted,
        };
        Ok(Some(SettledSession {
            lease: Some(reference),
            settlement: settlement.into(),
            reason: String::new(),
        }))
    }
}

pub fn digest_of(record: &Bytes) -> u64 {
    let hash = blake3::hash(record);
    let first = hash.as_bytes().first_chunk().copied();
    u64::from_le_bytes(first.unwrap_or_default())
}
