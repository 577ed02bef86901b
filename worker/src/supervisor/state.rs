//! What the supervisor decides: which leases it holds, what it owes the coordinator, what to start
//! and stop. Synchronous, the time is an argument; the stream and the sessions are the actor's
//! business. The simulation runs the same code.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_proto::v1::session_outcome::Outcome as Told;
use agon_proto::v1::work_sessions_request::Message as ToCoordinator;
use agon_proto::v1::work_sessions_response::Message as FromCoordinator;
use agon_proto::v1::{
    Capability, DrainWorker, FailedSession, FailureKind, FinishedSession, HandIn, Heartbeat, Lease,
    LeaseRef, RegisterWorker, ReleaseLeases, SessionOutcome, Settlement,
};
use bytes::Bytes;
use tracing::{error, warn};

/// Until a coordinator says how long its leases last.
const USUAL_LEASE: Duration = Duration::from_secs(10);

/// Heartbeats in a lease's time, so that two may get lost.
const HEARTBEATS_PER_LEASE: u32 = 3;

/// However short a lease is, a worker does not flood its coordinator.
const SHORTEST_BETWEEN_HEARTBEATS: Duration = Duration::from_millis(100);

/// Bytes of results in one message, unless a single one has more.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// Results in one message.
const MOST_OUTCOMES: usize = 1000;

/// What the actor must do.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Say this to the coordinator.
    Send(ToCoordinator),
    /// Play this session.
    Start(Box<Lease>),
    /// Give this session up.
    Stop {
        /// Which.
        lease: LeaseRef,
        /// Whether somebody else has it now, or nobody is to play it.
        lost: bool,
    },
}

/// How a session ended, ready to be told.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// With a record and telemetry, packed.
    Finished {
        /// The record.
        record: Bytes,
        /// Telemetry.
        telemetry: Bytes,
    },
    /// Without one.
    Failed {
        /// Why, for the coordinator.
        kind: FailureKind,
        /// Why, for people.
        reason: String,
    },
    /// It was told to stop.
    GivenUp,
}

/// A lease is known by session and token: the same session may come back under another token while
/// the old try is still ending.
type Key = (String, Bytes);

/// Whether a session may be what ends workers, and whether the coordinator knows that it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Suspicion {
    Nothing,
    Suspect,
    /// This heartbeat told of a new decision.
    Told(u64),
}

/// See the module.
pub struct SupervisorState {
    register: RegisterWorker,
    connected: bool,
    draining: bool,
    lease_time: Duration,
    /// The coordinator keeps what this worker holds until then, as far as this worker knows.
    held_until: Duration,
    /// When the message was sent that makes a stream: what is answered to it counts from there.
    registered_at: Duration,
    /// What that message said this worker has: until it is released or settled, the coordinator keeps
    /// it for this worker.
    claimed: Vec<Key>,
    heartbeats: u64,
    /// Heartbeats that were not heard yet, and when they were sent.
    unheard: BTreeMap<u64, Duration>,
    playing: BTreeMap<Key, Suspicion>,
    /// Results that the coordinator has not acknowledged.
    unsettled: BTreeMap<Key, Told>,
    /// Of these, those that were not said over this stream.
    unsaid: Vec<Key>,
}

impl SupervisorState {
    /// Of a worker that plays so many sessions at a time.
    pub fn new(
        worker_id: String,
        incarnation: u64,
        version: &str,
        places: usize,
        capabilities: Vec<Capability>,
    ) -> Self {
        Self {
            register: RegisterWorker {
                worker_id,
                incarnation,
                version: version.to_owned(),
                places: places as u32,
                capabilities,
                held: Vec::new(),
            },
            connected: false,
            draining: false,
            lease_time: USUAL_LEASE,
            held_until: Duration::ZERO,
            registered_at: Duration::ZERO,
            claimed: Vec::new(),
            heartbeats: 0,
            unheard: BTreeMap::new(),
            playing: BTreeMap::new(),
            unsettled: BTreeMap::new(),
            unsaid: Vec::new(),
        }
    }

    /// A stream is opened: say who we are and what we hold and owe. The rest waits for the answer.
    pub fn on_connected(&mut self, now: Duration) -> Vec<Effect> {
        self.connected = false;
        self.registered_at = now;
        self.heartbeats = 0;
        self.unheard.clear();
        for suspicion in self.playing.values_mut() {
            if matches!(suspicion, Suspicion::Told(_)) {
                // It may have been lost with its stream.
                *suspicion = Suspicion::Suspect;
            }
        }
        let owed = self.unsettled.keys();
        self.claimed = self.playing.keys().chain(owed).cloned().collect();
        let register = RegisterWorker {
            held: self.claimed.iter().map(lease_ref).collect(),
            ..self.register.clone()
        };
        vec![Effect::Send(ToCoordinator::Register(register))]
    }

