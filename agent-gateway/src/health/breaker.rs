//! The circuit breaker of one key in one lane: after too many failures nothing
//! is sent for a while, then one call is, to see. Pure: time is handed in. Knows
//! no providers and counts no quota (a 429 is not a failure here). Called by
//! `health.rs`.

mod recent;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use recent::{Recent, WINDOW};

/// A circuit opens after so many failures in a row: single failures are usual, five in a row are
/// not.
const FAILURES_IN_A_ROW: u32 = 5;

/// But not when there was an answer so recently: among hundreds of calls a second five failures in a
/// row come by chance.
const WITHOUT_ANSWER: Duration = Duration::from_secs(1);

/// It also opens when too large a share of recent calls fails.
const FAILURE_SHARE: f64 = 0.5;

/// Fewer calls than this say nothing about a share.
const FEWEST_CALLS: u32 = 20;

/// How long it stays open at first: most troubles are short.
const FIRST_OPEN: Duration = Duration::from_secs(1);

/// The open time doubles with each probe that fails, up to this.
const LONGEST_OPEN: Duration = Duration::from_secs(60);

/// What a breaker lets through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Circuit {
    /// Everything.
    #[default]
    Closed,
    /// One call, to see whether the server is well again.
    HalfOpen,
    /// Nothing before this time.
    Open {
        /// When a probe may go.
        until: Instant,
    },
}

/// Ties the end of a call to its beginning: an answer to a question from before
/// the circuit opened says nothing about the server now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeRound {
    opened_before: u64,
    probe: bool,
}

/// The breaker. Each call is `began` once and then ends once: `succeeded`,
/// `failed` or `abandoned`.
#[derive(Debug, Default)]
pub struct Breaker {
    state: State,
    /// How often it has opened.
    opened: u64,
    /// How long it was open last and when that was over; a server that fails
    /// again soon after is not given the benefit of a short time again.
    last: Option<(Duration, Instant)>,
}

#[derive(Debug)]
enum State {
    Closed {
        in_a_row: u32,
        answered: Option<Instant>,
        recent: Recent,
    },
    Open {
        until: Instant,
        lasts: Duration,
        probing: bool,
    },
}

impl Breaker {
    /// What it lets through now.
    pub fn look(&self, now: Instant) -> Circuit {
        match self.state {
            State::Closed { .. } => Circuit::Closed,
            State::Open { until, probing, .. } if now >= until || probing => Circuit::HalfOpen,
            State::Open { until, .. } => Circuit::Open { until },
        }
    }

    /// How many calls may begin now; absent: any number.
    pub fn room(&self, now: Instant) -> Option<u64> {
        match self.state {
            State::Closed { .. } => None,
            State::Open { until, probing, .. } => Some(u64::from(now >= until && !probing)),
        }
    }

    /// A call leaves. It is taken note of even when there is no room: what is
    /// on its way cannot be called back.
    pub fn began(&mut self, now: Instant) -> ProbeRound {
        let probe = match &mut self.state {
            State::Open { until, probing, .. } if now >= *until && !*probing => {
                *probing = true;
                true
            }
            _ => false,
        };
        ProbeRound {
            opened_before: self.opened,
            probe,
        }
    }

    /// The server answered, be it that it refused what the caller asked.
    pub fn succeeded(&mut self, round: ProbeRound, now: Instant) {
        if round.opened_before != self.opened {
            return;
        }
        match &mut self.state {
            State::Closed {
                in_a_row,
                answered,
                recent,
            } => {
                *in_a_row = 0;
                *answered = Some(now);
                recent.note(now, false);
            }
            State::Open { lasts, .. } => {
                self.last = Some((*lasts, now));
                self.state = State::default();
            }
        }
    }

    /// The server failed: a 5xx, a time-out, a broken connection.
    pub fn failed(&mut self, round: ProbeRound, now: Instant) {
        if round.opened_before != self.opened {
            return;
        }
        match &mut self.state {
            State::Closed {
                in_a_row,
                answered,
                recent,
            } => {
                *in_a_row += 1;
                recent.note(now, true);
                let (calls, failures) = recent.count(now);
                let too_often = calls >= FEWEST_CALLS
                    && f64::from(failures) >= f64::from(calls) * FAILURE_SHARE;
                let silent = answered.is_none_or(|answered| {
                    now.saturating_duration_since(answered) >= WITHOUT_ANSWER
                });
                let none_answers = *in_a_row >= FAILURES_IN_A_ROW && silent;
                if none_answers || too_often {
                    self.open(self.first_open(now), now);
                }
            }
            State::Open { lasts, .. } if round.probe => {
                let longer = lasts.saturating_mul(2).min(LONGEST_OPEN);
                self.open(longer, now);
            }
            // Sent although the circuit was open; the probe decides.
            State::Open { .. } => {}
        }
    }

    /// The call was never made, or says nothing about the server (a 429): a
    /// probe gives its turn back.
    pub fn abandoned(&mut self, round: ProbeRound) {
        if round.opened_before != self.opened || !round.probe {
            return;
        }
        if let State::Open { probing, .. } = &mut self.state {
            *probing = false;
        }
    }

    fn first_open(&self, now: Instant) -> Duration {
        let relapse = self
            .last
            .filter(|(_, closed)| now.saturating_duration_since(*closed) < WINDOW);
        relapse.map_or(FIRST_OPEN, |(lasted, _)| {
            lasted.saturating_mul(2).min(LONGEST_OPEN)
        })
    }

    fn open(&mut self, lasts: Duration, now: Instant) {
        self.opened += 1;
        self.state = State::Open {
            until: now + lasts,
            lasts,
            probing: false,
        };
    }
}

impl Default for State {
    fn default() -> Self {
        State::Closed {
            in_a_row: 0,
            answered: None,
            recent: Recent::default(),
        }
    }
}
