//! Tests of what a service knows of teams and tokens: how soon it hears of changes, and what it
//! believes while it hears nothing. Part of `view.rs`.

use secrecy::ExposeSecret as _;

use super::*;
use crate::scope::Scope;
use crate::store::{FileIdentityStore, change};
use crate::token::NewToken;

/// Until something is so, by looking again and again.
async fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn create(store: &dyn IdentityStore, expires_ms: Option<u64>) -> NewToken {
    let token = NewToken::draw().unwrap();
    let (id, digest) = (token.id.clone(), token.digest());
    let create = |document: &mut IdentityDocument| {
        document.create_token(TokenRecord {
            id: id.clone(),
            name: "test".to_owned(),
            team: None,
            scopes: vec![Scope::Worker],
            digest,
            created_ms: unix_ms(),
            expires_ms,
            revoked_ms: None,
        })
    };
    change(store, create).await.unwrap();
    token
}

fn refusal(identities: &Identities, token: &NewToken) -> Option<Refusal> {
    identities.holder_of(token.text.expose_secret()).err()
}

#[tokio::test]
async fn token_is_known_soon_and_over_soon_with_everything_that_it_opened() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(FileIdentityStore::at(folder.path()).unwrap());
    let tasks = Tasks::new();
    let identities = Identities::open(Some(store.clone()), None, &tasks)
        .await
        .unwrap();
    assert!(identities.is_open());

    let (kept, revoked) = (create(&*store, None).await, create(&*store, None).await);
    let brief = create(&*store, Some(unix_ms() + 1_500)).await;
    until(|| refusal(&identities, &brief).is_none()).await;
    assert!(!identities.is_open());
    let known = |token: &NewToken| identities.holder_of(token.text.expose_secret()).unwrap();
    let (kept_stream, revoked_stream) = (known(&kept).ended, known(&revoked).ended);
    let brief_stream = known(&brief).ended;

    let revoke = |document: &mut IdentityDocument| document.revoke_token(&revoked.id, unix_ms());
    change(&*store, revoke).await.unwrap();
    revoked_stream.cancelled().await;
    assert_eq!(refusal(&identities, &revoked), Some(Refusal::Revoked));
    brief_stream.cancelled().await;
    assert_eq!(refusal(&identities, &brief), Some(Refusal::Expired));
    assert!(!kept_stream.is_cancelled() && refusal(&identities, &kept).is_none());
    assert_eq!(
        identities.holder_of("agon_0_0").err(),
        Some(Refusal::UnknownToken)
    );

    let revoke = |document: &mut IdentityDocument| document.revoke_token(&kept.id, unix_ms());
    change(&*store, revoke).await.unwrap();
    kept_stream.cancelled().await;
    assert!(
        !identities.is_open(),
        "revoking the last token opens nothing"
    );
}

#[tokio::test]
async fn file_is_read_again_and_a_broken_one_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("one"), "a-token-of-24-characters").unwrap();
    let text = |scope: &str| {
        let file = at("one").display().to_string();
        format!("[teams.red]\nsessions = 3\n[tokens.a]\nscopes = ['{scope}']\nfile = '{file}'\n")
    };
    std::fs::write(at("identity.toml"), text("worker")).unwrap();
    let tasks = Tasks::new();
    let opened = Identities::open(None, Some(at("identity.toml")), &tasks).await;
    let identities = opened.unwrap();
    assert!(!identities.is_open());
    assert_eq!(identities.session_limits()["red"], 3);
    let holder = |token: &str| identities.holder_of(token).map(|known| known.holder);
    assert!(
        holder("a-token-of-24-characters")
            .unwrap()
            .has_any(&[Scope::Worker])
    );

    std::fs::write(at("identity.toml"), "[tokens").unwrap();
    until(|| !identities.shared.known.read().file_fault.is_empty()).await;
    assert!(holder("a-token-of-24-characters").is_ok());

    std::fs::write(at("one"), "another-token-of-many-characters").unwrap();
    std::fs::write(at("identity.toml"), text("admin")).unwrap();
    until(|| holder("another-token-of-many-characters").is_ok()).await;
    assert_eq!(
        holder("a-token-of-24-characters"),
        Err(Refusal::UnknownToken)
    );
    assert!(
        holder("another-token-of-many-characters")
            .unwrap()
            .has_any(&[Scope::Admin])
    );
}

