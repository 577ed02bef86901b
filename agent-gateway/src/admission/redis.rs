//! Limits that all replicas share, in Redis: one script call takes every limit
//! of the best keys for the heads of a line or says how long to wait, on Redis's
//! clock. Without Redis nothing is granted, because nobody would know what is
//! left. Called through `admission/line.rs`.

use std::time::Duration;

use agon_redis_link::Link;
use agon_service_kit::clock::millis;
use async_trait::async_trait;
use redis::ScriptInvocation;
use serde::Serialize;

use super::scope::rooms;
use super::{
    Ask, Batch, Candidate, Charge, KeyLimits, KeyOutlook, LimitOutlook, Limiter, QUANTITIES,
    Reservation, Verdict,
};
use crate::keys::KeyId;
use crate::limits::Signals;
use crate::redis_script::RedisScript;
use crate::store_error::StoreError;

/// A place that another replica gives back makes no sound here, so that the
/// one asker of each line looks this often while every place is taken.
const PLACE_RECHECK: Duration = Duration::from_millis(25);

/// A script behind what all of them know of scopes.
macro_rules! script {
    ($operation:literal, $file:literal) => {
        RedisScript::new(
            $operation,
            concat!(
                include_str!("../scripts/admission_scope_v3.lua"),
                include_str!($file)
            ),
        )
    };
}

/// Limits in Redis.
pub struct RedisLimiter {
    connection: Link,
    reserve: RedisScript,
    settle: RedisScript,
    hold: RedisScript,
    outlook: RedisScript,
}

impl RedisLimiter {
    /// Limits over a connection.
    pub fn new(connection: Link) -> Self {
        Self {
            connection,
            reserve: script!("reserve quota", "../scripts/admission_reserve_v5.lua"),
            settle: script!("settle quota", "../scripts/admission_settle_v4.lua"),
            hold: script!("hold a key", "../scripts/admission_hold_v3.lua"),
            outlook: script!("look at a key", "../scripts/admission_outlook_v3.lua"),
        }
    }
}

#[async_trait]
impl Limiter for RedisLimiter {
    async fn reserve(&self, batch: &Batch<'_>) -> Result<Verdict, StoreError> {
        let fill = |call: &mut ScriptInvocation<'_>| {
            for candidate in batch.candidates {
                call.key(key_wide(batch.pool, &candidate.key)).key(in_lane(
                    batch.pool,
                    batch.lane,
                    &candidate.key,
                ));
            }
            call.key(shares(batch.pool, batch.lane, batch.lanes_share_limits()));
            for candidate in batch.candidates {
                call.key(attempts(batch.pool, &candidate.key));
            }
            call.arg(json(&ReserveArgument::of(batch)));
        };
        let told: Vec<u64> = self.reserve.run(&self.connection, fill).await?;
        let wait = Duration::from_millis(told.first().copied().unwrap_or_default());
        let granted = batch.asks.iter().enumerate().map(|(index, ask)| {
            let chosen = told.get(index + 1).copied().unwrap_or_default();
            let chosen = usize::try_from(chosen).ok()?.checked_sub(1)?;
            Some(batch.reservation(ask, batch.candidates.get(chosen)?))
        });
        Ok(Verdict {
            granted: granted.collect(),
            wait,
        })
    }

    async fn settle(
        &self,
        reservation: &Reservation,
        used: &Charge,
        cost: u64,
        signals: &Signals,
    ) -> Result<(), StoreError> {
        let Reservation {
            pool, lane, key, ..
        } = reservation;
        let _settled: i64 = self
            .settle
            .run(&self.connection, |call| {
                call.key(key_wide(pool, key))
                    .key(in_lane(pool, lane, key))
                    .key(shares(pool, lane, reservation.shared))
                    .key(attempts(pool, key))
                    .arg(member(reservation))
                    .arg(json(&SettleArgument::of(reservation, used, cost, signals)));
            })
            .await?;
        Ok(())
    }

    async fn hold(
        &self,
        pool: &str,
        lane: &str,
        key: &KeyId,
        hold: Duration,
    ) -> Result<(), StoreError> {
        let _held_ms: u64 = self
            .hold
            .run(&self.connection, |call| {
                call.key(in_lane(pool, lane, key)).arg(millis(hold));
            })
            .await?;
        Ok(())
    }

    async fn outlook(
        &self,
        pool: &str,
        lane: &str,
        keys: &[Candidate],
    ) -> Result<Vec<KeyOutlook>, StoreError> {
        let mut outlooks = Vec::with_capacity(keys.len());
        for candidate in keys {
            let told: Vec<u64> = self
                .outlook
                .run(&self.connection, |call| {
                    call.key(key_wide(pool, &candidate.key))
                        .key(in_lane(pool, lane, &candidate.key))
                        .key(attempts(pool, &candidate.key));
                })
                .await?;
            outlooks.push(outlook(candidate, &told));
        }
        Ok(outlooks)
    }
}

