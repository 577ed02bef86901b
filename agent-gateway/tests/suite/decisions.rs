//! Decisions through the gRPC service, with scripted providers over the
//! embedded store: what is asked, recorded, shared, refused and given up.

use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::Store;
use agon_agent_gateway::decision::Usage;
use agon_agent_gateway::providers::{Arrived, Refusal, Remedy, Reply, Scripted};
use agon_proto::v1::{ForgetSessionRequest, GetGatewayStatusRequest, ListDecisionsRequest};
use tonic::Code;

use crate::support::{client, config, embedded, gateway, request, status, until};

fn refusal(remedy: Remedy) -> Refusal {
    Refusal {
        remedy,
        reason: "the provider's own words".to_owned(),
        arrived: Arrived::Refused,
        overloaded: false,
        signals: Default::default(),
    }
}

#[tokio::test]
async fn ledger_hit_makes_no_call() {
    let provider = Arc::new(Scripted::echo());
    let (gateway, _folder) = embedded(config(""), provider.clone()).await;
    let first = client(&gateway).decide(request("s", 0, "hi")).await;
    let first = first.unwrap().into_inner();
    assert_eq!((first.reply.as_str(), first.from_ledger), ("hi", false));
    assert_eq!(first.request_digest.len(), 64);

    let again = client(&gateway).decide(request("s", 0, "hi")).await;
    let again = again.unwrap().into_inner();
    assert!(again.from_ledger);
    assert_eq!((again.reply, again.usage), (first.reply, first.usage));
    assert_eq!(provider.calls(), 1);
}

#[tokio::test]
async fn fifty_identical_calls_at_once_make_one_provider_call() {
    let provider = Arc::new(Scripted::echo().with_latency(Duration::from_millis(50)));
    let (gateway, _folder) = embedded(config(""), provider.clone()).await;
    let calls = (0..50).map(|_| {
        let mut client = client(&gateway);
        async move { client.decide(request("s", 0, "hi")).await }
    });
    for answer in futures_util::future::join_all(calls).await {
        assert_eq!(answer.unwrap().into_inner().reply, "hi");
    }
    assert_eq!(provider.calls(), 1);
    assert_eq!(status(&gateway).await.decided, 1);
}

#[tokio::test]
async fn paid_call_is_recorded_though_its_caller_is_gone() {
    let provider = Arc::new(Scripted::echo().with_latency(Duration::from_millis(100)));
    let (gateway, _folder) = embedded(config(""), provider.clone()).await;
    let caller = tokio::spawn({
        let mut client = client(&gateway);
        async move { client.decide(request("s", 0, "hi")).await }
    });
    until("the call has left", async || provider.calls() == 1).await;
    caller.abort();
    until("it is recorded", async || {
        status(&gateway).await.decided == 1
    })
    .await;

    let next = client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap()
        .into_inner();
    assert!(next.from_ledger);
    assert_eq!(provider.calls(), 1);
}

#[tokio::test]
async fn unpaid_call_is_not_made_for_nobody() {
    let provider = Arc::new(Scripted::echo().with_latency(Duration::from_millis(100)));
    let (gateway, _folder) =
        embedded(config("limits = { concurrency = 1 }"), provider.clone()).await;
    let [first, second] = [0, 1].map(|index| {
        let mut client = client(&gateway);
        tokio::spawn(async move { client.decide(request("s", index, "hi")).await })
    });
    until("one calls and one waits", async || {
        let status = status(&gateway).await;
        (status.in_flight, status.waiting_for_quota) == (1, 1)
    })
    .await;
    // Which of the two waits is not ours to say: the one that is gone first
    // while waiting is never asked about.
    first.abort();
    second.abort();
    until("nobody waits", async || {
        status(&gateway).await.waiting_for_quota == 0
    })
    .await;
    until("the paid one is recorded", async || {
        status(&gateway).await.decided == 1
    })
    .await;
    assert_eq!(provider.calls(), 1);
}

#[tokio::test]
async fn same_address_with_another_request_is_a_loud_conflict() {
    let provider = Arc::new(Scripted::echo().with_latency(Duration::from_millis(50)));
    let (gateway, _folder) = embedded(config(""), provider.clone()).await;
    client(&gateway)
        .decide(request("s", 3, "hi"))
        .await
        .unwrap();
    let recorded = client(&gateway)
        .decide(request("s", 3, "ho"))
        .await
        .unwrap_err();
    assert_eq!(recorded.code(), Code::FailedPrecondition);
    assert!(recorded.message().contains("decision s/0/3 "), "{recorded}");

    let in_flight = tokio::spawn({
        let mut client = client(&gateway);
        async move { client.decide(request("s", 4, "hi")).await }
    });
    until("the call has left", async || provider.calls() == 2).await;
    let joined = client(&gateway)
        .decide(request("s", 4, "ho"))
        .await
        .unwrap_err();
    assert_eq!(joined.code(), Code::FailedPrecondition);
    assert!(joined.message().contains("decision s/0/4 "), "{joined}");
    in_flight.await.unwrap().unwrap();
}

