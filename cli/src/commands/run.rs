//! `agon run`: an experiment from file to table, on this machine or in a cluster.
//! Submits, follows and ends the run; sessions are played by workers, and files and
//! tables are written by `results.rs`. Started by `commands.rs`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_coordinator::experiment::plan;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{
    GetGatewayStatusRequest, GetGatewayStatusResponse, SubmitExperimentResponse,
    WatchExperimentRequest, WatchExperimentResponse,
};
use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::server::channel;
use agon_service_kit::status;
use agon_service_kit::tasks::shutdown_signal;
use agon_worker::{Transport, transport};
use tonic::Status;
use tracing::Instrument as _;

use super::experiment_arguments::{CheckedExperiment, ExperimentArguments};
use crate::announcements::Announcements;
use crate::embedded::{self, Cluster};
use crate::failure::{Failure, INTERRUPTED};
use crate::handing_in::hand_in;
use crate::model_config::ModelArguments;
use crate::output;
use crate::pausing;
use crate::progress::Progress;
use crate::results;
use crate::role::{LogArguments, MetricsArguments, StoreArguments, runtime};
use crate::run_folder::{self as files, RunFolder};

/// Headings of the help text.
const RUNNING: &str = "Running";
const CLUSTER: &str = "In a cluster";

/// Arguments of `agon run`.
#[derive(Debug, clap::Args)]
pub struct Run {
    #[command(flatten)]
    experiment: ExperimentArguments,
    #[command(flatten)]
    models: ModelArguments,
    #[command(flatten)]
    store: StoreArguments,
    /// Where results go [default: DATA/runs/NAME]
    #[arg(long, value_name = "DIR", help_heading = RUNNING)]
    out: Option<PathBuf>,
    /// Workers inside this process
    #[arg(long, default_value_t = 1, value_name = "N", help_heading = RUNNING,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,
    /// Sessions that each worker plays at the same time
    #[arg(long, default_value_t = 128, value_name = "N", help_heading = RUNNING,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    places: u32,
    /// Hand the experiment to the coordinator at this address instead of running
    /// it in this process
    #[arg(long, env = "AGON_COORDINATOR", value_name = "URL", help_heading = CLUSTER)]
    coordinator: Option<String>,
    /// Gateway of that cluster, to show its progress
    #[arg(
        long,
        env = "AGON_GATEWAY",
        value_name = "URL",
        requires = "coordinator"
    )]
    gateway: Option<String>,
    /// Show no progress
    #[arg(long, short, help_heading = RUNNING)]
    quiet: bool,
    #[command(flatten)]
    metrics: MetricsArguments,
}

/// How often the gateway is asked what it is doing.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A gateway that is busy must not hold up the rest.
const GATEWAY_ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// How long a coordinator may be away before watching it is given up.
const COORDINATOR_MAY_BE_AWAY: Duration = Duration::from_secs(600);

/// How a run ended.
enum End {
    /// Nothing is left to run.
    Complete(WatchExperimentResponse),
    /// A budget is spent.
    Paused(WatchExperimentResponse),
    /// The user stopped it.
    Interrupted(WatchExperimentResponse),
}

/// Runs the experiment, or goes on with it.
///
/// # Errors
/// Exit 1 when sessions were set aside, 2 on wrong input, 3 when something is
/// missing, 4 when a budget is spent, 130 when stopped by Ctrl-C.
pub fn run(arguments: &Run, log: &LogArguments) -> Result<(), Failure> {
    let checked = arguments.experiment.check()?;
    // Tried before anything is played and paid for.
    run_folder(arguments, &checked)?;
    runtime()?.block_on(async {
        let guard = log.start("run", true)?;
        let span = tracing::info_span!("experiment", experiment_id = checked.document.name);
        let ended = match &arguments.coordinator {
            Some(url) => in_cluster(arguments, &checked, url).instrument(span).await,
            None => in_process(arguments, &checked).instrument(span).await,
        };
        guard.shutdown().await;
        ended
    })
}

