//! Hedging from outside: a slow call is made once more, the first answer counts,
//! both are settled and paid, and nobody is pushed aside for it.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_agent_gateway::decision::Usage;
use agon_agent_gateway::providers::{Arrived, Call, Provider, Refusal, Remedy, Reply};
use agon_agent_gateway::{Gateway, GatewayConfig};
use agon_proto::v1::{DecideResponse, ListCostsRequest};
use async_trait::async_trait;
use futures_util::future::join_all;
use parking_lot::Mutex;
use secrecy::ExposeSecret as _;
use tonic::Status;

use crate::support::{client, embedded, request, status, until};

const HEDGE_AFTER: Duration = Duration::from_millis(100);
const SLOW: Duration = Duration::from_secs(3);

/// Calls take as long as their number says; each answers with its number.
struct Paced {
    pace: fn(usize) -> Duration,
    outcome: fn(usize) -> Result<Reply, Refusal>,
    /// Keys that were used, in order.
    keys: Mutex<Vec<String>>,
}

impl Paced {
    fn new(pace: fn(usize) -> Duration) -> Arc<Self> {
        Self::with_outcome(pace, answer)
    }

    fn with_outcome(
        pace: fn(usize) -> Duration,
        outcome: fn(usize) -> Result<Reply, Refusal>,
    ) -> Arc<Self> {
        let keys = Mutex::default();
        Arc::new(Self {
            pace,
            outcome,
            keys,
        })
    }

    fn calls(&self) -> usize {
        self.keys.lock().len()
    }
}

#[async_trait]
impl Provider for Paced {
    async fn call(&self, call: Call<'_>) -> Result<Reply, Refusal> {
        let number = {
            let mut keys = self.keys.lock();
            let key = call.key.map_or("none", |key| key.expose_secret());
            keys.push(key.to_owned());
            keys.len() - 1
        };
        tokio::time::sleep((self.pace)(number)).await;
        (self.outcome)(number)
    }
}

/// Ten tokens each way.
fn answer(number: usize) -> Result<Reply, Refusal> {
    Ok(Reply {
        text: number.to_string(),
        finish_reason: "stop".to_owned(),
        usage: Some(Usage {
            input_tokens: 10,
            output_tokens: 10,
            ..Usage::default()
        }),
        ..Reply::default()
    })
}

/// Only the first call is slow.
fn first_is_slow(number: usize) -> Duration {
    if number == 0 { SLOW } else { Duration::ZERO }
}

fn all_are_slow(_number: usize) -> Duration {
    SLOW
}

/// A model that is asked again after [`HEDGE_AFTER`]; an answer of
/// [`answer`] costs 20,000 nano-dollars.
fn hedged(provider: &str) -> GatewayConfig {
    let text = format!(
        "[providers.p]\nbase_url = 'http://127.0.0.1:9/v1'\n{provider}\n\
         [models.m]\nprovider = 'p'\nhedge_after = '{}ms'\n\
         price = {{ input_per_million_dollars = '1', output_per_million_dollars = '1' }}\n",
        HEDGE_AFTER.as_millis()
    );
    GatewayConfig::parse("test.toml", &text).unwrap()
}

const ONE_ANSWER: u64 = 20_000;

async fn ask(gateway: &Gateway, index: u32) -> Result<DecideResponse, Status> {
    let answered = client(gateway).decide(request("s", index, "hello")).await;
    answered.map(tonic::Response::into_inner)
}

/// Calls and cost, as listed.
async fn costs(gateway: &Gateway) -> (u64, u64) {
    let listed = client(gateway)
        .list_costs(ListCostsRequest::default())
        .await;
    let rows = listed.unwrap().into_inner().rows;
    let calls = rows.iter().map(|row| row.calls).sum();
    (calls, rows.iter().map(|row| row.cost_nanodollars).sum())
}

#[tokio::test]
async fn slow_call_is_made_once_more_and_the_first_answer_counts() {
    let provider = Paced::new(first_is_slow);
    let (gateway, _folder) = embedded(hedged(""), provider.clone()).await;
    let began = Instant::now();
    let answer = ask(&gateway, 0).await.unwrap();
    assert_eq!(answer.reply, "1");
    assert!(began.elapsed() >= HEDGE_AFTER && began.elapsed() < SLOW);
    // Nobody knows yet what the slower one costs.
    assert_eq!(answer.cost_nanodollars, Some(ONE_ANSWER));
    assert_eq!(status(&gateway).await.in_flight, 1);
    until("both are paid", async || {
        costs(&gateway).await == (2, 2 * ONE_ANSWER)
    })
    .await;
    let status = status(&gateway).await;
    assert_eq!((status.in_flight, status.provider_requests), (0, 2));
    assert_eq!(ask(&gateway, 0).await.unwrap().reply, "1");
    assert_eq!(provider.calls(), 2);
}

