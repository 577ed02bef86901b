//! Money around a call: it is held after quota was granted and before the call is
//! made, and charged when it is over. Owns the going back for quota of a call that
//! has to wait for money. Called by `deciding/asking.rs`.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::backoff::{DelayPolicy, Delays};

use super::calls::{AdmittedCall, ReadyCall};
use super::retry_budget::RetryBudget;
use super::{Decider, Question};
use crate::admission::Charge;
use crate::admission::line::Want;
use crate::admission::line::lane::Lane;
use crate::budgets::quote::{BilledUsage, Payer, Payment, Quote};
use crate::budgets::store;
use crate::budgets::{BudgetTurn, HoldOutcome};
use crate::catalogue::ResolvedModel;
use crate::decide_error::DecideError;
use crate::decision::Request;
use crate::limits::Signals;
use crate::providers::{Arrived, Refusal};
use crate::routes::Route;

/// Between tries at a budget store that is away; callers wait, as they do for quota.
const STORE_DELAYS: DelayPolicy = DelayPolicy {
    initial: Duration::from_millis(50),
    factor: 2.0,
    cap: Duration::from_secs(1),
    jitter: 0.2,
    give_up_after: None,
};

/// Quota that is at hand is granted well within this.
const TURN_KEPT: Duration = Duration::from_millis(100);

impl Decider {
    /// Waits for quota and for money, and has both when it returns.
    pub(super) async fn admit_paid(
        &self,
        question: &Question,
        route: &Arc<Route>,
        want: Box<Want>,
        retry_budget: &mut RetryBudget,
    ) -> Result<ReadyCall, DecideError> {
        // Who cannot pay need not wait for quota first.
        // Boxed like all that comes after: thousands wait in between, and a future
        // is as large as its largest part.
        Box::pin(self.check_money(question, route)).await?;
        let mut paying = Paying {
            attempt: self.budgets.next_attempt(),
            doubtful: false,
        };
        let admitted = self
            .admit_and_hold(question, route, want, retry_budget, &mut paying)
            .await;
        if admitted.is_err() && paying.doubtful {
            Box::pin(self.budgets.forget(&paying.attempt)).await;
        }
        admitted
    }

    async fn check_money(&self, question: &Question, route: &Route) -> Result<(), DecideError> {
        let quote = self.quote(question, route)?;
        Ok(self.budgets.check(&quote).await?)
    }

    async fn admit_and_hold(
        &self,
        question: &Question,
        route: &Arc<Route>,
        mut want: Box<Want>,
        retry_budget: &mut RetryBudget,
        paying: &mut Paying,
    ) -> Result<ReadyCall, DecideError> {
        let mut route = Arc::clone(route);
        // Made when it is needed: thousands wait for quota and few for the budget store.
        let mut delays = None;
        let mut turn = None;
        let mut again = false;
        loop {
            if std::mem::replace(&mut again, true) {
                let Want {
                    attempt,
                    charges,
                    lasts,
                    ..
                } = self.want(question, &route);
                want.attempt = attempt;
                want.charges = charges;
                want.lasts = lasts;
            }
            let (charges, lasts) = (want.charges, want.lasts);
            let admitted = {
                let admission = pin!(self.admit(question, &route, want.clone(), retry_budget));
                give_up_turn_if_long(&mut turn, admission).await?
            };
            // Settings, budgets and prices may have changed while this waited.
            let now = self.as_set_now(&route);
            let before = std::mem::replace(&mut route, now);
            if takes_more(&question.request, &route.model, &before.model) {
                self.give_back(&route.lane, &admitted).await;
                if std::mem::take(&mut paying.doubtful) {
                    // What may be held would be too little.
                    self.budgets.forget(&paying.attempt).await;
                    paying.attempt = self.budgets.next_attempt();
                }
                continue;
            }
            // Another replica may have the address if the store was away.
            let ours = Box::pin(self.check_claim(question)).await;
            let quote = match ours.and_then(|()| self.quote(question, &route)) {
                Ok(quote) => quote,
                Err(error) => {
                    Box::pin(self.give_back(&route.lane, &admitted)).await;
                    return Err(error);
                }
            };
            let held = Box::pin(self.budgets.reserve(&paying.attempt, &quote, lasts)).await;
            if let Ok(Ok(HoldOutcome::Granted(payment))) = held {
                return Ok(ReadyCall {
                    attempt: admitted,
                    payment,
                    charges,
                    route,
                });
            }
            Box::pin(self.give_back(&route.lane, &admitted)).await;
            match held {
                Ok(Err(refusal)) => return Err(refusal.into()),
                Ok(Ok(HoldOutcome::Wait(scope))) => {
                    let wait = Box::pin(self.budgets.wait(&scope, turn.take()));
                    turn = Some(self.unpaid(question, wait).await?);
                }
                Ok(Ok(HoldOutcome::Granted(_))) => {}
                Err(error) => {
                    paying.doubtful = true;
                    self.budgets.complain(&error);
                    let delays = delays.get_or_insert_with(|| Box::new(Delays::new(STORE_DELAYS)));
                    let delay = delays.next_delay().unwrap_or(STORE_DELAYS.cap);
                    self.unpaid(question, tokio::time::sleep(delay)).await?;
                }
            }
        }
    }

