//! `agon run`: an experiment from file to table, on this machine or in a cluster.
//! Submits, follows and ends the run; sessions are played by workers, and files and
//! tables are written by `results.rs`. Started by `commands.rs`.

use std::path::{Path, PathBuf};

use agon_outlets::InLine as _;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{SubmitExperimentResponse, WatchExperimentResponse};
use agon_report::grouped;
use agon_service_kit::signals::shutdown_signal;
use agon_worker::Transport;
use tonic::Status;
use tracing::Instrument as _;

use crate::announcements::CtrlC;
use crate::embedded::{self, Cluster};
use crate::experiment_arguments::{CheckedExperiment, ExperimentArguments};
use crate::failure::Failure;
use crate::handing_in::{Terms, hand_in};
use crate::inviting::lobby::without_right;
use crate::inviting::{self, PeopleArguments};
use crate::keeping::Keeping;
use crate::model_config::{ModelArguments, SIMULATED};
use crate::numbers::whole;
use crate::output::{self, counted};
use crate::pausing;
use crate::progress::Progress;
use crate::results;
use crate::role::{LogArguments, MetricsArguments, StoreArguments, runtime, typed};
use crate::run_folder::account::State;
use crate::run_folder::{Place, RunFolder};
use crate::viewing;

mod cluster;
mod held_back;
mod origins;
mod pages;
mod verdict;
pub(super) mod watch;

pub(super) use verdict::verdict;

use cluster::in_cluster;
use pages::OpenedPages;
use watch::{Watch, expected_decisions, is_paused};

/// Headings of the help text.
const RUNNING: &str = "Running";
const CLUSTER: &str = "In a cluster";

/// Unless the command line says otherwise.
const WORKERS: u16 = 1;
const PLACES: u32 = 128;
/// Where nobody is waited for, more are needed to keep the processors busy.
const PLACES_OF_RULES: u32 = 1024;
const ANY_PORT: &str = "127.0.0.1:0";

/// What Ctrl-C says while people are waited for.
const NOT_BEGUN: &str = "the game has not begun. The same command waits for the same people again";

/// Arguments of `agon run`; `agon check` and `agon plan` take them, too.
#[derive(Debug, Clone, clap::Args)]
pub struct Run {
    #[command(flatten)]
    pub(super) experiment: ExperimentArguments,
    #[command(flatten)]
    pub(super) models: ModelArguments,
    #[command(flatten)]
    pub(super) store: StoreArguments,
    /// Where results go [default: DATA/runs/NAME]
    #[arg(long, value_name = "DIR", help_heading = RUNNING)]
    out: Option<PathBuf>,
    /// Workers inside this process [default: 1]
    #[arg(long, value_name = "N", help_heading = RUNNING,
          value_parser = whole(1, 256_u16), allow_negative_numbers = true)]
    workers: Option<u16>,
    /// Sessions that each worker plays at the same time [default: 128, or 1024 if only
    /// rule players play]
    #[arg(long, value_name = "N", help_heading = RUNNING,
          value_parser = whole(1, 100_000_u32), allow_negative_numbers = true)]
    places: Option<u32>,
    /// Hand the experiment to the coordinator at this address instead of running it in this
    /// process; of several, separated by commas, the one in charge is found
    #[arg(long, env = "AGON_COORDINATOR", hide_env_values = true, value_name = "URL", help_heading = CLUSTER)]
    pub(super) coordinator: Option<String>,
    /// Gateway of that cluster; needed to show progress and to let people play
    #[arg(
        long,
        env = "AGON_GATEWAY", hide_env_values = true,
        value_name = "URL",
        requires = "coordinator",
        help_heading = CLUSTER
    )]
    gateway: Option<String>,
    /// Play finished sessions anew where this program has other rules or prompts than the one that
    /// played them; without this such a run is refused
    #[arg(long, help_heading = RUNNING)]
    new: bool,
    /// Show no progress
    #[arg(long, short, help_heading = RUNNING)]
    quiet: bool,
    /// Serve pages on this machine that show the run while it lasts; their address is printed, and a
    /// link for each human seat, at which somebody plays in a browser. The run begins when everybody
    /// is ready; with --coordinator, people need --gateway too
    #[arg(long, value_name = "ADDRESS", help_heading = RUNNING, num_args = 0..=1,
          default_missing_value = viewing::LISTEN)]
    web: Option<String>,
    /// Let programs on this machine answer at doors over HTTP while the run lasts, as at a gateway's
    /// --http-listen; the address is printed. For a cluster: the gateway's
    #[arg(long, value_name = "ADDRESS", help_heading = RUNNING, num_args = 0..=1,
          default_missing_value = ANY_PORT, conflicts_with = "coordinator")]
    http_listen: Option<String>,
    #[command(flatten)]
    people: PeopleArguments,
    #[command(flatten)]
    metrics: MetricsArguments,
    /// Whether its results are not shown: they are looked at by who asked for it.
    #[arg(skip)]
    pub(super) unseen: bool,
}

