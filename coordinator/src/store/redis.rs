//! The store that several coordinators share: one Redis, one Lua script per question.
//!
//! Time is Redis's. Losing the connection loses nothing: calls fail, callers try again, and every
//! call may be repeated. What was acknowledged is as safe as Redis's own persistence (`appendfsync
//! everysec` may lose a second; then sessions are played again from their ledgers).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ::redis::aio::{ConnectionManager, ConnectionManagerConfig};
use ::redis::{AsyncCommands as _, Client, FromRedisValue, RedisError, ScriptInvocation};
use agon_service_kit::clock::millis;
use agon_service_kit::secrets::keep_address;
use async_trait::async_trait;
use futures_util::StreamExt as _;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use self::rows::{FIELDS_OF_A_LIST, LeaseRow, ListRow, read_lease};
use self::scripts::{PREFIX, Scripts};
use super::fence::fences;
use super::packed::{pack, unpack_result};
use super::{
    Completion, ExperimentEntry, Failure, Granted, LeaseKey, MOST_CRASHES, MOST_LISTED,
    MOST_LOSSES_ALONE, NewExperiment, Progress, SessionResult, SetAside, Store, StoreError,
    StoreResult, StoredResult, Submitted, Templates,
};

mod rows;
mod scripts;
mod submission;

/// Scripts answer within a millisecond, a batch of sessions within ten; after this the
/// connection is worth replacing.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long one try to connect may take.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(3);

/// A coordinator started together with its Redis should find it; later the operator should know.
const FIRST_RETRIES: usize = 3;

/// How long to wait before listening again after the listening connection broke.
const LISTEN_AGAIN: Duration = Duration::from_millis(500);

/// Sessions handled by one call of a script. Redis serves nobody else meanwhile: a few
/// milliseconds.
const CHUNK: usize = 200;

/// See the module.
#[derive(Clone)]
pub struct RedisStore {
    connection: ConnectionManager,
    scripts: Arc<Scripts>,
    listening: Arc<Listening>,
}

/// The task that hears of newly queued sessions; it ends with the store.
struct Listening {
    queued: watch::Receiver<u64>,
    task: AbortHandle,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RedisStore {
    /// Connects and makes sure that somebody answers.
    ///
    /// # Errors
    /// The address makes no sense, or nobody answers there.
    pub async fn connect(url: &str) -> StoreResult<Self> {
        let unreachable = |source| StoreError::Unreachable {
            address: keep_address(url),
            source,
        };
        let client = Client::open(url).map_err(unreachable)?;
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(RESPONSE_TIMEOUT))
            .set_connection_timeout(Some(CONNECTION_TIMEOUT))
            .set_number_of_retries(FIRST_RETRIES)
            .set_max_delay(Duration::from_secs(1));
        let connecting = ConnectionManager::new_with_config(client.clone(), config);
        let mut connection = connecting.await.map_err(unreachable)?;
        let ping = ::redis::cmd("PING");
        ping.query_async::<String>(&mut connection)
            .await
            .map_err(unreachable)?;
        let (announce, queued) = watch::channel(0);
        let task = tokio::spawn(listen(client, announce)).abort_handle();
        let listening = Arc::new(Listening { queued, task });
        Ok(Self {
            connection,
            scripts: Arc::new(Scripts::new()),
            listening,
        })
    }

    async fn run<T: FromRedisValue>(
        &self,
        operation: &'static str,
        script: &mut ScriptInvocation<'_>,
    ) -> StoreResult<T> {
        script.key(PREFIX);
        let answer = script.invoke_async(&mut self.connection.clone()).await;
        answer.map_err(redis(operation))
    }

    /// Ids of all sessions of an experiment.
    async fn places(&self, experiment: &str) -> StoreResult<Vec<String>> {
        let key = format!("{PREFIX}e:{experiment}:places");
        let places = self.connection.clone().zrange(key, 0, -1).await;
        places.map_err(redis("read sessions"))
    }
}

#[async_trait]
impl Store for RedisStore {
    async fn submit(&self, experiment: NewExperiment) -> StoreResult<Submitted> {
        self.submit_in_steps(&experiment).await
    }

