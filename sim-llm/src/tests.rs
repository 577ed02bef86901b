//! The simulated provider over real HTTP, as the gateway meets it.
//! Each test starts its own server on a free port and talks to it as any client would.

use std::time::Duration;

use agon_proto::simulated::{REPLY_HEADER, SIMULATED_HEADER};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};

use super::*;
use crate::protocol::{FINGERPRINT, MODEL};

async fn start(options: SimOptions) -> (SimLlm, Client) {
    agon_service_kit::server::install_crypto();
    let server = SimLlm::start(options, "127.0.0.1:0").await.unwrap();
    (server, Client::builder().no_proxy().build().unwrap())
}

fn body(seed: u64) -> Value {
    json!({
        "model": "some-model", "seed": seed,
        "messages": [{"role": "user", "content": "Bid!"}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "bid", "strict": true,
            "schema": {"type": "object", "additionalProperties": false, "required": ["bid"],
                "properties": {"bid": {"type": "integer", "minimum": 0, "maximum": 1_000_000}}}}}
    })
}

async fn post(server: &SimLlm, client: &Client, key: &str, body: &Value) -> Response {
    let url = format!("{}/chat/completions", server.base_url());
    client
        .post(url)
        .bearer_auth(key)
        .body(body.to_string())
        .send()
        .await
        .unwrap()
}

