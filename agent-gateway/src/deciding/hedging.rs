//! Hedging: a call that takes long is made once more, on another key if there is
//! one, and the first answer counts. Both are paid: the slower one is awaited in
//! the background, so that its use is settled. Refuses to hedge while anybody
//! waits for quota, and more than once per decision. Called by
//! `deciding/asking.rs`.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use agon_service_kit::tasks::TaskKind;
use tracing::Instrument as _;

use super::calls::{AdmittedCall, ReadyCall};
use super::{Decider, Question};
use crate::admission::charging;
use crate::admission::line::{Admitted, Want};
use crate::budgets::HoldOutcome;
use crate::budgets::quote::DecisionCost;
use crate::keys::KeyId;
use crate::metrics;
use crate::providers::{Refusal, Remedy, Reply};
use crate::routes::Route;

/// A call that was made.
pub(super) type Called = (ReadyCall, Result<Reply, Refusal>);

/// A call under way that can outlive its decision; nothing comes of one that
/// could not be made.
type PendingCall = Pin<Box<dyn Future<Output = Option<Called>> + Send>>;

/// The first call, which is always made.
type First = Pin<Box<dyn Future<Output = Called> + Send>>;

/// What both calls of a hedged decision need, beyond its end.
struct HedgedCall {
    decider: Arc<Decider>,
    question: Question,
    route: Arc<Route>,
    /// There is an answer: what was not sent yet need not be.
    over: AtomicBool,
}

impl Decider {
    /// Makes a call, and once more when it takes longer than the model is
    /// allowed. What is returned is still to be settled, the other one is not.
    pub(super) async fn call_or_hedge(&self, question: &Question, mut ready: ReadyCall) -> Called {
        let route = Arc::clone(&ready.route);
        let me = self.me.upgrade();
        let after = route.model.hedge_after;
        let after = after.filter(|_| !question.hedged.load(Ordering::Relaxed));
        let (Some(after), Some(decider)) = (after, me) else {
            let outcome = self.call(question, &route, &mut ready.attempt).await;
            return (ready, outcome);
        };
        let hedged = Arc::new(HedgedCall {
            decider,
            question: question.copy(),
            route: Arc::clone(&route),
            over: AtomicBool::new(false),
        });
        let slow_key = ready.attempt.key.key.id.clone();
        let mut first = Arc::clone(&hedged).call(ready);
        tokio::select! {
            biased;
            called = &mut first => return called,
            () = tokio::time::sleep(after) => {}
        }
        if self.stopping.is_cancelled() || !route.lane.line.is_idle() {
            return first.await;
        }
        question.hedged.store(true, Ordering::Relaxed);
        let again = Arc::clone(&hedged).call_again(slow_key);
        self.race(question, hedged, first, again).await
    }

    /// The first answer, or the last refusal.
    async fn race(
        &self,
        question: &Question,
        hedged: Arc<HedgedCall>,
        mut first: First,
        mut again: PendingCall,
    ) -> Called {
        let (called, other, which): (Called, PendingCall, _) = tokio::select! {
            biased;
            called = &mut first => (called, again, "first"),
            called = &mut again => match called {
                None => return first.await,
                Some(called) => (called, Box::pin(async { Some(first.await) }), "second"),
            },
        };
        if called.1.is_ok() {
            metrics::count_hedge(which);
            hedged.over.store(true, Ordering::Relaxed);
            self.finish_later(hedged, other);
            return called;
        }
        let Some(later) = other.await else {
            return called;
        };
        self.settle_lost(question, &hedged.route, called).await;
        later
    }

    fn finish_later(&self, hedged: Arc<HedgedCall>, other: PendingCall) {
        let finish = async move {
            if let Some(lost) = other.await {
                let HedgedCall {
                    decider,
                    question,
                    route,
                    ..
                } = hedged.as_ref();
                decider.settle_lost(question, route, lost).await;
            }
        };
        self.tasks
            .spawn(TaskKind::WORK, "slower call", finish.in_current_span());
    }