/// The argument of the reserve script.
#[derive(Serialize)]
struct ReserveArgument<'a> {
    lane: &'a str,
    asker: &'a str,
    burst: f64,
    recheck: u64,
    rate: f64,
    spans: bool,
    candidates: Vec<CandidateArgument>,
    asks: Vec<AskArgument<'a>>,
    waiting: &'a [(String, f64)],
}

#[derive(Serialize)]
struct CandidateArgument {
    k: [u64; QUANTITIES],
    kd: u64,
    kc: u64,
    l: [u64; QUANTITIES],
    ld: u64,
    lc: u64,
    room: i64,
}

#[derive(Serialize)]
struct AskArgument<'a> {
    a: &'a str,
    c: [u64; QUANTITIES],
    m: [i64; QUANTITIES - 1],
    lost: u64,
    team: &'a str,
    w: f64,
    cost: u64,
    x: Vec<usize>,
    again: bool,
}

impl<'a> ReserveArgument<'a> {
    fn of(batch: &'a Batch<'_>) -> Self {
        let excluded = |ask: &Ask| -> Vec<usize> {
            let places = batch.candidates.iter().zip(1..);
            let excluded = places.filter(|(candidate, _)| ask.except.contains(&candidate.key));
            excluded.map(|(_, place)| place).collect()
        };
        let asks = batch.asks.iter().map(|ask| AskArgument {
            a: &ask.attempt,
            c: ask.charge.amounts(),
            m: extras(&ask.charge, &ask.most),
            lost: millis(ask.lasts),
            team: &ask.share.team,
            w: ask.share.weight,
            cost: ask.share.cost,
            x: excluded(ask),
            again: ask.again,
        });
        Self {
            lane: batch.lane,
            asker: batch.asker,
            burst: batch.burst.as_secs_f64(),
            recheck: millis(PLACE_RECHECK),
            rate: batch.rate(),
            spans: batch.lanes_share_limits(),
            candidates: batch.candidates.iter().map(CandidateArgument::of).collect(),
            asks: asks.collect(),
            waiting: batch.waiting,
        }
    }
}

impl CandidateArgument {
    fn of(candidate: &Candidate) -> Self {
        Self {
            k: per_minute(&candidate.limits),
            kd: candidate.limits.requests_per_day.unwrap_or(0),
            kc: candidate.limits.concurrency.unwrap_or(0),
            l: per_minute(&candidate.lane_limits),
            ld: candidate.lane_limits.requests_per_day.unwrap_or(0),
            lc: candidate.lane_limits.concurrency.unwrap_or(0),
            room: candidate
                .room
                .map_or(-1, |room| i64::try_from(room).unwrap_or(i64::MAX)),
        }
    }
}

