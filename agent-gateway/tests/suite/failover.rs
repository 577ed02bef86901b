//! Redis behind sentinels, behind TLS and users with few rights, and as a replica: real servers,
//! one set for each test.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_agent_gateway::providers::Scripted;
use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::ListDecisionsRequest;
use agon_tests::redis::{RedisServer, Sentinel};
use tonic::Code;

use crate::support::{capture_log, client, config, gateway, request, until};

/// What docs/gateway.md asks an operator to allow.
const RIGHTS: &str = "~agon:* ~{agon}* -@all +@read +@write +@scripting +@connection \
     +@transaction -@dangerous +role +time +wait";

/// Replicas have each decision before it counts as done.
const CONFIRMED: &str = "[redis]\nconfirm_replicas = 1\nconfirm_within = \"2s\"";

/// A failover takes a sentinel some seconds.
const BACK_WITHIN: Duration = Duration::from_secs(60);

/// Sends a server commands of an operator's.
async fn tell(server: &RedisServer, words: &str) {
    let redis = redis::Client::open(server.url()).unwrap();
    let mut connection = redis.get_multiplexed_async_connection().await.unwrap();
    let mut words = words.split_whitespace();
    let mut command = redis::cmd(words.next().unwrap());
    for word in words {
        command.arg(word);
    }
    command.exec_async(&mut connection).await.unwrap();
}

/// As a worker does: again after each "come again".
async fn ask(gateway: &Gateway, index: u32) {
    let began = Instant::now();
    loop {
        match client(gateway).decide(request("s", index, "hi")).await {
            Ok(_) => return,
            Err(told) => {
                assert_eq!(told.code(), Code::Unavailable, "{told}");
                assert!(began.elapsed() < BACK_WITHIN, "{told}");
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn recorded(gateway: &Gateway) -> usize {
    let session_id = "s".to_owned();
    let list = ListDecisionsRequest { session_id };
    let listed = client(gateway).list_decisions(list).await.unwrap();
    listed.into_inner().decisions.len()
}

async fn has_all_that_its_master_has(replica: &RedisServer) {
    let redis = redis::Client::open(replica.url()).unwrap();
    let mut connection = redis.get_multiplexed_async_connection().await.unwrap();
    until("the replica is in step", async || {
        let mut info = redis::cmd("INFO");
        info.arg("replication");
        let info: String = info.query_async(&mut connection).await.unwrap();
        info.contains("master_link_status:up")
    })
    .await;
}

async fn sentinels_know_a_replica(sentinel: &Sentinel) {
    let shown = ["SENTINEL", "REPLICAS", Sentinel::MASTER];
    let redis = redis::Client::open(format!("redis://127.0.0.1:{}", sentinel.port())).unwrap();
    let mut connection = redis.get_multiplexed_async_connection().await.unwrap();
    until("the sentinel knows the replica", async || {
        let mut command = redis::cmd(shown[0]);
        command.arg(&shown[1..]);
        let replicas: Vec<redis::Value> = command.query_async(&mut connection).await.unwrap();
        !replicas.is_empty()
    })
    .await;
}

#[tokio::test]
async fn failover_is_followed_and_confirmed_decisions_are_never_paid_again() {
    let master = RedisServer::start();
    let replica = RedisServer::start_replica_of(&master);
    has_all_that_its_master_has(&replica).await;
    let sentinel = Sentinel::watching(&master);
    sentinels_know_a_replica(&sentinel).await;
    let url = format!(
        "redis+sentinel://127.0.0.1:{}/{}",
        sentinel.port(),
        Sentinel::MASTER
    );
    failover_is_followed(url, master).await;
}

#[tokio::test]
async fn failover_is_followed_over_tls_by_a_user_with_few_rights() {
    let (master, tls) = RedisServer::start_with_tls();
    let replica = RedisServer::start_tls_replica_of(&tls);
    for server in [&master, &replica] {
        tell(server, &format!("ACL SETUSER agon on >word {RIGHTS}")).await;
    }
    has_all_that_its_master_has(&replica).await;
    let (sentinel, url) = Sentinel::with_tls(&tls, "agon", "word");
    sentinels_know_a_replica(&sentinel).await;
    failover_is_followed(url, master).await;
}

/// Kills a master just after the last of many answers was handed out.
async fn failover_is_followed(url: String, mut master: RedisServer) {
    let provider = Arc::new(Scripted::echo());
    let gateway = gateway(config(CONFIRMED), Store::Redis(url), provider.clone()).await;
    for index in 0..50 {
        ask(&gateway, index).await;
    }
    master.kill();
    for index in 0..51 {
        ask(&gateway, index).await;
    }
    assert_eq!(provider.calls(), 51, "nothing is paid twice");
    assert_eq!(recorded(&gateway).await, 51);
}

#[tokio::test]
async fn replica_does_not_count_as_a_store_that_answers() {
    let server = RedisServer::start();
    let provider = Arc::new(Scripted::echo());
    let gateway = gateway(config(""), Store::Redis(server.url()), provider.clone()).await;
    let mut answers = gateway.store_answers();
    assert!(*answers.borrow());
    // A master that nobody reaches: the server stays a replica.
    tell(&server, "REPLICAOF 127.0.0.1 9").await;
    answers.wait_for(|answers| !answers).await.unwrap();
    let told = client(&gateway).decide(request("s", 0, "hi")).await;
    assert_eq!(told.unwrap_err().code(), Code::Unavailable);
    assert_eq!(provider.calls(), 0);
    tell(&server, "REPLICAOF NO ONE").await;
    answers.wait_for(|answers| *answers).await.unwrap();
    ask(&gateway, 0).await;
}

#[tokio::test]
async fn decision_that_no_replica_confirms_is_answered_and_the_log_says_so_once() {
    let (log, _guard) = capture_log();
    let server = RedisServer::start();
    let provider = Arc::new(Scripted::echo());
    let unconfirmed = CONFIRMED.replace("2s", "10ms");
    let gateway = gateway(config(&unconfirmed), Store::Redis(server.url()), provider).await;
    ask(&gateway, 0).await;
    ask(&gateway, 1).await;
    let text = log.text();
    let said = text.matches("too few replicas have what was written");
    assert_eq!(said.count(), 1, "{text}");
    assert_eq!(recorded(&gateway).await, 2);
}

#[tokio::test]
async fn gateway_needs_no_more_than_the_documented_rights_and_speaks_tls() {
    let (server, tls) = RedisServer::start_with_tls();
    tell(&server, &format!("ACL SETUSER agon on >word {RIGHTS}")).await;
    let provider = Arc::new(Scripted::echo());
    let store = Store::Redis(tls.url("agon", "word"));
    let budget = "[teams.red]\nbudget_dollars = \"5\"";
    let gateway = gateway(config(budget), store, provider.clone()).await;
    assert!(*gateway.store_answers().borrow());
    let answered = client(&gateway).decide(request("s", 0, "hi")).await;
    assert_eq!(answered.unwrap().into_inner().reply, "hi");
    assert_eq!(recorded(&gateway).await, 1);

    for url in [tls.url("agon", "other"), tls.url_without_authority()] {
        let refused = Gateway::open(GatewayConfig::default(), Store::Redis(url)).await;
        let open = refused.is_ok_and(|gateway| *gateway.store_answers().borrow());
        assert!(!open, "a wrong password and an unknown authority");
    }
}
