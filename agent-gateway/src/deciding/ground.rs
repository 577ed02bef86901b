//! Whether a session is likely to ask for what nobody has answered yet. A session
//! asks in order: after an address that was granted comes another such one. A
//! guess, that saves a claim's time and never decides anything. Called by
//! `deciding/claiming.rs`.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// Sessions remembered; two that fall on one place forget each other.
const PLACES: usize = 4096;

/// Sessions whose last claim was granted, by a hash of their name.
pub struct Ground {
    hasher: RandomState,
    new: Box<[AtomicU64]>,
}

impl Default for Ground {
    fn default() -> Self {
        Self {
            hasher: RandomState::new(),
            new: (0..PLACES).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

impl Ground {
    /// The session's last claim was granted.
    pub fn is_new(&self, session_id: &str) -> bool {
        let (place, mark) = self.place(session_id);
        place.load(Ordering::Relaxed) == mark
    }

    /// How a claim of the session went.
    pub fn note(&self, session_id: &str, granted: bool) {
        let (place, mark) = self.place(session_id);
        if granted {
            place.store(mark, Ordering::Relaxed);
        } else {
            // Another session may have the place; what it says is left alone.
            let _ = place.compare_exchange(mark, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    fn place(&self, session_id: &str) -> (&AtomicU64, u64) {
        // Zero means nobody.
        let mark = self.hasher.hash_one(session_id).max(1);
        (&self.new[(mark % PLACES as u64) as usize], mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ground_is_new_after_a_grant_until_something_else_is_found() {
        let ground = Ground::default();
        assert!(!ground.is_new("s"));
        ground.note("s", true);
        assert!(ground.is_new("s"));
        ground.note("t", false);
        assert!(ground.is_new("s"));
        ground.note("s", false);
        assert!(!ground.is_new("s"));
    }
}
