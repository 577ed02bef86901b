//! Keys of one account: one set of limits and holds for all of them, in every lane and over all
//! replicas, while each key lives and dies by itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::providers::{Call, Provider, Refusal, Remedy, Reply};
use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use async_trait::async_trait;
use futures_util::future::join_all;
use parking_lot::Mutex;
use secrecy::ExposeSecret as _;
use tempfile::TempDir;

use crate::redis_server::RedisServer;
use crate::support::{client, gateway, request, status, until};

/// Two keys of one account and one of nobody's.
const KEYS: [(&str, &str); 3] = [("sk-1", "lab"), ("sk-2", "lab"), ("sk-alone", "")];

/// Long enough for all who may call at once to be there together.
const SLOW: Duration = Duration::from_millis(150);

/// What a provider saw of each key.
#[derive(Default)]
struct Seen {
    calls: u64,
    in_flight: u64,
}

/// Answers by key.
struct Keyed {
    takes: Duration,
    answer: fn(&str) -> Result<Reply, Refusal>,
    seen: Mutex<BTreeMap<String, Seen>>,
    most_at_once: Mutex<u64>,
}

impl Keyed {
    fn new(takes: Duration, answer: fn(&str) -> Result<Reply, Refusal>) -> Arc<Self> {
        Arc::new(Self {
            takes,
            answer,
            seen: Mutex::default(),
            most_at_once: Mutex::default(),
        })
    }

    fn calls(&self, key: &str) -> u64 {
        self.seen.lock().get(key).map_or(0, |seen| seen.calls)
    }

    /// Calls with keys of the account that were there together, at most.
    fn most_of_account(&self) -> u64 {
        *self.most_at_once.lock()
    }
}

#[async_trait]
impl Provider for Keyed {
    async fn call(&self, call: Call<'_>) -> Result<Reply, Refusal> {
        let key = call.key.unwrap().expose_secret().to_owned();
        {
            let mut seen = self.seen.lock();
            let own = seen.entry(key.clone()).or_default();
            (own.calls, own.in_flight) = (own.calls + 1, own.in_flight + 1);
            let of_account = seen.iter().filter(|(key, _)| *key != "sk-alone");
            let together = of_account.map(|(_, seen)| seen.in_flight).sum();
            let mut most = self.most_at_once.lock();
            *most = (*most).max(together);
        }
        tokio::time::sleep(self.takes).await;
        self.seen.lock().get_mut(&key).unwrap().in_flight -= 1;
        (self.answer)(&key)
    }
}

fn fine(_: &str) -> Result<Reply, Refusal> {
    Ok(Reply::default())
}

/// The first so many of the keys, each in a file; `more` is what else the provider's section says.
fn config(folder: &TempDir, keys: usize, more: &str) -> GatewayConfig {
    let entries = (0_u8..)
        .zip(KEYS)
        .take(keys)
        .map(|(place, (key, account))| {
            let path = folder.path().join(format!("key-{place}"));
            std::fs::write(&path, key).unwrap();
            let account = match account {
                "" => String::new(),
                account => format!(", account = '{account}'"),
            };
            format!("{{ file = '{}'{account} }}", path.display())
        });
    let entries: Vec<String> = entries.collect();
    crate::support::config(&format!("keys = [{}]\n{more}", entries.join(", ")))
}

async fn open(keys: usize, more: &str, provider: &Arc<Keyed>) -> (Gateway, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&folder, keys, more);
    let store = Store::Embedded(folder.path().join("ledger.sqlite"));
    (gateway(config, store, provider.clone()).await, folder)
}

async fn ask_many(gateways: &[&Gateway], count: u32) {
    let asked = (0..count).map(|index| {
        let mut client = client(gateways[index as usize % gateways.len()]);
        async move { client.decide(request("s", index, "hi")).await }
    });
    for answer in join_all(asked).await {
        answer.unwrap();
    }
}

