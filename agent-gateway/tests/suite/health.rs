//! Health from outside: a failing server is left alone and no caller waits for
//! it longer than patience allows, its fall-back answers meanwhile, and a server
//! without limits is not asked for more than it is known to take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_agent_gateway::providers::{Call, Provider, Refusal, Remedy, Reply, Scripted};
use async_trait::async_trait;
use futures_util::future::join_all;
use tonic::Code;

use crate::support::{client, config, embedded, request};

const PATIENCE_OF_2_SECONDS: &str = "[gateway]\npatience = '2s'";

fn broken() -> Refusal {
    Refusal::new(Remedy::Retry(None), "500: out of order")
}

#[tokio::test]
async fn failing_server_is_left_alone_and_nobody_waits_beyond_patience() {
    let provider = Arc::new(Scripted::new(|_, _| Err(broken())));
    let (gateway, _folder) = embedded(config(PATIENCE_OF_2_SECONDS), provider.clone()).await;
    let began = Instant::now();
    let asks = (0..50).map(|index| {
        let mut client = client(&gateway);
        async move { client.decide(request("s", index, "hello")).await }
    });
    for outcome in join_all(asks).await {
        let status = outcome.unwrap_err();
        assert_eq!(status.code(), Code::Aborted, "{status}");
    }
    // The first try of each is under way before anything is known; then the
    // circuit lets one through after 1 s and, failing, after 2 s more.
    assert!(provider.calls() <= 54, "{} calls", provider.calls());
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn fallback_answers_while_the_circuit_is_open() {
    let by_model = Arc::new(ByModel {
        well: "spare",
        broken_calls: AtomicU64::new(0),
    });
    let text = "[models.spare]\nprovider = 'p'\n[gateway]\npatience = '60s'";
    let (gateway, _folder) = embedded(config(text), by_model.clone()).await;
    // Opens the circuit: five failures in a row.
    let opening = (0..8).map(|index| {
        let mut client = client(&gateway);
        let ask = tokio::time::timeout(Duration::from_millis(900), async move {
            client.decide(request("opening", index, "hello")).await
        });
        async move { ask.await.is_err() }
    });
    assert!(join_all(opening).await.into_iter().all(|waited| waited));
    let calls = by_model.broken_calls.load(Ordering::SeqCst);
    let began = Instant::now();
    let mut ask = request("s", 0, "hello");
    ask.fallback_models = vec!["spare".to_owned()];
    let answer = client(&gateway).decide(ask).await.unwrap().into_inner();
    assert_eq!(answer.model, "spare");
    assert!(began.elapsed() < Duration::from_secs(30), "waited for it");
    assert!(by_model.broken_calls.load(Ordering::SeqCst) <= calls + 1);
}

/// One model is well, all others fail.
struct ByModel {
    well: &'static str,
    broken_calls: AtomicU64,
}

#[async_trait]
impl Provider for ByModel {
    async fn call(&self, call: Call<'_>) -> Result<Reply, Refusal> {
        if call.model.name == self.well {
            return Ok(Reply::default());
        }
        self.broken_calls.fetch_add(1, Ordering::SeqCst);
        Err(broken())
    }
}

#[tokio::test]
async fn recovered_server_serves_all_who_waited() {
    let well = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&well);
    let provider = Arc::new(Scripted::new(move |_, _| {
        if state.load(Ordering::SeqCst) {
            Ok(Reply::default())
        } else {
            Err(broken())
        }
    }));
    let text = "[gateway]\npatience = '60s'";
    let (gateway, _folder) = embedded(config(text), provider.clone()).await;
    let asks = (0..100).map(|index| {
        let mut client = client(&gateway);
        async move { client.decide(request("s", index, "hello")).await }
    });
    let mending = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        well.store(true, Ordering::SeqCst);
    };
    let began = Instant::now();
    let (outcomes, ()) = tokio::join!(join_all(asks), mending);
    assert!(outcomes.into_iter().all(|outcome| outcome.is_ok()));
    assert!(began.elapsed() < Duration::from_secs(8));
}

/// Counts how many calls it has at once.
#[derive(Default)]
struct Crowded {
    inside: AtomicU64,
    most: AtomicU64,
}

#[async_trait]
impl Provider for Crowded {
    async fn call(&self, _call: Call<'_>) -> Result<Reply, Refusal> {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(100)).await;
        self.inside.fetch_sub(1, Ordering::SeqCst);
        Ok(Reply::default())
    }
}

#[tokio::test]
async fn server_without_limits_is_asked_for_little_more_each_round() {
    let provider = Arc::new(Crowded::default());
    let text = "limits = { concurrency = \"auto\" }";
    let (gateway, _folder) = embedded(config(text), provider.clone()).await;
    let asks = (0..100).map(|index| {
        let mut client = client(&gateway);
        async move { client.decide(request("s", index, "hello")).await }
    });
    assert!(
        join_all(asks)
            .await
            .into_iter()
            .all(|outcome| outcome.is_ok())
    );
    let most = provider.most.load(Ordering::SeqCst);
    assert!((8..=16).contains(&most), "{most} at once");
}