    async fn lease(&self, worker: &str, most: usize, ttl: Duration) -> StoreResult<Vec<Granted>> {
        let mut call = self.scripts.lease.prepare_invoke();
        call.arg(worker).arg(millis(ttl));
        call.arg(fences(most)?);
        let granted: Vec<LeaseRow> = self.run("lease sessions", &mut call).await?;
        Ok(granted
            .into_iter()
            .map(|row| read_lease(row, worker))
            .collect())
    }

    async fn renew(&self, leases: &[LeaseKey], ttl: Duration) -> StoreResult<Vec<bool>> {
        let mut renewed = Vec::with_capacity(leases.len());
        for chunk in leases.chunks(CHUNK) {
            let mut call = self.scripts.renew.prepare_invoke();
            call.arg(millis(ttl)).arg(u8::from(leases.len() == 1));
            for lease in chunk {
                name(&mut call, lease);
            }
            renewed.extend(self.run::<Vec<bool>>("renew leases", &mut call).await?);
        }
        Ok(renewed)
    }

    async fn complete(&self, lease: &LeaseKey, result: SessionResult) -> StoreResult<Completion> {
        let packed = pack(&result);
        let mut call = self.scripts.complete.prepare_invoke();
        name(&mut call, lease).arg(packed.digest);
        call.arg(packed.record.as_slice())
            .arg(packed.telemetry.as_slice());
        let outcome: String = self.run("store a result", &mut call).await?;
        match outcome.as_str() {
            "first" => Ok(Completion::First),
            "same" => Ok(Completion::Same),
            "different" => Ok(Completion::Different),
            _ => Ok(Completion::Fenced),
        }
    }

    async fn fail(&self, lease: &LeaseKey, failure: Failure, reason: &str) -> StoreResult<bool> {
        let failure = match failure {
            Failure::Crashed => "crashed",
            Failure::Parked => "parked",
            Failure::Impossible => "impossible",
            Failure::BudgetSpent => "budget_spent",
        };
        let mut call = self.scripts.fail.prepare_invoke();
        name(&mut call, lease)
            .arg(failure)
            .arg(reason)
            .arg(MOST_CRASHES);
        let (noted, paused): (bool, String) = self.run("note a failure", &mut call).await?;
        if !paused.is_empty() {
            tracing::info!(experiment_id = paused, reason, "an experiment pauses");
        }
        Ok(noted)
    }

    async fn release(&self, leases: &[LeaseKey]) -> StoreResult<()> {
        for chunk in leases.chunks(CHUNK) {
            let mut call = self.scripts.release.prepare_invoke();
            for lease in chunk {
                name(&mut call, lease);
            }
            self.run::<i64>("release leases", &mut call).await?;
        }
        Ok(())
    }

    async fn expire(&self) -> StoreResult<u64> {
        let mut lost = 0;
        loop {
            let mut call = self.scripts.expire.prepare_invoke();
            call.arg(MOST_LOSSES_ALONE).arg(CHUNK);
            let found: u64 = self.run("expire leases", &mut call).await?;
            lost += found;
            if found < CHUNK as u64 {
                return Ok(lost);
            }
        }
    }

    async fn progress(&self, experiment: &str) -> StoreResult<Option<Progress>> {
        type Aside = (f64, String, String, String, u32);
        type Answer = (String, Vec<i64>, Vec<Aside>, Vec<(f64, String)>);
        let mut call = self.scripts.progress.prepare_invoke();
        call.arg(experiment).arg(MOST_LISTED);
        let answer: Option<Answer> = self.run("read progress", &mut call).await?;
        let Some((paused, numbers, mut aside, mut faults)) = answer else {
            return Ok(None);
        };
        let [
            placed,
            queued,
            running,
            done,
            cancelled,
            submitting,
            workers,
            waiting,
            stopped,
        ] = numbers[..]
        else {
            return Err(StoreError::Corrupt {
                what: format!("progress of {experiment}"),
            });
        };
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        aside.sort_by(|one, other| one.0.total_cmp(&other.0));
        faults.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut progress = Progress {
            sessions: count(if submitting < 0 { placed } else { submitting }),
            queued: count(queued),
            running: count(running),
            done: count(done),
            workers: count(workers),
            waiting: count(waiting),
            stopped: count(stopped),
            cancelled: cancelled == 1,
            paused,
            submitting: submitting >= 0,
            determinism_faults: faults.into_iter().map(|(_, session)| session).collect(),
            ..Progress::default()
        };
        for (_, session, state, reason, attempts) in aside {
            let list = if state == "parked" {
                &mut progress.parked
            } else {
                &mut progress.dead
            };
            list.push(SetAside {
                session,
                reason,
                attempts,
            });
        }
        Ok(Some(progress))
    }

