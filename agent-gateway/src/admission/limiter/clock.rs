//! The time that a limiter goes by, of which several processes have an idea of their own, and what
//! becomes of limits when a clock is set back. Called by `limiter.rs`.

use super::books::Books;

/// A clock that differs by more than this, in milliseconds, has been set back.
const SET_BACK_MS: f64 = 60_000.0;

/// The time to go by when others have gone by `newest` already, both in milliseconds since 1970. It
/// never runs backwards: for a process whose clock is behind, the others' calls would lie in the
/// future, and what has come in since would be counted once more at each question.
pub(super) fn common_time(now: f64, newest: f64) -> f64 {
    match newest - now {
        ahead if ahead > SET_BACK_MS => now,
        ahead => now + ahead.max(0.0),
    }
}

impl Books {
    /// Lets what was changed at a time that is too far ahead have been changed
    /// now: the clock was set back. Otherwise no limit would refill, no hold end and no team stop to
    /// wait until the clock has caught up.
    pub fn set_back(&mut self, now: f64) {
        let scopes = self.scopes.iter_mut();
        for scope in scopes.filter(|scope| scope.content().changed_ms > now + SET_BACK_MS) {
            let counts = scope.edit();
            let by = now - counts.changed_ms;
            counts.scope.shift(by);
            for calls in counts.in_flight.values_mut() {
                calls.lost_at_ms += by;
            }
            counts.changed_ms = now;
        }
        let shares = self.shares.iter_mut();
        for shares in shares.filter(|shares| shares.content().newest_ms() > now + SET_BACK_MS) {
            let shares = shares.edit();
            shares.shift(now - shares.newest_ms());
        }
    }
}
