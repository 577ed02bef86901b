//! What is said about budgets: that a price is missing before anything is played, and when an
//! experiment pauses why, what it has cost, and what to do. Decides nothing: the gateway keeps
//! budgets and the coordinator pauses. Called by `agon run`.

use std::collections::BTreeSet;
use std::time::Duration;

use agon_agent_gateway::GatewayConfig;
use agon_agent_gateway::money::Day;
use agon_coordinator::experiment::ExperimentDocument;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::{ListCostsRequest, WatchExperimentResponse};
use agon_report::dollars;
use agon_worker::Transport;

use crate::failure::Failure;

/// A gateway that does not answer by then is not waited for: the rest can be said without it.
const GATEWAY_ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// Says which model needs a price because a budget stands over it; the gateway would refuse it
/// session by session.
///
/// # Errors
/// Every model without one.
pub fn require_prices(
    config: &GatewayConfig,
    document: &ExperimentDocument,
    models: &BTreeSet<String>,
) -> Result<(), Failure> {
    let whose = if document.budget_dollars.is_some() {
        format!("experiment {}", document.name)
    } else if config.team(&document.team).budget.is_some() {
        format!("team {}", document.team)
    } else {
        return Ok(());
    };
    let has_price = |model: &String| {
        let resolved = config.resolve_without_keys(model);
        // An unknown model is complained about elsewhere.
        resolved.map_or(true, |model| model.prices.on(Day::today()).is_some())
    };
    let unpriced: Vec<&str> = models
        .iter()
        .filter(|model| !has_price(model))
        .map(String::as_str)
        .collect();
    if unpriced.is_empty() {
        return Ok(());
    }
    Err(Failure::BadInput(format!(
        "{whose} has a budget, so the price of {} must be known: price = {{ \
         input_per_million_dollars = \"..\", output_per_million_dollars = \"..\" }} under \
         [models.NAME] of the configuration",
        unpriced.join(", ")
    )))
}

/// What an experiment has cost so far, in nano-dollars, if the gateway can tell.
pub async fn spent(gateway: Option<Transport>, experiment: &str) -> Option<u64> {
    let mut gateway = AgentGatewayServiceClient::new(gateway?);
    let asked = gateway.list_costs(ListCostsRequest {
        experiment_id: experiment.to_owned(),
        ..ListCostsRequest::default()
    });
    let answered = tokio::time::timeout(GATEWAY_ANSWERS_WITHIN, asked).await;
    let costs = answered.ok()?.ok()?.into_inner();
    Some(costs.rows.iter().map(|row| row.cost_nanodollars).sum())
}

/// The line that ends a run which paused.
pub fn how_to_go_on(
    state: &WatchExperimentResponse,
    done: u64,
    experiment: &str,
    spent: Option<u64>,
    in_cluster: bool,
) -> String {
    let WatchExperimentResponse {
        paused, sessions, ..
    } = state;
    let spent = spent
        .map(|spent| format!("; {experiment} has cost {} so far", dollars(spent)))
        .unwrap_or_default();
    let resume = if in_cluster {
        format!(", or `agon experiments resume {experiment} --budget DOLLARS`")
    } else {
        String::new()
    };
    format!(
        "{paused}{spent}; {done} of {sessions} sessions are done and nothing is lost: with a higher \
         budget (budget_dollars or --max-cost of the experiment, or the team's in the gateway's \
         configuration) the same command goes on{resume}"
    )
}