    async fn results(
        &self,
        experiment: &str,
        after: Option<u64>,
        most: usize,
    ) -> StoreResult<Vec<StoredResult>> {
        let key = format!("{PREFIX}e:{experiment}:places");
        let mut results = Vec::new();
        let mut after = after;
        while results.len() < most {
            let low = after.map_or_else(|| "-inf".to_owned(), |after| format!("({after}"));
            let wanted = (most - results.len()).min(CHUNK);
            let mut connection = self.connection.clone();
            let read = connection.zrangebyscore_limit_withscores(
                &key,
                low,
                "+inf",
                0,
                isize::try_from(wanted).unwrap_or(isize::MAX),
            );
            let page: Vec<(String, f64)> = read.await.map_err(redis("read results"))?;
            if page.is_empty() {
                break;
            }
            let mut pipe = ::redis::pipe();
            for (session, _) in &page {
                let key = format!("{PREFIX}s:{session}");
                pipe.hmget(key, &["state", "record", "telemetry"]);
            }
            let answer = pipe.query_async(&mut connection).await;
            let rows: Vec<(Option<String>, Option<Vec<u8>>, Option<Vec<u8>>)> =
                answer.map_err(redis("read results"))?;
            for ((session, position), (state, record, telemetry)) in page.into_iter().zip(rows) {
                // Positions are small whole numbers, which floats hold exactly.
                let position = position as u64;
                after = Some(position);
                let (Some("done"), Some(record)) = (state.as_deref(), record) else {
                    continue;
                };
                let result = unpack_result(&record, &telemetry.unwrap_or_default(), &session);
                results.push(StoredResult {
                    position,
                    session,
                    result,
                });
            }
        }
        Ok(results)
    }

    async fn cancel(&self, experiment: &str) -> StoreResult<bool> {
        loop {
            let mut call = self.scripts.cancel.prepare_invoke();
            call.arg(experiment).arg(CHUNK);
            match self.run::<i64>("cancel", &mut call).await? {
                0 => return Ok(true),
                cancelled if cancelled < 0 => return Ok(false),
                _ => {}
            }
        }
    }

    async fn retry(&self, experiment: &str, sessions: &[String]) -> StoreResult<Option<u64>> {
        let mut connection = self.connection.clone();
        let key = format!("{PREFIX}e:{experiment}");
        let mut pipe = ::redis::pipe();
        pipe.exists(&key).smembers(format!("{key}:aside"));
        let answer = pipe.query_async(&mut connection).await;
        let (known, aside): (bool, BTreeSet<String>) = answer.map_err(redis("read sessions"))?;
        if !known {
            return Ok(None);
        }
        let names: BTreeSet<&String> = sessions.iter().collect();
        let named = |session: &String| names.is_empty() || names.contains(session);
        let wanted = if aside.is_empty() {
            Vec::new()
        } else {
            self.places(experiment).await?
        };
        let wanted: Vec<String> = wanted
            .into_iter()
            .filter(|session| aside.contains(session) && named(session))
            .collect();
        let mut requeued = 0;
        for chunk in wanted.chunks(CHUNK) {
            let mut call = self.scripts.retry.prepare_invoke();
            call.arg(experiment).arg(chunk);
            requeued += self.run::<u64>("queue sessions again", &mut call).await?;
        }
        Ok(Some(requeued))
    }

