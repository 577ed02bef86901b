//! One decision, from top to bottom: claim the address, wait for quota, call,
//! settle, record. Owns the order of these steps and the patience with a
//! failing provider; the steps themselves live in the ledger, the admission and
//! the providers. Runs detached inside a flight, started by `service.rs`.

mod recording;
mod troubles;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::tasks::with_causes;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::admission::{Limiter, Reservation};
use crate::complaint::Complaint;
use crate::decide_error::DecideError;
use crate::decision::{Decision, DecisionAddress, Request, RequestDigest};
use crate::estimate;
use crate::flights::Passengers;
use crate::keys::PooledKey;
use crate::ledger::{Claim, Ledger};
use crate::metrics;
use crate::providers::{Call, Refusal, Remedy, Reply};
use crate::routes::{Pool, Route, Routes};
use crate::status::{Book, Tally};

use troubles::Troubles;

/// Beyond the timeout of its call an attempt needs only a moment to be settled;
/// after this its asker has died.
const SETTLE_MARGIN: Duration = Duration::from_secs(30);

/// Looks at an address that another replica is asking about.
const ELSEWHERE_DELAYS: DelayPolicy = DelayPolicy {
    initial: Duration::from_millis(20),
    factor: 1.5,
    cap: Duration::from_millis(500),
    jitter: 0.2,
    give_up_after: None,
};

/// What a flight ends with.
pub type Outcome = Result<Answer, Arc<DecideError>>;

/// A decision that stands recorded.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The decision.
    pub decision: Arc<Decision>,
    /// It was there before this flight.
    pub from_ledger: bool,
}

/// One question, with everything that belongs to it.
pub struct Question {
    /// Where the answer belongs.
    pub address: DecisionAddress,
    /// What is asked.
    pub request: Request,
    /// Its digest.
    pub digest: RequestDigest,
    /// Where it is counted.
    pub tally: Tally,
}

/// Makes decisions.
pub struct Decider {
    /// Where decisions are recorded.
    pub ledger: Arc<dyn Ledger>,
    /// What keeps the limits.
    pub limiter: Arc<dyn Limiter>,
    /// How models are reached.
    pub routes: Routes,
    /// What has been counted.
    pub book: Book,
    /// Unique per gateway process.
    pub owner: String,
    /// Counts claims and attempts, to name them.
    pub named: AtomicU64,
    /// Answers that the ledger does not take now.
    pub unrecorded: Complaint,
    /// Cancelled when the gateway stops: nothing unpaid goes on from then.
    pub stopping: CancellationToken,
}

impl Decider {
    /// Answers a question, from the ledger or by asking.
    pub async fn decide(&self, question: Question, passengers: Passengers<Outcome>) -> Outcome {
        let outcome = self.claim_and_fill(&question, &passengers).await;
        match &outcome {
            Ok(answer) if answer.from_ledger => {
                question.tally.count_from_ledger();
                metrics::count_decision("ledger");
            }
            Ok(_) => metrics::count_decision("called"),
            Err(error) => {
                metrics::count_decision("failed");
                if let DecideError::Conflict { .. } = error {
                    tracing::error!(%error, "one decision address was asked two questions");
                }
            }
        }
        outcome.map_err(Arc::new)
    }

    async fn claim_and_fill(
        &self,
        question: &Question,
        passengers: &Passengers<Outcome>,
    ) -> Result<Answer, DecideError> {
        let Question {
            address, digest, ..
        } = question;
        let holder = self.unique_name();
        let mut delays = Delays::new(ELSEWHERE_DELAYS);
        loop {
            let claim = self.ledger.claim(address, digest, &holder).await?;
            match claim {
                Claim::Granted => break,
                Claim::Recorded(decision) => {
                    return Ok(Answer {
                        decision: Arc::new(decision),
                        from_ledger: true,
                    });
                }
                Claim::Conflict(other) => {
                    return Err(DecideError::conflict(address, other, digest.clone()));
                }
                Claim::HeldElsewhere => {
                    let delay = delays.next_delay().unwrap_or(ELSEWHERE_DELAYS.cap);
                    self.unpaid(passengers, tokio::time::sleep(delay)).await?;
                }
            }
        }
        let filled = tokio::select! {
            filled = self.fill(question, passengers) => filled,
            never = self.keep_claim(address, &holder) => match never {},
        };
        if filled.is_err()
            && let Err(error) = self.ledger.release(address, &holder).await
        {
            tracing::warn!(%address, error = %with_causes(&error), "claim not given back");
        }
        filled
    }

