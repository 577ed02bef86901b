//! What the gateway does about money, in few calls: hold the most that a call may
//! cost in the budgets, charge what it did cost, list. Owns the waiting for money
//! that calls under way may leave over, and the patience with a store that is away.
//! Called by `deciding/paying.rs` and, for lists, by `service.rs`.

pub(crate) mod quote;
mod refusal;
pub mod store;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agon_service_kit::complaint::Complaint;
use agon_service_kit::tasks::with_causes;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedMutexGuard};

use crate::metrics;
use crate::money::NanoDollars;
use crate::outbox::{Outbox, OutboxMessage};
use crate::store_error::StoreError;

use quote::{BilledUsage, Payment, Quote};
use store::{
    Account, Bill, BudgetScope, BudgetStanding, BudgetStore, CallId, CostFilter, CostRow,
    HoldVerdict,
};

pub(crate) use refusal::MoneyRefusal;

/// Other replicas settle without a sound here, so whoever waits for money looks
/// this often.
const RECHECK: Duration = Duration::from_millis(100);

/// Every hold has counted as lost by then.
const HOLDS_LAST: Duration = Duration::from_secs(3_600);

/// The money of a gateway.
pub(crate) struct Budgets {
    store: Arc<dyn BudgetStore>,
    owner: String,
    attempts: AtomicU64,
    tight: Mutex<HashMap<BudgetScope, Arc<TightBudget>>>,
    /// Whose budget was spent when it was last asked for.
    exhausted: Mutex<HashSet<BudgetScope>>,
    unsettled: Complaint,
    outbox: Outbox,
}

/// A configured team, and the most that it may spend.
pub(crate) type TeamBudget = (String, Option<NanoDollars>);

/// What was spent, and how budgets stand.
pub(crate) struct Costs {
    /// Rows in order of day, team, experiment, model.
    pub rows: Vec<CostRow>,
    /// Teams, then experiments.
    pub budgets: Vec<BudgetStanding>,
}

/// How a try to hold money ended.
#[derive(Debug)]
pub(crate) enum HoldOutcome {
    /// The call may be made.
    Granted(Box<Payment>),
    /// Give the quota back and wait for [`Budgets::wait`].
    Wait(BudgetScope),
}

impl Budgets {
    /// Budgets in a store, for the gateway process of this name.
    pub fn new(store: Arc<dyn BudgetStore>, owner: &str, outbox: Outbox) -> Self {
        Self {
            store,
            owner: owner.to_owned(),
            attempts: AtomicU64::new(0),
            tight: Mutex::default(),
            exhausted: Mutex::default(),
            unsettled: Complaint::default(),
            outbox,
        }
    }

