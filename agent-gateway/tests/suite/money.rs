//! Money through the service: what decisions cost, budgets that a thousand calls
//! at once run up against, and what is told when there is no price or no money.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agon_agent_gateway::decision::Usage;
use agon_agent_gateway::providers::{Arrived, Call, Provider, Refusal, Remedy, Reply, Scripted};
use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::{
    BudgetStatus, DecideRequest, DecideResponse, ListCostsRequest, ListCostsResponse,
};
use async_trait::async_trait;
use tokio::sync::Semaphore;
use tonic::{Code, Status};

use crate::redis_server::RedisServer;
use crate::support::{client, gateway, request, status, until};

/// A thousand nano-dollars for a token in, ten thousand for one out.
const PRICE: &str =
    "price = { input_per_million_dollars = '1', output_per_million_dollars = '10' }";

/// Two decimals of a cent.
const BUDGET: u64 = 20_000_000;

fn config(models: &str, teams: &str) -> GatewayConfig {
    let text = format!(
        "[providers.p]\nbase_url = 'http://127.0.0.1:9/v1'\n[models.m]\nprovider = 'p'\n\
         max_output_tokens = 20\n{models}\n{teams}\n[gateway]\npatience = '2s'"
    );
    GatewayConfig::parse("test.toml", &text).unwrap()
}

fn budget(dollars: &str) -> String {
    format!("[teams.default]\nbudget_dollars = '{dollars}'")
}

fn used(input: u64, output: u64) -> Reply {
    Reply {
        text: "yes".to_owned(),
        usage: Some(Usage {
            input_tokens: input,
            output_tokens: output,
            ..Usage::default()
        }),
        ..Reply::default()
    }
}

/// Ten tokens in and five out: 60,000 nano-dollars.
fn cheap() -> Arc<Scripted> {
    Arc::new(Scripted::new(|_, _| Ok(used(10, 5))))
}

async fn decide(gateway: &Gateway, request: DecideRequest) -> Result<DecideResponse, Status> {
    let decided = client(gateway).decide(request).await;
    decided.map(tonic::Response::into_inner)
}

async fn costs(gateway: &Gateway, request: ListCostsRequest) -> ListCostsResponse {
    let listed = client(gateway).list_costs(request).await;
    listed.unwrap().into_inner()
}

async fn budget_of(gateway: &Gateway, team: &str) -> BudgetStatus {
    let listed = costs(gateway, ListCostsRequest::default()).await;
    let mut budgets = listed.budgets.into_iter();
    budgets.find(|budget| budget.team == team).unwrap()
}

async fn embedded(config: GatewayConfig, provider: Arc<Scripted>) -> (Gateway, tempfile::TempDir) {
    crate::support::embedded(config, provider).await
}

/// What the calls at the provider really cost, counted there.
fn counting_provider() -> (Arc<Scripted>, Arc<AtomicU64>) {
    let paid = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&paid);
    let provider = Scripted::new(move |request, number| {
        let (input, output) = (10 + number % 30, 1 + number % 20);
        assert!(input as usize <= request.messages[0].content.len() + 16);
        counted.fetch_add(input * 1_000 + output * 10_000, Ordering::SeqCst);
        Ok(used(input, output))
    });
    (
        Arc::new(provider.with_latency(Duration::from_millis(5))),
        paid,
    )
}

