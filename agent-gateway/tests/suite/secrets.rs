//! A key is looked for everywhere it could leak: logs at every level, errors,
//! status, debug output, the ledger's file; also when the provider itself
//! repeats it in its complaint.

use std::sync::Arc;

use agon_agent_gateway::decision::Request;
use agon_agent_gateway::providers::{Arrived, Refusal, Scripted};

use crate::http::{Act, Stage, open_gateway};
use crate::support::{capture_log, client, request, status};

const KEY: &str = "sk-5ecret-0f-this-test";

#[tokio::test]
async fn key_is_in_no_log_error_status_or_file() {
    let (captured, _guard) = capture_log();

    let complaint = r#"{"error":{"message":"Incorrect API key provided: sk-5ecret-0f-this-test"}}"#;
    let (stage, address) = Stage::open([
        Act::Answer(500, &[], complaint),
        crate::http::FINE,
        Act::Answer(401, &[], complaint),
    ])
    .await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, KEY).unwrap();
    let more = format!("keys = [ {{ file = '{}' }} ]", path.display());
    let (gateway, ledger) = open_gateway(&format!("http://{address}/v1"), &more).await;

    client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap();
    let error = client(&gateway)
        .decide(request("s", 1, "hi"))
        .await
        .unwrap_err();
    assert!(
        error
            .message()
            .contains("Incorrect API key provided: [key]"),
        "{error}"
    );
    let status = status(&gateway).await;
    assert_eq!(stage.keys()[0], format!("Bearer {KEY}"));

    let log = captured.text();
    assert!(log.contains("key taken out of use"), "{log}");
    let shown = format!("{log} {error} {error:?} {status:?}");
    assert!(!shown.contains("5ecret"), "{shown}");
    for entry in std::fs::read_dir(ledger.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("5ecret"));
    }
}

#[tokio::test]
async fn keys_in_complaints_are_replaced_however_they_come() {
    let (captured, _guard) = capture_log();
    // Long enough that the complaint is cut within the key.
    let long = format!("{}sk-5ecret-0f-this-test", "word ".repeat(58));
    let complaint: &'static str = format!(r#"{{"error":{{"message":"{long}"}}}}"#).leak();
    let (_stage, address) = Stage::open([
        Act::Answer(400, &[], complaint),
        Act::Answer(200, &[], "<p>sk-5ecret-0f-this-test</p>"),
        Act::Answer(
            400,
            &[],
            r#"{"error":"upstream refused\nsk-other-5ecret-key"}"#,
        ),
        Act::Answer(
            400,
            &[],
            r#"{"error":{"message":"no seed, sk-other-5ecret-key","param":"seed","code":"unknown_parameter"}}"#,
        ),
    ])
    .await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, KEY).unwrap();
    let more = format!("keys = [ {{ file = '{}' }} ]", path.display());
    let (gateway, _ledger) = open_gateway(&format!("http://{address}/v1"), &more).await;

    let mut said = Vec::new();
    for index in 0..2 {
        let asked = request("s", index, "hi");
        let error = client(&gateway).decide(asked).await.unwrap_err();
        said.push(error.message().to_owned());
    }
    let mut seeded = request("s", 2, "hi");
    seeded.sampling_seed = Some(1);
    client(&gateway).decide(seeded).await.unwrap();
    let log = captured.text();
    assert!(log.contains("no seed, [key]"), "{log}");
    assert!(said[1].ends_with("upstream refused [key]"), "{said:?}");
    let shown = format!("{log} {said:?} {:?}", status(&gateway).await);
    for part in ["5ecret", "sk-5", "sk-o"] {
        assert!(!shown.contains(part), "{part} in {shown}");
    }
}

#[tokio::test]
async fn panic_of_a_provider_ends_one_decision_only() {
    let provider = Arc::new(Scripted::new(|request: &Request, _| {
        assert!(
            request.messages[0].content != "boom",
            "a fault of the provider"
        );
        Err(Refusal {
            remedy: agon_agent_gateway::providers::Remedy::GiveUp,
            reason: "fine otherwise".to_owned(),
            arrived: Arrived::Refused,
            overloaded: false,
            signals: Default::default(),
        })
    }));
    let (gateway, _folder) = crate::support::embedded(crate::support::config(""), provider).await;
    let lost = client(&gateway)
        .decide(request("s", 0, "boom"))
        .await
        .unwrap_err();
    assert_eq!(lost.code(), tonic::Code::Internal);
    assert!(lost.message().contains("decision s/0/0 was lost"), "{lost}");
    let next = client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap_err();
    assert!(next.message().contains("fine otherwise"));
}

