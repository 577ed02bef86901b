//! The content cache in Redis: one string per answer, which expires there.
//! Shared by all replicas, which all keep the first answer of a question.

use std::time::Duration;

use ::redis::{AsyncCommands as _, ExistenceCheck, SetExpiry, SetOptions};
use agon_redis_link::Link;
use agon_service_kit::clock::millis;
use async_trait::async_trait;

use super::{ContentCache, ContentKey, decode, encode};
use crate::decision::Decision;
use crate::store_error::StoreError;

/// A content cache in Redis.
pub struct RedisContentCache {
    connection: Link,
}

impl RedisContentCache {
    /// Shares the connection of the other stores.
    pub fn new(connection: Link) -> Self {
        Self { connection }
    }
}

#[async_trait]
impl ContentCache for RedisContentCache {
    async fn find(&self, key: &ContentKey) -> Result<Option<Decision>, StoreError> {
        let mut connection = self.connection.clone();
        let found: Option<String> = connection
            .get(name(key))
            .await
            .map_err(StoreError::redis("look up an answer"))?;
        found.as_deref().map(decode).transpose()
    }

    async fn keep(
        &self,
        key: &ContentKey,
        decision: &Decision,
        lasts: Duration,
    ) -> Result<(), StoreError> {
        let mut connection = self.connection.clone();
        // Redis refuses an expiry of nothing.
        let options = SetOptions::default()
            .conditional_set(ExistenceCheck::NX)
            .with_expiration(SetExpiry::PX(millis(lasts).max(1)));
        connection
            .set_options::<_, _, ()>(name(key), encode(decision)?, options)
            .await
            .map_err(StoreError::redis("keep an answer"))
    }
}

fn name(key: &ContentKey) -> String {
    format!("agon:content:{key}")
}
