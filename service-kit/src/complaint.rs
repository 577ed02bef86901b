//! Failures that come by the thousand and deserve a line, not a line each. Owns
//! only the count and the time; the caller words the line. Called by servers for connections, and
//! by the gateway for providers, the ledger and the store.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Often enough for somebody who watches, seldom enough for a log.
const EVERY: Duration = Duration::from_secs(10);

/// One kind of failure.
#[derive(Default)]
pub struct Complaint(Mutex<Said>);

/// Failures since the last one that was logged, and when that was.
#[derive(Default)]
struct Said {
    unsaid: u64,
    at: Option<Instant>,
}

impl Complaint {
    /// Counts a failure. One at once, and then one in a while, is to be logged,
    /// with this number of failures since the last.
    pub fn note(&self) -> Option<u64> {
        // Two numbers stay usable whatever happened to whoever held them.
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.unsaid += 1;
        if said.at.is_some_and(|at| at.elapsed() < EVERY) {
            return None;
        }
        said.at = Some(Instant::now());
        Some(std::mem::take(&mut said.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_failure_is_told_and_the_next_ones_are_counted() {
        let complaint = Complaint::default();
        assert_eq!(complaint.note(), Some(1));
        assert_eq!((complaint.note(), complaint.note()), (None, None));
        complaint.0.lock().unwrap().at = None;
        assert_eq!(complaint.note(), Some(3));
    }
}