#[tokio::test]
async fn call_with_a_huge_limit_of_output_stops_nobody_for_longer_than_a_minute() {
    for (rule, refusal) in [
        ("openai", refusal(Remedy::GiveUp)),
        (
            "total",
            Refusal {
                arrived: Arrived::PerhapsDone,
                ..refusal(Remedy::GiveUp)
            },
        ),
    ] {
        let provider = Scripted::new(move |request, _| match request.max_output_tokens {
            Some(100_000_000) => Err(refusal.clone()),
            _ => Ok(Reply::default()),
        });
        let text = format!("charge = '{rule}'\nlimits = {{ tokens_per_minute = 200_000 }}");
        let (gateway, _folder) = embedded(config(&text), Arc::new(provider)).await;
        let mut client = client(&gateway);
        let mut huge = request("s", 0, "hi");
        huge.max_output_tokens = Some(100_000_000);
        client.decide(huge).await.unwrap_err();
        if rule == "openai" {
            let next = client.decide(request("s", 1, "hi"));
            let next = tokio::time::timeout(Duration::from_secs(20), next).await;
            next.expect("it waits for quota").unwrap();
        }
        let limit = status(&gateway).await.keys.remove(0).limits.remove(0);
        assert_eq!((limit.name.as_str(), limit.limit), ("tokens/min", 200_000));
        assert!(limit.used <= 200_000, "{}", limit.used);
    }
}

#[tokio::test]
async fn unknown_model_and_malformed_request_are_invalid() {
    let (gateway, _folder) = embedded(config(""), Arc::new(Scripted::echo())).await;
    let mut unknown = request("s", 0, "hi");
    unknown.model = "gpt-99".to_owned();
    let error = client(&gateway).decide(unknown).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(
        error.message().contains("configured models are m;"),
        "{error}"
    );

    let mut without_address = request("s", 0, "hi");
    without_address.address = None;
    let error = client(&gateway).decide(without_address).await.unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);

    // Neither has taken the address.
    client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap();
}

#[tokio::test]
async fn failing_provider_is_tried_again_until_it_answers() {
    let provider = Arc::new(Scripted::new(|_, number| match number {
        0 => Err(refusal(Remedy::Retry(None))),
        1 => Err(refusal(Remedy::HoldKey(Some(Duration::from_millis(300))))),
        _ => Ok(Reply::default()),
    }));
    let (gateway, _folder) = embedded(config(""), provider.clone()).await;
    client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap();
    let status = status(&gateway).await;
    assert_eq!((status.provider_requests, status.decided), (3, 1));
    assert_eq!(
        (status.keys[0].failed, status.keys[0].refused_by_provider),
        (1, 1)
    );
}

#[tokio::test]
async fn patience_ends_with_the_last_reason() {
    let provider = Arc::new(Scripted::new(|_, _| Err(refusal(Remedy::Retry(None)))));
    let mut impatient = config("");
    impatient.set_patience(Duration::from_millis(500));
    let (gateway, _folder) = embedded(impatient, provider.clone()).await;
    let error = client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::Aborted);
    assert!(
        error.message().contains("the provider's own words"),
        "{error}"
    );
    assert!(provider.calls() >= 2);
}

#[tokio::test]
async fn refusal_for_good_is_told_at_once_and_not_recorded() {
    let provider = Arc::new(Scripted::new(|_, number| match number {
        0 => Err(refusal(Remedy::GiveUp)),
        _ => Ok(Reply::default()),
    }));
    let (gateway, _folder) = embedded(config(""), provider.clone()).await;
    let error = client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(
        error.message().contains("the provider's own words"),
        "{error}"
    );
    client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap();
}

#[tokio::test]
async fn dead_keys_refuse_and_say_why() {
    let provider = Arc::new(Scripted::new(|_, _| Err(refusal(Remedy::QuarantineKey))));
    let (gateway, _folder) = embedded(config(""), provider.clone()).await;
    for index in 0..2 {
        let error = client(&gateway)
            .decide(request("s", index, "hi"))
            .await
            .unwrap_err();
        assert_eq!(error.code(), Code::Aborted);
        assert!(
            error.message().contains("the provider's own words"),
            "{error}"
        );
    }
    assert_eq!(provider.calls(), 1);
    assert_eq!(
        status(&gateway).await.keys[0].quarantine_reason,
        "the provider's own words"
    );
}

#[tokio::test]
async fn empty_reply_is_a_reply_and_usage_is_estimated_when_unsaid() {
    let provider = Arc::new(Scripted::new(|_, _| {
        Ok(Reply {
            finish_reason: "content_filter".to_owned(),
            ..Reply::default()
        })
    }));
    let (gateway, _folder) = embedded(config(""), provider).await;
    let answer = client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        (answer.reply.as_str(), answer.finish_reason.as_str()),
        ("", "content_filter")
    );
    assert!(answer.usage.unwrap().estimated);
}