    /// A name for the next call's money.
    pub fn next_attempt(&self) -> CallId {
        CallId {
            owner: self.owner.clone(),
            number: self.attempts.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Holds the most that a call may cost. Safe to repeat with the same attempt.
    /// Without a budget, or where a call costs nothing, nothing is held, and the
    /// store is not asked.
    pub async fn reserve(
        &self,
        attempt: &CallId,
        quote: &Quote,
        lasts: Duration,
    ) -> Result<Result<HoldOutcome, Box<MoneyRefusal>>, StoreError> {
        let granted = |held| {
            HoldOutcome::Granted(Box::new(Payment {
                attempt: attempt.clone(),
                quote: quote.clone(),
                held,
            }))
        };
        if !quote.budgets.any() || quote.most == NanoDollars(0) {
            return Ok(Ok(granted(false)));
        }
        let hold = quote.hold(attempt.clone(), lasts);
        Ok(match self.store.reserve(&hold).await? {
            HoldVerdict::Granted => {
                self.exhausted.lock().retain(|scope| !quote.is_of(scope));
                metrics::count_reserved(&quote.account.team, quote.most);
                Ok(granted(true))
            }
            HoldVerdict::Wait(scope) => Ok(HoldOutcome::Wait(scope)),
            HoldVerdict::Spent(shortage) => {
                self.exhausted.lock().insert(shortage.scope.clone());
                let most = quote.most;
                Err(Box::new(MoneyRefusal::Spent { shortage, most }))
            }
        })
    }

    /// Refuses a call at once whose budget was spent when it was last asked for and
    /// still is. Holds nothing; a store that does not answer is no reason to refuse.
    pub async fn check(&self, quote: &Quote) -> Result<(), Box<MoneyRefusal>> {
        if !self.exhausted.lock().iter().any(|scope| quote.is_of(scope)) {
            return Ok(());
        }
        let hold = quote.hold(self.next_attempt(), Duration::ZERO);
        match self.store.look(&hold).await {
            Ok(HoldVerdict::Spent(shortage)) => {
                let most = quote.most;
                Err(Box::new(MoneyRefusal::Spent { shortage, most }))
            }
            Ok(HoldVerdict::Granted | HoldVerdict::Wait(_)) | Err(_) => Ok(()),
        }
    }

    /// What was spent, and how every team and experiment stands that the filter
    /// lets through; `teams` are the configured ones.
    pub async fn list(
        &self,
        filter: &CostFilter,
        teams: impl IntoIterator<Item = TeamBudget>,
    ) -> Result<Costs, StoreError> {
        let rows = self.store.costs(filter).await?;
        let paid_for: HashSet<&str> = rows
            .iter()
            .map(|row| row.account.experiment.as_str())
            .collect();
        let mut budgets = self.standings(teams).await?;
        budgets.retain(|standing| match &standing.scope {
            BudgetScope::Team(name) => filter.team.as_ref().is_none_or(|team| team == name),
            BudgetScope::Experiment(id) => match &filter.experiment {
                Some(experiment) => experiment == id,
                None => filter.team.is_none() || paid_for.contains(id.as_str()),
            },
        });
        Ok(Costs { rows, budgets })
    }

    /// How everybody stands, configured teams included, in order.
    pub async fn standings(
        &self,
        teams: impl IntoIterator<Item = TeamBudget>,
    ) -> Result<Vec<BudgetStanding>, StoreError> {
        let mut standings = self.store.standings().await?;
        for (team, budget) in teams {
            let scope = BudgetScope::Team(team);
            match standings.iter_mut().find(|known| known.scope == scope) {
                Some(known) => known.last_budget = budget,
                None => standings.push(BudgetStanding {
                    scope,
                    spent: NanoDollars(0),
                    reserved: NanoDollars(0),
                    last_budget: budget,
                }),
            }
        }
        standings.sort_by(|left, right| left.scope.cmp(&right.scope));
        Ok(standings)
    }

    /// Waits until money may be left over, in the order of coming. Whoever has the
    /// turn tries again; the next one comes when it is given up.
    pub async fn wait(&self, scope: &BudgetScope, turn: Option<BudgetTurn>) -> BudgetTurn {
        let turn = match turn {
            Some(turn) if turn.scope == *scope => turn,
            other => {
                // Two turns at once could wait for each other.
                drop(other);
                self.next_turn(scope).await
            }
        };
        let left_over = turn.tight.left_over.notified();
        // The time being over is one of the two ends.
        let _ = tokio::time::timeout(RECHECK, left_over).await;
        turn
    }

    async fn next_turn(&self, scope: &BudgetScope) -> BudgetTurn {
        let tight = {
            let mut all = self.tight.lock();
            Arc::clone(all.entry(scope.clone()).or_default())
        };
        let guard = Arc::clone(&tight.turn).lock_owned().await;
        BudgetTurn {
            scope: scope.clone(),
            tight,
            _guard: guard,
        }
    }

    /// Charges what a call has used and gives back what it has not. Tries for as
    /// long as the gateway runs; what was held stays charged at its most if that
    /// is not enough.
    pub async fn settle(&self, payment: &Payment, used: BilledUsage) {
        let account = &payment.quote.account;
        let bill = payment.bill(used);
        if bill.is_none() && !payment.held {
            return;
        }
        if let Some(bill) = &bill {
            metrics::count_cost(&account.team, &account.model, bill.cost);
        }
        if payment.held {
            let settled = bill.as_ref().and_then(|bill| bill.cost);
            metrics::count_settled(&account.team, settled.unwrap_or_default());
        }
        match bill {
            Some(bill) => self.charge(bill, payment.held).await,
            None => self.forget(&payment.attempt).await,
        }
        self.notify_left_over(account);
    }

    async fn charge(&self, bill: Bill, held: bool) {
        let Err(error) = self.store.settle(&bill).await else {
            return;
        };
        self.complain(&error);
        let (attempt, cost) = (bill.attempt.clone(), bill.cost.unwrap_or_default());
        let holds = (Arc::clone(&self.store), bill);
        let charge = OutboxMessage::new(
            "cost of a call not settled",
            &attempt,
            Duration::MAX,
            holds,
            |(store, bill)| async move { store.settle(&bill).await },
        );
        // Waited for: a decision must not stand without its cost.
        if let Err(error) = self.outbox.deliver(charge).await {
            let error = with_causes(error.as_ref());
            tracing::error!(%attempt, %cost, held, error, "the cost of a call was not settled");
        }
    }

    /// Logs that costs cannot be written, once for many.
    pub fn complain(&self, error: &StoreError) {
        if let Some(failures) = self.unsettled.note() {
            let error = with_causes(error);
            tracing::warn!(error, failures, "cost ledger write failed; retrying");
        }
    }

    /// Ends a hold that may or may not stand, for a call that is not made.
    pub async fn forget(&self, attempt: &CallId) {
        let release = OutboxMessage::new(
            "hold not given back",
            attempt,
            HOLDS_LAST,
            (Arc::clone(&self.store), attempt.clone()),
            |(store, attempt)| async move { store.release(&attempt).await },
        );
        if let Err(error) = self.outbox.send(release).await {
            self.complain(&error);
        }
    }

    fn notify_left_over(&self, account: &Account) {
        let tight = self.tight.lock();
        if tight.is_empty() {
            return;
        }
        for scope in [
            BudgetScope::Team(account.team.clone()),
            BudgetScope::Experiment(account.experiment.clone()),
        ] {
            if let Some(tight) = tight.get(&scope) {
                tight.left_over.notify_one();
            }
        }
    }
}

/// Who waits for the money of one team or experiment.
#[derive(Default)]
struct TightBudget {
    turn: Arc<tokio::sync::Mutex<()>>,
    left_over: Notify,
}

/// The right to be the next to try for money that may be left over.
pub(crate) struct BudgetTurn {
    scope: BudgetScope,
    tight: Arc<TightBudget>,
    _guard: OwnedMutexGuard<()>,
}

impl Drop for BudgetTurn {
    /// Granted or refused: there may be something for the next one as well.
    fn drop(&mut self) {
        self.tight.left_over.notify_one();
    }
}

#[cfg(test)]
mod tests;
