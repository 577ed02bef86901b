//! The service of workers: one long stream each, over which they get sessions and hand in results.
//! It opens and seals tokens, makes specs, checks records; what becomes of a session, the queue's
//! owner decides. Keeps nothing: a stream may break at any time.

use std::sync::Arc;
use std::time::Duration;

use agon_proto::v1::session_lease_service_server::SessionLeaseService;
use agon_proto::v1::work_sessions_request::Message as FromWorker;
use agon_proto::v1::work_sessions_response::Message as ToWorker;
use agon_proto::v1::{
    CoordinatorStopping, GetPromptBundleRequest, GetPromptBundleResponse, HeartbeatHeard,
    RegisterWorker, RegisteredWorker, WorkSessionsRequest, WorkSessionsResponse,
};
use agon_service_kit::clock::millis;
use agon_service_kit::status::{ErrorClass, to_status};
use agon_service_kit::tasks::{TaskKind, Tasks};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesOrdered;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};
use tracing::{info, warn};

use crate::archive::Archive;
use crate::journal::Journal;
use crate::owner::{Office, Ownership, ToStream, bundle_name};
use crate::queue::{Failure, Outcome, StreamId};
use crate::templates;
use crate::wire;

mod granting;
mod handing_in;
mod leases;

use granting::{Grants, Untold};
use handing_in::check;
use leases::{Checked, Leases};

/// Messages of one stream that are worked on at the same time; more would only wait there.
const MOST_UNDER_WAY: usize = 8;

/// Answers that wait for the transport.
const OUTBOX: usize = 64;

/// How long a stream may take to register; a worker does it with the call.
const REGISTER_WITHIN: Duration = Duration::from_secs(10);

/// What a stream is told that begins otherwise.
const FIRST_MESSAGE: &str =
    "the first message must be register, with a worker id of 1 to 256 bytes";

/// Bytes of a worker's id.
const LONGEST_NAME: usize = 256;

/// Places of a worker, and leases in one message.
const MOST_LEASES: usize = 100_000;

/// Versions that a worker names.
const MOST_CAPABILITIES: usize = 1_000;

/// What a worker gets to hand in what it has, after it was told that the coordinator stops.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct SessionLeases {
    pub(crate) ownership: Ownership,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) archive: Archive,
    pub(crate) tasks: Tasks,
    pub(crate) draining: CancellationToken,
    pub(crate) lease_time: Duration,
}

type Outgoing = Result<WorkSessionsResponse, Status>;

#[tonic::async_trait]
impl SessionLeaseService for SessionLeases {
    type WorkSessionsStream = ReceiverStream<Outgoing>;

    async fn work_sessions(
        &self,
        request: Request<Streaming<WorkSessionsRequest>>,
    ) -> Result<Response<Self::WorkSessionsStream>, Status> {
        let office = self.ownership.owner()?;
        let (outbox, outgoing) = mpsc::channel(OUTBOX);
        let stream = WorkerStream {
            service: self.clone(),
            office,
            outbox,
        };
        let inbound = request.into_inner();
        self.tasks
            .spawn(TaskKind::WORK, "worker stream", stream.run(inbound));
        Ok(Response::new(ReceiverStream::new(outgoing)))
    }

    async fn get_prompt_bundle(
        &self,
        request: Request<GetPromptBundleRequest>,
    ) -> Result<Response<GetPromptBundleResponse>, Status> {
        let digest = request.into_inner().digest;
        let found = self.journal.blob(&bundle_name(&digest)).await;
        let found = found.map_err(|error| wire::status(&error))?;
        let missing = || to_status(ErrorClass::NotFound, format!("no templates {digest}"));
        let templates = found
            .and_then(|bytes| templates::unpack(&bytes))
            .ok_or_else(missing)?;
        Ok(Response::new(GetPromptBundleResponse {
            templates: templates.into_iter().collect(),
        }))
    }
}

/// One worker's stream.
struct WorkerStream {
    service: SessionLeases,
    office: Office,
    outbox: mpsc::Sender<Outgoing>,
}

/// What the owner sends to the stream.
type FromOwner = mpsc::Receiver<ToStream>;

