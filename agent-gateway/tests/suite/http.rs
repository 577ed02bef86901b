//! Over real HTTP: the simulated model server, and a small server of our own
//! that misbehaves on request.

use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::{DecideRequest, ReplyFormat};
use agon_sim_llm::{SimLlm, SimOptions};
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::post;
use parking_lot::Mutex;
use serde_json::Value;
use tonic::Code;

use crate::support::{capture_log, client, request, status};

/// One scripted answer: status, headers, body; or silence.
pub enum Act {
    Answer(u16, &'static [(&'static str, &'static str)], &'static str),
    Silence,
}

pub const FINE: Act = Act::Answer(
    200,
    &[],
    r#"{"model":"x","choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],
        "usage":{"prompt_tokens":3,"completion_tokens":1}}"#,
);

/// A server that plays its acts in order, then answers fine; it notes when it
/// was called, with which key and with which body.
#[derive(Clone, Default)]
pub struct Stage {
    acts: Arc<Mutex<VecDeque<Act>>>,
    seen: Arc<Mutex<Vec<(Instant, String)>>>,
    bodies: Arc<Mutex<Vec<Value>>>,
    /// Refuses requests with a schema, however many come.
    takes_no_schema: bool,
}

impl Stage {
    pub async fn open(acts: impl IntoIterator<Item = Act>) -> (Self, SocketAddr) {
        let stage = Self::default();
        stage.acts.lock().extend(acts);
        stage.serve().await
    }

    /// A server that takes no schema.
    async fn without_schema() -> (Self, SocketAddr) {
        let stage = Self {
            takes_no_schema: true,
            ..Self::default()
        };
        stage.serve().await
    }

