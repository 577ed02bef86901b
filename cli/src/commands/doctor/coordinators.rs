//! Checks of coordinators: who is reached and in charge, whether this process's token is accepted, and
//! what keeps experiments from going on. Only asks. Called by `commands/doctor.rs`.

use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{
    ExperimentSummary, ListExperimentsRequest, WatchExperimentRequest, WatchExperimentResponse,
};
use agon_service_kit::secrets::shown_address;
use agon_worker::Transport;
use tonic::Status;

use super::findings::Findings;
use super::services::{accepted, ask, open_to_all, reach, refused};
use crate::connecting::{channel_to, shows_a_token, transport_to};
use crate::coordinators::SEPARATOR;
use crate::failure::Failure;
use crate::output::counted;
use crate::results::experiment_client;

/// More experiments are not looked at one by one.
const MOST_EXPERIMENTS: usize = 50;

const TOKEN: &str = "coordinator token";

/// Checks those at these addresses.
///
/// # Errors
/// One of them is no address.
pub async fn check(
    addresses: &str,
    is_installation: bool,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let (mut in_charge, mut others) = (Vec::new(), Vec::new());
    for url in addresses.split(SEPARATOR).map(str::trim) {
        let name = format!("coordinator {}", shown_address(url));
        match reach(url).await? {
            Ok(true) => {
                findings.ok(name, "in charge");
                in_charge.push(url);
            }
            Ok(false) => {
                findings.ok(
                    name,
                    "answers, but is not in charge: stands by or waits for its store",
                );
                others.push(url);
            }
            Err(unreached) => {
                let why = format!("does not answer: {}", unreached.why);
                findings.fail(name, why, unreached.advice);
            }
        }
    }
    match in_charge.as_slice() {
        [_] => {}
        [] if others.is_empty() => {}
        [] => findings.fail(
            "coordinators",
            "nobody is in charge of the queue",
            "see whether their store answers, and their logs",
        ),
        _ => findings.warn(
            "coordinators",
            format!("{} say that they are in charge", in_charge.len()),
            "give them the same --redis, or name each once",
        ),
    }
    for url in &in_charge {
        let mut nobody = ExperimentServiceClient::new(channel_to(url)?);
        let listed = ask(nobody.list_experiments(ListExperimentsRequest {})).await;
        if shows_a_token() && listed.is_ok() {
            open_to_all("coordinator door", is_installation, findings);
        }
    }
    match in_charge.iter().chain(&others).next() {
        Some(url) => {
            let client = experiment_client(transport_to(url)?);
            experiments(client, findings).await;
        }
        None => findings.leave_out("workers and experiments (no coordinator answers)"),
    }
    Ok(())
}

async fn experiments(mut client: ExperimentServiceClient<Transport>, findings: &mut Findings) {
    let listed = ask(client.list_experiments(ListExperimentsRequest {})).await;
    let listed = match listed {
        Ok(listed) => listed.experiments,
        Err(refusal) => {
            refused(TOKEN, &refusal, findings);
            findings.leave_out("workers and experiments (the coordinator does not list them)");
            return;
        }
    };
    let seen = format!(", {} visible", counted(listed.len() as u64, "experiment"));
    accepted(TOKEN, &seen, findings);
    // Finished ones tell of workers and of records that differ, too.
    let (mut looked_at, finished): (Vec<_>, Vec<_>) =
        listed.iter().partition(|one| is_unfinished(one));
    looked_at.extend(finished);
    if looked_at.len() > MOST_EXPERIMENTS {
        let skipped = looked_at.split_off(MOST_EXPERIMENTS).len() as u64;
        findings.leave_out(format!("{} more", counted(skipped, "experiment")));
    }
    let (mut workers, mut waits) = (None, false);
    for summary in looked_at {
        let name = &summary.experiment_id;
        match watch(&mut client, name).await {
            Ok(state) => {
                workers = workers.max(Some(state.workers));
                waits |= state.queued > 0;
                experiment(name, &state, findings);
            }
            Err(refusal) => refused(&format!("experiment {name}"), &refusal, findings),
        }
    }
    self::workers(workers, waits, findings);
}

