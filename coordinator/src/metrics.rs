//! Every metric of the coordinator: names, help texts, and the few functions that count them.
//! Called by the owner and the two services; described and served by the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use agon_service_kit::metrics::Metric;
use parking_lot::Mutex;

use crate::experiment::DEFAULT_TEAM;
use crate::queue::{Failure, Settled, TeamLoad};

const LEASED: &str = "agon_coordinator_leases_total";
const LOST: &str = "agon_coordinator_leases_lost_total";
const SETTLED: &str = "agon_coordinator_results_total";
const FAILED: &str = "agon_coordinator_failures_total";
const SUBMITTED: &str = "agon_coordinator_submissions_total";
const STREAMS: &str = "agon_coordinator_worker_streams";
const FREE_PLACES: &str = "agon_coordinator_free_places";
const LEASES: &str = "agon_coordinator_leases";
const PLACES: &str = "agon_worker_places";
const WAITING: &str = "agon_sessions_waiting";
const RUNNING: &str = "agon_sessions_running";
const SET_ASIDE: &str = "agon_sessions_set_aside";
const PAUSED: &str = "agon_experiments_paused";
const IN_CHARGE: &str = "agon_coordinator_in_charge";
const OLDEST: &str = "agon_coordinator_oldest_unwritten_seconds";
const UNWRITTEN: &str = "agon_coordinator_unwritten_records";

/// All of them, for the process to describe at start.
pub const METRICS: [Metric; 16] = [
    Metric::counter(LEASED, "Sessions leased to workers"),
    Metric::counter(LOST, "Leases whose workers were lost"),
    Metric::counter(
        SETTLED,
        "Results handed in, by settlement (stored, same, different, fenced, refused)",
    ),
    Metric::counter(
        FAILED,
        "Failures handed in, by kind (crashed, parked, impossible, budget_spent)",
    ),
    Metric::counter(SUBMITTED, "Experiments handed in"),
    Metric::gauge(STREAMS, "Workers connected to this coordinator"),
    Metric::gauge(FREE_PLACES, "Places that connected workers have free"),
    Metric::gauge(LEASES, "Sessions that workers hold"),
    Metric::gauge(UNWRITTEN, "Records that are not in the archive yet"),
    Metric::gauge(
        OLDEST,
        "Age of the oldest record that is not in the archive yet",
    ),
    Metric::gauge(PLACES, "Places of connected workers, free or not"),
    Metric::gauge(WAITING, "Sessions that could be played now, by team"),
    Metric::gauge(RUNNING, "Sessions that workers play, by team"),
    Metric::gauge(SET_ASIDE, "Sessions that were set aside, by team"),
    Metric::gauge(PAUSED, "Experiments that pause, by team"),
    Metric::gauge(
        IN_CHARGE,
        "1 while this coordinator is in charge of the queue, else 0",
    ),
];

/// So many sessions were leased.
pub fn count_leased(sessions: usize) {
    metrics::counter!(LEASED).increment(sessions as u64);
}

/// So many leases ran out.
pub fn count_lost(leases: u64) {
    metrics::counter!(LOST).increment(leases);
}

/// A result came in.
pub fn count_result(settled: Settled) {
    let settlement = match settled {
        Settled::Stored => "stored",
        Settled::Same => "same",
        Settled::Different => "different",
        Settled::Fenced => "fenced",
        Settled::Noted => "noted",
    };
    metrics::counter!(SETTLED, "settlement" => settlement).increment(1);
}

/// What came in as a result was none of the session.
pub fn count_refused() {
    metrics::counter!(SETTLED, "settlement" => "refused").increment(1);
}

/// A failure came in.
pub fn count_failure(failure: Failure) {
    let kind = match failure {
        Failure::Crashed => "crashed",
        Failure::Parked => "parked",
        Failure::Impossible => "impossible",
        Failure::Unplayable => "unplayable",
        Failure::BudgetSpent => "budget_spent",
    };
    metrics::counter!(FAILED, "kind" => kind).increment(1);
}

/// An experiment came in.
pub fn count_submission() {
    metrics::counter!(SUBMITTED).increment(1);
}

/// Who is connected now.
pub fn observe_workers(streams: usize, places: usize, free_places: usize) {
    metrics::gauge!(PLACES).set(places as f64);
    metrics::gauge!(STREAMS).set(streams as f64);
    metrics::gauge!(FREE_PLACES).set(free_places as f64);
}

/// What the queue holds now.
pub fn observe_queue(leases: usize, unwritten: usize) {
    metrics::gauge!(LEASES).set(leases as f64);
    metrics::gauge!(UNWRITTEN).set(unwritten as f64);
}

/// Age of the oldest record that waits for the archive.
pub fn observe_oldest_unwritten(age: Duration) {
    metrics::gauge!(OLDEST).set(age.as_secs_f64());
}

/// Shows what may never happen as 0 from the start: a series that begins with 1 has no increase.
fn show_zeros() {
    for settlement in ["stored", "same", "different", "fenced", "noted", "refused"] {
        metrics::counter!(SETTLED, "settlement" => settlement).increment(0);
    }
    metrics::counter!(LOST).increment(0);
}

/// Whether this coordinator is in charge. One that is not knows of no session.
pub fn observe_in_charge(is_in_charge: bool) {
    metrics::gauge!(IN_CHARGE).set(f64::from(u8::from(is_in_charge)));
    show_zeros();
    if !is_in_charge {
        observe_workers(0, 0, 0);
        observe_queue(0, 0);
        observe_oldest_unwritten(Duration::ZERO);
        observe_teams(&BTreeMap::new());
    }
}

/// Teams that were ever told of: one that has nothing any more is told of as that.
static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// How teams stand now.
pub fn observe_teams(teams: &BTreeMap<String, TeamLoad>) {
    let mut told = TOLD.lock();
    if told.is_empty() && teams.is_empty() {
        told.insert(DEFAULT_TEAM.to_owned());
    }
    told.extend(teams.keys().cloned());
    for name in told.iter() {
        let team = teams.get(name).copied().unwrap_or_default();
        let gauge = |metric: &'static str, value: u32| {
            metrics::gauge!(metric, "team" => name.clone()).set(f64::from(value));
        };
        gauge(WAITING, team.waiting);
        gauge(RUNNING, team.running);
        gauge(SET_ASIDE, team.set_aside);
        gauge(PAUSED, team.paused);
    }
}
