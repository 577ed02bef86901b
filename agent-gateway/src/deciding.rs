//! One decision, from top to bottom: claim the address, ask the model or its
//! fall-backs (`deciding/asking.rs`: wait for quota, call, be patient), settle,
//! record. Owns the order of these steps; the steps themselves live in the ledger,
//! the admission and the providers. Runs detached from its callers, started
//! by `deciding/joining.rs`.

mod asking;
mod at_door;
mod caching;
mod calls;
mod claimed_usage;
mod claiming;
mod hedging;
mod joining;
mod paying;
mod provider_calls;
mod recording;
mod retry_budget;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use agon_service_kit::complaint::Complaint;
use agon_service_kit::tasks::Tasks;
use tokio_util::sync::CancellationToken;

use crate::admission::line::lane::Lane;
use crate::admission::{Charge, Limiter, charging};
use crate::budgets::Budgets;
use crate::budgets::quote::DecisionCost;
use crate::caller::Caller;
use crate::decide_error::DecideError;
use crate::decision::{Decision, DecisionAddress, Logprobs, Request, RequestDigest, Usage};
use crate::door_store::DoorStore;
use crate::learnt_store::LearntStore;
use crate::ledger::Ledger;
use crate::limits::Signals;
use crate::metrics;
use crate::outbox::Outbox;
use crate::routes::{Route, Routes};
use crate::single_flight::{SingleFlight, Waiters};
use crate::tally::{Tallies, Tally};

pub use caching::SharedCache;
pub use claiming::ClaimState;
pub use provider_calls::ProviderCalls;
pub use recording::{LostAnswers, Recorder};

use caching::CacheLookup;
use calls::{AdmittedCall, AnsweredCall};

/// What a decision ends with.
pub type Outcome = Result<Answer, Arc<DecideError>>;

/// A decision that stands recorded.
#[derive(Clone, Debug)]
pub struct Answer {
    pub decision: Arc<Decision>,
    /// It was recorded before.
    pub from_ledger: bool,
    /// Somebody else had asked for it and was being answered.
    pub joined: bool,
}

/// One question, with everything that belongs to it.
pub struct Question {
    pub address: DecisionAddress,
    /// Who asks, and on which terms.
    pub caller: Caller,
    pub request: Request,
    pub digest: RequestDigest,
    pub tally: Tally,
    /// What its calls have cost so far.
    pub paid: DecisionCost,
    /// A slow call of it was made once more.
    pub hedged: AtomicBool,
    /// Its claim of the address; absent where nobody else can ask under it, now or later.
    pub claim: Option<Arc<ClaimState>>,
    /// Those who wait for the answer; absent: what is paid for goes on without them.
    pub waiters: Option<Waiters<Outcome>>,
}

impl Question {
    /// Completes when nobody waits for the answer any more.
    async fn abandoned(&self) {
        match &self.waiters {
            Some(waiters) => waiters.all_gone().await,
            None => std::future::pending().await,
        }
    }
}

/// How far a chain of models got.
enum ChainResult {
    Answered(Arc<Route>, Box<AnsweredCall>),
    /// The next one is a door.
    Door {
        door: String,
        model: String,
    },
}

/// Makes decisions.
pub struct Decider {
    pub ledger: Arc<dyn Ledger>,
    pub limiter: Arc<Limiter>,
    pub budgets: Budgets,
    pub routes: Routes,
    /// Where replicas share what they learnt; absent without a Redis.
    pub learnt_store: Option<Arc<LearntStore>>,
    pub content_cache: SharedCache,
    /// Where people and other programs are asked.
    pub doors: Arc<dyn DoorStore>,
    pub tallies: Tallies,
    /// Unique per gateway process.
    pub owner: String,
    /// Counts claims and attempts, to name them.
    pub named: AtomicU64,
    /// What the stores are to be told when they are back.
    pub outbox: Outbox,
    pub provider_calls: ProviderCalls,
    pub recorder: Recorder,
    pub single_flight: Arc<SingleFlight<Outcome>>,
    /// Claims that are not renewed now.
    pub unrenewed: Complaint,
    /// Itself, for calls that outlive their decision.
    pub me: Weak<Decider>,
    /// Where those run.
    pub tasks: Tasks,
    /// Cancelled when the gateway stops: nothing unpaid goes on from then.
    pub stopping: CancellationToken,
}

