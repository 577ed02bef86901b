//! The contract of a ledger, kept by both back ends; then what only one of them
//! can be asked: claims between replicas (Redis), death by kill -9 (embedded).

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::decision::{Decision, DecisionAddress, RequestDigest, Usage};
use agon_agent_gateway::ledger::{Claim, EmbeddedLedger, Ledger, RedisLedger};
use async_trait::async_trait;

use crate::redis_server::RedisServer;
use crate::support::until;

/// A place where a ledger can be opened, again and again.
#[async_trait]
trait Ground: Sync {
    async fn open(&self) -> Arc<dyn Ledger>;
}

struct EmbeddedGround(tempfile::TempDir);

#[async_trait]
impl Ground for EmbeddedGround {
    async fn open(&self) -> Arc<dyn Ledger> {
        Arc::new(EmbeddedLedger::open(&self.0.path().join("ledger.sqlite")).unwrap())
    }
}

#[async_trait]
impl Ground for RedisServer {
    async fn open(&self) -> Arc<dyn Ledger> {
        Arc::new(RedisLedger::new(self.connection().await))
    }
}

macro_rules! contract {
    ($($claim:ident),* $(,)?) => {
        mod embedded {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(&super::EmbeddedGround(tempfile::tempdir().unwrap())).await;
            })*
        }
        mod redis {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(&crate::redis_server::RedisServer::start().await).await;
            })*
        }
    };
}

contract!(
    unknown_address_is_granted_and_filled,
    other_request_is_a_conflict_naming_the_first,
    first_recording_stands,
    list_is_in_order_of_seat_and_index,
    forgetting_deletes_only_what_is_named,
    decisions_survive_reopening,
    many_recordings_at_once_all_stand,
    claim_can_be_taken_again_by_its_holder,
);

const HOLDER: &str = "holder";

fn address(session_id: &str, seat: u32, index: u32) -> DecisionAddress {
    DecisionAddress {
        session_id: session_id.to_owned(),
        seat,
        index,
    }
}

fn digest(text: &str) -> RequestDigest {
    text.to_owned().into()
}

fn decision(reply: &str) -> Decision {
    Decision {
        request_digest: digest("d"),
        reply: reply.to_owned(),
        answered_by: "model \"x\"".to_owned(),
        finish_reason: "stop".to_owned(),
        usage: Usage {
            input_tokens: 1,
            output_tokens: 2,
            cached_input_tokens: 3,
            reasoning_tokens: 4,
            estimated: true,
        },
        simulated: true,
    }
}

async fn unknown_address_is_granted_and_filled(ground: &dyn Ground) {
    let ledger = ground.open().await;
    let place = address("s", 0, 0);
    assert_eq!(
        ledger.claim(&place, &digest("d"), HOLDER).await.unwrap(),
        Claim::Granted
    );
    let filled = decision("a\nb \u{1F600} '\"");
    assert_eq!(ledger.record(&place, filled.clone()).await.unwrap(), filled);
    let again = ledger.claim(&place, &digest("d"), HOLDER).await.unwrap();
    assert_eq!(again, Claim::Recorded(filled));
}

async fn other_request_is_a_conflict_naming_the_first(ground: &dyn Ground) {
    let ledger = ground.open().await;
    let place = address("s", 0, 0);
    ledger.record(&place, decision("a")).await.unwrap();
    let other = ledger.claim(&place, &digest("e"), HOLDER).await.unwrap();
    assert_eq!(other, Claim::Conflict(digest("d")));
}

async fn first_recording_stands(ground: &dyn Ground) {
    let ledger = ground.open().await;
    let place = address("s", 0, 0);
    ledger.record(&place, decision("first")).await.unwrap();
    let standing = ledger.record(&place, decision("second")).await.unwrap();
    assert_eq!(standing.reply, "first");
    let kept = ledger.claim(&place, &digest("d"), HOLDER).await.unwrap();
    assert_eq!(kept, Claim::Recorded(decision("first")));
}

async fn list_is_in_order_of_seat_and_index(ground: &dyn Ground) {
    let ledger = ground.open().await;
    for (seat, index) in [(10, 0), (2, 11), (2, 9), (0, 100)] {
        let place = address("s", seat, index);
        ledger.record(&place, decision("x")).await.unwrap();
    }
    ledger
        .record(&address("t", 0, 0), decision("y"))
        .await
        .unwrap();
    let listed = ledger.list("s").await.unwrap();
    let places: Vec<_> = listed.iter().map(|(at, _)| (at.seat, at.index)).collect();
    assert_eq!(places, [(0, 100), (2, 9), (2, 11), (10, 0)]);
    assert!(listed.iter().all(|(_, kept)| *kept == decision("x")));
    assert!(ledger.list("unknown").await.unwrap().is_empty());
}

async fn forgetting_deletes_only_what_is_named(ground: &dyn Ground) {
    let ledger = ground.open().await;
    for session in ["a", "b", "c"] {
        ledger
            .record(&address(session, 0, 0), decision(session))
            .await
            .unwrap();
    }
    for _ in 0..2 {
        let named = ["a".to_owned(), "c".to_owned(), "unknown".to_owned()];
        ledger.forget(&named).await.unwrap();
    }
    ledger.forget(&[]).await.unwrap();
    assert!(ledger.list("a").await.unwrap().is_empty());
    assert_eq!(ledger.list("b").await.unwrap().len(), 1);
    let again = ledger
        .claim(&address("c", 0, 0), &digest("other"), HOLDER)
        .await
        .unwrap();
    assert_eq!(again, Claim::Granted);
}

