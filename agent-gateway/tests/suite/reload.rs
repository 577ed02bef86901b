//! Hot reload through the files themselves: within a second, without dropping a
//! call that waits or runs, and never with a file that is half written or wrong.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_agent_gateway::catalogue::ProviderKind;
use agon_agent_gateway::providers::{Call, Provider, Providers, Refusal, Remedy, Reply};
use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::{DecideResponse, ListCostsRequest};
use async_trait::async_trait;
use parking_lot::Mutex;
use secrecy::ExposeSecret as _;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tonic::{Code, Status};

use crate::support::{capture_log, client, request, status, until};

/// A change is in use within a second; a machine that does other things may need more.
const IN_USE_WITHIN: Duration = Duration::from_secs(10);

/// Answers with the address, the key and the model it was called with, once it
/// may; a key that ends in "dead" is refused for good.
struct Gated {
    gate: Semaphore,
    calls: Mutex<Vec<String>>,
}

impl Gated {
    fn open() -> Arc<Self> {
        Self::with_places(1_000_000)
    }

    fn with_places(places: usize) -> Arc<Self> {
        Arc::new(Self {
            gate: Semaphore::new(places),
            calls: Mutex::default(),
        })
    }

    fn calls(&self) -> usize {
        self.calls.lock().len()
    }
}

#[async_trait]
impl Provider for Gated {
    async fn call(&self, call: Call<'_>) -> Result<Reply, Refusal> {
        let key = call.key.map_or("none", |key| key.expose_secret());
        let text = format!(
            "{} {key} {}",
            call.model.provider.base_url, call.model.model
        );
        self.calls.lock().push(text.clone());
        if key.ends_with("dead") {
            return Err(Refusal::new(Remedy::QuarantineKey, "this key is dead"));
        }
        let place = self.gate.acquire().await;
        place
            .map_err(|_| Refusal::new(Remedy::GiveUp, "closed"))?
            .forget();
        Ok(Reply {
            text,
            ..Reply::default()
        })
    }
}

/// A followed gateway and its files.
struct Stand {
    gateway: Gateway,
    folder: tempfile::TempDir,
}

