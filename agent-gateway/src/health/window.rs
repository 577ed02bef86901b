//! How many calls a server without published limits takes well, found out by
//! trying: a little more after each round of answers, a good deal less when it
//! is too much (additive increase, multiplicative decrease). Too much is what
//! the server says (429, 503, 529, a time-out), or that more places bring longer
//! answers instead of more of them (`window/levels.rs`). Pure: time is handed
//! in. Called by `health.rs`, one per key, lane and replica.

mod levels;
mod round;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use levels::{WindowLevel, WindowLevels};
use round::WindowRound;

/// Where a window starts: enough to learn from, and any server takes it.
pub const FIRST_PLACES: u64 = 8;
/// More in flight from one replica with one key is no matter of trying.
const MOST_PLACES: f64 = 1_024.0;
/// What is left of the window when it was too much.
const DECREASE: f64 = 0.7;
/// Answers that make a round, at least: the lengths of answers vary, and the
/// mean of fewer says too little.
const SMALLEST_ROUND: u32 = 24;
/// While rounds go well the increase doubles, up to this part of the window, so
/// that a large server is found in minutes and never overshot by much.
const LARGEST_STEP: f64 = 1.0 / 8.0;
/// Rounds to stay at a size that is known to be well before more is tried
/// again; twice as long each time that this was in vain, up to the second.
const FIRST_REST: u32 = 8;
const LONGEST_REST: u32 = 32;
/// What used to be well and is not any more: the server has got smaller.
const NO_LONGER_PROVEN: f64 = 0.85;
/// So many more than are served, as a part of them, wait inside the server and
/// keep its places from running empty.
const KEEP_BUSY: f64 = 0.25;
/// One decrease may be too little to see what it does through chance; at this
/// part of the size it shows.
const UNSURE: f64 = 0.4;
/// Two sizes this near to each other are the same finding.
const SAME_SIZE: f64 = 1.25;
/// What the newest round counts in the usual length of answers.
const NEWEST_ROUND: f64 = 0.1;
/// Share of a round's answers that must have come while the window was as good
/// as full: else the round says nothing about its size.
const USED: f64 = 0.5;

/// The window. Each call is `began` once and then ends once: `succeeded`,
/// `overloaded` or `ended`.
#[derive(Debug)]
pub struct Window {
    size: f64,
    in_flight: u64,
    phase: Phase,
    /// The largest size lately at which a whole round went well.
    proven: f64,
    /// The size that was returned to after the last decrease, and the rest then.
    last_rest: Option<(f64, u32)>,
    /// Calls from before this time were too many already; they are not counted
    /// against the smaller window.
    changed_at: Option<Instant>,
    /// Answers to calls that began before this time are of another round.
    round_began: Option<Instant>,
    round: WindowRound,
    /// Mean length of answers over many rounds.
    usual_tokens: Option<f64>,
    levels: WindowLevels,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// More each round.
    Climbing { step: f64 },
    /// Back to what was well, half of the way each round.
    Recovering { ceiling: f64 },
    /// At what is known to be well.
    Resting { rounds: u32 },
    /// Made smaller because answers took longer than they should. Goes on as
    /// long as less does as well (`confirmed`: at least once); if it never does,
    /// it was not the window that made them long.
    Doubting { high: WindowLevel, confirmed: bool },
}

impl Default for Window {
    fn default() -> Self {
        Self {
            size: FIRST_PLACES as f64,
            in_flight: 0,
            phase: Phase::Climbing { step: 1.0 },
            proven: 1.0,
            last_rest: None,
            changed_at: None,
            round_began: None,
            round: WindowRound::default(),
            usual_tokens: None,
            levels: WindowLevels::default(),
        }
    }
}

impl Window {
    /// How many calls may be in flight.
    pub fn places(&self) -> u64 {
        self.size as u64
    }

    /// How many are.
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// A call leaves.
    pub fn began(&mut self) {
        self.in_flight += 1;
    }

    /// It was answered after `took`, with so many tokens.
    pub fn succeeded(&mut self, took: Duration, output_tokens: u64, now: Instant) {
        let full = self.in_flight as f64 >= (self.size * 0.9).floor().max(1.0);
        self.ended();
        let began = now.checked_sub(took).unwrap_or(now);
        if began < *self.round_began.get_or_insert(began) {
            return;
        }
        self.round.note(took, output_tokens, full);
        if f64::from(self.round.answers()) < self.size.max(f64::from(SMALLEST_ROUND)) {
            return;
        }
        let round = std::mem::take(&mut self.round);
        self.round_began = Some(now);
        if round.used() >= USED {
            let tokens = self.usual_tokens.unwrap_or(round.mean_tokens());
            let seconds = round.seconds_of(tokens);
            self.usual_tokens = Some(tokens + (round.mean_tokens() - tokens) * NEWEST_ROUND);
            let size = self.size.floor();
            self.judge(WindowLevel { size, seconds }, now);
        }
    }