fn is_unfinished(one: &ExperimentSummary) -> bool {
    !one.cancelled && one.done < one.sessions
}

/// How it stands now.
async fn watch(
    client: &mut ExperimentServiceClient<Transport>,
    name: &str,
) -> Result<WatchExperimentResponse, Status> {
    let request = WatchExperimentRequest {
        experiment_id: name.to_owned(),
    };
    let mut states = ask(client.watch_experiment(request)).await?;
    let first = ask(async { states.message().await.map(tonic::Response::new) });
    Ok(first.await?.unwrap_or_default())
}

fn workers(connected: Option<u64>, waits: bool, findings: &mut Findings) {
    let advice = "start `agon worker`, or see in the log of one that runs what keeps it away";
    match connected {
        None => findings.leave_out("workers (no experiment is there to ask by)"),
        Some(0) if waits => {
            findings.fail("workers", "sessions wait, and none is connected", advice);
        }
        Some(0) => findings.warn("workers", "none is connected", advice),
        Some(some) => findings.ok("workers", format!("{some} connected")),
    }
}

fn experiment(name: &str, state: &WatchExperimentResponse, findings: &mut Findings) {
    let check = || format!("experiment {name}");
    let faults = state.determinism_faults.len() as u64;
    if faults > 0 {
        let sessions = counted(faults, "session");
        findings.fail(
            check(),
            format!("{sessions} finished twice with different records"),
            format!("keep both logs, and report it with `agon experiments show {name}`"),
        );
    }
    if !state.unplayable.is_empty() {
        findings.warn(
            check(),
            format!("no worker can play it: {}", state.unplayable),
            "start a worker of the version that made it",
        );
    }
    if !state.paused.is_empty() {
        findings.warn(
            check(),
            format!("paused: {}", state.paused),
            match state.paused_by_hand {
                true => format!("`agon experiments resume {name}` when it may go on"),
                false => format!("raise the budget, then `agon experiments resume {name}`"),
            },
        );
    }
    let aside = (state.parked.len() + state.dead.len()) as u64;
    if aside > 0 {
        findings.warn(
            check(),
            format!("{} set aside", counted(aside, "session")),
            format!(
                "`agon experiments show {name}` gives the reasons, then `agon experiments retry {name}`"
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use agon_proto::v1::SetAsideSession;

    use super::*;

    #[test]
    fn each_reason_why_an_experiment_stands_still_has_its_advice() {
        let said_of = |state: &WatchExperimentResponse| {
            let mut findings = Findings::default();
            experiment("e", state, &mut findings);
            findings.text()
        };
        assert_eq!(said_of(&WatchExperimentResponse::default()), "");
        let state = WatchExperimentResponse {
            paused: "its budget is spent".to_owned(),
            unplayable: "rules of pirate 2".to_owned(),
            dead: vec![SetAsideSession::default()],
            determinism_faults: vec!["a".to_owned(), "b".to_owned()],
            ..WatchExperimentResponse::default()
        };
        let said = said_of(&state);
        for expected in [
            "fail  experiment e: 2 sessions finished twice with different records; keep both logs",
            "warn  experiment e: no worker can play it: rules of pirate 2; start a worker",
            "warn  experiment e: paused: its budget is spent; raise the budget, then `agon \
             experiments resume e`",
            "warn  experiment e: 1 session set aside; `agon experiments show e`",
        ] {
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn workers_matter_where_sessions_wait() {
        for (connected, waits, expected) in [
            (Some(3), true, "ok    workers: 3 connected"),
            (Some(0), false, "warn  workers: none is connected; start"),
            (
                Some(0),
                true,
                "fail  workers: sessions wait, and none is connected; start",
            ),
            (None, false, "left out: workers"),
        ] {
            let mut findings = Findings::default();
            workers(connected, waits, &mut findings);
            let said = findings.text();
            assert!(said.starts_with(expected), "{said}");
        }
    }
}
