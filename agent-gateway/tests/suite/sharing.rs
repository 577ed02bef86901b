//! Teams that wait for the same keys, through the whole gateway: shares over
//! several models under common limits, and nobody left standing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_agent_gateway::providers::Scripted;
use agon_agent_gateway::{GatewayConfig, Store};
use agon_proto::v1::DecideRequest;

use crate::redis_server::RedisServer;
use crate::support::{client, gateway, request};

/// Ten calls a second over both models of the key.
const COMMON_LIMIT: &str = "
    [providers.p]
    base_url = 'http://127.0.0.1:9/v1'
    limits = { requests_per_minute = 6_000 }
    [models.m]
    provider = 'p'
    [models.n]
    provider = 'p'
    [teams.one]
    [teams.two]
";

fn call(team: &str, model: &str, index: u32, content: &str) -> DecideRequest {
    DecideRequest {
        team: team.to_owned(),
        model: model.to_owned(),
        ..request(&format!("{team}-{model}"), index, content)
    }
}

/// One team waits for both models: what it gets of the second puts it far ahead
/// of the other team, while its many small calls at the first come before the
/// other team's larger ones in that model's own order.
async fn everybody_is_served(store: Store) {
    let config = GatewayConfig::parse("test.toml", COMMON_LIMIT).unwrap();
    let gateway = gateway(config, store, Arc::new(Scripted::echo())).await;
    let (large, medium) = ("word ".repeat(20_000), "word ".repeat(1_000));
    let mut calls = Vec::new();
    for index in 0..200 {
        calls.push(call("one", "m", index, "small"));
        if index < 10 {
            calls.push(call("one", "n", index, &large));
            calls.push(call("two", "m", index, &medium));
        }
    }
    let began = Instant::now();
    let asked = calls.into_iter().map(|call| {
        let mut client = client(&gateway);
        tokio::spawn(async move { client.decide(call).await })
    });
    let all = futures_util::future::join_all(asked);
    let answers = tokio::time::timeout(Duration::from_secs(30), all).await;
    let answers = answers.expect("somebody is left standing");
    assert!(answers.into_iter().all(|answer| answer.unwrap().is_ok()));
    // 220 calls at a hundred a second, the first hundred at once.
    assert!(
        began.elapsed() > Duration::from_millis(900),
        "no limit held"
    );
}

#[tokio::test]
async fn nobody_is_left_standing_between_two_models() {
    let folder = tempfile::tempdir().unwrap();
    everybody_is_served(Store::Embedded(folder.path().join("ledger.sqlite"))).await;
}

#[tokio::test]
async fn nobody_is_left_standing_between_two_models_over_redis() {
    let server = RedisServer::start().await;
    everybody_is_served(Store::Redis(server.url())).await;
}
