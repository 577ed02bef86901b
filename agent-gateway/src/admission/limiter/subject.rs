//! What is asked of the limiter or told to it, and which limits and shares that is about. Called by
//! `limiter.rs`.

use std::time::Duration;

use super::books::{Books, ScopeName, SharesName};
use crate::admission::{Batch, Candidate, Charge, Reservation};
use crate::keys::KeyId;
use crate::limits::Signals;

/// Something that asks nothing.
#[derive(Clone)]
pub(super) enum Note {
    Settled(Box<Settled>),
    Held {
        lane: String,
        key: KeyId,
        hold: Duration,
    },
}

#[derive(Clone)]
pub(super) struct Settled {
    pub reservation: Reservation,
    pub used: Charge,
    pub cost: u64,
    pub signals: Signals,
}

/// What a question is about: scopes, shares, and whether they have limits.
#[derive(Default)]
pub(super) struct Subject {
    pub scopes: Vec<(ScopeName, bool)>,
    pub shares: Vec<(SharesName, bool)>,
    /// Attempts that are asked for, and may be open already.
    pub attempts: Vec<String>,
}

impl Note {
    pub fn take(&self, books: &mut Books, now: f64) {
        match self {
            Self::Settled(settled) => {
                let Settled {
                    reservation,
                    used,
                    cost,
                    signals,
                } = &**settled;
                books.settle(reservation, used, *cost, signals, now);
            }
            Self::Held { lane, key, hold } => books.hold(lane, key, *hold, now),
        }
    }
}

impl Subject {
    pub fn of_batch(batch: &Batch<'_>) -> Self {
        let mut subject = Self::default();
        for candidate in batch.candidates {
            subject.candidate(candidate, batch.lane);
        }
        let limited = subject.scopes.iter().any(|(_, limited)| *limited);
        subject.shares.push((batch.shares_name(), limited));
        let attempts = batch.asks.iter().map(|ask| ask.attempt.clone());
        subject.attempts = attempts.collect();
        subject
    }

    pub fn candidate(&mut self, candidate: &Candidate, lane: &str) {
        let limited = candidate.limits.limit_anything() || candidate.lane_limits.limit_anything();
        let key = &candidate.key;
        self.scopes.push(((key.clone(), None), limited));
        self.scopes
            .push(((key.clone(), Some(lane.to_owned())), limited));
    }
}

impl Batch<'_> {
    /// Where what its teams are served is counted.
    pub(super) fn shares_name(&self) -> SharesName {
        (!self.lanes_share_limits()).then(|| self.lane.to_owned())
    }
}

impl Reservation {
    /// Where what its team is served is counted.
    pub(super) fn shares_name(&self) -> SharesName {
        (!self.shared).then(|| self.lane.clone())
    }
}