    /// The server said that it is too much, or did not answer in time.
    pub fn overloaded(&mut self, took: Duration, now: Instant) {
        // A window that was never full cannot be blamed with its whole size.
        let most = self.size.min(self.in_flight.max(1) as f64);
        self.ended();
        let began = now.checked_sub(took).unwrap_or(now);
        if self.changed_at.is_some_and(|changed| began < changed) {
            return;
        }
        let ceiling = self.ceiling_below(most);
        self.resize(most * DECREASE, now);
        self.phase = Phase::Recovering { ceiling };
    }

    /// It is over and says nothing about the load.
    pub fn ended(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// A round at this size is over, without a complaint.
    fn judge(&mut self, level: WindowLevel, now: Instant) {
        if let Phase::Doubting { high, confirmed } = self.phase {
            self.judge_doubt(level, high, confirmed, now);
        } else if self.levels.brings_nothing(&level) == Some(true) {
            self.levels.note(level);
            self.doubt(level, false, now);
        } else {
            self.levels.note(level);
            self.proven = self.proven.max(level.size);
            self.go_on(now);
        }
    }

    fn doubt(&mut self, high: WindowLevel, confirmed: bool, now: Instant) {
        self.phase = Phase::Doubting { high, confirmed };
        self.resize(high.size * DECREASE, now);
    }

    /// A round after the window was made smaller for the sake of doubt.
    fn judge_doubt(&mut self, low: WindowLevel, high: WindowLevel, confirmed: bool, now: Instant) {
        let right = levels::brings_nothing(&low, &high) && low.size < high.size;
        let still = self.levels.brings_nothing(&low);
        if right && still != Some(false) {
            self.levels.note(low);
            self.doubt(low, true, now);
            return;
        }
        if !right && !confirmed && still == Some(true) && low.size > high.size * UNSURE {
            // Chance may hide what so small a difference does: make it larger.
            self.resize(low.size * DECREASE, now);
            return;
        }
        if !right && !confirmed {
            // The server has become slower, or answers longer: what was learnt
            // before says nothing any more.
            self.levels.clear();
            self.levels.note(high);
            self.levels.note(low);
            self.resize(high.size, now);
            self.phase = Phase::Climbing { step: 1.0 };
            return;
        }
        self.levels.note(low);
        // By Little's law, the calls that were served rather than queued.
        let alone = self.levels.below(&low).unwrap_or(low).seconds;
        let served = high.size * alone / high.seconds;
        self.proven = (served + (served * KEEP_BUSY).floor()).max(low.size);
        let rounds = self.rest_at(self.proven);
        self.phase = Phase::Resting { rounds };
        self.resize(self.proven, now);
    }

    fn go_on(&mut self, now: Instant) {
        match &mut self.phase {
            Phase::Climbing { step } => {
                let grown = self.size + *step;
                *step = (*step * 2.0).min(grown * LARGEST_STEP).max(1.0);
                self.resize(grown, now);
            }
            Phase::Recovering { ceiling } => {
                let ceiling = *ceiling;
                let half_way = ((self.size + ceiling) / 2.0).max(self.size + 1.0);
                if half_way < ceiling - 0.5 {
                    self.resize(half_way, now);
                } else {
                    self.resize(ceiling, now);
                    let rounds = self.rest_at(ceiling);
                    self.phase = Phase::Resting { rounds };
                }
            }
            Phase::Resting { rounds: 0 } => {
                self.phase = Phase::Climbing { step: 1.0 };
                self.go_on(now);
            }
            Phase::Resting { rounds } => *rounds -= 1,
            Phase::Doubting { .. } => {}
        }
    }

    /// Where to return to after `size` was too much.
    fn ceiling_below(&mut self, size: f64) -> f64 {
        if self.proven >= size {
            self.proven = size * NO_LONGER_PROVEN;
        }
        self.proven = self.proven.max(1.0);
        self.proven
    }

    /// How long to rest at a size: longer when it was the same before.
    fn rest_at(&mut self, size: f64) -> u32 {
        let rounds = match self.last_rest {
            Some((last, rounds)) if last / size < SAME_SIZE && size / last < SAME_SIZE => {
                (rounds * 2).min(LONGEST_REST)
            }
            _ => FIRST_REST,
        };
        self.last_rest = Some((size, rounds));
        rounds
    }

    /// Only calls that begin from now on say something about the new size.
    fn resize(&mut self, size: f64, now: Instant) {
        let size = size.clamp(1.0, MOST_PLACES);
        if size < self.size {
            self.changed_at = Some(now);
        }
        self.size = size;
        self.round = WindowRound::default();
        self.round_began = Some(now);
    }
}
