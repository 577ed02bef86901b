//! Tests that need what a machine may lack (replies of real models, a small disk) and are left
//! out without it: one line each, which `tests/run` counts. In CI nothing is left out.

use std::io::Write as _;

/// Says that a test is left out, and why.
///
/// # Panics
/// In CI (`CI=true`), where everything has to be there.
pub fn left_out(test: &str, why: &str) {
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    assert!(
        !in_ci,
        "{test} cannot run, and nothing is left out in CI: {why}"
    );
    // Not `eprintln!`, which the test harness captures and shows for failed tests only.
    let _ = writeln!(std::io::stderr(), "left out: {test}: {why}");
}
