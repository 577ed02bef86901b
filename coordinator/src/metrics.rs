//! Every metric of the coordinator: names, help texts, and the few functions that count them.
//! Called by the owner and the two services; described and served by the command line.

use agon_service_kit::metrics::Metric;

use crate::queue::{Failure, Settled};

const LEASED: &str = "agon_coordinator_leases_total";
const LOST: &str = "agon_coordinator_leases_lost_total";
const SETTLED: &str = "agon_coordinator_results_total";
const FAILED: &str = "agon_coordinator_failures_total";
const SUBMITTED: &str = "agon_coordinator_submissions_total";
const STREAMS: &str = "agon_coordinator_worker_streams";
const FREE_PLACES: &str = "agon_coordinator_free_places";
const LEASES: &str = "agon_coordinator_leases";
const UNWRITTEN: &str = "agon_coordinator_unwritten_records";

/// All of them, for the process to describe at start.
pub const METRICS: [Metric; 9] = [
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
pub fn observe_workers(streams: usize, free_places: usize) {
    metrics::gauge!(STREAMS).set(streams as f64);
    metrics::gauge!(FREE_PLACES).set(free_places as f64);
}

/// What the queue holds now.
pub fn observe_queue(leases: usize, unwritten: usize) {
    metrics::gauge!(LEASES).set(leases as f64);
    metrics::gauge!(UNWRITTEN).set(unwritten as f64);
}
