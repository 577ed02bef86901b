//! What several tests need: requests, gateways over scratch stores, clients in
//! the same process, and waiting for a condition.

use std::io::Write;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use agon_agent_gateway::catalogue::ProviderKind;
use agon_agent_gateway::providers::{Provider, Providers};
use agon_agent_gateway::service::SlimService;
use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::{
    ChatMessage, DecideRequest, DecisionAddress, GetGatewayStatusRequest, GetGatewayStatusResponse,
    MessageRole,
};
use parking_lot::Mutex;
use tracing::Dispatch;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::registry;

/// A condition that is not met by then never will be.
const PATIENCE: Duration = Duration::from_secs(60);

pub type Client = AgentGatewayServiceClient<SlimService>;

/// A client that calls the server object itself, without a socket.
pub fn client(gateway: &Gateway) -> Client {
    AgentGatewayServiceClient::new(gateway.service())
}

/// Model `m` at a provider of no consequence, with little patience.
pub fn config(text: &str) -> GatewayConfig {
    let whole = format!(
        "[providers.p]\nbase_url = 'http://127.0.0.1:9/v1'\n{text}\n[models.m]\nprovider = 'p'\n"
    );
    GatewayConfig::parse("test.toml", &whole).unwrap()
}

pub async fn gateway(config: GatewayConfig, store: Store, provider: Arc<dyn Provider>) -> Gateway {
    let providers = Providers::single(ProviderKind::OpenAi, provider);
    Gateway::open_with(config, store, providers).await.unwrap()
}

/// A gateway over a scratch file that lives as long as the folder.
pub async fn embedded(
    config: GatewayConfig,
    provider: Arc<dyn Provider>,
) -> (Gateway, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::Embedded(folder.path().join("ledger.sqlite"));
    (gateway(config, store, provider).await, folder)
}

pub fn request(session_id: &str, index: u32, content: &str) -> DecideRequest {
    DecideRequest {
        address: Some(DecisionAddress {
            session_id: session_id.to_owned(),
            seat: 0,
            index,
        }),
        experiment_id: "e".to_owned(),
        model: "m".to_owned(),
        messages: vec![ChatMessage {
            role: MessageRole::User as i32,
            content: content.to_owned(),
        }],
        ..DecideRequest::default()
    }
}

pub async fn status(gateway: &Gateway) -> GetGatewayStatusResponse {
    let request = GetGatewayStatusRequest::default();
    let response = client(gateway).get_gateway_status(request).await;
    response.unwrap().into_inner()
}

/// Looks again and again until the condition holds.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < PATIENCE, "never came true: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// While there is one subscriber only, a thread that has none and reaches a line first
/// notes for all of them that nobody listens there.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(registry()));

/// Everything that is logged on this thread, at every level, while the guard
/// lives. A test's runtime has one thread unless it asks for more.
pub fn capture_log() -> (Captured, DefaultGuard) {
    let captured = Captured::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_span_events(FmtSpan::FULL)
        .with_ansi(false)
        .with_writer(captured.clone())
        .finish();
    LazyLock::force(&SECOND);
    (captured, tracing::subscriber::set_default(subscriber))
}

#[derive(Clone, Default)]
pub struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Captured {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
