//! Every metric of the worker: name and help text in one place. Counted by the
//! supervisor; described and served by the command line.

use agon_service_kit::metrics::Metric;

/// Sessions that this worker is playing now.
pub(crate) const SESSIONS_RUNNING: &str = "agon_worker_sessions_running";
/// Tries that ended, by how.
pub(crate) const SESSIONS_ENDED: &str = "agon_worker_sessions_ended_total";
/// Leases that were lost while the session was played.
pub(crate) const LEASES_LOST: &str = "agon_worker_leases_lost_total";
/// Duration of finished sessions.
pub(crate) const SESSION_SECONDS: &str = "agon_worker_session_seconds";

/// The list for the Prometheus endpoint.
pub const METRICS: &[Metric] = &[
    Metric::gauge(SESSIONS_RUNNING, "Sessions that this worker is playing now"),
    Metric::counter(
        SESSIONS_ENDED,
        "Tries that ended, by end: finished, parked, budget_spent, impossible, unplayable, crashed, given_up",
    ),
    Metric::counter(
        LEASES_LOST,
        "Leases that were lost while the session was played",
    ),
    Metric::histogram(
        SESSION_SECONDS,
        "Seconds from lease to record of finished sessions",
    ),
];
