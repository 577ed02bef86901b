//! The loop of the supervisor: one stream at a time to the coordinator, a timer
//! for renewals, the ends of sessions, and shutdown.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_agents::Mind;
use agon_engine::{Seat, SessionSpec};
use agon_proto::v1::work_sessions_request::Message as ToCoordinator;
use agon_proto::v1::{FailureKind, Lease, LeaseRef, WorkSessionsRequest, WorkSessionsResponse};
use agon_service_kit::backoff::Delays;
use agon_service_kit::server::LARGEST_MESSAGE_BYTES;
use agon_service_kit::tasks::{TaskEnd, TaskKind, Tasks};
use agon_service_kit::telemetry;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;
use tracing::{Instrument as _, info, warn};

use super::WorkerOptions;
use super::handle::SupervisorHandle;
use super::messages::SupervisorMessage;
use super::state::{Effect, Outcome, SupervisorState};
use crate::metrics;
use crate::mind::{GatewayClient, GatewayMind, Journal, SessionContext};
use crate::prompts::Libraries;
use crate::session::{self, SessionEnd, SessionPlan};
use crate::transport::CoordinatorClient;
use crate::wire::{self, Asker};

/// Only status questions come by mailbox.
const MAILBOX: usize = 8;

/// A pause between two tries to connect, when the back-off has none to offer.
const RECONNECT_AFTER: Duration = Duration::from_secs(3);

/// Room in a message for what stands around the record.
const ENVELOPE_BYTES: usize = 1024 * 1024;

/// How long a stopping worker waits for its last results to be acknowledged.
const LAST_WORDS: Duration = Duration::from_secs(5);

type Ended = (LeaseRef, Outcome);

/// Runs a worker.
pub struct SupervisorActor {
    tasks: Tasks,
    coordinator: CoordinatorClient,
    gateway: GatewayClient,
    libraries: Libraries,
    state: SupervisorState,
    inbox: mpsc::Receiver<SupervisorMessage>,
    outgoing: Option<mpsc::UnboundedSender<WorkSessionsRequest>>,
    sessions: FuturesUnordered<BoxFuture<'static, Ended>>,
    /// Ends a session's try, by lease.
    stops: std::collections::BTreeMap<(String, u64), CancellationToken>,
    worker_id: String,
}

impl SupervisorActor {
    /// A supervisor and the handle to it.
    pub fn new(
        tasks: Tasks,
        coordinator: CoordinatorClient,
        gateway: GatewayClient,
        options: &WorkerOptions,
    ) -> (Self, SupervisorHandle) {
        let (sender, inbox) = mpsc::channel(MAILBOX);
        let version = env!("CARGO_PKG_VERSION");
        let worker_id = options.worker_id.clone();
        let actor = Self {
            tasks,
            coordinator,
            gateway,
            libraries: Libraries::default(),
            state: SupervisorState::new(worker_id.clone(), version, options.places),
            inbox,
            outgoing: None,
            sessions: FuturesUnordered::new(),
            stops: std::collections::BTreeMap::new(),
            worker_id,
        };
        (actor, SupervisorHandle::new(sender))
    }