    /// Settles a call that another one has made needless, and heeds what it says
    /// about its key.
    async fn settle_lost(&self, question: &Question, route: &Route, lost: Called) {
        let (ready, outcome) = lost;
        let ReadyCall {
            attempt,
            payment,
            charges,
            ..
        } = ready;
        let lane = &route.lane;
        match outcome {
            Ok(reply) => {
                let lost = self.answered(question, lane, reply, attempt, payment);
                let (usage, attempt) = (lost.usage, &lost.attempt);
                metrics::count_tokens(&lane.pool, &usage);
                let used = charging::used(attempt.charge_rule, &usage, &attempt.charge);
                let cost = usage.total_tokens();
                let charged = lost.payment.used(lost.reply.usage, usage);
                tokio::join!(
                    self.pay(question, &lost.payment, charged),
                    self.settle(lane, attempt, &used, cost, &lost.reply.signals)
                );
            }
            Err(refusal) => {
                tokio::join!(
                    self.pay_refused(question, &payment, &refusal),
                    self.settle_refused(lane, &attempt, &charges, &refusal)
                );
                match refusal.remedy {
                    Remedy::HoldKey(Some(hold)) => self.hold(lane, &attempt, hold).await,
                    Remedy::QuarantineKey => {
                        attempt
                            .key
                            .key
                            .put_in_quarantine(&refusal.reason, &lane.terms().dead_key_probes);
                        lane.line.wake();
                    }
                    _ => {}
                }
            }
        }
    }

    /// Quota and money for a second call, if both can be had at once.
    async fn admit_now(
        &self,
        question: &Question,
        route: &Arc<Route>,
        avoid: KeyId,
    ) -> Option<ReadyCall> {
        let route = self.as_set_now(route);
        let lane = &route.lane;
        let terms = lane.terms();
        let others = terms
            .usable_keys(Instant::now())
            .filter(|key| key.key.id != avoid);
        let want = Want {
            except: others.take(1).map(|_| avoid.clone()).collect(),
            has_alternative: true,
            only_now: true,
            ..self.want(question, &route)
        };
        let (charges, lasts) = (want.charges, want.lasts);
        let quote = self.quote(question, &route).ok()?;
        let place = self.place(question);
        let admitted = tokio::select! {
            biased;
            () = self.stopping.cancelled() => return None,
            admitted = lane.line.admit(&place, Box::new(want)) => admitted,
        };
        let Admitted::Granted(grant) = admitted else {
            return None;
        };
        let attempt = AdmittedCall::of(*grant, place, terms.charge, charges.now);
        let paying = self.budgets.next_attempt();
        match self.budgets.reserve(&paying, &quote, lasts).await {
            Ok(Ok(HoldOutcome::Granted(payment))) => Some(ReadyCall {
                attempt: Box::new(attempt),
                payment,
                charges,
                route: Arc::clone(&route),
            }),
            held => {
                self.give_back(lane, &attempt).await;
                if held.is_err() {
                    self.budgets.forget(&paying).await;
                }
                None
            }
        }
    }
}

impl HedgedCall {
    fn call(self: Arc<Self>, mut ready: ReadyCall) -> First {
        Box::pin(async move {
            let attempt = &mut ready.attempt;
            let outcome = self.decider.call(&self.question, &ready.route, attempt);
            let outcome = outcome.await;
            (ready, outcome)
        })
    }

    fn call_again(self: Arc<Self>, avoid: KeyId) -> PendingCall {
        Box::pin(async move {
            let HedgedCall {
                decider,
                question,
                route,
                over,
            } = self.as_ref();
            let ready = decider.admit_now(question, route, avoid).await?;
            let effort = question.request.effort();
            decider
                .provider_calls
                .expect(ready.route.model.timeout(effort));
            if over.load(Ordering::Relaxed) || decider.stopping.is_cancelled() {
                decider.settle_unasked(&route.lane, &ready).await;
                return None;
            }
            Some(Arc::clone(&self).call(ready).await)
        })
    }
}

impl Question {
    /// For a call that may outlive the decision. What it costs is then known too
    /// late for the decision, but not for the budget store.
    fn copy(&self) -> Self {
        Self {
            address: self.address.clone(),
            caller: self.caller.clone(),
            request: self.request.clone(),
            digest: self.digest.clone(),
            tally: self.tally.clone(),
            paid: DecisionCost::default(),
            hedged: AtomicBool::new(true),
            claim: self.claim.clone(),
            waiters: None,
        }
    }
}
