//! What the gateway does about money, in few calls: say what a call may cost, hold
//! that much of the budgets, charge what it did cost. Owns the waiting for money
//! that calls under way may leave over, and the patience with a purse that is away.
//! Called by `deciding/paying.rs` and, for lists, by `service.rs`.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use agon_service_kit::backoff::Delays;
use agon_service_kit::tasks::with_causes;
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use super::purse::{
    Account, Attempt, Bill, Budgets, Hold, Purse, PurseError, Scope, Shortage, Verdict,
};
use super::{Day, NanoDollars, Price};
use crate::complaint::Complaint;
use crate::config::ResolvedModel;
use crate::decision::{Request, Usage};
use crate::metrics;

/// Other replicas settle without a sound here, so whoever waits for money looks
/// this often.
const RECHECK: Duration = Duration::from_millis(100);

/// A stopping gateway still waits this long for its purse, and this long between
/// tries.
const LAST_CHANCE: Duration = Duration::from_secs(2);
const LAST_DELAY: Duration = Duration::from_millis(200);

/// No tokenizer makes more tokens of a text than it has bytes. Around each message
/// and around the whole request providers add a few of their own, and for
/// structured output up to several hundred of instructions.
const MOST_TOKENS_PER_MESSAGE: u64 = 16;
const MOST_TOKENS_PER_REQUEST: u64 = 64;
const MOST_TOKENS_FOR_FORMAT: u64 = 1_024;

/// The money of a gateway.
pub(crate) struct Money {
    purse: Arc<dyn Purse>,
    owner: String,
    attempts: AtomicU64,
    tight: Mutex<HashMap<Scope, Arc<Tight>>>,
    unsettled: Complaint,
    stopping: CancellationToken,
}

/// Who pays for a call, and how much at most.
#[derive(Clone, Debug)]
pub(crate) struct Payer {
    /// The team.
    pub team: String,
    /// The experiment; empty: none.
    pub experiment: String,
    /// The ceilings over the call.
    pub budgets: Budgets,
}

/// What a call may cost, before it is made.
#[derive(Clone, Debug)]
pub(crate) struct Quote {
    account: Account,
    budgets: Budgets,
    price: Option<Price>,
    /// The most that it can use, and that costs.
    most_usage: Usage,
    most: NanoDollars,
}

/// A call that may be made, as far as money goes. Whoever has one settles it.
#[derive(Clone, Debug)]
pub(crate) struct Payment {
    attempt: Attempt,
    quote: Quote,
    held: bool,
}

/// What became of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Used {
    /// It used this.
    This(Usage),
    /// Nothing that anybody bills.
    Nothing,
    /// Nobody knows; it is charged at the most.
    Perhaps,
}

/// Why a call may not be made.
#[derive(Debug, thiserror::Error)]
pub enum MoneyRefusal {
    /// A budget could not be kept without a price.
    #[error(
        "model {model} has no known price, but {scope} has a budget: write price = {{ \
         input_per_million_dollars = \"..\", output_per_million_dollars = \"..\" }} under \
         [models.\"{model}\"], or a row into the file that prices under [gateway] names"
    )]
    NoPrice {
        /// The model.
        model: String,
        /// Whose budget.
        scope: Scope,
    },
    /// The call does not fit.
    #[error(
        "the budget of {} is spent: {} of {} spent, {} reserved for calls under way, this call \
         may cost {most}; raise {}",
        shortage.scope, shortage.spent, shortage.budget, shortage.reserved, to_raise(&shortage.scope)
    )]
    Spent {
        /// Whose budget, and how it stands.
        shortage: Shortage,
        /// The most that the call may cost.
        most: NanoDollars,
    },
}

/// How a try to hold money ended.
#[derive(Debug)]
pub(crate) enum Held {
    /// The call may be made.
    Granted(Payment),
    /// Give the quota back and wait for [`Money::wait`].
    Wait(Scope),
}

impl Money {
    /// Money in a purse, for the gateway process of this name.
    pub fn new(purse: Arc<dyn Purse>, owner: &str, stopping: CancellationToken) -> Self {
        Self {
            purse,
            owner: owner.to_owned(),
            attempts: AtomicU64::new(0),
            tight: Mutex::default(),
            unsettled: Complaint::default(),
            stopping,
        }
    }

    /// The purse, for lists.
    pub fn purse(&self) -> &dyn Purse {
        self.purse.as_ref()
    }

