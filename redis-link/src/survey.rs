//! What a Redis says of itself: version, persistence, memory, replicas, its clock, how fast it answers,
//! and whether it takes a write. Facts only; what is good or bad is for whoever asks. A user who may
//! not ask for something leaves it unknown. Asked by `agon doctor`, through the coordinator.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agon_service_kit::clock::unix_ms;
use redis::{ErrorKind, RedisError, RedisResult, ServerErrorKind, cmd};

use crate::{Address, Link};

/// Written for a moment; among the keys that a user of Agon may write.
const PROBE: &str = "agon:doctor";

/// The probe expires by itself.
const PROBE_KEPT_MS: u64 = 1_000;

/// The fastest of so many is how far away it is; a slow one may be anything.
const PINGS: u32 = 5;

/// See the module. `None` is what it did not say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// Such as "7.0.15".
    pub version: Option<String>,
    /// It keeps an append-only file.
    pub append_only: Option<bool>,
    /// When that file is synced: "always", "everysec" or "no".
    pub append_sync: Option<String>,
    /// What it deletes when memory is used up.
    pub eviction: Option<String>,
    /// The most memory that it uses; 0: no limit.
    pub most_bytes: Option<u64>,
    /// The memory that it uses.
    pub used_bytes: Option<u64>,
    /// Replicas that are connected.
    pub replicas: Option<u64>,
    /// Fewer replicas than these end its writes.
    pub least_replicas: Option<u64>,
    /// "ok", unless the last snapshot failed.
    pub last_snapshot: Option<String>,
    /// "ok", unless the last write to the append-only file failed.
    pub last_append: Option<String>,
    /// How far its clock is ahead of ours, in milliseconds; negative: behind.
    pub ahead_ms: Option<i64>,
    /// The shortest time in which it answered.
    pub round_trip: Duration,
    /// Why it takes no write.
    pub refuses_writes: Option<String>,
}

impl Survey {
    /// Asks the server at an address, or the master that its sentinels know.
    ///
    /// # Errors
    /// It does not answer, is a replica, or lets nobody in like this.
    pub async fn of(address: Address) -> RedisResult<(Self, Link)> {
        let mut link = Link::new(address, redis::pipe());
        link.check().await?;
        let mut survey = Self::default();
        survey.read_info(&mut link).await?;
        survey.read_settings(&mut link).await?;
        survey.read_clock(&mut link).await?;
        let mut set = cmd("SET");
        set.arg(PROBE).arg(1).arg("PX").arg(PROBE_KEPT_MS);
        let written: RedisResult<()> = set.query_async(&mut link).await;
        survey.refuses_writes = written.err().map(|error| error.to_string());
        Ok((survey, link))
    }

    async fn read_info(&mut self, link: &mut Link) -> RedisResult<()> {
        let answer: RedisResult<String> = cmd("INFO").query_async(link).await;
        let Some(text) = allowed(answer)? else {
            return Ok(());
        };
        let fields: BTreeMap<&str, &str> = text
            .lines()
            .filter_map(|line| line.trim().split_once(':'))
            .collect();
        let text = |name: &str| fields.get(name).map(|&value| value.to_owned());
        let number = |name: &str| fields.get(name).and_then(|value| value.parse().ok());
        self.version = text("redis_version");
        self.append_only = text("aof_enabled").map(|enabled| enabled == "1");
        self.eviction = text("maxmemory_policy");
        self.most_bytes = number("maxmemory");
        self.used_bytes = number("used_memory");
        self.replicas = number("connected_slaves");
        self.last_snapshot = text("rdb_last_bgsave_status");
        self.last_append = text("aof_last_write_status");
        Ok(())
    }

    async fn read_settings(&mut self, link: &mut Link) -> RedisResult<()> {
        self.append_sync = setting(link, "appendfsync").await?;
        let least = setting(link, "min-replicas-to-write").await?;
        self.least_replicas = least.and_then(|number| number.parse().ok());
        Ok(())
    }

    async fn read_clock(&mut self, link: &mut Link) -> RedisResult<()> {
        self.round_trip = Duration::MAX;
        for _ in 0..PINGS {
            let asked = Instant::now();
            let () = cmd("PING").query_async(link).await?;
            self.round_trip = self.round_trip.min(asked.elapsed());
        }
        let asked_ms = unix_ms();
        let answer: RedisResult<(u64, u64)> = cmd("TIME").query_async(link).await;
        let answered_ms = unix_ms();
        if let Some((seconds, micros)) = allowed(answer)? {
            let theirs = seconds.saturating_mul(1_000).saturating_add(micros / 1_000);
            let ours = asked_ms.midpoint(answered_ms);
            let ahead = i128::from(theirs) - i128::from(ours);
            self.ahead_ms = i64::try_from(ahead).ok();
        }
        Ok(())
    }
}

/// A setting; nothing when this user may not ask, or there is none of that name.
async fn setting(link: &mut Link, name: &str) -> RedisResult<Option<String>> {
    let mut get = cmd("CONFIG");
    get.arg("GET").arg(name);
    let answer: RedisResult<BTreeMap<String, String>> = get.query_async(link).await;
    let settings = allowed(answer)?.unwrap_or_default();
    Ok(settings.get(name).cloned())
}

/// Nothing in place of an answer that this user may not have, or that a hosted Redis gives nobody.
fn allowed<T>(answer: RedisResult<T>) -> RedisResult<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if is_withheld(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_withheld(error: &RedisError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Server(ServerErrorKind::NoPerm | ServerErrorKind::ResponseError)
    )
}
