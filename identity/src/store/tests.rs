//! The contract of a store of teams and tokens, held by both: no change is lost, and what was done
//! comes back in order. Part of `store.rs`.

use std::sync::Arc;

use agon_tests::redis::RedisServer;

use super::*;
use crate::document::TeamRecord;

/// Every property of the contract, for both stores.
async fn keeps_its_contract(store: Arc<dyn IdentityStore>) {
    let (version, document) = store.read(None).await.unwrap().unwrap();
    assert!(document.is_empty());
    assert!(store.read(Some(&version)).await.unwrap().is_none());

    let many = (0..8).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            let name = format!("team-{number}");
            let create = |document: &mut IdentityDocument| {
                document.create_team(&name, TeamRecord::default(), false)
            };
            change(store.as_ref(), create).await.unwrap();
        })
    });
    for one in many.collect::<Vec<_>>() {
        one.await.unwrap();
    }
    let (newer, document) = store.read(Some(&version)).await.unwrap().unwrap();
    assert_eq!(document.teams.len(), 8, "no change was lost");
    assert!(store.read(Some(&newer)).await.unwrap().is_none());
    let stale = store.replace(&version, &IdentityDocument::default()).await;
    assert!(!stale.unwrap(), "a stale writer takes nobody's place");

    let again = |document: &mut IdentityDocument| {
        document.create_team("team-1", TeamRecord::default(), false)
    };
    let refused = change(store.as_ref(), again).await.unwrap_err();
    assert!(
        matches!(refused, IdentityStoreError::Change(_)),
        "{refused}"
    );

    let entries: Vec<AuditEntry> = (0..5).map(AuditEntry::example).collect();
    store.append_audit(&entries[..3]).await.unwrap();
    store.append_audit(&entries[3..]).await.unwrap();
    assert_eq!(store.audit(100).await.unwrap(), entries);
    assert_eq!(store.audit(2).await.unwrap(), entries[3..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_keep_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileIdentityStore::at(&folder.path().join("identity")).unwrap();
    keeps_its_contract(Arc::new(store)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_keeps_the_contract() {
    let server = RedisServer::start();
    let store = RedisIdentityStore::at(&server.url()).unwrap();
    keeps_its_contract(Arc::new(store)).await;
}