impl Stand {
    async fn start(provider: Arc<dyn Provider>, files: &[(&str, &str)], text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let file = folder.path().join("agon.toml");
        std::fs::write(&file, placed(folder.path(), text)).unwrap();
        let store = Store::Embedded(folder.path().join("ledger.sqlite"));
        let config = GatewayConfig::load(&file).unwrap();
        let providers = Providers::single(ProviderKind::OpenAi, provider);
        let gateway = Gateway::open_with(config, store, providers).await.unwrap();
        gateway.follow(file);
        Self { gateway, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, text: &str) {
        std::fs::write(self.path("agon.toml"), placed(self.folder.path(), text)).unwrap();
    }

    async fn ask(&self, index: u32) -> Result<String, Status> {
        ask(self.gateway.clone(), "m".to_owned(), index).await
    }

    fn asking(&self, index: u32) -> JoinHandle<Result<String, Status>> {
        tokio::spawn(ask(self.gateway.clone(), "m".to_owned(), index))
    }
}

/// `FOLDER` stands for the folder of the files.
fn placed(folder: &Path, text: &str) -> String {
    text.replace("FOLDER", &folder.display().to_string())
}

async fn ask(gateway: Gateway, model: String, index: u32) -> Result<String, Status> {
    let mut asked = request("s", index, "hi");
    asked.model = model;
    let answered = client(&gateway).decide(asked).await;
    answered.map(|answer: tonic::Response<DecideResponse>| answer.into_inner().reply)
}

/// A header whose value is in a file.
const ONE_HEADER: &str = "[providers.p]\nbase_url = 'http://a/v1'\n\
                          [models.m]\nprovider = 'p'\n\
                          extra_headers = { x-portal-key = { file = 'FOLDER/header' } }\n";

/// Answers with the header that it would send.
struct Portal;

#[async_trait]
impl Provider for Portal {
    async fn call(&self, call: Call<'_>) -> Result<Reply, Refusal> {
        let headers = call.model.additions.headers();
        let headers = headers.map_err(|error| Refusal::new(Remedy::GiveUp, error.to_string()))?;
        Ok(Reply {
            text: headers[0].1.to_str().unwrap().to_owned(),
            ..Reply::default()
        })
    }
}

#[tokio::test]
async fn header_from_a_file_is_read_once_and_again_when_the_file_changes() {
    let (log, _guard) = capture_log();
    let stand = Stand::start(Arc::new(Portal), &[("header", "portal-1")], ONE_HEADER).await;
    assert_eq!(stand.ask(0).await.unwrap(), "portal-1");

    std::fs::write(stand.path("header"), "portal-2").unwrap();
    let (written, mut index) = (Instant::now(), 0);
    until("the new one is sent", async || {
        index += 1;
        stand.ask(index).await.unwrap() == "portal-2"
    })
    .await;
    assert!(written.elapsed() < IN_USE_WITHIN, "{:?}", written.elapsed());
    // The log says so after the change, from another thread.
    until("it is told", async || log.text().contains("headers of m")).await;

    std::fs::remove_file(stand.path("header")).unwrap();
    until("it is missed", async || {
        let fault = status(&stand.gateway).await.configuration_fault;
        fault.contains("model m")
    })
    .await;
    assert_eq!(
        stand.ask(1_000).await.unwrap(),
        "portal-2",
        "the old one stays"
    );
    assert!(!log.text().contains("portal-"));
}

const ONE_KEY: &str = "[providers.p]\nbase_url = 'http://a/v1'\nkeys = [{ file = 'FOLDER/key' }]\n\
                       [models.m]\nprovider = 'p'\n";

#[tokio::test]
async fn changed_key_file_is_in_use_within_a_second_and_starts_fresh() {
    let (log, _guard) = capture_log();
    let provider = Gated::open();
    let stand = Stand::start(provider, &[("key", "sk-one-dead")], ONE_KEY).await;
    let told = stand.ask(0).await.unwrap_err();
    assert_eq!(told.code(), Code::Aborted, "{told}");

    std::fs::write(stand.path("key"), "sk-two").unwrap();
    let written = Instant::now();
    while stand.ask(1).await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(written.elapsed() < IN_USE_WITHIN, "{:?}", written.elapsed());
    assert_eq!(stand.ask(2).await.unwrap(), "http://a/v1 sk-two m");
    let mut keys = status(&stand.gateway).await.keys;
    keys.retain(|key| key.model.is_empty());
    assert_eq!(
        (keys.len(), keys[0].calls),
        (1, 2),
        "its numbers are its own"
    );
    until("it is told", async || {
        log.text().contains("keys of p: 1 came, 1 left")
    })
    .await;
    assert!(!log.text().contains("sk-"), "{}", log.text());
}

#[tokio::test]
async fn turned_link_is_seen() {
    let provider = Gated::open();
    let files = [("first", "sk-first"), ("second", "sk-second")];
    let folder = tempfile::tempdir().unwrap();
    // As Kubernetes does: key -> ..data/key, and ..data is what is turned.
    let data = folder.path().join("..data");
    for (name, content) in files {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("key"), content).unwrap();
    }
    std::os::unix::fs::symlink("first", &data).unwrap();
    std::os::unix::fs::symlink("..data/key", folder.path().join("key")).unwrap();
    let text = ONE_KEY.replace("FOLDER", &folder.path().display().to_string());
    let stand = Stand::start(provider, &[], &text).await;
    assert_eq!(stand.ask(0).await.unwrap(), "http://a/v1 sk-first m");

    std::os::unix::fs::symlink("second", folder.path().join("..data_tmp")).unwrap();
    std::fs::rename(folder.path().join("..data_tmp"), &data).unwrap();
    let turned = Instant::now();
    let mut index = 1;
    while stand.ask(index).await.unwrap() != "http://a/v1 sk-second m" {
        assert!(turned.elapsed() < IN_USE_WITHIN);
        tokio::time::sleep(Duration::from_millis(20)).await;
        index += 1;
    }
}

#[tokio::test]
async fn raised_limit_lets_those_in_who_wait_and_drops_nobody() {
    let provider = Gated::with_places(0);
    let text = |places: u32| {
        format!(
            "[providers.p]\nbase_url = 'http://a/v1'\nlimits = {{ concurrency = {places} }}\n\
             [models.m]\nprovider = 'p'\n"
        )
    };
    let stand = Stand::start(provider.clone(), &[], &text(1)).await;
    let callers: Vec<_> = (0..10).map(|index| stand.asking(index)).collect();
    until("the first is called", async || provider.calls() == 1).await;
    until("the others wait", async || {
        status(&stand.gateway).await.waiting_for_quota == 9
    })
    .await;
    stand.write(&text(6));
    until("six are called", async || provider.calls() == 6).await;
    provider.gate.add_permits(10);
    for caller in callers {
        caller.await.unwrap().unwrap();
    }
    assert_eq!(provider.calls(), 10, "each call was made once");
}

