//! The attempts of this process that are in flight, and what the draft of one question makes of them:
//! begun and ended here at once, for good only when the draft is kept. Called by `books.rs` and
//! `limiter.rs`.

use std::collections::{HashMap, HashSet};

use crate::admission::Charge;
use crate::keys::KeyId;

/// A call that was granted and is not settled.
#[derive(Clone, Debug)]
pub(super) struct OpenAttempt {
    /// Unique among all attempts.
    pub name: String,
    pub key: KeyId,
    pub lane: String,
    /// What was taken.
    pub charge: Charge,
    /// What it is charged with when it is lost.
    pub most: Charge,
    /// The most that it is charged with at all: of the key over all lanes, and in its lane.
    pub ceilings: [Charge; 2],
    /// When it counts as lost, in milliseconds since 1970.
    pub lost_at_ms: f64,
}

/// See the module.
#[derive(Default)]
pub(super) struct Attempts {
    open: HashMap<String, OpenAttempt>,
    begun: Vec<OpenAttempt>,
    ended: HashSet<String>,
    /// None of the open ones is lost before; looked up anew when it has come.
    none_lost_before_ms: f64,
}

impl Attempts {
    pub fn get(&self, name: &str) -> Option<&OpenAttempt> {
        if self.ended.contains(name) {
            return None;
        }
        let begun = || self.begun.iter().find(|attempt| attempt.name == name);
        self.open.get(name).or_else(begun)
    }

    pub fn begin(&mut self, attempt: OpenAttempt) {
        self.begun.push(attempt);
    }

    pub fn end(&mut self, name: &str) {
        self.ended.insert(name.to_owned());
    }

    /// Those whose time is over.
    pub fn lost(&mut self, now: f64) -> Vec<OpenAttempt> {
        if now < self.none_lost_before_ms {
            return Vec::new();
        }
        let times = self.open.values().map(|attempt| attempt.lost_at_ms);
        self.none_lost_before_ms = times.fold(f64::INFINITY, f64::min);
        let lost = self.open.values().filter(|one| one.lost_at_ms <= now);
        lost.cloned().collect()
    }

    /// What was begun and ended has happened.
    pub fn keep(&mut self) {
        for attempt in self.begun.drain(..) {
            self.none_lost_before_ms = self.none_lost_before_ms.min(attempt.lost_at_ms);
            self.open.insert(attempt.name.clone(), attempt);
        }
        for name in self.ended.drain() {
            self.open.remove(&name);
        }
    }

    /// What was begun and ended has not happened.
    pub fn forget(&mut self) {
        self.begun.clear();
        self.ended.clear();
    }
}
