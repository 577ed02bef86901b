//! The layer before a service of the test: whose bodies end with their token, and which calls are
//! written down. Part of `layer.rs`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::clock::unix_ms;
use agon_service_kit::tasks::Tasks;
use futures_util::stream;
use http::header::AUTHORIZATION;
use secrecy::ExposeSecret as _;
use tower::{ServiceExt as _, service_fn};

use super::*;
use crate::audit::AuditEntry;
use crate::document::{IdentityDocument, TokenRecord};
use crate::gate::{Rule, Rules};
use crate::scope::Scope;
use crate::store::{FileIdentityStore, IdentityStore, change};
use crate::token::NewToken;
use crate::view::Identities;

const RULES: Rules = &[
    ("/agon.v1.X/Change", Rule::of(&[Scope::Admin]).audited()),
    ("/agon.v1.X/Other", Rule::of(&[Scope::Worker]).audited()),
];

struct Ground {
    store: Arc<FileIdentityStore>,
    gate: Gate,
    token: NewToken,
    _folder: tempfile::TempDir,
}

impl Ground {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(FileIdentityStore::at(folder.path()).unwrap());
        let token = NewToken::draw().unwrap();
        let add = |document: &mut IdentityDocument| {
            document.create_token(TokenRecord {
                id: token.id.clone(),
                name: "ops".to_owned(),
                team: None,
                scopes: vec![Scope::Admin],
                digest: token.digest(),
                created_ms: unix_ms(),
                expires_ms: None,
                revoked_ms: None,
            })
        };
        change(store.as_ref(), add).await.unwrap();
        let kept: Arc<dyn IdentityStore> = store.clone();
        let identities = Identities::open(Some(kept), None, &Tasks::new()).await;
        let address = "127.0.0.1:1".parse().unwrap();
        let gate = Gate::new(identities.unwrap(), "test", RULES, address);
        Self {
            store,
            gate,
            token,
            _folder: folder,
        }
    }

    fn request(&self, path: &str, body: Body) -> Request<Body> {
        let token = format!("Bearer {}", self.token.text.expose_secret());
        let request = Request::builder().uri(path).header(AUTHORIZATION, token);
        request.body(body).unwrap()
    }

    /// Waits for the only entry.
    async fn entry(&self) -> AuditEntry {
        loop {
            if let Some(entry) = self.store.audit(10).await.unwrap().pop() {
                return entry;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// A body that never comes.
fn endless() -> Body {
    Body::from_stream(stream::pending::<Result<Bytes, Infallible>>())
}

/// Reads the body to its end and answers how long it was.
async fn length(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    let read = axum::body::to_bytes(request.into_body(), 1 << 20).await;
    Ok(Response::new(Body::from(read.unwrap().len().to_string())))
}

#[tokio::test]
async fn nothing_more_is_read_of_a_call_whose_token_is_revoked() {
    let ground = Ground::new().await;
    let service = GateLayer(ground.gate.clone()).layer(service_fn(length));
    let call = tokio::spawn(service.oneshot(ground.request("/agon.v1.X/Change", endless())));
    let revoke =
        |document: &mut IdentityDocument| document.revoke_token(&ground.token.id, unix_ms());
    change(ground.store.as_ref(), revoke).await.unwrap();
    let answer = call.await.unwrap().unwrap();
    let body = axum::body::to_bytes(answer.into_body(), 100).await.unwrap();
    assert_eq!(body, "0");
}

#[tokio::test]
async fn call_whose_caller_hangs_up_is_written_down() {
    let ground = Ground::new().await;
    let service = GateLayer(ground.gate.clone()).layer(service_fn(length));
    let call = service.oneshot(ground.request("/agon.v1.X/Change", endless()));
    let hung_up = tokio::time::timeout(Duration::from_millis(50), call).await;
    assert!(hung_up.is_err());
    let entry = ground.entry().await;
    assert_eq!(
        (&*entry.call, &*entry.holder, &*entry.outcome),
        ("X/Change", "ops", "the caller hung up")
    );
}

#[tokio::test]
async fn call_that_a_token_does_not_allow_is_written_down() {
    let ground = Ground::new().await;
    let service = GateLayer(ground.gate.clone()).layer(service_fn(length));
    let refused = service.oneshot(ground.request("/agon.v1.X/Other", Body::empty()));
    let refused = Status::from_header_map(refused.await.unwrap().headers());
    assert_eq!(refused.unwrap().code(), Code::PermissionDenied);
    let entry = ground.entry().await;
    assert_eq!(
        (&*entry.call, &*entry.outcome),
        ("X/Other", "PermissionDenied")
    );
}
