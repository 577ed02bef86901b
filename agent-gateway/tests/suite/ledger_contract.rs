//! The contract of a ledger, kept by both back ends; then what only one of them
//! can be asked: claims between replicas (Redis), death by kill -9 (embedded).

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::decision::{Decision, DecisionAddress, RequestDigest, Usage};
use agon_agent_gateway::ledger::{Claim, EmbeddedLedger, Ledger, RedisLedger};
use async_trait::async_trait;

use crate::ground::{Ground, ScratchFiles, contract};
use crate::redis_server::RedisServer;
use crate::support::until;

#[async_trait]
impl Ground<dyn Ledger> for ScratchFiles {
    async fn open(&self) -> Arc<dyn Ledger> {
        let file = self.file("ledger.sqlite");
        Arc::new(EmbeddedLedger::open_with_clock(&file, self.clock()).unwrap())
    }

    fn pass(&self, time: Duration) {
        self.move_clock(time);
    }
}

#[async_trait]
impl Ground<dyn Ledger> for RedisServer {
    async fn open(&self) -> Arc<dyn Ledger> {
        Arc::new(RedisLedger::new(self.connection().await))
    }
}

contract!(
    ScratchFiles::new();
    unknown_address_is_granted_and_filled,
    other_request_is_a_conflict_naming_the_first,
    first_recording_stands,
    list_is_in_order_of_seat_and_index,
    forgetting_deletes_only_what_is_named,
    forgotten_session_is_readable_until_its_grace_is_over,
    forgetting_again_never_lengthens_the_grace,
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
            ..Usage::default()
        },
        simulated: true,
        model: "m".to_owned(),
        cost: None,
        from_content_cache: false,
        reasoning: None,
        applied: None,
        logprobs: None,
    }
}