    async fn serve(self) -> (Self, SocketAddr) {
        let stage = self;
        let router = axum::Router::new().route("/v1/chat/completions", {
            let stage = stage.clone();
            post(async move |headers: HeaderMap, body: Bytes| {
                let body: Value = serde_json::from_slice(&body).unwrap();
                let has_schema = body["response_format"]["type"] == "json_schema";
                stage.bodies.lock().push(body);
                let refused = stage.takes_no_schema && has_schema;
                stage.play(&headers, refused.then_some(NO_SCHEMA)).await
            })
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (stage, address)
    }

    pub fn keys(&self) -> Vec<String> {
        self.seen
            .lock()
            .iter()
            .map(|(_, key)| key.clone())
            .collect()
    }

    pub fn bodies(&self) -> Vec<Value> {
        self.bodies.lock().clone()
    }

    async fn play(&self, headers: &HeaderMap, act: Option<Act>) -> axum::response::Response {
        let key = headers
            .get("authorization")
            .map(|value| value.to_str().unwrap().to_owned());
        self.seen
            .lock()
            .push((Instant::now(), key.unwrap_or_default()));
        let act = act.or_else(|| self.acts.lock().pop_front());
        match act.unwrap_or(FINE) {
            Act::Silence => std::future::pending().await,
            Act::Answer(status, pairs, body) => {
                let headers: HeaderMap = pairs
                    .iter()
                    .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
                    .collect();
                (StatusCode::from_u16(status).unwrap(), headers, body).into_response()
            }
        }
    }
}

pub async fn open_gateway(base_url: &str, more: &str) -> (Gateway, tempfile::TempDir) {
    let text =
        format!("[providers.p]\nbase_url = '{base_url}'\n{more}\n[models.m]\nprovider = 'p'\n");
    let config = GatewayConfig::parse("test.toml", &text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::Embedded(folder.path().join("ledger.sqlite"));
    (Gateway::open(config, store).await.unwrap(), folder)
}

#[tokio::test]
async fn simulated_answers_are_marked() {
    let server = SimLlm::start(SimOptions::default(), "127.0.0.1:0")
        .await
        .unwrap();
    let (gateway, _folder) = open_gateway(&server.base_url(), "").await;
    let answer = client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap()
        .into_inner();
    assert!(answer.simulated && !answer.usage.unwrap().estimated);

    let (_, address) = Stage::open([]).await;
    let (gateway, _folder) = open_gateway(&format!("http://{address}/v1"), "").await;
    let answer = client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap()
        .into_inner();
    assert!(!answer.simulated);
    assert_eq!(
        (answer.reply.as_str(), answer.answered_by.as_str()),
        ("ok", "x")
    );
}

#[tokio::test]
async fn too_many_requests_waits_as_told_and_succeeds() {
    let (stage, address) = Stage::open([
        Act::Answer(429, &[("retry-after", "1")], "{}"),
        Act::Answer(429, &[("retry-after-ms", "250")], "{}"),
    ])
    .await;
    let (gateway, _folder) = open_gateway(&format!("http://{address}/v1"), "").await;
    let began = Instant::now();
    client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap();
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(1_250), "{took:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(stage.keys().len(), 3);
    assert_eq!(status(&gateway).await.keys[0].refused_by_provider, 2);
}

#[tokio::test]
async fn refused_key_is_quarantined_and_the_other_used() {
    let (stage, address) = Stage::open([Act::Answer(401, &[], "{}")]).await;
    let folder = tempfile::tempdir().unwrap();
    let keys = ["one", "two"].map(|name| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("sk-{name}")).unwrap();
        format!("{{ file = '{}' }}", path.display())
    });
    let more = format!("keys = [ {} ]", keys.join(", "));
    let (gateway, _folder) = open_gateway(&format!("http://{address}/v1"), &more).await;
    for index in 0..4 {
        client(&gateway)
            .decide(request("s", index, "hi"))
            .await
            .unwrap();
    }
    assert_eq!(
        stage.keys(),
        [
            "Bearer sk-one",
            "Bearer sk-two",
            "Bearer sk-two",
            "Bearer sk-two",
            "Bearer sk-two"
        ]
    );
    let mut keys = status(&gateway).await.keys;
    keys.retain(|key| key.model.is_empty());
    assert_eq!(keys[0].quarantine_reason, "401 Unauthorized");
    assert_eq!((keys[0].calls, keys[1].calls, keys[1].in_flight), (1, 4, 0));
    assert!(keys[0].source.ends_with("/one") && keys[1].quarantine_reason.is_empty());
}

#[tokio::test]
async fn silence_garbage_and_server_errors_are_tried_again() {
    let (stage, address) = Stage::open([
        Act::Silence,
        Act::Answer(500, &[], "<html>oops</html>"),
        Act::Answer(200, &[], "{\"choices\":"),
        Act::Answer(200, &[], r#"{"error":{"code":503,"message":"upstream"}}"#),
    ])
    .await;
    let base_url = format!("http://{address}/v1");
    let (gateway, _folder) = open_gateway(&base_url, "timeout = '200ms'").await;
    client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap();
    assert_eq!(stage.keys().len(), 5);
    assert_eq!(status(&gateway).await.keys[0].failed, 4);
}

#[tokio::test]
async fn dead_quota_is_told_for_good() {
    let body =
        r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
    let (stage, address) = Stage::open([Act::Answer(429, &[], body)]).await;
    let (gateway, _folder) = open_gateway(&format!("http://{address}/v1"), "").await;
    let error = client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::Aborted);
    assert!(
        error.message().contains("You exceeded your current quota"),
        "{error}"
    );
    assert_eq!(stage.keys().len(), 1);
}

#[tokio::test]
async fn nobody_at_the_address_is_aborted_with_the_reason() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let more = "[gateway]\npatience = '300ms'";
    let (gateway, _folder) = open_gateway(&format!("http://{address}/v1"), more).await;
    let error = client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::Aborted);
    assert!(
        error.message().to_lowercase().contains("connect"),
        "{error}"
    );
}

#[tokio::test]
async fn call_whose_address_was_never_reached_takes_no_quota() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let more = "limits = { requests_per_minute = 1, requests_per_day = 1, tokens_per_minute = 100_000 }\n\
                [gateway]\npatience = '1s'";
    let (gateway, _folder) = open_gateway(&format!("http://{address}/v1"), more).await;
    let error = client(&gateway).decide(request("s", 0, "hi")).await;
    let told = error.unwrap_err().message().to_owned();
    // The one request of the minute was free again for each try.
    assert!(
        told.contains("connect") && !told.contains("after 1 attempts"),
        "{told}"
    );
    let status = status(&gateway).await;
    let mut limits = status.keys.iter().flat_map(|key| &key.limits);
    assert!(limits.all(|limit| limit.used == 0), "{:?}", status.keys);
}

