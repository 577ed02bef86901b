//! Decisions that people and other programs make behind doors: over gRPC, over
//! HTTP, and with several replicas over one Redis.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_agent_gateway::Store;
use agon_agent_gateway::providers::{Refusal, Remedy, Scripted};
use agon_proto::v1::{
    AnswerAtDoorRequest, DecideRequest, DecideResponse, DoorAsk, ListDecisionsRequest, ReplyFormat,
    StandIn, WatchDoorRequest, WatchDoorResponse,
};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tonic::{Code, Status, Streaming};

use crate::doors_http::{BLUE, House, RED, ask};
use crate::redis_server::RedisServer;
use crate::support::{Client, client, request, status, until};

fn at_door(session_id: &str, index: u32) -> DecideRequest {
    DecideRequest {
        model: "human/alice".to_owned(),
        team: "red".to_owned(),
        purpose: "act".to_owned(),
        reply_format: Some(ReplyFormat {
            name: "bid".to_owned(),
            json_schema: r#"{"type":"object"}"#.to_owned(),
        }),
        ..request(session_id, index, "how much?")
    }
}

fn decide(house: &House, asked: DecideRequest) -> JoinHandle<Result<DecideResponse, Status>> {
    let mut client = client(&house.gateway);
    tokio::spawn(async move { client.decide(asked).await.map(tonic::Response::into_inner) })
}

async fn watch(client: &mut Client, session_id: &str) -> Streaming<WatchDoorResponse> {
    let request = WatchDoorRequest {
        door: "alice".to_owned(),
        session_id: session_id.to_owned(),
    };
    client.watch_door(request).await.unwrap().into_inner()
}

async fn next(stream: &mut Streaming<WatchDoorResponse>) -> Vec<DoorAsk> {
    stream.message().await.unwrap().unwrap().asks
}

fn answer(to: &DoorAsk, reply: &str) -> AnswerAtDoorRequest {
    AnswerAtDoorRequest {
        door: "alice".to_owned(),
        address: to.address.clone(),
        request_digest: to.request_digest.clone(),
        reply: reply.to_owned(),
        answered_by: String::new(),
    }
}

async fn houses(store: Option<&RedisServer>, count: usize) -> Vec<House> {
    let mut houses = Vec::new();
    for _ in 0..count {
        let store = store.map(|server| Store::Redis(server.url()));
        houses.push(House::open(store, "", Arc::new(Scripted::echo())).await);
    }
    houses
}

/// What must hold whether the two are one replica or two.
async fn person_decides(asks: &House, answers: &House) {
    let mut door = client(&answers.gateway);
    let mut stream = watch(&mut door, "").await;
    assert!(next(&mut stream).await.is_empty());
    let waiting = decide(asks, at_door("s", 3));
    let shown = next(&mut stream).await;
    let [shown] = &shown[..] else {
        panic!("{shown:?}");
    };
    let address = shown.address.clone().unwrap();
    assert_eq!((&*address.session_id, address.index), ("s", 3));
    assert_eq!(shown.messages[0].content, "how much?");
    assert_eq!(shown.reply_format.as_ref().unwrap().name, "bid");
    assert_eq!((&*shown.purpose, &*shown.experiment_id), ("act", "e"));

    let mut other = answer(shown, "12");
    other.request_digest = "0".repeat(64);
    let refused = door.answer_at_door(other).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    door.answer_at_door(answer(shown, "12")).await.unwrap();
    let decision = waiting.await.unwrap().unwrap();
    assert_eq!((&*decision.reply, &*decision.answered_by), ("12", "alice"));
    assert_eq!(
        (&*decision.model, &*decision.finish_reason),
        ("human/alice", "stop")
    );
    assert_eq!(decision.usage.unwrap(), Default::default());
    assert_eq!(decision.cost_nanodollars, Some(0));
    assert!(next(&mut stream).await.is_empty());

    // Recorded, so it is asked once, and the first answer stands for good.
    let again = decide(answers, at_door("s", 3)).await.unwrap().unwrap();
    assert!(again.from_ledger && again.reply == "12");
    door.answer_at_door(answer(shown, "12")).await.unwrap();
    let late = door.answer_at_door(answer(shown, "13")).await.unwrap_err();
    assert_eq!(late.code(), Code::NotFound);
    assert!(late.message().contains("answered differently"), "{late}");
}

#[tokio::test]
async fn person_behind_a_door_makes_a_decision_like_any_other() {
    let house = &houses(None, 1).await[0];
    person_decides(house, house).await;
    assert_eq!(status(&house.gateway).await.provider_requests, 0);
}

#[tokio::test]
async fn person_at_another_replica_makes_the_decision() {
    let server = RedisServer::start().await;
    let houses = houses(Some(&server), 2).await;
    person_decides(&houses[0], &houses[1]).await;
}

