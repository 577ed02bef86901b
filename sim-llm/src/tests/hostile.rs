//! The vices of the simulated provider over HTTP: storms, false headers, dead keys, slow tails,
//! other statuses; and what the statistics say of them afterwards.

use super::*;

fn of_model(model: &str, seed: u64) -> Value {
    let mut body = body(seed);
    body["model"] = json!(model);
    body
}

#[tokio::test]
async fn storm_refuses_always_and_touches_no_limit() {
    let options = SimOptions {
        requests_per_minute: Some(1),
        storm_retry_after: Duration::from_millis(1_500),
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    for _ in 0..3 {
        let refused = post(&server, &client, "a-key", &of_model("storm-1", 1)).await;
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.headers()["retry-after"], "2");
        assert_eq!(refused.headers()["retry-after-ms"], "1500");
    }
    let answered = post(&server, &client, "a-key", &of_model("calm", 1)).await;
    assert_eq!(answered.status(), StatusCode::OK);
    let stats = server.stats();
    assert_eq!((stats.storms, stats.refused, stats.answered), (3, 0, 1));
    assert_eq!(stats.models["...ey"]["storm-1"].since_start.storms, 3);
    assert_eq!(stats.calls_by_model["storm-1"], 3);
}

#[tokio::test]
async fn headers_can_be_true_false_or_absent() {
    let options = SimOptions {
        requests_per_minute: Some(10),
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let mut remaining = Vec::new();
    for model in ["true", "lying-x", "silent-x"] {
        let answered = post(&server, &client, "k", &of_model(model, 1)).await;
        let header = answered.headers().get("x-ratelimit-remaining-requests");
        remaining.push(header.map(|value| value.to_str().unwrap().to_owned()));
    }
    assert_eq!(remaining, [Some("9".into()), Some("10".into()), None]);
}

#[tokio::test]
async fn key_without_money_says_so_for_ever() {
    let options = SimOptions {
        dead_after: Some(1),
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    content(post(&server, &client, "k", &body(1)).await).await;
    for _ in 0..2 {
        let refused = post(&server, &client, "k", &body(2)).await;
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        assert!(!refused.headers().contains_key("retry-after"));
        let error: Value = refused.json().await.unwrap();
        assert_eq!(error["error"]["code"], "insufficient_quota");
    }
    content(post(&server, &client, "l", &body(2)).await).await;
    assert_eq!((server.stats().dead, server.stats().refused), (2, 0));
}

#[tokio::test]
async fn slow_try_is_slow_and_another_try_may_be_quick() {
    let options = SimOptions {
        slow_rate: 0.5,
        slow_latency: Duration::from_millis(300),
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let mut quick_after_slow = 0;
    for seed in 0..12 {
        let mut slow = Vec::new();
        for _ in 0..2 {
            let before = server.stats().slow;
            let began = std::time::Instant::now();
            content(post(&server, &client, "k", &body(seed)).await).await;
            let was_slow = server.stats().slow > before;
            assert!(!was_slow || began.elapsed() >= Duration::from_millis(300));
            slow.push(was_slow);
        }
        quick_after_slow += u32::from(slow == [true, false]);
    }
    assert!(quick_after_slow > 0);
}

#[tokio::test]
async fn failures_have_the_statuses_that_were_asked_for() {
    let options = SimOptions {
        error_rate: 1.0,
        error_statuses: vec![500, 503, 529],
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..40 {
        seen.insert(
            post(&server, &client, "k", &body(seed))
                .await
                .status()
                .as_u16(),
        );
    }
    assert_eq!(Vec::from_iter(seen), [500, 503, 529]);
}

#[tokio::test]
async fn openai_rule_charges_permission_whatever_was_said() {
    let options = SimOptions {
        charge: SimCharge::OpenAi,
        tokens_per_minute: Some(1_000),
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let mut asked = body(1);
    asked["max_completion_tokens"] = json!(400);
    for left in ["600", "200"] {
        let answered = post(&server, &client, "a-key", &asked).await;
        assert_eq!(answered.headers()["x-ratelimit-remaining-tokens"], left);
    }
    let refused = post(&server, &client, "a-key", &asked).await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    let url = format!("http://{}/stats/mark", server.local_addr());
    let stats: Value = client.post(url).send().await.unwrap().json().await.unwrap();
    let limit = &stats["keys"]["...ey"]["limits"]["tokens_per_minute"];
    assert_eq!(limit["limit"], 1_000);
    let since_start = json!({"charged": 800, "refused": 1, "largest_60s": 800, "share_60s": 0.8,
        "largest_5s": 800, "share_5s": 9.6});
    assert_eq!(limit["since_start"], since_start);
    assert_eq!(limit["since_mark"]["charged"], 0);
    assert!(stats["used"]["output_tokens"].as_u64().unwrap() < 20);
    assert_eq!(stats["used_since_mark"]["answers"], 0);
}

#[tokio::test]
async fn one_server_plays_several_parts() {
    let part = |name: &str, options| SimModel {
        name: name.into(),
        options,
    };
    let options = SimOptions {
        models: vec![part(
            "gpt*",
            SimOptions {
                model_limits: SimLimits {
                    requests_per_minute: Some(1),
                    ..SimLimits::default()
                },
                ..SimOptions::default()
            },
        )],
        ..SimOptions::default()
    };
    let (server, client) = start(options).await;
    let mut statuses = Vec::new();
    for model in ["gpt-1", "gpt-1", "gpt-2", "llama", "llama"] {
        let status = post(&server, &client, "k", &of_model(model, 1))
            .await
            .status();
        statuses.push(status.as_u16());
    }
    assert_eq!(statuses, [200, 429, 200, 200, 200]);
}