/// The time-out of a call is a minute here; whoever takes no connection is given up much sooner.
#[tokio::test]
async fn server_that_takes_no_connection_is_not_waited_for_as_long_as_an_answer() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    // Nobody accepts, so that the place for those who wait is soon full.
    let mut waiting = Vec::new();
    let soon = Duration::from_millis(200);
    while let Ok(stream) = std::net::TcpStream::connect_timeout(&address, soon) {
        waiting.push(stream);
    }
    let more = "timeout = '60s'\n[gateway]\npatience = '1s'";
    let (gateway, _folder) = open_gateway(&format!("http://{address}/v1"), more).await;
    let began = Instant::now();
    let error = client(&gateway).decide(request("s", 0, "hi")).await;
    let told = error.unwrap_err();
    assert!(told.message().contains("cannot connect"), "{told}");
    let took = began.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[tokio::test]
async fn provider_never_counts_more_than_the_limit_allows() {
    let (stage, address) = Stage::open([]).await;
    let more = "limits = { requests_per_minute = 600, tokens_per_minute = 2_000_000 }";
    let (gateway, _folder) = open_gateway(&format!("http://{address}/v1"), more).await;
    let calls = (0..25).map(|index| {
        let mut client = client(&gateway);
        tokio::spawn(async move { client.decide(request("s", index, "hi")).await })
    });
    for answer in futures_util::future::join_all(calls).await {
        answer.unwrap().unwrap();
    }
    let seen: Vec<Instant> = stage.seen.lock().iter().map(|(at, _)| *at).collect();
    assert_eq!(seen.len(), 25);
    for (first, from) in seen.iter().enumerate() {
        for (last, until) in seen.iter().enumerate().skip(first) {
            // One second's worth at once, 590 a minute after; a busy machine may hold calls back
            // for half a second and let them arrive together.
            let seconds = (*until - *from).as_secs_f64();
            let most = 10.0 + (seconds + 0.5) * 590.0 / 60.0 + 1.5;
            let count = (last - first + 1) as f64;
            assert!(count <= most, "{count} calls within {seconds} s");
        }
    }
}

#[tokio::test]
async fn token_limit_of_the_provider_is_never_hit() {
    let server = SimLlm::start(
        SimOptions {
            tokens_per_minute: Some(60_000),
            requests_per_minute: Some(3_000),
            concurrency: Some(4),
            ..SimOptions::default()
        },
        "127.0.0.1:0",
    )
    .await
    .unwrap();
    let more =
        "limits = { requests_per_minute = 3_000, tokens_per_minute = 60_000, concurrency = 4 }";
    let (gateway, _folder) = open_gateway(&server.base_url(), more).await;
    let calls = (0..60).map(|index| {
        let mut client = client(&gateway);
        let mut request = request("s", index, "a question of some length, to be estimated");
        request.max_output_tokens = Some(40);
        tokio::spawn(async move { client.decide(request).await })
    });
    for answer in futures_util::future::join_all(calls).await {
        answer.unwrap().unwrap();
    }
    let stats = server.stats();
    assert_eq!((stats.answered, stats.refused), (60, 0));
}

#[tokio::test]
async fn unreliable_server_is_outlasted() {
    let server = SimLlm::start(
        SimOptions {
            seed: 7,
            error_rate: 0.3,
            ..SimOptions::default()
        },
        "127.0.0.1:0",
    )
    .await
    .unwrap();
    let (gateway, _folder) = open_gateway(&server.base_url(), "").await;
    let calls = (0..40).map(|index| {
        let mut client = client(&gateway);
        tokio::spawn(async move { client.decide(request("s", index, "hi")).await })
    });
    for answer in futures_util::future::join_all(calls).await {
        answer.unwrap().unwrap();
    }
    assert!(server.stats().failed > 0);
    assert_eq!(status(&gateway).await.decided, 40);
}

#[tokio::test]
async fn seed_reaches_the_provider_as_it_was_asked_and_changes_the_answer() {
    let (stage, address) = Stage::open([]).await;
    let (gateway, _folder) = open_seeded(&format!("http://{address}/v1")).await;
    for (index, seed) in [0, 1, (1 << 31) - 1, i64::MAX as u64]
        .into_iter()
        .enumerate()
    {
        decide_seeded(&gateway, index as u32, seed).await;
        assert_eq!(stage.bodies().last().unwrap()["seed"], seed);
    }

    let server = SimLlm::start(SimOptions::default(), "127.0.0.1:0")
        .await
        .unwrap();
    let (gateway, _folder) = open_seeded(&server.base_url()).await;
    let mut replies = BTreeSet::new();
    for seed in 0..20 {
        let first = decide_seeded(&gateway, 2 * seed, seed.into()).await;
        let second = decide_seeded(&gateway, 2 * seed + 1, seed.into()).await;
        assert_eq!(first, second, "one seed, one answer");
        replies.insert(first);
    }
    assert!(replies.len() > 10, "{replies:?}");
}