async fn decisions_survive_reopening(ground: &dyn Ground) {
    let ledger = ground.open().await;
    ledger
        .record(&address("s", 0, 0), decision("kept"))
        .await
        .unwrap();
    ledger.close().await;
    drop(ledger);
    let listed = ground.open().await.list("s").await.unwrap();
    assert_eq!(listed, [(address("s", 0, 0), decision("kept"))]);
}

async fn many_recordings_at_once_all_stand(ground: &dyn Ground) {
    let ledger = ground.open().await;
    let recordings = (0..2_000).map(|index| {
        let ledger = Arc::clone(&ledger);
        async move {
            ledger
                .record(&address("s", index % 7, index), decision("x"))
                .await
        }
    });
    for recorded in futures_util::future::join_all(recordings).await {
        recorded.unwrap();
    }
    assert_eq!(ledger.list("s").await.unwrap().len(), 2_000);
}

async fn claim_can_be_taken_again_by_its_holder(ground: &dyn Ground) {
    let ledger = ground.open().await;
    let place = address("s", 0, 0);
    for _ in 0..2 {
        assert_eq!(
            ledger.claim(&place, &digest("d"), HOLDER).await.unwrap(),
            Claim::Granted
        );
    }
    ledger.renew(&place, HOLDER).await.unwrap();
    ledger.release(&place, HOLDER).await.unwrap();
    assert_eq!(
        ledger.claim(&place, &digest("e"), HOLDER).await.unwrap(),
        Claim::Granted
    );
}

/// A ledger whose claims last this long.
async fn short_claims(server: &RedisServer, ttl: Duration) -> RedisLedger {
    RedisLedger::new(server.connection().await).with_claim_ttl(ttl)
}

#[tokio::test]
async fn claim_of_a_living_holder_is_respected_until_released() {
    let server = RedisServer::start().await;
    let ledger = short_claims(&server, Duration::from_secs(60)).await;
    let place = address("s", 0, 0);
    let claim = async |holder: &str, asked: &str| {
        ledger.claim(&place, &digest(asked), holder).await.unwrap()
    };
    assert_eq!(claim("one", "d").await, Claim::Granted);
    assert_eq!(claim("two", "d").await, Claim::HeldElsewhere);
    assert_eq!(claim("two", "e").await, Claim::Conflict(digest("d")));
    ledger.release(&place, "two").await.unwrap();
    assert_eq!(claim("two", "d").await, Claim::HeldElsewhere);
    ledger.release(&place, "one").await.unwrap();
    assert_eq!(claim("two", "d").await, Claim::Granted);
}

#[tokio::test]
async fn claim_of_a_dead_holder_passes_on_but_not_while_it_renews() {
    let server = RedisServer::start().await;
    let ttl = Duration::from_millis(400);
    let ledger = short_claims(&server, ttl).await;
    let place = address("s", 0, 0);
    let claim = async |holder: &str| ledger.claim(&place, &digest("d"), holder).await.unwrap();
    assert_eq!(claim("one").await, Claim::Granted);
    for _ in 0..8 {
        ledger.renew(&place, "one").await.unwrap();
        assert_eq!(claim("two").await, Claim::HeldElsewhere);
        tokio::time::sleep(ttl / 4).await;
    }
    until("the claim is free", async || {
        claim("two").await == Claim::Granted
    })
    .await;
    // The dead one was only slow: it cannot take the claim back, but whoever
    // records first is who everybody answers with.
    ledger.renew(&place, "one").await.unwrap();
    assert_eq!(claim("one").await, Claim::HeldElsewhere);
    ledger.record(&place, decision("slow")).await.unwrap();
    let standing = ledger.record(&place, decision("quick")).await.unwrap();
    assert_eq!(standing.reply, "slow");
}

/// Set for the process that is to be killed; holds the ledger's path.
const VICTIM: &str = "AGON_TEST_LEDGER_VICTIM";

#[tokio::test]
async fn killed_process_loses_nothing_it_acknowledged() {
    if let Some(path) = std::env::var_os(VICTIM) {
        return record_until_killed(std::path::Path::new(&path)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite");
    let name = "ledger_contract::killed_process_loses_nothing_it_acknowledged";
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(VICTIM, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let said = lines
        .map_while(Result::ok)
        .filter_map(|line| line.parse::<u32>().ok());
    let acknowledged: Vec<u32> = said.take(300).collect();
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert_eq!(acknowledged.len(), 300);

    let ledger = EmbeddedLedger::open(&path).unwrap();
    let kept = ledger.list("s").await.unwrap();
    let kept: Vec<u32> = kept.iter().map(|(at, _)| at.index).collect();
    assert!(acknowledged.iter().all(|index| kept.contains(index)));
}

async fn record_until_killed(path: &std::path::Path) {
    let ledger = EmbeddedLedger::open(path).unwrap();
    for index in 0..1_000_000 {
        ledger
            .record(&address("s", 0, index), decision("x"))
            .await
            .unwrap();
        println!("{index}");
    }
}

#[tokio::test]
async fn file_that_cannot_be_a_ledger_is_one_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sqlite");
    std::fs::write(
        &path,
        "this is not a database, it is far too long to be an empty one",
    )
    .unwrap();
    let error = EmbeddedLedger::open(&path).err().unwrap();
    assert!(error.to_string().contains("cannot open the ledger file"));
    assert!(error.to_string().contains("ledger.sqlite"));

    let _held = EmbeddedLedger::open(&folder.path().join("fine.sqlite")).unwrap();
    let error = EmbeddedLedger::open(&folder.path().join("fine.sqlite"))
        .err()
        .unwrap();
    assert!(
        error.to_string().contains("in use by another process"),
        "{error}"
    );

    let inside_a_file = path.join("deeper").join("ledger.sqlite");
    let error = EmbeddedLedger::open(&inside_a_file).err().unwrap();
    assert!(
        error
            .to_string()
            .contains("cannot use the place of the ledger file")
    );
}
