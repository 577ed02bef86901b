//! Asking one model until it answers, it refuses for good, or patience is over:
//! wait for quota, call, and do what the provider's refusal asks for. Owns the
//! patience with a failing provider. Called by `deciding.rs` for each model of a
//! decision's chain.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_service_kit::tasks::with_causes;
use tracing::Instrument as _;

use super::calls::{AdmittedCall, AnsweredCall, ReadyCall};
use super::claimed_usage::limit_to_what_can_be_true;
use super::retry_budget::RetryBudget;
use super::{Decider, Question};
use crate::admission::Charge;
use crate::admission::charging::{self, Blame, Charges};
use crate::admission::line::lane::Lane;
use crate::admission::line::{Admitted, Want};
use crate::admission::messages::key_hold;
use crate::budgets::quote::{BilledUsage, Payment};
use crate::decide_error::DecideError;
use crate::estimate;
use crate::fairness::queue::Place;
use crate::health::CallOutcome;
use crate::keys::KeyId;
use crate::metrics;
use crate::providers::{Arrived, Call, Refusal, Remedy, Reply};
use crate::routes::Route;

/// Beyond the timeout of its call an attempt needs only a moment to be settled;
/// after this its asker has died.
pub(super) const SETTLE_MARGIN: Duration = Duration::from_secs(30);

impl Decider {
    /// Asks one model. `has_alternative` means that another one can be asked
    /// instead of waiting for an open circuit.
    pub(super) async fn ask(
        &self,
        question: &Question,
        route: &Arc<Route>,
        has_alternative: bool,
    ) -> Result<Box<AnsweredCall>, DecideError> {
        let mut retry_budget = RetryBudget::new(
            self.routes
                .config()
                .patience_with(&route.model, question.request.effort()),
        );
        let mut tried_in_vain: Vec<KeyId> = Vec::new();
        loop {
            let want = Box::new(Want {
                except: tried_in_vain.clone(),
                has_alternative,
                patience: retry_budget.patience_left(),
                ..self.want(question, route)
            });
            let ready = self
                .admit_paid(question, route, want, &mut retry_budget)
                .await?;
            // Boxed, because a call needs far more room than waiting for one, and
            // thousands wait.
            let tried = Box::pin(self.try_once(
                question,
                route,
                ready,
                &mut retry_budget,
                &mut tried_in_vain,
            ));
            if let Some(answered) = tried.await? {
                return Ok(answered);
            }
        }
    }