    /// Renews the claim until dropped.
    async fn keep_claim(
        &self,
        address: &DecisionAddress,
        holder: &str,
    ) -> std::convert::Infallible {
        let Some(every) = self.ledger.renew_every() else {
            return std::future::pending().await;
        };
        loop {
            tokio::time::sleep(every).await;
            if let Err(error) = self.ledger.renew(address, holder).await {
                tracing::warn!(%address, error = %with_causes(&error), "claim not renewed");
            }
        }
    }

    async fn fill(
        &self,
        question: &Question,
        passengers: &Passengers<Outcome>,
    ) -> Result<Answer, DecideError> {
        let route = self.routes.find(&question.request.model)?;
        let (reply, reservation) = self.ask(question, &route, passengers).await?;
        let usage = reply
            .usage
            .unwrap_or_else(|| estimate::usage(&question.request, &reply.text));
        metrics::count_tokens(&route.pool.keys.provider, &usage);
        let decision = Decision {
            request_digest: question.digest.clone(),
            reply: reply.text,
            answered_by: reply.answered_by,
            finish_reason: reply.finish_reason,
            usage,
            simulated: reply.simulated,
            model: route.model.name.clone(),
            cost: None,
            from_content_cache: false,
        };
        let settle = self.settle(&route.pool, &reservation, usage.total_tokens());
        let record = recording::record(
            self.ledger.as_ref(),
            &question.address,
            &decision,
            &self.stopping,
            &self.unrecorded,
        );
        let ((), standing) = tokio::join!(settle, record);
        let standing = standing?;
        if standing.request_digest != question.digest {
            let other = standing.request_digest;
            return Err(DecideError::conflict(
                &question.address,
                other,
                question.digest.clone(),
            ));
        }
        question.tally.count_decided(usage);
        Ok(Answer {
            decision: Arc::new(standing),
            from_ledger: false,
        })
    }

    /// Asks the provider until it answers, it refuses for good, or patience
    /// is over. The reservation of the answered attempt is not settled yet.
    async fn ask(
        &self,
        question: &Question,
        route: &Route,
        passengers: &Passengers<Outcome>,
    ) -> Result<(Reply, Reservation), DecideError> {
        let pool = &route.pool;
        let tokens = estimate::most_tokens(&question.request, &route.model);
        let mut troubles = Troubles::new(self.routes.config().patience());
        loop {
            let (reservation, key) = self
                .admit(question, route, tokens, passengers, &mut troubles)
                .await?;
            let began = Instant::now();
            let outcome = self.call(question, route, &key).await;
            let refusal = match outcome {
                Ok(reply) => return Ok((reply, reservation)),
                Err(refusal) => refusal,
            };
            let used = if refusal.maybe_used { tokens } else { 0 };
            self.settle(pool, &reservation, used).await;
            let delay = troubles.note(began.elapsed(), &refusal);
            tracing::debug!(
                address = %question.address, key_source = %key.source, reason = %refusal.reason,
                remedy = ?refusal.remedy, "provider call failed"
            );
            match refusal.remedy {
                Remedy::GiveUp => {
                    return Err(DecideError::Refused {
                        model: route.model.name.clone(),
                        reason: refusal.reason,
                    });
                }
                Remedy::AskWithLess | Remedy::RetryOtherKey => {}
                Remedy::QuarantineKey => {
                    pool.line
                        .change(async { key.put_in_quarantine(&refusal.reason) })
                        .await;
                }
                Remedy::HoldKey(_) => {
                    pool.complain(&refusal.reason);
                    self.hold(pool, &key, delay).await;
                    troubles.check(&route.model.name)?;
                }
                Remedy::Retry(_) | Remedy::RetryUnreadable => {
                    pool.complain(&refusal.reason);
                    troubles.check(&route.model.name)?;
                    self.unpaid(passengers, tokio::time::sleep(delay)).await?;
                }
            }
        }
    }