/// Model `m`, which takes a schema and a seed, at a server.
async fn open_seeded(base_url: &str) -> (Gateway, tempfile::TempDir) {
    let text = format!(
        "[providers.p]\nbase_url = '{base_url}'\n\
         [models.m]\nprovider = 'p'\n"
    );
    let config = GatewayConfig::parse("test.toml", &text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::Embedded(folder.path().join("ledger.sqlite"));
    (Gateway::open(config, store).await.unwrap(), folder)
}

async fn decide_seeded(gateway: &Gateway, index: u32, seed: u64) -> String {
    let answer = client(gateway).decide(seeded(index, seed)).await.unwrap();
    answer.into_inner().reply
}

fn seeded(index: u32, seed: u64) -> DecideRequest {
    DecideRequest {
        sampling_seed: Some(seed),
        reply_format: Some(ReplyFormat {
            name: "act".to_owned(),
            json_schema: r#"{"type":"object","properties":{"number":{"type":"integer",
                "minimum":0,"maximum":1000000}},"required":["number"]}"#
                .to_owned(),
        }),
        ..request("s", index, "choose a number")
    }
}

const NO_SCHEMA: Act = Act::Answer(
    400,
    &[],
    r#"{"error":{"message":"json_schema is not supported","param":"response_format.type"}}"#,
);
const NO_FORMAT: Act = Act::Answer(
    400,
    &[],
    r#"{"error":{"message":"no","param":"response_format","code":"unknown_parameter"}}"#,
);
const NO_SEED: Act = Act::Answer(
    422,
    &[],
    r#"{"detail":[{"type":"extra_forbidden","loc":["body","seed"]}]}"#,
);

#[tokio::test]
async fn server_that_takes_less_is_asked_with_less_and_remembered() {
    let (log, _guard) = capture_log();
    let (stage, address) = Stage::open([NO_SCHEMA, NO_SEED, NO_FORMAT]).await;
    let (gateway, _folder) = open_seeded(&format!("http://{address}/v1")).await;
    let asked = seeded(0, 7);
    let answer = client(&gateway).decide(asked.clone()).await.unwrap();
    assert_eq!(answer.get_ref().reply, "ok");
    assert_eq!(decide_seeded(&gateway, 1, 7).await, "ok");

    let sent: Vec<_> = stage
        .bodies()
        .iter()
        .map(|body| {
            (
                body["response_format"]["type"].clone(),
                body["seed"].clone(),
            )
        })
        .collect();
    let none = Value::Null;
    assert_eq!(
        sent,
        [
            ("json_schema".into(), 7.into()),
            ("json_object".into(), 7.into()),
            ("json_object".into(), none.clone()),
            (none.clone(), none.clone()),
            (none.clone(), none),
        ]
    );
    let said = log.text().matches("does not take this parameter").count();
    assert_eq!(said, 3, "once for each thing it does not take");

    // The decision is the one that was asked for, whatever was left out.
    let again = client(&gateway).decide(asked.clone()).await.unwrap();
    assert!(again.get_ref().from_ledger);
    let (full, _folder) = open_seeded(&format!("http://{address}/v1")).await;
    let full = client(&full).decide(asked).await.unwrap().into_inner();
    assert_eq!(full.request_digest, answer.into_inner().request_digest);
}

#[tokio::test]
async fn calls_at_once_learn_a_refusal_once() {
    let (stage, address) = Stage::without_schema().await;
    let (gateway, _folder) = open_seeded(&format!("http://{address}/v1")).await;
    let calls = (0..8).map(|index| decide_seeded(&gateway, index, 7));
    for reply in futures_util::future::join_all(calls).await {
        assert_eq!(reply, "ok");
    }
    let bodies = stage.bodies();
    let format = |body: &Value| body["response_format"]["type"].clone();
    assert!(bodies.len() <= 16, "{}", bodies.len());
    assert_eq!(format(bodies.last().unwrap()), "json_object");
}
