//! The contract of a store of open asks, kept by both back ends; then what only
//! Redis can be asked: replicas that meet at a door, and asks of dead ones.

use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::decision::{DecisionAddress, Message, RequestDigest, Role};
use agon_agent_gateway::door_store::{
    DoorAnswer, DoorStore, EmbeddedDoors, OpenAsk, RedisDoors, SubmitOutcome, SubmittedAnswer,
};
use futures_util::FutureExt as _;
use tokio::task::JoinHandle;

use crate::redis_server::RedisServer;
use crate::support::until;

type Doors = Arc<dyn DoorStore>;

fn ask(index: u32, digest: &str) -> OpenAsk {
    OpenAsk {
        door: "alice".to_owned(),
        address: DecisionAddress {
            session_id: "s".to_owned(),
            seat: 1,
            index,
        },
        digest: RequestDigest::from(digest.to_owned()),
        team: "red".to_owned(),
        experiment_id: "e".to_owned(),
        purpose: "act".to_owned(),
        messages: vec![Message {
            role: Role::User,
            content: "how much?\n\"twice\"".to_owned(),
        }],
        reply_format: None,
        stand_in: None,
        seen: None,
    }
}

fn answer(to: &OpenAsk, reply: &str) -> SubmittedAnswer {
    SubmittedAnswer {
        door: to.door.clone(),
        address: to.address.clone(),
        digest: to.digest.clone(),
        team: None,
        answer: DoorAnswer {
            reply: reply.to_owned(),
            answered_by: "Alice".to_owned(),
            in_time: true,
        },
    }
}

