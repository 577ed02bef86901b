//! `agon results`: what a coordinator has of an experiment's results, fetched into a folder like that
//! of a run. Submits nothing and changes nothing at the coordinator. Started by `commands.rs`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agon_coordinator::experiment::ExperimentDocument;
use agon_outlets::InLine as _;
use agon_proto::v1::session_lease_service_client::SessionLeaseServiceClient;
use agon_proto::v1::{
    GetExperimentRequest, GetExperimentResponse, GetPromptBundleRequest, SubmitExperimentResponse,
    WatchExperimentRequest, WatchExperimentResponse,
};
use agon_report::grouped;
use agon_service_kit::server::LARGEST_RESULT_BYTES;
use agon_service_kit::signals::shutdown_signal;
use agon_worker::Transport;
use tonic::Status;

use super::run::verdict;
use super::run::watch::{Watch, is_over, is_paused};
use crate::announcements::CtrlC;
use crate::coordinators::{self, CoordinatorAddress};
use crate::failure::Failure;
use crate::keeping::Keeping;
use crate::output;
use crate::progress::Progress;
use crate::results::{experiment_client, refused};
use crate::role::{DataArguments, LogArguments, runtime};
use crate::run_folder::account::{Outcome, State};
use crate::run_folder::{Place, RunFolder};

const EXAMPLES: &str = "Examples:
  agon results pull my-niche --coordinator http://coordinator:7700
  agon results pull my-niche --wait -o results/my-niche

What is finished is fetched, also while the rest is still being played. The same command again \
fetches only what is new, and goes on where it stopped after Ctrl-C or a kill. Then `agon show`, \
`agon report`, `agon export` and `agon verify` read the folder as one of `agon run`.";

/// Arguments of `agon results`.
#[derive(Debug, clap::Subcommand)]
pub enum Results {
    /// Fetch an experiment's finished sessions from a coordinator, without submitting anything
    Pull(Pull),
}

/// Arguments of `agon results pull`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Pull {
    /// Id of the experiment, as `agon experiments list` shows it
    experiment: String,
    #[command(flatten)]
    address: CoordinatorAddress,
    /// Where results go [default: DATA/runs/EXPERIMENT]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    data: DataArguments,
    /// Follow the experiment to its end, and fetch all of it
    #[arg(long)]
    wait: bool,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

/// An experiment as the coordinator has it.
struct Known {
    document: ExperimentDocument,
    templates: BTreeMap<String, String>,
    state: WatchExperimentResponse,
    /// In the form in which it is told to whoever hands an experiment in.
    submitted: SubmitExperimentResponse,
}

/// Fetches it.
///
/// # Errors
/// Exit 1 when sessions were set aside, 2 on wrong input, 3 when something is missing, 4 when a
/// budget is spent, 130 when stopped by Ctrl-C.
pub fn run(arguments: &Results, log: &LogArguments) -> Result<(), Failure> {
    let Results::Pull(arguments) = arguments;
    runtime()?.block_on(async {
        let guard = log.start("results", true)?;
        let interrupt = Box::pin(shutdown_signal());
        let pulled = pull(arguments, interrupt).await;
        guard.shutdown().await;
        pulled
    })
}

async fn pull(
    arguments: &Pull,
    mut interrupt: impl Future<Output = &'static str> + Unpin,
) -> Result<(), Failure> {
    let transport = coordinators::in_charge(&arguments.address.coordinator)?;
    let known = tokio::select! {
        known = look(arguments, &transport) => known?,
        _ = &mut interrupt => return Err(Failure::Interrupted("nothing was fetched".to_owned())),
    };
    let place = Place {
        data: arguments.data.folder(),
        out: arguments.out.clone(),
    };
    let folder = RunFolder::claim(&place, &known.document.name)?;
    let state = State {
        coordinator: Some(arguments.address.coordinator.clone()),
        ..State::default()
    };
    let mut keeping = Keeping::begin_pull(folder, &known.document, &known.templates, state)?;
    keeping.submitted(&known.submitted)?;
    if !arguments.quiet {
        keeping.show_fetching();
    }
    let collected = tokio::select! {
        collected = collect(arguments, &known, &mut keeping, transport) => Some(collected),
        _ = interrupt => None,
    };
    let (outcome, ended) = match collected {
        None => (Outcome::Interrupted, Err(keeping.stopped())),
        Some(Err(failure)) => return keeping.finish(Err(failure)),
        Some(Ok((state, done))) => {
            output::print(&keeping.whereabouts());
            match told(arguments, &state, done) {
                Ok(false) => (Outcome::Interrupted, Ok(())),
                Ok(true) => (Outcome::Complete, Ok(())),
                Err(failure) => return keeping.finish(Err(failure)),
            }
        }
    };
    keeping.finish_as(outcome, ended)
}