async fn in_process(arguments: &Run, checked: &CheckedExperiment) -> Result<(), Failure> {
    let config = arguments.models.load(&checked.models)?;
    pausing::require_prices(&config, &checked.document, &checked.models)?;
    let options = embedded::Options {
        redis: arguments.store.redis.clone(),
        data: arguments.store.data.clone(),
        experiment: checked.document.name.clone(),
        workers: usize::from(arguments.workers),
        places: arguments.places as usize,
    };
    let cluster = Cluster::start(&options, config, &checked.models).await?;
    let listed = [
        &agon_coordinator::metrics::METRICS[..],
        &agon_agent_gateway::metrics::METRICS,
        agon_worker::METRICS,
    ];
    arguments.metrics.serve(cluster.tasks(), &listed).await?;
    let experiments = cluster.experiments.clone();
    let gateway = Some(cluster.gateway.clone());
    let followed = tokio::select! {
        followed = follow(arguments, checked, experiments.clone(), gateway) => followed,
        reason = cluster.trouble() => Err(full(&arguments.store.data, &reason)),
    };
    // Results are read from the store before it closes, whatever happened.
    let ended = match followed {
        Ok(End::Complete(state)) => conclude(arguments, checked, experiments, &state).await,
        Ok(End::Paused(state)) => {
            let gateway = Some(cluster.gateway.clone());
            pause(arguments, checked, experiments, gateway, &state).await
        }
        Ok(End::Interrupted(state)) => {
            eprintln!("stopping: recording what is under way (Ctrl-C again stops at once)");
            exit_at_second_signal();
            cluster.stop_workers().await;
            let collected = collect(arguments, checked, experiments).await;
            collected.and_then(|(folder, done)| Err(interrupted(done, state.sessions, &folder)))
        }
        Err(failure) => Err(failure),
    };
    cluster.stop().await;
    ended
}

async fn in_cluster(
    arguments: &Run,
    checked: &CheckedExperiment,
    url: &str,
) -> Result<(), Failure> {
    let experiments = transport::over(channel(url).map_err(Failure::input)?);
    let gateway = match &arguments.gateway {
        Some(url) => Some(transport::over(channel(url).map_err(Failure::input)?)),
        None => None,
    };
    match follow(arguments, checked, experiments.clone(), gateway.clone()).await? {
        End::Complete(state) => conclude(arguments, checked, experiments, &state).await,
        End::Paused(state) => pause(arguments, checked, experiments, gateway, &state).await,
        End::Interrupted(state) => Err(Failure::Interrupted(format!(
            "watching only: {} of {} sessions are done and the cluster goes on; the same command \
             watches again, `agon experiments cancel {}` ends it",
            state.done, state.sessions, checked.document.name
        ))),
    }
}

/// Hands the experiment in and follows it to its end, or to Ctrl-C.
async fn follow(
    arguments: &Run,
    checked: &CheckedExperiment,
    experiments: Transport,
    gateway: Option<Transport>,
) -> Result<End, Failure> {
    let mut client = results::experiment_client(experiments);
    let submitted = hand_in(&mut client, checked).await;
    let submitted = submitted.map_err(|refusal| lost(arguments, &refusal))?;
    let SubmitExperimentResponse {
        experiment_id,
        sessions,
        already_done,
        origins,
    } = submitted;
    if !arguments.quiet {
        for origin in &origins {
            let (model, endpoint) = (&origin.model, &origin.endpoint);
            eprintln!("model {model}: {} at {endpoint}", origin.provider_model);
        }
    }
    if already_done > 0 && !arguments.quiet {
        eprintln!("{already_done} of {sessions} sessions were done before and are kept");
    }
    let expected = expected_decisions(checked, sessions, already_done);
    let progress = Progress::start(arguments.quiet, sessions, already_done, expected);
    let newest = WatchExperimentResponse {
        sessions,
        ..Default::default()
    };
    let gateway = gateway.map(AgentGatewayServiceClient::new);
    let mut watch = Watch {
        client,
        experiment_id,
        progress,
        announcements: Announcements::default(),
        newest,
        gateway,
        seen: None,
    };
    let interrupted = tokio::select! {
        _ = shutdown_signal() => true,
        ended = watch.follow() => {
            ended.map_err(|refusal| lost(arguments, &refusal))?;
            false
        }
    };
    watch.progress.finish();
    Ok(match (interrupted, is_paused(&watch.newest)) {
        (true, _) => End::Interrupted(watch.newest),
        (false, true) => End::Paused(watch.newest),
        (false, false) => End::Complete(watch.newest),
    })
}

