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

/// So many unreadable answers in a row are no accident: somebody else answers
/// at the address. With the delays above this takes half a minute.
const MOST_UNREADABLE: u32 = 8;

/// The bad luck of one decision with its provider.
pub(super) struct RetryBudget {
    patience: Duration,
    delays: Delays,
    spent: Duration,
    held: Duration,
    tries: u32,
    unreadable_in_a_row: u32,
    last: String,
}

impl RetryBudget {
    pub(super) fn new(patience: Duration) -> Self {
        let delays = Delays::new(PROVIDER_DELAYS);
        let (spent, held) = (Duration::ZERO, Duration::ZERO);
        Self {
            patience,
            delays,
            spent,
            held,
            tries: 0,
            unreadable_in_a_row: 0,
            last: String::new(),
        }
    }

    /// Takes note of a failed call; says how long to stay away.
    pub(super) fn note(&mut self, took: Duration, refusal: &Refusal) -> Duration {
        self.tries += 1;
        self.last.clone_from(&refusal.reason);
        self.spent += took;
        let own = self.delays.next_delay().unwrap_or(PROVIDER_DELAYS.cap);
        self.unreadable_in_a_row = match refusal.remedy {
            Remedy::RetryUnreadable => self.unreadable_in_a_row + 1,
            _ => 0,
        };
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
            Remedy::RetryUnreadable => {
                self.spent += own;
                own
            }
            Remedy::QuarantineKey
            | Remedy::RetryOtherKey
            | Remedy::AskWithLess
            | Remedy::GiveUp => Duration::ZERO,
        }
    }

    /// Of a wait for quota, the part that a hold of our own making explains
    /// counts as spent on the provider; so does the part in which its circuit
    /// was open on every key.
    pub(super) fn note_wait(&mut self, waited: Duration, down: Duration) {
        let held = std::mem::take(&mut self.held);
        self.spent += waited.min(held.max(down));
    }

    /// How much longer a failing provider is put up with.
    pub(super) fn patience_left(&self) -> Duration {
        self.patience.saturating_sub(self.spent)
    }

    /// Takes what the provider answered others, where it has not answered this question.
    pub(super) fn take_last_of_others(&mut self, reason: &str) {
        if self.last.is_empty() {
            reason.clone_into(&mut self.last);
        }
    }

    /// What the provider said last.
    pub(super) fn last(&self) -> &str {
        &self.last
    }

    pub(super) fn check(&self, model: &str) -> Result<(), DecideError> {
        if self.unreadable_in_a_row >= MOST_UNREADABLE {
            return Err(DecideError::NotItsProtocol {
                model: model.to_owned(),
                last: self.last.clone(),
            });
        }
        if self.spent < self.patience {
            return Ok(());
        }
        Err(self.over(model))
    }

    /// Patience is over.
    pub(super) fn over(&self, model: &str) -> DecideError {
        let last = match self.last.as_str() {
            "" => "its circuit is open, other calls failed",
            last => last,
        };
        DecideError::PatienceOver {
            model: model.to_owned(),
            tries: self.tries,
            last: last.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_service_kit::status::ErrorClass;

    use super::*;
    use crate::providers::Arrived;

    const SECOND: Duration = Duration::from_secs(1);

    fn refusal(remedy: Remedy) -> Refusal {
        Refusal {
            remedy,
            reason: "why".to_owned(),
            arrived: Arrived::Refused,
            overloaded: false,
            signals: Box::default(),
        }
    }

    #[test]
    fn waiting_for_quota_is_not_the_providers_failure() {
        let mut retry_budget = RetryBudget::new(10 * SECOND);
        retry_budget.note_wait(1_000 * SECOND, Duration::ZERO);
        assert!(retry_budget.check("m").is_ok());
    }

    #[test]
    fn time_at_the_provider_and_asked_for_delays_count() {
        let mut retry_budget = RetryBudget::new(10 * SECOND);
        let delay = retry_budget.note(2 * SECOND, &refusal(Remedy::Retry(Some(7 * SECOND))));
        assert_eq!(delay, 7 * SECOND);
        assert!(retry_budget.check("m").is_ok());
        retry_budget.note(SECOND, &refusal(Remedy::Retry(None)));
        let over = retry_budget.check("m").unwrap_err().to_string();
        assert!(over.contains("no answer after 2 attempts"), "{over}");
    }

    #[test]
    fn unreadable_answers_in_a_row_end_long_patience() {
        let mut retry_budget = RetryBudget::new(10_000 * SECOND);
        let mut noted = |remedy, times| {
            for _ in 0..times {
                retry_budget.note(SECOND, &refusal(remedy));
            }
            retry_budget.check("m")
        };
        assert!(noted(Remedy::RetryUnreadable, 7).is_ok());
        assert!(noted(Remedy::Retry(None), 9).is_ok());
        assert!(noted(Remedy::RetryUnreadable, 7).is_ok());
        let error = noted(Remedy::RetryUnreadable, 1).unwrap_err();
        assert_eq!(error.class(), ErrorClass::GaveUp);
        let said = error.to_string();
        assert!(
            said.contains("the provider answers, but not in its protocol: why"),
            "{said}"
        );
    }

    #[test]
    fn waiting_for_a_circuit_to_close_counts() {
        let mut retry_budget = RetryBudget::new(10 * SECOND);
        retry_budget.note_wait(30 * SECOND, 4 * SECOND);
        assert_eq!(retry_budget.patience_left(), 6 * SECOND);
        retry_budget.note_wait(30 * SECOND, 6 * SECOND);
        let over = retry_budget.check("m").unwrap_err().to_string();
        assert!(over.contains("its circuit is open"), "{over}");
    }

    #[test]
    fn hold_counts_only_as_far_as_it_was_waited_for() {
        let mut retry_budget = RetryBudget::new(10 * SECOND);
        let hold = refusal(Remedy::HoldKey(Some(3_600 * SECOND)));
        assert_eq!(retry_budget.note(SECOND, &hold), 3_600 * SECOND);
        // Another key was free after a second.
        retry_budget.note_wait(SECOND, Duration::ZERO);
        assert!(retry_budget.check("m").is_ok());
        retry_budget.note(SECOND, &hold);
        retry_budget.note_wait(20 * SECOND, Duration::ZERO);
        assert!(retry_budget.check("m").is_err());
    }
}
