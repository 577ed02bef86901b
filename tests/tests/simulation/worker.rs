//! Workers: the real state of a supervisor, and sessions that end after a while with what chance has
//! for them. A worker may be killed, stopped and started again at any time.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_proto::packed::pack;
use agon_proto::v1::work_sessions_request::Message as ToCoordinator;
use agon_proto::v1::work_sessions_response::Message as FromCoordinator;
use agon_proto::v1::{Capability, FailureKind, Lease, LeaseRef};
use agon_worker::supervisor::state::{Effect, Outcome as Ended, SupervisorState};
use bytes::Bytes;

use crate::Outcome;
use crate::broken::Broken;
use crate::experiments::VERSIONS;
use crate::world::{Event, LEASE, World};

type Key = (String, Bytes);

pub struct Worker {
    pub name: String,
    /// Counts its processes; also the incarnation.
    pub life: u64,
    pub up: bool,
    pub stopped_until: Duration,
    pub state: SupervisorState,
    pub stream: Option<u64>,
    /// The coordinator that it tries.
    pub at: usize,
    /// How each session in hand will end.
    tries: BTreeMap<Key, Ended>,
    /// When the messages were sent that the coordinator answers.
    sent: BTreeMap<u64, Duration>,
    connected_at: Duration,
    /// Its leases hold until then, by what it has heard.
    pub heard_until: Duration,
}

impl Worker {
    pub fn new(name: String, life: u64, places: usize) -> Self {
        let state = SupervisorState::new(name.clone(), life, "simulated", places, capabilities());
        Self {
            name,
            life,
            up: true,
            stopped_until: Duration::ZERO,
            state,
            stream: None,
            at: 0,
            tries: BTreeMap::new(),
            sent: BTreeMap::new(),
            connected_at: Duration::ZERO,
            heard_until: Duration::ZERO,
        }
    }
}

fn capabilities() -> Vec<Capability> {
    let submitted = VERSIONS.iter().flatten().map(|version| &version.submitted);
    let required = submitted.flat_map(|submitted| &submitted.requirements);
    let named = required.map(|one| (one.name.clone(), one.version.clone()));
    let named: BTreeMap<String, String> = named.collect();
    let named = named.into_iter();
    named
        .map(|(name, version)| Capability {
            name,
            versions: vec![version],
        })
        .collect()
}

/// What any worker makes of a session.
fn record(session_id: &str, carried: &[u8], flaw: u64) -> Bytes {
    let before = blake3::hash(carried).to_hex();
    let line = format!("{session_id} after {} {flaw:03}", &before[..8]);
    pack(&line)
}

impl World {
    pub fn connect(&mut self, worker: usize) {
        let now = self.now;
        let known = &mut self.workers[worker];
        if known.stream.is_some() {
            return;
        }
        known.sent.clear();
        known.connected_at = now;
        let effects = known.state.on_connected(now);
        self.open_stream(worker);
        self.carry_out(worker, effects);
    }

    /// The worker's end of its stream is gone.
    pub fn disconnect(&mut self, worker: usize, refused: bool) {
        let known = &mut self.workers[worker];
        known.stream = None;
        known.state.on_disconnected();
        if refused {
            known.at = 1 - known.at;
        }
        let pause = self.chance.ms(100, 1_500);
        self.after(pause, Event::Connect(worker, self.workers[worker].life));
    }

    pub fn beat(&mut self, worker: usize) -> Outcome {
        let (now, broken) = (self.now, self.broken);
        let often = self.chance.once_in(3);
        let known = &mut self.workers[worker];
        let mut effects = known.state.on_heartbeat_due(now, |_| often);
        if broken != Some(Broken::PlaysOnWhenCutOff) {
            effects.extend(known.state.on_time(now));
        }
        let cut_off = effects
            .iter()
            .any(|effect| matches!(effect, Effect::Stop { lost: true, .. }));
        let next = known.state.heartbeat_every();
        let life = known.life;
        if cut_off {
            self.count("worker cut off");
        }
        self.carry_out(worker, effects);
        self.after(next, Event::Beat(worker, life));
        self.invariant_worker_that_is_cut_off_plays_nothing(worker)
    }

    /// The worker hears something.
    pub fn hear(&mut self, worker: usize, message: FromCoordinator) {
        let known = &mut self.workers[worker];
        let until = match &message {
            FromCoordinator::Registered(_) => Some(known.connected_at + LEASE),
            FromCoordinator::Heard(heard) => {
                known.sent.get(&heard.number).map(|sent| *sent + LEASE)
            }
            _ => None,
        };
        known.heard_until = known.heard_until.max(until.unwrap_or_default());
        let effects = known.state.on_message(message);
        self.carry_out(worker, effects);
    }