fn begin(doors: &Doors, ask: &OpenAsk) -> JoinHandle<DoorAnswer> {
    let (doors, ask) = (Arc::clone(doors), ask.clone());
    // Who asks while Redis is away asks again, as a decision does.
    tokio::spawn(async move {
        loop {
            match doors.ask(&ask).await {
                Ok(answer) => return answer,
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    })
}

async fn open(doors: &Doors) -> Vec<OpenAsk> {
    let listing = doors.list("alice").await.unwrap();
    listing.asks.into_iter().map(|open| open.ask).collect()
}

async fn until_open(doors: &Doors, asks: &[OpenAsk]) {
    until("the asks are open", async || open(doors).await == asks).await;
}

async fn ask_is_listed_whole_and_oldest_first(doors: Doors) {
    let (first, second) = (ask(7, "d"), ask(2, "d"));
    let one = begin(&doors, &first);
    until_open(&doors, std::slice::from_ref(&first)).await;
    tokio::time::sleep(Duration::from_millis(3)).await;
    let two = begin(&doors, &second);
    until_open(&doors, &[first, second]).await;
    let listing = doors.list("alice").await.unwrap();
    assert!(listing.asks[0].waiting >= listing.asks[1].waiting);
    assert!(doors.list("bob").await.unwrap().asks.is_empty());
    for waiting in [one, two] {
        waiting.abort();
    }
}

async fn answer_reaches_who_waits_and_the_first_stands(doors: Doors) {
    let asked = ask(0, "d");
    let nobody = doors.answer(&answer(&asked, "9")).await.unwrap();
    assert_eq!(nobody, SubmitOutcome::NobodyAsks);
    let waiting = begin(&doors, &asked);
    until_open(&doors, std::slice::from_ref(&asked)).await;

    let mut elsewhere = answer(&asked, "9");
    elsewhere.door = "bob".to_owned();
    assert_eq!(
        doors.answer(&elsewhere).await.unwrap(),
        SubmitOutcome::NobodyAsks
    );
    let other = answer(&ask(0, "e"), "9");
    assert_eq!(
        doors.answer(&other).await.unwrap(),
        SubmitOutcome::OtherRequest(asked.digest.clone())
    );
    let mut theirs = answer(&asked, "9");
    theirs.team = Some("blue".to_owned());
    assert_eq!(
        doors.answer(&theirs).await.unwrap(),
        SubmitOutcome::NobodyAsks
    );

    let mut ours = answer(&asked, "9");
    ours.team = Some("red".to_owned());
    assert_eq!(doors.answer(&ours).await.unwrap(), SubmitOutcome::Stands);
    assert_eq!(doors.answer(&ours).await.unwrap(), SubmitOutcome::Stands);
    assert_eq!(
        doors.answer(&answer(&asked, "10")).await.unwrap(),
        SubmitOutcome::AnsweredDifferently
    );
    assert!(open(&doors).await.is_empty());
    let answer = waiting.await.unwrap();
    assert_eq!((&*answer.reply, &*answer.answered_by), ("9", "Alice"));

    doors.done(&asked).await.unwrap();
    assert_eq!(
        doors.answer(&ours).await.unwrap(),
        SubmitOutcome::NobodyAsks
    );
}

async fn ask_for_which_nobody_waits_disappears(doors: Doors) {
    let asked = ask(0, "d");
    let waiting = begin(&doors, &asked);
    until_open(&doors, std::slice::from_ref(&asked)).await;
    waiting.abort();
    let _ = waiting.await;
    assert_eq!(doors.leave(&asked).await.unwrap(), None);
    assert!(open(&doors).await.is_empty());
    let handed = doors.answer(&answer(&asked, "9")).await.unwrap();
    assert_eq!(handed, SubmitOutcome::NobodyAsks);
}

async fn answer_at_the_last_moment_is_there_for_who_leaves_and_who_asks_again(doors: Doors) {
    let asked = ask(0, "d");
    let waiting = begin(&doors, &asked);
    until_open(&doors, std::slice::from_ref(&asked)).await;
    doors.answer(&answer(&asked, "9")).await.unwrap();
    waiting.abort();
    let _ = waiting.await;
    let handed = Some(answer(&asked, "9").answer);
    assert_eq!(doors.leave(&asked).await.unwrap(), handed);
    assert_eq!(doors.ask(&asked).await.unwrap().reply, "9");
    // Not for another question, though.
    assert_eq!(doors.leave(&ask(0, "e")).await.unwrap(), None);
    let other = ask(0, "e");
    let waiting = begin(&doors, &other);
    until_open(&doors, std::slice::from_ref(&other)).await;
    doors.answer(&answer(&other, "11")).await.unwrap();
    assert_eq!(waiting.await.unwrap().reply, "11");
}

async fn watcher_is_told_of_every_change(doors: Doors) {
    let before = doors.list("alice").await.unwrap().version;
    let quiet = doors.changed("alice", before);
    assert!(quiet.now_or_never().is_none());
    let asked = ask(0, "d");
    let waiting = begin(&doors, &asked);
    doors.changed("alice", before).await.unwrap();
    until_open(&doors, std::slice::from_ref(&asked)).await;
    let open = doors.list("alice").await.unwrap().version;
    doors.answer(&answer(&asked, "9")).await.unwrap();
    doors.changed("alice", open).await.unwrap();
    waiting.await.unwrap();
    assert!(doors.list("alice").await.unwrap().asks.is_empty());
}

async fn thousand_asks_are_each_answered_with_their_own(doors: Doors) {
    let asks: Vec<OpenAsk> = (0..1_000).map(|index| ask(index, "d")).collect();
    let waiting: Vec<_> = asks.iter().map(|ask| begin(&doors, ask)).collect();
    until("all are open", async || open(&doors).await.len() == 1_000).await;
    for ask in &asks {
        let reply = ask.address.index.to_string();
        doors.answer(&answer(ask, &reply)).await.unwrap();
    }
    for (index, waiting) in waiting.into_iter().enumerate() {
        assert_eq!(waiting.await.unwrap().reply, index.to_string());
    }
}

macro_rules! contract {
    ($($claim:ident)*) => {
        mod in_memory {
            use super::*;
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(Arc::new(EmbeddedDoors::default())).await;
            })*
        }

        mod in_redis {
            use super::*;
            $(#[tokio::test]
            async fn $claim() {
                let server = RedisServer::start().await;
                super::$claim(Arc::new(RedisDoors::new(server.connection().await))).await;
            })*
        }
    };
}