    /// Works until shutdown, over as many streams as it takes.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let mut delays = Delays::default();
        while !shutdown.is_cancelled() {
            match self.open_stream(&shutdown).await {
                Ok(incoming) => {
                    delays.reset();
                    info!(worker_id = self.worker_id, "connected to the coordinator");
                    self.work(incoming, &shutdown).await;
                    self.on_disconnected();
                }
                Err(reason) => warn!(%reason, "cannot reach the coordinator"),
            }
            let pause = delays.next_delay().unwrap_or(RECONNECT_AFTER);
            self.play_on_for(pause, &shutdown).await;
        }
        self.stop_everything().await;
    }

    async fn open_stream(
        &mut self,
        shutdown: &CancellationToken,
    ) -> Result<Streaming<WorkSessionsResponse>, String> {
        // Unbounded on purpose: it holds at most one result per place and a few
        // small messages, and the sessions' places bound those.
        let (sender, receiver) = mpsc::unbounded_channel();
        self.outgoing = Some(sender);
        let greetings = self.state.on_connected();
        self.carry_out(greetings).await;
        let call = self
            .coordinator
            .work_sessions(UnboundedReceiverStream::new(receiver));
        let opened = tokio::select! {
            () = shutdown.cancelled() => Err("stopping".to_owned()),
            opened = call => opened.map_err(|refusal| refusal.message().to_owned()),
        };
        match opened {
            Ok(response) => Ok(response.into_inner()),
            Err(reason) => {
                self.on_disconnected();
                Err(reason)
            }
        }
    }

    /// Serves one stream until it ends or the worker stops.
    async fn work(
        &mut self,
        mut incoming: Streaming<WorkSessionsResponse>,
        shutdown: &CancellationToken,
    ) {
        let mut renewed = Instant::now();
        loop {
            let renewal = tokio::time::Instant::from_std(renewed + self.state.renew_every());
            tokio::select! {
                () = shutdown.cancelled() => return self.on_shutdown(incoming).await,
                () = tokio::time::sleep_until(renewal) => {
                    renewed = Instant::now();
                    self.on_renewal_due().await;
                }
                Some(ended) = self.sessions.next() => self.on_session_ended(ended).await,
                Some(message) = self.inbox.recv() => self.on_inside_message(message),
                received = incoming.message() => match received {
                    Ok(Some(response)) => self.on_response(response).await,
                    Ok(None) => return,
                    Err(broken) => {
                        warn!(reason = broken.message(), "the stream to the coordinator broke");
                        return;
                    }
                },
            }
        }
    }

    /// Between two streams: sessions go on and their ends are kept.
    async fn play_on_for(&mut self, pause: Duration, shutdown: &CancellationToken) {
        let over = tokio::time::sleep(pause);
        tokio::pin!(over);
        loop {
            tokio::select! {
                () = &mut over => return,
                () = shutdown.cancelled() => return,
                Some(ended) = self.sessions.next() => self.on_session_ended(ended).await,
                Some(message) = self.inbox.recv() => self.on_inside_message(message),
            }
        }
    }

    async fn on_response(&mut self, response: WorkSessionsResponse) {
        if let Some(message) = response.message {
            let effects = self.state.on_message(message);
            self.carry_out(effects).await;
        }
    }

    async fn on_renewal_due(&mut self) {
        let effects = self.state.on_renewal_due();
        self.carry_out(effects).await;
    }

    async fn on_session_ended(&mut self, (lease, outcome): Ended) {
        self.stops.remove(&(lease.session_id.clone(), lease.fence));
        let effects = self.state.on_session_ended(&lease, outcome);
        self.carry_out(effects).await;
    }

    fn on_inside_message(&mut self, message: SupervisorMessage) {
        match message {
            SupervisorMessage::Status(reply) => {
                // Whoever asked may have left.
                let _ = reply.send(self.state.status());
            }
        }
    }

    fn on_disconnected(&mut self) {
        self.outgoing = None;
        self.state.on_disconnected();
    }

    /// Gives back what is in hand and waits a little for acknowledgements.
    async fn on_shutdown(&mut self, mut incoming: Streaming<WorkSessionsResponse>) {
        let effects = self.state.on_drain();
        self.carry_out(effects).await;
        let last_words = async {
            while !self.state.is_idle() {
                tokio::select! {
                    Some(ended) = self.sessions.next() => self.on_session_ended(ended).await,
                    received = incoming.message() => match received {
                        Ok(Some(response)) => self.on_response(response).await,
                        _ => return,
                    },
                }
            }
        };
        if tokio::time::timeout(LAST_WORDS, last_words).await.is_err() {
            warn!("stopping before the coordinator acknowledged everything");
        }
        // Ends our side of the stream; the coordinator reads the release first.
        self.outgoing = None;
        let _ = tokio::time::timeout(LAST_WORDS, async {
            while let Ok(Some(_)) = incoming.message().await {}
        })
        .await;
    }

    /// The last act: no session outlives its supervisor.
    async fn stop_everything(&mut self) {
        for stop in self.stops.values() {
            stop.cancel();
        }
        while self.sessions.next().await.is_some() {}
    }

    async fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Send(message) => self.send(message),
                Effect::Start(lease) => self.start(*lease),
                Effect::Stop { lease, lost } => {
                    let key = (lease.session_id, lease.fence);
                    if let Some(stop) = self.stops.get(&key) {
                        ::metrics::counter!(metrics::LEASES_LOST).increment(u64::from(lost));
                        stop.cancel();
                    }
                }
            }
        }
        ::metrics::gauge!(metrics::SESSIONS_RUNNING).set(self.state.playing() as f64);
    }

    fn send(&self, message: ToCoordinator) {
        if let Some(outgoing) = &self.outgoing
            && self.state.is_connected()
        {
            // A stream that just broke: results are kept and said again.
            let _ = outgoing.send(WorkSessionsRequest {
                message: Some(message),
            });
        }
    }

    fn start(&mut self, lease: Lease) {
        let Some(reference) = lease.lease.clone() else {
            return;
        };
        let stop = CancellationToken::new();
        let key = (reference.session_id.clone(), reference.fence);
        self.stops.insert(key, stop.clone());
        let try_ = Try {
            tasks: self.tasks.clone(),
            coordinator: self.coordinator.clone(),
            gateway: self.gateway.clone(),
            libraries: self.libraries.clone(),
            worker_id: self.worker_id.clone(),
            stop,
        };
        let (sender, outcome) = oneshot::channel();
        let played = async move {
            let outcome = try_.play(lease).await;
            // The supervisor may have stopped.
            let _ = sender.send(outcome);
        };
        let task = self.tasks.spawn(TaskKind::WORK, "session", played);
        self.sessions.push(Box::pin(async move {
            let outcome = match (task.await, outcome.await) {
                (_, Ok(outcome)) => outcome,
                (Ok(TaskEnd::Panicked(reason)), _) => Outcome::Failed {
                    kind: FailureKind::Crashed,
                    reason,
                },
                _ => Outcome::GivenUp,
            };
            (reference, outcome)
        }));
    }
}