/// Every gateway gets its share of a thousand calls at once, of which the budget
/// carries a part.
async fn thousand_calls_run_up_against_a_budget(gateways: &[Gateway], paid: &AtomicU64) {
    let calls = (0..1_000_u32).map(|index| {
        let gateway = gateways[index as usize % gateways.len()].clone();
        let asked = request("s", index, "a question of some length");
        async move {
            loop {
                match decide(&gateway, asked.clone()).await {
                    // A store that answers late is asked again, as a worker does.
                    Err(told) if told.code() == Code::Unavailable => (),
                    outcome => break outcome,
                }
            }
        }
    });
    let outcomes = futures_util::future::join_all(calls).await;
    let (mut answered, mut told) = (0_u64, 0_u64);
    for outcome in &outcomes {
        match outcome {
            Ok(answer) => answered += answer.cost_nanodollars.unwrap(),
            Err(refusal) => {
                assert_eq!(refusal.code(), Code::ResourceExhausted, "{refusal}");
                let said = refusal.message();
                assert!(
                    said.contains("the budget of team default leaves too little"),
                    "{said}"
                );
                assert!(said.contains("budget_dollars"), "{said}");
                told += 1;
            }
        }
    }
    let paid = paid.load(Ordering::SeqCst);
    assert!(paid <= BUDGET, "{paid}");
    assert_eq!(answered, paid);
    assert!(told > 0 && told < 1_000, "{told}");
    // The most that one call may cost is what may be left.
    assert!(paid > BUDGET - 350_000, "{paid}");
    let stands = budget_of(&gateways[0], "default").await;
    assert_eq!(stands.spent_nanodollars, paid);
    assert_eq!(stands.reserved_nanodollars, 0);
    assert_eq!(stands.budget_nanodollars, Some(BUDGET));
}

#[tokio::test]
async fn thousand_calls_at_once_never_overspend_a_budget_in_a_file() {
    let (provider, paid) = counting_provider();
    let (gateway, _folder) = embedded(config(PRICE, &budget("0.02")), provider).await;
    thousand_calls_run_up_against_a_budget(&[gateway], &paid).await;
}

#[tokio::test]
async fn thousand_calls_of_two_processes_never_overspend_a_budget_in_a_shared_file() {
    let folder = tempfile::tempdir().unwrap();
    let (provider, paid) = counting_provider();
    let mut processes = Vec::new();
    for _ in 0..2 {
        let store = Store::Shared(folder.path().join("ledger.sqlite"));
        let config = config(PRICE, &budget("0.02"));
        processes.push(gateway(config, store, provider.clone()).await);
    }
    thousand_calls_run_up_against_a_budget(&processes, &paid).await;
}

#[tokio::test]
async fn thousand_calls_at_two_replicas_never_overspend_a_budget_in_redis() {
    let server = RedisServer::start().await;
    let (provider, paid) = counting_provider();
    let mut replicas = Vec::new();
    for _ in 0..2 {
        let store = Store::Redis(server.url());
        let config = config(PRICE, &budget("0.02"));
        replicas.push(gateway(config, store, provider.clone()).await);
    }
    thousand_calls_run_up_against_a_budget(&replicas, &paid).await;
}

#[tokio::test]
async fn decision_says_what_it_cost_and_says_the_same_from_the_ledger() {
    let (gateway, _folder) = embedded(config(PRICE, ""), cheap()).await;
    for from_ledger in [false, true] {
        let answer = decide(&gateway, request("s", 0, "x")).await.unwrap();
        assert_eq!(answer.from_ledger, from_ledger);
        assert_eq!(answer.cost_nanodollars, Some(60_000));
    }
    assert_eq!(status(&gateway).await.cost_nanodollars, 60_000);
    let listed = costs(&gateway, ListCostsRequest::default()).await;
    assert_eq!(listed.rows.len(), 1);
    let row = &listed.rows[0];
    assert_eq!(
        (&*row.team, &*row.experiment_id, &*row.model),
        ("default", "e", "m")
    );
    assert_eq!(
        (row.calls, row.cost_nanodollars, row.unpriced_calls),
        (1, 60_000, 0)
    );
    assert_eq!(row.usage.unwrap().output_tokens, 5);
}

