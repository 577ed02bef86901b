//! The patience of one decision with its provider: how long to stay away after
//! each failure, and when enough is enough. Time spent waiting for quota is not
//! the provider's failure and does not count. Called by `deciding.rs`.

use std::time::Duration;

use agon_service_kit::backoff::{DelayPolicy, Delays};

use crate::decide_error::DecideError;
use crate::providers::{Refusal, Remedy};

/// Delays between tries at a failing provider: soon at first, because most
/// failures are single, then gently.
const PROVIDER_DELAYS: DelayPolicy = DelayPolicy {
    initial: Duration::from_millis(200),
    factor: 2.0,
    cap: Duration::from_secs(20),
    jitter: 0.3,
    give_up_after: None,
};

/// The bad luck of one decision with its provider.
pub(super) struct Troubles {
    patience: Duration,
    delays: Delays,
    spent: Duration,
    held: Duration,
    tries: u32,
    last: String,
}

impl Troubles {
    pub(super) fn new(patience: Duration) -> Self {
        let delays = Delays::new(PROVIDER_DELAYS);
        let (spent, held) = (Duration::ZERO, Duration::ZERO);
        Self {
            patience,
            delays,
            spent,
            held,
            tries: 0,
            last: String::new(),
        }
    }

    /// Takes note of a failed call; says how long to stay away.
    pub(super) fn note(&mut self, took: Duration, refusal: &Refusal) -> Duration {
        self.tries += 1;
        self.last.clone_from(&refusal.reason);
        self.spent += took;
        let own = self.delays.next_delay().unwrap_or(PROVIDER_DELAYS.cap);
        match refusal.remedy {
            Remedy::HoldKey(after) => {
                self.held = after.unwrap_or(own);
                self.held
            }
            Remedy::Retry(after) => {
                let delay = after.map_or(own, |after| after.max(own));
                self.spent += delay;
                delay
            }
            Remedy::QuarantineKey | Remedy::AskWithLess | Remedy::GiveUp => Duration::ZERO,
        }
    }

    /// Of a wait for quota, the part that a hold of our own making explains
    /// counts as spent on the provider.
    pub(super) fn note_wait(&mut self, waited: Duration) {
        self.spent += waited.min(std::mem::take(&mut self.held));
    }

    pub(super) fn check(&self, model: &str) -> Result<(), DecideError> {
        if self.spent < self.patience {
            return Ok(());
        }
        Err(DecideError::PatienceOver {
            model: model.to_owned(),
            tries: self.tries,
            last: self.last.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn refusal(remedy: Remedy) -> Refusal {
        Refusal {
            remedy,
            reason: "why".to_owned(),
            maybe_used: false,
        }
    }

    #[test]
    fn waiting_for_quota_is_not_the_providers_failure() {
        let mut troubles = Troubles::new(10 * SECOND);
        troubles.note_wait(1_000 * SECOND);
        assert!(troubles.check("m").is_ok());
    }

    #[test]
    fn time_at_the_provider_and_asked_for_delays_count() {
        let mut troubles = Troubles::new(10 * SECOND);
        let delay = troubles.note(2 * SECOND, &refusal(Remedy::Retry(Some(7 * SECOND))));
        assert_eq!(delay, 7 * SECOND);
        assert!(troubles.check("m").is_ok());
        troubles.note(SECOND, &refusal(Remedy::Retry(None)));
        let over = troubles.check("m").unwrap_err().to_string();
        assert!(over.contains("2 tries, at last: why"), "{over}");
    }

    #[test]
    fn hold_counts_only_as_far_as_it_was_waited_for() {
        let mut troubles = Troubles::new(10 * SECOND);
        let hold = refusal(Remedy::HoldKey(Some(3_600 * SECOND)));
        assert_eq!(troubles.note(SECOND, &hold), 3_600 * SECOND);
        // Another key was free after a second.
        troubles.note_wait(SECOND);
        assert!(troubles.check("m").is_ok());
        troubles.note(SECOND, &hold);
        troubles.note_wait(20 * SECOND);
        assert!(troubles.check("m").is_err());
    }
}
