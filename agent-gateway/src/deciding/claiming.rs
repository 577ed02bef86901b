//! The claim of a decision address: taking it, keeping it while the question is
//! being answered, and being sure of it before a provider is called, also after the
//! store was away. Owns what is known of the claim between two renewals. Called by
//! `deciding.rs` and, before a call is paid, by `paying.rs`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::tasks::with_causes;
use parking_lot::Mutex;

use super::{Answer, Decider, Question};
use crate::decide_error::DecideError;
use crate::decision::DecisionAddress;
use crate::ledger::{Claim, Ledger};
use crate::outbox::OutboxMessage;
use crate::store_error::StoreError;

/// Looks at an address that another replica is asking about.
const ELSEWHERE_DELAYS: DelayPolicy = DelayPolicy {
    initial: Duration::from_millis(20),
    factor: 1.5,
    cap: Duration::from_millis(500),
    jitter: 0.2,
    give_up_after: None,
};

/// Between tries at a renewal that failed: a claim must be renewed before
/// another replica looks, once the store is back.
const RENEW_AGAIN: Duration = Duration::from_millis(200);

/// Every claim has expired by itself by then, wherever it was made.
const CLAIMS_LAST: Duration = Duration::from_secs(60);

/// What is known of a question's claim.
pub struct ClaimState {
    holder: String,
    /// It is ours until then without asking; absent: ask.
    sure_until: Mutex<Option<Instant>>,
}

impl ClaimState {
    /// Nothing is claimed yet; the holder's name is unique among all questions.
    pub fn new(holder: String) -> Self {
        Self {
            holder,
            sure_until: Mutex::default(),
        }
    }

    /// The address is ours without asking.
    fn is_sure(&self) -> bool {
        let sure_until = *self.sure_until.lock();
        sure_until.is_some_and(|until| Instant::now() < until)
    }
}

impl Decider {
    /// Waits until the address is ours; returns what is recorded there instead. A
    /// question that ends here leaves no claim behind.
    pub(super) async fn claim(&self, question: &Question) -> Result<Option<Answer>, DecideError> {
        let Question {
            address, digest, ..
        } = question;
        let Some(state) = &question.claim else {
            return Ok(None);
        };
        let mut delays = Delays::new(ELSEWHERE_DELAYS);
        loop {
            let claim = self.claim_once(question, state).await;
            if claim.as_ref().is_err_and(StoreError::may_be_done) {
                self.outbox.post(self.release(question, state));
            }
            match claim? {
                Claim::Granted => return Ok(None),
                Claim::Recorded(decision) => {
                    return Ok(Some(Answer {
                        decision: decision.into(),
                        from_ledger: true,
                        joined: false,
                    }));
                }
                Claim::Conflict(other) => {
                    return Err(DecideError::conflict(address, other, digest.clone()));
                }
                Claim::HeldElsewhere => {
                    let delay = delays.next_delay().unwrap_or(ELSEWHERE_DELAYS.cap);
                    self.unpaid(question, tokio::time::sleep(delay)).await?;
                }
            }
        }
    }

    /// Renews the claim until dropped.
    pub(super) async fn keep_claim(&self, question: &Question) -> Infallible {
        let (Some(every), Some(state)) = (self.ledger.renew_every(), &question.claim) else {
            return std::future::pending().await;
        };
        let mut pause = every;
        loop {
            tokio::time::sleep(pause).await;
            pause = every;
            // Boxed, so that the pause, in which thousands are, needs little room.
            if let Err(error) = Box::pin(self.renew_claim(question, state)).await {
                pause = every.min(RENEW_AGAIN);
                if let Some(failures) = self.unrenewed.note() {
                    let (address, error) = (&question.address, with_causes(&error));
                    tracing::warn!(%address, error, failures, "claims not renewed");
                }
            }
        }
    }

    /// Looks whether the address is still ours, if there is any doubt: a renewal
    /// failed or is overdue.
    pub(super) async fn check_claim(&self, question: &Question) -> Result<(), DecideError> {
        let Some(state) = &question.claim else {
            return Ok(());
        };
        let sure = state.is_sure() || self.ledger.renew_every().is_none();
        if sure || self.renew_claim(question, state).await? {
            return Ok(());
        }
        Err(DecideError::ClaimLost {
            address: question.address.clone(),
        })
    }

    /// Gives the claim back; later, when that fails now.
    pub(super) async fn release_claim(&self, question: &Question) {
        if let Some(state) = &question.claim {
            // One that fails stays in the outbox.
            let _ = self.outbox.send(self.release(question, state)).await;
        }
    }

    fn release(&self, question: &Question, state: &ClaimState) -> OutboxMessage {
        let (address, holder) = (question.address.clone(), state.holder.clone());
        let key = format!("{address} {holder}");
        let holds = (Arc::clone(&self.ledger), address, holder);
        let release = |(ledger, address, holder): (Arc<dyn Ledger>, DecisionAddress, String)| async move {
            ledger.release(&address, &holder).await
        };
        OutboxMessage::new("claim not given back", key, CLAIMS_LAST, holds, release)
    }

    /// Renews the claim, or takes it again if it is gone and nobody else has it.
    /// Says whether it is ours now.
    async fn renew_claim(
        &self,
        question: &Question,
        state: &ClaimState,
    ) -> Result<bool, StoreError> {
        let began = Instant::now();
        // Whatever comes of it: until it is known, nobody may be sure.
        let renewed = self.ledger.renew(&question.address, &state.holder).await;
        if let Ok(true) = renewed {
            self.be_sure(state, began);
            return Ok(true);
        }
        *state.sure_until.lock() = None;
        renewed?;
        Ok(matches!(
            self.claim_once(question, state).await?,
            Claim::Granted
        ))
    }

    async fn claim_once(
        &self,
        question: &Question,
        state: &ClaimState,
    ) -> Result<Claim, StoreError> {
        let Question {
            address, digest, ..
        } = question;
        let began = Instant::now();
        let holder = &state.holder;
        let claim = self.ledger.claim(address, digest, holder).await?;
        if claim == Claim::Granted {
            self.be_sure(state, began);
        }
        Ok(claim)
    }

    /// A claim lasts three renewals; one that is late by a whole one is in doubt.
    fn be_sure(&self, state: &ClaimState, since: Instant) {
        let every = self.ledger.renew_every().unwrap_or_default();
        *state.sure_until.lock() = Some(since + every * 2);
    }
}
