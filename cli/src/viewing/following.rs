//! Experiments of a coordinator, in this process or elsewhere, as pages follow them: how each stands, what
//! it costs, its records as they are finished, and what people do about it. Called by `viewing.rs`.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_identity::holder::Holder;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::session_lease_service_client::SessionLeaseServiceClient;
use agon_proto::v1::{
    CancelExperimentRequest, ExperimentSummary, FetchRecordsRequest, GetExperimentRequest,
    GetGatewayStatusRequest, GetPromptBundleRequest, ListExperimentsRequest,
    PauseExperimentRequest, ResumeExperimentRequest, RetrySessionsRequest, WatchExperimentRequest,
};
use agon_service_kit::compute;
use agon_service_kit::server::LARGEST_RESULT_BYTES;
use agon_service_kit::tasks::{TaskKind, Tasks, with_causes};
use agon_web::Library;
use agon_web::sweeps::{Action, States, Sweep, Sweeps};
use agon_worker::Transport;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Status};
use tracing::{debug, warn};

use super::files::Files;
use super::followed::{Followed, budget, bundle, is_settled, sweep_of};
use super::spool::{Spool, Unpacked};
use crate::failure::Failure;
use crate::pausing::spent;
use crate::results::{experiment_client, reason};

/// Between two looks at everything.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Costs are summed by the gateway: asked for less often.
const COST_EVERY: Duration = Duration::from_secs(5);

/// No service holds a look up for longer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);

/// How often it is asked whether an experiment was deleted and handed in again.
const COMPARE_EVERY: Duration = Duration::from_secs(5);

/// Speeds are averaged over this long.
const WINDOW: Duration = Duration::from_secs(30);

/// Records that are taken in before the next look.
const MOST_RECORDS_AT_ONCE: usize = 2_000;

/// Until records are asked for again that could not be had.
const FETCH_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// A packed record of so many bytes is not read on the threads that serve.
const LARGE: usize = 1024 * 1024;

type Client = ExperimentServiceClient<Transport>;

/// Where experiments are followed, and as whom.
pub struct Source {
    /// The coordinator.
    pub experiments: Transport,
    /// The gateway, for costs and what waits for quota.
    pub gateway: Option<Transport>,
    /// Nothing but this experiment is followed.
    pub only: Option<String>,
    /// Who looks; the gateway knows experiments by the names under which they are kept.
    pub holder: Holder,
}

impl Source {
    /// Whatever this process itself may see.
    pub fn of_this_process(experiments: Transport, gateway: Option<Transport>) -> Self {
        Self {
            experiments,
            gateway,
            only: None,
            holder: Holder::anybody(),
        }
    }

    /// One experiment alone.
    pub fn only(self, experiment: &str) -> Self {
        Self {
            only: Some(experiment.to_owned()),
            ..self
        }
    }
}

/// See the module.
pub struct Following {
    client: Client,
    states: watch::Receiver<States>,
}

impl Following {
    /// Begins to follow all experiments that may be seen, until `stopping`. Their records are kept in
    /// `files` and listed in `library`.
    ///
    /// # Errors
    /// There is no room for records.
    pub fn begin(
        tasks: &Tasks,
        stopping: CancellationToken,
        source: Source,
        library: Arc<Library>,
        files: Arc<Files>,
    ) -> Result<Arc<dyn Sweeps>, Failure> {
        let client = source.experiments.clone();
        let states = follow(tasks, stopping, source, library, files)?;
        Ok(Self::acting(client, states))
    }

    /// Experiments that are followed already, about which somebody acts in calls of their own.
    pub fn acting(experiments: Transport, states: watch::Receiver<States>) -> Arc<dyn Sweeps> {
        let client = experiment_client(experiments);
        Arc::new(Self { client, states })
    }
}

/// Follows all experiments that may be seen, as [`Following::begin`] does, and says how they stand.
///
/// # Errors
/// There is no room for records.
pub fn follow(
    tasks: &Tasks,
    stopping: CancellationToken,
    source: Source,
    library: Arc<Library>,
    files: Arc<Files>,
) -> Result<watch::Receiver<States>, Failure> {
    let folder = private_folder().map_err(Failure::surroundings)?;
    let (sender, states) = watch::channel(States::default());
    let follower = Follower {
        client: experiment_client(source.experiments.clone()),
        coordinator: source.experiments,
        gateway: source.gateway,
        only: source.only,
        holder: source.holder,
        library,
        files,
        folder,
        followed: BTreeMap::new(),
    };
    tasks.spawn(TaskKind::UPKEEP, "experiments for pages", async move {
        let _ = stopping.run_until_cancelled(follower.run(sender)).await;
    });
    Ok(states)
}

impl Sweeps for Following {
    fn states(&self) -> watch::Receiver<States> {
        self.states.clone()
    }