impl WorkerStream {
    async fn run(self, mut inbound: Streaming<WorkSessionsRequest>) {
        let register = tokio::time::timeout(REGISTER_WITHIN, register(&mut inbound)).await;
        let late = |_| Err(to_status(ErrorClass::TimedOut, "nobody registered"));
        let ended = match register.unwrap_or_else(late) {
            Ok(register) => self.registered(register, inbound).await,
            Err(status) => Err(status),
        };
        if let Err(status) = ended {
            warn!(reason = status.message(), "a worker's stream broke");
            // A worker that has gone does not hear it.
            let _ = self.outbox.send(Err(status)).await;
        }
    }

    async fn registered(
        &self,
        register: RegisterWorker,
        inbound: Streaming<WorkSessionsRequest>,
    ) -> Result<(), Status> {
        let worker = register.worker_id.clone();
        let mut leases = Leases::new(self.office.sealer.clone(), &worker);
        let (held, strange) = leases.take_in(register.held.clone());
        let introduction = wire::introduction(&register);
        let handle = &self.office.handle;
        let (stream, lost, from_owner) = handle.register(introduction, held).await?;
        let lost = lost.iter().filter_map(|lease| leases.end(lease.grant));
        let lost = lost.chain(strange).collect();
        let lease_ms = millis(self.service.lease_time);
        let welcome = ToWorker::Registered(RegisteredWorker { lease_ms, lost });
        let ended = match self.say(welcome).await {
            Ok(()) => {
                info!(%worker, version = register.version, "worker connected");
                self.serve(stream, inbound, from_owner, leases).await
            }
            gone => gone,
        };
        handle.leave(stream).await;
        info!(%worker, "worker disconnected");
        ended
    }

    async fn serve(
        &self,
        stream: StreamId,
        mut inbound: Streaming<WorkSessionsRequest>,
        mut from_owner: FromOwner,
        mut leases: Leases,
    ) -> Result<(), Status> {
        let mut checks = FuturesOrdered::new();
        let archive = self.service.archive.clone();
        let mut grants = Grants::new(self.office.clone(), archive);
        let mut goodbye = std::pin::pin!(self.goodbye());
        let mut open = true;
        while open || !checks.is_empty() {
            tokio::select! {
                message = inbound.message(), if open && checks.len() < MOST_UNDER_WAY => {
                    match message?.map(|request| request.message) {
                        None => open = false,
                        Some(Some(FromWorker::HandIn(said))) => {
                            checks.push_back(check(said, &leases, self.office.specs.clone()));
                        }
                        Some(Some(message)) => {
                            self.on_message(stream, message, &mut leases).await?;
                        }
                        // From a newer worker: what we do not understand we cannot do.
                        Some(None) => {}
                    }
                }
                Some(checked) = checks.next() => {
                    self.on_checked(stream, checked, &mut leases).await?;
                }
                message = from_owner.recv() => {
                    // The owner has ended the stream, or is it no longer.
                    let Some(message) = message else { return Err(moved_on()) };
                    self.on_owner(message, &mut grants, &mut leases).await?;
                }
                granted = grants.next() => {
                    let granted = leases.still_expected(granted);
                    self.give_back_untold(stream, granted.untold).await?;
                    for batch in granted.batches {
                        self.say(leases.granted(batch)).await?;
                    }
                }
                // Checks may still be going on when it is over.
                () = &mut goodbye, if open => open = false,
            }
        }
        Ok(())
    }

    async fn on_message(
        &self,
        stream: StreamId,
        message: FromWorker,
        leases: &mut Leases,
    ) -> Result<(), Status> {
        let handle = &self.office.handle;
        match message {
            FromWorker::Register(_) => {
                Err(to_status(ErrorClass::Invalid, "a stream registers once"))
            }
            FromWorker::Heartbeat(beat) => {
                bounded(beat.progressed.len())?;
                let (progressed, _) = leases.open(beat.progressed);
                handle.heartbeat(stream, beat.number, progressed).await
            }
            FromWorker::Release(release) => {
                bounded(release.leases.len())?;
                let (released, _) = leases.open(release.leases);
                for lease in &released {
                    leases.end(lease.grant);
                }
                handle.release(stream, released).await
            }
            FromWorker::Drain(_) => handle.drain_worker(stream).await,
            // Checked elsewhere.
            FromWorker::HandIn(_) => Ok(()),
        }
    }

