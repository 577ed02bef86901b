//! Times in whole milliseconds, as stores and the wire keep them. Owns what becomes of
//! a time that is too long for that, or before 1970: the nearest that can be written.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Whole milliseconds.
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds since 1970, where a test may have a clock of its own.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Milliseconds since 1970 on the system's clock.
pub fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    millis(since.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_time_can_be_written() {
        assert_eq!(millis(Duration::MAX), u64::MAX);
        assert_eq!(millis(Duration::from_micros(1_999)), 1);
    }
}
