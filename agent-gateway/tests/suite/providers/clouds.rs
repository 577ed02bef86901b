//! Clouds that want proof of who asks with every call: Vertex AI by tokens, Amazon Bedrock by
//! signatures. Each is checked by a server that works it out by itself.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::{Gateway, GatewayConfig, Store};
use agon_proto::v1::DecideResponse;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, Uri};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;
use tonic::{Code, Status};

use super::aws::Credentials;
use super::google::Google;
use crate::support::{capture_log, client, request, status};

/// Longer than new credentials count as new.
const A_WHILE: Duration = Duration::from_millis(1_100);

const REGION: &str = "eu-central-1";

const OLD: Credentials = Credentials {
    id: "AKIAOLDOLDOLDOLDOLD1",
    secret: "oldSecret/5ecret+of/the+golden+cases/AAAA",
    session: None,
};

const NEW: Credentials = Credentials {
    id: "ASIANEWNEWNEWNEWNEW1",
    secret: "newSecret/5ecret+of/the+golden+cases/BBBB",
    session: Some("session-5ecret-token//of+a+while=="),
};

/// Says what is wrong with the proof of a request.
type Doorman = dyn Fn(&Uri, &HeaderMap, &[u8]) -> Result<(), String> + Send + Sync;

/// A request, and what was wrong with its proof.
type Seen = (String, Result<(), String>);

/// A server that answers whom its doorman lets in.
#[derive(Clone)]
struct Cloud {
    address: String,
    doorman: Arc<Mutex<Arc<Doorman>>>,
    answer: Value,
    seen: Arc<Mutex<Vec<Seen>>>,
    refusal: (u16, &'static str, Value),
}

impl Cloud {
    async fn open(answer: Value, refusal: (u16, &'static str, Value)) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let cloud = Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            doorman: Arc::new(Mutex::new(Arc::new(|_: &Uri, _: &HeaderMap, _: &[u8]| {
                Ok(())
            }))),
            answer,
            seen: Arc::default(),
            refusal,
        };
        let router = axum::Router::new().fallback({
            let cloud = cloud.clone();
            async move |request: Request| cloud.answer(request).await
        });
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        cloud
    }

    fn lets_in(
        &self,
        doorman: impl Fn(&Uri, &HeaderMap, &[u8]) -> Result<(), String> + Send + Sync + 'static,
    ) {
        *self.doorman.lock() = Arc::new(doorman);
    }

    async fn answer(&self, request: Request) -> (StatusCode, HeaderMap, String) {
        let (head, body) = request.into_parts();
        let body: Bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let doorman = Arc::clone(&self.doorman.lock());
        let checked = doorman(&head.uri, &head.headers, &body);
        let let_in = checked.is_ok();
        let all = format!(
            "{} {:?} {}",
            head.uri,
            head.headers,
            String::from_utf8_lossy(&body)
        );
        self.seen.lock().push((all, checked));
        if let_in {
            return (StatusCode::OK, HeaderMap::new(), self.answer.to_string());
        }
        let (status, kind, body) = &self.refusal;
        let headers = HeaderMap::from_iter([(
            "x-amzn-errortype".parse().unwrap(),
            format!("{kind}:http://internal").parse().unwrap(),
        )]);
        (
            StatusCode::from_u16(*status).unwrap(),
            headers,
            body.to_string(),
        )
    }

    /// Calls that were let in, and reasons of the others.
    fn seen(&self) -> (usize, Vec<String>) {
        let seen = self.seen.lock();
        let fine = seen.iter().filter(|(_, checked)| checked.is_ok()).count();
        let wrong = seen.iter().filter_map(|(_, checked)| checked.clone().err());
        (fine, wrong.collect())
    }
}

