//! `agon experiments`: what a coordinator has, and what to do with it. Asks a running
//! coordinator and prints its answers; experiments are handed in by `agon run` only.
//! Started by `commands.rs`.

use agon_agent_gateway::money::NanoDollars;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{
    CancelExperimentRequest, DeleteExperimentRequest, ExperimentSummary, ListExperimentsRequest,
    PauseExperimentRequest, ResumeExperimentRequest, RetrySessionsRequest, WatchExperimentRequest,
};
use agon_report::{dollars, grouped};
use agon_worker::Transport;

use crate::coordinators::{self, CoordinatorAddress};
use crate::failure::Failure;
use crate::output::{self, Columns, counted};
use crate::results::{experiment_client, refused};
use crate::role::{LogArguments, runtime};

/// Arguments of `agon experiments`.
#[derive(Debug, clap::Subcommand)]
pub enum Experiments {
    /// List the experiments of a coordinator
    List(CoordinatorAddress),
    /// Show where an experiment stands and what was set aside
    Show(Named),
    /// Begin no more sessions of an experiment until it is resumed; those being played go on to
    /// their end
    Pause(Paused),
    /// Take an experiment's open sessions out of the queue
    Cancel(Named),
    /// Try sessions that were set aside again
    Retry(Named),
    /// Go on with an experiment that was paused, or that paused because a budget was spent
    Resume(Resumed),
    /// Remove an experiment that is over or cancelled, and its records in the archive; fetch what
    /// you want to keep first, with `agon results pull`
    Delete(Named),
}

/// Which experiment.
#[derive(Debug, clap::Args)]
pub struct Named {
    /// Id of the experiment, as `agon experiments list` shows it
    experiment: String,
    #[command(flatten)]
    address: CoordinatorAddress,
}

/// Which experiment pauses, and why.
#[derive(Debug, clap::Args)]
pub struct Paused {
    #[command(flatten)]
    named: Named,
    /// What whoever looks at it is told
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Which experiment goes on, and up to what.
#[derive(Debug, clap::Args)]
pub struct Resumed {
    #[command(flatten)]
    named: Named,
    /// Budget of the experiment from now on, in all [default: the one it has; the
    /// team's may have been raised]
    #[arg(long, value_name = "DOLLARS", allow_negative_numbers = true)]
    budget: Option<NanoDollars>,
}

/// Carries one of them out.
pub fn run(arguments: &Experiments, log: &LogArguments) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let guard = log.start("experiments", true)?;
        let done = match arguments {
            Experiments::List(address) => list(address).await,
            Experiments::Show(named) => show(named).await,
            Experiments::Pause(paused) => {
                let request = PauseExperimentRequest {
                    experiment_id: paused.named.experiment.clone(),
                    reason: paused.reason.clone().unwrap_or_default(),
                };
                let answered = client(&paused.named.address)?
                    .pause_experiment(request)
                    .await;
                answered
                    .map(|_| output::print("paused"))
                    .map_err(|refusal| told(&paused.named.address, &refusal))
            }
            Experiments::Cancel(named) => {
                let request = CancelExperimentRequest {
                    experiment_id: named.experiment.clone(),
                };
                let cancelled = client(&named.address)?.cancel_experiment(request).await;
                cancelled
                    .map(|_| output::print("cancelled"))
                    .map_err(|refusal| told(&named.address, &refusal))
            }
            Experiments::Retry(named) => {
                let request = RetrySessionsRequest {
                    experiment_id: named.experiment.clone(),
                    session_ids: Vec::new(),
                };
                let retried = client(&named.address)?.retry_sessions(request).await;
                let retried = retried.map_err(|refusal| told(&named.address, &refusal))?;
                let count = retried.into_inner().requeued;
                output::print(&format!("{} queued again", counted(count, "session")));
                Ok(())
            }
            Experiments::Delete(named) => {
                let request = DeleteExperimentRequest {
                    experiment_id: named.experiment.clone(),
                };
                let deleted = client(&named.address)?.delete_experiment(request).await;
                deleted
                    .map(|_| output::print("removed"))
                    .map_err(|refusal| told(&named.address, &refusal))
            }
            Experiments::Resume(resumed) => {
                let request = ResumeExperimentRequest {
                    experiment_id: resumed.named.experiment.clone(),
                    budget_nanodollars: resumed.budget.map(|budget| budget.0),
                    ..ResumeExperimentRequest::default()
                };
                let answered = client(&resumed.named.address)?
                    .resume_experiment(request)
                    .await;
                answered
                    .map(|_| output::print(&with_caution(resumed.budget)))
                    .map_err(|refusal| told(&resumed.named.address, &refusal))
            }
        };
        guard.shutdown().await;
        done
    })
}

