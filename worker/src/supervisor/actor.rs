//! The loop of the supervisor: one stream at a time to the coordinator, a timer
//! for heartbeats, the ends of sessions, and shutdown.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_proto::v1::work_sessions_request::Message as ToCoordinator;
use agon_proto::v1::{FailureKind, Lease, LeaseRef, WorkSessionsRequest, WorkSessionsResponse};
use agon_referee::Games;
use agon_service_kit::backoff::Delays;
use agon_service_kit::compute::Pool;
use agon_service_kit::tasks::{TaskEnd, TaskKind, Tasks};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::Streaming;
use tracing::{info, warn};

use super::WorkerOptions;
use super::attempt::Try;
use super::state::{Effect, Outcome, SupervisorState};
use crate::capabilities::capabilities;
use crate::metrics;
use crate::mind::GatewayClient;
use crate::prompts::Libraries;
use crate::transport::CoordinatorClient;

/// A pause between two tries to connect, when the back-off has none to offer.
const RECONNECT_AFTER: Duration = Duration::from_secs(3);

/// How long a stopping worker waits for its last results to be acknowledged.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A coordinator that does not answer at all is tried again, or another one.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// How often it is looked whether leases have run out while a coordinator does not answer.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Where sessions are played: rules, prompts and records take processor time, and meanwhile
/// heartbeats and connections must not wait.
static PLAYING: Pool = Pool::new("playing");

type Ended = (LeaseRef, Outcome);

/// A try that goes on.
struct Playing {
    stop: CancellationToken,
    /// Whether a decision was made in it that was not made before.
    progressed: Arc<AtomicBool>,
}

/// Runs a worker.
pub struct SupervisorActor {
    tasks: Tasks,
    /// Coordinators of which one is in charge.
    coordinators: Arc<[CoordinatorClient]>,
    /// The one that is tried or used.
    at: usize,
    gateway: GatewayClient,
    libraries: Libraries,
    state: SupervisorState,
    outgoing: Option<mpsc::UnboundedSender<WorkSessionsRequest>>,
    sessions: FuturesUnordered<BoxFuture<'static, Ended>>,
    playing: BTreeMap<(String, Bytes), Playing>,
    worker_id: String,
    games: Games,
    since: Instant,
}

impl SupervisorActor {
    /// A supervisor.
    pub fn new(
        tasks: Tasks,
        coordinators: Vec<CoordinatorClient>,
        gateway: GatewayClient,
        options: &WorkerOptions,
    ) -> Self {
        let worker_id = options.worker_id.clone();
        let state = SupervisorState::new(
            worker_id.clone(),
            options.incarnation,
            env!("CARGO_PKG_VERSION"),
            options.places,
            capabilities(&options.games),
        );
        Self {
            tasks,
            coordinators: coordinators.into(),
            at: 0,
            gateway,
            libraries: Libraries::default(),
            state,
            outgoing: None,
            sessions: FuturesUnordered::new(),
            playing: BTreeMap::new(),
            worker_id,
            games: options.games.clone(),
            since: Instant::now(),
        }
    }