async fn open(section: &str, model: &str) -> (Gateway, TempDir) {
    let text = format!(
        "[providers.p]\n{section}\n[models.m]\nprovider = 'p'\nmodel = '{model}'\n\
         [gateway]\ndead_key_probes = []\n"
    );
    let config = GatewayConfig::parse("test.toml", &text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::Embedded(folder.path().join("ledger.sqlite"));
    (Gateway::open(config, store).await.unwrap(), folder)
}

async fn ask(gateway: &Gateway, index: u32) -> Result<DecideResponse, Status> {
    let asked = client(gateway).decide(request("s", index, "hi")).await;
    asked.map(tonic::Response::into_inner)
}

async fn vertex_cloud() -> Cloud {
    let answer = json!({
        "modelVersion": "gemini-2.5-flash",
        "candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "ok"}]}}],
        "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1, "totalTokenCount": 4},
    });
    let error = json!({"error": {"code": 401, "status": "UNAUTHENTICATED", "message": "token"}});
    Cloud::open(answer, (401, "", error)).await
}

/// A gateway with the account of `google` at `cloud`, which lets in whoever has the last token.
async fn vertex(google: &Google, cloud: &Cloud, folder: &Path) -> (Gateway, TempDir) {
    cloud.lets_in({
        let google = google.clone();
        move |_, headers, _| match headers.get("authorization") {
            Some(token) if *token == google.last_token() => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    let file = folder.join("account.json");
    std::fs::write(&file, google.account()).unwrap();
    let section = format!(
        "kind = 'vertex'\nproject = 'p-1'\nlocation = 'europe-west4'\nbase_url = '{}/v1'\n\
         keys = [{{ file = '{}' }}]",
        cloud.address,
        file.display()
    );
    open(&section, "gemini-2.5-flash").await
}

#[tokio::test]
async fn service_account_signs_for_a_token_that_its_calls_carry_and_nothing_shows() {
    let (log, _guard) = capture_log();
    let (google, cloud) = (Google::open().await, vertex_cloud().await);
    let folder = tempfile::tempdir().unwrap();
    let (gateway, _ledger) = vertex(&google, &cloud, folder.path()).await;
    for index in 0..3 {
        let decided = ask(&gateway, index).await.unwrap();
        assert_eq!(decided.reply, "ok");
        assert_eq!(decided.usage.unwrap().input_tokens, 3);
    }
    assert_eq!((google.tokens_given(), cloud.seen()), (1, (3, Vec::new())));
    let sent = cloud.seen.lock()[0].0.clone();
    let path = "/v1/projects/p-1/locations/europe-west4/publishers/google/models/\
                gemini-2.5-flash:generateContent ";
    assert!(sent.starts_with(path), "{sent}");
    let status = format!("{:?}", status(&gateway).await);
    let key = include_str!("throwaway_rsa_key.base64")
        .lines()
        .next()
        .unwrap();
    for text in [&log.text(), &status] {
        assert!(!text.contains("t0ken-5ecret") && !text.contains(key));
    }
    assert!(
        !sent.contains(key),
        "the account is for the token server alone"
    );
}

#[tokio::test]
async fn token_is_renewed_before_it_ends_and_when_it_is_refused() {
    let (google, cloud) = (Google::open().await, vertex_cloud().await);
    let folder = tempfile::tempdir().unwrap();
    let (gateway, _ledger) = vertex(&google, &cloud, folder.path()).await;
    google.tokens_last(15);
    ask(&gateway, 0).await.unwrap();
    google.tokens_last(3_600);
    ask(&gateway, 1).await.unwrap();
    assert_eq!(
        google.tokens_given(),
        2,
        "fifteen seconds are too few for a call"
    );
    ask(&gateway, 2).await.unwrap();
    assert_eq!((google.tokens_given(), cloud.seen()), (2, (3, Vec::new())));

    tokio::time::sleep(A_WHILE).await;
    cloud.lets_in({
        let google = google.clone();
        move |_, headers, _| match headers["authorization"] == google.last_token() {
            true if google.tokens_given() > 2 => Ok(()),
            _ => Err("revoked".to_owned()),
        }
    });
    ask(&gateway, 3).await.unwrap();
    assert_eq!(google.tokens_given(), 3);
    assert_eq!(cloud.seen(), (4, vec!["revoked".to_owned()]));
    let key = &status(&gateway).await.keys[0];
    assert_eq!(
        (key.failed, key.refused_by_provider),
        (0, 0),
        "nobody noticed"
    );
}

#[tokio::test]
async fn account_that_gets_no_token_is_out_of_use_and_no_call_is_made() {
    let (google, cloud) = (Google::open().await, vertex_cloud().await);
    let folder = tempfile::tempdir().unwrap();
    let (gateway, _ledger) = vertex(&google, &cloud, folder.path()).await;
    google.refuse();
    let error = ask(&gateway, 0).await.unwrap_err();
    assert_eq!(error.code(), Code::Aborted);
    let told = "Google gives no token for this account";
    assert!(error.message().contains(told), "{error}");
    assert_eq!(cloud.seen(), (0, Vec::new()));
}

#[tokio::test]
async fn token_that_is_never_believed_is_a_dead_key_after_one_more_try() {
    let (google, cloud) = (Google::open().await, vertex_cloud().await);
    let folder = tempfile::tempdir().unwrap();
    let (gateway, _ledger) = vertex(&google, &cloud, folder.path()).await;
    cloud.lets_in(|_, _, _| Err("nobody".to_owned()));
    let error = ask(&gateway, 0).await.unwrap_err();
    assert_eq!(error.code(), Code::Aborted, "{error}");
    assert_eq!(cloud.seen().1.len(), 2);
}

#[tokio::test]
async fn key_that_is_no_service_account_is_told_by_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("account.json");
    for text in [
        "sk-5ecret-of-another-kind",
        "{\"private_key\": \"5ecret-and-no-address\"}",
    ] {
        std::fs::write(&file, text).unwrap();
        let section = format!(
            "kind = 'vertex'\nproject = 'p-1'\nkeys = [{{ file = '{}' }}]",
            file.display()
        );
        let (gateway, _ledger) = open(&section, "gemini-2.5-flash").await;
        let error = ask(&gateway, 0).await.unwrap_err();
        let told = error.message();
        assert!(
            told.contains("account.json holds no service account"),
            "{told}"
        );
        assert!(!told.contains("5ecret"), "{told}");
    }
}

async fn bedrock_cloud(kind: &'static str) -> Cloud {
    let answer = json!({
        "output": {"message": {"role": "assistant", "content": [{"text": "ok"}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 3, "outputTokens": 1, "totalTokens": 4},
    });
    Cloud::open(answer, (403, kind, json!({"message": "not you"}))).await
}

async fn bedrock(cloud: &Cloud, file: &Path, profile: &str) -> (Gateway, TempDir) {
    let section = format!(
        "kind = 'bedrock'\nregion = '{REGION}'\nbase_url = '{}'\nprofile = '{profile}'\n\
         credentials_file = '{}'",
        cloud.address,
        file.display()
    );
    open(&section, "eu.anthropic.claude-sonnet-4-5-20250929-v1:0").await
}

/// Lets in whoever signs with these.
fn lets_in(cloud: &Cloud, credentials: &'static Credentials) {
    cloud.lets_in(|uri, headers, body| credentials.check(REGION, uri, headers, body));
}

#[tokio::test]
async fn requests_are_signed_as_aws_wants_it_with_the_credentials_of_a_profile() {
    let (log, _guard) = capture_log();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credentials");
    let both = OLD.profile("default") + &NEW.profile("lab");
    std::fs::write(&file, both).unwrap();
    for (profile, credentials) in [("default", &OLD), ("lab", &NEW)] {
        let cloud = bedrock_cloud("InvalidSignatureException").await;
        lets_in(&cloud, credentials);
        let (gateway, _ledger) = bedrock(&cloud, &file, profile).await;
        for index in 0..2 {
            let decided = ask(&gateway, index).await.unwrap();
            assert_eq!(
                (&*decided.reply, decided.usage.unwrap().input_tokens),
                ("ok", 3)
            );
        }
        assert_eq!(cloud.seen(), (2, Vec::new()));
        let sent = cloud.seen.lock()[0].0.clone();
        let path = "/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse ";
        assert!(sent.starts_with(path), "{sent}");
        let status = format!("{:?}", status(&gateway).await);
        assert!(!status.contains("5ecret") && !sent.contains(credentials.secret));
    }
    assert!(!log.text().contains("5ecret"));
}

#[tokio::test]
async fn credentials_that_have_ended_are_looked_for_again_and_the_call_is_made_once_more() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credentials");
    std::fs::write(&file, OLD.profile("lab")).unwrap();
    let cloud = bedrock_cloud("ExpiredTokenException").await;
    lets_in(&cloud, &OLD);
    let (gateway, _ledger) = bedrock(&cloud, &file, "lab").await;
    ask(&gateway, 0).await.unwrap();
    tokio::time::sleep(A_WHILE).await;
    std::fs::write(&file, NEW.profile("lab")).unwrap();
    ask(&gateway, 1).await.unwrap();
    assert_eq!(
        cloud.seen(),
        (2, Vec::new()),
        "nobody looks at a file for each call"
    );
    lets_in(&cloud, &NEW);
    ask(&gateway, 2).await.unwrap();
    assert_eq!(
        cloud.seen(),
        (3, vec!["another credential or scope".to_owned()])
    );
}

#[tokio::test]
async fn wrong_and_missing_credentials_are_a_dead_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credentials");
    let wrong = OLD.profile("wrong").replace("oldSecret", "anotherSecret");
    std::fs::write(&file, wrong).unwrap();
    for (profile, told, calls) in [
        ("wrong", "403 Forbidden: not you", 2),
        ("missing", "no credentials of AWS are found", 0),
    ] {
        let cloud = bedrock_cloud("InvalidSignatureException").await;
        lets_in(&cloud, &OLD);
        let (gateway, _ledger) = bedrock(&cloud, &file, profile).await;
        let error = ask(&gateway, 0).await.unwrap_err();
        assert_eq!(error.code(), Code::Aborted, "{error}");
        assert!(error.message().contains(told), "{error}");
        assert_eq!(cloud.seen().1.len(), calls);
    }
}
