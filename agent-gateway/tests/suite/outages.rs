//! The store goes away: callers are told, what was paid is recorded when it is
//! back, and opening without it is one clear error.

use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::providers::Scripted;
use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::ListDecisionsRequest;
use tonic::Code;

use crate::redis_server::RedisServer;
use crate::support::{client, config, gateway, request, until};

#[tokio::test]
async fn gateway_without_its_redis_does_not_open() {
    let url = "redis://:secret@127.0.0.1:1".to_owned();
    let error = Gateway::open(GatewayConfig::default(), Store::Redis(url))
        .await
        .err()
        .unwrap();
    let text = error.to_string();
    assert!(
        text.contains("cannot reach redis at redis://127.0.0.1:1"),
        "{text}"
    );
    assert!(!format!("{error:?}").contains("secret"));
}

#[tokio::test]
async fn paid_call_is_recorded_once_redis_is_back() {
    let mut server = RedisServer::start().await;
    let provider = Arc::new(Scripted::echo().with_latency(Duration::from_millis(300)));
    let gateway = gateway(config(""), Store::Redis(server.url()), provider.clone()).await;
    let call = tokio::spawn({
        let mut client = client(&gateway);
        async move { client.decide(request("s", 0, "hi")).await }
    });
    until("the call has left", async || provider.calls() == 1).await;
    server.kill();

    let told = client(&gateway)
        .decide(request("s", 1, "hi"))
        .await
        .unwrap_err();
    assert_eq!(told.code(), Code::Unavailable);
    assert!(told.message().contains("redis"), "{told}");

    server.start_again().await;
    assert_eq!(call.await.unwrap().unwrap().into_inner().reply, "hi");
    let list = ListDecisionsRequest {
        session_id: "s".to_owned(),
    };
    let kept = client(&gateway)
        .list_decisions(list)
        .await
        .unwrap()
        .into_inner();
    assert_eq!(kept.decisions.len(), 1);
    assert_eq!(provider.calls(), 1);
}
