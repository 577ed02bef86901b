//! Every metric of the gates: names, help texts, and the function that counts. Described and served by
//! the roles that have doors.

use agon_service_kit::metrics::Metric;

use crate::gate::Refusal;

const REFUSED: &str = "agon_callers_refused_total";

/// All of them, for the process to describe at start.
pub const METRICS: [Metric; 1] = [Metric::counter(
    REFUSED,
    "Requests that no door let in, by door and reason",
)];

/// A request was not let in.
pub(crate) fn count_refused(door: &'static str, refusal: &Refusal) {
    let reason = match refusal {
        Refusal::NoToken => "no token",
        Refusal::UnknownToken => "unknown token",
        Refusal::Ended => "ended",
        Refusal::NotThisMachine => "name of another machine",
        Refusal::Expired => "expired",
        Refusal::Revoked => "revoked",
        Refusal::Scope { .. } => "scope",
        Refusal::NoRule { .. } => "no such call",
        Refusal::StoreAway => "store away",
    };
    metrics::counter!(REFUSED, "door" => door, "reason" => reason).increment(1);
}