#[tokio::test]
async fn faulty_file_changes_nothing_and_is_told_once() {
    let (log, _guard) = capture_log();
    let stand = Stand::start(Gated::open(), &[("key", "sk-one")], ONE_KEY).await;
    let cases = [
        ("[providers.p\n", "agon.toml:1"),
        ("", "is empty"),
        (
            "[providers.p]\nbase_url = 'http://a/v1'\nkeys = [{ file = 'FOLDER/none' }]\n\
             [models.m]\nprovider = 'p'\n",
            "none cannot be read",
        ),
        ("[models.m]\nprovider = 'q'\n", "unknown provider"),
        (
            "[providers.p]\nbase_url = 'http://a/v1'\nkeys = [{ env = 'sk-in-the-wrong-place' }]\n\
             [models.m]\nprovider = 'p'\n",
            "env is not the name of a variable",
        ),
    ];
    for (index, (text, expected)) in cases.into_iter().enumerate() {
        stand.write(text);
        until(expected, async || {
            status(&stand.gateway)
                .await
                .configuration_fault
                .contains(expected)
        })
        .await;
        // Nothing that was written is in use, and nothing stopped.
        let answered = stand.ask(u32::try_from(index).unwrap()).await;
        assert_eq!(answered.unwrap(), "http://a/v1 sk-one m");
    }
    std::fs::write(stand.path("key"), " ").unwrap();
    stand.write(ONE_KEY);
    until("the empty key file is told", async || {
        let fault = status(&stand.gateway).await.configuration_fault;
        fault.contains("is empty") && fault.contains("key")
    })
    .await;
    std::fs::write(stand.path("key"), "sk-one").unwrap();
    until("the fault is over", async || {
        status(&stand.gateway).await.configuration_fault.is_empty()
    })
    .await;
    let text = log.text();
    let told = text.matches("configuration cannot be used").count();
    assert_eq!(told, cases_told(), "{text}");
    assert!(
        !text.contains("wrong-place") && !text.contains("sk-one"),
        "{text}"
    );
}

/// Each of the faults above, once.
fn cases_told() -> usize {
    6
}

#[tokio::test]
async fn removed_model_tells_those_who_wait_for_it_and_finishes_its_calls() {
    let provider = Gated::with_places(0);
    let before = "[providers.p]\nbase_url = 'http://a/v1'\nlimits = { concurrency = 1 }\n\
                  [models.m]\nprovider = 'p'\n[models.other]\nprovider = 'p'\n";
    let stand = Stand::start(provider.clone(), &[], before).await;
    let running = stand.asking(0);
    until("it is called", async || provider.calls() == 1).await;
    let waiting = stand.asking(1);
    let other = tokio::spawn(ask(stand.gateway.clone(), "other".to_owned(), 2));
    until("two wait", async || {
        status(&stand.gateway).await.waiting_for_quota == 2
    })
    .await;

    stand.write(&before.replace("[models.m]\nprovider = 'p'\n", ""));
    let told = waiting.await.unwrap().unwrap_err();
    assert_eq!(told.code(), Code::Aborted, "{told}");
    assert!(
        told.message()
            .contains("model m was taken out of the configuration"),
        "{told}"
    );
    provider.gate.add_permits(10);
    assert_eq!(running.await.unwrap().unwrap(), "http://a/v1 none m");
    assert_eq!(other.await.unwrap().unwrap(), "http://a/v1 none other");
}

#[tokio::test]
async fn moved_provider_takes_its_waiting_calls_along_and_no_key_to_the_old_address() {
    let provider = Gated::with_places(0);
    let before = "[providers.p]\nbase_url = 'http://a/v1'\nkeys = [{ file = 'FOLDER/key' }]\n\
                  limits = { concurrency = 1 }\n[models.m]\nprovider = 'p'\n";
    let files = [("key", "sk-a"), ("key-of-b", "sk-b")];
    let stand = Stand::start(provider.clone(), &files, before).await;
    let running = stand.asking(0);
    until("it is called", async || provider.calls() == 1).await;
    let waiting = stand.asking(1);
    until("one waits", async || {
        status(&stand.gateway).await.waiting_for_quota == 1
    })
    .await;
    stand.write(
        &before
            .replace("http://a/", "http://b/")
            .replace("/key'", "/key-of-b'"),
    );
    until("it is called there", async || provider.calls() == 2).await;
    provider.gate.add_permits(10);
    assert_eq!(running.await.unwrap().unwrap(), "http://a/v1 sk-a m");
    assert_eq!(waiting.await.unwrap().unwrap(), "http://b/v1 sk-b m");
}

