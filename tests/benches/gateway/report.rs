//! How figures are printed: one line per bar, with what was measured, the bar and
//! whether it is met. Called by every section.

pub use agon_tests::benches::{bar, note};

/// A share as people write it.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// The value below which this share of the sorted values lie; 0 of none.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = (last as f64 * share).round() as usize;
    sorted.get(place).copied().unwrap_or(0.0)
}

/// The bars that tests hold rather than a clock.
pub fn elsewhere() {
    for (bar, command) in [
        (
            "error classification, 100 % of golden cases",
            "cargo test -p agon-agent-gateway golden",
        ),
        (
            "cost, 100 % of golden cases",
            "cargo test -p agon-agent-gateway cost",
        ),
        (
            "keys in logs, traces, metrics, records and panics: none",
            "cargo test -p agon-agent-gateway --test suite secrets; \
             cargo test -p agon-tests --test secrets",
        ),
    ] {
        println!("{bar}: {command}");
    }
}
