//! The waiting room of a cluster: an experiment that was submitted paused goes on once the people who were
//! invited to it are ready. Also asks beforehand whether people can be asked at the gateway's doors at
//! all. Called by `agon run --web` and `agon view`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_identity::gate::Refusal;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{
    GetExperimentRequest, PauseExperimentRequest, ResumeExperimentRequest, WatchDoorRequest,
    WatchExperimentRequest, WatchExperimentResponse,
};
use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::status::is_retryable;
use agon_web::seats::{Doors as _, Seats};
use agon_web::sweeps::WAITING_FOR_PEOPLE;
use agon_worker::Transport;
use bytes::Bytes;
use tonic::{Code, Status};

use super::doors::GatewayDoors;
use super::games_in;
use crate::failure::Failure;
use crate::output;
use crate::results::{reason, refused};

type Client = ExperimentServiceClient<Transport>;

/// A coordinator that was asked to go on is heard of by pages within this time.
const HEARD_WITHIN: Duration = Duration::from_secs(2);

/// The document of an experiment that waits is asked for again after this time.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// The call that follows a door, as doors name it.
const WATCH_DOOR: &str = "AgentGatewayService/WatchDoor";

/// Services answer by then, or not at all.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// Lets the experiment go on once everybody who was invited is ready, or people were waited for long
/// enough. Whoever resumes it meanwhile, or pauses it for another reason, is not interfered with.
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

/// Lets every experiment that waits for people go on as soon as all of its people are ready.
pub struct Lobby {
    seats: Arc<Seats>,
    doors: Arc<GatewayDoors>,
    client: Client,
    /// Documents of what waits now.
    documents: BTreeMap<String, Document>,
    /// Experiments of which the coordinator has said that this process may not begin them.
    forbidden: BTreeSet<String>,
    told: BTreeSet<String>,
}

/// The document of an experiment, and when it was asked for last.
struct Document {
    bytes: Bytes,
    asked: Instant,
}

impl Lobby {
    /// Of people who have these seats, and are asked at these doors.
    pub fn new(seats: Arc<Seats>, doors: Arc<GatewayDoors>, client: Client) -> Self {
        Self {
            seats,
            doors,
            client,
            documents: BTreeMap::new(),
            forbidden: BTreeSet::new(),
            told: BTreeSet::new(),
        }
    }

    /// Does so for good. Says once what does not begin, and why.
    pub async fn begin_whatever_is_ready(mut self) {
        loop {
            let waiting = self.seats.waiting();
            self.documents.retain(|name, _| waiting.contains(name));
            for experiment in waiting {
                if self.forbidden.contains(&experiment) {
                    continue;
                }
                if let Err(refusal) = self.begin_if_ready(&experiment).await {
                    self.cannot_begin(&experiment, &refusal);
                }
            }
            tokio::time::sleep(HEARD_WITHIN).await;
        }
    }

    async fn begin_if_ready(&mut self, experiment: &str) -> Result<(), Status> {
        self.read_document(experiment, LOOK_AGAIN).await?;
        if !self.is_complete(experiment) {
            return Ok(());
        }
        // It may have been submitted again, with other people.
        self.read_document(experiment, Duration::ZERO).await?;
        match self.is_complete(experiment) {
            true => resume(&mut self.client, experiment).await,
            false => Ok(()),
        }
    }

    /// Whether everybody whom the experiment asks is invited and ready. Says once whom nobody has
    /// invited from here.
    fn is_complete(&mut self, experiment: &str) -> bool {
        if !self.seats.are_ready(experiment) {
            return false;
        }
        let Some(doors) = self.doors.doors(experiment) else {
            return false;
        };
        let missing = &doors - &self.seats.invited(experiment);
        if !missing.is_empty() {
            self.tell_once(not_invited(experiment, &missing));
        }
        missing.is_empty()
    }