    /// The stream broke. What is being played is played on.
    pub fn on_disconnected(&mut self) {
        self.connected = false;
    }

    /// Time to say that this worker is there. `progressed` says in which suspects a decision was made
    /// that was not made before.
    pub fn on_heartbeat_due(
        &mut self,
        now: Duration,
        progressed: impl Fn(&LeaseRef) -> bool,
    ) -> Vec<Effect> {
        if !self.connected {
            return Vec::new();
        }
        self.heartbeats += 1;
        self.unheard.insert(self.heartbeats, now);
        let mut list = Vec::new();
        for (key, suspicion) in &mut self.playing {
            let lease = lease_ref(key);
            if *suspicion == Suspicion::Suspect && progressed(&lease) {
                *suspicion = Suspicion::Told(self.heartbeats);
                list.push(lease);
            }
        }
        vec![Effect::Send(ToCoordinator::Heartbeat(Heartbeat {
            number: self.heartbeats,
            progressed: list,
        }))]
    }

    /// Time has passed: a worker that has heard nothing for as long as its leases last has lost them,
    /// and stops before anybody could pay for their decisions again.
    pub fn on_time(&mut self, now: Duration) -> Vec<Effect> {
        if self.playing.is_empty() || now < self.held_until {
            return Vec::new();
        }
        let seconds = self.lease_time.as_secs();
        warn!(
            seconds,
            "nothing was heard of the coordinator; the sessions in hand are given up"
        );
        let held: Vec<Key> = std::mem::take(&mut self.playing).into_keys().collect();
        let leases: Vec<LeaseRef> = held.iter().map(lease_ref).collect();
        let stop = |lease| Effect::Stop { lease, lost: true };
        let mut effects: Vec<Effect> = leases.iter().cloned().map(stop).collect();
        if self.connected {
            // It may hear us although we do not hear it, and would wait for them for ever.
            effects.push(Effect::Send(ToCoordinator::Release(ReleaseLeases {
                leases,
            })));
        }
        effects
    }

    /// The coordinator said something.
    pub fn on_message(&mut self, message: FromCoordinator) -> Vec<Effect> {
        match message {
            FromCoordinator::Registered(registered) => {
                self.connected = true;
                self.lease_time = Duration::from_millis(registered.lease_ms);
                self.held_until = self.registered_at + self.lease_time;
                self.unsaid = self.unsettled.keys().cloned().collect();
                let gone = self.given_up_meanwhile(&registered.lost);
                let mut effects = self.give_up(registered.lost);
                effects.extend(gone);
                if self.draining {
                    effects.push(Effect::Send(ToCoordinator::Drain(DrainWorker {})));
                }
                effects.extend(self.hand_in());
                effects
            }
            FromCoordinator::Granted(granted) => {
                let leases = granted.leases.into_iter();
                leases.filter_map(|lease| self.take(lease)).collect()
            }
            FromCoordinator::Heard(heard) => {
                if let Some(sent) = self.unheard.remove(&heard.number) {
                    self.unheard.retain(|number, _| *number > heard.number);
                    self.held_until = self.held_until.max(sent + self.lease_time);
                }
                for suspicion in self.playing.values_mut() {
                    if matches!(suspicion, Suspicion::Told(told) if *told <= heard.number) {
                        *suspicion = Suspicion::Nothing;
                    }
                }
                Vec::new()
            }
            FromCoordinator::Settled(settled) => {
                for session in settled.sessions {
                    let settlement = session.settlement();
                    if let Some(lease) = session.lease {
                        self.unsettled.remove(&key(&lease));
                        report(&lease, settlement, &session.reason);
                    }
                }
                Vec::new()
            }
            FromCoordinator::Revoked(revoked) => self.give_up(revoked.leases),
            // The stream will end by itself, and the actor opens another.
            FromCoordinator::Stopping(_) => Vec::new(),
        }
    }

    /// Releases what was said to be held when the stream was opened and was given up before the
    /// coordinator answered: it would keep those sessions for this worker as long as it hears of it.
    fn given_up_meanwhile(&mut self, lost: &[LeaseRef]) -> Option<Effect> {
        let claimed = std::mem::take(&mut self.claimed).into_iter();
        let gone = claimed
            .filter(|key| !self.playing.contains_key(key) && !self.unsettled.contains_key(key));
        let gone = gone.map(|key| lease_ref(&key));
        let leases: Vec<LeaseRef> = gone.filter(|lease| !lost.contains(lease)).collect();
        (!leases.is_empty()).then(|| Effect::Send(ToCoordinator::Release(ReleaseLeases { leases })))
    }

