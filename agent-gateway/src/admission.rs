//! Admission: the limits of the keys. Owns the contract that both back ends
//! keep: all limits of a key are taken at once or none, a charge is taken before
//! the call and corrected after it, and nobody is refused, only told how long to
//! wait. Called through `admission/line.rs`, which lets callers wait.

pub mod bucket;
pub mod charging;
mod day;
pub mod limiter;
pub mod line;
pub(crate) mod messages;
mod scope;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::keys::KeyId;
use crate::limits::QUANTITIES;

pub use crate::limits::KeyLimits;
pub use limiter::Limiter;

/// What one call takes of the limits per minute. The default is a call that was
/// not made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// Of the limits on requests: 1, or 0 of a call that was not made.
    pub requests: u64,
    /// Of the limit on all tokens.
    pub tokens: u64,
    /// Of the limit on input tokens.
    pub input_tokens: u64,
    /// Of the limit on output tokens.
    pub output_tokens: u64,
}

impl Charge {
    /// In the order of [`KeyLimits::per_minute`].
    pub fn amounts(&self) -> [u64; QUANTITIES] {
        [
            self.requests,
            self.tokens,
            self.input_tokens,
            self.output_tokens,
        ]
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        self.each(other, u64::saturating_add)
    }

    /// What is left when another one is taken away; nothing less than zero.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.each(other, u64::saturating_sub)
    }

    /// No more than another one of anything.
    #[must_use]
    pub fn at_most(&self, other: &Self) -> Self {
        self.each(other, u64::min)
    }

    fn each(&self, other: &Self, join: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            requests: join(self.requests, other.requests),
            tokens: join(self.tokens, other.tokens),
            input_tokens: join(self.input_tokens, other.input_tokens),
            output_tokens: join(self.output_tokens, other.output_tokens),
        }
    }
}

/// A key that may be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Which key, or which account with all its keys.
    pub key: KeyId,
    /// Its limits over all models.
    pub limits: KeyLimits,
    /// Its limits in this lane.
    pub lane_limits: KeyLimits,
    /// How many more calls this replica may give it now; absent: any number.
    pub room: Option<u64>,
}

/// Whose call it is, for shares between teams.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The team.
    pub team: String,
    /// Its weight.
    pub weight: f64,
    /// What the call takes of the team's share, in tokens.
    pub cost: u64,
}

/// What one attempt to call a provider wants.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Unique among all attempts of all replicas. One that was asked for before, with an answer that
    /// was lost, takes nothing twice.
    pub attempt: String,
    /// What it takes now.
    pub charge: Charge,
    /// What it may take in the end; a lost attempt is charged with this.
    pub most: Charge,
    /// When the attempt is not settled by then, its asker has died: its place
    /// is free again and it is charged with the most it may have used.
    pub lasts: Duration,
    /// Whose it is.
    pub share: Share,
    /// Candidates that have been tried in vain for this decision.
    pub except: Vec<KeyId>,
}

/// The heads of one replica's waiting line, asked for together.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    /// Name of the provider.
    pub pool: &'a str,
    /// The line: all models that share their limits.
    pub lane: &'a str,
    /// Who asks: unique among all replicas.
    pub asker: &'a str,
    /// How much of a limit per minute may be taken at once.
    pub burst: Duration,
    /// Keys to choose from; at least one.
    pub candidates: &'a [Candidate],
    /// In the order in which they should be served.
    pub asks: &'a [Ask],
    /// Teams that wait in this replica, with their weights.
    pub waiting: &'a [(String, f64)],
}

impl Batch<'_> {
    /// What an ask gets when it is granted on a candidate.
    fn reservation(&self, ask: &Ask, candidate: &Candidate) -> Reservation {
        Reservation {
            attempt: ask.attempt.clone(),
            pool: self.pool.to_owned(),
            lane: self.lane.to_owned(),
            key: candidate.key.clone(),
            charge: ask.charge,
            most: ask.most,
            share: ask.share.clone(),
            burst: self.burst,
            lane_limits: candidate.lane_limits,
            shared: self.lanes_share_limits(),
        }
    }

    /// A key has limits over all lanes, so that the lines of the provider compete
    /// and teams keep their shares over all of them.
    pub fn lanes_share_limits(&self) -> bool {
        let mut limits = self.candidates.iter().map(|candidate| candidate.limits);
        limits.any(|limits| limits.limit_anything())
    }

    /// What the candidates' limits let through per second, in the cost of
    /// [`Share`]; 0 when no limit per minute says.
    pub fn rate(&self) -> f64 {
        let asks = self.asks.len().max(1) as f64;
        let cost = self.asks.iter().map(|ask| ask.share.cost).sum::<u64>() as f64 / asks;
        let of_limits = |limits: &KeyLimits| {
            let mut calls = f64::INFINITY;
            for (quantity, limit) in limits.per_minute().into_iter().enumerate() {
                let Some(limit) = limit else { continue };
                let amounts = self.asks.iter().map(|ask| ask.charge.amounts()[quantity]);
                let mean = amounts.sum::<u64>() as f64 / asks;
                calls = calls.min(limit as f64 / 60.0 / mean.max(f64::MIN_POSITIVE));
            }
            calls
        };
        let of_key = |candidate: &Candidate| {
            of_limits(&candidate.limits).min(of_limits(&candidate.lane_limits))
        };
        let calls: f64 = self.candidates.iter().map(of_key).sum();
        if calls.is_finite() { calls * cost } else { 0.0 }
    }
}

/// A granted attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Reservation {
    /// The attempt of the [`Ask`].
    pub attempt: String,
    /// Name of the provider.
    pub pool: String,
    /// The line.
    pub lane: String,
    /// The candidate that was chosen.
    pub key: KeyId,
    /// What was taken.
    pub charge: Charge,
    /// What is charged if it is never settled.
    pub most: Charge,
    /// Whose it is.
    pub share: Share,
    /// The burst it was taken under.
    pub burst: Duration,
    /// The key's limits in the lane when it was taken.
    pub lane_limits: KeyLimits,
    /// Lines of the provider shared limits when it was taken.
    pub shared: bool,
}

/// The answer to a [`Batch`].
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// One entry per ask, in their order; absent: nothing was taken for it.
    pub granted: Vec<Option<Reservation>>,
    /// When to ask again for those that were not granted; earlier is useless,
    /// unless something is settled meanwhile.
    pub wait: Duration,
}

/// How a limit stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitOutlook {
    /// The limit in force: configured, or what the provider's headers say when
    /// that is less. Absent: none.
    pub limit: Option<u64>,
    /// The provider's headers say less than was configured.
    pub lowered: bool,
    /// Taken within the last minute, of all replicas; an estimate.
    pub used: u64,
}

/// How a key stands in a lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyOutlook {
    /// How long it is held.
    pub held_for: Duration,
    /// Calls in flight, of all replicas and lanes.
    pub in_flight: u64,
    /// Limits of the key over all lanes, in the order of [`Charge::amounts`].
    pub key_wide: [LimitOutlook; QUANTITIES],
    /// Limits of the key in this lane.
    pub in_lane: [LimitOutlook; QUANTITIES],
    /// Requests of the last 24 hours: of the key, and in this lane.
    pub requests_of_day: [u64; 2],
}
