//! What one decision costs the gateway: calls per second and processor time per
//! call, with a scripted provider over both stores and, over real HTTP, with the
//! simulated server in the same process (its own cost included). Run with
//! `cargo bench -p agon-agent-gateway --bench decide`.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_agent_gateway::catalogue::ProviderKind;
use agon_agent_gateway::providers::{Providers, Scripted};
use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::{ChatMessage, DecideRequest, DecisionAddress, MessageRole};
use agon_sim_llm::{SimLlm, SimOptions};
use agon_tests::measured::{Process, processor_time};

/// As many as 100 sessions of a 10-player, 20-round game make.
const CALLS: u32 = 20_000;
const CALLERS: u32 = 1_000;

#[tokio::main(worker_threads = 2)]
async fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let calls = if std::env::args().any(|argument| argument == "--bench") {
        CALLS
    } else {
        CALLERS
    };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = |name: &str| Store::Embedded(folder.path().join(name));

    let open = async |limits: &str, store: Store| {
        let provider = Arc::new(Scripted::echo());
        let providers = Providers::single(ProviderKind::OpenAi, provider);
        let config = config("http://127.0.0.1:9/v1", limits);
        Gateway::open_with(config, store, providers)
            .await
            .expect("a gateway")
    };
    measure("scripted, embedded", calls, &open("", file("a")).await).await;
    let limits = "limits = { requests_per_minute = 100_000_000, tokens_per_minute = 1_000_000_000_000, concurrency = 900 }";
    measure(
        "scripted, embedded, limits",
        calls,
        &open(limits, file("b")).await,
    )
    .await;

    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.local_addr().expect("its address").port()
    };
    let redis = Command::new("redis-server")
        .args([
            "--port",
            &port.to_string(),
            "--save",
            "",
            "--appendonly",
            "no",
        ])
        .stdout(Stdio::null())
        .spawn();
    if let Ok(mut redis) = redis {
        let store = || Store::Redis(format!("redis://127.0.0.1:{port}"));
        measure("scripted, redis", calls, &open("", store()).await).await;
        measure(
            "scripted, redis, limits",
            calls,
            &open(limits, store()).await,
        )
        .await;
        let _ = redis.kill();
        let _ = redis.wait();
    }

    let options = SimOptions {
        latency: Duration::from_millis(50),
        ..SimOptions::default()
    };
    let server = SimLlm::start(options, "127.0.0.1:0")
        .await
        .expect("a simulated server");
    let config = config(&server.base_url(), "");
    let gateway = Gateway::open(config, file("c")).await.expect("a gateway");
    measure("http to a 50 ms server in this process", calls, &gateway).await;
}

fn config(base_url: &str, limits: &str) -> GatewayConfig {
    let text =
        format!("[providers.p]\nbase_url = '{base_url}'\n{limits}\n[models.m]\nprovider = 'p'\n");
    GatewayConfig::parse("bench", &text).expect("a right configuration")
}

async fn measure(name: &'static str, calls: u32, gateway: &Gateway) {
    let client = AgentGatewayServiceClient::new(gateway.service());
    let (began, processor) = (Instant::now(), spent());
    let callers = (0..CALLERS).map(|caller| {
        let mut client = client.clone();
        tokio::spawn(async move {
            let mut slowest = Duration::ZERO;
            for index in 0..calls / CALLERS {
                let began = Instant::now();
                client
                    .decide(request(name, caller, index))
                    .await
                    .expect("an answer");
                slowest = slowest.max(began.elapsed());
            }
            slowest
        })
    });
    let slowest = futures_util::future::join_all(callers).await;
    let slowest = slowest
        .into_iter()
        .filter_map(Result::ok)
        .max()
        .unwrap_or_default();
    let (took, used) = (began.elapsed(), spent().saturating_sub(processor));
    let per_call = used.as_secs_f64() * 1e6 / f64::from(calls);
    println!(
        "{name:<42} {:>8.0} calls/s {per_call:>7.1} us processor per call, slowest {slowest:.1?}",
        f64::from(calls) / took.as_secs_f64(),
    );
}

/// A conversation of the size that a ten-player game has half-way.
fn request(name: &str, caller: u32, index: u32) -> DecideRequest {
    let message = |role: MessageRole, text: &str| ChatMessage {
        role: role as i32,
        content: text.to_owned(),
    };
    let mut messages = vec![message(
        MessageRole::System,
        &"The rules of the game. ".repeat(40),
    )];
    for _ in 0..10 {
        messages.push(message(
            MessageRole::User,
            "The average was 31.4, two thirds are 20.9.",
        ));
        messages.push(message(MessageRole::Assistant, "{\"chosen_number\": 21}"));
    }
    DecideRequest {
        address: Some(DecisionAddress {
            session_id: format!("{name}-{}", caller / 10),
            seat: caller % 10,
            index,
        }),
        experiment_id: "bench".to_owned(),
        model: "m".to_owned(),
        messages,
        ..DecideRequest::default()
    }
}

/// Processor time of this process.
fn spent() -> Duration {
    processor_time(Process::This).unwrap_or_default()
}