    /// Waits for quota. Time spent here is nobody's failure, except for what a
    /// provider's own refusal has put on top.
    async fn admit(
        &self,
        question: &Question,
        route: &Route,
        tokens: u64,
        passengers: &Passengers<Outcome>,
        troubles: &mut Troubles,
    ) -> Result<(Reservation, Arc<PooledKey>), DecideError> {
        let pool = &route.pool;
        let attempt = self.unique_name();
        let lasts = route.model.provider.timeout + SETTLE_MARGIN;
        let began = Instant::now();
        let waiting = question.tally.waiting();
        let line = pool
            .line
            .admit(self.limiter.as_ref(), &pool.keys, &attempt, tokens, lasts);
        let admitted = self.unpaid(passengers, line).await??;
        drop(waiting);
        metrics::observe_quota_wait(began.elapsed());
        troubles.note_wait(began.elapsed());
        let chosen = admitted.and_then(|reservation| {
            let key = Arc::clone(pool.keys.find(&reservation.key)?);
            Some((reservation, key))
        });
        chosen.ok_or_else(|| DecideError::NoKeyLeft {
            provider: pool.keys.provider.clone(),
            reasons: pool.keys.quarantine_reasons(),
        })
    }

    async fn call(
        &self,
        question: &Question,
        route: &Route,
        key: &PooledKey,
    ) -> Result<Reply, Refusal> {
        let provider = route.pool.keys.provider.as_str();
        let span = tracing::debug_span!(
            "provider_call", provider, model = %route.model.model, key_source = %key.source
        );
        let _at_provider = question.tally.at_provider();
        let _in_flight = key.counters.begin();
        let began = Instant::now();
        let call = Call {
            model: &route.model,
            request: &question.request,
            key: key.secret(),
        };
        let outcome = route.pool.provider.call(call).instrument(span).await;
        let named = match &outcome {
            Ok(_) => "ok",
            Err(Refusal {
                remedy: Remedy::HoldKey(_) | Remedy::QuarantineKey,
                ..
            }) => {
                key.counters.count_refused();
                "refused"
            }
            Err(_) => {
                key.counters.count_failed();
                "failed"
            }
        };
        metrics::count_request(provider, named, began.elapsed());
        outcome
    }

    /// A settlement that fails is no reason to fail a decision: the attempt
    /// then stays charged as estimated until it counts as lost.
    async fn settle(&self, pool: &Pool, reservation: &Reservation, used_tokens: u64) {
        let settled = pool
            .line
            .change(self.limiter.settle(reservation, used_tokens))
            .await;
        if let Err(error) = settled {
            tracing::warn!(error = %with_causes(&error), "attempt not settled");
        }
    }

    async fn hold(&self, pool: &Pool, key: &PooledKey, hold: Duration) {
        let (provider, id) = (pool.keys.provider.as_str(), &key.candidate.key);
        let held = pool
            .line
            .change(self.limiter.hold(provider, id, hold))
            .await;
        if let Err(error) = held {
            tracing::warn!(error = %with_causes(&error), "key not held");
        }
    }

    /// A name that no flight or attempt of any replica has had.
    fn unique_name(&self) -> String {
        let number = self.named.fetch_add(1, Ordering::Relaxed);
        format!("{}-{number}", self.owner)
    }

    /// Does something that costs nothing to give up: not when the gateway
    /// stops, and not for nobody.
    async fn unpaid<F: Future>(
        &self,
        passengers: &Passengers<Outcome>,
        work: F,
    ) -> Result<F::Output, DecideError> {
        tokio::select! {
            biased;
            () = self.stopping.cancelled() => Err(DecideError::Stopping),
            () = passengers.all_gone() => Err(DecideError::Abandoned),
            output = work => Ok(output),
        }
    }
}
