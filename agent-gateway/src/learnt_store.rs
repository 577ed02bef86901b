//! What replicas have learnt that servers do not take, in Redis: each tells the others within
//! seconds, a gateway that starts knows it, and what is forgotten is forgotten by all. Calls never
//! wait for it: while Redis is away each replica goes by what it knows. Run by `gateway.rs`; what
//! a lesson is stands in `providers/capabilities/`.

use std::sync::Arc;
use std::time::Duration;

use agon_redis_link::Link;
use agon_service_kit::clock::millis;

use crate::providers::{Learnt, LearntRefusal, StoredLesson};
use crate::redis_script::RedisScript;
use crate::store_error::StoreError;

/// A lesson of another replica saves a refused call, no more.
const EVERY: Duration = Duration::from_secs(2);

/// Of all replicas. More than models are compared at once.
const MOST: usize = 2_000;

const KEY: &str = "agon:learnt";

/// Lessons in Redis.
pub(crate) struct LearntStore {
    connection: Link,
    learnt: Arc<Learnt>,
    keep: RedisScript,
    list: RedisScript,
}

impl LearntStore {
    /// Shares the connection of the other stores.
    pub fn new(connection: Link, learnt: Arc<Learnt>) -> Self {
        let keep = include_str!("scripts/learnt_keep_v1.lua");
        let list = include_str!("scripts/learnt_list_v1.lua");
        Self {
            connection,
            learnt,
            keep: RedisScript::new("keep what was learnt", keep),
            list: RedisScript::new("list what was learnt", list),
        }
    }

    /// Tells and hears until dropped. The store watch complains about a Redis that is away.
    pub async fn run(self: Arc<Self>) {
        loop {
            let _ = self.exchange().await;
            tokio::select! {
                () = tokio::time::sleep(EVERY) => {}
                () = self.learnt.learnt_more() => {}
            }
        }
    }

    /// Forgets at all replicas what was learnt about a model, see [`LearntRefusal::is_about`].
    ///
    /// # Errors
    /// Redis is away: nothing is forgotten.
    pub async fn forget(&self, model: &str) -> Result<Vec<LearntRefusal>, StoreError> {
        self.exchange().await?;
        let names = self.learnt.names_about(model);
        if !names.is_empty() {
            let mut command = redis::cmd("HDEL");
            command.arg(KEY).arg(names);
            let mut connection = self.connection.clone();
            let forgotten = command.query_async::<()>(&mut connection).await;
            forgotten.map_err(StoreError::redis("forget what was learnt"))?;
        }
        Ok(self.learnt.forget(model))
    }

    async fn exchange(&self) -> Result<(), StoreError> {
        let news = self.learnt.news();
        if !news.is_empty() {
            let _kept: u64 = self
                .keep
                .run(&self.connection, |call| {
                    call.key(KEY).arg(MOST);
                    for lesson in &news {
                        call.arg(&lesson.name)
                            .arg(millis(lesson.holds_for))
                            .arg(&lesson.json);
                    }
                })
                .await?;
            self.learnt.told(&news);
        }
        let told: Vec<(String, u64, String)> = self
            .list
            .run(&self.connection, |call| {
                call.key(KEY);
            })
            .await?;
        let lessons = told.into_iter().map(|(name, holds_ms, json)| StoredLesson {
            name,
            holds_for: Duration::from_millis(holds_ms),
            json,
        });
        self.learnt.hear(lessons.collect());
        Ok(())
    }
}