#[tokio::test]
async fn nobody_is_believed_while_the_store_has_never_answered() {
    let mut server = agon_tests::redis::RedisServer::start();
    server.kill();
    let store = crate::store::RedisIdentityStore::at(&server.url()).unwrap();
    let tasks = Tasks::new();
    let identities = Identities::open(Some(Arc::new(store)), None, &tasks)
        .await
        .unwrap();
    assert!(!identities.is_open());
    assert_eq!(
        identities.holder_of("anything").err(),
        Some(Refusal::StoreAway)
    );
    server.restart();
    until(|| identities.is_open()).await;
}

#[tokio::test]
async fn tokens_of_a_silent_store_are_believed_for_ten_seconds() {
    let mut server = agon_tests::redis::RedisServer::start();
    let store = Arc::new(crate::store::RedisIdentityStore::at(&server.url()).unwrap());
    let token = create(&*store, None).await;
    let tasks = Tasks::new();
    let identities = Identities::open(Some(store), None, &tasks).await.unwrap();
    let killed = Instant::now();
    server.kill();
    assert_eq!(refusal(&identities, &token), None);
    until(|| refusal(&identities, &token) == Some(Refusal::StoreAway)).await;
    // It may have answered once more just before it was killed.
    assert!(killed.elapsed() > BELIEVED_FOR / 2 && identities.is_waiting_for_store());
    server.restart();
    until(|| !identities.is_waiting_for_store()).await;
}

#[tokio::test]
async fn store_that_comes_back_empty_opens_nothing() {
    let server = agon_tests::redis::RedisServer::start();
    let store = Arc::new(crate::store::RedisIdentityStore::at(&server.url()).unwrap());
    let token = create(&*store, None).await;
    let tasks = Tasks::new();
    let identities = Identities::open(Some(store), None, &tasks).await.unwrap();
    assert_eq!(refusal(&identities, &token), None);
    server.ask(&["FLUSHALL"]);
    until(|| refusal(&identities, &token) == Some(Refusal::UnknownToken)).await;
    assert!(!identities.is_open());
}

#[tokio::test]
async fn what_is_revoked_in_the_store_is_not_accepted_because_a_file_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(FileIdentityStore::at(&folder.path().join("store")).unwrap());
    let token = create(&*store, None).await;
    let (file, secret) = (
        folder.path().join("identity.toml"),
        folder.path().join("token"),
    );
    std::fs::write(&secret, token.text.expose_secret()).unwrap();
    let text = format!(
        "[tokens.a]\nscopes = ['admin']\nfile = '{}'\n",
        secret.display()
    );
    std::fs::write(&file, text).unwrap();
    let tasks = Tasks::new();
    let identities = Identities::open(Some(store.clone()), Some(file), &tasks).await;
    let identities = identities.unwrap();
    let known = identities.holder_of(token.text.expose_secret()).unwrap();
    assert!(
        !known.holder.has_any(&[Scope::Admin]),
        "the store says what it may do"
    );
    let revoke = |document: &mut IdentityDocument| document.revoke_token(&token.id, unix_ms());
    change(&*store, revoke).await.unwrap();
    known.ended.cancelled().await;
    assert_eq!(refusal(&identities, &token), Some(Refusal::Revoked));
}

#[tokio::test]
async fn file_that_is_emptied_opens_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("identity.toml");
    std::fs::write(&file, "").unwrap();
    let store = Arc::new(FileIdentityStore::at(&folder.path().join("store")).unwrap());
    let tasks = Tasks::new();
    let closed = Identities::open(Some(store.clone()), Some(file), &tasks).await;
    assert!(!closed.unwrap().is_open());
    let open = Identities::open(Some(store), None, &tasks).await;
    assert!(open.unwrap().is_open());
}

#[tokio::test]
async fn token_that_is_valid_again_opens_streams_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(FileIdentityStore::at(folder.path()).unwrap());
    let token = create(&*store, Some(unix_ms() + 50)).await;
    let tasks = Tasks::new();
    let identities = Identities::open(Some(store.clone()), None, &tasks)
        .await
        .unwrap();
    until(|| refusal(&identities, &token) == Some(Refusal::Expired)).await;
    let lengthen = |document: &mut IdentityDocument| {
        document.tokens[0].expires_ms = None;
        Ok(())
    };
    change(&*store, lengthen).await.unwrap();
    until(|| refusal(&identities, &token).is_none()).await;
    let known = identities.holder_of(token.text.expose_secret()).unwrap();
    assert!(!known.ended.is_cancelled());
}
