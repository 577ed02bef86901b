//! A Redis script and the operation it stands for: the one way in which the stores
//! run scripts. Owns what its failure is called. Used by every Redis back end.

use agon_redis_link::Link;
use redis::{FromRedisValue, Script, ScriptInvocation};

use crate::store_error::StoreError;

/// A script under the name of what it does ("claim an address").
pub(crate) struct RedisScript {
    operation: &'static str,
    script: Script,
}

/// The script of this name for an operation.
macro_rules! redis_script {
    ($operation:literal, $name:literal) => {
        $crate::redis_script::RedisScript::new(
            $operation,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/src/scripts/",
                $name,
                ".lua"
            )),
        )
    };
}

pub(crate) use redis_script;

impl RedisScript {
    pub fn new(operation: &'static str, text: &str) -> Self {
        let script = Script::new(text);
        Self { operation, script }
    }

    /// Runs it with the keys and arguments that `fill` gives it.
    pub async fn run<T: FromRedisValue>(
        &self,
        connection: &Link,
        fill: impl FnOnce(&mut ScriptInvocation<'_>),
    ) -> Result<T, StoreError> {
        self.run_on(&mut connection.clone(), fill).await
    }

    /// Runs it for something that must not be lost: with replicas that are to have it, too.
    pub async fn run_lasting<T: FromRedisValue>(
        &self,
        connection: &Link,
        fill: impl FnOnce(&mut ScriptInvocation<'_>),
    ) -> Result<T, StoreError> {
        let mut connection = connection.clone();
        let answer = self.run_on(&mut connection, fill).await?;
        let confirmed = connection.confirm().await;
        confirmed.map_err(StoreError::redis(self.operation))?;
        Ok(answer)
    }

    async fn run_on<T: FromRedisValue>(
        &self,
        connection: &mut Link,
        fill: impl FnOnce(&mut ScriptInvocation<'_>),
    ) -> Result<T, StoreError> {
        let mut call = self.script.prepare_invoke();
        fill(&mut call);
        let answered = call.invoke_async(connection).await;
        answered.map_err(StoreError::redis(self.operation))
    }

    /// The script itself, for a pipeline.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// It answered what no version of it does.
    pub fn unknown_answer(&self) -> StoreError {
        StoreError::unknown_answer(self.operation)
    }
}
