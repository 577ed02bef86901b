//! Keys that are refused as dead come back: tried again by one call after a pause, or at once when
//! somebody says so. And a key that has to wait for tomorrow is not waited for beside an idle
//! fall-back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_agent_gateway::Gateway;
use agon_agent_gateway::providers::{Refusal, Remedy, Reply, Scripted};
use agon_proto::v1::ReviveKeysRequest;
use tempfile::TempDir;
use tonic::{Code, Status};

use crate::support::{client, config, embedded, request, status, until};

/// A provider whose account has no money until it has.
#[derive(Clone, Default)]
struct Account {
    is_good: Arc<AtomicBool>,
    refused: Arc<AtomicU64>,
}

impl Account {
    /// A gateway with one key of it.
    async fn open(&self, pauses: &str) -> (Gateway, TempDir) {
        let account = self.clone();
        let provider = Scripted::new(move |_, _| {
            if account.is_good.load(Ordering::SeqCst) {
                return Ok(Reply::default());
            }
            account.refused.fetch_add(1, Ordering::SeqCst);
            Err(Refusal::new(Remedy::QuarantineKey, "402 no money"))
        });
        let text = format!("[gateway]\ndead_key_probes = {pauses}");
        embedded(config(&text), Arc::new(provider)).await
    }

    fn refused(&self) -> u64 {
        self.refused.load(Ordering::SeqCst)
    }

    fn top_up(&self) {
        self.is_good.store(true, Ordering::SeqCst);
    }
}

async fn ask(gateway: &Gateway, index: u32) -> Result<(), Status> {
    let asked = client(gateway).decide(request("s", index, "hi")).await;
    asked.map(|_| ())
}

#[track_caller]
fn assert_dead(asked: Result<(), Status>) {
    let told = asked.unwrap_err();
    assert_eq!(told.code(), Code::Aborted, "{told}");
    let said = told.message();
    assert!(said.contains("402 no money (n"), "{said}");
    assert!(said.contains("agon gateway revive"), "{said}");
}

#[tokio::test]
async fn dead_key_is_tried_by_one_call_after_each_pause_and_used_again_once_it_works() {
    let account = Account::default();
    let (gateway, _folder) = account.open("[\"1s\", \"2s\"]").await;
    // It dies later than this, so that a pause is over later than this and the pause.
    let began = Instant::now();
    assert_dead(ask(&gateway, 0).await);
    assert_dead(ask(&gateway, 0).await);
    assert_eq!(account.refused(), 1, "out of use");
    until("the key is tried again", async || {
        assert_dead(ask(&gateway, 0).await);
        account.refused() == 2
    })
    .await;
    assert!(began.elapsed() >= Duration::from_secs(1));
    let row = status(&gateway).await.keys.remove(0);
    assert_eq!(row.quarantine_reason, "402 no money");
    assert!((1..=2_000).contains(&row.next_probe_ms), "{row:?}");

    account.top_up();
    until("the key is used again", async || {
        ask(&gateway, 0).await.is_ok()
    })
    .await;
    assert!(began.elapsed() >= Duration::from_secs(3));
    assert_eq!(account.refused(), 2);
    ask(&gateway, 1).await.unwrap();
    assert_eq!(status(&gateway).await.keys[0].quarantine_reason, "");
}

#[tokio::test]
async fn key_that_a_decision_found_dead_is_not_tried_again_by_it() {
    let account = Account::default();
    let (gateway, _folder) = account.open("[\"1us\"]").await;
    for calls in 1..=2 {
        let asked = tokio::time::timeout(Duration::from_secs(20), ask(&gateway, 0)).await;
        assert_dead(asked.expect("it asks again and again"));
        assert_eq!(account.refused(), calls);
    }
}

#[tokio::test]
async fn dead_key_is_revived_by_whoever_says_so() {
    let account = Account::default();
    let (gateway, _folder) = account.open("[]").await;
    assert_dead(ask(&gateway, 0).await);
    account.top_up();
    assert_dead(ask(&gateway, 0).await);
    let revive = async |provider: &str| {
        let revive = ReviveKeysRequest {
            provider: provider.to_owned(),
            ..ReviveKeysRequest::default()
        };
        let revived = client(&gateway).revive_keys(revive).await.unwrap();
        revived.into_inner().revived.len()
    };
    assert_eq!(revive("q").await, 0, "another provider's");
    assert_dead(ask(&gateway, 0).await);
    assert_eq!(revive("p").await, 1);
    ask(&gateway, 0).await.unwrap();
    assert_eq!(revive("").await, 0, "none is out of use");
}

/// A limit of a day is used up: the model is waited for when there is nothing else, and left
/// when there is.
#[tokio::test]
async fn wait_for_tomorrow_is_no_wait_beside_an_idle_fallback() {
    let provider = Scripted::new(|_, _| Ok(Reply::default()));
    let text = "[models.daily]\nprovider = 'p'\nlimits = { requests_per_day = 1 }";
    let (gateway, _folder) = embedded(config(text), Arc::new(provider)).await;
    let asked = |index, fallbacks: &[&str]| {
        let mut asked = request("s", index, "hi");
        asked.model = "daily".to_owned();
        asked.fallback_models = fallbacks.iter().map(|name| (*name).to_owned()).collect();
        asked
    };
    let mut client = client(&gateway);
    let first = client.decide(asked(0, &["m"])).await.unwrap().into_inner();
    assert_eq!(first.model, "daily");
    let began = Instant::now();
    let second = client.decide(asked(1, &["m"])).await.unwrap().into_inner();
    assert_eq!(second.model, "m");
    assert!(began.elapsed() < Duration::from_secs(60), "waited for it");
    let alone = client.decide(asked(2, &[]));
    let waits = tokio::time::timeout(Duration::from_millis(300), alone).await;
    assert!(waits.is_err(), "nothing else to ask: it waits");
}
