//! A gateway that answers by itself and charges a fixed sum for each decision: what coordinator,
//! workers and command line make of budgets is tested against it. It has a ledger, so that it can
//! tell whether anything is asked twice; it has no keys, no limits and no doors.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon_proto::digest::CanonicalRequest;
use agon_proto::v1::agent_gateway_service_server::{
    AgentGatewayService, AgentGatewayServiceServer,
};
use agon_proto::v1::{
    AnswerAtDoorRequest, AnswerAtDoorResponse, DecideRequest, DecideResponse,
    DescribeModelsRequest, DescribeModelsResponse, ForgetLearntRequest, ForgetLearntResponse,
    ForgetSessionRequest, ForgetSessionResponse, GetGatewayStatusRequest, GetGatewayStatusResponse,
    ListCostsRequest, ListCostsResponse, ListDecisionsRequest, ListDecisionsResponse, ModelOrigin,
    ReviveKeysRequest, ReviveKeysResponse, TokenUsage, WatchDoorRequest, WatchDoorResponse,
};
use agon_service_kit::server::{self, Listener};
use agon_service_kit::tasks::Tasks;
use prost::Message as _;
use tokio_stream::Empty;
use tonic::{Request, Response, Status};

/// What every decision costs.
pub const COST_NANODOLLARS: u64 = 1_000_000;

/// On which terms a decision was asked.
#[derive(Debug, Clone)]
pub struct AskedOn {
    /// Its priority at the gateway.
    pub priority: i32,
    /// Whether the content cache may answer.
    pub cached: bool,
}

#[derive(Default)]
struct Books {
    ledger: BTreeMap<(String, u32, u32), DecideResponse>,
    spent: u64,
    refused: u64,
    terms: Vec<AskedOn>,
    /// Calls that are left without an answer; nothing is decided then.
    waiting: Option<Waiting>,
}

/// Calls that are left without an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Waiting {
    /// At present.
    pub calls: u64,
    /// Since the start: more, when some were asked again.
    pub asked: u64,
    /// Bytes of all their requests.
    pub bytes: u64,
}

/// A call that is left without an answer, until its caller goes.
struct Left(Arc<Mutex<Books>>);

impl Drop for Left {
    fn drop(&mut self) {
        if let Some(waiting) = &mut books(&self.0).waiting {
            waiting.calls -= 1;
        }
    }
}

/// A running one.
pub struct FakeGateway {
    books: Arc<Mutex<Books>>,
    url: String,
    _runtime: tokio::runtime::Runtime,
}

impl FakeGateway {
    /// Starts one.
    ///
    /// # Panics
    /// No port is free.
    pub fn start() -> Self {
        Self::with(Books::default())
    }

    /// One that answers nothing.
    ///
    /// # Panics
    /// As [`FakeGateway::start`].
    pub fn silent() -> Self {
        Self::with(Books {
            waiting: Some(Waiting::default()),
            ..Books::default()
        })
    }

    fn with(books: Books) -> Self {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let books = Arc::new(Mutex::new(books));
        let service = AgentGatewayServiceServer::new(Service(books.clone()));
        let url = runtime.block_on(async {
            let listener = Listener::bind("127.0.0.1:0").await.expect("a free port");
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

    /// Where it listens.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Decisions made, each once.
    pub fn made(&self) -> u64 {
        books(&self.books).ledger.len() as u64
    }

    /// Decisions refused because the budget did not allow them.
    pub fn refused(&self) -> u64 {
        books(&self.books).refused
    }

    /// Calls that it leaves without an answer.
    pub fn waiting(&self) -> Waiting {
        books(&self.books).waiting.unwrap_or_default()
    }

    /// On which terms each was asked.
    pub fn terms(&self) -> Vec<AskedOn> {
        books(&self.books).terms.clone()
    }
}

struct Service(Arc<Mutex<Books>>);

fn books(books: &Mutex<Books>) -> MutexGuard<'_, Books> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Books {
    /// Whether a call is left without an answer; counts it then.
    fn leave_waiting(&mut self, request: &DecideRequest) -> bool {
        let Some(waiting) = &mut self.waiting else {
            return false;
        };
        waiting.calls += 1;
        waiting.asked += 1;
        waiting.bytes += request.encoded_len() as u64;
        true
    }

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
                "the budget of {experiment} leaves too little for another call: all of $0.{cents:03}"
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
        let request = request.into_inner();
        if books(&self.0).leave_waiting(&request) {
            let _left = Left(Arc::clone(&self.0));
            drop(request);
            return std::future::pending().await;
        }
        let decided = books(&self.0).decide(&request);
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
            additions: String::new(),
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

    async fn forget_learnt(
        &self,
        _: Request<ForgetLearntRequest>,
    ) -> Result<Response<ForgetLearntResponse>, Status> {
        not_here()
    }

    async fn revive_keys(
        &self,
        _: Request<ReviveKeysRequest>,
    ) -> Result<Response<ReviveKeysResponse>, Status> {
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