/// One try to play a session.
struct Try {
    tasks: Tasks,
    coordinator: CoordinatorClient,
    gateway: GatewayClient,
    libraries: Libraries,
    worker_id: String,
    stop: CancellationToken,
}

impl Try {
    async fn play(self, lease: Lease) -> Outcome {
        let spec: SessionSpec = match serde_json::from_slice(&lease.spec) {
            Ok(spec) => spec,
            Err(error) => return impossible(format!("unreadable session spec: {error}")),
        };
        let carried = match wire::carried(&lease) {
            Ok(carried) => carried,
            Err(error) => return impossible(format!("unreadable notes of a series: {error}")),
        };
        let digest = spec.prompt_bundle.clone();
        let wanted = self.libraries.get(digest.as_deref(), &self.coordinator);
        let library = match self.stop.run_until_cancelled(wanted).await {
            None => return Outcome::GivenUp,
            Some(Err(error)) => return impossible(error.to_string()),
            Some(Ok(library)) => library,
        };
        let asker = Asker::of_lease(&lease, &spec);
        let session_id = lease
            .lease
            .map(|lease| lease.session_id)
            .unwrap_or_default();
        let ids = telemetry::SessionIds {
            experiment_id: &lease.experiment_id,
            session_id: &session_id,
            game: &spec.game,
        };
        let span = ids.session_span();
        telemetry::set_parent(&span, &lease.traceparent);
        let context = SessionContext {
            session_id: session_id.as_str().into(),
            game: spec.game.as_str().into(),
            asker: asker.into(),
        };
        let (client, given_up) = (self.gateway, self.stop.clone());
        let minds = move |seat: Seat, journal: Arc<Journal>| -> Arc<dyn Mind> {
            let (client, context) = (client.clone(), context.clone());
            Arc::new(GatewayMind::new(
                client,
                context,
                seat,
                journal,
                given_up.clone(),
            ))
        };
        let plan = SessionPlan {
            spec,
            carried,
            library,
            minds: Box::new(minds),
            given_up: self.stop,
        };
        let begun = Instant::now();
        let end = session::run(self.tasks, plan).instrument(span).await;
        outcome(end, &self.worker_id, lease.attempt, begun.elapsed())
    }
}

/// What a try comes to, in the coordinator's terms.
fn outcome(end: SessionEnd, worker_id: &str, attempt: u32, took: Duration) -> Outcome {
    let (name, outcome) = match end {
        SessionEnd::Finished {
            record,
            usage,
            each,
        } => match record.to_line() {
            Ok(line) if line.len() > LARGEST_MESSAGE_BYTES - ENVELOPE_BYTES => {
                let size = line.len() / (1024 * 1024);
                let reason = format!(
                    "the record has {size} MB, more than a message may have: play fewer rounds or seats"
                );
                ("impossible", impossible(reason))
            }
            Ok(line) => {
                let seconds = took.as_secs_f64();
                ::metrics::histogram!(metrics::SESSION_SECONDS).record(seconds);
                let telemetry = serde_json::json!({
                    "session": record.session,
                    "worker": worker_id,
                    "attempt": attempt,
                    "seconds": seconds,
                    "decisions": record.decisions.len(),
                    "usage": usage,
                    "each": each,
                });
                let telemetry = telemetry.to_string().into_bytes();
                (
                    "finished",
                    Outcome::Finished {
                        record: line.into_bytes(),
                        telemetry,
                    },
                )
            }
            Err(error) => (
                "impossible",
                impossible(format!("unwritable record: {error}")),
            ),
        },
        SessionEnd::Parked(reason) => (
            "parked",
            Outcome::Failed {
                kind: FailureKind::Parked,
                reason,
            },
        ),
        SessionEnd::BudgetSpent(reason) => (
            "budget_spent",
            Outcome::Failed {
                kind: FailureKind::BudgetSpent,
                reason,
            },
        ),
        SessionEnd::Impossible(reason) => ("impossible", impossible(reason)),
        SessionEnd::Crashed(reason) => (
            "crashed",
            Outcome::Failed {
                kind: FailureKind::Crashed,
                reason,
            },
        ),
        SessionEnd::GivenUp => ("given_up", Outcome::GivenUp),
    };
    ::metrics::counter!(metrics::SESSIONS_ENDED, "end" => name).increment(1);
    outcome
}

fn impossible(reason: String) -> Outcome {
    Outcome::Failed {
        kind: FailureKind::Impossible,
        reason,
    }
}