/// What the stand-in of a timed question would answer.
const STOOD_IN: &str = "as agreed";

/// The same, for which somebody stands in after so long.
fn timed(session_id: &str, index: u32, after_ms: u64) -> DecideRequest {
    DecideRequest {
        stand_in: Some(Box::new(StandIn {
            after_ms,
            name: "truthful".to_owned(),
            reply: STOOD_IN.to_owned(),
        })),
        ..at_door(session_id, index)
    }
}

#[tokio::test]
async fn what_a_stand_in_would_answer_is_shown_at_no_door() {
    let server = RedisServer::start().await;
    for store in [None, Some(&server)] {
        let house = &houses(store, 1).await[0];
        let mut door = client(&house.gateway);
        let mut stream = watch(&mut door, "s").await;
        assert!(next(&mut stream).await.is_empty());
        let waiting = decide(house, timed("s", 0, 60_000));
        let shown = next(&mut stream).await;
        let sent = format!("{shown:?}");
        assert!(
            sent.contains("truthful") && sent.contains("60000"),
            "{sent}"
        );
        assert!(!sent.contains(STOOD_IN), "{sent}");
        let over_http = look(house, RED, "?session=s").await.to_string();
        assert!(over_http.contains("truthful"), "{over_http}");
        assert!(!over_http.contains(STOOD_IN), "{over_http}");
        waiting.abort();
    }
}

#[tokio::test]
async fn what_the_asked_seat_has_seen_is_shown_with_its_question() {
    let server = RedisServer::start().await;
    for store in [None, Some(&server)] {
        let house = &houses(store, 1).await[0];
        let mut door = client(&house.gateway);
        let mut stream = watch(&mut door, "s").await;
        assert!(next(&mut stream).await.is_empty());
        let seen = r#"{"game":"pirate","seat":0,"seats":2,"seen":[]}"#;
        let asked = DecideRequest {
            seen: Some(seen.to_owned()),
            ..at_door("s", 0)
        };
        let waiting = decide(house, asked);
        let shown = next(&mut stream).await;
        assert_eq!(shown[0].seen.as_deref(), Some(seen));
        let over_http = look(house, RED, "?session=s").await;
        assert_eq!(over_http["asks"][0]["seen"]["game"], "pirate");
        waiting.abort();
    }
}

#[tokio::test]
async fn stand_in_answers_when_nobody_has_in_time_and_the_decision_says_so() {
    let server = RedisServer::start().await;
    for store in [None, Some(&server)] {
        let house = &houses(store, 1).await[0];
        let mut door = client(&house.gateway);
        let mut stream = watch(&mut door, "s").await;
        assert!(next(&mut stream).await.is_empty());
        let began = Instant::now();
        let waiting = decide(house, timed("s", 0, 300));
        let shown = next(&mut stream).await;
        let stand_in = shown[0].stand_in.as_ref().unwrap();
        assert_eq!((&*stand_in.name, stand_in.after_ms), ("truthful", 300));
        let decision = waiting.await.unwrap().unwrap();
        assert!(began.elapsed() >= Duration::from_millis(300));
        assert_eq!(
            (&*decision.reply, &*decision.answered_by),
            (STOOD_IN, "truthful for alice")
        );
        assert_eq!(decision.finish_reason, "deadline");
        // Whoever comes too late is told, and what was recorded stands.
        let late = door.answer_at_door(answer(&shown[0], "12")).await;
        assert_eq!(late.unwrap_err().code(), Code::NotFound);
        let again = decide(house, timed("s", 0, 300)).await.unwrap().unwrap();
        assert!(again.from_ledger && again.reply == STOOD_IN);
        assert_eq!(again.finish_reason, "deadline");
    }
}

#[tokio::test]
async fn answer_in_time_stands_and_is_no_stand_ins() {
    let server = RedisServer::start().await;
    for store in [None, Some(&server)] {
        let house = &houses(store, 1).await[0];
        let mut door = client(&house.gateway);
        let mut stream = watch(&mut door, "s").await;
        assert!(next(&mut stream).await.is_empty());
        let waiting = decide(house, timed("s", 0, 60_000));
        let shown = next(&mut stream).await;
        door.answer_at_door(answer(&shown[0], "12")).await.unwrap();
        let decision = waiting.await.unwrap().unwrap();
        assert_eq!(
            (
                &*decision.reply,
                &*decision.answered_by,
                &*decision.finish_reason
            ),
            ("12", "alice", "stop")
        );
        // A deadline is a term and no part of the question: without one it is the same decision.
        let again = decide(house, at_door("s", 0)).await.unwrap().unwrap();
        assert!(again.from_ledger && again.reply == "12");
    }
}