#[tokio::test]
async fn keys_of_an_account_share_its_places_and_its_work() {
    let provider = Keyed::new(SLOW, fine);
    let (gateway, _folder) = open(3, "limits = { concurrency = 2 }", &provider).await;
    ask_many(&[&gateway], 24).await;
    assert_eq!(provider.most_of_account(), 2, "two in all, not two each");
    let [one, other, alone] = KEYS.map(|(key, _)| provider.calls(key));
    assert!(one > 0 && other > 0 && alone > 0, "{one} {other} {alone}");
    for row in status(&gateway).await.keys {
        let account = match row.source.ends_with("key-2") {
            true => "",
            false => "lab",
        };
        assert_eq!(row.account, account, "{row:?}");
    }
}

#[tokio::test]
async fn replicas_share_the_limits_of_an_account() {
    let server = RedisServer::start().await;
    let provider = Keyed::new(SLOW, fine);
    let folder = tempfile::tempdir().unwrap();
    let open = async || {
        let config = config(&folder, 2, "limits = { concurrency = 3 }");
        gateway(config, Store::Redis(server.url()), provider.clone()).await
    };
    let [one, other] = [open().await, open().await];
    ask_many(&[&one, &other], 18).await;
    assert_eq!(provider.most_of_account(), 3);
    assert!(provider.calls("sk-1") > 0 && provider.calls("sk-2") > 0);
}

#[tokio::test]
async fn limits_of_a_day_of_one_model_are_counted_by_account() {
    let provider = Keyed::new(Duration::ZERO, fine);
    let model = "[models.daily]\nprovider = 'p'\nlimits = { requests_per_day = 3 }";
    let (gateway, _folder) = open(2, model, &provider).await;
    let daily = |index| {
        let mut asked = request("s", index, "hi");
        asked.model = "daily".to_owned();
        asked
    };
    for index in 0..3 {
        client(&gateway).decide(daily(index)).await.unwrap();
    }
    let mut client = client(&gateway);
    let fourth = client.decide(daily(3));
    let waits = tokio::time::timeout(Duration::from_millis(300), fourth).await;
    assert!(waits.is_err(), "the other key has none of its own");
}

#[tokio::test]
async fn adaptive_places_are_those_of_the_account() {
    let provider = Keyed::new(Duration::from_secs(4), fine);
    let (gateway, _folder) = open(2, "limits = { concurrency = 'auto' }", &provider).await;
    let places = |rows: &[agon_proto::v1::KeyStatus]| {
        let of_models = rows.iter().filter(|row| !row.model.is_empty());
        of_models.map(|row| row.adaptive_places).collect::<Vec<_>>()
    };
    ask_many(&[&gateway], 1).await;
    let before = places(&status(&gateway).await.keys);
    assert_eq!(before.len(), 2);
    assert_eq!(before[0], before[1]);
    let asked = (1..200).map(|index| {
        let mut client = client(&gateway);
        async move { client.decide(request("s", index, "hi")).await }
    });
    let waiting = async || {
        let status = status(&gateway).await;
        status.in_flight == before[0] && status.waiting_for_quota == 199 - before[0]
    };
    tokio::select! {
        _ = join_all(asked) => panic!("answered before all had asked"),
        () = until("all others wait", waiting) => (),
    }
    assert_eq!(provider.most_of_account(), before[0]);
}

#[tokio::test]
async fn refusal_for_lack_of_quota_holds_the_account_and_no_other_key() {
    let provider = Keyed::new(Duration::ZERO, |key| match key {
        "sk-alone" => Ok(Reply::default()),
        _ => {
            let hold = Remedy::HoldKey(Some(Duration::from_secs(60)));
            Err(Refusal::new(hold, "429"))
        }
    });
    let (gateway, _folder) = open(3, "", &provider).await;
    for index in 0..20 {
        let asked = client(&gateway).decide(request("s", index, "hi")).await;
        asked.unwrap();
    }
    let of_account = provider.calls("sk-1") + provider.calls("sk-2");
    assert!(of_account <= 1, "{of_account} calls into a held account");
    assert_eq!(provider.calls("sk-alone"), 20);
    let rows = status(&gateway).await.keys;
    let held = rows.iter().filter(|row| row.held_for_ms > 0).count();
    assert_eq!(held as u64, 2 * of_account, "both keys of it: {rows:?}");
}