    /// Asks for the document unless it is known and not so old, and takes in whom it asks.
    async fn read_document(&mut self, experiment: &str, not_older: Duration) -> Result<(), Status> {
        let known = self.documents.get(experiment);
        if known.is_some_and(|known| known.asked.elapsed() < not_older) {
            return Ok(());
        }
        let asked = Instant::now();
        let request = GetExperimentRequest {
            experiment_id: experiment.to_owned(),
        };
        let found = in_time(self.client.get_experiment(request)).await?;
        let bytes = found.into_inner().document;
        if known.is_none_or(|known| known.bytes != bytes) {
            let games = games_in(&bytes);
            let games = games.ok_or_else(|| Status::data_loss("its document cannot be read"))?;
            self.doors.learn(experiment, games);
        }
        let document = Document { bytes, asked };
        self.documents.insert(experiment.to_owned(), document);
        Ok(())
    }

    fn cannot_begin(&mut self, experiment: &str, refusal: &Status) {
        if is_retryable(refusal) || refusal.code() == Code::NotFound {
            return;
        }
        // Each try would be a line of the audit log.
        if refusal.code() == Code::PermissionDenied {
            self.forbidden.insert(experiment.to_owned());
        }
        self.tell_once(format!(
            "everybody invited to {experiment} is ready, but it cannot begin: {}; `agon experiments \
             resume {experiment}` begins it",
            reason(refusal)
        ));
    }

    fn tell_once(&mut self, line: String) {
        if !self.told.contains(&line) {
            output::tell(&line);
            self.told.insert(line);
        }
    }
}

/// Who of an experiment's people has no invitation.
fn not_invited(experiment: &str, doors: &BTreeSet<String>) -> String {
    let names: Vec<&str> = doors.iter().map(String::as_str).collect();
    let invite = format!("`agon invite {experiment} {}`", names.join(" "));
    match names.split_last() {
        Some((last, [])) => format!(
            "{experiment} has not begun: {last} is not invited from here; {invite} makes the link"
        ),
        Some((last, others)) => format!(
            "{experiment} has not begun: {} and {last} are not invited from here; {invite} makes \
             the links",
            others.join(", ")
        ),
        None => format!("{experiment} has not begun"),
    }
}

/// How an experiment stands now.
///
/// # Errors
/// The coordinator refuses, or does not answer.
pub async fn standing(
    client: &mut Client,
    experiment: &str,
) -> Result<WatchExperimentResponse, Status> {
    let request = WatchExperimentRequest {
        experiment_id: experiment.to_owned(),
    };
    let asked = async {
        let mut states = client.watch_experiment(request).await?.into_inner();
        let first = states.message().await?;
        first.ok_or_else(|| Status::unavailable("the coordinator stopped"))
    };
    in_time(asked).await
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

/// Ends the pause for people, and no other.
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
    watched.map_err(|refusal| match is_unknown_call(&refusal, WATCH_DOOR) {
        true => Failure::BadInput(format!(
            "there is no gateway at {url}: --gateway is the address of the cluster's `agon gateway`"
        )),
        false => without_right(&format!("the gateway at {url}"), &refusal),
    })
}

/// Whether a service has no such call: a door with tokens forbids what it does not know.
fn is_unknown_call(refusal: &Status, call: &str) -> bool {
    let unknown = Refusal::NoRule {
        call: call.to_owned(),
    };
    match refusal.code() {
        Code::Unimplemented => true,
        Code::PermissionDenied => refusal.message() == unknown.to_string(),
        _ => false,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_not_invited_is_named_with_the_command_that_invites() {
        let doors = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        for (names, told) in [
            (
                &["bob"][..],
                "duo has not begun: bob is not invited from here; `agon invite duo bob` makes the link",
            ),
            (
                &["bob", "carl", "ann"],
                "duo has not begun: ann, bob and carl are not invited from here; `agon invite duo \
                 ann bob carl` makes the links",
            ),
        ] {
            assert_eq!(not_invited("duo", &doors(names)), told);
        }
    }

    #[test]
    fn a_service_that_does_not_know_the_call_is_told_from_one_that_does_not_allow_it() {
        let forbidden = |text: &str| Status::permission_denied(text);
        let unknown = "there is no call AgentGatewayService/WatchDoor here";
        let scope =
            "this token does not allow AgentGatewayService/WatchDoor: that takes the scope play";
        assert!(is_unknown_call(&forbidden(unknown), WATCH_DOOR));
        assert!(is_unknown_call(&Status::unimplemented(""), WATCH_DOOR));
        assert!(!is_unknown_call(&forbidden(scope), WATCH_DOOR));
    }
}
