//! Follows an experiment that was handed in: asks the coordinator and the gateway how it stands,
//! shows progress, and says what goes wrong. Decides nothing. Called by `run.rs`.

use std::time::{Duration, Instant};

use agon_coordinator::experiment::{Estimates, Writes, plan};
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{
    GetGatewayStatusRequest, GetGatewayStatusResponse, SubmitExperimentResponse,
    WatchExperimentRequest, WatchExperimentResponse,
};
use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::status;
use agon_worker::Transport;
use tonic::Status;

use crate::announcements::{Announcements, CtrlC};
use crate::estimates::agent_plan;
use crate::experiment_arguments::CheckedExperiment;
use crate::progress::{self, Progress};

/// How often the gateway is asked what it is doing.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A gateway that is busy must not hold up the rest.
const GATEWAY_ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// How long a coordinator may be away before watching it is given up.
const COORDINATOR_MAY_BE_AWAY: Duration = Duration::from_secs(600);

/// Follows an experiment that was handed in.
pub struct Watch {
    client: ExperimentServiceClient<Transport>,
    experiment_id: String,
    progress: Progress,
    announcements: Announcements,
    newest: WatchExperimentResponse,
    gateway: Option<AgentGatewayServiceClient<Transport>>,
    seen: Option<GetGatewayStatusResponse>,
}

impl Watch {
    /// Watches an experiment of so many sessions; of a gateway, shows what it does.
    pub fn new(
        client: ExperimentServiceClient<Transport>,
        submitted: SubmitExperimentResponse,
        progress: Progress,
        gateway: Option<Transport>,
        ctrl_c: CtrlC,
    ) -> Self {
        Self {
            client,
            experiment_id: submitted.experiment_id,
            progress,
            announcements: Announcements::new(ctrl_c),
            newest: WatchExperimentResponse {
                sessions: submitted.sessions,
                ..Default::default()
            },
            gateway: gateway.map(AgentGatewayServiceClient::new),
            seen: None,
        }
    }

    /// Clears the progress and hands over what the coordinator said last.
    pub fn end(self) -> WatchExperimentResponse {
        self.progress.finish();
        self.newest
    }

    /// Returns when nothing is left to run or the experiment pauses. A coordinator, or its store, that goes
    /// away is waited for: the experiment is in its hands and goes on with it.
    pub async fn follow(&mut self) -> Result<(), Status> {
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
                    if let Some(line) = self.announcements.coordinator_away(Instant::now()) {
                        self.progress.say(&line);
                    }
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
                    None if is_over(&self.newest) => return Ok(()),
                    None => return Err(Status::unavailable("the coordinator stopped")),
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
            self.seen = look(gateway, &self.experiment_id).await;
        }
    }
}

/// Whether nothing is left to play: the stream ends then, and also when a coordinator stops.
pub fn is_over(state: &WatchExperimentResponse) -> bool {
    state.cancelled || state.queued + state.running + state.waiting == 0
}

/// Whether a budget is spent and everything that ran has come back. Until then sessions may
/// still finish with what they have. A pause by hand is waited for.
pub fn is_paused(state: &WatchExperimentResponse) -> bool {
    !state.paused.is_empty() && !state.paused_by_hand && state.running == 0
}

/// How many answers of models a gateway has kept for an experiment, if it says so.
pub async fn answers(gateway: Transport, experiment: &str) -> Option<u64> {
    let mut gateway = AgentGatewayServiceClient::new(gateway);
    let seen = look(&mut gateway, experiment).await;
    seen.as_ref().map(progress::made)
}

async fn look(
    gateway: &mut AgentGatewayServiceClient<Transport>,
    experiment: &str,
) -> Option<GetGatewayStatusResponse> {
    let asked = gateway.get_gateway_status(GetGatewayStatusRequest {
        experiment_id: experiment.to_owned(),
    });
    let asked = tokio::time::timeout(GATEWAY_ANSWERS_WITHIN, asked).await;
    Some(asked.ok()?.ok()?.into_inner())
}

/// Decisions that are still to be made, as far as the plan can tell.
pub fn expected_decisions(checked: &CheckedExperiment, sessions: u64, already_done: u64) -> u64 {
    let estimates = Estimates {
        writes: &|_, _, _| Writes::default(),
        agent: &agent_plan,
    };
    let plan = plan(&checked.document, estimates).unwrap_or_default();
    let all: u64 = plan
        .models
        .values()
        .map(|model| model.decisions.expected)
        .sum();
    let open = sessions.saturating_sub(already_done);
    (u128::from(all) * u128::from(open) / u128::from(sessions.max(1))) as u64
}
