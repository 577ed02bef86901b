//! The service of the command line: experiments handed in, followed, fetched, cancelled. What becomes
//! of them the queue's owner decides; records that lie in the archive are read from there.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use agon_identity::audit::AuditSubject;
use agon_identity::holder::Holder;
use agon_proto::v1::experiment_service_server::ExperimentService;
use agon_proto::v1::{
    CancelExperimentRequest, CancelExperimentResponse, DeleteExperimentRequest,
    DeleteExperimentResponse, ExperimentSummary, FetchRecordsRequest, FetchRecordsResponse,
    GetExperimentRequest, GetExperimentResponse, ListExperimentsRequest, ListExperimentsResponse,
    ModelOrigin, PauseExperimentRequest, PauseExperimentResponse, ResumeExperimentRequest,
    ResumeExperimentResponse, RetrySessionsRequest, RetrySessionsResponse, StoredDocument,
    SubmitExperimentRequest, SubmitExperimentResponse, WatchExperimentRequest,
    WatchExperimentResponse,
};
use agon_service_kit::compute;
use agon_service_kit::status::{ErrorClass, to_status};
use agon_service_kit::tasks::{TaskKind, Tasks, with_causes};
use futures_util::future::BoxFuture;
use prost::Message as _;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status};
use tracing::{info, warn};

use crate::archive::Archive;
use crate::experiment::DEFAULT_TEAM;
use crate::journal::Journal;
use crate::metrics;
use crate::owner::{Office, Ownership, bundle_name, document_name};
use crate::queue::{Progress, grid_of};
use crate::specs::Stored;
use crate::submission::{Submission, prepare};
use crate::templates;
use crate::wire;

mod fetching;
mod removing;

/// A watcher hears of changes at most this often.
const WATCH_EVERY: Duration = Duration::from_millis(200);

/// Messages that wait for the caller.
const OUTBOX: usize = 32;

/// Bytes of the reason that somebody gives for a pause; what is longer is cut.
const LONGEST_REASON: usize = 200;

/// What is told to whoever hands in an experiment with models here.
const NO_GATEWAY: &str = "this coordinator cannot ask where the models are, which is part of \
                          their sessions: start it with --gateway URL";

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Experiments {
    pub(crate) ownership: Ownership,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) archive: Archive,
    pub(crate) tasks: Tasks,
    pub(crate) describe_models: Option<DescribeModels>,
}

/// Asks the gateway where the answers of these models come from. What it refuses is told to
/// whoever hands the experiment in.
pub type DescribeModels =
    Arc<dyn Fn(Vec<String>) -> BoxFuture<'static, Result<Vec<ModelOrigin>, Status>> + Send + Sync>;