/// The argument of the settle script.
#[derive(Serialize)]
struct SettleArgument<'a> {
    back: [i64; QUANTITIES],
    team: &'a str,
    share: f64,
    burst: f64,
    limits: [u64; QUANTITIES],
    shown: [u64; QUANTITIES],
    left: [i64; QUANTITIES],
}

impl<'a> SettleArgument<'a> {
    fn of(reservation: &'a Reservation, used: &Charge, cost: u64, signals: &Signals) -> Self {
        let rooms = rooms(signals);
        let more = cost as f64 - reservation.share.cost as f64;
        Self {
            back: differences(used, &reservation.charge),
            team: &reservation.share.team,
            share: more / reservation.share.weight,
            burst: reservation.burst.as_secs_f64(),
            limits: per_minute(&reservation.lane_limits),
            shown: rooms.map(|room| room.limit.unwrap_or(0)),
            left: rooms.map(|room| {
                room.remaining
                    .map_or(-1, |left| i64::try_from(left).unwrap_or(i64::MAX))
            }),
        }
    }
}

/// What the second charge has more than the first.
fn differences(less: &Charge, more: &Charge) -> [i64; QUANTITIES] {
    let (less, more) = (less.amounts(), more.amounts());
    std::array::from_fn(|index| {
        let difference = i128::from(more[index]) - i128::from(less[index]);
        i64::try_from(difference).unwrap_or(i64::MAX)
    })
}

/// The same without the request itself.
fn extras(less: &Charge, more: &Charge) -> [i64; QUANTITIES - 1] {
    let [_, tokens, input, output] = differences(less, more);
    [tokens, input, output]
}

/// How an attempt is written down, with what it is charged if it gets lost.
fn member(reservation: &Reservation) -> String {
    let [tokens, input, output] = extras(&reservation.charge, &reservation.most);
    let Reservation { attempt, lane, .. } = reservation;
    format!("{attempt}|{lane}|{tokens}|{input}|{output}")
}

fn per_minute(limits: &KeyLimits) -> [u64; QUANTITIES] {
    limits.per_minute().map(|limit| limit.unwrap_or(0))
}

fn outlook(candidate: &Candidate, told: &[u64]) -> KeyOutlook {
    let number = |index: usize| told.get(index).copied().unwrap_or_default();
    let limits = |configured: &KeyLimits, from: usize| {
        let configured = configured.per_minute();
        std::array::from_fn(|quantity| {
            let shown = Some(number(from + 2 * quantity)).filter(|shown| *shown > 0);
            let limit = match (configured[quantity], shown) {
                (Some(configured), Some(shown)) => Some(configured.min(shown)),
                (configured, shown) => configured.or(shown),
            };
            LimitOutlook {
                limit,
                lowered: limit != configured[quantity],
                used: number(from + 2 * quantity + 1),
            }
        })
    };
    KeyOutlook {
        held_for: Duration::from_millis(number(0)),
        in_flight: number(1),
        requests_of_day: [number(2), number(3)],
        key_wide: limits(&candidate.limits, 4),
        in_lane: limits(&candidate.lane_limits, 4 + 2 * QUANTITIES),
    }
}

/// The braces keep all keys of a pool on one node of a cluster.
fn key_wide(pool: &str, key: &KeyId) -> String {
    format!("agon:admission:{{{pool}}}:{}", key.as_str())
}

fn in_lane(pool: &str, lane: &str, key: &KeyId) -> String {
    format!("agon:admission:{{{pool}}}:{}:{lane}", key.as_str())
}

fn attempts(pool: &str, key: &KeyId) -> String {
    format!("agon:attempts:{{{pool}}}:{}", key.as_str())
}

fn shares(pool: &str, lane: &str, shared: bool) -> String {
    if shared {
        format!("agon:served:{{{pool}}}")
    } else {
        format!("agon:served:{{{pool}}}:{lane}")
    }
}

/// Numbers and texts of ours always can be written.
fn json(argument: &impl Serialize) -> String {
    serde_json::to_string(argument).unwrap_or_default()
}