/// Asks what is known of the experiment.
async fn look(arguments: &Pull, transport: &Transport) -> Result<Known, Failure> {
    let lost = |refusal: Status| {
        let shown = coordinators::shown(&arguments.address.coordinator);
        refused(&format!("the coordinator at {shown}"), &refusal)
    };
    let mut client = experiment_client(transport.clone());
    let request = GetExperimentRequest {
        experiment_id: arguments.experiment.clone(),
    };
    let found = client.get_experiment(request).await.map_err(lost)?;
    let GetExperimentResponse {
        document,
        origins,
        grid,
        ..
    } = found.into_inner();
    let document = ExperimentDocument::from_json(&document).map_err(Failure::input)?;
    let templates = match &document.prompt_bundle {
        None => BTreeMap::new(),
        Some(digest) => {
            let request = GetPromptBundleRequest {
                digest: digest.clone(),
            };
            let mut bundles = SessionLeaseServiceClient::new(transport.clone())
                .max_decoding_message_size(LARGEST_RESULT_BYTES);
            let bundle = bundles.get_prompt_bundle(request).await.map_err(lost)?;
            bundle.into_inner().templates.into_iter().collect()
        }
    };
    let request = WatchExperimentRequest {
        experiment_id: arguments.experiment.clone(),
    };
    let watched = client.watch_experiment(request).await.map_err(lost)?;
    let first = watched.into_inner().message().await.map_err(lost)?;
    let state = first.unwrap_or_default();
    Ok(Known {
        submitted: SubmitExperimentResponse {
            experiment_id: arguments.experiment.clone(),
            sessions: state.sessions,
            already_done: state.done,
            origins,
            grid,
            paused: !state.paused.is_empty(),
        },
        document,
        templates,
        state,
    })
}

/// Fetches what is finished, with `--wait` until nothing is left, and writes the run's files. Says
/// how the experiment stands and how many sessions are there.
async fn collect(
    arguments: &Pull,
    known: &Known,
    keeping: &mut Keeping,
    transport: Transport,
) -> Result<(WatchExperimentResponse, u64), Failure> {
    let mut state = known.state.clone();
    if arguments.wait && !is_settled(&state) {
        // What is there already is safe before the rest is waited for.
        let _ = keeping.fetch(transport.clone(), state.done).await?;
        let submitted = &known.submitted;
        let progress = Progress::start(arguments.quiet, submitted.sessions, state.done, 0);
        let client = experiment_client(transport.clone());
        let mut watch = Watch::new(client, submitted.clone(), progress, None, CtrlC::Watching);
        let followed = watch.follow().await;
        state = watch.end();
        followed.map_err(|refusal| refused("the coordinator", &refusal))?;
    }
    let done = keeping.collect(transport, &state).await?;
    Ok((state, done))
}

/// Whether nothing more comes by itself.
fn is_settled(state: &WatchExperimentResponse) -> bool {
    is_over(state) || is_paused(state)
}

/// Says how the experiment stands; whether all of it is there.
///
/// # Errors
/// It has come to an end, and not to a good one; or it pauses.
fn told(arguments: &Pull, state: &WatchExperimentResponse, done: u64) -> Result<bool, Failure> {
    let name = arguments.experiment.in_line();
    let (fetched, all) = (grouped(done), grouped(state.sessions));
    let again = format!("`agon experiments retry {name}` tries them again");
    let verdict = verdict(state, done, &again);
    if is_paused(state) {
        return Err(Failure::Paused(format!(
            "{}; {fetched} of {all} sessions are fetched; `agon experiments resume {name} --budget \
             DOLLARS` goes on with the rest",
            state.paused
        )));
    }
    if !is_settled(state) {
        let stands = match state.paused_by_hand {
            true => format!(
                "is paused: {}; `agon experiments resume {name}` goes on",
                state.paused.in_line()
            ),
            false => "is still running".to_owned(),
        };
        output::tell(&format!(
            "{fetched} of {all} sessions are fetched; the experiment {stands}. Run the same \
             command again for the rest, or add --wait to follow it to the end"
        ));
    }
    verdict?;
    Ok(is_settled(state))
}