/// How a run ended.
enum End {
    /// Nothing is left to run, or a budget is spent.
    Over(WatchExperimentResponse),
    /// The user stopped it.
    Interrupted(WatchExperimentResponse),
}

/// Runs the experiment, or goes on with it.
///
/// # Errors
/// Exit 1 when sessions were set aside, 2 on wrong input, 3 when something is
/// missing, 4 when a budget is spent, 130 when stopped by Ctrl-C.
pub fn run(arguments: &Run, log: &LogArguments) -> Result<(), Failure> {
    let checked = arguments.check()?;
    if arguments.people.people.is_some() && arguments.web.is_none() {
        let text = "--people has no effect without --web: people play in its pages";
        return Err(Failure::BadInput(text.to_owned()));
    }
    // Tried before anything is played and paid for.
    let folder = RunFolder::claim(&arguments.place(), &checked.document.name)?;
    runtime()?.block_on(async {
        // From here on Ctrl-C stops the run and keeps what it has.
        let interrupt = Box::pin(shutdown_signal());
        let guard = log.start("run", true)?;
        let span = tracing::info_span!("experiment", experiment_id = checked.document.name);
        let ended = match &arguments.coordinator {
            Some(url) => {
                let run = in_cluster(arguments, &checked, folder, url, interrupt);
                run.instrument(span).await
            }
            None => {
                let run = in_process(arguments, &checked, folder, interrupt);
                run.instrument(span).await
            }
        };
        guard.shutdown().await;
        ended
    })
}

impl Run {
    /// Checks the experiment, and that every option means something.
    ///
    /// # Errors
    /// Either is wrong.
    pub(super) fn check(&self) -> Result<CheckedExperiment, Failure> {
        self.refuse_what_has_no_effect()?;
        let checked = self.experiment.check()?;
        let _ = self.people.read()?;
        Ok(checked)
    }

    /// A cluster has workers, models and a store of its own.
    fn refuse_what_has_no_effect(&self) -> Result<(), Failure> {
        let ours = [
            ("--workers", self.workers.is_some(), "worker"),
            ("--places", self.places.is_some(), "worker"),
            ("--base-url", self.models.names_a_server(), "gateway"),
            ("--config", self.models.names_a_file(), "gateway"),
            (
                "--redis",
                typed(self.store.redis.as_ref(), "AGON_REDIS"),
                "coordinator",
            ),
            ("--metrics", self.metrics.is_asked_for(), "coordinator"),
        ];
        let idle = ours.iter().find(|(_, given, _)| *given);
        match idle.filter(|_| self.coordinator.is_some()) {
            None => Ok(()),
            Some((option, _, whose)) => Err(Failure::BadInput(format!(
                "{option} has no effect with --coordinator: it is an option of the cluster's \
                 `agon {whose}`"
            ))),
        }
    }

    /// How many sessions each worker plays at the same time.
    fn places_for(&self, checked: &CheckedExperiment) -> u32 {
        let waits = !checked.models.is_empty() || !self.experiment.games.is_empty();
        self.places.unwrap_or(match waits {
            true => PLACES,
            false => PLACES_OF_RULES,
        })
    }

    /// How many sessions are played at the same time in this process.
    pub(super) fn at_a_time(&self, checked: &CheckedExperiment) -> u64 {
        u64::from(self.workers.unwrap_or(WORKERS)) * u64::from(self.places_for(checked))
    }

    /// Where results go.
    pub(super) fn place(&self) -> Place {
        Place {
            data: self.store.data.clone(),
            out: self.out.clone(),
        }
    }

    /// What Ctrl-C ends once the experiment is submitted.
    fn ctrl_c(&self, checked: &CheckedExperiment) -> CtrlC {
        let people_play = || self.web.is_some() && !inviting::doors(&checked.models).is_empty();
        match &self.coordinator {
            None => CtrlC::Run,
            Some(_) if people_play() => CtrlC::Pages,
            Some(_) => CtrlC::Watching,
        }
    }

    /// Where the state is, for the run's account.
    pub(super) fn state(&self) -> State {
        match &self.coordinator {
            None => self.store.state(),
            Some(url) => State {
                coordinator: Some(url.clone()),
                ..State::default()
            },
        }
    }
}

