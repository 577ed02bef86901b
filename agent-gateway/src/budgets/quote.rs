//! What one call may cost before it is made and what it did cost in the end; and
//! what a decision cost over all its calls. Refuses a model without a price under
//! a budget. Knows no store. Called by `budgets.rs` and
//! `deciding/paying.rs`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::refusal::MoneyRefusal;
use super::store::{Account, Bill, BudgetCaps, BudgetScope, CallId, MoneyHold};
use crate::catalogue::{Price, ResolvedModel};
use crate::decision::{Request, Usage};
use crate::money::{Day, NanoDollars};

/// No tokenizer makes more tokens of a text than it has bytes. Around each message
/// and around the whole request providers add a few of their own, and for
/// structured output up to several hundred of instructions.
const MOST_TOKENS_PER_MESSAGE: u64 = 16;
const MOST_TOKENS_PER_REQUEST: u64 = 64;
const MOST_TOKENS_FOR_FORMAT: u64 = 1_024;

/// Who pays for a call, and how much at most.
#[derive(Clone, Debug)]
pub(crate) struct Payer {
    pub team: String,
    /// The experiment; empty: none.
    pub experiment: String,
    /// The ceilings over the call.
    pub budgets: BudgetCaps,
}

/// What a call may cost, before it is made.
#[derive(Clone, Debug)]
pub(crate) struct Quote {
    pub(super) account: Account,
    pub(super) budgets: BudgetCaps,
    price: Option<Price>,
    /// The most that it can use, and that costs.
    most_usage: Usage,
    pub(super) most: NanoDollars,
}

/// A call that may be made, as far as money goes. Whoever has one settles it.
#[derive(Clone, Debug)]
pub(crate) struct Payment {
    pub(super) attempt: CallId,
    pub(super) quote: Quote,
    pub(super) held: bool,
}

/// What became of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BilledUsage {
    Known(Usage),
    /// Nothing that anybody bills.
    Nothing,
    /// Nobody knows; it is charged at the most.
    Unknown,
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
    ) -> Result<Self, Box<MoneyRefusal>> {
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
            return Err(Box::new(MoneyRefusal::NoPrice {
                model: account.model,
                scope: match budgets.team {
                    Some(_) => BudgetScope::Team(account.team),
                    None => BudgetScope::Experiment(account.experiment),
                },
            }));
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

impl Quote {
    /// What is asked of the store for a call.
    pub(super) fn hold(&self, attempt: CallId, lasts: Duration) -> MoneyHold {
        MoneyHold {
            attempt,
            account: self.account.clone(),
            most: self.most,
            budgets: self.budgets,
            lasts,
        }
    }

    /// Whether a budget of this scope stands over the call.
    pub(super) fn is_of(&self, scope: &BudgetScope) -> bool {
        match scope {
            BudgetScope::Team(name) => *name == self.account.team && self.budgets.team.is_some(),
            BudgetScope::Experiment(id) => {
                *id == self.account.experiment && self.budgets.experiment.is_some()
            }
        }
    }
}

impl Payment {
    /// What an answered call is charged for: its most when the provider does not
    /// say what it used and money is held, because an estimate can be too low.
    pub fn used(&self, reported: Option<Usage>, estimate: Usage) -> BilledUsage {
        match reported {
            None if self.held => BilledUsage::Unknown,
            reported => BilledUsage::Known(reported.unwrap_or(estimate)),
        }
    }

    /// An estimate, as far as the call can have used so much.
    pub fn at_most(&self, estimate: Usage) -> Usage {
        estimate.at_most(&self.quote.most_usage)
    }

    /// What the call costs; absent when nobody knows the price.
    pub fn cost(&self, used: BilledUsage) -> Option<NanoDollars> {
        match used {
            BilledUsage::Nothing => Some(NanoDollars(0)),
            BilledUsage::Known(usage) => Some(self.quote.price?.of(&usage)),
            BilledUsage::Unknown => self.quote.price.map(|_| self.quote.most),
        }
    }

    /// What the store is told; absent when nothing is charged.
    pub(super) fn bill(&self, used: BilledUsage) -> Option<Bill> {
        let usage = match used {
            BilledUsage::Nothing => return None,
            BilledUsage::Known(usage) => usage,
            BilledUsage::Unknown => self.quote.most_usage,
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
pub(crate) fn most_usage(request: &Request, model: &ResolvedModel) -> Usage {
    let bytes = |text: &str| u64::try_from(text.len()).unwrap_or(u64::MAX);
    let messages = request
        .messages
        .iter()
        .map(|message| bytes(&message.content).saturating_add(MOST_TOKENS_PER_MESSAGE));
    let format = request.reply_format.as_ref().map_or(0, |format| {
        bytes(&format.json_schema) + bytes(&format.name) + MOST_TOKENS_FOR_FORMAT
    });
    let output = model
        .output_limit(request.max_output_tokens, request.effort())
        .tokens;
    Usage {
        input_tokens: messages.sum::<u64>() + format + MOST_TOKENS_PER_REQUEST,
        output_tokens: u64::from(output),
        estimated: true,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests;