async fn unknown_address_is_granted_and_filled(ground: &dyn Ground<dyn Ledger>) {
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

async fn other_request_is_a_conflict_naming_the_first(ground: &dyn Ground<dyn Ledger>) {
    let ledger = ground.open().await;
    let place = address("s", 0, 0);
    ledger.record(&place, decision("a")).await.unwrap();
    let other = ledger.claim(&place, &digest("e"), HOLDER).await.unwrap();
    assert_eq!(other, Claim::Conflict(digest("d")));
}

async fn first_recording_stands(ground: &dyn Ground<dyn Ledger>) {
    let ledger = ground.open().await;
    let place = address("s", 0, 0);
    ledger.record(&place, decision("first")).await.unwrap();
    let standing = ledger.record(&place, decision("second")).await.unwrap();
    assert_eq!(standing.reply, "first");
    let kept = ledger.claim(&place, &digest("d"), HOLDER).await.unwrap();
    assert_eq!(kept, Claim::Recorded(decision("first")));
}

async fn list_is_in_order_of_seat_and_index(ground: &dyn Ground<dyn Ledger>) {
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

const HOUR: Duration = Duration::from_secs(3_600);

/// Longer than the embedded ledger leaves between two looks at what is due.
const A_LOOK: Duration = Duration::from_secs(61);

async fn record_sessions(ledger: &dyn Ledger, sessions: &[&str]) {
    for session in sessions {
        let place = address(session, 0, 0);
        ledger.record(&place, decision(session)).await.unwrap();
    }
}

async fn forget(ledger: &dyn Ledger, sessions: &[&str], grace: Duration) {
    let named: Vec<String> = sessions.iter().map(ToString::to_string).collect();
    ledger.forget(&named, grace).await.unwrap();
}

async fn until_gone(ledger: &dyn Ledger, session: &str) {
    until("the session is deleted", async || {
        ledger.list(session).await.unwrap().is_empty()
    })
    .await;
}

async fn forgetting_deletes_only_what_is_named(ground: &dyn Ground<dyn Ledger>) {
    let ledger = ground.open().await;
    record_sessions(&*ledger, &["a", "b", "c"]).await;
    for _ in 0..2 {
        forget(&*ledger, &["a", "c", "unknown"], Duration::ZERO).await;
    }
    forget(&*ledger, &[], Duration::ZERO).await;
    ground.pass(A_LOOK);
    until_gone(&*ledger, "a").await;
    until_gone(&*ledger, "c").await;
    assert_eq!(ledger.list("b").await.unwrap().len(), 1);
    let again = ledger
        .claim(&address("c", 0, 0), &digest("other"), HOLDER)
        .await
        .unwrap();
    assert_eq!(again, Claim::Granted);
    // What is played anew stays: the forgetting was of the old ledger.
    record_sessions(&*ledger, &["c", "unknown"]).await;
    ground.pass(A_LOOK);
    for session in ["c", "unknown", "c", "unknown"] {
        assert_eq!(ledger.list(session).await.unwrap().len(), 1);
    }
}

async fn forgotten_session_is_readable_until_its_grace_is_over(ground: &dyn Ground<dyn Ledger>) {
    let ledger = ground.open().await;
    record_sessions(&*ledger, &["long", "short"]).await;
    forget(&*ledger, &["long"], HOUR).await;
    forget(&*ledger, &["short"], Duration::from_millis(300)).await;
    // Somebody else still plays it.
    let later = address("short", 1, 0);
    ledger.record(&later, decision("late")).await.unwrap();
    ground.pass(A_LOOK);
    until_gone(&*ledger, "short").await;

    ledger.close().await;
    drop(ledger);
    let ledger = ground.open().await;
    let place = address("long", 0, 0);
    let kept = ledger.claim(&place, &digest("d"), HOLDER).await.unwrap();
    assert_eq!(kept, Claim::Recorded(decision("long")));
    assert_eq!(ledger.list("long").await.unwrap().len(), 1);
}

async fn forgetting_again_never_lengthens_the_grace(ground: &dyn Ground<dyn Ledger>) {
    let ledger = ground.open().await;
    record_sessions(&*ledger, &["s", "t"]).await;
    forget(&*ledger, &["s"], Duration::from_millis(300)).await;
    forget(&*ledger, &["s"], HOUR).await;
    forget(&*ledger, &["t"], HOUR).await;
    forget(&*ledger, &["t"], Duration::from_millis(300)).await;
    ground.pass(A_LOOK);
    until_gone(&*ledger, "s").await;
    until_gone(&*ledger, "t").await;
}

async fn decisions_survive_reopening(ground: &dyn Ground<dyn Ledger>) {
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

async fn many_recordings_at_once_all_stand(ground: &dyn Ground<dyn Ledger>) {
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

async fn claim_can_be_taken_again_by_its_holder(ground: &dyn Ground<dyn Ledger>) {
    let ledger = ground.open().await;
    let place = address("s", 0, 0);
    for _ in 0..2 {
        assert_eq!(
            ledger.claim(&place, &digest("d"), HOLDER).await.unwrap(),
            Claim::Granted
        );
    }
    assert!(ledger.renew(&place, HOLDER).await.unwrap());
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

#[tokio::test]
async fn forgotten_while_away_is_deleted_at_the_next_opening() {
    let ground = ScratchFiles::new();
    let ledger = ground.open().await;
    let sessions: Vec<String> = (0..250).map(|number| format!("s{number}")).collect();
    let sessions: Vec<&str> = sessions.iter().map(String::as_str).collect();
    record_sessions(&*ledger, &sessions).await;
    forget(&*ledger, &sessions, HOUR).await;
    ledger.close().await;
    drop(ledger);
    ground.move_clock(HOUR);
    let ledger = ground.open().await;
    // More than one look deletes; every wake goes on with the rest.
    for session in sessions {
        until_gone(&*ledger, session).await;
    }
    ledger.close().await;
    let file = rusqlite::Connection::open(ground.file("ledger.sqlite")).unwrap();
    for table in ["decisions", "forgotten"] {
        let count = format!("SELECT count(*) FROM {table}");
        let left: i64 = file.query_row(&count, [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
}

#[tokio::test]
async fn ledger_in_redis_expires_at_last_but_its_writes_prolong_it() {
    let server = RedisServer::start().await;
    let ledger = server.open().await;
    let mut connection = server.connection().await;
    let mut left = async || -> i64 {
        let asked = ::redis::cmd("TTL")
            .arg("agon:ledger:{s}")
            .query_async(&mut connection)
            .await;
        asked.unwrap()
    };
    let day = 24 * 3_600;
    record_sessions(&*ledger, &["s"]).await;
    assert!((29 * day..=30 * day).contains(&left().await));
    forget(&*ledger, &["s"], HOUR).await;
    ledger
        .record(&address("s", 0, 1), decision("x"))
        .await
        .unwrap();
    assert!((3_000..=3_600).contains(&left().await));
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
    assert!(error.to_string().contains("cannot open the ledger"));
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