    fn act(&self, experiment: String, action: Action) -> BoxFuture<'static, Result<(), String>> {
        let mut client = self.client.clone();
        async move {
            let experiment_id = experiment;
            let acted = match action {
                Action::Cancel => {
                    let request = CancelExperimentRequest { experiment_id };
                    client.cancel_experiment(request).await.map(drop)
                }
                Action::Pause => {
                    let request = PauseExperimentRequest {
                        experiment_id,
                        reason: "somebody paused it on its page".to_owned(),
                    };
                    client.pause_experiment(request).await.map(drop)
                }
                Action::Resume => {
                    let request = ResumeExperimentRequest {
                        experiment_id,
                        ..ResumeExperimentRequest::default()
                    };
                    client.resume_experiment(request).await.map(drop)
                }
                Action::Retry => {
                    let request = RetrySessionsRequest {
                        experiment_id,
                        ..RetrySessionsRequest::default()
                    };
                    client.retry_sessions(request).await.map(drop)
                }
            };
            acted.map_err(|refusal| reason(&refusal))
        }
        .boxed()
    }
}

struct Follower {
    client: Client,
    coordinator: Transport,
    gateway: Option<Transport>,
    only: Option<String>,
    holder: Holder,
    library: Arc<Library>,
    files: Arc<Files>,
    folder: TempDir,
    followed: BTreeMap<String, Followed>,
}

