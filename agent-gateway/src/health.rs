//! How well one key does in one lane (a model's own, or the one all models of a
//! provider share), as this replica sees it: its circuit breaker and, for
//! servers without published limits, its adaptive concurrency. Pure: time is
//! handed in. Knows no quota; admission asks it for room beside the limits, and
//! tells it of each call.

pub mod breaker;
#[cfg(test)]
mod tests;
pub mod window;

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use breaker::{Breaker, Circuit, ProbeRound};
use window::Window;

/// The health of one key in one lane.
#[derive(Debug)]
pub struct KeyHealth {
    state: Mutex<HealthState>,
}

#[derive(Debug)]
struct HealthState {
    breaker: Breaker,
    window: Option<Window>,
    in_flight: u64,
}

/// What became of a call, as far as it says something about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// It answered.
    Answered {
        /// Tokens of the answer.
        output_tokens: u64,
    },
    /// It works, but refused this request or this key (most 4xx).
    Refused,
    /// It refused for lack of quota or places (429): too much, but no failure.
    TooMany,
    /// It is overloaded or did not answer in time (503, 529, a time-out): too
    /// much, and a failure.
    Overloaded,
    /// It failed otherwise (another 5xx, a broken connection, no sense).
    Failed,
    /// The call was never made, or given up by us.
    Abandoned,
}

/// Plain data for the status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HealthOutlook {
    /// What the breaker lets through.
    pub circuit: Circuit,
    /// Places that adaptive concurrency allows; absent: it is not in use.
    pub adaptive_places: Option<u64>,
    /// Calls of this replica in flight.
    pub in_flight: u64,
}

impl KeyHealth {
    /// Nothing is known yet. `adaptive`: find out how many calls at once the
    /// server takes well.
    pub fn new(adaptive: bool) -> Self {
        let state = HealthState {
            breaker: Breaker::default(),
            window: adaptive.then(Window::default),
            in_flight: 0,
        };
        Self {
            state: Mutex::new(state),
        }
    }

    /// How many more calls may begin now; absent: any number.
    pub fn room(&self, now: Instant) -> Option<u64> {
        let state = self.state.lock();
        let places = state
            .window
            .as_ref()
            .map(|window| window.places().saturating_sub(window.in_flight()));
        match (state.breaker.room(now), places) {
            (Some(probes), Some(places)) => Some(probes.min(places)),
            (bound, None) | (None, bound) => bound,
        }
    }

    /// When an open circuit may be probed; absent when nothing waits for a time
    /// (what is full gets room when a call ends).
    pub fn next_look(&self, now: Instant) -> Option<Instant> {
        match self.state.lock().breaker.look(now) {
            Circuit::Open { until } => Some(until),
            Circuit::Closed | Circuit::HalfOpen => None,
        }
    }

    /// The circuit lets nothing through: it is open, or its probe is on the way.
    pub fn circuit_is_open(&self, now: Instant) -> bool {
        self.state.lock().breaker.room(now) == Some(0)
    }

    /// A call leaves; it counts as in flight until its turn is over.
    pub fn begin(self: &Arc<Self>, now: Instant) -> Permit {
        let mut state = self.state.lock();
        state.in_flight += 1;
        if let Some(window) = &mut state.window {
            window.began();
        }
        let round = state.breaker.began(now);
        drop(state);
        Permit {
            health: Arc::clone(self),
            round,
            began: now,
            over: false,
        }
    }

    /// How it is now.
    pub fn outlook(&self, now: Instant) -> HealthOutlook {
        let state = self.state.lock();
        HealthOutlook {
            circuit: state.breaker.look(now),
            adaptive_places: state.window.as_ref().map(Window::places),
            in_flight: state.in_flight,
        }
    }

    fn end(&self, round: ProbeRound, took: Duration, outcome: CallOutcome, now: Instant) {
        let mut state = self.state.lock();
        state.in_flight = state.in_flight.saturating_sub(1);
        match outcome {
            CallOutcome::Answered { .. } | CallOutcome::Refused => {
                state.breaker.succeeded(round, now);
            }
            CallOutcome::Overloaded | CallOutcome::Failed => state.breaker.failed(round, now),
            CallOutcome::TooMany | CallOutcome::Abandoned => state.breaker.abandoned(round),
        }
        let Some(window) = &mut state.window else {
            return;
        };
        match outcome {
            CallOutcome::Answered { output_tokens } => window.succeeded(took, output_tokens, now),
            CallOutcome::TooMany | CallOutcome::Overloaded => window.overloaded(took, now),
            CallOutcome::Refused | CallOutcome::Failed | CallOutcome::Abandoned => window.ended(),
        }
    }
}

/// One call on its way. Dropped without an outcome it counts as abandoned, so
/// that a cancelled task can neither hold a place nor the turn of a probe.
#[derive(Debug)]
pub struct Permit {
    health: Arc<KeyHealth>,
    round: ProbeRound,
    began: Instant,
    over: bool,
}

impl Permit {
    /// The call is over.
    pub fn ended(mut self, outcome: CallOutcome, now: Instant) {
        self.over = true;
        let took = now.saturating_duration_since(self.began);
        self.health.end(self.round, took, outcome, now);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.over {
            let (took, now) = (Duration::ZERO, self.began);
            self.health
                .end(self.round, took, CallOutcome::Abandoned, now);
        }
    }
}