    /// Works until shutdown, over as many streams as it takes.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let mut delays = Delays::default();
        let mut told = String::new();
        while !shutdown.is_cancelled() {
            match self.open_stream(&shutdown).await {
                Ok(incoming) => {
                    if self.work(incoming, &shutdown).await {
                        delays.reset();
                        told.clear();
                    }
                    self.on_disconnected();
                }
                Err(reason) => {
                    if told != reason {
                        warn!(%reason, "no work from the coordinator; trying again");
                        told = reason;
                    }
                    self.at = (self.at + 1) % self.coordinators.len();
                }
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
        let greetings = self.state.on_connected(self.since.elapsed());
        self.carry_out(greetings);
        let mut client = self.coordinators[self.at].clone();
        let call = async {
            client
                .work_sessions(UnboundedReceiverStream::new(receiver))
                .await
        };
        tokio::pin!(call);
        let over = tokio::time::sleep(ANSWERS_WITHIN);
        tokio::pin!(over);
        let mut look = tokio::time::interval(LOOK_EVERY);
        let opened = loop {
            tokio::select! {
                () = shutdown.cancelled() => break Err("stopping".to_owned()),
                () = &mut over => break Err("it does not answer".to_owned()),
                opened = &mut call => {
                    break opened.map_err(|refusal| refusal.message().to_owned());
                }
                // Leases run out meanwhile.
                _ = look.tick() => {
                    let effects = self.state.on_time(self.since.elapsed());
                    self.carry_out(effects);
                }
            }
        };
        match opened {
            Ok(response) => Ok(response.into_inner()),
            Err(reason) => {
                self.on_disconnected();
                Err(reason)
            }
        }
    }

    /// Serves one stream until it ends or the worker stops; says whether the coordinator ever
    /// answered.
    async fn work(
        &mut self,
        mut incoming: Streaming<WorkSessionsResponse>,
        shutdown: &CancellationToken,
    ) -> bool {
        let mut answered = false;
        let mut beat = Instant::now();
        loop {
            let due = tokio::time::Instant::from_std(beat + self.state.heartbeat_every());
            tokio::select! {
                () = shutdown.cancelled() => {
                    self.on_shutdown(incoming).await;
                    return answered;
                }
                () = tokio::time::sleep_until(due) => {
                    beat = Instant::now();
                    self.on_heartbeat_due();
                }
                Some(ended) = self.sessions.next() => self.on_session_ended(ended),
                received = incoming.message() => match received {
                    Ok(Some(response)) => {
                        self.on_response(response);
                        if !answered && self.state.is_connected() {
                            answered = true;
                            info!(worker_id = self.worker_id, "connected to the coordinator");
                        }
                    }
                    Ok(None) => return answered,
                    Err(broken) => {
                        warn!(reason = broken.message(), "the stream to the coordinator broke");
                        return answered;
                    }
                },
            }
        }
    }

    /// Between two streams: sessions go on and their ends are kept, as long as their leases last.
    async fn play_on_for(&mut self, pause: Duration, shutdown: &CancellationToken) {
        let over = tokio::time::sleep(pause);
        tokio::pin!(over);
        loop {
            let effects = self.state.on_time(self.since.elapsed());
            self.carry_out(effects);
            tokio::select! {
                () = &mut over => return,
                () = shutdown.cancelled() => return,
                Some(ended) = self.sessions.next() => self.on_session_ended(ended),
            }
        }
    }

    fn on_response(&mut self, response: WorkSessionsResponse) {
        if let Some(message) = response.message {
            let effects = self.state.on_message(message);
            self.carry_out(effects);
        }
    }

    fn on_heartbeat_due(&mut self) {
        let now = self.since.elapsed();
        let playing = &self.playing;
        let progressed = |lease: &LeaseRef| {
            let known = playing.get(&(lease.session_id.clone(), lease.token.clone()));
            known.is_some_and(|playing| playing.progressed.load(Ordering::Relaxed))
        };
        let mut effects = self.state.on_heartbeat_due(now, progressed);
        effects.extend(self.state.on_time(now));
        self.carry_out(effects);
    }

    /// Sessions that end together are handed in together.
    fn on_session_ended(&mut self, first: Ended) {
        let mut ended = Some(first);
        while let Some((lease, outcome)) = ended {
            self.playing
                .remove(&(lease.session_id.clone(), lease.token.clone()));
            self.state.on_session_ended(&lease, outcome);
            ended = self.sessions.next().now_or_never().flatten();
        }
        let effects = self.state.hand_in();
        self.carry_out(effects);
    }

    fn on_disconnected(&mut self) {
        self.outgoing = None;
        self.state.on_disconnected();
    }

    /// Gives back what is in hand and waits a little for acknowledgements.
    async fn on_shutdown(&mut self, mut incoming: Streaming<WorkSessionsResponse>) {
        let effects = self.state.on_drain();
        self.carry_out(effects);
        let last_words = async {
            while !self.state.is_idle() {
                tokio::select! {
                    Some(ended) = self.sessions.next() => self.on_session_ended(ended),
                    received = incoming.message() => match received {
                        Ok(Some(response)) => self.on_response(response),
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
        for playing in self.playing.values() {
            playing.stop.cancel();
        }
        while self.sessions.next().await.is_some() {}
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Send(message) => self.send(message),
                Effect::Start(lease) => self.start(*lease),
                Effect::Stop { lease, lost } => {
                    let key = (lease.session_id, lease.token);
                    if let Some(playing) = self.playing.get(&key) {
                        ::metrics::counter!(metrics::LEASES_LOST).increment(u64::from(lost));
                        playing.stop.cancel();
                    }
                }
            }
        }
        ::metrics::gauge!(metrics::SESSIONS_RUNNING).set(self.state.playing() as f64);
    }

    fn send(&self, message: ToCoordinator) {
        if let Some(outgoing) = &self.outgoing {
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
        let (stop, progressed) = (CancellationToken::new(), Arc::default());
        let key = (reference.session_id.clone(), reference.token.clone());
        let playing = Playing {
            stop: stop.clone(),
            progressed: Arc::clone(&progressed),
        };
        self.playing.insert(key, playing);
        let try_ = Try {
            tasks: self.tasks.clone(),
            coordinators: Arc::clone(&self.coordinators),
            gateway: self.gateway.clone(),
            libraries: self.libraries.clone(),
            games: self.games.clone(),
            worker_id: self.worker_id.clone(),
            progressed,
            stop,
        };
        let (sender, outcome) = oneshot::channel();
        let played = async move {
            let outcome = try_.play(lease).await;
            // The supervisor may have stopped.
            let _ = sender.send(outcome);
        };
        let threads = PLAYING.handle();
        let task = self
            .tasks
            .spawn_on(&threads, TaskKind::WORK, "session", played);
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