/// Decisions that are still to be made, as far as the plan can tell.
fn expected_decisions(checked: &CheckedExperiment, sessions: u64, already_done: u64) -> u64 {
    let plan = plan(&checked.document, &|_| 0).unwrap_or_default();
    let all: u64 = plan
        .models
        .values()
        .map(|model| model.decisions.expected)
        .sum();
    let open = sessions.saturating_sub(already_done);
    (u128::from(all) * u128::from(open) / u128::from(sessions.max(1))) as u64
}

/// Follows an experiment that was handed in.
struct Watch {
    client: ExperimentServiceClient<Transport>,
    experiment_id: String,
    progress: Progress,
    announcements: Announcements,
    newest: WatchExperimentResponse,
    gateway: Option<AgentGatewayServiceClient<Transport>>,
    seen: Option<GetGatewayStatusResponse>,
}

impl Watch {
    /// Returns when nothing is left to run or the experiment pauses. A coordinator, or its store, that goes
    /// away is waited for: the experiment is in its hands and goes on with it.
    async fn follow(&mut self) -> Result<(), Status> {
        let mut delays = Delays::new(DelayPolicy {
            give_up_after: Some(COORDINATOR_MAY_BE_AWAY),
            ..DelayPolicy::default()
        });
        loop {
            let refusal = match self.one_stream(&mut delays).await {
                Ok(()) => return Ok(()),
                Err(refusal) => refusal,
            };
            match delays.next_delay() {
                Some(delay) if status::is_retryable(&refusal) => {
                    tracing::warn!(
                        reason = refusal.message(),
                        "the coordinator is away, waiting"
                    );
                    tokio::time::sleep(delay).await;
                }
                _ => return Err(refusal),
            }
        }
    }

    async fn one_stream(&mut self, delays: &mut Delays) -> Result<(), Status> {
        let request = WatchExperimentRequest {
            experiment_id: self.experiment_id.clone(),
        };
        let mut states = self.client.watch_experiment(request).await?.into_inner();
        let mut look = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                received = states.message() => match received? {
                    Some(state) => {
                        self.newest = state;
                        delays.reset();
                    }
                    None => return Ok(()),
                },
                _ = look.tick() => self.look_at_gateway().await,
            }
            let (newest, seen) = (&self.newest, self.seen.as_ref());
            for line in self.announcements.look(newest, seen, Instant::now()) {
                self.progress.say(&line);
            }
            self.progress.show(newest, seen);
            if is_paused(&self.newest) {
                return Ok(());
            }
        }
    }

    async fn look_at_gateway(&mut self) {
        if let Some(gateway) = &mut self.gateway {
            let experiment_id = self.experiment_id.clone();
            let asked = gateway.get_gateway_status(GetGatewayStatusRequest { experiment_id });
            let asked = tokio::time::timeout(GATEWAY_ANSWERS_WITHIN, asked).await;
            self.seen = asked
                .ok()
                .and_then(Result::ok)
                .map(tonic::Response::into_inner);
        }
    }
}

/// Whether a budget is spent and everything that ran has come back. Until then sessions may
/// still finish with what they have.
fn is_paused(state: &WatchExperimentResponse) -> bool {
    !state.paused.is_empty() && state.running == 0
}

/// Writes what is done, and says what was spent and how to go on.
async fn pause(
    arguments: &Run,
    checked: &CheckedExperiment,
    experiments: Transport,
    gateway: Option<Transport>,
    state: &WatchExperimentResponse,
) -> Result<(), Failure> {
    let (folder, done) = collect(arguments, checked, experiments).await?;
    output::print(&format!("results in {}", folder.path().display()));
    tell_set_aside(state);
    let name = &checked.document.name;
    let spent = pausing::spent(gateway, name).await;
    let in_cluster = arguments.coordinator.is_some();
    Err(Failure::Paused(pausing::how_to_go_on(
        state, done, name, spent, in_cluster,
    )))
}