contract! {
    ask_is_listed_whole_and_oldest_first
    answer_reaches_who_waits_and_the_first_stands
    ask_for_which_nobody_waits_disappears
    answer_at_the_last_moment_is_there_for_who_leaves_and_who_asks_again
    watcher_is_told_of_every_change
    thousand_asks_are_each_answered_with_their_own
}

/// Two replicas whose asks go soon when they die.
async fn replicas(server: &RedisServer) -> [Doors; 2] {
    let mut doors = Vec::new();
    for _ in 0..2 {
        let opened = RedisDoors::new(server.connection().await);
        doors.push(Arc::new(opened.with_open_for(Duration::from_millis(900))) as Doors);
    }
    doors.try_into().ok().unwrap()
}

#[tokio::test]
async fn answer_handed_to_another_replica_reaches_the_waiting_one() {
    let server = RedisServer::start().await;
    let [one, two] = replicas(&server).await;
    let asked = ask(0, "d");
    let waiting = begin(&one, &asked);
    until_open(&two, std::slice::from_ref(&asked)).await;
    two.answer(&answer(&asked, "9")).await.unwrap();
    assert_eq!(waiting.await.unwrap().reply, "9");
}

#[tokio::test]
async fn ask_of_a_dead_replica_goes_by_itself_but_not_one_that_is_tended() {
    let server = RedisServer::start().await;
    let [one, two] = replicas(&server).await;
    let (dead, alive) = (ask(0, "d"), ask(1, "d"));
    let dying = begin(&one, &dead);
    until_open(&two, std::slice::from_ref(&dead)).await;
    let waiting = begin(&one, &alive);
    until("both are open", async || open(&two).await.len() == 2).await;
    dying.abort();
    let before = two.list("alice").await.unwrap().version;
    two.changed("alice", before).await.unwrap();
    assert_eq!(open(&two).await, [alive]);
    assert!(!waiting.is_finished());
    let late = two.answer(&answer(&dead, "9")).await.unwrap();
    assert_eq!(late, SubmitOutcome::NobodyAsks);
}

#[tokio::test]
async fn ask_survives_that_redis_loses_everything() {
    let server = RedisServer::start().await;
    let [one, two] = replicas(&server).await;
    let asked = ask(0, "d");
    let waiting = begin(&one, &asked);
    until_open(&two, std::slice::from_ref(&asked)).await;
    let mut connection = server.connection().await;
    let flush = redis::cmd("FLUSHALL");
    flush.query_async::<()>(&mut connection).await.unwrap();
    until_open(&two, std::slice::from_ref(&asked)).await;
    two.answer(&answer(&asked, "9")).await.unwrap();
    assert_eq!(waiting.await.unwrap().reply, "9");
}

#[tokio::test]
async fn person_is_not_asked_twice_because_redis_was_away() {
    let mut server = RedisServer::start().await;
    let [one, two] = replicas(&server).await;
    let asked = ask(0, "d");
    let waiting = begin(&one, &asked);
    until_open(&two, std::slice::from_ref(&asked)).await;
    server.kill();
    tokio::time::sleep(Duration::from_millis(300)).await;
    server.start_again().await;
    until("the ask is open again", async || {
        two.list("alice")
            .await
            .is_ok_and(|open| open.asks.len() == 1)
    })
    .await;
    until("the answer is taken", async || {
        two.answer(&answer(&asked, "9")).await.is_ok()
    })
    .await;
    assert_eq!(waiting.await.unwrap().reply, "9");
}