    /// Tells the worker at once whatever is no grant: a worker that hears nothing for the time of a lease
    /// gives up all that it plays.
    async fn on_owner(
        &self,
        message: ToStream,
        grants: &mut Grants,
        leases: &mut Leases,
    ) -> Result<(), Status> {
        match message {
            ToStream::Grant(granted) => {
                leases.expect(granted.iter().map(|grant| grant.granted.lease));
                grants.add(granted);
                Ok(())
            }
            ToStream::Revoke(revoked) => match leases.revoked(&revoked) {
                Some(revoked) => self.say(revoked).await,
                None => Ok(()),
            },
            ToStream::Settled(settled) => self.say(leases.settled(settled)).await,
            ToStream::Heard(number) => self.say(ToWorker::Heard(HeartbeatHeard { number })).await,
        }
    }

    /// Hands in what was checked; answers at once what is none of this worker's.
    async fn on_checked(
        &self,
        stream: StreamId,
        checked: Vec<Checked>,
        leases: &mut Leases,
    ) -> Result<(), Status> {
        let (outcomes, fenced) = leases.note(checked);
        if let Some(fenced) = fenced {
            self.say(fenced).await?;
        }
        if outcomes.is_empty() {
            return Ok(());
        }
        self.office.handle.hand_in(stream, outcomes).await
    }

    /// What could not be granted: sessions of an older grid wait again, those whose records cannot be
    /// read for a while, and those that this program does not make are set aside.
    async fn give_back_untold(&self, stream: StreamId, untold: Vec<Untold>) -> Result<(), Status> {
        let (mut moved, mut unread, mut impossible) = (Vec::new(), Vec::new(), Vec::new());
        for untold in untold {
            match untold {
                Untold::Moved(lease) => moved.push(lease),
                Untold::Unread(lease) => unread.push(lease),
                Untold::Impossible(lease) => {
                    let reason = "this coordinator makes no such session".to_owned();
                    impossible.push((lease, Outcome::Failed(Failure::Impossible, reason)));
                }
            }
        }
        let handle = &self.office.handle;
        if !moved.is_empty() {
            handle.release(stream, moved).await?;
        }
        if !unread.is_empty() {
            handle.postpone(stream, unread).await?;
        }
        if !impossible.is_empty() {
            handle.hand_in(stream, impossible).await?;
        }
        Ok(())
    }

    /// Tells the worker that the coordinator stops, and lets it speak for a while.
    async fn goodbye(&self) {
        let stopping = self.service.tasks.shutdown_token();
        tokio::select! {
            () = self.service.draining.cancelled() => {}
            () = stopping.cancelled() => {}
        }
        if self
            .say(ToWorker::Stopping(CoordinatorStopping {}))
            .await
            .is_ok()
        {
            tokio::time::sleep(LAST_WORDS).await;
        }
    }

    async fn say(&self, message: ToWorker) -> Result<(), Status> {
        let response = WorkSessionsResponse {
            message: Some(message),
        };
        let gone = |_| to_status(ErrorClass::Cancelled, "the worker has gone");
        self.outbox.send(Ok(response)).await.map_err(gone)
    }
}

async fn register(inbound: &mut Streaming<WorkSessionsRequest>) -> Result<RegisterWorker, Status> {
    let first = inbound.message().await?.and_then(|request| request.message);
    let Some(FromWorker::Register(register)) = first else {
        return Err(to_status(ErrorClass::Invalid, FIRST_MESSAGE));
    };
    if !(1..=LONGEST_NAME).contains(&register.worker_id.len()) {
        return Err(to_status(ErrorClass::Invalid, FIRST_MESSAGE));
    }
    bounded(register.held.len())?;
    bounded(register.places as usize)?;
    let versions = register.capabilities.iter().map(|one| one.versions.len());
    if register.capabilities.len() + versions.sum::<usize>() > MOST_CAPABILITIES {
        let message = format!("a worker names at most {MOST_CAPABILITIES} versions");
        return Err(to_status(ErrorClass::Invalid, message));
    }
    Ok(register)
}

fn bounded(leases: usize) -> Result<(), Status> {
    match leases > MOST_LEASES {
        true => {
            let message = format!("a message names at most {MOST_LEASES} leases");
            Err(to_status(ErrorClass::Invalid, message))
        }
        false => Ok(()),
    }
}

fn moved_on() -> Status {
    to_status(
        ErrorClass::Unavailable,
        "another coordinator is in charge, or nothing was heard of this worker for too long; connect again",
    )
}