#[tokio::test]
async fn calls_that_failed_cost_nothing_and_those_that_may_have_worked_cost_the_most() {
    let provider = Scripted::new(|_, number| match number {
        0 => Err(Refusal::new(Remedy::AskWithLess, "no seeds")),
        1 => Err(Refusal {
            arrived: Arrived::PerhapsDone,
            ..Refusal::new(Remedy::Retry(None), "timed out")
        }),
        _ => Ok(used(10, 5)),
    });
    let budgeted = config(PRICE, &budget("1"));
    let (gateway, _folder) = embedded(budgeted, Arc::new(provider)).await;
    let answer = decide(&gateway, request("s", 0, "x")).await.unwrap();
    // The lost one: 1 byte + 16 + 64 tokens in at most, 20 out.
    let lost = 81 * 1_000 + 20 * 10_000;
    assert_eq!(answer.cost_nanodollars, Some(lost + 60_000));
    let stands = budget_of(&gateway, "default").await;
    assert_eq!(stands.spent_nanodollars, lost + 60_000);
    assert_eq!(stands.reserved_nanodollars, 0);
    let listed = costs(&gateway, ListCostsRequest::default()).await;
    assert_eq!(listed.rows[0].calls, 2);
    assert!(listed.rows[0].usage.unwrap().estimated);
}

#[tokio::test]
async fn answer_that_does_not_say_what_it_used_costs_the_most_under_a_budget() {
    for (budgeted, expected) in [(budget("1"), 281_000), (String::new(), 0)] {
        let silent = Scripted::new(|_, _| {
            Ok(Reply {
                usage: None,
                ..used(0, 0)
            })
        });
        let (gateway, _folder) = embedded(config(PRICE, &budgeted), Arc::new(silent)).await;
        let answer = decide(&gateway, request("s", 0, "x")).await.unwrap();
        let cost = answer.cost_nanodollars.unwrap();
        let estimate = answer.usage.unwrap();
        let estimated = estimate.input_tokens * 1_000 + estimate.output_tokens * 10_000;
        assert!(estimated < 281_000, "the record keeps the estimate");
        assert_eq!(cost, expected.max(estimated));
        assert_eq!(budget_of(&gateway, "default").await.spent_nanodollars, cost);
    }
}

#[tokio::test]
async fn call_that_waits_long_for_quota_keeps_no_money_from_its_team() {
    let gate = Arc::new(Semaphore::new(0));
    let models = format!(
        "{PRICE}\n[providers.q]\nbase_url = 'http://127.0.0.1:9/v1'\n\
         limits = {{ concurrency = 1 }}\n[models.narrow]\nprovider = 'q'\n\
         max_output_tokens = 20\n{PRICE}"
    );
    let provider = Arc::new(Gated(Arc::clone(&gate)));
    let config = config(&models, &budget("0.0005"));
    let (gateway, _folder) = crate::support::embedded(config, provider).await;
    // An experiment of its own for each, and a budget that is none.
    let ask = |index: u32, model: &str, team: &str| {
        let (gateway, mut request) = (gateway.clone(), request("s", index, "x"));
        (request.model, request.team) = (model.to_owned(), team.to_owned());
        request.experiment_id = format!("e{index}");
        request.experiment_budget_nanodollars = Some(1_000_000);
        tokio::spawn(async move { decide(&gateway, request).await })
    };
    let asked_for_money = async |index: u32| {
        let listed = costs(&gateway, ListCostsRequest::default()).await;
        let mut ids = listed
            .budgets
            .into_iter()
            .map(|budget| budget.experiment_id);
        ids.any(|id| id == format!("e{index}"))
    };
    let first = ask(0, "m", "default");
    until("the money is held", async || asked_for_money(0).await).await;
    let narrow = ask(1, "narrow", "default");
    until("it has its turn", async || asked_for_money(1).await).await;
    // Now somebody else has the only place there.
    let other = ask(2, "narrow", "rich");
    let in_flight = async |calls| status(&gateway).await.in_flight == calls;
    until("the place is taken", async || in_flight(2).await).await;
    let next = ask(3, "m", "default");
    until("it waits for money", async || asked_for_money(3).await).await;
    gate.add_permits(1);
    first.await.unwrap().unwrap();
    until("the next one is called", async || in_flight(2).await).await;
    gate.add_permits(10);
    for call in [narrow, other, next] {
        call.await.unwrap().unwrap();
    }
}

