//! A gateway that answers by itself and charges a fixed sum for each decision: what coordinator,
//! workers and command line make of budgets is tested against it. It has a ledger, so that it can
//! tell whether anything is asked twice; it has no keys, no limits and no doors.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use agon_proto::digest::CanonicalRequest;
use agon_proto::v1::agent_gateway_service_server::{
    AgentGatewayService, AgentGatewayServiceServer,
};
use agon_proto::v1::{
    AnswerAtDoorRequest, AnswerAtDoorResponse, DecideRequest, DecideResponse,
    DescribeModelsRequest, DescribeModelsResponse, ForgetSessionRequest, ForgetSessionResponse,
    GetGatewayStatusRequest, GetGatewayStatusResponse, ListCostsRequest, ListCostsResponse,
    ListDecisionsRequest, ListDecisionsResponse, ModelOrigin, TokenUsage, WatchDoorRequest,
    WatchDoorResponse,
};
use agon_service_kit::server::{self, Listener};
use agon_service_kit::tasks::Tasks;
use tokio_stream::Empty;
use tonic::{Request, Response, Status};

/// What every decision costs.
pub const COST_NANODOLLARS: u64 = 1_000_000;

/// On which terms a decision was asked.
#[derive(Debug, Clone)]
pub struct AskedOn {
    pub priority: i32,
    pub cached: bool,
}

#[derive(Default)]
struct Books {
    ledger: BTreeMap<(String, u32, u32), DecideResponse>,
    spent: u64,
    refused: u64,
    terms: Vec<AskedOn>,
}

/// A running one.
pub struct FakeGateway {
    books: Arc<Mutex<Books>>,
    url: String,
    _runtime: tokio::runtime::Runtime,
}

impl FakeGateway {
    pub fn start() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let books = Arc::new(Mutex::new(Books::default()));
        let service = AgentGatewayServiceServer::new(Service(books.clone()));
        let url = runtime.block_on(async {
            let listener = Listener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}", listener.local_addr());
            let routes = tonic::service::Routes::new(service);
            server::serve(&Tasks::new(), "fake gateway", listener, routes);
            url
        });
        Self {
            books,
            url,
            _runtime: runtime,
        }
    }

    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Decisions made, each once.
    pub fn made(&self) -> u64 {
        self.books.lock().unwrap().ledger.len() as u64
    }

    /// Decisions refused because the budget did not allow them.
    pub fn refused(&self) -> u64 {
        self.books.lock().unwrap().refused
    }

    /// On which terms each was asked.
    pub fn terms(&self) -> Vec<AskedOn> {
        self.books.lock().unwrap().terms.clone()
    }
}

struct Service(Arc<Mutex<Books>>);

impl Books {
    fn decide(&mut self, request: &DecideRequest) -> Result<DecideResponse, Status> {
        let address = request.address.clone().unwrap_or_default();
        let digest = CanonicalRequest::from(request).digest();
        self.terms.push(AskedOn {
            priority: request.priority,
            cached: request.content_cache.is_some(),
        });
        let at = (address.session_id, address.seat, address.index);
        if let Some(recorded) = self.ledger.get(&at) {
            assert_eq!(recorded.request_digest, digest, "one address, one question");
            return Ok(DecideResponse {
                from_ledger: true,
                ..recorded.clone()
            });
        }
        let budget = request.experiment_budget_nanodollars.unwrap_or(u64::MAX);
        if self.spent + COST_NANODOLLARS > budget {
            self.refused += 1;
            let (experiment, cents) = (&request.experiment_id, budget / 1_000_000);
            return Err(Status::resource_exhausted(format!(
                "the budget of {experiment} is spent: all of $0.{cents:03}"
            )));
        }
        self.spent += COST_NANODOLLARS;
        let fallback = request.fallback_models.first();
        let model = fallback
            .filter(|_| address.seat == 1)
            .unwrap_or(&request.model);
        let made = DecideResponse {
            reply: r#"{"bid": 5}"#.to_owned(),
            request_digest: digest,
            answered_by: "fake".to_owned(),
            finish_reason: "stop".to_owned(),
            usage: Some(TokenUsage::default()),
            model: model.clone(),
            cost_nanodollars: Some(COST_NANODOLLARS),
            ..DecideResponse::default()
        };
        self.ledger.insert(at, made.clone());
        Ok(made)
    }
}

fn not_here<T>() -> Result<T, Status> {
    Err(Status::unimplemented("not in a fake"))
}

#[tonic::async_trait]
impl AgentGatewayService for Service {
    type WatchDoorStream = Empty<Result<WatchDoorResponse, Status>>;

    async fn decide(
        &self,
        request: Request<DecideRequest>,
    ) -> Result<Response<DecideResponse>, Status> {
        let decided = self.0.lock().unwrap().decide(request.get_ref());
        decided.map(Response::new)
    }

    async fn describe_models(
        &self,
        request: Request<DescribeModelsRequest>,
    ) -> Result<Response<DescribeModelsResponse>, Status> {
        let models = request.into_inner().models.into_iter();
        let origins = models.map(|model| ModelOrigin {
            provider_kind: "openai".to_owned(),
            endpoint: "fake".to_owned(),
            provider_model: model.clone(),
            model,
        });
        Ok(Response::new(DescribeModelsResponse {
            origins: origins.collect(),
        }))
    }

    async fn list_decisions(
        &self,
        _: Request<ListDecisionsRequest>,
    ) -> Result<Response<ListDecisionsResponse>, Status> {
        not_here()
    }

    async fn forget_session(
        &self,
        _: Request<ForgetSessionRequest>,
    ) -> Result<Response<ForgetSessionResponse>, Status> {
        not_here()
    }

    async fn list_costs(
        &self,
        _: Request<ListCostsRequest>,
    ) -> Result<Response<ListCostsResponse>, Status> {
        not_here()
    }

    async fn watch_door(
        &self,
        _: Request<WatchDoorRequest>,
    ) -> Result<Response<Self::WatchDoorStream>, Status> {
        not_here()
    }

    async fn answer_at_door(
        &self,
        _: Request<AnswerAtDoorRequest>,
    ) -> Result<Response<AnswerAtDoorResponse>, Status> {
        not_here()
    }

    async fn get_gateway_status(
        &self,
        _: Request<GetGatewayStatusRequest>,
    ) -> Result<Response<GetGatewayStatusResponse>, Status> {
        not_here()
    }
}
