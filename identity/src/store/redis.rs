//! The store in Redis: a hash with the document and its version, changed by compare and set, and a
//! stream of what was done. Used through `store.rs`.

use agon_redis_link::{Address, Link};
use agon_service_kit::secrets::keep_address;
use async_trait::async_trait;
use redis::{RedisError, Script};

use super::{IdentityStore, IdentityStoreError, StoreResult, Version, parse, write};
use crate::audit::AuditEntry;
use crate::document::IdentityDocument;

/// A hash with the document and its version.
const DOCUMENT: &str = "agon:identity";

/// The stream of what was done.
const AUDIT: &str = "agon:audit";

/// Entries that are kept: months of a busy installation, some 30 MB.
const MOST_ENTRIES: usize = 100_000;

/// See the module.
pub struct RedisIdentityStore {
    link: Link,
    replace: Script,
}

impl RedisIdentityStore {
    /// Connects when it is first used.
    ///
    /// # Errors
    /// The address makes no sense.
    pub fn at(url: &str) -> StoreResult<Self> {
        keep_address(url);
        let address =
            Address::read(url).map_err(|source| IdentityStoreError::Address { source })?;
        Ok(Self {
            link: Link::new(address, redis::pipe()),
            replace: Script::new(include_str!("../scripts/identity_replace_v1.lua")),
        })
    }
}

fn failed(operation: &'static str) -> impl FnOnce(RedisError) -> IdentityStoreError {
    move |source| IdentityStoreError::Redis { operation, source }
}

#[async_trait]
impl IdentityStore for RedisIdentityStore {
    async fn read(
        &self,
        known: Option<&Version>,
    ) -> StoreResult<Option<(Version, IdentityDocument)>> {
        let mut link = self.link.clone();
        if let Some(known) = known {
            let mut command = redis::cmd("HGET");
            command.arg(DOCUMENT).arg("version");
            let version: Result<Option<String>, _> = command.query_async(&mut link).await;
            let version = version.map_err(failed("look for tokens"))?;
            if version.unwrap_or_default() == known.0 {
                return Ok(None);
            }
        }
        let mut command = redis::cmd("HMGET");
        command.arg(DOCUMENT).arg("version").arg("document");
        let both: Result<(Option<String>, Option<String>), _> =
            command.query_async(&mut link).await;
        Ok(Some(match both.map_err(failed("read tokens"))? {
            (Some(version), Some(text)) => (Version(version), parse(&text)?),
            _ => (Version::default(), IdentityDocument::default()),
        }))
    }

    async fn replace(&self, known: &Version, document: &IdentityDocument) -> StoreResult<bool> {
        let text = write(document)?;
        let mut call = self.replace.prepare_invoke();
        call.key(DOCUMENT)
            .arg(&known.0)
            .arg(&Version::of(&text).0)
            .arg(text);
        let replaced = call.invoke_async::<bool>(&mut self.link.clone()).await;
        replaced.map_err(failed("change tokens"))
    }

    async fn append_audit(&self, entries: &[AuditEntry]) -> StoreResult<()> {
        let mut pipeline = redis::pipe();
        for entry in entries {
            let add = pipeline
                .cmd("XADD")
                .arg(AUDIT)
                .arg("MAXLEN")
                .arg("~")
                .arg(MOST_ENTRIES);
            add.arg("*").arg("entry").arg(entry.to_json()).ignore();
        }
        let added = pipeline.query_async::<()>(&mut self.link.clone()).await;
        added.map_err(failed("keep what was done"))
    }

    async fn audit(&self, latest: usize) -> StoreResult<Vec<AuditEntry>> {
        type Entries = Vec<(String, Vec<(String, String)>)>;
        let mut command = redis::cmd("XREVRANGE");
        command
            .arg(AUDIT)
            .arg("+")
            .arg("-")
            .arg("COUNT")
            .arg(latest);
        let found: Result<Entries, _> = command.query_async(&mut self.link.clone()).await;
        let found = found.map_err(failed("read what was done"))?;
        let fields = found.into_iter().rev().flat_map(|(_, fields)| fields);
        Ok(fields
            .filter_map(|(_, json)| AuditEntry::from_json(&json))
            .collect())
    }
}