/// Answers once it may, in order of coming.
struct Gated(Arc<Semaphore>);

#[async_trait]
impl Provider for Gated {
    async fn call(&self, _call: Call<'_>) -> Result<Reply, Refusal> {
        let place = self.0.acquire().await;
        place
            .map_err(|_| Refusal::new(Remedy::GiveUp, "closed"))?
            .forget();
        Ok(used(10, 5))
    }
}

#[tokio::test]
async fn model_without_a_price_is_refused_under_a_budget_and_counted_without_one() {
    let provider = cheap();
    let (gateway, _folder) = embedded(config("", ""), provider.clone()).await;
    let mut limited = request("s", 0, "x");
    limited.experiment_budget_nanodollars = Some(1_000_000_000);
    let refusal = decide(&gateway, limited).await.unwrap_err();
    assert_eq!(refusal.code(), Code::InvalidArgument);
    assert!(refusal.message().contains("model m has no known price"));
    assert!(refusal.message().contains("experiment e has a budget"));
    assert_eq!(provider.calls(), 0);

    let answer = decide(&gateway, request("s", 0, "x")).await.unwrap();
    assert_eq!(answer.cost_nanodollars, None);
    let listed = costs(&gateway, ListCostsRequest::default()).await;
    let row = &listed.rows[0];
    assert_eq!(
        (row.calls, row.cost_nanodollars, row.unpriced_calls),
        (1, 0, 1)
    );
}

#[tokio::test]
async fn experiment_that_has_spent_its_budget_goes_on_when_it_is_raised() {
    let provider = cheap();
    let (gateway, _folder) = embedded(config(PRICE, ""), provider.clone()).await;
    let with_budget = |index, nanodollars| {
        let mut request = request("s", index, "x");
        request.experiment_budget_nanodollars = Some(nanodollars);
        request
    };
    // A call may cost 281,000 and costs 60,000.
    assert!(decide(&gateway, with_budget(0, 300_000)).await.is_ok());
    for _ in 0..2 {
        let refusal = decide(&gateway, with_budget(1, 300_000)).await.unwrap_err();
        assert_eq!(refusal.code(), Code::ResourceExhausted);
        let said = refusal.message();
        assert!(
            said.contains("the budget of experiment e leaves too little"),
            "{said}"
        );
        assert!(
            said.contains("$0.000060000 of $0.000300000 spent"),
            "{said}"
        );
    }
    assert_eq!(provider.calls(), 1);
    let mut other = with_budget(0, 300_000);
    other.experiment_id = "f".to_owned();
    other.address.as_mut().unwrap().session_id = "t".to_owned();
    assert!(decide(&gateway, other).await.is_ok());
    assert!(decide(&gateway, with_budget(1, 400_000)).await.is_ok());
    let stands = costs(&gateway, ListCostsRequest::default()).await.budgets;
    let named: Vec<_> = stands
        .iter()
        .map(|stands| {
            (
                &*stands.experiment_id,
                stands.budget_nanodollars,
                stands.spent_nanodollars,
            )
        })
        .collect();
    let expected = [
        ("", None, 180_000),
        ("e", Some(400_000), 120_000),
        ("f", Some(300_000), 60_000),
    ];
    assert_eq!(named, expected);
}