async fn in_process(
    arguments: &Run,
    checked: &CheckedExperiment,
    folder: RunFolder,
    mut interrupt: impl Future<Output = &'static str> + Unpin,
) -> Result<(), Failure> {
    let config = arguments.models.load(&checked.models)?;
    pausing::require_prices(&config, &checked.document, &checked.models)?;
    let options = embedded::Options {
        redis: arguments.store.redis.clone(),
        data: arguments.store.data.clone(),
        experiment: checked.document.name.clone(),
        workers: usize::from(arguments.workers.unwrap_or(WORKERS)),
        places: arguments.places_for(checked) as usize,
        games: arguments.experiment.games.clone(),
    };
    let cluster = Cluster::start(&options, config, &checked.models).await?;
    let listed = [
        &agon_coordinator::metrics::METRICS[..],
        &agon_agent_gateway::metrics::METRICS,
        agon_worker::METRICS,
    ];
    arguments
        .metrics
        .serve(cluster.tasks(), &listed, None)
        .await?;
    if let Some(listen) = &arguments.http_listen {
        let address = cluster.serve_http(listen).await?;
        output::tell(&format!("agon run http listening on {address}"));
    }
    let seats = match &arguments.web {
        Some(listen) => {
            let opened = OpenedPages::open(arguments, checked, listen).await?;
            let (experiments, gateway) = (cluster.experiments.clone(), cluster.gateway.clone());
            opened.serve(cluster.tasks(), experiments, Some(gateway))?
        }
        None => None,
    };
    if let Some(seats) = &seats {
        output::tell("the run begins when everybody who was invited is ready");
        tokio::select! {
            () = seats.everybody_ready(&checked.document.name) => {}
            _ = &mut interrupt => {
                let stopped = Failure::Interrupted(NOT_BEGUN.to_owned());
                return cluster.stop(Err(stopped)).await;
            }
        }
    }
    let mut keeping = Keeping::begin(folder, checked, arguments.state())?;
    let experiments = cluster.experiments.clone();
    let channels = (experiments.clone(), Some(cluster.gateway.clone()));
    let followed = tokio::select! {
        followed = follow(arguments, checked, &mut keeping, channels, &mut interrupt) => followed,
        reason = cluster.trouble() => Err(full(&arguments.store.data, &reason)),
    };
    // Results are read from the store before it closes, whatever happened.
    let ended = match followed {
        Ok(End::Over(state)) => {
            let channels = (experiments, Some(cluster.gateway.clone()));
            let ended = conclude(arguments, checked, &mut keeping, channels, &state).await;
            if let Some(seats) = &seats {
                // People still look at the end, and answer questions.
                tokio::select! {
                    () = seats.everybody_done(&checked.document.name) => {}
                    _ = interrupt => {}
                }
            }
            ended
        }
        Ok(End::Interrupted(state)) => {
            cluster.exit_at_second_signal();
            output::tell("stopping: recording what is under way (Ctrl-C again stops at once)");
            cluster.stop_workers().await;
            let answers = watch::answers(cluster.gateway.clone(), &checked.document.name).await;
            let collected = keeping.collect(experiments, &state).await;
            collected.and_then(|done| Err(interrupted(done, state.sessions, answers, &keeping)))
        }
        Err(failure) => Err(failure),
    };
    keeping.finish(cluster.stop(ended).await)
}

/// Hands the experiment in and follows it to its end, or to Ctrl-C.
async fn follow(
    arguments: &Run,
    checked: &CheckedExperiment,
    keeping: &mut Keeping,
    (experiments, gateway): (Transport, Option<Transport>),
    interrupt: impl Future<Output = &'static str> + Unpin,
) -> Result<End, Failure> {
    let mut client = results::experiment_client(experiments.clone());
    let terms = Terms {
        accept_new: arguments.new,
        pause: None,
    };
    let submitted = hand_in_as(arguments, checked, keeping, &mut client, terms).await?;
    watch_to_end(
        arguments,
        checked,
        submitted,
        (experiments, gateway),
        interrupt,
    )
    .await
}