#[tokio::test]
async fn dead_key_leaves_the_limits_to_the_other_keys_of_its_account() {
    let provider = Keyed::new(SLOW, |key| match key {
        "sk-1" => Err(Refusal::new(Remedy::QuarantineKey, "401")),
        _ => Ok(Reply::default()),
    });
    let (gateway, _folder) = open(2, "limits = { concurrency = 2 }", &provider).await;
    let mut index = 100;
    until("the dead key is found", async || {
        index += 1;
        let asked = client(&gateway).decide(request("s", index, "hi")).await;
        asked.unwrap();
        provider.calls("sk-1") > 0
    })
    .await;
    let calls = provider.calls("sk-1");
    let asked = (0..8).map(|index| {
        let mut client = client(&gateway);
        async move { client.decide(request("s", index, "hi")).await }
    });
    for answer in join_all(asked).await {
        answer.unwrap();
    }
    assert_eq!(provider.calls("sk-1"), calls);
    assert_eq!(provider.most_of_account(), 2, "the other uses all of it");
}

/// Which key begins is a matter of the attempt's name, so that of many calls some begin with each.
#[tokio::test]
async fn key_that_may_not_use_a_model_leaves_it_to_another_of_its_account() {
    let provider = Keyed::new(Duration::ZERO, |key| match key {
        "sk-1" => Err(Refusal::new(Remedy::RetryOtherKey, "403 not this model")),
        _ => Ok(Reply::default()),
    });
    let (gateway, _folder) = open(2, "", &provider).await;
    ask_many(&[&gateway], 20).await;
    assert!(provider.calls("sk-1") > 0);
    assert_eq!(provider.calls("sk-2"), 20);
}

#[test]
fn account_that_could_not_keep_one_set_of_limits_is_a_fault() {
    let parse = |text: &str| GatewayConfig::parse("test.toml", text).map_err(|e| e.to_string());
    let provider = |name: &str, entry: &str, limit: u32| {
        format!(
            "[providers.{name}]\nbase_url = 'http://h/v1'\nkeys = [{entry}]\n\
             limits = {{ requests_per_minute = {limit} }}\n"
        )
    };
    let of_lab = "{ env = 'A', account = 'lab' }";
    let with = |entry: &str, limit| provider("a", of_lab, 60) + &provider("b", entry, limit);
    for (text, reason) in [
        (
            with("{ env = 'B', account = 'lab' }", 90),
            "limits that contradict each other",
        ),
        (
            with("{ env = 'B', account = 'lab' }", 60),
            "would have its limits twice",
        ),
        (
            provider("a", "{ env = 'A', account = 'x' }, { env = 'A' }", 1),
            "env A is named twice, under account \"x\" and without an account",
        ),
        (
            with("{ env = 'A' }", 60),
            "the key in env A would have its limits twice: provider \"a\" names it too",
        ),
        (
            provider("a", "{ env = 'A', account = ' ' }", 1),
            "account must be a name",
        ),
        (provider("a", "{ account = 'x' }", 1), "write keys = [{ env"),
        (
            provider("a", "{ env = 'A', file = 'f' }", 1),
            "write keys = [{ env",
        ),
    ] {
        let told = parse(&text).unwrap_err();
        assert!(told.contains(reason), "{text}: {told}");
    }
    assert!(parse(&with("{ env = 'B', account = 'another' }", 90)).is_ok());
    let elsewhere = with("{ env = 'B', account = 'lab' }", 90).replacen("//h/", "//i/", 1);
    assert!(parse(&elsewhere).is_ok(), "another server's account");
    let elsewhere = with("{ env = 'A' }", 60).replacen("//h/", "//i/", 1);
    assert!(parse(&elsewhere).is_ok(), "the key at another server");
}
