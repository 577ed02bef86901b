//! The store goes away: callers are told, what was paid is recorded when it is
//! back, and opening without it is one clear error. A full disk is told in one
//! line and damages nothing; what was paid is kept until there is space.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::providers::Scripted;
use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::ListDecisionsRequest;
use tokio::task::JoinHandle;
use tonic::{Code, Status};

use crate::redis_server::RedisServer;
use crate::support::{capture_log, client, config, gateway, request, until};

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
const FULL_DISK_TEST: &str =
    "outages::full_disk_is_told_and_what_was_paid_is_recorded_once_there_is_space";

#[tokio::test]
async fn full_disk_is_told_and_what_was_paid_is_recorded_once_there_is_space() {
    if let Some(path) = std::env::var_os(FULL_DISK) {
        return fill_the_disk_twice(path.into()).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite");
    // A limit on the size of files is a full disk that needs no disk; ignoring
    // the signal turns it into an error of the write.
    let script = "trap '' XFSZ; ulimit -S -f 600; exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(std::env::current_exe().unwrap())
        .args([FULL_DISK_TEST, "--exact", "--nocapture"])
        .env(FULL_DISK, &path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let recorded = said
        .lines()
        .find_map(|line| line.strip_prefix("recorded "))
        .unwrap_or_else(|| panic!("{said}{}", String::from_utf8_lossy(&output.stderr)));

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
    assert_eq!(kept.decisions.len().to_string(), recorded);
    assert!(!kept.decisions.is_empty());
}

async fn fill_the_disk_twice(path: PathBuf) {
    let (log, _guard) = capture_log();
    let provider = Arc::new(Scripted::echo());
    let gateway = gateway(config(""), Store::Embedded(path), provider.clone()).await;

    let (recorded, waiting) = decide_until_troubled(&gateway, 0).await;
    limit_files("unlimited");
    waiting.await.unwrap().unwrap();
    assert_eq!(provider.calls(), u64::from(recorded) + 1, "each paid once");

    limit_files("900000");
    let (recorded, waiting) = decide_until_troubled(&gateway, recorded + 1).await;
    gateway.drain(Duration::from_secs(20)).await;
    let told = waiting.await.unwrap().unwrap_err();
    assert_eq!(told.code(), Code::Unavailable);
    let lost = format!("paid answer to s/0/{recorded} could not be recorded");
    assert!(told.message().contains(&lost), "{told}");
    let lost = format!("could not be recorded and is lost address=s/0/{recorded}");
    assert!(log.text().contains(&lost), "{}", log.text());
    println!("recorded {recorded}");
}

/// How many there are in the end, and the call that waits.
async fn decide_until_troubled(
    gateway: &Gateway,
    from: u32,
) -> (u32, JoinHandle<Result<(), Status>>) {
    let text = "x".repeat(2_000);
    for index in from.. {
        let mut client = client(gateway);
        let asked = request("s", index, &text);
        let mut call = tokio::spawn(async move { client.decide(asked).await.map(drop) });
        tokio::select! {
            biased;
            reason = gateway.trouble() => {
                assert!(!reason.is_empty() && !reason.contains('\n'), "{reason}");
                return (index, call);
            }
            answered = &mut call => answered.unwrap().unwrap(),
        }
    }
    unreachable!("the disk never was full")
}

/// Sets the largest size of a file that this process may write.
fn limit_files(bytes: &str) {
    let done = Command::new("prlimit")
        .args(["--pid", &std::process::id().to_string()])
        .arg(format!("--fsize={bytes}:unlimited"))
        .status();
    assert!(done.unwrap().success());
}
