//! What one replica has learnt that a server refuses, the others know: over a restart, until it
//! is over, and until somebody says that it is to be forgotten.

use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::{DecideRequest, ForgetLearntRequest, GetGatewayStatusRequest, ReplyFormat};
use redis::AsyncCommands as _;
use serde_json::{Value, json};

use crate::providers::mirror::{Answer, Mirror};
use crate::redis_server::RedisServer;
use crate::support::{client, request, status, until};

const HOUR_MS: i64 = 3_600_000;

async fn open(server: &RedisServer, mirror: &Mirror) -> Gateway {
    let text = format!(
        "[providers.p]\nbase_url = '{}/v1'\n[models.m]\nprovider = 'p'\nmodel = 'real'\n",
        mirror.address
    );
    let config = GatewayConfig::parse("test.toml", &text).unwrap();
    let store = Store::Redis(server.url());
    Gateway::open(config, store).await.unwrap()
}

fn fine() -> Answer {
    Answer::fine(json!({"model": "real", "choices": [{"message": {"content": "ok"}}]}))
}

fn refused(parameter: &str) -> Answer {
    let error = json!({"message": "no", "param": parameter, "code": "unsupported_parameter"});
    Answer::new(400, json!({"error": error}))
}

fn warm(index: u32) -> DecideRequest {
    DecideRequest {
        temperature: Some(0.5),
        reply_format: Some(ReplyFormat {
            name: "act".to_owned(),
            json_schema: r#"{"type":"object"}"#.to_owned(),
        }),
        ..request("s", index, "hi")
    }
}

async fn learnt(gateway: &Gateway) -> Vec<String> {
    let learnt = status(gateway).await.learnt;
    learnt.into_iter().map(|one| one.parameter).collect()
}

async fn forget(gateway: &Gateway, model: &str) -> usize {
    let model = model.to_owned();
    let mut client = client(gateway);
    let forgotten = client.forget_learnt(ForgetLearntRequest { model });
    forgotten.await.unwrap().into_inner().forgotten.len()
}

fn bodies(mirror: &Mirror) -> Vec<Value> {
    mirror.seen().into_iter().map(|seen| seen.body).collect()
}

#[tokio::test]
async fn what_one_replica_learnt_all_know_over_a_restart_until_all_forget() {
    let (server, mirror) = (RedisServer::start().await, Mirror::open().await);
    let [one, other] = [open(&server, &mirror).await, open(&server, &mirror).await];
    mirror.will_answer([refused("temperature"), refused("response_format"), fine()]);
    client(&one).decide(warm(0)).await.unwrap();
    until("the other replica knows it", async || {
        learnt(&other).await.len() == 2
    })
    .await;
    assert_eq!(learnt(&other).await, ["temperature", "reply_format"]);
    client(&other).decide(warm(1)).await.unwrap();
    let sent = bodies(&mirror);
    assert_eq!(sent.len(), 4, "two refused, two answered");
    assert_eq!(
        sent[2], sent[3],
        "the other asks for what the first found out"
    );
    assert!(sent[3]["temperature"].is_null());
    assert_eq!(sent[3]["response_format"]["type"], "json_object");

    one.stop().await;
    other.stop().await;
    let [one, other] = [open(&server, &mirror).await, open(&server, &mirror).await];
    until("a gateway that starts knows it", async || {
        learnt(&one).await.len() == 2 && learnt(&other).await.len() == 2
    })
    .await;
    client(&one).decide(warm(2)).await.unwrap();
    assert_eq!(bodies(&mirror)[4], sent[3]);

    assert_eq!(forget(&other, "p/another").await, 0);
    assert_eq!(forget(&other, "p/real").await, 2);
    assert!(learnt(&other).await.is_empty());
    until("it is forgotten by all", async || {
        learnt(&one).await.is_empty()
    })
    .await;
    client(&one).decide(warm(3)).await.unwrap();
    assert_eq!(bodies(&mirror)[5]["temperature"], 0.5);
}

#[tokio::test]
async fn what_was_learnt_is_over_after_its_time_and_strange_entries_hurt_nobody() {
    let (server, mirror) = (RedisServer::start().await, Mirror::open().await);
    let gateway = open(&server, &mirror).await;
    mirror.will_answer([refused("temperature"), fine()]);
    client(&gateway).decide(warm(0)).await.unwrap();
    let mut connection = server.connection().await;
    until("it is in the store", async || {
        connection.hlen::<_, usize>("agon:learnt").await.unwrap() == 1
    })
    .await;
    let left: i64 = connection.pttl("agon:learnt").await.unwrap();
    assert!((1..=HOUR_MS).contains(&left), "{left}");
    let (name, stored): (String, String) = {
        let all: Vec<(String, String)> = connection.hgetall("agon:learnt").await.unwrap();
        all.into_iter().next().unwrap()
    };
    let (_, lesson) = stored.split_once('|').unwrap();
    let unknown = lesson.replace("\"temperature\"", "\"of another version\"");
    for (field, value) in [
        (name.as_str(), format!("1|{lesson}")),
        ("unknown", format!("9999999999999|{unknown}")),
        ("broken", "9999999999999|{".to_owned()),
        ("nothing", String::new()),
    ] {
        let _: () = connection.hset("agon:learnt", field, value).await.unwrap();
    }
    until("it is over", async || learnt(&gateway).await.is_empty()).await;
    client(&gateway).decide(warm(1)).await.unwrap();
    assert_eq!(bodies(&mirror)[2]["temperature"], 0.5);
}

#[tokio::test]
async fn forgetting_without_redis_is_an_error_and_what_was_learnt_waits_for_it() {
    let (mut server, mirror) = (RedisServer::start().await, Mirror::open().await);
    let gateway = open(&server, &mirror).await;
    mirror.will_answer([refused("temperature"), fine()]);
    client(&gateway).decide(warm(0)).await.unwrap();
    server.kill();
    let request = ForgetLearntRequest::default();
    let error = client(&gateway).forget_learnt(request).await.unwrap_err();
    assert_eq!(error.code(), tonic::Code::Unavailable, "{error}");
    server.start_again().await;
    until("it can be forgotten", async || {
        let request = ForgetLearntRequest::default();
        let forgotten = client(&gateway).forget_learnt(request).await;
        forgotten.is_ok_and(|forgotten| forgotten.into_inner().forgotten.len() == 1)
    })
    .await;
    until("a gateway is there", async || {
        let status = client(&gateway)
            .get_gateway_status(GetGatewayStatusRequest::default())
            .await;
        status.is_ok_and(|status| status.into_inner().learnt.is_empty())
    })
    .await;
}