#[tokio::test]
async fn decision_is_hedged_once_and_quick_ones_never() {
    let provider = Paced::new(all_are_slow);
    let (gateway, _folder) = embedded(hedged(""), provider.clone()).await;
    assert_eq!(ask(&gateway, 0).await.unwrap().reply, "0");
    assert_eq!(provider.calls(), 2);
    let provider = Paced::new(|_| Duration::from_millis(5));
    let (gateway, _folder) = embedded(hedged(""), provider.clone()).await;
    assert_eq!(ask(&gateway, 0).await.unwrap().reply, "0");
    assert_eq!(provider.calls(), 1);
}

#[tokio::test]
async fn hedge_goes_to_another_key_and_only_if_it_has_quota() {
    let folder = tempfile::tempdir().unwrap();
    let mut sources = Vec::new();
    for name in ["one", "two"] {
        let path = folder.path().join(name);
        std::fs::File::create(&path)
            .and_then(|mut file| file.write_all(format!("key-{name}").as_bytes()))
            .unwrap();
        sources.push(format!("{{ file = '{}' }}", path.display()));
    }
    let keys = format!(
        "keys = [{}]\nlimits = {{ concurrency = 1 }}",
        sources.join(", ")
    );
    let provider = Paced::new(first_is_slow);
    let (gateway, _folder) = embedded(hedged(&keys), provider.clone()).await;
    assert_eq!(ask(&gateway, 0).await.unwrap().reply, "1");
    let mut used = provider.keys.lock().clone();
    used.sort();
    assert_eq!(used, ["key-one", "key-two"]);

    let provider = Paced::new(all_are_slow);
    let (gateway, _folder) = embedded(hedged(&keys), provider.clone()).await;
    let both = join_all([ask(&gateway, 0), ask(&gateway, 1)]).await;
    assert!(both.into_iter().all(|answer| answer.is_ok()));
    assert_eq!(provider.calls(), 2);
}

#[tokio::test]
async fn no_slow_call_is_hedged_while_others_wait() {
    let provider = Paced::new(all_are_slow);
    // Two requests at once and then one a second: the third caller waits.
    let limits = "limits = { requests_per_minute = 60 }\nburst = '2s'";
    let (gateway, _folder) = embedded(hedged(limits), provider.clone()).await;
    let asks = (0..4).map(|index| ask(&gateway, index));
    let answers = join_all(asks).await;
    let mut replies: Vec<_> = answers
        .into_iter()
        .map(|answer| answer.unwrap().reply.parse::<usize>().unwrap())
        .collect();
    replies.sort_unstable();
    // The first calls of all four come before any second one.
    assert_eq!(replies, [0, 1, 2, 3]);
}

#[tokio::test]
async fn refused_first_call_is_no_failure_when_the_second_answers() {
    let outcome = |number| match number {
        0 => Err(Refusal {
            arrived: Arrived::PerhapsDone,
            ..Refusal::new(Remedy::Retry(None), "broken off")
        }),
        _ => answer(number),
    };
    let pace = |number| Duration::from_millis(if number == 0 { 200 } else { 400 });
    let provider = Paced::with_outcome(pace, outcome);
    let (gateway, _folder) = embedded(hedged(""), provider.clone()).await;
    let decided = ask(&gateway, 0).await.unwrap();
    assert_eq!((decided.reply.as_str(), provider.calls()), ("1", 2));
    // What the first may have used is known by then, and in the cost.
    let cost = decided.cost_nanodollars.unwrap();
    assert!(cost > ONE_ANSWER, "{cost}");
    assert_eq!(costs(&gateway).await, (2, cost));
}

#[tokio::test]
async fn drain_waits_for_the_slower_call() {
    let provider = Paced::new(first_is_slow);
    let (gateway, _folder) = embedded(hedged(""), provider.clone()).await;
    ask(&gateway, 0).await.unwrap();
    assert_eq!(status(&gateway).await.in_flight, 1);
    let began = Instant::now();
    gateway.drain(Duration::from_secs(10)).await;
    assert!(began.elapsed() > SLOW / 3 && began.elapsed() < Duration::from_secs(9));
    assert_eq!(status(&gateway).await.in_flight, 0);
}