impl Decider {
    /// Answers a question, from the ledger or by asking. Boxed, because every
    /// future that passes it on would make room for it once more.
    async fn answer(&self, question: Box<Question>) -> Outcome {
        let outcome = self.claim_and_fill(&question).await;
        let outcome = outcome.and_then(|answer| has_what_is_required(&question, answer));
        match &outcome {
            Ok(answer) if answer.from_ledger => {
                question.tally.count_from_ledger();
                metrics::count_decision("ledger");
            }
            Ok(answer) if answer.decision.from_content_cache => {
                metrics::count_decision("content_cache");
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

    async fn claim_and_fill(&self, question: &Question) -> Result<Answer, DecideError> {
        loop {
            // Boxed but for the wait: thousands wait at once.
            if let Some(answer) = Box::pin(self.claim(question)).await? {
                return Ok(answer);
            }
            let filled = tokio::select! {
                filled = self.fill(question) => filled,
                never = self.keep_claim(question) => match never {},
            };
            match filled {
                // Nothing was paid; whoever has it now may answer for both.
                Err(DecideError::ClaimLost { .. }) => continue,
                Err(_) => Box::pin(self.release_claim(question)).await,
                Ok(_) => {}
            }
            return filled;
        }
    }

    /// From the content cache, if the caller wants that, or by asking.
    async fn fill(&self, question: &Question) -> Result<Answer, DecideError> {
        let duty = match self.look_up(question).await? {
            CacheLookup::Hit(decision) => return self.record_cached(question, decision).await,
            CacheLookup::Miss(duty) => duty,
        };
        let filled = self.fill_by_asking(question).await;
        if let Some(duty) = duty {
            let outcome = filled.as_ref().map(|answer| answer.decision.as_ref());
            self.keep_in_cache(duty, question, outcome).await;
        }
        filled
    }

    async fn fill_by_asking(&self, question: &Question) -> Result<Answer, DecideError> {
        // What comes after the wait is boxed: thousands wait at once, and a future
        // is as large as its largest part.
        match self.ask_in_turn(question).await? {
            ChainResult::Answered(route, answered) => {
                Box::pin(self.keep(question, &route, *answered)).await
            }
            ChainResult::Door { door, model } => {
                Box::pin(self.fill_at_door(question, door, model)).await
            }
        }
    }

    /// Records an answer, charges it and settles its attempt.
    async fn keep(
        &self,
        question: &Question,
        route: &Route,
        answered: AnsweredCall,
    ) -> Result<Answer, DecideError> {
        let AnsweredCall {
            reply,
            usage,
            attempt,
            payment,
        } = answered;
        metrics::count_tokens(&route.lane.pool, &usage);
        let charged = payment.used(reply.usage, usage);
        question.paid.add(payment.cost(charged));
        let decision = Decision {
            request_digest: question.digest.clone(),
            reply: reply.text,
            answered_by: reply.answered_by,
            finish_reason: reply.finish_reason,
            usage,
            simulated: reply.simulated,
            model: route.model.name.clone(),
            cost: question.paid.sum(),
            from_content_cache: false,
            reasoning: (!reply.reasoning.is_empty()).then(|| reply.reasoning.into()),
            applied: Some(Box::new(reply.applied)),
            logprobs: (!reply.logprobs.is_empty()).then(|| Box::new(Logprobs(reply.logprobs))),
        };
        let record = self.record(question, decision);
        // The cost goes first: a crash in between may leave a cost without its
        // decision, which is paid again then, but no decision without its cost.
        let pay = self.pay(question, &payment, charged);
        let used = charging::used(attempt.charge_rule, &usage, &attempt.charge);
        let (lane, cost) = (&route.lane, usage.total_tokens());
        let ((), standing) = tokio::join!(biased; pay, record);
        // Only the next calls need that: the caller does not wait for it.
        self.count_settled(lane, &attempt, cost);
        lane.line
            .settle_later(&attempt.reservation, used, cost, reply.signals);
        let standing = standing?;
        let used = standing.usage;
        self.stands(question, standing, used)
    }

    /// Returns what stands under the address once it is recorded. Nobody can ask for what stands
    /// under an address that was made up for one request, so that goes into no ledger.
    async fn record(
        &self,
        question: &Question,
        decision: Decision,
    ) -> Result<Decision, DecideError> {
        match question.claim {
            Some(_) => self.recorder.record(&question.address, &decision).await,
            None => Ok(decision),
        }
    }

    /// What is recorded is what everybody gets, unless it answers another request.
    /// Counted with what its call has used.
    fn stands(
        &self,
        question: &Question,
        standing: Decision,
        used: Usage,
    ) -> Result<Answer, DecideError> {
        if standing.request_digest != question.digest {
            let (address, asked) = (&question.address, question.digest.clone());
            return Err(DecideError::conflict(
                address,
                standing.request_digest,
                asked,
            ));
        }
        question.tally.count_decided(used);
        Ok(Answer {
            decision: Arc::new(standing),
            from_ledger: false,
            joined: false,
        })
    }

    /// Asks the model and, when it cannot answer, its fall-backs in their order,
    /// up to a door: whoever is behind it can always answer.
    async fn ask_in_turn(&self, question: &Question) -> Result<ChainResult, DecideError> {
        let Request {
            model,
            fallback_models,
            ..
        } = &question.request;
        let mut left = fallback_models.iter();
        let mut model = model;
        loop {
            self.check_origin(question, model)?;
            if let Some(door) = self.routes.door(model)? {
                let model = model.clone();
                return Ok(ChainResult::Door { door, model });
            }
            let next = left.next();
            let (route, asked) = self
                .ask_wherever_it_is(question, model, next.is_some())
                .await?;
            match (asked, next) {
                (Ok(answered), _) => return Ok(ChainResult::Answered(route, answered)),
                (Err(error), Some(next)) if error.lets_another_model_try() => {
                    tracing::info!(address = %question.address, %error, next, "asking a fall-back");
                    model = next;
                }
                (Err(error), _) => return Err(error),
            }
        }
    }

    /// A model that is another one now is not asked in the place of the one that was meant.
    fn check_origin(&self, question: &Question, model: &str) -> Result<(), DecideError> {
        let expected = question.caller.expected_origins.iter();
        let Some((_, expected)) = expected.into_iter().find(|(name, _)| name == model) else {
            return Ok(());
        };
        let origin = self.routes.origin(model)?;
        if *expected == origin {
            return Ok(());
        }
        Err(DecideError::OtherOrigin {
            model: model.to_owned(),
            now: origin.to_string().into(),
            expected: expected.to_string().into(),
        })
    }

    /// Asks one model, again where it is now when its lane is closed while the
    /// call waits: its provider has moved, or it has left the configuration.
    async fn ask_wherever_it_is(
        &self,
        question: &Question,
        model: &str,
        has_alternative: bool,
    ) -> Result<(Arc<Route>, Result<Box<AnsweredCall>, DecideError>), DecideError> {
        let mut route = self.routes.find(model)?;
        loop {
            let asked = self.ask(question, &route, has_alternative).await;
            match (asked, self.routes.find(model)) {
                (Err(DecideError::ModelGone { .. }), Ok(now))
                    if !Arc::ptr_eq(&now.lane, &route.lane) =>
                {
                    route = now;
                }
                (asked, _) => return Ok((route, asked)),
            }
        }
    }

    fn count_settled(&self, lane: &Lane, attempt: &AdmittedCall, cost: u64) {
        let counted = attempt.reservation.share.cost;
        lane.line.correct(&attempt.place, counted, cost);
        metrics::count_settled_tokens(&lane.pool, cost);
    }

    /// A settlement that fails is no reason to fail a decision: it is made when
    /// the store is back; until then the attempt keeps its place.
    async fn settle(
        &self,
        lane: &Lane,
        attempt: &AdmittedCall,
        used: &Charge,
        cost: u64,
        signals: &Signals,
    ) {
        self.count_settled(lane, attempt, cost);
        let reservation = &attempt.reservation;
        lane.line.settle(reservation, *used, cost, *signals).await;
    }

    /// A name that no claim, attempt or request of any replica has had.
    pub(crate) fn unique_name(&self) -> String {
        let number = self.named.fetch_add(1, Ordering::Relaxed);
        format!("{}-{number}", self.owner)
    }

    /// Does something that costs nothing to give up: not when the gateway
    /// stops, and not for nobody.
    async fn unpaid<F: Future>(
        &self,
        question: &Question,
        work: F,
    ) -> Result<F::Output, DecideError> {
        tokio::select! {
            biased;
            () = self.stopping.cancelled() => Err(DecideError::Stopping),
            () = question.abandoned() => Err(DecideError::Abandoned),
            output = work => Ok(output),
        }
    }
}

/// An answer that was recorded or remembered without a parameter is no answer to who requires it.
fn has_what_is_required(question: &Question, answer: Answer) -> Result<Answer, DecideError> {
    let applied = answer.decision.applied.iter();
    let mut omitted = applied.flat_map(|applied| &applied.omitted);
    let required = &question.caller.required;
    match omitted.find(|omitted| required.contains(omitted)) {
        None => Ok(answer),
        Some(parameter) => Err(DecideError::Omitted {
            address: Box::new(question.address.clone()),
            parameter: parameter.name(),
        }),
    }
}