#[tokio::test]
async fn ask_disappears_from_its_door_with_the_last_caller() {
    let server = RedisServer::start().await;
    for store in [None, Some(&server)] {
        let house = &houses(store, 1).await[0];
        let mut door = client(&house.gateway);
        let mut stream = watch(&mut door, "s").await;
        assert!(next(&mut stream).await.is_empty());
        // Of another session, which this watcher is not told of.
        let other = decide(house, at_door("other", 0));
        let (one, two) = (
            decide(house, at_door("s", 0)),
            decide(house, at_door("s", 0)),
        );
        let shown = next(&mut stream).await;
        assert_eq!(shown.len(), 1);
        one.abort();
        two.abort();
        assert!(next(&mut stream).await.is_empty());
        let late = door
            .answer_at_door(answer(&shown[0], "12"))
            .await
            .unwrap_err();
        assert_eq!(late.code(), Code::NotFound);
        other.abort();
    }
}

#[tokio::test]
async fn drained_gateway_sends_the_askers_and_watchers_of_doors_away() {
    let house = &houses(None, 1).await[0];
    let mut door = client(&house.gateway);
    let mut stream = watch(&mut door, "").await;
    next(&mut stream).await;
    let waiting = decide(house, at_door("s", 0));
    next(&mut stream).await;
    let began = Instant::now();
    house.gateway.drain(Duration::from_secs(10)).await;
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    let sent_away = waiting.await.unwrap().unwrap_err();
    assert_eq!(sent_away.code(), Code::Unavailable);
    while let Ok(message) = stream.message().await {
        // What was on its way comes first; the end says why.
        assert!(message.is_some());
    }
}

#[tokio::test]
async fn what_somebody_was_told_stands_is_recorded_though_the_gateway_stops() {
    const ASKED: u32 = 300;
    let folder = tempfile::tempdir().unwrap();
    let ledger = || Some(Store::Embedded(folder.path().join("ledger.sqlite")));
    let house = &House::open(ledger(), "", Arc::new(Scripted::echo())).await;
    let mut door = client(&house.gateway);
    let mut stream = watch(&mut door, "").await;
    let waiting: Vec<_> = (0..ASKED)
        .map(|index| decide(house, at_door("s", index)))
        .collect();
    let mut shown = Vec::new();
    while shown.len() < ASKED as usize {
        shown = next(&mut stream).await;
    }
    let answering: Vec<_> = shown
        .into_iter()
        .map(|ask| {
            let mut door = door.clone();
            tokio::spawn(async move {
                let stands = door.answer_at_door(answer(&ask, "12")).await;
                stands.is_ok().then(|| ask.address.unwrap().index)
            })
        })
        .collect();
    until("some are answered", async || {
        answering
            .iter()
            .filter(|answer| answer.is_finished())
            .count()
            > 20
    })
    .await;
    house.gateway.drain(Duration::from_secs(10)).await;
    let mut standing = HashSet::new();
    for answer in answering {
        standing.extend(answer.await.unwrap());
    }
    for waiting in waiting {
        let _ = waiting.await.unwrap();
    }

    let house = &House::open(ledger(), "", Arc::new(Scripted::echo())).await;
    let list = ListDecisionsRequest {
        session_id: "s".to_owned(),
    };
    let listed = client(&house.gateway).list_decisions(list).await.unwrap();
    let recorded = listed.into_inner().decisions.into_iter();
    let recorded: HashSet<u32> = recorded.map(|one| one.address.unwrap().index).collect();
    assert!(!standing.is_empty());
    assert_eq!(standing.difference(&recorded).count(), 0);
}

#[tokio::test]
async fn person_is_asked_when_the_model_cannot_answer() {
    let dead = Scripted::new(|_, _| Err(Refusal::new(Remedy::QuarantineKey, "no money")));
    let house = &House::open(None, "", Arc::new(dead)).await;
    let mut asked = request("s", 0, "hi");
    asked.fallback_models = vec!["human/alice".to_owned()];
    let waiting = decide(house, asked);
    let mut door = client(&house.gateway);
    let mut stream = watch(&mut door, "").await;
    let mut shown = next(&mut stream).await;
    while shown.is_empty() {
        shown = next(&mut stream).await;
    }
    door.answer_at_door(answer(&shown[0], "1")).await.unwrap();
    let decision = waiting.await.unwrap().unwrap();
    assert_eq!((&*decision.reply, &*decision.model), ("1", "human/alice"));
}

async fn look(house: &House, token: &str, query: &str) -> Value {
    let path = format!("/v1/doors/alice/asks{query}");
    let response = house.get(&path).bearer_auth(token).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    response.json().await.unwrap()
}

