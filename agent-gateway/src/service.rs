//! The gRPC face of the gateway. Translates, and turns
//! errors into statuses by the shared table. Decides nothing. Called by workers,
//! the coordinator and the command line.

mod slim;

use std::pin::Pin;
use std::sync::Arc;

use agon_identity::holder::Holder;
use agon_proto::v1::agent_gateway_service_server::AgentGatewayService;
use agon_proto::v1::{
    AnswerAtDoorRequest, AnswerAtDoorResponse, DecideRequest, DecideResponse,
    DescribeModelsRequest, DescribeModelsResponse, ForgetLearntRequest, ForgetLearntResponse,
    ForgetSessionRequest, ForgetSessionResponse, GetGatewayStatusRequest, GetGatewayStatusResponse,
    KeyStatus, ListCostsRequest, ListCostsResponse, ListDecisionsRequest, ListDecisionsResponse,
    ReviveKeysRequest, ReviveKeysResponse, RevivedKey, WatchDoorRequest, WatchDoorResponse,
};
use agon_service_kit::clock::millis;
use agon_service_kit::status::{ErrorClass, to_status};
use agon_service_kit::tasks::with_causes;
use agon_service_kit::telemetry;
use futures_util::FutureExt as _;
use tonic::{Request, Response, Status};

use crate::decide_error::DecideError;
use crate::deciding::Decider;
use crate::doors::{answering, watching};
use crate::ledger::FORGET_GRACE;
use crate::reload::Reloads;
use crate::status::{keys, teams};
use crate::wire;

pub use slim::SlimService;

/// Sessions forgotten in one call: the coordinator names 500.
const MOST_FORGOTTEN: usize = 10_000;

/// Of these, so many at once, so that decisions come in between: a few milliseconds.
const FORGOTTEN_AT_ONCE: usize = 250;

/// Bytes of a session's id. Ours have 32, those of the HTTP door hold names.
const LONGEST_ID_BYTES: usize = 1024;

/// A decision under way.
type DecideFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Response<DecideResponse>, Status>> + Send + 'a>>;

/// Serves a gateway.
pub struct GatewayService {
    decider: Arc<Decider>,
    reloads: Arc<Reloads>,
}

impl GatewayService {
    pub(crate) fn new(decider: Arc<Decider>, reloads: Arc<Reloads>) -> Self {
        Self { decider, reloads }
    }

    /// Begins a decision or joins one; what is left to do is to wait.
    fn begin(
        &self,
        wire: Request<DecideRequest>,
    ) -> Result<impl Future<Output = Result<Response<DecideResponse>, Status>> + Send + use<>, Status>
    {
        let (metadata, _, wire) = wire.into_parts();
        let (address, caller, request) =
            wire::read_request(wire).map_err(|error| status(ErrorClass::Invalid, &error))?;
        let span = tracing::debug_span!(
            "decision",
            experiment_id = caller.experiment_id,
            session_id = address.session_id,
            seat = address.seat,
            decision = address.index,
            team = caller.team,
            purpose = caller.purpose,
        );
        telemetry::set_parent_from_metadata(&span, &metadata);
        let decision = self.decider.decide(address, caller, request, span, false);
        Ok(decision.map(|outcome| match outcome {
            Ok(answer) => Ok(Response::new(wire::write_decision(
                &answer.decision,
                answer.from_ledger,
            ))),
            Err(error) => Err(status(error.class(), error.as_ref())),
        }))
    }
}

