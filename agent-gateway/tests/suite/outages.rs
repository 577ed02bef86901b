//! The store goes away: callers are told, what was paid is recorded when it is
//! back, and opening without it is one clear error. A full disk ends decisions
//! with a clear reason and damages nothing.

use std::path::PathBuf;
use std::process::Command;
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

/// Set for the process whose disk is full; holds the ledger's path.
const FULL_DISK: &str = "AGON_TEST_FULL_DISK";

#[tokio::test]
async fn full_disk_is_told_and_damages_nothing() {
    if let Some(path) = std::env::var_os(FULL_DISK) {
        return decide_until_refused(path.into()).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite");
    // A limit on the size of files is a full disk that needs no disk; ignoring
    // the signal turns it into an error of the write.
    let script = "trap '' XFSZ; ulimit -f 600; exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .args([
            "outages::full_disk_is_told_and_damages_nothing",
            "--exact",
            "--nocapture",
        ])
        .env(FULL_DISK, &path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said
        .lines()
        .find_map(|line| line.strip_prefix("refused after "))
        .unwrap();
    let (count, reason) = line.split_once(": ").unwrap();
    assert!(
        reason.starts_with("Aborted cannot record a decision in the ledger file"),
        "{line}"
    );

    let gateway = gateway(
        config(""),
        Store::Embedded(path),
        Arc::new(Scripted::echo()),
    )
    .await;
    let list = ListDecisionsRequest {
        session_id: "s".to_owned(),
    };
    let kept = client(&gateway)
        .list_decisions(list)
        .await
        .unwrap()
        .into_inner();
    assert_eq!(kept.decisions.len(), count.parse::<usize>().unwrap());
    assert!(!kept.decisions.is_empty());
}

async fn decide_until_refused(path: PathBuf) {
    let provider = Arc::new(Scripted::echo());
    let gateway = gateway(config(""), Store::Embedded(path), provider).await;
    let text = "x".repeat(2_000);
    for index in 0.. {
        if let Err(error) = client(&gateway).decide(request("s", index, &text)).await {
            println!(
                "refused after {index}: {:?} {}",
                error.code(),
                error.message()
            );
            return;
        }
    }
}