async fn hand_in(house: &House, token: &str, body: &Value) -> (u16, String) {
    let request = house
        .post("/v1/doors/alice/answers", body)
        .bearer_auth(token);
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    (status, response.text().await.unwrap())
}

#[tokio::test]
async fn external_player_of_the_team_plays_over_http() {
    let server = RedisServer::start().await;
    for store in [None, Some(&server)] {
        let house = &houses(store, 1).await[0];
        let nothing = look(house, RED, "").await;
        assert_eq!(nothing["asks"], json!([]));
        let of_blue = look(house, BLUE, "").await;
        let asked = decide(house, at_door("s", 3));
        // Waits until there is something, and shows it to its own team alone.
        let listed = look(house, RED, "?wait=20s&session=s").await;
        let shown = &listed["asks"][0];
        assert_eq!(
            shown["address"],
            json!({ "session_id": "s", "seat": 0, "index": 3 })
        );
        assert_eq!(
            shown["messages"],
            json!([{ "role": "user", "content": "how much?" }])
        );
        assert_eq!(
            shown["reply_format"]["json_schema"],
            json!({ "type": "object" })
        );
        assert_eq!(
            look(house, BLUE, "").await,
            of_blue,
            "not even that something changed"
        );
        assert_eq!(look(house, RED, "?session=t").await["asks"], json!([]));

        let body = |reply: &str, digest: &Value| {
            json!({
                "address": shown["address"], "request_digest": digest, "reply": reply,
                "answered_by": "bot-7",
            })
        };
        let digest = &shown["request_digest"];
        assert_eq!(hand_in(house, BLUE, &body("9", digest)).await.0, 404);
        let (status, said) = hand_in(house, RED, &body("9", &json!("00"))).await;
        assert_eq!(status, 409);
        assert!(said.contains("read the question again"), "{said}");
        assert_eq!(hand_in(house, RED, &body("9", digest)).await.0, 200);
        let decision = asked.await.unwrap().unwrap();
        assert_eq!((&*decision.reply, &*decision.answered_by), ("9", "bot-7"));
        until("it is gone", async || {
            look(house, RED, "").await["asks"] == json!([])
        })
        .await;
        // Once it is recorded, no token learns by trying what was asked and said.
        for token in [RED, BLUE] {
            for (reply, digest) in [("9", digest), ("10", digest), ("9", &json!("00"))] {
                let (status, said) = hand_in(house, token, &body(reply, digest)).await;
                assert_eq!(status, 404, "{said}");
                assert!(said.contains("nobody asks"), "{said}");
            }
        }
        let mut nobody = body("9", digest);
        nobody["address"]["index"] = json!(99);
        assert_eq!(hand_in(house, RED, &nobody).await.0, 404);
        assert_eq!(hand_in(house, RED, &json!({ "reply": 1 })).await.0, 400);
    }
}

#[tokio::test]
async fn long_poll_waits_for_another_version_or_its_time() {
    let house = &houses(None, 1).await[0];
    let waiting = decide(house, at_door("s", 0));
    let listed = look(house, RED, "?wait=20s").await;
    let after = format!("?wait=300ms&after={}", listed["version"].as_str().unwrap());
    let began = Instant::now();
    let same = look(house, RED, &after).await;
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert_eq!(same["version"], listed["version"]);
    let second = decide(house, at_door("s", 1));
    let mut after = after.replace("300ms", "20s");
    // The store may change before the second ask is in it.
    while look(house, RED, &after).await["asks"]
        .as_array()
        .unwrap()
        .len()
        != 2
    {
        let version = look(house, RED, "").await["version"].clone();
        after = format!("?wait=1s&after={}", version.as_str().unwrap());
    }
    waiting.abort();
    second.abort();
}

#[tokio::test]
async fn person_is_asked_through_chat_completions_too() {
    let house = &houses(None, 1).await[0];
    let mut body = ask("your move");
    body["model"] = json!("human/alice");
    body["stream"] = json!(true);
    let request = house.chat(&body).bearer_auth(RED);
    let asked = tokio::spawn(async move { request.send().await.unwrap().text().await.unwrap() });
    let listed = look(house, RED, "?wait=20s").await;
    let shown = &listed["asks"][0];
    let session = shown["address"]["session_id"].as_str().unwrap();
    assert!(session.starts_with("http-once/red/"), "{session}");
    // A person takes longer than a client would wait for headers.
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    let answer = json!({
        "address": shown["address"], "request_digest": shown["request_digest"], "reply": "e4",
    });
    assert_eq!(hand_in(house, RED, &answer).await.0, 200);
    let text = asked.await.unwrap();
    assert!(text.starts_with(": waiting\n\n"), "{text}");
    assert!(
        text.contains("\"e4\"") && text.ends_with("data: [DONE]\n\n"),
        "{text}"
    );
}