type Outgoing<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl ExperimentService for Experiments {
    type WatchExperimentStream = Outgoing<WatchExperimentResponse>;
    type FetchRecordsStream = Outgoing<FetchRecordsResponse>;

    async fn submit_experiment(
        &self,
        request: Request<SubmitExperimentRequest>,
    ) -> Result<Response<SubmitExperimentResponse>, Status> {
        let office = self.ownership.owner()?;
        let holder = Holder::of(request.extensions());
        let mut request = request.into_inner();
        let models = std::mem::take(&mut request.models);
        let origins = match &self.describe_models {
            _ if models.is_empty() => Vec::new(),
            Some(describe) => describe(models).await?,
            None => return Err(to_status(ErrorClass::Conflict, NO_GATEWAY)),
        };
        let known = origins.clone();
        // Checking a large grid takes a second or so.
        let prepared = compute::SHORT.run(move || prepare(request, known)).await;
        let stopped = |_| to_status(ErrorClass::Internal, "the experiment could not be expanded");
        let mut submission = prepared.map_err(stopped)??;
        let experiment_id = submission.submitted.name.clone();
        assign(&mut submission, &holder)?;
        let kept_name = submission.submitted.name.clone();
        let grid = grid_of(&submission.submitted);
        let progress = self.queue(submission, &office).await?;
        metrics::count_submission();
        info!(experiment_id = %kept_name, sessions = progress.sessions, "experiment handed in");
        let response = SubmitExperimentResponse {
            experiment_id,
            sessions: progress.sessions.into(),
            already_done: progress.done.into(),
            origins,
            grid,
            paused: !progress.paused.is_empty(),
        };
        Ok(about(kept_name, response))
    }

    async fn watch_experiment(
        &self,
        request: Request<WatchExperimentRequest>,
    ) -> Result<Response<Self::WatchExperimentStream>, Status> {
        let holder = Holder::of(request.extensions());
        let id = holder.kept_name(&request.into_inner().experiment_id);
        let office = self.ownership.owner()?;
        let (mut version, mut told) = first(&office, &id).await?;
        let (outbox, outgoing) = mpsc::channel(OUTBOX);
        // A watcher may be dropped at shutdown: whoever watches comes back.
        self.tasks
            .spawn(TaskKind::UPKEEP, "experiment watch", async move {
                loop {
                    let over = told.is_over();
                    let message = in_words(told, &office);
                    if outbox.send(Ok(message)).await.is_err() || over {
                        return;
                    }
                    told = loop {
                        tokio::select! {
                            () = tokio::time::sleep(WATCH_EVERY) => {}
                            () = outbox.closed() => return,
                        }
                        match office.handle.progress(id.clone(), Some(version)).await {
                            Ok(None) => {}
                            Ok(Some((newer, progress))) => {
                                version = newer;
                                break progress;
                            }
                            Err(status) => {
                                // A caller that has gone does not hear it.
                                let _ = outbox.send(Err(status)).await;
                                return;
                            }
                        }
                    };
                }
            });
        Ok(Response::new(Box::pin(ReceiverStream::new(outgoing))))
    }

    async fn fetch_records(
        &self,
        request: Request<FetchRecordsRequest>,
    ) -> Result<Response<Self::FetchRecordsStream>, Status> {
        let holder = Holder::of(request.extensions());
        let mut request = request.into_inner();
        request.experiment_id = holder.kept_name(&request.experiment_id);
        let office = self.ownership.owner()?;
        // An unknown name is refused at once.
        let _ = first(&office, &request.experiment_id).await?;
        let (outbox, outgoing) = mpsc::channel(OUTBOX);
        let fetch = fetching::fetch(office, self.archive.clone(), request, outbox);
        self.tasks.spawn(TaskKind::UPKEEP, "record fetch", fetch);
        Ok(Response::new(Box::pin(ReceiverStream::new(outgoing))))
    }

    async fn cancel_experiment(
        &self,
        request: Request<CancelExperimentRequest>,
    ) -> Result<Response<CancelExperimentResponse>, Status> {
        let holder = Holder::of(request.extensions());
        let id = holder.kept_name(&request.into_inner().experiment_id);
        self.ownership.owner()?.handle.cancel(id.clone()).await?;
        info!(experiment_id = %id, "experiment cancelled");
        Ok(about(id, CancelExperimentResponse {}))
    }

    async fn pause_experiment(
        &self,
        request: Request<PauseExperimentRequest>,
    ) -> Result<Response<PauseExperimentResponse>, Status> {
        let holder = Holder::of(request.extensions());
        let PauseExperimentRequest {
            experiment_id,
            reason,
        } = request.into_inner();
        let id = holder.kept_name(&experiment_id);
        let reason = match bounded(&reason) {
            "" => "somebody paused it",
            reason => reason,
        };
        let owner = self.ownership.owner()?;
        owner.handle.pause(id.clone(), reason.to_owned()).await?;
        info!(experiment_id = %id, reason, "experiment paused");
        Ok(about(id, PauseExperimentResponse {}))
    }

    async fn retry_sessions(
        &self,
        request: Request<RetrySessionsRequest>,
    ) -> Result<Response<RetrySessionsResponse>, Status> {
        let holder = Holder::of(request.extensions());
        let RetrySessionsRequest {
            experiment_id,
            session_ids,
        } = request.into_inner();
        let id = holder.kept_name(&experiment_id);
        let office = self.ownership.owner()?;
        let positions = match session_ids.is_empty() {
            true => None,
            false => {
                let (_, progress) = first(&office, &id).await?;
                Some(positions(&office, progress, &session_ids))
            }
        };
        let requeued = office.handle.retry(id.clone(), positions).await?.into();
        Ok(about(id, RetrySessionsResponse { requeued }))
    }

    async fn resume_experiment(
        &self,
        request: Request<ResumeExperimentRequest>,
    ) -> Result<Response<ResumeExperimentResponse>, Status> {
        let holder = Holder::of(request.extensions());
        let ResumeExperimentRequest {
            experiment_id,
            budget_nanodollars: budget,
            only_if_paused_for,
        } = request.into_inner();
        let id = holder.kept_name(&experiment_id);
        let only_for = Some(bounded(&only_if_paused_for)).filter(|reason| !reason.is_empty());
        let only_for = only_for.map(str::to_owned);
        let owner = self.ownership.owner()?;
        owner.handle.resume(id.clone(), budget, only_for).await?;
        info!(experiment_id = %id, ?budget, "experiment resumed");
        Ok(about(id, ResumeExperimentResponse {}))
    }

    async fn list_experiments(
        &self,
        request: Request<ListExperimentsRequest>,
    ) -> Result<Response<ListExperimentsResponse>, Status> {
        let holder = Holder::of(request.extensions());
        let entries = self.ownership.owner()?.handle.list().await?;
        let experiments = entries.into_iter().filter_map(|entry| {
            Some(ExperimentSummary {
                experiment_id: holder.own_name(&entry.name)?.to_owned(),
                team: entry.team,
                sessions: entry.sessions.into(),
                done: entry.done.into(),
                paused: entry.paused,
                paused_by_hand: entry.paused_by_hand,
                cancelled: entry.cancelled,
                set_aside: entry.set_aside.into(),
                stopped: entry.stopped.into(),
            })
        });
        Ok(Response::new(ListExperimentsResponse {
            experiments: experiments.collect(),
        }))
    }

    async fn get_experiment(
        &self,
        request: Request<GetExperimentRequest>,
    ) -> Result<Response<GetExperimentResponse>, Status> {
        let holder = Holder::of(request.extensions());
        let id = holder.kept_name(&request.into_inner().experiment_id);
        let office = self.ownership.owner()?;
        let (_, progress) = first(&office, &id).await?;
        let known = office.specs.get(progress.key);
        let gone = || {
            to_status(
                ErrorClass::NotFound,
                format!("the document of {id} is gone"),
            )
        };
        let known = known.ok_or_else(gone)?;
        let (name, grid) = (document_name(&known.submitted.document), known.grid);
        let blob = self.journal.blob(&name).await;
        let blob = blob.map_err(|error| wire::status(&error))?;
        let stored = blob.and_then(|blob| StoredDocument::decode(blob).ok());
        let StoredDocument { document, origins } = stored.ok_or_else(gone)?;
        Ok(Response::new(GetExperimentResponse {
            document,
            origins,
            grid,
            results_id: office.sealer.results_id(progress.key, grid),
        }))
    }

    async fn delete_experiment(
        &self,
        request: Request<DeleteExperimentRequest>,
    ) -> Result<Response<DeleteExperimentResponse>, Status> {
        let holder = Holder::of(request.extensions());
        let id = holder.kept_name(&request.into_inner().experiment_id);
        let handle = self.ownership.owner()?.handle;
        let (reply, answer) = oneshot::channel();
        let removal = removing::remove(handle, self.archive.clone(), id.clone());
        // It is finished although whoever asked has gone.
        self.tasks.spawn(TaskKind::WORK, "removal", async move {
            let _ = reply.send(removal.await);
        });
        let stopped = |_| to_status(ErrorClass::Cancelled, "this coordinator stops");
        answer.await.map_err(stopped)??;
        Ok(about(id, DeleteExperimentResponse {}))
    }
}