    async fn resume(&self, experiment: &str, budget: Option<u64>) -> StoreResult<bool> {
        let mut call = self.scripts.resume.prepare_invoke();
        call.arg(experiment).arg(budget_argument(budget));
        self.run("resume", &mut call).await
    }

    async fn list(&self) -> StoreResult<Vec<ExperimentEntry>> {
        let failed = || redis("list experiments");
        let mut connection = self.connection.clone();
        let names = connection.smembers(format!("{PREFIX}experiments")).await;
        let names: BTreeSet<String> = names.map_err(failed())?;
        let mut pipe = ::redis::pipe();
        for name in &names {
            let key = format!("{PREFIX}e:{name}");
            pipe.hmget(&key, &FIELDS_OF_A_LIST)
                .zcard(format!("{key}:places"));
        }
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let answer: Vec<::redis::Value> =
            pipe.query_async(&mut connection).await.map_err(failed())?;
        let mut entries = Vec::with_capacity(names.len());
        for (id, pair) in names.into_iter().zip(answer.chunks_exact(2)) {
            let corrupt = |_| StoreError::Corrupt {
                what: format!("experiment {id}"),
            };
            let (team, paused, submitting, done, parked, dead, cancelled, stopped) =
                ListRow::from_redis_value(pair[0].clone()).map_err(corrupt)?;
            let placed = u64::from_redis_value(pair[1].clone()).map_err(corrupt)?;
            entries.push(ExperimentEntry {
                id,
                team: team.unwrap_or_default(),
                sessions: submitting.unwrap_or(placed),
                done: done.unwrap_or(0),
                set_aside: parked.unwrap_or(0) + dead.unwrap_or(0),
                stopped: stopped.unwrap_or(0),
                cancelled: cancelled == Some(1),
                paused: paused.unwrap_or_default(),
            });
        }
        Ok(entries)
    }

    async fn bundle(&self, digest: &str) -> StoreResult<Option<Templates>> {
        let read = self
            .connection
            .clone()
            .get(format!("{PREFIX}b:{digest}"))
            .await;
        let json: Option<String> = read.map_err(redis("read templates"))?;
        let corrupt = |_| StoreError::Corrupt {
            what: format!("templates {digest}"),
        };
        json.map(|json| serde_json::from_str(&json).map_err(corrupt))
            .transpose()
    }

    async fn greet(&self, worker: &str, ttl: Duration) -> StoreResult<()> {
        let mut call = self.scripts.greet.prepare_invoke();
        call.arg(worker).arg(millis(ttl));
        self.run::<i64>("note a worker", &mut call)
            .await
            .map(|_| ())
    }

    fn queued(&self) -> watch::Receiver<u64> {
        self.listening.queued.clone()
    }
}

/// Hears of newly queued sessions, from whichever coordinator. After a break, assumes that
/// something was missed.
async fn listen(client: Client, announce: watch::Sender<u64>) {
    loop {
        if let Ok(mut listener) = client.get_async_pubsub().await
            && listener.subscribe(format!("{PREFIX}queued")).await.is_ok()
        {
            announce.send_modify(|version| *version += 1);
            let mut messages = listener.on_message();
            while messages.next().await.is_some() {
                announce.send_modify(|version| *version += 1);
            }
        }
        tokio::time::sleep(LISTEN_AGAIN).await;
    }
}

fn redis(operation: &'static str) -> impl FnOnce(RedisError) -> StoreError {
    move |source| StoreError::Redis { operation, source }
}

/// Adds the three arguments by which scripts know a lease.
fn name<'a, 'b>(
    call: &'b mut ScriptInvocation<'a>,
    lease: &LeaseKey,
) -> &'b mut ScriptInvocation<'a> {
    call.arg(&lease.session).arg(lease.fence).arg(&lease.worker)
}

/// A budget as scripts take it: text, because Lua's numbers are not exact, and '' for none.
fn budget_argument(budget: Option<u64>) -> String {
    budget.map(|budget| budget.to_string()).unwrap_or_default()
}