    /// Makes one call and does what a refusal asks for; nothing when it is to be
    /// tried again.
    async fn try_once(
        &self,
        question: &Question,
        route: &Route,
        ready: ReadyCall,
        retry_budget: &mut RetryBudget,
        tried_in_vain: &mut Vec<KeyId>,
    ) -> Result<Option<Box<AnsweredCall>>, DecideError> {
        let lane = &route.lane;
        if self.recorder.is_behind() {
            // However long that takes, quota and money are for others meanwhile.
            self.settle_unasked(lane, &ready).await;
            self.unpaid(question, self.recorder.caught_up()).await?;
            return Ok(None);
        }
        let effort = question.request.effort();
        self.provider_calls
            .expect(ready.route.model.timeout(effort));
        if self.stopping.is_cancelled() {
            self.settle_unasked(lane, &ready).await;
            return Err(DecideError::Stopping);
        }
        let began = Instant::now();
        let (ready, outcome) = self.call_or_hedge(question, ready).await;
        let ReadyCall {
            attempt,
            payment,
            charges,
            ..
        } = ready;
        let refusal = match outcome {
            Ok(reply) => {
                let answered = self.answered(question, lane, reply, attempt, payment);
                return Ok(Some(Box::new(answered)));
            }
            Err(refusal) => refusal,
        };
        tokio::join!(
            self.pay_refused(question, &payment, &refusal),
            self.settle_refused(lane, &attempt, &charges, &refusal)
        );
        let delay = retry_budget.note(began.elapsed(), &refusal);
        let key = &attempt.key.key;
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
            Remedy::AskWithLess => {}
            Remedy::RetryOtherKey => tried_in_vain.push(key.id.clone()),
            Remedy::QuarantineKey => {
                key.put_in_quarantine(&refusal.reason, &lane.terms().dead_key_probes);
                // However soon it is to be tried again: not by this decision.
                tried_in_vain.push(key.id.clone());
                lane.line.wake();
            }
            Remedy::HoldKey(_) => {
                lane.complain(&refusal.reason);
                self.hold(lane, &attempt, delay).await;
                retry_budget.check(&route.model.name)?;
            }
            Remedy::Retry(_) | Remedy::RetryUnreadable => {
                lane.complain(&refusal.reason);
                retry_budget.check(&route.model.name)?;
                self.unpaid(question, tokio::time::sleep(delay)).await?;
            }
        }
        Ok(None)
    }

    /// What a call is to take under the settings of a route.
    pub(super) fn want(&self, question: &Question, route: &Route) -> Want {
        let (lane, model) = (&route.lane, &route.model);
        let rule = lane.terms().charge;
        Want {
            attempt: self.unique_name(),
            charges: lane.usage_estimator.charges(rule, model, &question.request),
            lasts: model.timeout(question.request.effort()) + SETTLE_MARGIN,
            except: Vec::new(),
            has_alternative: false,
            patience: Duration::ZERO,
            only_now: false,
            // Who has an address is told by its claim, and waits once it has it.
            leaves_without_store: question.claim.is_none(),
        }
    }

    /// The route with its model's settings of now: a call may have waited long.
    /// A model that has moved keeps those of the lane it waited in.
    pub(super) fn as_set_now(&self, route: &Arc<Route>) -> Arc<Route> {
        let now = self.routes.find(&route.model.name).ok();
        now.filter(|now| Arc::ptr_eq(&now.lane, &route.lane))
            .unwrap_or_else(|| Arc::clone(route))
    }

    /// Waits for quota. Time spent here is nobody's failure, except for what a
    /// provider's own refusal has put on top.
    pub(super) async fn admit(
        &self,
        question: &Question,
        route: &Route,
        want: Box<Want>,
        retry_budget: &mut RetryBudget,
    ) -> Result<Box<AdmittedCall>, DecideError> {
        let lane = &route.lane;
        let (place, charge) = (self.place(question), want.charges.now);
        let began = Instant::now();
        let (waiting, down) = (question.tally.waiting(), lane.line.down());
        let admitted = self.unpaid(question, lane.line.admit(&place, want)).await?;
        drop(waiting);
        retry_budget.note_wait(began.elapsed(), lane.line.down().saturating_sub(down));
        let model = || route.model.name.clone();
        let granted = match admitted {
            Admitted::Granted(granted) => *granted,
            Admitted::NoKeyLeft => {
                return Err(DecideError::NoKeyLeft {
                    provider: lane.pool.clone(),
                    reasons: lane.terms().quarantine_reasons(Instant::now()),
                });
            }
            Admitted::NoOtherKey => {
                return Err(DecideError::Refused {
                    model: model(),
                    reason: retry_budget.last().to_owned(),
                });
            }
            Admitted::PatienceOver => {
                retry_budget.take_last_of_others(&lane.terms().last_error());
                return Err(retry_budget.over(&model()));
            }
            Admitted::QuotaLater(wait) => {
                let model = model();
                return Err(DecideError::QuotaLater { model, wait });
            }
            Admitted::CircuitOpen => return Err(DecideError::CircuitOpen { model: model() }),
            Admitted::StoreAway(error) => return Err(error.into()),
            Admitted::NotNow | Admitted::Closed => {
                return Err(DecideError::ModelGone { model: model() });
            }
        };
        let taken = granted.reservation.share.cost;
        question.tally.count_granted(began.elapsed(), taken);
        metrics::count_reserved_tokens(&lane.pool, taken);
        let rule = lane.terms().charge;
        Ok(Box::new(AdmittedCall::of(granted, place, rule, charge)))
    }

    /// Where a question waits.
    pub(super) fn place(&self, question: &Question) -> Place {
        let caller = &question.caller;
        let session = caller.session.as_ref();
        let session = session.unwrap_or(&question.address.session_id).as_str();
        Place {
            team: Arc::from(caller.team.as_str()),
            weight: self.routes.config().team(&caller.team).weight,
            priority: caller.priority,
            experiment: Arc::from(caller.experiment_id.as_str()),
            session: Arc::from(session),
        }
    }

    pub(super) async fn call(
        &self,
        question: &Question,
        route: &Route,
        attempt: &mut AdmittedCall,
    ) -> Result<Reply, Refusal> {
        let provider = route.lane.pool.as_str();
        let key = &attempt.key.key;
        let span = tracing::debug_span!(
            "provider_call", provider, model = %route.model.model, key_source = %key.source
        );
        let _at_provider = question.tally.at_provider();
        let _in_flight = key.counters.begin();
        let _under_way = self
            .provider_calls
            .begin(route.model.timeout(question.request.effort()));
        let began = Instant::now();
        let call = Call {
            model: &route.model,
            request: &question.request,
            key: key.secret(),
            required: &question.caller.required,
            simulated_reply: question.caller.simulated_reply.as_deref(),
        };
        let caller = Arc::clone(&route.lane.terms().provider);
        let mut outcome = caller.call(call).instrument(span).await;
        if let Ok(reply) = &mut outcome {
            limit_to_what_can_be_true(reply, call, key);
            key.revive();
        }
        let named = match &outcome {
            Ok(_) => "ok",
            Err(refusal) => match refusal.remedy {
                Remedy::HoldKey(_) | Remedy::QuarantineKey => {
                    key.counters.count_refused(refusal.kind(), &refusal.reason);
                    question.tally.count_refused(provider, &route.model.name);
                    "refused"
                }
                _ => {
                    key.counters.count_failed(refusal.kind(), &refusal.reason);
                    "failed"
                }
            },
        };
        metrics::count_request(provider, named, began.elapsed());
        if let Some(permit) = attempt.permit.take() {
            permit.ended(said_of_the_server(&outcome), Instant::now());
        }
        outcome
    }

    pub(super) fn answered(
        &self,
        question: &Question,
        lane: &Lane,
        reply: Reply,
        attempt: Box<AdmittedCall>,
        payment: Box<Payment>,
    ) -> AnsweredCall {
        let usage = reply
            .usage
            .unwrap_or_else(|| payment.at_most(estimate::usage(&question.request, &reply.text)));
        lane.usage_estimator
            .learn(attempt.charge_rule, &question.request, &usage);
        AnsweredCall {
            reply,
            usage,
            attempt,
            payment,
        }
    }

    /// What a refused call has taken: nothing, all it may have used, or what its
    /// arrival costs where that counts.
    pub(super) async fn settle_refused(
        &self,
        lane: &Lane,
        attempt: &AdmittedCall,
        charges: &Charges,
        refusal: &Refusal,
    ) {
        let (used, cost): (Charge, u64) = match refusal.arrived {
            Arrived::Never => (Charge::default(), 0),
            Arrived::PerhapsDone => (charges.most, charges.cost),
            Arrived::Refused => {
                let blame = match refusal.remedy {
                    Remedy::Retry(_) => Blame::Provider,
                    Remedy::HoldKey(_) => Blame::Quota,
                    _ => Blame::Request,
                };
                let (rule, taken) = (attempt.charge_rule, &attempt.charge);
                (charging::of_failure(rule, taken, blame), 0)
            }
        };
        self.settle(lane, attempt, &used, cost, &refusal.signals)
            .await;
    }

    /// An attempt that was allowed and not made.
    pub(super) async fn settle_unasked(&self, lane: &Lane, ready: &ReadyCall) {
        tokio::join!(
            self.budgets.settle(&ready.payment, BilledUsage::Nothing),
            self.give_back(lane, &ready.attempt)
        );
    }

    pub(super) async fn hold(&self, lane: &Lane, attempt: &AdmittedCall, hold: Duration) {
        let (limiter, reservation) = (Arc::clone(&self.limiter), attempt.reservation.clone());
        let held = self.outbox.send(key_hold(limiter, reservation, hold)).await;
        lane.line.wake();
        if let Err(error) = held {
            tracing::warn!(error = %with_causes(&error), "key not held yet, trying again");
        }
    }
}

/// What an outcome says about the server's health.
fn said_of_the_server(outcome: &Result<Reply, Refusal>) -> CallOutcome {
    match outcome {
        Ok(reply) => CallOutcome::Answered {
            output_tokens: reply.usage.map_or(0, |usage| usage.output_tokens),
        },
        Err(refusal) => match refusal.remedy {
            Remedy::HoldKey(_) => CallOutcome::TooMany,
            Remedy::Retry(_) if refusal.overloaded => CallOutcome::Overloaded,
            Remedy::Retry(_) | Remedy::RetryUnreadable => CallOutcome::Failed,
            Remedy::QuarantineKey
            | Remedy::RetryOtherKey
            | Remedy::AskWithLess
            | Remedy::GiveUp => CallOutcome::Refused,
        },
    }
}
