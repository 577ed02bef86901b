//! How each key stands: one row for what holds over all models, then one for
//! each model that was asked for. The key itself is never shown. Called by
//! `service.rs` and `gauges.rs`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Instant;

use agon_proto::v1::{KeyStatus, LimitStatus};
use agon_service_kit::clock::millis;

use crate::admission::line::accounts::candidates;
use crate::admission::line::lane::{Lane, LaneKey};
use crate::admission::{KeyOutlook, LimitOutlook};
use crate::deciding::Decider;
use crate::health::breaker::Circuit;
use crate::keys::{KeyId, PooledKey};
use crate::limits::{KeyLimits, QUANTITIES};
use crate::store_error::StoreError;

/// Names of the limits per minute, in the order of `Charge::amounts`.
const PER_MINUTE: [&str; QUANTITIES] = [
    "requests/min",
    "tokens/min",
    "input tokens/min",
    "output tokens/min",
];

/// All keys of the models that were asked for.
pub(crate) async fn of(decider: &Decider) -> Result<Vec<KeyStatus>, StoreError> {
    let mut keys: BTreeMap<(String, usize, KeyId), Vec<KeyStatus>> = BTreeMap::new();
    for lane in decider.routes.lanes() {
        let (terms, now) = (lane.terms(), Instant::now());
        let candidates = candidates(&terms.keys.iter().collect::<Vec<_>>(), now);
        let outlooks = decider.limiter.outlook(&lane.pool, &lane.name, &candidates);
        let names = candidates.iter().map(|candidate| &candidate.key);
        let outlooks: HashMap<_, _> = names.zip(outlooks.await?).collect();
        for (place, key) in terms.keys.iter().enumerate() {
            let Some(outlook) = outlooks.get(&key.key.counted_as) else {
                continue;
            };
            let id = (lane.pool.clone(), place, key.key.id.clone());
            let rows = keys
                .entry(id)
                .or_insert_with(|| vec![key_row(&lane.pool, key, outlook, now)]);
            rows.push(lane_row(&lane, key, outlook, now));
        }
    }
    Ok(keys.into_values().flatten().collect())
}

/// What holds over all models.
fn key_row(provider: &str, key: &LaneKey, outlook: &KeyOutlook, now: Instant) -> KeyStatus {
    let pooled: &Arc<PooledKey> = &key.key;
    let [in_flight, calls] = pooled.counters.read();
    let errors = pooled.counters.errors();
    let by_kind = errors.by_kind.into_iter();
    let out = pooled.quarantine();
    let next_probe = out.as_ref().and_then(|out| out.next_probe);
    let next_probe_ms = next_probe.map_or(0, |at| millis(at.saturating_duration_since(now)));
    KeyStatus {
        provider: provider.to_owned(),
        source: pooled.source.clone(),
        account: pooled.account.clone().unwrap_or_default(),
        in_flight,
        calls,
        refused_by_provider: errors.refused,
        failed: errors.failed,
        quarantine_reason: out.map_or(String::new(), |out| out.reason),
        next_probe_ms,
        limits: limits(
            &key.limits,
            &outlook.key_wide,
            outlook.requests_of_day[0],
            outlook.in_flight,
        ),
        errors: by_kind
            .map(|(kind, count)| (kind.to_owned(), count))
            .collect(),
        last_error: errors.last,
        ..KeyStatus::default()
    }
}

/// What holds for one model.
fn lane_row(lane: &Lane, key: &LaneKey, outlook: &KeyOutlook, now: Instant) -> KeyStatus {
    let health = key.health.outlook(now);
    let out = key.key.quarantine();
    KeyStatus {
        provider: lane.pool.clone(),
        source: key.key.source.clone(),
        account: key.key.account.clone().unwrap_or_default(),
        model: lane.name.clone(),
        in_flight: health.in_flight,
        held_for_ms: millis(outlook.held_for),
        quarantine_reason: out.map_or(String::new(), |out| out.reason),
        circuit: match health.circuit {
            Circuit::Closed => "",
            Circuit::HalfOpen => "half-open",
            Circuit::Open { .. } => "open",
        }
        .to_owned(),
        adaptive_places: health.adaptive_places.unwrap_or(0),
        limits: limits(
            &key.lane_limits,
            &outlook.in_lane,
            outlook.requests_of_day[1],
            health.in_flight,
        ),
        ..KeyStatus::default()
    }
}

fn limits(
    configured: &KeyLimits,
    per_minute: &[LimitOutlook; QUANTITIES],
    requests_of_day: u64,
    in_flight: u64,
) -> Vec<LimitStatus> {
    let row = |name: &str, limit: Option<u64>, used, lowered_by_provider| {
        limit.map(|limit| LimitStatus {
            name: name.to_owned(),
            limit,
            used,
            lowered_by_provider,
        })
    };
    let rows = PER_MINUTE
        .iter()
        .zip(per_minute)
        .map(|(name, outlook)| row(name, outlook.limit, outlook.used, outlook.lowered));
    let day = row(
        "requests/day",
        configured.requests_per_day,
        requests_of_day,
        false,
    );
    let places = row("concurrency", configured.concurrency, in_flight, false);
    rows.chain([day, places]).flatten().collect()
}