impl Experiments {
    /// Stores what the experiment brings, and queues it.
    async fn queue(&self, submission: Submission, office: &Office) -> Result<Progress, Status> {
        let Submission {
            mut submitted,
            document,
            stored,
            bundle,
            accept_new,
            pause,
        } = submission;
        let kept = Stored {
            document: Some((document_name(&submitted.document), stored.clone())),
            templates: bundle
                .map(|(digest, templates)| (bundle_name(&digest), templates::pack(&templates))),
        };
        for (name, bytes) in kept.blobs() {
            let put = self.journal.put_blob(&name, bytes).await;
            put.map_err(|error| wire::status(&error))?;
        }
        let segments = self.archive.list(&submitted.name).await.map_err(|error| {
            let message = format!("cannot look into the archive: {}", with_causes(&error));
            to_status(ErrorClass::Unavailable, message)
        })?;
        submitted.first_segment = segments.into_iter().max().map_or(1, |last| last + 1);
        let pause = pause.map(|reason| bounded(&reason).to_owned());
        let (handle, name) = (&office.handle, submitted.name.clone());
        let progress = handle
            .submit(submitted, document, kept, accept_new, pause)
            .await?;
        // Not before: what had this name may still be being removed.
        if let Err(error) = self.archive.put_document(&name, stored).await {
            let error = with_causes(&error);
            warn!(%error, "the archive does not hold the document of an experiment");
        }
        Ok(progress)
    }
}