/// That it goes on; the coordinator does not know whether a budget covers what was spent.
fn with_caution(budget: Option<NanoDollars>) -> String {
    let caution = budget.map(|budget| {
        format!(
            "; it pauses again at its next call if it has already cost {} or more",
            dollars(budget.0)
        )
    });
    format!("resumed{}", caution.unwrap_or_default())
}

async fn list(address: &CoordinatorAddress) -> Result<(), Failure> {
    let listed = client(address)?
        .list_experiments(ListExperimentsRequest {})
        .await;
    let listed = listed
        .map_err(|refusal| told(address, &refusal))?
        .into_inner();
    if listed.experiments.is_empty() {
        output::tell("no experiments yet; `agon run NAME --coordinator URL` hands one in");
        return Ok(());
    }
    let mut columns = Columns::new(["experiment", "team", "done", "sessions", "state"]);
    for experiment in listed.experiments {
        let state = state(&experiment);
        columns.row([
            experiment.experiment_id,
            experiment.team,
            grouped(experiment.done),
            grouped(experiment.sessions),
            state,
        ]);
    }
    output::print(&columns.to_string());
    Ok(())
}

/// Where an experiment stands, in a word or two; what a person can do something about first.
fn state(experiment: &ExperimentSummary) -> String {
    let ExperimentSummary {
        sessions,
        done,
        set_aside,
        stopped,
        ..
    } = *experiment;
    let ended = done + set_aside + stopped;
    let aside = match stopped {
        0 => format!("{set_aside} set aside"),
        _ => format!("{set_aside} set aside, {stopped} behind those in their series"),
    };
    if experiment.cancelled && done < sessions {
        "cancelled".to_owned()
    } else if !experiment.paused.is_empty() && ended < sessions {
        format!("paused: {}", experiment.paused)
    } else if ended < sessions && set_aside > 0 {
        format!("running, {aside}")
    } else if ended < sessions {
        "running".to_owned()
    } else if set_aside > 0 {
        aside
    } else {
        "done".to_owned()
    }
}

async fn show(
    Named {
        experiment,
        address,
    }: &Named,
) -> Result<(), Failure> {
    let request = WatchExperimentRequest {
        experiment_id: experiment.clone(),
    };
    let watched = client(address)?.watch_experiment(request).await;
    let mut watched = watched
        .map_err(|refusal| told(address, &refusal))?
        .into_inner();
    let first = watched.message().await;
    let first = first.map_err(|refusal| told(address, &refusal))?;
    let state = first.unwrap_or_default();
    let end = if state.cancelled {
        ": cancelled"
    } else if state.queued + state.running + state.waiting == 0 {
        ": nothing is left to play"
    } else {
        ""
    };
    output::print(&format!(
        "{} of {} sessions done, {} running, {} queued, {}{end}",
        grouped(state.done),
        grouped(state.sessions),
        grouped(state.running),
        grouped(state.queued),
        counted(state.workers, "worker"),
    ));
    if state.waiting > 0 {
        let waiting = counted(state.waiting, "session");
        output::print(&format!("{waiting} later in their series"));
    }
    if !state.paused.is_empty() {
        output::print(&format!("paused: {}", state.paused));
    }
    if !state.unplayable.is_empty() {
        output::print(&format!(
            "waits for a worker that can play it: {}",
            state.unplayable
        ));
    }
    for (what, sessions) in [("parked", &state.parked), ("dead", &state.dead)] {
        for session in sessions {
            let (id, tries) = (&session.session_id, session.attempts);
            output::print(&format!(
                "{what} {id} after {tries} tries: {}",
                session.reason
            ));
        }
    }
    if state.stopped > 0 {
        let stopped = counted(state.stopped, "session");
        output::print(&format!(
            "not played: {stopped} that follow them in a series; `agon experiments retry \
             {experiment}` goes on with them"
        ));
    }
    for session in &state.determinism_faults {
        output::print(&format!("determinism fault {session}"));
    }
    Ok(())
}

fn client(address: &CoordinatorAddress) -> Result<ExperimentServiceClient<Transport>, Failure> {
    Ok(experiment_client(coordinators::in_charge(
        &address.coordinator,
    )?))
}

fn told(address: &CoordinatorAddress, refusal: &tonic::Status) -> Failure {
    refused(
        &format!("the coordinator at {}", address.coordinator),
        refusal,
    )
}
