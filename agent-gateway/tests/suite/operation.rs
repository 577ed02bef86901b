//! What an operator sees: the status by team, key and model, and the metrics,
//! with labels that callers cannot multiply.

use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::GatewayConfig;
use agon_agent_gateway::decision::Request;
use agon_agent_gateway::providers::{Refusal, Remedy, Reply, Scripted};
use agon_proto::v1::{DecideRequest, GetGatewayStatusResponse, KeyStatus};
use agon_service_kit::metrics;

use crate::support::{client, config, embedded, request, status, until};

const TEAMS: &str = "[providers.p]\nbase_url = 'http://127.0.0.1:9/v1'\n\
                     limits = { requests_per_minute = 60000, concurrency = 2 }\n\
                     [models.m]\nprovider = 'p'\n\
                     price = { input_per_million_dollars = '1', output_per_million_dollars = '1' }\n\
                     [teams.red]\nweight = 3\nbudget_dollars = '5'\n[teams.blue]\n";

fn teams() -> GatewayConfig {
    GatewayConfig::parse("test.toml", TEAMS).unwrap()
}

fn of_team(team: &str, session: &str, index: u32) -> DecideRequest {
    DecideRequest {
        team: team.to_owned(),
        ..request(session, index, "hi")
    }
}

fn row<'a>(status: &'a GetGatewayStatusResponse, model: &str) -> &'a KeyStatus {
    status.keys.iter().find(|key| key.model == model).unwrap()
}

#[tokio::test]
async fn status_shows_teams_limits_with_their_use_and_errors() {
    let provider = Arc::new(Scripted::new(|_: &Request, call| match call {
        0 => Err(Refusal::new(
            Remedy::HoldKey(Some(Duration::from_millis(1))),
            "slow down",
        )),
        _ => Ok(Reply {
            text: "fine".to_owned(),
            ..Reply::default()
        }),
    }));
    let (gateway, _folder) = embedded(teams(), provider).await;
    for index in 0..3 {
        let asked = of_team("red", "s", index);
        client(&gateway).decide(asked).await.unwrap();
    }
    // What an answer gives back is given back behind it.
    until("every place is free", async || {
        let status = status(&gateway).await;
        row(&status, "")
            .limits
            .iter()
            .any(|limit| limit.name == "concurrency" && limit.used == 0)
    })
    .await;
    let status = status(&gateway).await;
    let names: Vec<&str> = status.teams.iter().map(|team| team.team.as_str()).collect();
    assert_eq!(names, ["blue", "red"]);
    let red = &status.teams[1];
    assert_eq!(
        (red.weight, red.decided, red.refused_by_provider),
        (3.0, 3, 1)
    );
    assert_eq!(red.budget_nanodollars, Some(5_000_000_000));
    assert!(red.spent_nanodollars > 0, "what was used is paid");
    assert_eq!(red.reserved_nanodollars, 0);
    assert_eq!((status.teams[0].decided, status.teams[0].weight), (0, 1.0));

    let key = row(&status, "");
    assert_eq!((key.calls, key.refused_by_provider, key.failed), (4, 1, 0));
    let limits: Vec<_> = key
        .limits
        .iter()
        .map(|limit| (limit.name.as_str(), limit.limit, limit.used))
        .collect();
    assert_eq!(limits, [("requests/min", 60_000, 4), ("concurrency", 2, 0)]);
    assert_eq!(key.errors.get("429"), Some(&1));
    assert_eq!(key.last_error, "slow down");
    assert_eq!(row(&status, "m").circuit, "");
}

#[tokio::test]
async fn status_shows_who_waits_and_for_how_long() {
    let provider = Arc::new(Scripted::echo().with_latency(Duration::from_secs(1)));
    let (gateway, _folder) = embedded(teams(), provider).await;
    let calls: Vec<_> = (0..5)
        .map(|index| {
            let mut client = client(&gateway);
            let team = if index == 4 { "blue" } else { "red" };
            let asked = of_team(team, "s", index);
            tokio::spawn(async move { client.decide(asked).await })
        })
        .collect();
    until("two are at the provider and three wait", async || {
        let seen = status(&gateway).await;
        seen.in_flight == 2 && seen.teams.iter().map(|team| team.waiting).sum::<u64>() == 3
    })
    .await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let seen = status(&gateway).await;
    let longest = seen.teams.iter().map(|team| team.longest_wait_ms).max();
    assert!((20..1_000).contains(&longest.unwrap()), "{longest:?}");
    assert_eq!(row(&seen, "").limits[1].used, 2, "places are taken");
    for call in calls {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn metrics_tell_teams_apart_that_are_configured_and_no_others() {
    metrics::install().unwrap();
    metrics::describe(&agon_agent_gateway::metrics::METRICS);
    let provider = Arc::new(Scripted::new(|_: &Request, call| match call {
        0 => Err(Refusal::new(Remedy::HoldKey(None), "slow down")),
        _ => Ok(Reply::default()),
    }));
    let teams = "limits = { requests_per_minute = 60000 }\n[teams.counted]\n";
    let (gateway, _folder) = embedded(config(teams), provider).await;
    for (index, team) in ["counted", "made-up-1", "made-up-2"].iter().enumerate() {
        let index = u32::try_from(index).unwrap();
        let asked = of_team(team, "s", index);
        client(&gateway).decide(asked).await.unwrap();
    }
    let shown = metrics::render();
    for expected in [
        "agon_gateway_granted_calls_total{team=\"counted\"} 2",
        "agon_gateway_refusals_total{provider=\"p\",model=\"m\",team=\"counted\"} 1",
        "agon_gateway_quota_wait_seconds_count{team=\"counted\"} 2",
        "agon_gateway_granted_tokens_total{team=\"counted\"}",
        "agon_gateway_granted_calls_total{team=\"other\"}",
        "agon_gateway_reserved_tokens_total{provider=\"p\"}",
        "agon_gateway_settled_tokens_total{provider=\"p\"}",
    ] {
        assert!(shown.contains(expected), "{expected} in {shown}");
    }
    assert!(!shown.contains("made-up"), "{shown}");
    until("the gauges are shown", async || {
        let shown = metrics::render();
        shown.contains("agon_gateway_queue{team=\"counted\"} 0")
            && shown.contains("agon_gateway_limit_utilisation{provider=\"p\",")
            && shown.contains("agon_gateway_circuit_open{provider=\"p\",")
    })
    .await;
}