#[tonic::async_trait]
impl AgentGatewayService for GatewayService {
    /// Written out, because an `async fn` keeps its arguments until its end, and
    /// thousands wait here.
    fn decide<'a, 'b>(&'a self, wire: Request<DecideRequest>) -> DecideFuture<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        match self.begin(wire) {
            Ok(decision) => Box::pin(decision),
            Err(refusal) => Box::pin(std::future::ready(Err(refusal))),
        }
    }

    async fn describe_models(
        &self,
        wire: Request<DescribeModelsRequest>,
    ) -> Result<Response<DescribeModelsResponse>, Status> {
        let routes = &self.decider.routes;
        let models = wire.into_inner().models.into_iter();
        let origins = models.map(|model| {
            let origin = routes.origin(&model).map_err(refused)?;
            Ok(wire::write_origin(model, origin))
        });
        let origins = origins.collect::<Result<_, Status>>()?;
        Ok(Response::new(DescribeModelsResponse { origins }))
    }

    async fn list_decisions(
        &self,
        wire: Request<ListDecisionsRequest>,
    ) -> Result<Response<ListDecisionsResponse>, Status> {
        let session_id = wire.into_inner().session_id;
        let listed = self
            .decider
            .ledger
            .list(&session_id)
            .await
            .map_err(refused)?;
        let decisions = listed
            .into_iter()
            .map(|(address, decision)| wire::write_recorded(address, &decision))
            .collect();
        Ok(Response::new(ListDecisionsResponse { decisions }))
    }

    async fn forget_session(
        &self,
        wire: Request<ForgetSessionRequest>,
    ) -> Result<Response<ForgetSessionResponse>, Status> {
        let session_ids = wire.into_inner().session_ids;
        if session_ids.len() > MOST_FORGOTTEN {
            let message = format!("at most {MOST_FORGOTTEN} sessions are forgotten in one call");
            return Err(to_status(ErrorClass::Invalid, message));
        }
        if session_ids.iter().any(|id| id.len() > LONGEST_ID_BYTES) {
            let message = format!("no session's id has more than {LONGEST_ID_BYTES} bytes");
            return Err(to_status(ErrorClass::Invalid, message));
        }
        let ledger = &self.decider.ledger;
        for some in session_ids.chunks(FORGOTTEN_AT_ONCE) {
            ledger.forget(some, FORGET_GRACE).await.map_err(refused)?;
        }
        Ok(Response::new(ForgetSessionResponse {}))
    }

    async fn get_gateway_status(
        &self,
        wire: Request<GetGatewayStatusRequest>,
    ) -> Result<Response<GetGatewayStatusResponse>, Status> {
        let decider = &self.decider;
        let holder = Holder::of(wire.extensions());
        let experiment = wire.into_inner().experiment_id;
        let numbers = match (holder.team(), experiment.is_empty()) {
            (Some(team), true) => decider.tallies.of_team(team),
            _ => decider
                .tallies
                .numbers(&kept_experiment(&holder, &experiment)),
        };
        let keys = keys::of(decider).await;
        let keys = keys.map_err(|error| status(ErrorClass::Unavailable, &error))?;
        let response = GetGatewayStatusResponse {
            decided: numbers.decided,
            answered_from_ledger: numbers.from_ledger,
            waiting_for_quota: numbers.waiting,
            in_flight: numbers.in_flight,
            usage: Some(wire::write_usage(numbers.usage)),
            keys,
            provider_requests: numbers.requests,
            teams: teams::with_money(decider).await,
            configuration_fault: self.reloads.fault(),
            cost_nanodollars: numbers.cost.0,
            patience_ms: millis(decider.routes.config().patience()),
            learnt: decider
                .routes
                .learnt()
                .into_iter()
                .map(wire::write_learnt)
                .collect(),
        };
        Ok(Response::new(match holder.team() {
            Some(team) => for_team(response, team),
            None => response,
        }))
    }

    async fn revive_keys(
        &self,
        wire: Request<ReviveKeysRequest>,
    ) -> Result<Response<ReviveKeysResponse>, Status> {
        let ReviveKeysRequest { provider, source } = wire.into_inner();
        let revived = self.decider.routes.revive_keys(&provider, &source);
        let revived = revived.into_iter();
        let revived = revived.map(|(provider, source)| RevivedKey { provider, source });
        Ok(Response::new(ReviveKeysResponse {
            revived: revived.collect(),
        }))
    }

    async fn forget_learnt(
        &self,
        wire: Request<ForgetLearntRequest>,
    ) -> Result<Response<ForgetLearntResponse>, Status> {
        let model = wire.into_inner().model;
        let forgotten = match &self.decider.learnt_store {
            None => self.decider.routes.forget_learnt(&model),
            Some(store) => {
                let forgotten = store.forget(&model).await;
                forgotten.map_err(|error| status(ErrorClass::Unavailable, &error))?
            }
        };
        let forgotten = forgotten.into_iter().map(wire::write_learnt).collect();
        Ok(Response::new(ForgetLearntResponse { forgotten }))
    }

    async fn list_costs(
        &self,
        wire: Request<ListCostsRequest>,
    ) -> Result<Response<ListCostsResponse>, Status> {
        let holder = Holder::of(wire.extensions());
        let mut filter = wire::read_cost_filter(wire.into_inner())
            .map_err(|error| status(ErrorClass::Invalid, &error))?;
        if let Some(team) = holder.team() {
            let own = |named: String| kept_experiment(&holder, &named);
            filter.experiment = filter.experiment.map(own);
            filter.team = Some(team.to_owned());
        }
        let decider = &self.decider;
        let listed = decider
            .budgets
            .list(&filter, decider.routes.config().team_budgets())
            .await;
        let costs = listed.map_err(|error| status(ErrorClass::Unavailable, &error))?;
        let mut costs = wire::write_costs(costs);
        if holder.team().is_some() {
            own_costs(&mut costs, &holder);
        }
        Ok(Response::new(costs))
    }

    type WatchDoorStream = tonic::codegen::BoxStream<WatchDoorResponse>;

    async fn watch_door(
        &self,
        wire: Request<WatchDoorRequest>,
    ) -> Result<Response<Self::WatchDoorStream>, Status> {
        let team = Holder::of(wire.extensions()).team().map(str::to_owned);
        let wire = wire.into_inner();
        let stream = watching::watch(&self.decider, wire.door, wire.session_id, team);
        Ok(Response::new(stream))
    }

    async fn answer_at_door(
        &self,
        wire: Request<AnswerAtDoorRequest>,
    ) -> Result<Response<AnswerAtDoorResponse>, Status> {
        let holder = Holder::of(wire.extensions());
        let handed = wire::read_answer(wire.into_inner(), holder.team())
            .map_err(|error| status(ErrorClass::Invalid, &error))?;
        let answered = answering::answer(&self.decider, &handed).await;
        answered.map_err(|error| status(error.class(), &error))?;
        Ok(Response::new(AnswerAtDoorResponse {}))
    }
}

