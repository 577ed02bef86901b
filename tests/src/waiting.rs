//! Waiting for something to become true, with a deadline that fails the test.
//! Ends as soon as it is true. Called by tests that watch other processes.

use std::time::{Duration, Instant};

/// Longest wait; a busy machine with two builds at once still makes it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks again and again until it is true.
///
/// # Panics
/// It does not become true in time.
pub fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_true() {
        assert!(Instant::now() < deadline, "waited too long until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