#[tokio::test]
async fn sessions_are_listed_and_stay_so_for_a_while_when_forgotten() {
    let (gateway, _folder) = embedded(config(""), Arc::new(Scripted::echo())).await;
    let mut client = client(&gateway);
    for index in [1, 0] {
        client
            .decide(request("s", index, &format!("m{index}")))
            .await
            .unwrap();
    }
    let list = ListDecisionsRequest {
        session_id: "s".to_owned(),
    };
    let listed = client
        .list_decisions(list.clone())
        .await
        .unwrap()
        .into_inner()
        .decisions;
    let replies: Vec<_> = listed
        .iter()
        .map(|d| d.decision.clone().unwrap().reply)
        .collect();
    assert_eq!(replies, ["m0", "m1"]);

    let session_ids = vec!["s".to_owned()];
    client
        .forget_session(ForgetSessionRequest { session_ids })
        .await
        .unwrap();
    let listed = client
        .list_decisions(list)
        .await
        .unwrap()
        .into_inner()
        .decisions;
    // Another worker may still be playing it.
    assert_eq!(listed.len(), 2);
}

#[tokio::test]
async fn status_counts_each_experiment_apart() {
    let provider = Arc::new(Scripted::new(|_, _| {
        Ok(Reply {
            usage: Some(Usage {
                input_tokens: 5,
                output_tokens: 2,
                ..Usage::default()
            }),
            ..Reply::default()
        })
    }));
    let (gateway, _folder) = embedded(config(""), provider).await;
    let mut client = client(&gateway);
    client.decide(request("s", 0, "hi")).await.unwrap();
    client.decide(request("s", 0, "hi")).await.unwrap();
    let mut other = request("t", 0, "hi");
    other.experiment_id = "f".to_owned();
    client.decide(other).await.unwrap();

    let mut counted = async |experiment_id: &str| {
        let experiment_id = experiment_id.to_owned();
        let request = GetGatewayStatusRequest { experiment_id };
        let status = client
            .get_gateway_status(request)
            .await
            .unwrap()
            .into_inner();
        let input = status.usage.unwrap().input_tokens;
        (status.decided, status.answered_from_ledger, input)
    };
    assert_eq!(counted("").await, (2, 1, 10));
    assert_eq!(counted("e").await, (1, 1, 5));
    assert_eq!(counted("unheard of").await, (0, 0, 0));
}

#[tokio::test]
async fn drain_records_what_is_paid_and_sends_the_waiting_away() {
    let provider = Arc::new(Scripted::echo().with_latency(Duration::from_millis(200)));
    let (gateway_before, folder) =
        embedded(config("limits = { concurrency = 1 }"), provider.clone()).await;
    let calls = [0, 1].map(|index| {
        let mut client = client(&gateway_before);
        tokio::spawn(async move { client.decide(request("s", index, "hi")).await })
    });
    until("one calls and one waits", async || {
        let status = status(&gateway_before).await;
        (status.in_flight, status.waiting_for_quota) == (1, 1)
    })
    .await;
    gateway_before.drain(Duration::from_secs(10)).await;
    let [first, second] = calls;
    let outcomes = [first.await.unwrap(), second.await.unwrap()];
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    let sent_away = outcomes
        .iter()
        .find_map(|outcome| outcome.as_ref().err())
        .unwrap();
    assert_eq!(sent_away.code(), Code::Unavailable);
    let late = client(&gateway_before)
        .decide(request("s", 9, "hi"))
        .await
        .unwrap_err();
    assert_eq!(late.code(), Code::Unavailable);

    let store = Store::Embedded(folder.path().join("ledger.sqlite"));
    let gateway_after = gateway(config(""), store, provider.clone()).await;
    let list = ListDecisionsRequest {
        session_id: "s".to_owned(),
    };
    let kept = client(&gateway_after)
        .list_decisions(list)
        .await
        .unwrap()
        .into_inner();
    assert_eq!(kept.decisions.len(), 1);
    assert_eq!(provider.calls(), 1);
}

#[tokio::test]
async fn thousand_callers_wait_for_few_places_and_all_are_served() {
    let provider = Arc::new(Scripted::echo().with_latency(Duration::from_millis(1)));
    let (gateway, _folder) =
        embedded(config("limits = { concurrency = 50 }"), provider.clone()).await;
    let calls = (0..1_000).map(|index| {
        let mut client = client(&gateway);
        tokio::spawn(async move { client.decide(request("s", index, "hi")).await })
    });
    for answer in futures_util::future::join_all(calls).await {
        answer.unwrap().unwrap();
    }
    assert_eq!(provider.calls(), 1_000);
}
