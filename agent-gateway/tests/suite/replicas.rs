//! Several gateway replicas over one Redis: they ask once, share limits and
//! share holds.

use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::providers::{Arrived, Refusal, Remedy, Reply, Scripted};
use agon_agent_gateway::{Gateway, Store};
use tonic::Code;

use crate::redis_server::RedisServer;
use crate::support::{client, config, gateway, request, status, until};

async fn two_replicas(
    server: &RedisServer,
    limits: &str,
    provider: &Arc<Scripted>,
) -> [Gateway; 2] {
    let open = async || gateway(config(limits), Store::Redis(server.url()), provider.clone()).await;
    [open().await, open().await]
}

#[tokio::test]
async fn replicas_asked_for_one_address_make_one_provider_call() {
    let server = RedisServer::start().await;
    let provider = Arc::new(Scripted::echo().with_latency(Duration::from_millis(200)));
    let replicas = two_replicas(&server, "", &provider).await;
    let calls = (0..20).map(|number| {
        let mut client = client(&replicas[number % 2]);
        tokio::spawn(async move { client.decide(request("s", 0, "hi")).await })
    });
    for answer in futures_util::future::join_all(calls).await {
        assert_eq!(answer.unwrap().unwrap().into_inner().reply, "hi");
    }
    assert_eq!(provider.calls(), 1);

    let other = client(&replicas[1])
        .decide(request("s", 0, "ho"))
        .await
        .unwrap_err();
    assert_eq!(other.code(), Code::FailedPrecondition);
}

#[tokio::test]
async fn failed_replica_lets_the_other_ask() {
    let server = RedisServer::start().await;
    let provider = Arc::new(Scripted::new(|_, number| match number {
        0 => Err(Refusal {
            remedy: Remedy::GiveUp,
            reason: "no".to_owned(),
            arrived: Arrived::Refused,
            overloaded: false,
            signals: Default::default(),
        }),
        _ => Ok(Reply::default()),
    }));
    let [one, two] = two_replicas(&server, "", &provider).await;
    client(&one)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap_err();
    client(&two).decide(request("s", 0, "hi")).await.unwrap();
}

#[tokio::test]
async fn replicas_share_the_places_of_a_key() {
    let server = RedisServer::start().await;
    let provider = Arc::new(Scripted::echo().with_latency(Duration::from_millis(20)));
    let replicas = two_replicas(&server, "limits = { concurrency = 3 }", &provider).await;
    let calls = (0..40).map(|index: u32| {
        let mut client = client(&replicas[index as usize % 2]);
        tokio::spawn(async move { client.decide(request("s", index, "hi")).await })
    });
    let answers = futures_util::future::join_all(calls).await;
    assert!(answers.into_iter().all(|answer| answer.unwrap().is_ok()));
    assert_eq!(provider.most_at_once(), 3);
}

#[tokio::test]
async fn hold_of_one_replica_keeps_the_other_away() {
    let server = RedisServer::start().await;
    let provider = Arc::new(Scripted::new(|_, number| match number {
        0 => Err(Refusal {
            remedy: Remedy::HoldKey(Some(Duration::from_millis(600))),
            reason: "slow down".to_owned(),
            arrived: Arrived::Refused,
            overloaded: false,
            signals: Default::default(),
        }),
        _ => Ok(Reply::default()),
    }));
    let [one, two] = two_replicas(&server, "", &provider).await;
    let first = tokio::spawn({
        let mut client = client(&one);
        async move { client.decide(request("s", 0, "hi")).await }
    });
    // The other replica does not know of the key's state but from Redis.
    client(&two).decide(request("s", 1, "hi")).await.unwrap();
    first.await.unwrap().unwrap();
    until("both are recorded", async || {
        status(&one).await.decided + status(&two).await.decided == 2
    })
    .await;
    assert_eq!(provider.calls(), 3);
}

#[tokio::test]
async fn caller_who_leaves_while_redis_stands_still_leaves_no_place_taken() {
    let server = RedisServer::start().await;
    let provider = Arc::new(Scripted::echo());
    let limits = "limits = { concurrency = 1 }";
    let gateway = gateway(config(limits), Store::Redis(server.url()), provider.clone()).await;
    client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap();
    let mut redis = server.connection().await;
    for index in 1..6 {
        let mut pause = redis::cmd("CLIENT");
        pause.arg(&["PAUSE", "200", "ALL"]);
        pause.exec_async(&mut redis).await.unwrap();
        let mut caller = client(&gateway);
        let asked = caller.decide(request("s", index, "hi"));
        let left = tokio::time::timeout(Duration::from_millis(50), asked).await;
        assert!(left.is_err(), "nobody is served while Redis stands still");
    }
    // Whatever was granted to those who had gone is given back, or they are done.
    client(&gateway)
        .decide(request("s", 9, "hi"))
        .await
        .unwrap();
    until("every place is free", async || {
        let status = status(&gateway).await;
        let mut limits = status.keys.iter().flat_map(|key| &key.limits);
        limits.all(|limit| limit.name != "concurrency" || limit.used == 0)
    })
    .await;
}

#[tokio::test]
async fn caller_who_is_not_polled_holds_up_nobody_else() {
    let server = RedisServer::start().await;
    let provider = Arc::new(Scripted::echo());
    let gateway = gateway(config(""), Store::Redis(server.url()), provider.clone()).await;
    client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap();
    let mut pause = redis::cmd("CLIENT");
    pause.arg(&["PAUSE", "200", "ALL"]);
    let mut connection = server.connection().await;
    pause.exec_async(&mut connection).await.unwrap();
    // It asks for claim and quota, and is looked at no more.
    let mut stopped = client(&gateway);
    let mut stopped = std::pin::pin!(stopped.decide(request("s", 1, "hi")));
    let begun = tokio::time::timeout(Duration::from_millis(50), stopped.as_mut()).await;
    assert!(begun.is_err(), "nobody is served while Redis stands still");
    for index in 2..5 {
        client(&gateway)
            .decide(request("s", index, "hi"))
            .await
            .unwrap();
    }
    assert_eq!(provider.calls(), 4);
    stopped.await.unwrap();
    assert_eq!(provider.calls(), 5);
}