async fn content(response: Response) -> String {
    assert_eq!(response.status(), StatusCode::OK);
    let value: Value = response.json().await.unwrap();
    value["choices"][0]["message"]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn answer_is_legal_marked_and_counted() {
    let (server, client) = start(SimOptions::default()).await;
    let response = post(&server, &client, "sk-test-1234", &body(1)).await;
    assert_eq!(response.headers()[SIMULATED_HEADER], "true");
    let value: Value = response.json().await.unwrap();
    assert_eq!(value["system_fingerprint"], FINGERPRINT);
    assert_eq!(value["model"], "some-model");
    assert_eq!(value["choices"][0]["finish_reason"], "stop");
    assert_eq!(value["usage"]["prompt_tokens"], 2);
    let text = value["choices"][0]["message"]["content"].as_str().unwrap();
    let bid = serde_json::from_str::<Value>(text).unwrap()["bid"]
        .as_i64()
        .unwrap();
    assert!((0..=1_000_000).contains(&bid));

    let stats_url = format!("http://{}/stats", server.local_addr());
    let mut shown: Value = client
        .get(stats_url)
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    let mut counted = serde_json::to_value(server.stats()).unwrap();
    // Time has passed between the two.
    for stats in [&mut shown, &mut counted] {
        stats["uptime_ms"] = Value::Null;
    }
    assert_eq!(shown, counted);
    assert_eq!(shown["answered"], 1);
    assert_eq!(shown["per_key"], json!({"...1234": 1}));
    assert_eq!(shown["in_flight_max"], 1);
    server.stop().await;
}

#[tokio::test]
async fn same_bytes_get_the_same_answer_in_any_order_and_on_any_server() {
    let (first, client) = start(SimOptions {
        seed: 5,
        ..SimOptions::default()
    })
    .await;
    let (second, _) = start(SimOptions {
        seed: 5,
        ..SimOptions::default()
    })
    .await;
    let (other, _) = start(SimOptions {
        seed: 6,
        ..SimOptions::default()
    })
    .await;
    let mut forwards = Vec::new();
    for seed in 0..20 {
        forwards.push(
            post(&first, &client, "a", &body(seed))
                .await
                .text()
                .await
                .unwrap(),
        );
    }
    let mut backwards = Vec::new();
    for seed in (0..20).rev() {
        backwards.push(
            post(&second, &client, "b", &body(seed))
                .await
                .text()
                .await
                .unwrap(),
        );
    }
    backwards.reverse();
    assert_eq!(forwards, backwards);
    let mut bids: Vec<_> = forwards.clone();
    bids.dedup();
    assert_eq!(bids.len(), 20, "another seed is another choice");
    assert_ne!(
        post(&other, &client, "a", &body(0))
            .await
            .text()
            .await
            .unwrap(),
        forwards[0]
    );
    content(post(&first, &client, "a", &body(3)).await).await;
    let stats = first.stats();
    assert_eq!(
        (stats.distinct_bodies, stats.answered, stats.answered_again),
        (20, 21, 1)
    );
}

#[tokio::test]
async fn keys_are_checked_and_paths_known() {
    let options = SimOptions {
        api_keys: vec!["good-key".into()],
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let refused = post(&server, &client, "bad-key", &body(1)).await;
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(refused.headers()[SIMULATED_HEADER], "true");
    let error: Value = refused.json().await.unwrap();
    assert_eq!(error["error"]["code"], "invalid_api_key");
    content(post(&server, &client, "good-key", &body(1)).await).await;
    assert_eq!(server.stats().unauthorized, 1);

    let url = format!("{}/models", server.base_url());
    assert_eq!(
        client.get(&url).send().await.unwrap().status(),
        StatusCode::UNAUTHORIZED
    );
    let listed = client
        .get(&url)
        .bearer_auth("good-key")
        .send()
        .await
        .unwrap();
    assert_eq!(
        listed.json::<Value>().await.unwrap()["data"][0]["id"],
        MODEL
    );
    let lost = client
        .get(format!("{}/nowhere", server.base_url()))
        .send()
        .await
        .unwrap();
    assert_eq!(lost.status(), StatusCode::NOT_FOUND);
    let bad = post(&server, &client, "good-key", &json!({"messages": []})).await;
    assert_eq!(bad.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn limits_are_per_key_and_say_when_to_come_back() {
    let options = SimOptions {
        requests_per_minute: Some(3),
        tokens_per_minute: Some(1_000),
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    for left in ["2", "1", "0"] {
        let response = post(&server, &client, "a", &body(1)).await;
        assert_eq!(response.headers()["x-ratelimit-remaining-requests"], left);
        assert_eq!(response.headers()["x-ratelimit-limit-tokens"], "1000");
    }
    let refused = post(&server, &client, "a", &body(1)).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()["retry-after"], "20");
    let millis: u64 = refused.headers()["retry-after-ms"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((15_000..=20_000).contains(&millis), "{millis}");
    assert_eq!(
        refused.json::<Value>().await.unwrap()["error"]["code"],
        "rate_limit_exceeded"
    );
    assert_eq!(
        post(&server, &client, "b", &body(1)).await.status(),
        StatusCode::OK
    );
    assert_eq!((server.stats().answered, server.stats().refused), (4, 1));
}

#[tokio::test]
async fn failed_try_can_succeed_when_repeated() {
    let options = SimOptions {
        error_rate: 0.5,
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    for seed in 0..20 {
        let mut tries = 0;
        while post(&server, &client, "a", &body(seed)).await.status() != StatusCode::OK {
            tries += 1;
            assert!(tries < 50, "one of fifty even chances");
        }
    }
    let stats = server.stats();
    assert_eq!((stats.answered, stats.distinct_bodies), (20, 20));
    assert!(stats.failed > 0);
    assert_eq!(stats.requests, stats.answered + stats.failed);
}

#[tokio::test]
async fn hung_request_holds_its_place_until_the_client_leaves() {
    let options = SimOptions {
        timeout_rate: 1.0,
        concurrency: Some(1),
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let url = format!("{}/chat/completions", server.base_url());
    let hanging = client
        .post(url)
        .body(body(1).to_string())
        .timeout(Duration::from_millis(200));
    assert!(hanging.send().await.unwrap_err().is_timeout());
    let mut waited = Duration::ZERO;
    while server.stats().in_flight > 0 {
        assert!(waited < Duration::from_secs(5), "the place is given back");
        tokio::time::sleep(Duration::from_millis(5)).await;
        waited += Duration::from_millis(5);
    }
    let stats = server.stats();
    assert_eq!((stats.hung, stats.abandoned, stats.answered), (1, 1, 0));
    server.stop().await;
}

#[tokio::test]
async fn latency_is_kept_and_waiting_requests_overlap() {
    let options = SimOptions {
        latency: Duration::from_millis(100),
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let start = std::time::Instant::now();
    let bodies: Vec<Value> = (0..20).map(body).collect();
    let calls = bodies.iter().map(|body| post(&server, &client, "a", body));
    for response in futures_util::future::join_all(calls).await {
        content(response).await;
    }
    let took = start.elapsed();
    assert!((100..1_500).contains(&took.as_millis()), "{took:?}");
    assert!(server.stats().in_flight_max > 10);
}

#[tokio::test]
async fn http_2_without_tls_is_served_too() {
    let (server, _) = start(SimOptions::default()).await;
    let client = Client::builder()
        .no_proxy()
        .http2_prior_knowledge()
        .build()
        .unwrap();
    let response = post(&server, &client, "a", &body(1)).await;
    assert_eq!(response.version(), reqwest::Version::HTTP_2);
    content(response).await;
}

#[tokio::test]
async fn stopped_server_answers_what_waits_and_frees_the_port() {
    let options = SimOptions {
        latency: Duration::from_secs(600),
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let address = server.local_addr().to_string();
    let url = format!("{}/chat/completions", server.base_url());
    let waiting = tokio::spawn(client.post(url).body(body(1).to_string()).send());
    while server.stats().in_flight == 0 {
        tokio::task::yield_now().await;
    }
    server.stop().await;
    let status = waiting.await.unwrap().unwrap().status();
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    SimLlm::start(SimOptions::default(), &address)
        .await
        .expect("the port is free again");
}

mod hostile;
mod protocols;
