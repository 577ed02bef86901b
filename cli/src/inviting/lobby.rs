//! The waiting room of a cluster: an experiment that was handed in paused goes on once the people who were
//! invited to it are ready. Also asks beforehand whether people can be asked at the gateway's doors at
//! all. Called by `agon run --web` and `agon view`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{PauseExperimentRequest, ResumeExperimentRequest, WatchDoorRequest};
use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::status::is_retryable;
use agon_web::seats::Seats;
use agon_web::sweeps::WAITING_FOR_PEOPLE;
use agon_worker::Transport;
use tonic::{Code, Status};

use crate::failure::Failure;
use crate::output;
use crate::results::{reason, refused};

type Client = ExperimentServiceClient<Transport>;

/// A coordinator that was asked to go on is heard of by pages within this time.
const HEARD_WITHIN: Duration = Duration::from_secs(2);

/// Services answer by then, or not at all.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// Lets the experiment go on once everybody who was invited is ready, or for as long as people are waited
/// for. Whoever resumes it meanwhile, or pauses it for another reason, is not interfered with.
///
/// # Errors
/// The coordinator refuses, or is away for long.
pub async fn begin_when_ready(
    seats: &Seats,
    client: &mut Client,
    experiment: &str,
) -> Result<(), Status> {
    seats.everybody_ready(experiment).await;
    match seats.is_waiting(experiment) {
        true => resume(client, experiment).await,
        false => Ok(()),
    }
}

/// Lets every experiment that waits for people go on as soon as all of its people are ready. Says it once
/// if the coordinator does not allow that.
pub async fn begin_whatever_is_ready(seats: Arc<Seats>, mut client: Client) {
    let mut told = BTreeSet::new();
    loop {
        for experiment in seats.any_ready().await {
            if let Err(refusal) = resume(&mut client, &experiment).await
                && told.insert(experiment.clone())
            {
                let reason = reason(&refusal);
                output::tell(&format!(
                    "everybody invited to {experiment} is ready, and it cannot begin: {reason}; \
                     `agon experiments resume {experiment}` begins it"
                ));
            }
        }
        tokio::time::sleep(HEARD_WITHIN).await;
    }
}

/// Lets no more of an experiment begin until its people are back.
///
/// # Errors
/// The coordinator refuses, or does not answer.
pub async fn wait_for_people(client: &mut Client, experiment: &str) -> Result<(), Status> {
    let pause = client.pause_experiment(PauseExperimentRequest {
        experiment_id: experiment.to_owned(),
        reason: WAITING_FOR_PEOPLE.to_owned(),
    });
    in_time(pause).await.map(drop)
}

async fn resume(client: &mut Client, experiment: &str) -> Result<(), Status> {
    let mut delays = Delays::new(DelayPolicy::default());
    loop {
        let request = ResumeExperimentRequest {
            experiment_id: experiment.to_owned(),
            only_if_paused_for: WAITING_FOR_PEOPLE.to_owned(),
            ..ResumeExperimentRequest::default()
        };
        let refusal = match client.resume_experiment(request).await {
            Ok(_) => return Ok(()),
            // It goes on already, or somebody has paused it meanwhile.
            Err(refusal) if refusal.code() == Code::FailedPrecondition => return Ok(()),
            Err(refusal) => refusal,
        };
        match delays.next_delay() {
            Some(delay) if is_retryable(&refusal) => tokio::time::sleep(delay).await,
            _ => return Err(refusal),
        }
    }
}

/// Asks whether this process may follow and answer what is asked at a door.
///
/// # Errors
/// It may not, or the gateway does not answer; says what to do.
pub async fn require_doors(gateway: Transport, url: &str, door: &str) -> Result<(), Failure> {
    let mut client = AgentGatewayServiceClient::new(gateway);
    let watched = client.watch_door(WatchDoorRequest {
        door: door.to_owned(),
        session_id: String::new(),
    });
    let watched = in_time(watched).await.map(drop);
    watched.map_err(|refusal| without_right(&format!("the gateway at {url}"), &refusal))
}

/// A refusal as whoever lets people play should read it.
pub fn without_right(whom: &str, refusal: &Status) -> Failure {
    match refusal.code() {
        Code::PermissionDenied => Failure::BadInput(format!(
            "{}; where people play, show a token that may submit and play: `agon token create --team \
             TEAM --scope submit --scope play`",
            reason(refusal)
        )),
        _ => refused(whom, refusal),
    }
}

async fn in_time<T>(call: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    let answered = tokio::time::timeout(ANSWERS_WITHIN, call).await;
    answered.unwrap_or_else(|_| Err(Status::unavailable("no answer in time")))
}