    /// A session ended. What is to be told waits for [`SupervisorState::hand_in`], so that what ends
    /// together is told together.
    pub fn on_session_ended(&mut self, lease: &LeaseRef, outcome: Outcome) {
        let key = key(lease);
        let was_held = self.playing.remove(&key).is_some();
        let told = match outcome {
            Outcome::Finished { record, telemetry } => {
                Told::Finished(FinishedSession { record, telemetry })
            }
            // Whoever gave it up knows why.
            Outcome::Failed { .. } | Outcome::GivenUp if !was_held => return,
            Outcome::Failed { kind, reason } => Told::Failed(FailedSession {
                kind: kind.into(),
                reason,
            }),
            Outcome::GivenUp => return,
        };
        self.unsettled.insert(key.clone(), told);
        self.unsaid.push(key);
    }

    /// Hands in what was not said over this stream.
    pub fn hand_in(&mut self) -> Vec<Effect> {
        if !self.connected {
            return Vec::new();
        }
        let mut effects = Vec::new();
        let (mut outcomes, mut bytes) = (Vec::new(), 0);
        for key in std::mem::take(&mut self.unsaid) {
            let Some(told) = self.unsettled.get(&key) else {
                continue;
            };
            let size = size_of(told);
            if !outcomes.is_empty()
                && (bytes + size > MOST_BYTES || outcomes.len() == MOST_OUTCOMES)
            {
                effects.push(handed_in(std::mem::take(&mut outcomes)));
                bytes = 0;
            }
            bytes += size;
            outcomes.push(SessionOutcome {
                lease: Some(lease_ref(&key)),
                outcome: Some(told.clone()),
            });
        }
        if !outcomes.is_empty() {
            effects.push(handed_in(outcomes));
        }
        effects
    }

    /// The worker stops: nothing new, and everything in hand goes back.
    pub fn on_drain(&mut self) -> Vec<Effect> {
        self.draining = true;
        let held: Vec<Key> = std::mem::take(&mut self.playing).into_keys().collect();
        let leases: Vec<LeaseRef> = held.iter().map(lease_ref).collect();
        let mut effects = vec![Effect::Send(ToCoordinator::Drain(DrainWorker {}))];
        let stop = |lease| Effect::Stop { lease, lost: false };
        effects.extend(leases.iter().cloned().map(stop));
        if !leases.is_empty() {
            effects.push(Effect::Send(ToCoordinator::Release(ReleaseLeases {
                leases,
            })));
        }
        effects
    }

    /// Whether everything handed in was acknowledged and nothing is played.
    pub fn is_idle(&self) -> bool {
        self.playing.is_empty() && self.unsettled.is_empty()
    }

    /// How long to wait between two heartbeats.
    pub fn heartbeat_every(&self) -> Duration {
        (self.lease_time / HEARTBEATS_PER_LEASE).max(SHORTEST_BETWEEN_HEARTBEATS)
    }

    /// Whether the coordinator has answered over this stream.
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// How many sessions are played.
    pub fn playing(&self) -> usize {
        self.playing.len()
    }

    /// The leases of the sessions that are played.
    pub fn held(&self) -> Vec<LeaseRef> {
        self.playing.keys().map(lease_ref).collect()
    }

    fn take(&mut self, lease: Lease) -> Option<Effect> {
        let reference = lease.lease.as_ref()?;
        if self.draining {
            let release = ReleaseLeases {
                leases: vec![reference.clone()],
            };
            return Some(Effect::Send(ToCoordinator::Release(release)));
        }
        let suspicion = match lease.suspect {
            true => Suspicion::Suspect,
            false => Suspicion::Nothing,
        };
        self.playing.insert(key(reference), suspicion);
        Some(Effect::Start(Box::new(lease)))
    }

    fn give_up(&mut self, lost: Vec<LeaseRef>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for lease in lost {
            if self.playing.remove(&key(&lease)).is_some() {
                effects.push(Effect::Stop { lease, lost: true });
            }
        }
        effects
    }
}

fn handed_in(outcomes: Vec<SessionOutcome>) -> Effect {
    Effect::Send(ToCoordinator::HandIn(HandIn { outcomes }))
}

fn size_of(told: &Told) -> usize {
    match told {
        Told::Finished(finished) => finished.record.len() + finished.telemetry.len(),
        Told::Failed(failed) => failed.reason.len(),
    }
}

fn key(lease: &LeaseRef) -> Key {
    (lease.session_id.clone(), lease.token.clone())
}

fn lease_ref((session_id, token): &Key) -> LeaseRef {
    LeaseRef {
        session_id: session_id.clone(),
        token: token.clone(),
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
