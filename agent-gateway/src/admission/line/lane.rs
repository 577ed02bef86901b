//! Lanes: all calls to one model of one provider, which share its limits, its
//! waiting line, the health of each key and what is known of the model's answers.
//! The terms of a lane (keys, limits) can be exchanged while calls wait. Built by
//! `routes.rs`, used by the asker of its line and by `deciding.rs`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_service_kit::complaint::Complaint;
use parking_lot::RwLock;

use super::Line;
use crate::admission::charging::UsageEstimator;
use crate::admission::{Candidate, Limiter};
use crate::catalogue::ChargeRule;
use crate::health::KeyHealth;
use crate::health::breaker::Circuit;
use crate::keys::PooledKey;
use crate::limits::KeyLimits;
use crate::outbox::Outbox;
use crate::providers::Provider;

/// One model of one provider.
pub struct Lane {
    /// The provider's name in the configuration.
    pub pool: String,
    /// The provider's name for the model.
    pub name: String,
    /// Who waits.
    pub line: Line,
    /// Who asks for it: unique among all replicas.
    pub asker: String,
    /// What its answers have used.
    pub usage_estimator: UsageEstimator,
    terms: RwLock<Arc<LaneTerms>>,
    complaint: Complaint,
}

/// What may change while calls wait.
pub struct LaneTerms {
    /// Its keys, in the order of the configuration.
    pub keys: Vec<LaneKey>,
    /// How much of a limit may be used at once.
    pub burst: Duration,
    /// After which pauses a dead key is tried again.
    pub dead_key_probes: Arc<[Duration]>,
    /// How its calls are charged.
    pub charge: ChargeRule,
    /// Who makes the calls.
    pub provider: Arc<dyn Provider>,
}

/// One key in one lane.
#[derive(Clone)]
pub struct LaneKey {
    /// The key.
    pub key: Arc<PooledKey>,
    /// Its limits over all models.
    pub limits: KeyLimits,
    /// Its limits for this model.
    pub lane_limits: KeyLimits,
    /// How it has done here lately; keys of one account share it.
    pub health: Arc<KeyHealth>,
}

impl Lane {
    /// A lane in which nobody waits yet.
    pub fn new(
        pool: &str,
        name: &str,
        owner: &str,
        limiter: Arc<Limiter>,
        outbox: Outbox,
        terms: LaneTerms,
    ) -> Self {
        Self {
            pool: pool.to_owned(),
            name: name.to_owned(),
            line: Line::new(limiter, outbox),
            asker: format!("{owner}:{name}"),
            usage_estimator: UsageEstimator::default(),
            terms: RwLock::new(Arc::new(terms)),
            complaint: Complaint::default(),
        }
    }

    /// The terms in force now.
    pub fn terms(&self) -> Arc<LaneTerms> {
        Arc::clone(&self.terms.read())
    }

    /// Exchanges the terms; who waits is served under the new ones. Of a key
    /// that stays, what is known of its health stays too, unless adaptive concurrency
    /// was switched on or off.
    pub fn set_terms(&self, mut terms: LaneTerms) {
        let before = self.terms();
        for key in &mut terms.keys {
            let mut known = before.keys.iter();
            let known = known.find(|known| known.key.counted_as == key.key.counted_as);
            if let Some(known) = known.filter(|known| known.is_adaptive() == key.is_adaptive()) {
                key.health = Arc::clone(&known.health);
            }
        }
        *self.terms.write() = Arc::new(terms);
        self.line.wake();
    }

    /// Logs that the provider fails, but not a line for each of a thousand callers.
    pub fn complain(&self, reason: &str) {
        if let Some(failures) = self.complaint.note() {
            let (provider, model) = (&self.pool, &self.name);
            tracing::warn!(
                provider,
                model,
                failures,
                reason,
                "provider calls fail and are tried again"
            );
        }
    }
}

impl LaneTerms {
    /// Keys that are not out of use, and those that are to be tried again now.
    pub fn usable_keys(&self, now: Instant) -> impl Iterator<Item = &LaneKey> {
        let keys = self.keys.iter();
        keys.filter(move |key| key.key.may_be_called(now))
    }

    /// Why no key is left, one reason per key.
    pub fn quarantine_reasons(&self, now: Instant) -> String {
        if self.keys.is_empty() {
            return "none is configured for it".to_owned();
        }
        let reasons = self.keys.iter().filter_map(|key| {
            let out = key.key.quarantine()?;
            let source = &key.key.source;
            let next = out.next_probe.map_or("not tried again".to_owned(), |at| {
                let left = Duration::from_secs(at.saturating_duration_since(now).as_secs());
                let left = humantime_serde::re::humantime::format_duration(left);
                format!("next try in {left}")
            });
            Some(format!(
                "{source}: {} ({next}; `agon gateway revive` puts it back at once)",
                out.reason
            ))
        });
        reasons.collect::<Vec<_>>().join("; ")
    }

    /// What the provider said last with any of these keys; empty when it has not complained.
    pub fn last_error(&self) -> String {
        let errors = self.keys.iter().map(|key| key.key.counters.errors().last);
        errors
            .rev()
            .find(|error| !error.is_empty())
            .unwrap_or_default()
    }
}

impl LaneKey {
    /// What the limiter needs to know.
    pub fn candidate(&self, now: Instant) -> Candidate {
        Candidate {
            key: self.key.counted_as.clone(),
            limits: self.limits,
            lane_limits: self.lane_limits,
            room: self.room(now),
        }
    }

    /// How many more calls its health allows now; absent: any number.
    pub fn room(&self, now: Instant) -> Option<u64> {
        self.health.room(now)
    }

    /// When its circuit may be tried again, if it is open.
    pub fn next_look(&self, now: Instant) -> Option<Instant> {
        self.health.next_look(now)
    }

    /// Its circuit lets nothing through now.
    pub fn circuit_is_open(&self, now: Instant) -> bool {
        self.health.circuit_is_open(now)
    }

    /// Its server failed lately and has not answered since.
    pub fn is_down(&self, now: Instant) -> bool {
        self.health.outlook(now).circuit != Circuit::Closed
    }

    fn is_adaptive(&self) -> bool {
        self.limits.adaptive || self.lane_limits.adaptive
    }
}
