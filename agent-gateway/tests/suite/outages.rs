//! The store goes away: callers are told, what was paid is recorded when it is
//! back, and a gateway may be there before its store. A full disk is told in one
//! line and damages nothing; what was paid is kept until there is space.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_agent_gateway::decision::DecisionAddress;
use agon_agent_gateway::ledger::{Ledger as _, RedisLedger};
use agon_agent_gateway::providers::{Arrived, Refusal, Remedy, Reply, Scripted};
use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::{GetGatewayStatusRequest, ListDecisionsRequest};
use redis::AsyncCommands as _;
use tokio::task::JoinHandle;
use tonic::{Code, Status};

use crate::redis_server::RedisServer;
use crate::support::{capture_log, client, config, gateway, request, status, until};

/// Service comes back within five seconds of the store's return; a machine that does other things may
/// need more.
const BACK_WITHIN: Duration = Duration::from_secs(20);

#[tokio::test]
async fn gateway_opens_before_its_redis_and_serves_once_it_is_there() {
    let (log, _guard) = capture_log();
    let mut server = RedisServer::start().await;
    server.kill();
    let provider = Arc::new(Scripted::echo());
    let gateway = gateway(config(""), Store::Redis(server.url()), provider.clone()).await;
    assert!(!*gateway.store_answers().borrow());
    for index in 0..3 {
        let told = client(&gateway)
            .decide(request("s", index, "hi"))
            .await
            .unwrap_err();
        assert_eq!(told.code(), Code::Unavailable);
        assert!(told.message().contains("redis"), "{told}");
    }
    assert_eq!(provider.calls(), 0);

    server.start_again().await;
    let came = Instant::now();
    ask_until_answered(&gateway, "s", 0).await;
    assert!(came.elapsed() < BACK_WITHIN, "{:?}", came.elapsed());
    let mut answers = gateway.store_answers();
    answers.wait_for(|answers| *answers).await.unwrap();
    let text = log.text();
    assert_eq!(
        text.matches("redis does not answer yet").count(),
        1,
        "{text}"
    );
    assert_eq!(text.matches("redis answers").count(), 1, "{text}");
}

#[tokio::test]
async fn redis_that_refuses_the_gateway_is_told_at_once() {
    let server = RedisServer::start().await;
    let url = server.url().replace("redis://", "redis://:secret@");
    let error = Gateway::open(GatewayConfig::default(), Store::Redis(url))
        .await
        .err()
        .unwrap();
    let shown = server.url();
    let expected = format!("Redis at {shown} refuses this gateway");
    assert_eq!(error.to_string(), expected);
    assert!(!format!("{error:?}").contains("secret"));
}

#[tokio::test]
async fn redis_away_under_load_is_survived_and_left_behind_within_seconds() {
    let (log, _guard) = capture_log();
    let mut server = RedisServer::start().await;
    let provider = Arc::new(Scripted::echo().with_latency(Duration::from_millis(5)));
    // Places that the outage must not leave taken.
    let limits = "limits = { concurrency = 8 }";
    let gateway = gateway(config(limits), Store::Redis(server.url()), provider.clone()).await;
    let callers: Vec<_> = (0..20)
        .map(|seat| {
            let gateway = gateway.clone();
            tokio::spawn(async move {
                for index in 0..10 {
                    ask_until_answered(&gateway, &format!("s{seat}"), index).await;
                }
            })
        })
        .collect();
    until("some calls are made", async || provider.calls() > 20).await;
    server.kill();
    let mut answers = gateway.store_answers();
    answers.wait_for(|answers| !*answers).await.unwrap();
    let made = provider.calls();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(provider.calls() <= made + 8, "no call without limits");

    server.start_again().await;
    let came = Instant::now();
    answers.wait_for(|answers| *answers).await.unwrap();
    assert!(came.elapsed() < BACK_WITHIN, "{:?}", came.elapsed());
    for caller in callers {
        caller.await.unwrap();
    }
    assert!(came.elapsed() < BACK_WITHIN, "{:?}", came.elapsed());
    let text = log.text();
    assert_eq!(text.matches("redis does not answer any more").count(), 1);
}

/// Scripts and connections made before must work with a Redis that lost all.
#[tokio::test]
async fn redis_that_comes_back_empty_is_used_as_it_is() {
    let mut server = RedisServer::start().await;
    let provider = Arc::new(Scripted::echo());
    let gateway = gateway(config(""), Store::Redis(server.url()), provider.clone()).await;
    ask_until_answered(&gateway, "s", 0).await;
    server.kill();
    std::fs::remove_dir_all(server.folder().join("appendonlydir")).unwrap();
    server.start_again().await;
    ask_until_answered(&gateway, "s", 0).await;
    assert_eq!(provider.calls(), 2, "what Redis lost is asked again");
    status(&gateway).await;
}