/// Writes the run's folder, prints the table, tells what was set aside.
async fn conclude(
    arguments: &Run,
    checked: &CheckedExperiment,
    experiments: Transport,
    state: &WatchExperimentResponse,
) -> Result<(), Failure> {
    let (folder, _) = collect(arguments, checked, experiments).await?;
    output::print(&format!("results in {}", folder.path().display()));
    for fault in &state.determinism_faults {
        eprintln!("determinism fault: session {fault} came out differently the second time");
    }
    let set_aside = tell_set_aside(state);
    if state.cancelled {
        return Err(Failure::BadNews("the experiment was cancelled".to_owned()));
    }
    match (set_aside, state.determinism_faults.len()) {
        (0, 0) => Ok(()),
        (0, faults) => Err(Failure::BadNews(format!("{faults} determinism faults"))),
        (some, _) => Err(Failure::BadNews(format!(
            "{some} of {} sessions were set aside, see above; the same command tries them again",
            state.sessions
        ))),
    }
}

/// Says what was set aside, by reason; returns how many sessions.
fn tell_set_aside(state: &WatchExperimentResponse) -> usize {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for session in state.parked.iter().chain(&state.dead) {
        let sessions = reasons.entry(&session.reason).or_default();
        sessions.push(&session.session_id);
    }
    for (reason, sessions) in &reasons {
        let first = sessions.first().copied().unwrap_or_default();
        match sessions.len() {
            1 => eprintln!("set aside: session {first}: {reason}"),
            several => eprintln!("set aside: {several} sessions, {first} the first: {reason}"),
        }
    }
    if state.stopped > 0 {
        let stopped = output::counted(state.stopped, "session");
        eprintln!("not reached: {stopped} behind those in their series");
    }
    reasons.values().map(Vec::len).sum()
}

/// Where the results go.
fn run_folder(arguments: &Run, checked: &CheckedExperiment) -> Result<RunFolder, Failure> {
    let runs = arguments.store.data.join("runs");
    let path = arguments
        .out
        .clone()
        .unwrap_or_else(|| runs.join(&checked.document.name));
    RunFolder::create(path)
}

/// Fetches what is done, writes it and prints the table; returns how many
/// sessions are done.
async fn collect(
    arguments: &Run,
    checked: &CheckedExperiment,
    experiments: Transport,
) -> Result<(RunFolder, u64), Failure> {
    let folder = run_folder(arguments, checked)?;
    folder.write(files::EXPERIMENT, &checked.text)?;
    folder.write(files::DOCUMENT, &checked.document_text()?)?;
    folder.write_templates(checked.templates.iter())?;
    let client = results::experiment_client(experiments);
    let (table, done) = results::collect(client, &checked.document, &folder).await?;
    output::print(&table);
    Ok((folder, done))
}

/// The data folder takes in nothing more; everything before that is in it.
fn full(data: &Path, reason: &str) -> Failure {
    let data = data.display();
    Failure::Surroundings(format!(
        "cannot write in {data}: {reason}; what was done is kept: free some space and run the \
         same command again"
    ))
}

/// Who presses Ctrl-C twice does not want to wait; decisions that are recorded by
/// then are kept all the same.
fn exit_at_second_signal() {
    tokio::spawn(async {
        shutdown_signal().await;
        std::process::exit(INTERRUPTED);
    });
}

fn interrupted(done: u64, sessions: u64, folder: &RunFolder) -> Failure {
    Failure::Interrupted(format!(
        "{done} of {sessions} sessions are done and kept in {}; run the same command again to go on",
        folder.path().display()
    ))
}

/// A refusal of the coordinator as the user should read it.
fn lost(arguments: &Run, refusal: &Status) -> Failure {
    match &arguments.coordinator {
        Some(url) => results::refused(&format!("the coordinator at {url}"), refusal),
        None => results::refused("the coordinator", refusal),
    }
}