#[tokio::test]
async fn call_waits_for_money_that_another_one_leaves_over() {
    let provider = cheap_and_slow();
    // Two calls fit one after the other, not side by side.
    let (gateway, _folder) = embedded(config(PRICE, &budget("0.0004")), provider.clone()).await;
    let both = [0, 1].map(|index| {
        let gateway = gateway.clone();
        tokio::spawn(async move { decide(&gateway, request("s", index, "x")).await })
    });
    until("the first call is under way", async || {
        budget_of(&gateway, "default").await.reserved_nanodollars == 281_000
    })
    .await;
    for call in both {
        assert!(call.await.unwrap().is_ok());
    }
    assert_eq!(
        budget_of(&gateway, "default").await.spent_nanodollars,
        120_000
    );
}

fn cheap_and_slow() -> Arc<Scripted> {
    let provider = Scripted::new(|_, _| Ok(used(10, 5)));
    Arc::new(provider.with_latency(Duration::from_millis(150)))
}

#[tokio::test]
async fn costs_are_filtered_and_a_day_that_never_was_is_refused() {
    let (gateway, _folder) = embedded(config(PRICE, &budget("1")), cheap()).await;
    for (index, (team, experiment)) in [("a", "e"), ("b", "e"), ("b", "f")].iter().enumerate() {
        let mut request = request("s", u32::try_from(index).unwrap(), "x");
        request.team = (*team).to_owned();
        request.experiment_id = (*experiment).to_owned();
        decide(&gateway, request).await.unwrap();
    }
    let ask = |team: &str, experiment: &str, to_day: &str| ListCostsRequest {
        team: team.to_owned(),
        experiment_id: experiment.to_owned(),
        to_day: to_day.to_owned(),
        ..ListCostsRequest::default()
    };
    let all = costs(&gateway, ask("", "", "")).await;
    assert_eq!(all.rows.len(), 3);
    // Teams a, b and default, then experiments.
    assert_eq!(all.budgets.len(), 5);
    assert_eq!(all.budgets[2].budget_nanodollars, Some(1_000_000_000));
    let of_b = costs(&gateway, ask("b", "", "")).await;
    assert_eq!((of_b.rows.len(), of_b.budgets.len()), (2, 3));
    let of_f = costs(&gateway, ask("b", "f", "")).await;
    assert_eq!((of_f.rows.len(), of_f.budgets.len()), (1, 2));
    assert!(
        costs(&gateway, ask("", "", "2020-01-01"))
            .await
            .rows
            .is_empty()
    );
    let wrong = client(&gateway).list_costs(ask("", "", "2026-02-30")).await;
    assert_eq!(wrong.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn budget_store_that_is_away_lets_nobody_spend_and_loses_no_cost() {
    let mut server = RedisServer::start().await;
    let provider = cheap_and_slow();
    let store = Store::Redis(server.url());
    let gateway = gateway(config(PRICE, &budget("0.01")), store, provider.clone()).await;
    let call = |index| {
        let gateway = gateway.clone();
        tokio::spawn(async move { decide(&gateway, request("s", index, "x")).await })
    };
    assert!(call(0).await.unwrap().is_ok());
    let under_way = call(1);
    until("a call is at the provider", async || provider.calls() == 2).await;
    server.kill();
    // It is answered once it is recorded, and so is its cost.
    server.start_again().await;
    let answer = under_way.await.unwrap().unwrap();
    assert_eq!(answer.cost_nanodollars, Some(60_000));
    until("the books are whole again", async || {
        let listed = client(&gateway)
            .list_costs(ListCostsRequest::default())
            .await;
        listed.is_ok_and(|listed| {
            let budget = &listed.get_ref().budgets[0];
            (budget.spent_nanodollars, budget.reserved_nanodollars) == (120_000, 0)
        })
    })
    .await;
}

#[tokio::test]
async fn no_claim_of_a_reply_spends_more_than_its_request_can_use() {
    let claims = [
        Usage {
            input_tokens: 1_000_000_000,
            ..used(10, 5).usage.unwrap()
        },
        Usage {
            output_tokens: 1_000_000_000,
            ..used(10, 5).usage.unwrap()
        },
        Usage {
            input_tokens: u64::MAX,
            output_tokens: u64::MAX,
            ..Usage::default()
        },
        Usage {
            cached_input_tokens: u64::MAX,
            ..used(10, 5).usage.unwrap()
        },
        Usage {
            cache_write_input_tokens: u64::MAX,
            ..used(10, 5).usage.unwrap()
        },
        Usage {
            reasoning_tokens: u64::MAX,
            ..used(10, 5).usage.unwrap()
        },
        Usage {
            output_tokens: 21,
            reasoning_tokens: 21,
            ..used(10, 5).usage.unwrap()
        },
    ];
    let overstated = claims
        .iter()
        .filter(|usage| usage.input_tokens > 1_000 || usage.output_tokens > 20);
    let overstated = overstated.count() as u64;
    let said = Arc::new(parking_lot::Mutex::new(claims.to_vec()));
    let left = Arc::clone(&said);
    let provider = Arc::new(Scripted::new(move |_, _| {
        let usage = left.lock().remove(0);
        Ok(Reply {
            usage: Some(usage),
            ..used(0, 0)
        })
    }));
    let (gateway, _folder) = embedded(config(PRICE, &budget("1")), provider).await;
    // Twenty tokens out are 200,000 nano-dollars, and a byte is a token in at most.
    let most = 200_000 + 1_000 * ("hi".len() as u64 + 16 + 64);
    for (index, claim) in (0u32..).zip(&claims) {
        let answer = decide(&gateway, request("s", index, "hi")).await.unwrap();
        let usage = answer.usage.unwrap();
        assert!(
            answer.cost_nanodollars.unwrap() <= most,
            "{claim:?}: {answer:?}"
        );
        assert!(usage.output_tokens <= 20 && usage.reasoning_tokens <= usage.output_tokens);
        let parts = usage.cached_input_tokens + usage.cache_write_input_tokens;
        assert!(
            usage.input_tokens <= 82 && parts <= usage.input_tokens,
            "{usage:?}"
        );
        let is_capped = claim.input_tokens > 1_000 || claim.output_tokens > 20;
        assert_eq!(usage.estimated, is_capped, "{claim:?}");
    }
    assert!(said.lock().is_empty());
    assert!(budget_of(&gateway, "default").await.spent_nanodollars <= most * claims.len() as u64);
    let keys = status(&gateway).await.keys;
    assert_eq!(keys[0].errors["usage_beyond_request"], overstated);
    assert!(
        keys[0]
            .last_error
            .contains("but its request allows at most"),
        "{keys:?}"
    );
}

#[tokio::test]
async fn claim_of_less_than_the_texts_have_is_charged_as_if_nothing_was_said() {
    let long = "a".repeat(1_000);
    let claims = [(0, 0), (0, 5), (10, 0), (3, 5), (300, 3)];
    let said = Arc::new(parking_lot::Mutex::new(claims.to_vec()));
    let text = long.clone();
    let provider = Arc::new(Scripted::new(move |_, _| {
        let (input, output) = said.lock().remove(0);
        let text = match output {
            3 => text.clone(),
            _ => "yes".to_owned(),
        };
        Ok(Reply {
            text,
            ..used(input, output)
        })
    }));
    let (gateway, _folder) = embedded(config(PRICE, &budget("1")), provider).await;
    let most = 200_000 + 1_000 * (long.len() as u64 + 16 + 64);
    for (index, claim) in (0u32..).zip(claims) {
        let answer = decide(&gateway, request("s", index, &long)).await.unwrap();
        let usage = answer.usage.unwrap();
        assert!(usage.estimated && usage.input_tokens > 300, "{claim:?}");
        assert!(
            (1..=20).contains(&usage.output_tokens),
            "{claim:?} {usage:?}"
        );
        assert_eq!(answer.cost_nanodollars, Some(most), "{claim:?}");
    }
    let keys = status(&gateway).await.keys;
    assert_eq!(keys[0].errors["usage_below_texts"], claims.len() as u64);
}