    /// A name for the next call's money.
    pub fn next_attempt(&self) -> Attempt {
        Attempt {
            owner: self.owner.clone(),
            number: self.attempts.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Holds the most that a call may cost. Safe to repeat with the same attempt.
    /// Without a budget nothing is held, and the purse is not asked.
    pub async fn reserve(
        &self,
        attempt: &Attempt,
        quote: &Quote,
        lasts: Duration,
    ) -> Result<Result<Held, MoneyRefusal>, PurseError> {
        let granted = |held| {
            Held::Granted(Payment {
                attempt: attempt.clone(),
                quote: quote.clone(),
                held,
            })
        };
        if !quote.budgets.any() {
            return Ok(Ok(granted(false)));
        }
        let hold = Hold {
            attempt: attempt.clone(),
            account: quote.account.clone(),
            most: quote.most,
            budgets: quote.budgets,
            lasts,
        };
        Ok(match self.purse.reserve(&hold).await? {
            Verdict::Granted => {
                metrics::count_reserved(&quote.account.team, quote.most);
                Ok(granted(true))
            }
            Verdict::Wait(scope) => Ok(Held::Wait(scope)),
            Verdict::Spent(shortage) => Err(MoneyRefusal::Spent {
                shortage,
                most: quote.most,
            }),
        })
    }

    /// Waits until money may be left over, in the order of coming. Whoever has the
    /// turn tries again; the next one comes when it is given up.
    pub async fn wait(&self, scope: &Scope, turn: Option<Turn>) -> Turn {
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

    async fn next_turn(&self, scope: &Scope) -> Turn {
        let tight = {
            let mut all = self.tight.lock();
            Arc::clone(all.entry(scope.clone()).or_default())
        };
        let guard = Arc::clone(&tight.turn).lock_owned().await;
        Turn {
            scope: scope.clone(),
            tight,
            _guard: guard,
        }
    }

    /// Charges what a call has used and gives back what it has not. Tries for as
    /// long as the gateway runs; what was held stays charged at its most if that
    /// is not enough.
    pub async fn settle(&self, payment: &Payment, used: Used) {
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
        if let Err(error) = self.settle_until_stopped(payment, bill.as_ref()).await {
            let cost = bill.and_then(|bill| bill.cost).unwrap_or_default();
            let (attempt, held) = (&payment.attempt, payment.held);
            let error = with_causes(&error);
            tracing::error!(%attempt, %cost, held, error, "the cost of a call was not settled");
        }
        self.tell_left_over(account);
    }

    async fn settle_until_stopped(
        &self,
        payment: &Payment,
        bill: Option<&Bill>,
    ) -> Result<(), PurseError> {
        let mut delays = Delays::default();
        let over = async {
            self.stopping.cancelled().await;
            tokio::time::sleep(LAST_CHANCE).await;
        };
        tokio::pin!(over);
        loop {
            let settled = match bill {
                Some(bill) => self.purse.settle(bill).await,
                None => self.purse.release(&payment.attempt).await,
            };
            let Err(error) = settled else {
                return Ok(());
            };
            self.complain(&error);
            let stops = self.stopping.is_cancelled();
            let delay = match delays.next_delay() {
                Some(delay) if !stops => delay,
                _ => LAST_DELAY,
            };
            tokio::select! {
                biased;
                () = &mut over => return Err(error),
                () = self.stopping.cancelled(), if !stops => {}
                () = tokio::time::sleep(delay) => {}
            }
        }
    }

    /// Says that the purse fails, once for many.
    pub fn complain(&self, error: &PurseError) {
        if let Some(failures) = self.unsettled.note() {
            let error = with_causes(error);
            tracing::warn!(error, failures, "the purse fails, tried again");
        }
    }

    /// Ends a hold that may or may not stand, for a call that is not made.
    pub async fn forget(&self, attempt: &Attempt) {
        if let Err(error) = self.purse.release(attempt).await {
            self.complain(&error);
        }
    }

    fn tell_left_over(&self, account: &Account) {
        let tight = self.tight.lock();
        if tight.is_empty() {
            return;
        }
        for scope in [
            Scope::Team(account.team.clone()),
            Scope::Experiment(account.experiment.clone()),
        ] {
            if let Some(tight) = tight.get(&scope) {
                tight.left_over.notify_one();
            }
        }
    }
}

/// Who waits for the money of one team or experiment.
#[derive(Default)]
struct Tight {
    turn: Arc<tokio::sync::Mutex<()>>,
    left_over: Notify,
}

/// The right to be the next to try for money that may be left over.
pub(crate) struct Turn {
    scope: Scope,
    tight: Arc<Tight>,
    _guard: OwnedMutexGuard<()>,
}

impl Drop for Turn {
    /// Granted or refused: there may be something for the next one as well.
    fn drop(&mut self) {
        self.tight.left_over.notify_one();
    }
}

impl Quote {
    /// What a call may cost today.
    ///
    /// # Errors
    /// A budget stands over a model without a price.
    pub fn new(
        payer: &Payer,
        model: &ResolvedModel,
        request: &Request,
    ) -> Result<Self, MoneyRefusal> {
        let account = Account {
            day: Day::today(),
            team: payer.team.clone(),
            experiment: payer.experiment.clone(),
            model: model.name.clone(),
        };
        let mut budgets = payer.budgets;
        if account.experiment.is_empty() {
            budgets.experiment = None;
        }
        let price = model.prices.on(account.day);
        if price.is_none() && budgets.any() {
            return Err(MoneyRefusal::NoPrice {
                model: account.model,
                scope: match budgets.team {
                    Some(_) => Scope::Team(account.team),
                    None => Scope::Experiment(account.experiment),
                },
            });
        }
        let most_usage = most_usage(request, model);
        let most = price.map_or(NanoDollars(0), |price| {
            price.most(most_usage.input_tokens, most_usage.output_tokens)
        });
        Ok(Self {
            account,
            budgets,
            price,
            most_usage,
            most,
        })
    }
}

impl Payment {
    /// What the call costs; absent when nobody knows the price.
    pub fn cost(&self, used: Used) -> Option<NanoDollars> {
        match used {
            Used::Nothing => Some(NanoDollars(0)),
            Used::This(usage) => Some(self.quote.price?.of(&usage)),
            Used::Perhaps => self.quote.price.map(|_| self.quote.most),
        }
    }

    fn bill(&self, used: Used) -> Option<Bill> {
        let usage = match used {
            Used::Nothing => return None,
            Used::This(usage) => usage,
            Used::Perhaps => self.quote.most_usage,
        };
        Some(Bill {
            attempt: self.attempt.clone(),
            account: self.quote.account.clone(),
            usage,
            cost: self.cost(used),
        })
    }
}

/// What one decision has cost so far, over all its calls.
#[derive(Debug, Default)]
pub(crate) struct DecisionCost {
    nanodollars: AtomicU64,
    unknown: AtomicBool,
}

impl DecisionCost {
    /// Adds a call; absent: nobody knows what it cost.
    pub fn add(&self, cost: Option<NanoDollars>) {
        let Some(cost) = cost else {
            return self.unknown.store(true, Ordering::Relaxed);
        };
        let add = |sum: u64| Some(sum.saturating_add(cost.0));
        // The function always says what to store.
        let _ = self
            .nanodollars
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// The sum; absent when it is not known of every call.
    pub fn sum(&self) -> Option<NanoDollars> {
        let known = !self.unknown.load(Ordering::Relaxed);
        known.then(|| NanoDollars(self.nanodollars.load(Ordering::Relaxed)))
    }
}

/// More than any tokenizer can make of a request, and all that may be written.
fn most_usage(request: &Request, model: &ResolvedModel) -> Usage {
    let bytes = |text: &str| u64::try_from(text.len()).unwrap_or(u64::MAX);
    let messages = request
        .messages
        .iter()
        .map(|message| bytes(&message.content).saturating_add(MOST_TOKENS_PER_MESSAGE));
    let format = request.reply_format.as_ref().map_or(0, |format| {
        bytes(&format.json_schema) + bytes(&format.name) + MOST_TOKENS_FOR_FORMAT
    });
    let output = request.max_output_tokens.unwrap_or(model.max_output_tokens);
    Usage {
        input_tokens: messages.sum::<u64>() + format + MOST_TOKENS_PER_REQUEST,
        output_tokens: u64::from(output),
        estimated: true,
        ..Usage::default()
    }
}

fn to_raise(scope: &Scope) -> &'static str {
    match scope {
        Scope::Team(_) => "the team's budget_dollars in the gateway's configuration",
        Scope::Experiment(_) => "the experiment's budget",
    }
}

#[cfg(test)]
mod tests;