#[tokio::test]
async fn limits_of_a_new_section_hold_for_a_model_that_was_used_without_one() {
    let text = "[providers.p]\nbase_url = 'http://a/v1'\n";
    let stand = Stand::start(Gated::open(), &[], text).await;
    let asked = ask(stand.gateway.clone(), "p/z".to_owned(), 0).await;
    assert_eq!(asked.unwrap(), "http://a/v1 none z");
    let section = "[models.zlim]\nprovider = 'p'\nmodel = 'z'\n\
                   limits = { requests_per_minute = 60 }\n";
    stand.write(&format!("{text}{section}"));
    until("the limit is in force", async || {
        let keys = status(&stand.gateway).await.keys;
        let limits = keys.iter().flat_map(|key| &key.limits);
        let mut limits = limits.map(|limit| (limit.name.as_str(), limit.limit));
        limits.any(|limit| limit == ("requests/min", 60))
    })
    .await;
}

#[tokio::test]
async fn file_that_is_empty_from_the_start_is_no_fault_and_one_that_was_emptied_is() {
    let (log, _guard) = capture_log();
    let stand = Stand::start(Gated::open(), &[], "").await;
    stand.gateway.reload();
    until("it has looked", async || {
        log.text()
            .contains("configuration read again, nothing changed")
    })
    .await;
    let fault = async || status(&stand.gateway).await.configuration_fault;
    assert_eq!(fault().await, "");
    stand.write("[gateway]\npatience = '7s'\n");
    until("the patience is new", async || {
        log.text().contains("configuration read again and in use")
    })
    .await;
    stand.write("");
    until("it is told", async || fault().await.contains("is empty")).await;
}

#[tokio::test]
async fn asked_for_another_look_the_gateway_says_what_it_found() {
    let (log, _guard) = capture_log();
    let stand = Stand::start(Gated::open(), &[("key", "sk-one")], ONE_KEY).await;
    stand.gateway.reload();
    until("it says so", async || {
        log.text()
            .contains("configuration read again, nothing changed")
    })
    .await;
    stand.write(&format!("{ONE_KEY}[gateway]\npatience = '7s'\n"));
    until("the patience is new", async || {
        log.text().contains("configuration read again and in use")
            && log.text().contains("patience")
    })
    .await;
}

#[tokio::test]
async fn call_that_waited_holds_money_for_what_it_may_write_now() {
    let (log, _guard) = capture_log();
    let provider = Gated::with_places(0);
    let text = |most: u32, timeout: u32| {
        format!(
            "[providers.p]\nbase_url = 'http://a/v1'\nlimits = {{ concurrency = 1 }}\n\
             timeout = '{timeout}s'\n[models.m]\nprovider = 'p'\nmax_output_tokens = {most}\n\
             price = {{ input_per_million_dollars = '1', output_per_million_dollars = '10' }}\n\
             [teams.default]\nbudget_dollars = '1'\n"
        )
    };
    let stand = Stand::start(provider.clone(), &[], &text(20, 10)).await;
    let reserved = async || {
        let mut client = client(&stand.gateway);
        let listed = client.list_costs(ListCostsRequest::default()).await;
        listed.unwrap().into_inner().budgets[0].reserved_nanodollars
    };
    let first = stand.asking(0);
    until("it is called", async || provider.calls() == 1).await;
    // Two bytes and 80 tokens around them, and what it may write.
    assert_eq!(reserved().await, 82_000 + 200_000);
    let second = stand.asking(1);
    until("one waits", async || {
        status(&stand.gateway).await.waiting_for_quota == 1
    })
    .await;
    stand.write(&text(2_000, 20));
    until("the new settings are in use", async || {
        log.text().contains("configuration read again and in use")
    })
    .await;
    provider.gate.add_permits(1);
    until("the second is called", async || provider.calls() == 2).await;
    assert_eq!(reserved().await, 82_000 + 20_000_000);
    provider.gate.add_permits(1);
    first.await.unwrap().unwrap();
    second.await.unwrap().unwrap();
}