impl Follower {
    async fn run(mut self, states: watch::Sender<States>) {
        let mut told = None;
        loop {
            match self.look().await {
                Ok(now) => {
                    told = None;
                    states.send_if_modified(|before| {
                        let changed = **before != now;
                        *before = Arc::new(now);
                        changed
                    });
                }
                Err(refusal) => {
                    let reason = reason(&refusal);
                    if told.as_ref() != Some(&reason) {
                        warn!(%reason, "the coordinator does not say how experiments stand");
                        told = Some(reason);
                    }
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn look(&mut self) -> Result<Vec<Sweep>, Status> {
        let listed = self.client.list_experiments(ListExperimentsRequest {});
        let mut listed = in_time(listed).await?.into_inner().experiments;
        if let Some(only) = &self.only {
            listed.retain(|summary| summary.experiment_id == *only);
        }
        self.forget_what_is_gone(&listed).await?;
        let waiting_for_quota = self.waiting_for_quota().await;
        let mut sweeps = Vec::with_capacity(listed.len());
        for summary in listed {
            sweeps.push(self.sweep(summary, waiting_for_quota).await);
        }
        Ok(sweeps)
    }

    /// Begins anew where an experiment was deleted whose records are listed, or handed in again since.
    async fn forget_what_is_gone(&mut self, listed: &[ExperimentSummary]) -> Result<(), Status> {
        let mut is_gone = false;
        for (name, followed) in &mut self.followed {
            let Some(spool) = &followed.spool else {
                continue;
            };
            let summary = listed.iter().find(|one| one.experiment_id == *name);
            let Some(summary) = summary else {
                is_gone = true;
                continue;
            };
            let is_due = followed
                .compared
                .is_none_or(|then| then.elapsed() >= COMPARE_EVERY);
            if is_due || spool.count() > summary.done {
                followed.compared = Some(Instant::now());
                let request = GetExperimentRequest {
                    experiment_id: name.clone(),
                };
                let of = in_time(self.client.get_experiment(request)).await?;
                is_gone |= of.into_inner().results_id != followed.results_id;
            }
        }
        if is_gone {
            self.library.clear();
            self.followed.clear();
            match private_folder() {
                // The old one is removed.
                Ok(folder) => self.folder = folder,
                Err(error) => warn!(error = with_causes(&error), "no folder for records"),
            }
        }
        Ok(())
    }

    /// Of all teams together, so no team is told.
    async fn waiting_for_quota(&self) -> Option<u64> {
        if self.holder.team().is_some() {
            return None;
        }
        let mut gateway = AgentGatewayServiceClient::new(self.gateway.clone()?);
        let status = in_time(gateway.get_gateway_status(GetGatewayStatusRequest::default())).await;
        Some(status.ok()?.into_inner().waiting_for_quota)
    }

    async fn sweep(&mut self, summary: ExperimentSummary, waiting_for_quota: Option<u64>) -> Sweep {
        let name = summary.experiment_id.clone();
        let mut followed = self.followed.remove(&name).unwrap_or_else(Followed::new);
        // What one does not say keeps nothing of the others back.
        if let Err(refusal) = self.look_at(&name, &summary, &mut followed).await {
            debug!(experiment_id = name, reason = %reason(&refusal), "cannot follow an experiment");
        }
        let sweep = sweep_of(&self.library, summary, &followed, waiting_for_quota);
        self.followed.insert(name, followed);
        sweep
    }

    async fn look_at(
        &mut self,
        name: &str,
        summary: &ExperimentSummary,
        followed: &mut Followed,
    ) -> Result<(), Status> {
        if followed.newest.is_none() || !is_settled(summary) || followed.fetched < summary.done {
            let request = WatchExperimentRequest {
                experiment_id: name.to_owned(),
            };
            let mut states = in_time(self.client.watch_experiment(request))
                .await?
                .into_inner();
            if let Ok(Ok(Some(newest))) =
                tokio::time::timeout(ANSWERS_WITHIN, states.message()).await
            {
                followed.newest = Some(newest);
            }
        }
        let now = Instant::now();
        followed.done.push_back((now, summary.done));
        while followed
            .done
            .front()
            .is_some_and(|(then, _)| now - *then > WINDOW)
        {
            followed.done.pop_front();
        }
        if followed
            .cost_asked
            .is_none_or(|then| now - then >= COST_EVERY)
        {
            followed.cost_asked = Some(now);
            let kept = self.holder.kept_name(name);
            followed.cost = spent(self.gateway.clone(), &kept).await;
        }
        let may_fetch = followed.fetch_after.is_none_or(|then| now >= then);
        if followed.fetched < summary.done && may_fetch {
            self.fetch(name, followed).await?;
        }
        Ok(())
    }

    /// The templates that an experiment brings; none if whoever looks may not have them, which the pages
    /// of its calls then say.
    async fn templates(&self, document: &[u8]) -> Result<BTreeMap<String, String>, Status> {
        let Some(digest) = bundle(document) else {
            return Ok(BTreeMap::new());
        };
        let mut leases = SessionLeaseServiceClient::new(self.coordinator.clone())
            .max_decoding_message_size(LARGEST_RESULT_BYTES);
        let request = GetPromptBundleRequest { digest };
        match in_time(leases.get_prompt_bundle(request)).await {
            Ok(bundle) => Ok(bundle.into_inner().templates.into_iter().collect()),
            Err(refusal) if is_final(&refusal) => Ok(BTreeMap::new()),
            Err(refusal) => Err(refusal),
        }
    }

    /// Takes in records that are not here yet.
    async fn fetch(&mut self, name: &str, followed: &mut Followed) -> Result<(), Status> {
        let request = GetExperimentRequest {
            experiment_id: name.to_owned(),
        };
        let of = in_time(self.client.get_experiment(request))
            .await?
            .into_inner();
        followed.budget = budget(&of.document);
        // Those of an experiment that was deleted and submitted again are others.
        if followed.spool.is_none() {
            followed.results_id = of.results_id.clone();
        } else if followed.results_id != of.results_id {
            return Ok(());
        }
        let spool = match &mut followed.spool {
            Some(spool) => spool,
            none => {
                let templates = self.templates(&of.document).await?;
                let (files, library) = (&*self.files, Arc::clone(&self.library));
                let (below, place) = (self.folder.path(), "a coordinator");
                match Spool::open(below, name, place, &templates, files, library) {
                    Ok(spool) => none.insert(spool),
                    Err(failure) => {
                        warn!(%failure, "records cannot be kept for pages");
                        return Ok(());
                    }
                }
            }
        };
        let request = FetchRecordsRequest {
            experiment_id: name.to_owned(),
            have: spool.have().to_vec().into(),
            results_id: of.results_id,
            ..FetchRecordsRequest::default()
        };
        let mut results = in_time(self.client.fetch_records(request))
            .await?
            .into_inner();
        let mut added = 0;
        while added < MOST_RECORDS_AT_ONCE {
            let Some(result) = results.message().await? else {
                break;
            };
            let unpacked = match result.record.len() {
                0..LARGE => Unpacked::of(&result),
                _ => {
                    let unpacking = compute::SHORT.run(move || Unpacked::of(&result)).await;
                    unpacking.map_err(|panicked| Status::internal(panicked.to_string()))?
                }
            };
            match spool.add(unpacked) {
                Ok(is_here) => added += usize::from(is_here),
                Err(error) => {
                    let error = with_causes(&error);
                    warn!(%error, "records cannot be kept for pages");
                    break;
                }
            }
        }
        spool.tell_missing();
        followed.fetched = spool.count();
        // What cannot be had now is not asked for at every look.
        followed.fetch_after = (added == 0).then(|| Instant::now() + FETCH_AGAIN_AFTER);
        Ok(())
    }
}

/// A folder for records that only this user reads.
fn private_folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o700));
    }
    builder.tempdir()
}

/// Whether asking again would come to the same.
fn is_final(refusal: &Status) -> bool {
    matches!(
        refusal.code(),
        Code::NotFound | Code::PermissionDenied | Code::Unauthenticated | Code::Unimplemented
    )
}

async fn in_time<T>(call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let answered = tokio::time::timeout(ANSWERS_WITHIN, call).await;
    answered.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer in time")))
}
