//! The loop of the lease actor: it carries out what the state decides. Whose turn it is, the state
//! knows; what can be leased, the store. Sessions that cannot be delivered are given back. Started
//! by the coordinator.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_service_kit::tasks::{TaskKind, Tasks, with_causes};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::handle::LeaseHandle;
use super::messages::{Grant, MAILBOX, Message, StreamId};
use super::state::{Answer, Effect, GREETINGS_PER_TTL, LeaseState};
use crate::metrics;
use crate::store::{Granted, Store, StoreResult};

/// How long leases hold, and how often the actor looks after them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeaseOptions {
    /// How long a lease holds without being renewed.
    pub ttl: Duration,
    /// How often leases that have run out are swept up.
    pub sweep_every: Duration,
    /// How often connected workers are noted in the store.
    pub greet_every: Duration,
}

pub(crate) struct LeaseActor {
    store: Arc<dyn Store>,
    options: LeaseOptions,
    tasks: Tasks,
    mailbox: mpsc::Receiver<Message>,
    outboxes: BTreeMap<StreamId, mpsc::Sender<Grant>>,
    state: LeaseState,
    leased: mpsc::Sender<Leased>,
}

/// What came of a request to the store.
struct Leased {
    stream: StreamId,
    asked: usize,
    granted: StoreResult<Vec<Granted>>,
}

impl LeaseHandle {
    /// Starts the actor; it ends when `draining` is cancelled and all handles are gone, or at
    /// shutdown.
    pub(crate) fn start(
        store: Arc<dyn Store>,
        options: LeaseOptions,
        tasks: &Tasks,
        draining: CancellationToken,
    ) -> Self {
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        // One request is under way at a time.
        let (leased, answers) = mpsc::channel(1);
        let actor = LeaseActor {
            store,
            options,
            tasks: tasks.clone(),
            mailbox,
            outboxes: BTreeMap::new(),
            state: LeaseState::new(options.greet_every),
            leased,
        };
        tasks.spawn(TaskKind::SERVICE, "leases", actor.run(answers, draining));
        Self::new(sender)
    }
}

impl LeaseActor {
    async fn run(mut self, mut answers: mpsc::Receiver<Leased>, draining: CancellationToken) {
        let mut queued = self.store.queued();
        let mut sweep = tokio::time::interval(self.options.sweep_every);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stopping = self.tasks.shutdown_token();
        loop {
            let effects = tokio::select! {
                message = self.mailbox.recv() => match message {
                    Some(message) => self.on_message(message),
                    None => return,
                },
                Some(leased) = answers.recv() => self.on_leased(leased).await,
                Ok(()) = queued.changed() => self.state.on_queued(),
                _ = sweep.tick() => self.state.on_sweep_due(Instant::now()),
                () = draining.cancelled(), if !self.state.is_draining() => {
                    self.state.on_drain();
                    Vec::new()
                }
                // Streams end by themselves; what they still have to say passes us by.
                () = stopping.cancelled() => return,
            };
            for effect in effects {
                self.carry_out(effect).await;
            }
            let (workers, free_places) = self.state.load();
            metrics::observe_workers(workers, free_places);
        }
    }

    fn on_message(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Enter {
                worker,
                outbox,
                reply,
            } => {
                let (stream, effects) = self.state.on_entered(worker);
                self.outboxes.insert(stream, outbox);
                if reply.send(stream).is_err() {
                    self.outboxes.remove(&stream);
                    self.state.on_left(stream);
                }
                effects
            }
            Message::FreePlaces {
                stream,
                places,
                received,
            } => self.state.on_free_places(stream, places, received),
            Message::Leave { stream } => {
                self.outboxes.remove(&stream);
                self.state.on_left(stream);
                Vec::new()
            }
            Message::Status { reply } => {
                // Whoever asked may have gone.
                let _ = reply.send(self.state.status());
                Vec::new()
            }
        }
    }

    async fn on_leased(&mut self, leased: Leased) -> Vec<Effect> {
        let Leased {
            stream,
            asked,
            granted,
        } = leased;
        let answer = match granted {
            Ok(granted) if granted.is_empty() => Answer::Sent(0),
            Ok(granted) => {
                metrics::count_leased(granted.len());
                self.deliver(stream, granted).await
            }
            Err(error) => {
                warn!(error = with_causes(&error), "cannot lease sessions");
                Answer::Failed
            }
        };
        self.state.on_leased(stream, asked, answer)
    }

    /// Sends sessions to their stream, or gives them back when it is gone or far behind.
    async fn deliver(&mut self, stream: StreamId, granted: Vec<Granted>) -> Answer {
        let sessions = granted.len();
        let Grant(granted) = match self.outboxes.get(&stream) {
            None => Grant(granted),
            Some(outbox) => match outbox.try_send(Grant(granted)) {
                Ok(()) => return Answer::Sent(sessions),
                Err(
                    mpsc::error::TrySendError::Full(grant)
                    | mpsc::error::TrySendError::Closed(grant),
                ) => grant,
            },
        };
        debug!(sessions, "a worker left before its sessions came");
        let keys: Vec<_> = granted.into_iter().map(|granted| granted.key).collect();
        if let Err(error) = self.store.release(&keys).await {
            // They run out by themselves.
            warn!(error = with_causes(&error), "cannot give sessions back");
        }
        Answer::GivenBack
    }

    async fn carry_out(&self, effect: Effect) {
        let store = self.store.clone();
        let options = self.options;
        match effect {
            Effect::Lease {
                stream,
                worker,
                most,
            } => {
                let leased = self.leased.clone();
                self.tasks.spawn(TaskKind::WORK, "lease", async move {
                    let granted = store.lease(&worker, most, options.ttl).await;
                    let answer = Leased {
                        stream,
                        asked: most,
                        granted,
                    };
                    // Without the actor nobody delivers them; they run out by themselves.
                    let _ = leased.send(answer).await;
                });
            }
            Effect::Sweep => {
                self.tasks
                    .spawn(TaskKind::UPKEEP, "lease sweep", async move {
                        let lost = store.expire().await?;
                        if lost > 0 {
                            metrics::count_lost(lost);
                            warn!(
                                leases = lost,
                                "leases ran out; their sessions are queued again"
                            );
                        }
                        Ok::<(), crate::store::StoreError>(())
                    });
            }
            Effect::Greet(workers) => {
                let ttl = options.greet_every * GREETINGS_PER_TTL;
                self.tasks
                    .spawn(TaskKind::UPKEEP, "worker greeting", async move {
                        for worker in workers {
                            store.greet(&worker, ttl).await?;
                        }
                        Ok::<(), crate::store::StoreError>(())
                    });
            }
        }
    }
}