/// As a worker does: again after each "come again".
async fn ask_until_answered(gateway: &Gateway, session: &str, index: u32) {
    loop {
        match client(gateway).decide(request(session, index, "hi")).await {
            Ok(_) => return,
            Err(told) => assert_eq!(told.code(), Code::Unavailable, "{told}"),
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
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

/// Renewals come every 5 s. Redis is away at the first one, and meanwhile one of
/// two waiting questions loses its claim and the other one's goes to another.
#[tokio::test]
async fn claims_lost_in_an_outage_are_taken_again_or_left_to_who_has_them() {
    let mut server = RedisServer::start().await;
    let provider = Arc::new(Scripted::echo().with_latency(Duration::from_millis(6_500)));
    let limits = "limits = { concurrency = 1 }";
    let gateway = gateway(config(limits), Store::Redis(server.url()), provider.clone()).await;
    let decide = |index| {
        let mut client = client(&gateway);
        tokio::spawn(async move { client.decide(request("s", index, "hi")).await })
    };
    let first = decide(0);
    until("the call has left", async || provider.calls() == 1).await;
    let began = Instant::now();
    let (theirs, ours) = (decide(1), decide(2));
    until("both wait", async || {
        status(&gateway).await.waiting_for_quota == 2
    })
    .await;
    let claims = "agon:claims:{s}";
    let mut redis = server.connection().await;
    let claim: String = redis.hget(claims, "0/1").await.unwrap();
    let digest = claim.rsplit(' ').next().unwrap().to_owned();
    let other = format!("99999999999999 other {digest}");
    let _: () = redis.hset(claims, "0/1", other).await.unwrap();
    let _: () = redis.hdel(claims, "0/2").await.unwrap();

    tokio::time::sleep_until((began + Duration::from_millis(4_700)).into()).await;
    server.kill();
    tokio::time::sleep_until((began + Duration::from_millis(5_500)).into()).await;
    server.start_again().await;
    until("one claim is taken again", async || {
        let claim: Result<Option<String>, _> = redis.hget(claims, "0/2").await;
        claim.is_ok_and(|claim| claim.is_some())
    })
    .await;
    // Not at the next regular renewal.
    assert!(
        began.elapsed() < Duration::from_secs(8),
        "{:?}",
        began.elapsed()
    );

    first.await.unwrap().unwrap();
    ours.await.unwrap().unwrap();
    assert_eq!(provider.calls(), 2, "no call for what another is asking");
    let ledger = RedisLedger::new(server.connection().await);
    let address = DecisionAddress {
        session_id: "s".to_owned(),
        seat: 0,
        index: 1,
    };
    let mut decision = ledger.list("s").await.unwrap().remove(0).1;
    decision.request_digest = digest.into();
    decision.reply = "from the other".to_owned();
    ledger.record(&address, decision).await.unwrap();
    let answer = theirs.await.unwrap().unwrap().into_inner();
    assert_eq!(answer.reply, "from the other");
    assert_eq!(provider.calls(), 2);
}

/// Redis hears of a claim too late to answer in time: the caller is told to come again, and the claim
/// that nobody holds is given back.
#[tokio::test]
async fn claim_whose_answer_was_lost_is_given_back() {
    let server = RedisServer::start().await;
    let provider = Arc::new(Scripted::echo());
    let gateway = gateway(config(""), Store::Redis(server.url()), provider.clone()).await;
    let mut redis = server.connection().await;
    // Longer than answers are waited for.
    let pause = redis::cmd("CLIENT")
        .arg(&["PAUSE", "5400", "ALL"])
        .to_owned();
    let () = pause.query_async(&mut redis).await.unwrap();
    let asked = client(&gateway).decide(request("s", 0, "hi")).await;
    assert_eq!(asked.unwrap_err().code(), Code::Unavailable);
    until("the address is free", async || {
        let claimed: bool = redis.hexists("agon:claims:{s}", "0/0").await.unwrap();
        !claimed
    })
    .await;
    client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap();
    assert_eq!(provider.calls(), 1);
}

#[tokio::test]
async fn hold_that_redis_did_not_take_is_made_when_it_is_back() {
    let mut server = RedisServer::start().await;
    let provider = Scripted::new(|_, number| match number {
        0 => Err(Refusal {
            remedy: Remedy::HoldKey(Some(Duration::from_secs(8))),
            reason: "slow down".to_owned(),
            arrived: Arrived::Refused,
            overloaded: false,
            signals: Default::default(),
        }),
        _ => Ok(Reply::default()),
    });
    let provider = Arc::new(provider.with_latency(Duration::from_millis(300)));
    let gateway = gateway(config(""), Store::Redis(server.url()), provider.clone()).await;
    let call = tokio::spawn({
        let mut client = client(&gateway);
        async move { client.decide(request("s", 0, "hi")).await }
    });
    until("the call has left", async || provider.calls() == 1).await;
    server.kill();
    tokio::time::sleep(Duration::from_secs(2)).await;
    server.start_again().await;
    until("the key is held", async || {
        let asked = GetGatewayStatusRequest::default();
        let status = client(&gateway).get_gateway_status(asked).await;
        status.is_ok_and(|status| status.get_ref().keys.iter().any(|key| key.held_for_ms > 0))
    })
    .await;
    call.abort();
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
    let script = "trap '' XFSZ; exec \"$0\" \"$@\"";
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

    // While there is room for the reserve; without one nothing would be asked at all.
    let first = client(&gateway).decide(request("s", 0, "hi")).await;
    let _ = first.unwrap();
    limit_files("300000");
    let (recorded, waiting) = decide_until_troubled(&gateway, 1).await;
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