/// Gives an experiment to the team whose token it was handed in with. A document says who pays only
/// where there are no tokens.
///
/// # Errors
/// PERMISSION_DENIED when it names another team.
fn assign(submission: &mut Submission, holder: &Holder) -> Result<(), Status> {
    let Some(team) = holder.team() else {
        return Ok(());
    };
    let submitted = &mut submission.submitted;
    if ![DEFAULT_TEAM, team].contains(&submitted.team.as_str()) {
        let named = &submitted.team;
        let message = format!(
            "this token belongs to team {team}, and the experiment says team = \"{named}\": leave that \
             out, or use a token of that team"
        );
        return Err(to_status(ErrorClass::Forbidden, message));
    }
    submitted.team = team.to_owned();
    submitted.name = holder.kept_name(&submitted.name);
    Ok(())
}

/// A reason for a pause, as far as it is kept.
fn bounded(reason: &str) -> &str {
    let end = reason.floor_char_boundary(LONGEST_REASON);
    reason[..end].trim()
}

/// An answer with the experiment that it is about, for the log of who did what.
fn about<T>(experiment: String, answer: T) -> Response<T> {
    let mut response = Response::new(answer);
    response.extensions_mut().insert(AuditSubject(experiment));
    response
}

async fn first(office: &Office, id: &str) -> Result<(u64, Progress), Status> {
    let found = office.handle.progress(id.to_owned(), None).await?;
    // It is told whenever no version is named.
    found.ok_or_else(|| to_status(ErrorClass::Internal, "no progress"))
}

/// Progress with the ids of the sessions that it names.
fn in_words(progress: Progress, office: &Office) -> WatchExperimentResponse {
    let known = office.specs.get(progress.key);
    wire::progress(progress, |position| {
        let session = known.as_ref().and_then(|known| known.session(position));
        session.map_or_else(|| format!("at position {position}"), |session| session.id)
    })
}

/// Positions of the sessions that are set aside and named.
fn positions(office: &Office, progress: Progress, named: &[String]) -> Vec<u32> {
    let Some(known) = office.specs.get(progress.key) else {
        return Vec::new();
    };
    let aside = progress.parked.into_iter().chain(progress.dead);
    let is_named = |position: &u32| {
        let session = known.session(*position);
        session.is_some_and(|session| named.contains(&session.id))
    };
    aside.map(|aside| aside.position).filter(is_named).collect()
}