/// The name under which what a holder calls so is counted here: as the coordinator keeps it, or, asked
/// over HTTP, in the team's own space.
fn kept_experiment(holder: &Holder, named: &str) -> String {
    let over_http = holder.team().map(|team| format!("http/{team}/"));
    match over_http.is_some_and(|space| named.starts_with(&space)) {
        true => named.to_owned(),
        false => holder.kept_name(named),
    }
}

/// What a team may see of the status: its own numbers, and of keys whether they can be used.
fn for_team(status: GetGatewayStatusResponse, team: &str) -> GetGatewayStatusResponse {
    let keys = status.keys.into_iter().map(|key| KeyStatus {
        provider: key.provider,
        model: key.model,
        held_for_ms: key.held_for_ms,
        quarantine_reason: key.quarantine_reason,
        next_probe_ms: key.next_probe_ms,
        circuit: key.circuit,
        ..KeyStatus::default()
    });
    let teams = status.teams.into_iter();
    GetGatewayStatusResponse {
        keys: keys.collect(),
        teams: teams.filter(|one| one.team == team).collect(),
        configuration_fault: String::new(),
        learnt: Vec::new(),
        decided: status.decided,
        answered_from_ledger: status.answered_from_ledger,
        waiting_for_quota: status.waiting_for_quota,
        in_flight: status.in_flight,
        usage: status.usage,
        provider_requests: status.provider_requests,
        cost_nanodollars: status.cost_nanodollars,
        patience_ms: status.patience_ms,
    }
}

/// Leaves the holder's own rows and budgets, under the names by which the holder knows them.
fn own_costs(costs: &mut ListCostsResponse, holder: &Holder) {
    let own = |name: &str| holder.own_name(name).map(str::to_owned);
    for row in &mut costs.rows {
        if let Some(name) = own(&row.experiment_id) {
            row.experiment_id = name;
        }
    }
    costs
        .budgets
        .retain_mut(|budget| match own(&budget.experiment_id) {
            Some(name) => {
                budget.experiment_id = name;
                true
            }
            None => Some(&*budget.team) == holder.team(),
        });
}

fn status(class: ErrorClass, error: &(dyn std::error::Error + 'static)) -> Status {
    to_status(class, with_causes(error))
}

fn refused(error: impl Into<DecideError>) -> Status {
    let error = error.into();
    status(error.class(), &error)
}
