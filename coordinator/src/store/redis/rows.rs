//! What Redis answers with, row by row, and what becomes of it. Asks nothing itself. Called by
//! `RedisStore`.

use crate::store::{Granted, LeaseKey, Terms};

/// What a list shows of an experiment.
pub const FIELDS_OF_A_LIST: [&str; 8] = [
    "team",
    "paused",
    "submitting",
    "n:done",
    "n:parked",
    "n:dead",
    "cancelled",
    "n:stopped",
];

/// Those fields as they are read.
pub type ListRow = (
    Option<String>,
    Option<String>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
);

/// A lease as `lease_v4.lua` answers it.
pub type LeaseRow = (
    String,
    u64,
    String,
    u32,
    String,
    String,
    String,
    i32,
    String,
    bool,
    Vec<u8>,
);

/// The lease of a row, as this worker got it.
pub fn read_lease(row: LeaseRow, worker: &str) -> Granted {
    let (
        session,
        fence,
        spec,
        attempt,
        experiment,
        team,
        traceparent,
        priority,
        budget,
        cache,
        before,
    ) = row;
    let mut granted = Granted {
        key: LeaseKey {
            session,
            worker: worker.to_owned(),
            fence,
        },
        spec,
        attempt,
        experiment,
        team,
        traceparent,
        terms: Terms {
            priority,
            budget: budget.parse().ok(),
            content_cache: cache,
        },
        before: Some(before).filter(|packed| !packed.is_empty()),
    };
    granted.unpack_before();
    granted
}
