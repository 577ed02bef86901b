//! Budgets over a store that fails: what is forgotten, and what a mere look holds.
//! Refuses to know what a store does; both back ends have their own contract.

use std::sync::atomic::AtomicU32;

use agon_service_kit::tasks::Tasks;
use async_trait::async_trait;

use super::quote::Payer;
use super::store::{BudgetCaps, MoneyHold, Shortage};
use super::*;
use crate::config::GatewayConfig;
use crate::decision::Request;
use crate::store_error::StoreError;

/// Holds what it is asked for, and does not release at once.
#[derive(Default)]
struct Failing {
    holds: AtomicU32,
    looks: AtomicU32,
    releases: AtomicU32,
}

fn away() -> StoreError {
    let source = redis::RedisError::from((redis::ErrorKind::Io, "away"));
    StoreError::Redis {
        operation: "release a hold",
        source,
    }
}

fn shortage() -> Shortage {
    Shortage {
        scope: BudgetScope::Team("t".to_owned()),
        budget: NanoDollars(1),
        spent: NanoDollars(1),
        reserved: NanoDollars(0),
    }
}

#[async_trait]
impl BudgetStore for Failing {
    async fn reserve(&self, _hold: &MoneyHold) -> Result<HoldVerdict, StoreError> {
        self.holds.fetch_add(1, Ordering::Relaxed);
        Ok(HoldVerdict::Spent(shortage()))
    }

    async fn look(&self, _hold: &MoneyHold) -> Result<HoldVerdict, StoreError> {
        self.looks.fetch_add(1, Ordering::Relaxed);
        Ok(HoldVerdict::Granted)
    }

    async fn settle(&self, _bill: &Bill) -> Result<(), StoreError> {
        Err(away())
    }

    async fn release(&self, _attempt: &CallId) -> Result<(), StoreError> {
        match self.releases.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => Err(away()),
            _ => Ok(()),
        }
    }

    async fn costs(&self, _filter: &CostFilter) -> Result<Vec<CostRow>, StoreError> {
        Ok(Vec::new())
    }

    async fn standings(&self) -> Result<Vec<BudgetStanding>, StoreError> {
        Ok(Vec::new())
    }
}

fn money(store: &Arc<Failing>, tasks: &Tasks) -> Budgets {
    Budgets::new(store.clone(), "gateway", Outbox::new(tasks.clone(), |_| {}))
}

fn quote() -> Quote {
    let config = "[providers.p]\nbase_url = 'http://a/v1'\n[models.m]\nprovider = 'p'\nprice = { \
                  input_per_million_dollars = '1', output_per_million_dollars = '1' }";
    let config = GatewayConfig::parse("test.toml", config).unwrap();
    let payer = Payer {
        team: "t".to_owned(),
        experiment: String::new(),
        budgets: BudgetCaps {
            team: Some(NanoDollars(1)),
            experiment: None,
        },
    };
    let request = Request {
        model: "m".into(),
        ..Request::default()
    };
    Quote::new(&payer, &config.resolve("m").unwrap(), &request).unwrap()
}

#[tokio::test]
async fn check_of_a_spent_budget_holds_nothing() {
    let store = Arc::new(Failing::default());
    let money = money(&store, &Tasks::new());
    let (attempt, quote) = (money.next_attempt(), quote());
    let refused = money.reserve(&attempt, &quote, RECHECK).await;
    assert!(refused.unwrap().is_err());
    money.check(&quote).await.unwrap();
    assert_eq!(store.looks.load(Ordering::Relaxed), 1);
    assert_eq!(store.holds.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn hold_in_doubt_is_given_back_when_the_store_is_back() {
    let (store, tasks) = (Arc::new(Failing::default()), Tasks::new());
    let money = money(&store, &tasks);
    money.forget(&money.next_attempt()).await;
    while !tasks.status().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(store.releases.load(Ordering::Relaxed), 3);
}