/// Files are exchanged, wrong ones come and go, and a provider repeats each key:
/// neither the keys of then nor those of now are in what anybody can read.
#[tokio::test]
async fn keys_that_come_and_go_are_in_no_status_metric_log_or_fault() {
    const SECOND: &str = "sk-5econd-5ecret-of-this-test";
    const MISPLACED: &str = "sk-m1splaced-5ecret-of-this-test";
    let (captured, _guard) = capture_log();
    agon_service_kit::metrics::install().unwrap();
    let repeats_first = r#"{"error":{"message":"overloaded, sk-5ecret-0f-this-test"}}"#;
    let repeats_second = r#"{"error":{"message":"bad key sk-5econd-5ecret-of-this-test"}}"#;
    let (stage, address) = Stage::open([
        Act::Answer(503, &[], repeats_first),
        crate::http::FINE,
        Act::Answer(401, &[], repeats_second),
    ])
    .await;
    let folder = tempfile::tempdir().unwrap();
    let (file, key) = (folder.path().join("agon.toml"), folder.path().join("key"));
    let text = format!(
        "[providers.p]\nbase_url = 'http://{address}/v1'\nkeys = [{{ file = '{}' }}]\n\
         [models.m]\nprovider = 'p'\n",
        key.display()
    );
    std::fs::write(&key, KEY).unwrap();
    std::fs::write(&file, &text).unwrap();
    let config = agon_agent_gateway::GatewayConfig::load(&file).unwrap();
    let store = agon_agent_gateway::Store::Embedded(folder.path().join("ledger"));
    let gateway = agon_agent_gateway::Gateway::open(config, store)
        .await
        .unwrap();
    gateway.follow(file.clone());
    client(&gateway)
        .decide(request("s", 0, "hi"))
        .await
        .unwrap();

    let mut shown = String::new();
    let misplaced = [
        text.replace(
            "[providers.p]",
            &format!("[providers.p]\napi_key = '{MISPLACED}'"),
        ),
        text.replace("keys = [", &format!("keys = ['{MISPLACED}', ")),
        text.replace("{ file", &format!("{{ env = '{MISPLACED}' }}, {{ file")),
        format!("{MISPLACED}\n{text}"),
    ];
    for wrong in misplaced {
        let before = gateway.configuration_fault();
        std::fs::write(&file, wrong).unwrap();
        crate::support::until("the fault is told", async || {
            let fault = gateway.configuration_fault();
            !fault.is_empty() && fault != before
        })
        .await;
        shown += &format!("{:?}", status(&gateway).await);
    }
    std::fs::write(&key, SECOND).unwrap();
    std::fs::write(&file, &text).unwrap();
    crate::support::until("the second key is in use", async || {
        captured.text().contains("1 came, 1 left")
    })
    .await;
    let refused = client(&gateway).decide(request("s", 1, "hi")).await;
    shown += &format!("{:?} {:?}", refused.unwrap_err(), status(&gateway).await);
    assert!(stage.keys().contains(&format!("Bearer {SECOND}")));
    assert!(shown.contains("bad key [key]"), "{shown}");

    shown += &captured.text();
    shown += &agon_service_kit::metrics::render();
    for part in ["5ecret", "5econd", "m1splaced"] {
        assert!(!shown.contains(part), "{part} in {shown}");
    }
}

/// What a panic says is logged; a provider that panics with its call in hand
/// must not take the key along.
#[tokio::test]
async fn panic_with_a_call_in_hand_names_no_key() {
    struct Panics;
    #[async_trait::async_trait]
    impl agon_agent_gateway::providers::Provider for Panics {
        async fn call(
            &self,
            call: agon_agent_gateway::providers::Call<'_>,
        ) -> Result<agon_agent_gateway::providers::Reply, Refusal> {
            assert!(call.key.is_none(), "{call:?}");
            Err(Refusal::new(
                agon_agent_gateway::providers::Remedy::GiveUp,
                "never said",
            ))
        }
    }
    let (captured, _guard) = capture_log();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, KEY).unwrap();
    let keys = format!("keys = [ {{ file = '{}' }} ]", path.display());
    let (gateway, _ledger) =
        crate::support::embedded(crate::support::config(&keys), Arc::new(Panics)).await;
    let lost = client(&gateway).decide(request("s", 0, "hi")).await;
    let shown = format!("{:?} {}", lost.unwrap_err(), captured.text());
    assert!(shown.contains("panic"), "{shown}");
    assert!(!shown.contains("5ecret"), "{shown}");
}