/// Hands the experiment in, and tells where its models are and what is done already.
async fn hand_in_as(
    arguments: &Run,
    checked: &CheckedExperiment,
    keeping: &mut Keeping,
    client: &mut ExperimentServiceClient<Transport>,
    terms: Terms<'_>,
) -> Result<SubmitExperimentResponse, Failure> {
    let submitted = hand_in(client, checked, terms).await;
    let submitted = submitted.map_err(|refusal| match terms.pause {
        Some(_) => without_right(&coordinator(arguments), &refusal),
        None => lost(arguments, &refusal),
    })?;
    keeping.submitted(&submitted)?;
    let (sessions, already_done) = (submitted.sessions, submitted.already_done);
    if !arguments.quiet {
        origins::tell(checked, &submitted.origins);
    }
    let has_listener = arguments.web.is_some() || arguments.http_listen.is_some();
    // A cluster's gateway may have doors of its own.
    let has_way_in = has_listener || arguments.coordinator.is_some();
    if submitted.already_done < submitted.sessions && !has_way_in {
        inviting::warn_of_closed_doors(&submitted.origins);
    }
    for line in keeping.moved_models() {
        output::tell(&line);
    }
    if already_done > 0 && !arguments.quiet {
        let (done, all) = (grouped(already_done), grouped(sessions));
        output::tell(&format!(
            "{done} of {all} sessions were done before and are kept"
        ));
    }
    Ok(submitted)
}

/// Follows what was handed in to its end, or to Ctrl-C.
async fn watch_to_end(
    arguments: &Run,
    checked: &CheckedExperiment,
    submitted: SubmitExperimentResponse,
    (experiments, gateway): (Transport, Option<Transport>),
    interrupt: impl Future<Output = &'static str> + Unpin,
) -> Result<End, Failure> {
    let client = results::experiment_client(experiments);
    let (sessions, already_done) = (submitted.sessions, submitted.already_done);
    let expected = expected_decisions(checked, sessions, already_done);
    let progress = Progress::start(arguments.quiet, sessions, already_done, expected);
    let mut watch = Watch::new(
        client,
        submitted,
        progress,
        gateway,
        arguments.ctrl_c(checked),
    );
    let interrupted = tokio::select! {
        _ = interrupt => true,
        ended = watch.follow() => {
            ended.map_err(|refusal| lost(arguments, &refusal))?;
            false
        }
    };
    let state = watch.end();
    Ok(match interrupted {
        true => End::Interrupted(state),
        false => End::Over(state),
    })
}

/// Writes the run's results, prints the tables, tells what was set aside; of a run that paused, what
/// was spent and how to go on.
async fn conclude(
    arguments: &Run,
    checked: &CheckedExperiment,
    keeping: &mut Keeping,
    (experiments, gateway): (Transport, Option<Transport>),
    state: &WatchExperimentResponse,
) -> Result<(), Failure> {
    let done = match arguments.unseen {
        true => keeping.keep(experiments, state).await?.1,
        false => {
            let done = keeping.collect(experiments, state).await?;
            output::print(&keeping.whereabouts());
            done
        }
    };
    let again = "run the same command again to retry them";
    let aside = verdict(state, done, again);
    if is_paused(state) {
        let name = &checked.document.name;
        let spent = pausing::spent(gateway, name).await;
        let in_cluster = arguments.coordinator.is_some();
        let how = pausing::how_to_go_on(state, done, name, spent, in_cluster);
        return Err(Failure::Paused(how));
    }
    aside
}

/// The data folder takes in nothing more; everything before that is in it, and what was under way
/// found room in a reserve.
fn full(data: &Path, reason: &str) -> Failure {
    let data = data.in_line();
    Failure::Surroundings(format!(
        "cannot write in {data}: {reason}; no model is asked any more. Free some space and run the \
         same command again: what is recorded is not paid for twice"
    ))
}

fn interrupted(done: u64, all: u64, answers: Option<u64>, keeping: &Keeping) -> Failure {
    let (done, all) = (grouped(done), grouped(all));
    let state = keeping.entry().account.state.in_words();
    let answers = match answers {
        None | Some(0) => format!("all answers so far are kept {state}"),
        Some(answers) => format!(
            "{}, those of unfinished sessions included, are kept {state}",
            counted(answers, "model answer")
        ),
    };
    Failure::Interrupted(format!(
        "{done} of {all} sessions are done, with results in {}; {answers}. Run the same command \
         again to continue: no answer is requested or paid for twice",
        keeping.entry().path().in_line()
    ))
}

/// A refusal of the coordinator as the user should read it.
fn lost(arguments: &Run, refusal: &Status) -> Failure {
    let failure = results::refused(&coordinator(arguments), refusal);
    let unknown = format!("unknown model \"{SIMULATED}\"");
    match failure {
        Failure::BadInput(reason) if reason.starts_with(&unknown) => Failure::BadInput(format!(
            "{reason}. Only a run in one process brings the simulated model along; a cluster's gateway \
             needs a server for it in its configuration (`agon sim-llm` is one)"
        )),
        failure => failure,
    }
}

fn coordinator(arguments: &Run) -> String {
    match &arguments.coordinator {
        Some(url) => format!("the coordinator at {url}"),
        None => "the coordinator".to_owned(),
    }
}