    /// What the call may cost under the budgets and prices in force now.
    pub(super) fn quote(&self, question: &Question, route: &Route) -> Result<Quote, DecideError> {
        let caller = &question.caller;
        let payer = Payer {
            team: caller.team.clone(),
            experiment: caller.experiment_id.clone(),
            budgets: store::BudgetCaps {
                team: self.routes.config().team(&caller.team).budget,
                experiment: caller.experiment_budget,
            },
        };
        Ok(Quote::new(&payer, &route.model, &question.request)?)
    }

    /// Charges a call and adds it to what the decision costs.
    pub(super) async fn pay(&self, question: &Question, payment: &Payment, used: BilledUsage) {
        question.tally.count_cost(payment.cost(used));
        self.budgets.settle(payment, used).await;
    }

    /// Charges a call that brought no answer: for all it may have used if it may
    /// have been used.
    pub(super) async fn pay_refused(
        &self,
        question: &Question,
        payment: &Payment,
        refusal: &Refusal,
    ) {
        let used = if refusal.arrived == Arrived::PerhapsDone {
            BilledUsage::Unknown
        } else {
            BilledUsage::Nothing
        };
        question.paid.add(payment.cost(used));
        self.pay(question, payment, used).await;
    }

    /// The call is not made after all.
    pub(super) async fn give_back(&self, lane: &Lane, admitted: &AdmittedCall) {
        self.settle(lane, admitted, &Charge::default(), 0, &Signals::default())
            .await;
    }
}

/// More quota, or longer, than was taken for a call of the model as it was.
fn takes_more(request: &Request, now: &ResolvedModel, before: &ResolvedModel) -> bool {
    let (asked, effort) = (request.max_output_tokens, request.effort());
    now.output_limit(asked, effort).tokens > before.output_limit(asked, effort).tokens
        || now.timeout(effort) > before.timeout(effort)
}

/// Waiting for quota can take an hour, and others of the team may have theirs:
/// whoever does not get it soon leaves what money there is to them.
async fn give_up_turn_if_long<F: Future>(
    turn: &mut Option<BudgetTurn>,
    mut admission: Pin<&mut F>,
) -> F::Output {
    if turn.is_some() {
        tokio::select! {
            biased;
            admitted = &mut admission => return admitted,
            () = tokio::time::sleep(TURN_KEPT) => *turn = None,
        }
    }
    admission.await
}

/// The money of one call.
struct Paying {
    attempt: store::CallId,
    /// The budget store failed once, so the hold may stand without our knowing.
    doubtful: bool,
}