    pub fn end_session(&mut self, worker: usize, lease: &LeaseRef, given_up: bool) {
        let known = &mut self.workers[worker];
        let key = (lease.session_id.clone(), lease.token.clone());
        let Some(planned) = known.tries.remove(&key) else {
            return;
        };
        let ended = if given_up { Ended::GivenUp } else { planned };
        known.state.on_session_ended(lease, ended);
        let effects = known.state.hand_in();
        self.carry_out(worker, effects);
    }

    pub fn drain(&mut self, worker: usize) {
        let effects = self.workers[worker].state.on_drain();
        self.note(format!("{} drains", self.workers[worker].name));
        self.carry_out(worker, effects);
        let life = self.workers[worker].life;
        let soon = self.chance.ms(1_000, 6_000);
        self.after(soon, Event::Killed(worker, life));
    }

    pub fn kill_worker(&mut self, worker: usize) {
        let known = &mut self.workers[worker];
        if !known.up {
            return;
        }
        known.up = false;
        known.stopped_until = Duration::ZERO;
        let (life, name) = (known.life, known.name.clone());
        if let Some(stream) = known.stream.take() {
            self.cut(stream, true);
        }
        self.note(format!("{name} is killed"));
        let pause = self.chance.ms(500, 15_000);
        self.after(pause, Event::Started(worker, life));
    }

    pub fn start_worker(&mut self, worker: usize) {
        let places = 1 + self.chance.index(4);
        let known = &self.workers[worker];
        let (name, life, at) = (known.name.clone(), known.life + 1, known.at);
        self.note(format!("{name} starts with {places} places"));
        self.workers[worker] = Worker {
            at,
            ..Worker::new(name, life, places)
        };
        self.after(Duration::ZERO, Event::Connect(worker, life));
        self.after(Duration::from_secs(1), Event::Beat(worker, life));
    }

    fn carry_out(&mut self, worker: usize, effects: Vec<Effect>) {
        let dropped = effects
            .iter()
            .any(|effect| matches!(effect, Effect::Stop { lost: true, .. }));
        for effect in effects {
            match effect {
                Effect::Send(ToCoordinator::Release(_))
                    if dropped && self.broken == Some(Broken::DropsWithoutRelease) => {}
                Effect::Send(message) => {
                    let now = self.now;
                    let known = &mut self.workers[worker];
                    if let ToCoordinator::Heartbeat(beat) = &message {
                        known.sent.insert(beat.number, now);
                    }
                    if let Some(stream) = known.stream {
                        self.send_up(stream, message);
                    }
                }
                Effect::Start(lease) => self.start(worker, *lease),
                Effect::Stop { lease, .. } => {
                    let life = self.workers[worker].life;
                    let soon = self.chance.ms(0, 200);
                    self.after(soon, Event::Ends(worker, life, lease, true));
                }
            }
        }
    }

    fn start(&mut self, worker: usize, lease: Lease) {
        let Some(reference) = lease.lease else { return };
        let ended = self.draw_end(&reference.session_id, &lease.carried);
        let took = self.chance.ms(50, 6_000);
        let known = &mut self.workers[worker];
        let (life, name) = (known.life, known.name.clone());
        let key = (reference.session_id.clone(), reference.token.clone());
        known.tries.insert(key, ended);
        self.note(format!("{name} plays {}", &reference.session_id[..6]));
        self.after(took, Event::Ends(worker, life, reference, false));
    }

    fn draw_end(&mut self, session_id: &str, carried: &[u8]) -> Ended {
        let drawn = if self.calm { 0 } else { self.chance.below(100) };
        let failed = |kind, reason: String| Ended::Failed { kind, reason };
        match drawn {
            0..76 => {
                let flaw = match self.flaky && self.chance.once_in(2) {
                    true => self.chance.below(1000),
                    false => 0,
                };
                Ended::Finished {
                    record: record(session_id, carried, flaw),
                    telemetry: pack("{}"),
                }
            }
            76..86 => failed(FailureKind::Crashed, "overflow".to_owned()),
            86..90 => failed(FailureKind::Parked, "nobody answers".to_owned()),
            90..92 => failed(FailureKind::Impossible, "no such game".to_owned()),
            _ => {
                let reason = format!("$5 are spent, says {}", self.chance.below(1_000_000));
                self.seen.spent.insert(reason.clone());
                failed(FailureKind::BudgetSpent, reason)
            }
        }
    }
}
